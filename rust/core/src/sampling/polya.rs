//! Dirichlet-multinomial draws by Polya's urn, exactly, in constant time a draw.
//!
//! Draw t + 1 (t = 0, 1, ...) from an urn with weights w_1, ..., w_d of sum W is category i with probability
//! (w_i + t_i)/(W + t), t_i the number of earlier draws of i. That is the same as a fresh draw, i with probability w_i/W,
//! with probability W/(W + t), and else a copy of one of the t earlier draws, each as likely. After n draws the counts
//! have the law of n records from a Dirichlet(w) vector, which is never formed.
//!
//! The weights scale * count + prior are exact rationals. Fresh draws come from an alias table of integer weights
//! floor(2^64 w_i/W); the integers that rounding leaves over are one more outcome, which goes to i in
//! proportion to the fraction that was cut off. Doubles with error bounds decide nearly always whether a draw is fresh, integers decide
//! the rest.

use num_bigint::BigUint;

use super::Rational;
use super::alias::{AliasTable, uniform_below};
use super::exponential::{coin, coin_from};
use crate::random::Bits;
use crate::{Error, Result, interrupt, memory};

/// 4 GiB of earlier draws.
const MAX_DRAWS: usize = 1 << 30;
/// Draws after which the source may take fresh entropy: a mebibyte of bits.
const REFRESH_EVERY: usize = 1 << 16;

/// An urn, ready to draw from.
#[derive(Debug, Clone)]
pub struct PolyaUrn {
    base: Base,
    /// w_i and 1 in the same integer units.
    weights: Vec<BigUint>,
    unit: BigUint,
    /// W: in units, and as a double to 2^-51 (or not a number, where doubles could not decide).
    total: BigUint,
    approximate_total: f64,
}

/// Fresh draws.
#[derive(Debug, Clone)]
enum Base {
    /// The only category with a positive weight.
    Sole(u32),
    /// Outcome i < d of the table is category i, outcome d is what rounding leaves over.
    Table(AliasTable),
}

impl PolyaUrn {
    /// The urn with weights `scale * counts[i] + prior[i]`, computed exactly from the doubles.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a negative or infinite scale or prior, for a prior of another length or more
    /// than 2^31 categories; [`Error::InvalidData`] for a negative or infinite count, or when every weight is zero.
    ///
    /// # Examples
    /// ```
    /// use simplexdp_core::random::StreamKey;
    /// use simplexdp_core::sampling::PolyaUrn;
    ///
    /// let urn = PolyaUrn::new(0.5, &[3.0, 0.0, 7.0], &[1.0, 1.0, 1.0])?;
    /// let counts = urn.sample_counts(&mut StreamKey::from_os()?.stream(0), 100)?;
    /// assert_eq!(counts.iter().sum::<i64>(), 100);
    /// # Ok::<(), simplexdp_core::Error>(())
    /// ```
    pub fn new(scale: f64, counts: &[f64], prior: &[f64]) -> Result<Self> {
        if prior.len() != counts.len() {
            return Err(Error::parameter("prior", "be as long as counts", prior.len()));
        }
        if counts.len() > 1 << 31 {
            return Err(Error::parameter("counts", "have at most 2^31 categories", counts.len()));
        }
        let scale = Rational::from_f64("scale", scale)?;
        let not_a_count = |_| Error::data("counts", "be non-negative and finite");
        let exact: Vec<_> = counts
            .iter()
            .zip(prior)
            .map(|(&count, &prior)| {
                let (count, prior) =
                    (Rational::from_f64("counts", count).map_err(not_a_count)?, Rational::from_f64("prior", prior)?);
                // Denominators are powers of two.
                let (a, b) = (&scale.denominator * count.denominator, prior.denominator);
                let numerator = &scale.numerator * count.numerator * &b + prior.numerator * &a;
                Ok(Rational { numerator, denominator: a * b })
            })
            .collect::<Result<_>>()?;
        let bits = exact.iter().map(|w| w.denominator.bits()).max().unwrap_or(1);
        let unit = BigUint::from(1u8) << (bits - 1);
        Self::from_units(exact.into_iter().map(|w| w.numerator << (bits - w.denominator.bits())).collect(), unit)
    }

    fn from_units(weights: Vec<BigUint>, unit: BigUint) -> Result<Self> {
        let total: BigUint = weights.iter().sum();
        if total == BigUint::ZERO {
            return Err(Error::data("counts", "leave a category with a positive weight"));
        }
        let base = match weights.iter().position(|w| *w == total) {
            Some(sole) => Base::Sole(sole as u32),
            None => {
                let digit = |x: BigUint| x.to_u64_digits().first().copied().unwrap_or(0);
                let mut rounded: Vec<_> = weights.iter().map(|w| digit((w << 64u32) / &total)).collect();
                // Below the number of categories.
                let left = (1u128 << 64) - rounded.iter().map(|&w| u128::from(w)).sum::<u128>();
                rounded.push(left as u64);
                Base::Table(AliasTable::new(&rounded))
            }
        };
        let size = Rational { numerator: total.clone(), denominator: unit.clone() }.to_f64();
        let approximate_total = if (1e-290..1e290).contains(&size) { size } else { f64::NAN };
        Ok(Self { base, weights, unit, total, approximate_total })
    }

