//! Discrete Laplace and discrete Gaussian noise, drawn exactly.
//!
//! Both laws have the form P(x) ~ exp(-f(|x|)) on the integers, with f(x) = x/s or f(x) = x^2/(2 sigma^2) (\[CKS20\],
//! eq. 1 and Def. 1). \[CKS20\] draws them by loops of biased coins. Here a table does nearly all of the work:
//!
//! 1. The integers are cut into blocks of a power of two B, with the scale between 8 B and 16 B (B = 1 for small
//!    scales), the non-negative ones from 0 upwards and the negative ones from -1 downwards. Block h of a side gets the
//!    weight exp(-f(a)), a the smallest |x| in it, x is uniform in the block, and accepted with probability
//!    exp(-(f(|x|) - f(a))), which is near 1. For B = 1 there is nothing to accept.
//! 2. Blocks are drawn from an alias table of integer weights w_h that sum to 2^64: one word, one comparison. For a
//!    public integer c, w_h is c exp(-f(a_h)) rounded down.
//! 3. What rounding leaves over, and the tail beyond the table, is drawn exactly as well. The remaining integer
//!    R = 2^64 - sum w_h is one more outcome of the table, with a probability of about 2^-53. R units are split: two
//!    for every block of the table, accepted with probability (c exp(-f(a_h)) - w_h)/2; one for the tail of each side,
//!    in which a geometric proposal is accepted; the rest, and what is refused, start the draw again.
//!
//! Coins are decided by doubles with error bounds, and by integers of any length where the bounds do not decide.
//! Nothing here looks at data, so the time that a draw takes tells nothing about them.

use num_bigint::BigUint;

use super::Rational;
use super::alias::{AliasTable, uniform_below};
use super::exponential::{coin, coin_exp_neg, exp_neg_enclosed};
use crate::random::Bits;
use crate::{Error, Result};

/// 2^50, of integer noise: beyond it a draw could come near the ends of i64.
pub const LARGEST_SCALE: f64 = (1u64 << 50) as f64;
/// Draws are kept within +-2^62; that changes the law by less than 2 exp(-2^12) at the largest scale.
const MAX_DRAW: u64 = 1 << 62;
/// Bits after the point in the arithmetic that makes the weights.
const FRACTION: u32 = 127;

/// f(x) = x^power / scale.
#[derive(Debug, Clone)]
struct Exponent {
    power: u32,
    /// Exactly, and to 2^-51.
    inverse_scale: (Rational, f64),
}

impl Exponent {
    /// f(b) - f(a) for a <= b, exactly.
    fn gap(&self, a: u64, b: u64) -> Rational {
        let gap = BigUint::from(b).pow(self.power) - BigUint::from(a).pow(self.power);
        let (scale, _) = &self.inverse_scale;
        Rational { numerator: gap * &scale.numerator, denominator: scale.denominator.clone() }
    }

    /// f(b) - f(a), to 2^-50: the integer is exact for a, b < 2^63, then rounds by 2^-53.
    #[inline]
    fn gap_approximately(&self, a: u64, b: u64) -> f64 {
        let (a, b) = (u128::from(a), u128::from(b));
        let gap = if self.power == 1 { b - a } else { b * b - a * a };
        gap as f64 * self.inverse_scale.1
    }
}

/// Discrete Laplace or discrete Gaussian noise, ready to draw from.
#[derive(Debug, Clone)]
pub struct DiscreteNoise {
    exponent: Exponent,
    /// B = 2^log_block.
    log_block: u32,
    /// Outcome h < n_blocks is block h of the non-negative side, outcome n_blocks + h of the negative side, and
    /// 2 n_blocks what is left over.
    n_blocks: u64,
    table: AliasTable,
    /// The factor c, and w_h for both sides as in the table.
    factor: BigUint,
    weights: Vec<u64>,
    /// 2^8 times the ratio of the geometric proposal in the tail of each side, from above.
    tail_ratios: [u8; 2],
}

impl DiscreteNoise {
    /// P(x) ~ exp(-|x|/scale).
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless 0 < scale <= 2^50.
    ///
    /// # Examples
    /// ```
    /// use simplexdp_core::random::StreamKey;
    /// use simplexdp_core::sampling::{DiscreteNoise, Rational};
    ///
    /// let noise = DiscreteNoise::laplace(&Rational::from_f64("scale", 10.0)?)?;
    /// assert!(noise.sample(&mut StreamKey::from_os()?.stream(0)).abs() < 10_000);
    /// # Ok::<(), simplexdp_core::Error>(())
    /// ```
    pub fn laplace(scale: &Rational) -> Result<Self> {
        let size = check_scale("scale", scale)?;
        let inverse = Rational { numerator: scale.denominator.clone(), denominator: scale.numerator.clone() };
        Ok(Self::new(1, inverse, size, 64))
    }

