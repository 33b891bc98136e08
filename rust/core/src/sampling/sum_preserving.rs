//! Laplace noise that keeps a public sum: P(z) ~ exp(-|z|_1 / scale) on the integer vectors z with sum zero.
//!
//! With q = exp(-1/scale), z is a vector of m independent discrete Laplace variables given that they sum to zero. Such a
//! variable is the difference G - G' of two geometric ones, P(G = g) ~ q^g, so z = G - G' given that G and G' have the
//! same sum S, and given S both are uniform among the ways to write S as an ordered sum of m non-negative integers.
//! The probability of S is proportional to b(S)^2, b(s) = binom(s + m - 1, s) q^s. Hence:
//!
//! 1. draw G, which gives S the law ~ b(S);
//! 2. accept with probability b(S)/max b, which is about 0.7 of the time, whatever m is;
//! 3. draw G' uniformly among the compositions of S.
//!
//! The second step multiplies |S - mode| factors, so where the scale is too large for that (and where m is small) another
//! way is taken: draw m - 1 coordinates, close the sum with the last one, and accept with probability q^|last|, which is
//! about 0.564 cosh(1/(2 scale))/sqrt(m) of the time.

use num_bigint::BigUint;

use super::alias::uniform_below;
use super::exponential::{coin_exp_neg, coin_from, exp_neg_enclosed};
use super::{DiscreteNoise, Rational};
use crate::random::Bits;
use crate::{Error, Result, interrupt};

/// Up to this dimension closing the sum is as fast.
const CLOSE_UP_TO: usize = 24;
/// The acceptance of S is computed as a product while the standard deviation of S is below this many times m^1.5, the
/// work of closing the sum; and below 2^40.
const FACTORS_PER_COORDINATE: f64 = 16.0;
const MAX_DEVIATION: f64 = (1u64 << 40) as f64;
/// Factors that share a division: their numerators and denominators are below 2^53 each.
const CHUNK: u64 = 8;
/// Coordinates between two questions whether anybody waits for the draw.
const PIECE: usize = 1 << 14;
/// Numbers that are sorted in one go: some milliseconds.
const SORTED_AT_ONCE: usize = 1 << 18;

/// Sum-preserving Laplace noise, ready to draw from.
#[derive(Debug, Clone)]
pub struct SumPreservingLaplace {
    dimension: usize,
    noise: DiscreteNoise,
    /// 1/scale, exactly and to 2^-51.
    rate: (Rational, f64),
    /// The mode of b, where step 2 is affordable.
    mode: Option<u64>,
}

impl SumPreservingLaplace {
    /// P(z) ~ exp(-|z|_1/scale) for z of the given dimension.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless 0 < scale <= 2^50 and 1 <= dimension <= 2^31.
    pub fn new(scale: &Rational, dimension: usize) -> Result<Self> {
        if !(1..=1 << 31).contains(&dimension) {
            return Err(Error::parameter("dimension", "be from 1 to 2^31", dimension));
        }
        let noise = DiscreteNoise::laplace(scale)?;
        let inverse = Rational { numerator: scale.denominator.clone(), denominator: scale.numerator.clone() };
        let approximation = inverse.to_f64();
        // The variance of S before step 2 is m q/(1 - q)^2.
        let deviation = ((dimension as f64) * libm::exp(-approximation)).sqrt() / -libm::expm1(-approximation);
        let affordable = (FACTORS_PER_COORDINATE * dimension as f64 * (dimension as f64).sqrt()).min(MAX_DEVIATION);
        let mode = (dimension > CLOSE_UP_TO && deviation <= affordable).then(|| mode(&inverse, dimension));
        Ok(Self { dimension, noise, rate: (inverse, approximation), mode })
    }

    /// The number of coordinates.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// A draw.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; then `draw` is none.
    ///
    /// # Panics
    /// When `draw` is not as long as the dimension.
    pub fn sample<B: Bits>(&self, bits: &mut B, draw: &mut [i64]) -> Result<()> {
        assert_eq!(draw.len(), self.dimension, "one place for each coordinate");
        match self.mode {
            Some(mode) => self.sample_by_compositions(bits, draw, mode),
            None => self.sample_by_closing(bits, draw),
        }
    }

