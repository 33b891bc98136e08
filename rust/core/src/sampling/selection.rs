//! Exponential-mechanism selection: one index of a table, drawn exactly in proportion to integer weights.
//!
//! A weight exp(l) is rounded once, to a 49-bit integer times a power of two, with a multiplicative error that
//! [`LOG_ERROR`] bounds; from there on the draw is exact. It inverts the distribution function: a uniform number U,
//! known to 128 bits, is multiplied by the sum of the weights, and the running sums that enclose the product name
//! the index. Running sums are kept in units of 2^-100 of the largest weight and each is short of the exact one by
//! less than the number of weights, so that for n weights all but about n^2 2^-100 of the draws are decided; the
//! rest are decided from more bits of the same U by the exact sums in big integers.
//!
//! The work of a draw is a bisection over blocks and one pass over a block, whatever the weights are: its number of
//! operations depends on the size of the table only (but for the event of chance n^2 2^-100).

use num_bigint::BigUint;

use crate::random::Bits;
use crate::{Error, Result};

/// Every weight is off by a factor between exp(-LOG_ERROR) and exp(LOG_ERROR), and so, because their sum is too, a
/// probability by one between exp(-2 LOG_ERROR) and exp(2 LOG_ERROR).
///
/// Rounding to 49 bits costs 2^-49, the reduction of the argument and the exponential 2^-51.
pub const LOG_ERROR: f64 = 1.0 / (1u64 << 48) as f64;

/// Weights below exp(-MAX_LOG_SPAN) of the largest are raised to it; for n weights that moves the law by less than
/// n exp(-22711) in total variation.
pub const MAX_LOG_SPAN: f64 = 22711.0;

/// Bits of a rounded weight; the other 15 bits of its word hold the exponent.
const MANTISSA_BITS: u32 = 49;
/// A mantissa has this bit set.
const HIGHEST_BIT: u64 = 1 << (MANTISSA_BITS - 1);
/// Running sums count units of 2^-UNIT_BITS of the largest weight.
const UNIT_BITS: u32 = 100;
/// Weights between two running sums that are kept.
const BLOCK: usize = 64;
/// So that running sums stay below 2^127.
const MAX_LEN: usize = 1 << 26;

/// A table of weights, ready to draw from.
#[derive(Debug, Clone)]
pub struct Selection {
    weights: Vec<Weight>,
    /// The running sum after each block, from below.
    sums: Vec<u128>,
    /// UNIT_BITS, but for the tests, which take less to force the exact path.
    unit_bits: u32,
}

/// The number m 2^(-48-e), packed as e 2^49 + m, with 2^48 <= m < 2^49 and 0 <= e < 2^15.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Weight(u64);

impl Weight {
    /// exp(log - largest), or exp(-MAX_LOG_SPAN) when that is more.
    fn from_gap(log: f64, largest: f64) -> Self {
        let high = log - largest;
        if high < -MAX_LOG_SPAN {
            return Self::from_log(-MAX_LOG_SPAN, 0.0);
        }
        // The rounding error of the difference, exactly (Knuth's two-sum).
        let back = high - log;
        let low = (log - (high - back)) - (largest + back);
        Self::from_log(high, low)
    }

    /// exp(high + low) for -MAX_LOG_SPAN <= high + low <= 0, low the rounding error of high.
    fn from_log(high: f64, low: f64) -> Self {
        // k ln 2 + r = high + low, |r| < 0.36. LN2_HIGH ends in 21 zeros, so k LN2_HIGH is exact; the subtractions
        // round results below 1/2, and LN2_LOW is small: the error of r is below 2^-52.
        const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
        const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
        let k = (high * std::f64::consts::LOG2_E).round();
        let r = (high - k * LN2_HIGH) - (k * LN2_LOW - low);
        // Off by less than a unit in the last place, 2^-52, in plain Rust: the same on every platform.
        let value = libm::exp(r);
        let mut exponent = (-k) as u64;
        let mut scaled = value * HIGHEST_BIT as f64;
        if value < 1.0 {
            exponent += 1;
            scaled *= 2.0;
        }
        let mut mantissa = scaled.round() as u64;
        if mantissa == 2 * HIGHEST_BIT {
            exponent -= 1;
            mantissa = HIGHEST_BIT;
        }
        Self(exponent << MANTISSA_BITS | mantissa)
    }

    fn mantissa(self) -> u64 {
        self.0 & ((1 << MANTISSA_BITS) - 1)
    }