    /// P(x) ~ exp(-x^2/(2 sigma^2)). The standard deviation is at most sigma (\[CKS20\] Cor. 9).
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless 0 < sigma <= 2^50.
    pub fn gaussian(sigma: &Rational) -> Result<Self> {
        let size = check_scale("sigma", sigma)?;
        let inverse = Rational { numerator: sigma.denominator.pow(2), denominator: sigma.numerator.pow(2) * 2u8 };
        Ok(Self::new(2, inverse, size, 64))
    }

    /// `factor_bits` is 64, but for the tests, which take less to see more of what is left over.
    fn new(power: u32, inverse_scale: Rational, size: f64, factor_bits: u32) -> Self {
        let approximation = inverse_scale.to_f64();
        let exponent = Exponent { power, inverse_scale: (inverse_scale, approximation) };
        // The exponent of the double is the logarithm rounded down, the same on every platform.
        let log_block = ((size.to_bits() >> 52) as u32).saturating_sub(1023 + 3);
        let sides = exponentials(&exponent, log_block);
        let n_blocks = sides[0].len();
        // c times the sum of the weights leaves 4 n_blocks + 2 units at least.
        let sum: BigUint = sides.iter().flatten().map(|&e| BigUint::from(e)).sum();
        let factor = (BigUint::from((1u128 << factor_bits) - 4 * n_blocks as u128 - 2) << FRACTION) / sum;
        let mut weights: Vec<u64> = Vec::with_capacity(2 * n_blocks + 1);
        for &value in sides.iter().flatten() {
            // One digit: even the sum of all is below 2^64.
            let digits = ((&factor * BigUint::from(value)) >> FRACTION).to_u64_digits();
            weights.push(digits.first().copied().unwrap_or(0));
        }
        let left = (1u128 << factor_bits) - weights.iter().map(|&w| u128::from(w)).sum::<u128>();
        weights.push(left as u64);
        let tail_ratios = [0, 1].map(|side| {
            let h = n_blocks as u64;
            let (a, b) = (start(side, h, log_block), start(side, h + 1, log_block));
            // No more than 249: the exponent of the last blocks grows by at least 1/16 a block, so that the ratio is at
            // most exp(-1/16) = 0.94, and the enclosure adds 3.
            let (_, high) = exp_neg_enclosed(&exponent.gap(a, b), 8);
            high.to_u64_digits().first().map_or(1, |&d| d.clamp(1, 249) as u8)
        });
        let table = AliasTable::new(&weights.iter().map(|&w| w << (64 - factor_bits)).collect::<Vec<_>>());
        Self { exponent, log_block, n_blocks: n_blocks as u64, table, factor, weights, tail_ratios }
    }

    /// A draw.
    #[inline]
    pub fn sample<B: Bits>(&self, bits: &mut B) -> i64 {
        loop {
            let outcome = self.table.sample(bits) as u64;
            let (side, h) = if outcome == 2 * self.n_blocks {
                match self.sample_rest(bits) {
                    Some(block) => block,
                    None => continue,
                }
            } else {
                self.block(outcome)
            };
            let a = start(side, h, self.log_block);
            let x = if self.log_block == 0 {
                a
            } else {
                let x = a.saturating_add(bits.next_u64() >> (64 - self.log_block));
                let accepted =
                    x == a || coin_exp_neg(bits, self.exponent.gap_approximately(a, x), || self.exponent.gap(a, x));
                if !accepted {
                    continue;
                }
                x
            };
            // Negated by two's complement when side = 1: a branch on a random sign would be missed half the time.
            let (x, sign) = (x.min(MAX_DRAW) as i64, side as i64);
            return (x ^ -sign) + sign;
        }
    }

    /// Fills a slice with independent draws.
    pub fn fill<B: Bits>(&self, bits: &mut B, draws: &mut [i64]) {
        draws.iter_mut().for_each(|draw| *draw = self.sample(bits));
    }

    /// The side and the block of an outcome below 2 n_blocks.
    #[inline]
    fn block(&self, outcome: u64) -> (u64, u64) {
        let side = u64::from(outcome >= self.n_blocks);
        (side, outcome - side * self.n_blocks)
    }