    fn sample_by_closing<B: Bits>(&self, bits: &mut B, draw: &mut [i64]) -> Result<()> {
        let last = self.dimension - 1;
        loop {
            let mut sum = 0i128;
            in_pieces(&mut draw[..last], |piece| {
                self.noise.fill(bits, piece);
                sum += piece.iter().map(|&z| i128::from(z)).sum::<i128>();
            })?;
            // A sum beyond 2^62 would be accepted with a chance below exp(-2^12).
            let Some(closing) = i64::try_from(-sum).ok().filter(|z| z.unsigned_abs() <= 1 << 62) else { continue };
            draw[last] = closing;
            let size = closing.unsigned_abs();
            if coin_exp_neg(bits, size as f64 * self.rate.1, || multiple(&self.rate.0, size)) {
                return Ok(());
            }
        }
    }

    fn sample_by_compositions<B: Bits>(&self, bits: &mut B, draw: &mut [i64], mode: u64) -> Result<()> {
        let sum = loop {
            let mut sum = 0u128;
            in_pieces(draw, |piece| {
                self.noise.fill(bits, piece);
                // The two sides of the noise, 0, 1, 2, ... and -1, -2, -3, ..., are both geometric.
                for g in piece {
                    *g ^= *g >> 63;
                    sum += *g as u128;
                }
            })?;
            // S is within 40 deviations of its mean, far below 2^53, unless with a chance below exp(-40).
            if let Ok(sum) = u64::try_from(sum)
                && self.accept_sum(bits, sum, mode)
            {
                break sum;
            }
        };
        subtract_composition(bits, sum, draw)
    }

    /// True with probability b(sum)/b(mode), a product of |sum - mode| factors.
    fn accept_sum<B: Bits>(&self, bits: &mut B, sum: u64, mode: u64) -> bool {
        let (from, to, m1) = (sum.min(mode), sum.max(mode), self.dimension as u64 - 1);
        if from == to {
            return true;
        }
        let first = bits.next_u64();
        let length = (to - from) as f64;
        if to < 1 << 52 {
            // b(s)/b(s-1) = q (s + m - 1)/s.
            let (mut up, q) = (1.0, libm::exp(-self.rate.1));
            let mut start = from + 1;
            while start <= to {
                let end = to.min(start + CHUNK - 1);
                let product = |shift| (start..=end).fold(1.0, |product, s| product * (s + shift) as f64);
                up *= q.powi((end - start + 1) as i32) * (product(m1) / product(0));
                start = end + 1;
            }
            let p = if sum > mode { up } else { 1.0 / up };
            // A factor and its share of the products are off by less than 2^-50; q by a unit and by what 1/scale is off.
            let error = length * 2f64.powi(-49) * (1.0 + self.rate.1);
            let (u, scaled) = (first as f64, p * 2f64.powi(64));
            if u < scaled * (1.0 - error) - 1.0 {
                return true;
            }
            if u > scaled * (1.0 + 2.0 * error) + 1.0 && error < 0.1 && up > 1e-280 {
                return false;
            }
        }
        coin_from(first, bits, |n| self.acceptance_enclosed(from, to, sum > mode, n))
    }

    /// Integers around 2^bits b(sum)/b(mode).
    fn acceptance_enclosed(&self, from: u64, to: u64, above: bool, bits: u32) -> (BigUint, BigUint) {
        let m1 = self.dimension as u64 - 1;
        // The factors and the power of q may be as small as q^(to - from), and one divides by the other; how wide the
        // enclosure gets is not relied upon.
        let work = bits + 128 + ((to - from) as f64 * self.rate.1 * 1.5) as u32;
        let (mut low, mut high) = (BigUint::from(1u8) << work, BigUint::from(1u8) << work);
        for s in from + 1..=to {
            let (up, down) = if above { (s + m1, s) } else { (s, s + m1) };
            low = low * up / down;
            high = high * up / down + 1u8;
        }
        let (power_low, power_high) = exp_neg_enclosed(&multiple(&self.rate.0, to - from), work + 64);
        let (shift, one) = (work + 64, BigUint::from(1u8));
        let (low, high) = if above {
            ((low * power_low) >> shift, ((high * power_high) >> shift) + &one)
        } else {
            // q^-(to - from): where its lower end is zero nothing is known yet.
            let high = if power_low == BigUint::ZERO { &one << work } else { (high << shift) / power_low + &one };
            ((low << shift) / power_high, high)
        };
        (low >> (work - bits), (high >> (work - bits)) + one)
    }
}

/// Does `work` on a row piece by piece, as long as somebody waits for it.
fn in_pieces(row: &mut [i64], mut work: impl FnMut(&mut [i64])) -> Result<()> {
    for (index, piece) in row.chunks_mut(PIECE).enumerate() {
        // A row of one piece is short: whoever draws many of them asks.
        if index > 0 {
            interrupt::check()?;
        }
        work(piece);
    }
    Ok(())
}