    fn exponent(self) -> u32 {
        (self.0 >> MANTISSA_BITS) as u32
    }

    /// In units of 2^-unit_bits, from below.
    fn units(self, unit_bits: u32) -> u128 {
        let shifted = (self.mantissa() as u128) << (UNIT_BITS - MANTISSA_BITS + 1);
        shifted.checked_shr(self.exponent() + UNIT_BITS - unit_bits).unwrap_or(0)
    }

    /// In units of 2^(-48 - last), exactly, for last >= e.
    fn exactly(self, last: u32) -> BigUint {
        BigUint::from(self.mantissa()) << (last - self.exponent())
    }
}

impl Selection {
    /// The table of weights `exp(log_weights[i])`; the doubles are taken as exact numbers.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an empty table, [`Error::NotAffordable`] for one of more than 2^26 weights,
    /// [`Error::InvalidData`] when a log-weight is not finite.
    ///
    /// # Examples
    /// ```
    /// use simplexdp_core::random::StreamKey;
    /// use simplexdp_core::sampling::Selection;
    ///
    /// let table = Selection::new(&[0.0, -1e6, -1e5])?;
    /// assert_eq!(table.sample(&mut StreamKey::from_os()?.stream(0)), 0);
    /// # Ok::<(), simplexdp_core::Error>(())
    /// ```
    pub fn new(log_weights: &[f64]) -> Result<Self> {
        Self::with_unit_bits(log_weights, UNIT_BITS)
    }

    fn with_unit_bits(log_weights: &[f64], unit_bits: u32) -> Result<Self> {
        if log_weights.is_empty() {
            return Err(Error::parameter("log_weights", "hold at least one weight", "none"));
        }
        if log_weights.len() > MAX_LEN {
            return Err(Error::NotAffordable {
                asked: format!("a table of {} weights", log_weights.len()),
                limit: format!("{MAX_LEN} weights"),
                instead: "use a sampler that does not enumerate",
            });
        }
        if !log_weights.iter().all(|l| l.is_finite()) {
            return Err(Error::data("log_weights", "be finite"));
        }
        let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<_> = log_weights.iter().map(|&l| Weight::from_gap(l, largest)).collect();
        let sums = weights
            .chunks(BLOCK)
            .scan(0, |sum, block| {
                *sum += block.iter().map(|w| w.units(unit_bits)).sum::<u128>();
                Some(*sum)
            })
            .collect();
        Ok(Self { weights, sums, unit_bits })
    }

    /// The number of weights.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether the table is empty: never.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The rounded weight of an index over the largest, as m and e in m 2^(-48-e).
    ///
    /// # Panics
    /// Past the end of the table.
    pub fn weight(&self, index: usize) -> (u64, u32) {
        (self.weights[index].mantissa(), self.weights[index].exponent())
    }

    /// The bound on the multiplicative error of every weight, as a logarithm: [`LOG_ERROR`].
    pub fn log_error(&self) -> f64 {
        LOG_ERROR
    }

    /// An index, with probability exactly its rounded weight over the sum of the rounded weights.
    pub fn sample<B: Bits>(&self, bits: &mut B) -> usize {
        let u = (bits.next_u64() as u128) << 64 | bits.next_u64() as u128;
        // The exact sum of all weights is `total` plus less than n units, so U times it lies in [low, high).
        let n = self.weights.len() as u128;
        let total = self.sums[self.sums.len() - 1];
        let low = mul_high(u, total);
        let high = mul_high(u, total + n) + 2;
        // The exact running sum of index i lies in [sum_i, sum_i + n).
        let index = self.first_above(low);
        // Decided when even the exact running sum before `index` cannot exceed the product, and the one after it must.
        let before = if index == 0 { 0 } else { self.sum_through(index - 1) + n };
        if (index == 0 || before <= low) && high <= self.sum_through(index) {
            return index;
        }
        self.sample_exactly(u, bits)
    }

    /// The first index whose running sum exceeds `value`, or the last one; the same number of steps for every value.
    fn first_above(&self, value: u128) -> usize {
        let (mut block, mut size) = (0, self.sums.len());
        while size > 1 {
            let half = size / 2;
            block += if self.sums[block + half - 1] <= value { half } else { 0 };
            size -= half;
        }
        let start = block * BLOCK;
        let mut sum = self.sum_before_block(block);
        let mut index = start;
        for weight in &self.weights[start..self.weights.len().min(start + BLOCK)] {
            sum += weight.units(self.unit_bits);
            index += usize::from(sum <= value);
        }
        index.min(self.weights.len() - 1)
    }

