//! Sums of many numbers in lanes: the processor adds them side by side, in an order that does not depend on its vectors.

use crate::wide;

const LANES: usize = 8;

/// The sum of f(0), ..., f(n - 1); `f` is to be marked `#[inline(always)]`.
#[inline(always)]
pub(super) fn in_lanes(n: usize, f: impl Fn(usize) -> f64) -> f64 {
    wide::widest(
        #[inline(always)]
        || {
            let mut sums = [0.0; LANES];
            let whole = n / LANES * LANES;
            let mut i = 0;
            while i < whole {
                for (lane, sum) in sums.iter_mut().enumerate() {
                    *sum += f(i + lane);
                }
                i += LANES;
            }
            for (lane, i) in (whole..n).enumerate() {
                sums[lane] += f(i);
            }
            ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::in_lanes;

    #[test]
    fn every_number_is_added_once() {
        for n in [0, 1, 7, 8, 9, 23, 64] {
            assert_eq!(in_lanes(n, |i| (i + 1) as f64), (n * (n + 1) / 2) as f64);
        }
    }
}