/// n x.
fn multiple(x: &Rational, n: u64) -> Rational {
    Rational { numerator: &x.numerator * n, denominator: x.denominator.clone() }
}

/// floor(q (m - 1)/(1 - q)): b(s) >= b(s - 1) exactly when q (s + m - 1) >= s.
fn mode(rate: &Rational, dimension: usize) -> u64 {
    let mut bits = 128;
    // q is irrational, so the enclosures agree at last; a turn fails with a chance near 2^(64 - bits).
    loop {
        let (low, high) = exp_neg_enclosed(rate, bits);
        let one = BigUint::from(1u8) << bits;
        if high < one {
            let [from, to] = [low, high].map(|q| &q * (dimension - 1) / (&one - &q));
            if from == to {
                return from.to_u64_digits().first().copied().unwrap_or(0);
            }
        }
        bits *= 2;
    }
}

/// Subtracts from `parts` a uniform one of the ways to write `sum` as an ordered sum of that many integers >= 0.
fn subtract_composition<B: Bits>(bits: &mut B, sum: u64, parts: &mut [i64]) -> Result<()> {
    // Stars and bars: any choice of the places of m - 1 bars among sum + m - 1 places. The rarer kind is chosen.
    let bars = parts.len() as u64 - 1;
    let places = sum + bars;
    if sum <= bars {
        for (before, star) in subset(bits, places, sum)?.into_iter().enumerate() {
            parts[star as usize - before] -= 1;
        }
        return Ok(());
    }
    let mut start = 0;
    for (part, bar) in parts.iter_mut().zip(subset(bits, places, bars)?.into_iter().chain([places])) {
        *part -= (bar - start) as i64;
        start = bar + 1;
    }
    Ok(())
}

/// A uniform subset of 0..n with k <= n/2 elements, in order.
fn subset<B: Bits>(bits: &mut B, n: u64, k: u64) -> Result<Vec<u64>> {
    let mut chosen = Vec::with_capacity(k as usize);
    // Draws until k are distinct. Each round draws as many as are missing, so never one too many.
    while (chosen.len() as u64) < k {
        let mut missing = k - chosen.len() as u64;
        while missing > 0 {
            let now = missing.min(PIECE as u64);
            chosen.extend((0..now).map(|_| uniform_below(bits, n)));
            missing -= now;
            if missing > 0 {
                interrupt::check()?;
            }
        }
        sort(&mut chosen)?;
        chosen.dedup();
    }
    Ok(chosen)
}