    fn sum_before_block(&self, block: usize) -> u128 {
        if block == 0 { 0 } else { self.sums[block - 1] }
    }

    fn sum_through(&self, index: usize) -> u128 {
        let block = index / BLOCK;
        let start = block * BLOCK;
        let within = self.weights[start..self.weights.len().min(start + BLOCK)].iter().enumerate();
        let units = within.map(|(i, w)| if start + i <= index { w.units(self.unit_bits) } else { 0 });
        self.sum_before_block(block) + units.sum::<u128>()
    }

    /// The same inversion with exact sums and as many bits of U as it takes; `u` holds the first 128.
    #[cold]
    fn sample_exactly<B: Bits>(&self, u: u128, bits: &mut B) -> usize {
        let last = self.weights.iter().map(|w| w.exponent()).max().unwrap_or(0);
        let total: BigUint = self.weights.iter().map(|w| w.exactly(last)).sum();
        let (mut u, mut n_bits) = (BigUint::from(u), 128u32);
        // A turn fails when one of n running sums lies in an interval of relative width 2^-n_bits.
        loop {
            let low = &u * &total;
            let high = &low + &total;
            let mut sum = BigUint::ZERO;
            for (index, weight) in self.weights.iter().enumerate() {
                sum += weight.exactly(last);
                let scaled = &sum << n_bits;
                if scaled >= high {
                    return index;
                }
                if scaled > low {
                    break;
                }
            }
            u = (u << 64) | BigUint::from(bits.next_u64());
            n_bits += 64;
        }
    }
}

/// floor(a b / 2^128), exactly.
pub(super) fn mul_high(a: u128, b: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let low = a0 * b0;
    let (x, y) = (a1 * b0, a0 * b1);
    let middle = (low >> 64) + (x & LOW) + (y & LOW);
    a1 * b1 + (x >> 64) + (y >> 64) + (middle >> 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::StreamKey;

    #[test]
    fn the_high_half_of_a_product_is_exact() {
        let mut stream = StreamKey::from_bytes([1; 32]).stream(0);
        let mut word = || (stream.next_u64() as u128) << 64 | stream.next_u64() as u128;
        let edges = [0, 1, u64::MAX as u128, 1 << 64, u128::MAX];
        let pairs = edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b)));
        for (a, b) in pairs.chain((0..1000).map(|_| (word(), word()))).collect::<Vec<_>>() {
            assert_eq!(BigUint::from(mul_high(a, b)), (BigUint::from(a) * BigUint::from(b)) >> 128u32);
        }
    }

    #[test]
    fn the_exact_path_gives_what_the_fast_one_gives() {
        // With units of 2^-unit_bits of the largest weight nearly every draw is undecided.
        let tables: [Vec<f64>; 4] = [
            (0..300).map(|i| -0.01 * f64::from(i)).collect(),
            (0..300).map(|i| -f64::from(i * 7 % 300)).collect(),
            (0..130).map(|i| -0.3 * f64::from(i).powi(2)).collect(),
            vec![-1e4, 3.0, 3.0, -1e9],
        ];
        for log_weights in tables {
            let fast = Selection::new(&log_weights).unwrap();
            for unit_bits in [0, 4, 12, 40] {
                let coarse = Selection::with_unit_bits(&log_weights, unit_bits).unwrap();
                let key = StreamKey::from_bytes([unit_bits as u8; 32]);
                let (mut a, mut b) = (key.stream(0), key.stream(0));
                for _ in 0..200 {
                    assert_eq!(fast.sample(&mut a), coarse.sample(&mut b));
                }
            }
        }
    }

    #[test]
    fn more_bits_are_taken_when_128_cannot_decide() {
        /// The words given, then zeros.
        struct Words(Vec<u64>);
        impl Bits for Words {
            fn next_u64(&mut self) -> u64 {
                if self.0.is_empty() { 0 } else { self.0.remove(0) }
            }
        }
        // U = 1/3 - 2^-128 (1/3), to 128 bits, is one running sum of three equal weights; the next word decides.
        let third = 0x5555_5555_5555_5555;
        let table = Selection::new(&[5.0; 3]).unwrap();
        for (next, expected) in [(third - 1, 0), (third + 1, 1)] {
            let mut words = Words(vec![third, third, next, 77]);
            assert_eq!(table.sample(&mut words), expected);
            assert_eq!(words.0, [77]);
        }
    }
}