    /// A block from what the integer weights leave over, or nothing: then the draw starts again.
    #[cold]
    fn sample_rest<B: Bits>(&self, bits: &mut B) -> Option<(u64, u64)> {
        let n = self.n_blocks;
        let unit = uniform_below(bits, self.weights[2 * n as usize]);
        if unit < 4 * n {
            // Two units for a block: its weight was rounded by less than 1 + 2^-30.
            let outcome = unit / 2;
            let weight = BigUint::from(self.weights[outcome as usize]);
            let (side, h) = self.block(outcome);
            let accepted = coin(bits, |bits| {
                let (low, high) = self.weight_enclosed(side, h, bits);
                let floor = &weight << bits;
                ((low.max(floor.clone()) - &floor) >> 1u32, ((high - floor) >> 1u32) + 1u8)
            });
            return accepted.then_some((side, h));
        }
        if unit < 4 * n + 2 {
            // One unit for the tail of each side: block n + j is proposed with probability (1 - q) q^j.
            let side = unit & 1;
            let ratio = self.tail_ratios[side as usize];
            let mut j = 0u32;
            while bits.next_u64() >> 56 < u64::from(ratio) {
                j = j.checked_add(1)?;
            }
            let h = n + u64::from(j);
            // (1 - q) q^j = proposal / 2^(8 (j + 1)).
            let proposal = BigUint::from(ratio).pow(j) * (256 - u32::from(ratio));
            let accepted = coin(bits, |bits| {
                let (low, high) = self.weight_enclosed(side, h, bits);
                let shift = 8 * (j + 1);
                ((low << shift) / &proposal, (high << shift) / &proposal + 1u8)
            });
            return accepted.then_some((side, h));
        }
        None
    }

    /// Integers around 2^bits c exp(-f(a_h)).
    fn weight_enclosed(&self, side: u64, h: u64, bits: u32) -> (BigUint, BigUint) {
        let more = self.factor.bits() as u32 + 8;
        let (low, high) = exp_neg_enclosed(&self.exponent.gap(0, start(side, h, self.log_block)), bits + more);
        ((low * &self.factor) >> more, ((high * &self.factor) >> more) + 1u8)
    }
}

/// The smallest |x| in block h of a side.
#[inline]
fn start(side: u64, h: u64, log_block: u32) -> u64 {
    (h << log_block) + side
}

/// The scale as a double, if it is in range.
fn check_scale(name: &'static str, scale: &Rational) -> Result<f64> {
    let size = scale.to_f64();
    if scale.numerator == BigUint::ZERO || !(size <= LARGEST_SCALE) {
        return Err(Error::parameter(name, "be positive and at most 2^50", size));
    }
    Ok(size)
}

/// exp(-f(a_h)) for both sides in units of 2^-127, short by less than 2^24 units; up to the first block of the
/// non-negative side where it is below 2^-70, so that c exp(-f) of later blocks, divided by 1 - 249/256, is below 1.
fn exponentials(exponent: &Exponent, log_block: u32) -> [Vec<u128>; 2] {
    let negligible = 1 << (FRACTION - 70);
    let first: Vec<_> = side_exponentials(exponent, log_block, 0).take_while(|&value| value >= negligible).collect();
    let second = side_exponentials(exponent, log_block, 1).take(first.len()).collect();
    [first, second]
}

fn side_exponentials(exponent: &Exponent, log_block: u32, side: u64) -> impl Iterator<Item = u128> {
    let enclose = |gap: &Rational| {
        let (low, _) = exp_neg_enclosed(gap, FRACTION);
        low.to_u64_digits().iter().rev().fold(0, |value, &digit| value << 64 | u128::from(digit))
    };
    let [a, b, c] = [0, 1, 2].map(|h| start(side, h, log_block));
    // exp(-f) and exp of minus its first difference are multiplied forward; the second difference is constant.
    let (first, next) = (exponent.gap(a, b), exponent.gap(b, c));
    let second = Rational { numerator: next.numerator - &first.numerator, denominator: next.denominator };
    let (value, step, change) = (enclose(&exponent.gap(0, a)), enclose(&first), enclose(&second));
    // These start short by at most 3 units, and a product lacks what its factors lack and 2 units more: with less than
    // 800 blocks `step` lacks less than 800 * 5 + 3 < 2^12 units, `value` less than 800 (2^12 + 2) + 3 < 2^22.
    std::iter::successors(Some((value, step)), move |&(value, step)| {
        Some((multiply(value, step), multiply(step, change)))
    })
    .map(|(value, _)| value)
}