/// Sorts, as long as somebody waits for it: halves on either side of the middle one, each by itself.
fn sort(values: &mut [u64]) -> Result<()> {
    if values.len() <= SORTED_AT_ONCE {
        values.sort_unstable();
        return Ok(());
    }
    interrupt::check()?;
    let (below, _, above) = values.select_nth_unstable(values.len() / 2);
    sort(below)?;
    sort(above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::StreamKey;

    fn laplace(scale: f64, dimension: usize) -> SumPreservingLaplace {
        SumPreservingLaplace::new(&Rational::from_f64("scale", scale).unwrap(), dimension).unwrap()
    }

    #[test]
    fn the_acceptance_of_a_sum_is_the_ratio_of_its_weights() {
        for (scale, m) in [(0.3, 30), (2.0, 30), (7.5, 100), (0.05, 50)] {
            let noise = laplace(scale, m);
            let mode = noise.mode.unwrap();
            let log_b =
                |s: u64| (1..=s).map(|j| ((j + m as u64 - 1) as f64 / j as f64).ln()).sum::<f64>() - s as f64 / scale;
            for sum in 0..(2 * mode + 50) {
                let (from, to) = (sum.min(mode), sum.max(mode));
                let (low, high) = noise.acceptance_enclosed(from, to, sum > mode, 100);
                let scaled = |x: BigUint| Rational::new("x", x, BigUint::from(1u8) << 100u32).unwrap().to_f64();
                let expected = (log_b(sum) - log_b(mode)).exp();
                assert!(&high - &low < BigUint::from(8u8));
                assert!((scaled(low) - expected).abs() <= 1e-11 * expected + 1e-29, "{scale} {m} {sum}");
                assert!(scaled(high) <= 1.0 + 1e-20, "above the mode's");
            }
        }
    }

    #[test]
    fn the_fast_acceptance_agrees_with_the_exact_one() {
        let noise = laplace(5.0, 60);
        let mode = noise.mode.unwrap();
        let key = StreamKey::from_bytes([6; 32]);
        let (mut a, mut b) = (key.stream(0), key.stream(0));
        for sum in (0..600).filter(|&sum| sum != mode) {
            let fast = noise.accept_sum(&mut a, sum, mode);
            let first = b.next_u64();
            let enclose = |n| noise.acceptance_enclosed(sum.min(mode), sum.max(mode), sum > mode, n);
            assert_eq!(fast, coin_from(first, &mut b, enclose));
        }
    }

    #[test]
    fn long_rows_are_sorted_as_short_ones() {
        let mut stream = StreamKey::from_bytes([8; 32]).stream(0);
        for n in [0, 1, SORTED_AT_ONCE, SORTED_AT_ONCE + 1, 5 * SORTED_AT_ONCE + 3] {
            // Few values, so that many are alike.
            let mut values: Vec<u64> = (0..n).map(|_| stream.next_u64() % 1000).collect();
            let mut expected = values.clone();
            expected.sort_unstable();
            sort(&mut values).unwrap();
            assert_eq!(values, expected);
        }
    }

    #[test]
    fn a_long_row_of_which_nobody_waits_is_none() {
        for scale in [1.0, 1e15] {
            let noise = laplace(scale, 3 * PIECE);
            let mut draw = vec![0; noise.dimension()];
            let draw = interrupt::watch(Box::new(|| true), || {
                interrupt::request();
                noise.sample(&mut StreamKey::from_bytes([9; 32]).stream(0), &mut draw)
            });
            assert_eq!(draw, Err(Error::Interrupted), "{scale}");
        }
    }

    #[test]
    fn both_ways_have_the_law_of_the_enumeration() {
        let key = StreamKey::from_bytes([7; 32]);
        for (index, (m, scale)) in [(3usize, 0.8), (3, 2.5), (4, 1.0), (2, 1.5)].into_iter().enumerate() {
            let closing = laplace(scale, m);
            let composing = SumPreservingLaplace { mode: Some(super::mode(&closing.rate.0, m)), ..closing.clone() };
            // All vectors with coordinates from -k to k except a mass below 1e-7, which is pooled with the rest.
            let k = (scale * 18.0) as i64;
            let side = (2 * k + 1) as usize;
            let cells = side.pow(m as u32 - 1);
            let decode = |mut code: usize| {
                let mut z: Vec<i64> = (1..m).map(|_| (code % side, code /= side).0 as i64 - k).collect();
                z.push(-z.iter().sum::<i64>());
                z
            };
            let weights: Vec<f64> =
                (0..cells).map(|c| (-decode(c).iter().map(|z| z.abs()).sum::<i64>() as f64 / scale).exp()).collect();
            let total: f64 = weights.iter().sum();
            for noise in [&closing, &composing] {
                let mut stream = key.stream(index as u64);
                let (mut counts, mut z, n) = (vec![0u32; cells + 1], vec![0; m], 200_000);
                for _ in 0..n {
                    noise.sample(&mut stream, &mut z).unwrap();
                    assert_eq!(z.iter().sum::<i64>(), 0);
                    let inside = z[..m - 1].iter().all(|z| z.abs() <= k);
                    let code = z[..m - 1].iter().rev().fold(0, |code, z| code * side as i64 + z + k);
                    counts[if inside { code as usize } else { cells }] += 1;
                }
                let (mut statistic, mut degrees) = (0.0, -1.0);
                let (mut pool_seen, mut pool_expected) = (f64::from(counts[cells]), 0.0);
                for (&count, weight) in counts.iter().zip(&weights) {
                    let expected = f64::from(n) * weight / total;
                    if expected >= 10.0 {
                        statistic += (f64::from(count) - expected).powi(2) / expected;
                        degrees += 1.0;
                    } else {
                        pool_seen += f64::from(count);
                        pool_expected += expected;
                    }
                }
                statistic += (pool_seen - pool_expected).powi(2) / pool_expected.max(1.0);
                // Wilson and Hilferty's quantile at 4.75 normal deviations: a false alarm in a million.
                let bound = |f: f64| f * (1.0 - 2.0 / (9.0 * f) + 4.75 * (2.0 / (9.0 * f)).sqrt()).powi(3);
                assert!(statistic < bound(degrees + 1.0), "{m} {scale}: {statistic} on {degrees}");
            }
        }
    }
}