    /// `size` draws in the order in which they leave the urn.
    ///
    /// # Errors
    /// [`Error::NotAffordable`] for more than 2^30 draws.
    pub fn sample<B: Bits>(&self, bits: &mut B, size: usize) -> Result<Vec<u32>> {
        if size > MAX_DRAWS {
            return Err(Error::NotAffordable {
                asked: format!("{size} draws from one urn"),
                limit: format!("{MAX_DRAWS} draws"),
                instead: "release the probabilities and draw multinomial counts from them",
            });
        }
        let mut draws = memory::reserved("the draws", size)?;
        for t in 0..size {
            if t.is_multiple_of(REFRESH_EVERY) {
                interrupt::check()?;
                bits.refresh()?;
            }
            let draw = if self.is_fresh(bits, t as u64) {
                self.fresh(bits)
            } else {
                draws[uniform_below(bits, t as u64) as usize]
            };
            draws.push(draw);
        }
        Ok(draws)
    }

    /// How often each category is drawn in `size` draws.
    ///
    /// # Errors
    /// [`Error::NotAffordable`] for more than 2^30 draws.
    pub fn sample_counts<B: Bits>(&self, bits: &mut B, size: usize) -> Result<Vec<i64>> {
        let mut counts = vec![0; self.weights.len()];
        for draws in self.sample(bits, size)?.chunks(REFRESH_EVERY) {
            interrupt::check()?;
            draws.iter().for_each(|&draw| counts[draw as usize] += 1);
        }
        Ok(counts)
    }

    /// True with probability W/(W + t).
    #[inline]
    fn is_fresh<B: Bits>(&self, bits: &mut B, t: u64) -> bool {
        if t == 0 {
            return true;
        }
        let first = bits.next_u64();
        // The quotient is off by less than 2^-50, and u by 2^-53.
        let scaled = self.approximate_total / (self.approximate_total + t as f64) * 2f64.powi(64);
        let (u, slack) = (first as f64, scaled * 2f64.powi(-49) + 1.0);
        if u < scaled - slack {
            return true;
        }
        if u > scaled + slack {
            return false;
        }
        let sum = &self.total + &self.unit * t;
        coin_from(first, bits, |n| {
            let low = (&self.total << n) / &sum;
            (low.clone(), low + 1u8)
        })
    }

    /// Category i with probability w_i/W.
    #[inline]
    fn fresh<B: Bits>(&self, bits: &mut B) -> u32 {
        match &self.base {
            Base::Sole(sole) => *sole,
            Base::Table(table) => match table.sample(bits) {
                outcome if outcome == self.weights.len() => self.left_over(bits),
                outcome => outcome as u32,
            },
        }
    }

    /// Category i with a probability in proportion to the fraction of 2^64 w_i/W.
    #[cold]
    fn left_over<B: Bits>(&self, bits: &mut B) -> u32 {
        // The fractions sum to 1 at least, so a turn succeeds with a chance of 1/d at least.
        loop {
            let index = uniform_below(bits, self.weights.len() as u64);
            let remainder = (&self.weights[index as usize] << 64u32) % &self.total;
            let accepted = coin(bits, |n| {
                let low = (&remainder << n) / &self.total;
                (low.clone(), low + 1u8)
            });
            if accepted {
                return index as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::StreamKey;

    #[test]
    fn what_rounding_leaves_over_goes_by_the_fractions() {
        // 2^64/7, 2 2^64/7 and 4 2^64/7 leave the fractions 2/7, 4/7 and 1/7, since 2^64 = 2 mod 7.
        let urn = PolyaUrn::new(1.0, &[1.0, 2.0, 4.0], &[0.0; 3]).unwrap();
        let mut stream = StreamKey::from_bytes([4; 32]).stream(0);
        let mut counts = [0.0; 3];
        (0..70_000).for_each(|_| counts[urn.left_over(&mut stream) as usize] += 1.0);
        let statistic: f64 = counts.iter().zip([2e4, 4e4, 1e4]).map(|(c, e): (&f64, f64)| (c - e).powi(2) / e).sum();
        // Chi-square with 2 degrees of freedom: 1e-6 above 27.63.
        assert!(statistic < 27.63, "{statistic}");
    }

    #[test]
    fn weights_are_exact_rationals() {
        // The products are 106 bits long; a tenth times three plus a fifth is not what doubles make of it.
        let urn = PolyaUrn::new(0.1, &[3.0, 0.0], &[0.2, 5e-324]).unwrap();
        let exact = |x| Rational::from_f64("x", x).unwrap();
        let (tenth, fifth) = (exact(0.1), exact(0.2));
        let sum = tenth.numerator * 3u8 * &fifth.denominator + fifth.numerator * &tenth.denominator;
        assert_eq!(&urn.weights[0] * tenth.denominator * fifth.denominator, sum * &urn.unit);
        assert_eq!(&urn.weights[1] << 1074u32, urn.unit);
    }

    #[test]
    fn fresh_draws_are_decided_alike_by_doubles_and_integers() {
        // In the second urn some 3000 draws are fresh: an urn that is off by a part in a thousand decides others.
        for counts in [[3.0, 0.0], [9000.0, 1000.0]] {
            let urn = PolyaUrn::new(0.3, &counts, &[0.2, 0.7]).unwrap();
            let exact = PolyaUrn { approximate_total: f64::NAN, ..urn.clone() };
            let key = StreamKey::from_bytes([4; 32]);
            assert!(urn.sample(&mut key.stream(0), 5000) == exact.sample(&mut key.stream(0), 5000));
        }
    }
}
