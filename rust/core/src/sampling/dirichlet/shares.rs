//! From gamma variates with errors to the floors of their shares of the sum (docs/exactness.md, section 7).

use super::elementary::ROUND;
use super::gamma::ROUNDING;

/// Grids finer than this leave doubles nothing to decide.
const FINEST_FOR_DOUBLES: u64 = 1 << 46;

/// Sums that are formed side by side.
const LANES: usize = 8;

/// What the floors of a row need of all its variates.
struct Shares {
    factor: f64,
    weight: f64,
    sum_error: f64,
    shared: u64,
}

impl Shares {
    /// Nothing where doubles are too coarse.
    #[inline(always)]
    fn new(values: &[f64], errors: &[f64], shared: u64) -> Option<Self> {
        if shared > FINEST_FOR_DOUBLES {
            return None;
        }
        let (sum, sum_error) = (compensated_sum(values), plain_sum(errors));
        // Not a number fails as well.
        (sum_error < 1e-6 * sum).then(|| Self { factor: shared as f64 / sum, weight: 1.01 / sum, sum_error, shared })
    }

    /// The floor of one share, and whether it is decided.
    #[inline(always)]
    fn floor(&self, value: f64, error: f64) -> (u64, bool) {
        let total = self.shared as f64;
        // z and its error: y = g/(g + T) moves by (1-y) E_g/S + y E_T/S, at most; nine roundings hold those of the sum,
        // the factor and the products.
        let z = value * self.factor;
        let margin = self.weight * error * (total - z) + z * (self.weight * (self.sum_error - error) + 9.0 * ROUNDING);
        let shifted = z + ROUND;
        let rest = z - (shifted - ROUND);
        let nearest = shifted.to_bits().wrapping_sub(ROUND.to_bits());
        // 0 < M y < M holds for the ideal, so these two integers are no boundaries.
        let at_end = (nearest == 0) | (nearest == self.shared);
        let decided = (margin < 0.5) & ((rest.abs() > margin) | at_end);
        let below = (nearest == self.shared) | (rest < 0.0);
        (nearest.wrapping_sub(u64::from(below)), decided)
    }
}

/// Writes floor(shared y_i) for every entry, and tells whether the errors leave none undecided.
#[inline(always)]
pub(super) fn floors(values: &[f64], errors: &[f64], shared: u64, floors: &mut [u64]) -> bool {
    let Some(shares) = Shares::new(values, errors, shared) else { return false };
    let mut n_undecided = 0u64;
    for ((&value, &error), floor) in values.iter().zip(errors).zip(floors) {
        let (found, decided) = shares.floor(value, error);
        *floor = found;
        n_undecided += u64::from(!decided);
    }
    n_undecided == 0
}

/// The entries whose floors the errors leave undecided.
#[cold]
pub(super) fn undecided(values: &[f64], errors: &[f64], shared: u64) -> Vec<u32> {
    let Some(shares) = Shares::new(values, errors, shared) else { return (0..values.len() as u32).collect() };
    let open = |i: &u32| !shares.floor(values[*i as usize], errors[*i as usize]).1;
    (0..values.len() as u32).filter(open).collect()
}

/// The sum of errors: a bound needs no more digits than the factor 1.01 in its use leaves.
#[inline(always)]
fn plain_sum(values: &[f64]) -> f64 {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0f64; LANES];
    for block in blocks {
        for (lane, &value) in lanes.iter_mut().zip(block) {
            *lane += value;
        }
    }
    lanes.iter().chain(rest).sum()
}

/// The sum with the roundings' errors collected beside it: relative error below two roundings for positive values.
#[inline(always)]
fn compensated_sum(values: &[f64]) -> f64 {
    let mut sum = [0.0f64; LANES];
    let mut rest = [0.0f64; LANES];
    // Knuth's sum, whose rest is exact whichever is larger.
    let add = |sum: &mut f64, rest: &mut f64, value: f64| {
        let t = *sum + value;
        let back = t - *sum;
        *rest += (*sum - (t - back)) + (value - back);
        *sum = t;
    };
    let (blocks, last) = values.as_chunks::<LANES>();
    for block in blocks {
        for ((sum, rest), &value) in sum.iter_mut().zip(&mut rest).zip(block) {
            add(sum, rest, value);
        }
    }
    for ((sum, rest), &value) in sum.iter_mut().zip(&mut rest).zip(last) {
        add(sum, rest, value);
    }
    // How many lanes there are to add is found at run time: were it all of them, the compiler would take the lanes apart here,
    // and with them the loop over blocks.
    let n = values.len().min(LANES);
    let (mut all, mut left) = (0.0, 0.0);
    for (&lane, &rest) in sum[..n].iter().zip(&rest[..n]) {
        add(&mut all, &mut left, lane);
        left += rest;
    }
    all + left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Bits, StreamKey};

    #[test]
    fn the_compensated_sum_is_within_two_roundings() {
        let mut bits = StreamKey::from_bytes([8; 32]).stream(0);
        for n in [1, 2, 3, 5, 100, 10_001] {
            // Integers below 2^40, so that the exact sum fits; scaled by a power of two it is the same sum.
            let integers: Vec<u64> = (0..n).map(|_| (bits.next_u64() >> 24) >> (bits.next_u64() % 40)).collect();
            let values: Vec<f64> = integers.iter().map(|&n| n as f64 * 2f64.powi(-70)).collect();
            let exact = integers.iter().sum::<u64>() as f64 * 2f64.powi(-70);
            assert!((compensated_sum(&values) - exact).abs() <= 2.0 * ROUNDING * exact);
        }
    }
}