/// a b for a, b <= 1 in units of 2^-127, short by less than 2 units.
fn multiply(a: u128, b: u128) -> u128 {
    super::selection::mul_high(a, b) << 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::StreamKey;

    fn tables() -> Vec<DiscreteNoise> {
        let scales = [1e-300, 0.01, 0.7, 1.0, 10.0, 15.99, 16.0, 1000.5, 1e9, LARGEST_SCALE];
        let rational = |s| Rational::from_f64("scale", s).unwrap();
        let laplace = scales.map(|s| DiscreteNoise::laplace(&rational(s)).unwrap());
        laplace.into_iter().chain(scales.map(|s| DiscreteNoise::gaussian(&rational(s)).unwrap())).collect()
    }

    #[test]
    fn weights_are_the_rounded_ones_up_to_the_two_units_that_cover_them() {
        for noise in tables() {
            for (outcome, &weight) in noise.weights[..2 * noise.n_blocks as usize].iter().enumerate() {
                let (side, h) = noise.block(outcome as u64);
                let (low, high) = noise.weight_enclosed(side, h, 64);
                assert!(BigUint::from(weight) << 64u32 <= high, "{outcome} {weight}");
                assert!(low < (BigUint::from(weight) + 1u8) << 64u32 | BigUint::from(1u64 << 40), "{outcome} {weight}");
            }
        }
    }

    #[test]
    fn tails_stay_below_their_proposals() {
        for noise in tables() {
            for side in [0, 1] {
                let ratio = f64::from(noise.tail_ratios[side as usize]) / 256.0;
                for j in [0u32, 1, 2, 3, 10, 30] {
                    let (_, high) = noise.weight_enclosed(side, noise.n_blocks + u64::from(j), 200);
                    let high = Rational::new("weight", high, BigUint::from(1u8) << 200u32).unwrap().to_f64();
                    // The enclosure adds a few units of 2^-200.
                    let bound = (1.0 - ratio) * ratio.powi(j as i32) + 2f64.powi(-190);
                    assert!(high <= bound, "{high} {ratio} {j}");
                }
            }
        }
    }

    #[test]
    fn what_is_left_over_has_the_right_law() {
        // With a factor near 2^12 instead of 2^64 most draws come from what rounding leaves and from the tails.
        let scale = Rational::from_f64("scale", 9.0).unwrap();
        let inverse = Rational { numerator: scale.denominator, denominator: scale.numerator };
        let noise = DiscreteNoise::new(1, inverse, 9.0, 12);
        let mut stream = StreamKey::from_bytes([8; 32]).stream(0);
        let n = 200_000;
        let mut counts = [0.0; 121];
        for _ in 0..n {
            counts[(noise.sample(&mut stream) + 60).clamp(0, 120) as usize] += 1.0;
        }
        let q = (-1.0f64 / 9.0).exp();
        let p = |x: i32| (1.0 - q) / (1.0 + q) * q.powi(x.abs());
        let tail = q.powi(60) / (1.0 + q);
        let expected = |i: i32| f64::from(n) * if i == 0 || i == 120 { tail } else { p(i - 60) };
        let statistic: f64 = (0..121).map(|i| (counts[i as usize] - expected(i)).powi(2) / expected(i)).sum();
        // Chi-square with 120 degrees of freedom: 1e-6 above 208.5.
        assert!(statistic < 208.5, "{statistic}");
    }

    #[test]
    fn blocks_hold_more_small_values_than_large_ones() {
        let scale = 1000.5;
        let noise = DiscreteNoise::laplace(&Rational::from_f64("scale", scale).unwrap()).unwrap();
        let (block, n) = (1u64 << noise.log_block, 1_000_000);
        assert!(block > 1);
        let mut stream = StreamKey::from_bytes([9; 32]).stream(0);
        let lower = |x: i64| (x.unsigned_abs() - u64::from(x < 0)) % block < block / 2;
        let found = (0..n).filter(|_| lower(noise.sample(&mut stream))).count() as f64 / f64::from(n);
        // Within a block the weights are a geometric sequence.
        let expected = 1.0 / (1.0 + (-((block / 2) as f64) / scale).exp());
        let sd = 0.5 / f64::from(n).sqrt();
        assert!(expected > 0.5 + 10.0 * sd, "nothing to see: {expected}");
        assert!((found - expected).abs() < 4.9 * sd, "{found} for {expected}");
    }

    #[test]
    fn each_side_has_a_unit_for_its_tail() {
        // Beyond all blocks lies less than 2^-60: these bits propose the first block there, and take it.
        struct Told(std::vec::IntoIter<u64>);
        impl Bits for Told {
            fn next_u64(&mut self) -> u64 {
                self.0.next().unwrap_or(0)
            }
        }
        for scale in [1.0, 15.99, 1000.5] {
            let noise = DiscreteNoise::laplace(&Rational::from_f64("scale", scale).unwrap()).unwrap();
            let (n, all) = (noise.n_blocks, noise.weights[2 * noise.n_blocks as usize]);
            for side in [0, 1] {
                // The middle of the words that give this unit.
                let word = (((u128::from(4 * n + side) << 64) + (1 << 63)) / u128::from(all)) as u64;
                let found = noise.sample_rest(&mut Told(vec![word, u64::MAX].into_iter()));
                assert!(found == Some((side, n)), "{found:?} for {side}");
            }
        }
    }
}
