//! A sum that grows by one term at a time and is never below the exact one.

use crate::rounding::{quotient_up, sum_up, two_sum};

/// high + low, not below the sum of everything that was added, and above it by 1e-32 of it for each addition: so the
/// millionth debit is as exact as the first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Running {
    pub(super) high: f64,
    pub(super) low: f64,
}

impl Running {
    /// The sum with `term` >= 0 added.
    pub(super) fn plus(self, term: f64) -> Self {
        let (high, error) = two_sum(self.high, term);
        let (high, low) = two_sum(high, sum_up(self.low, error));
        Self { high, low }
    }

    /// What is left of `whole`, rounded down; negative if the sum exceeds it.
    pub(super) fn left_of(self, whole: f64) -> f64 {
        // Both differences are rounded towards the smaller result.
        let (difference, error) = two_sum(whole, -self.high);
        -sum_up(-difference, sum_up(self.low, -error))
    }

    /// Whether the sum is at most `whole`, exactly.
    pub(super) fn within(self, whole: f64) -> bool {
        self.high < whole || (self.high == whole && self.low <= 0.0)
    }

    /// The share of `whole` that the sum is, in [0, 1], rounded up.
    pub(super) fn share_of(self, whole: f64) -> f64 {
        let sum = sum_up(self.high, self.low).max(0.0);
        if whole > 0.0 { quotient_up(sum, whole).min(1.0) } else { f64::from(sum > 0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_tenths_are_counted_to_the_last_digit() {
        let sum = (0..1_000_000).fold(Running::default(), |sum, _| sum.plus(0.1));
        // 0.1 is 2^-55 * 3602879701896397; a million of them are 100000.00000000000555...
        assert!(sum.within(100_000.000_000_000_02) && !sum.within(100_000.0));
        assert_eq!(sum.high, 100_000.0);
        assert!((sum.low - 5.551_115_123_125_783e-12).abs() < 1e-24, "{}", sum.low);
    }

    #[test]
    fn what_is_left_is_rounded_down() {
        let sum = Running::default().plus(0.1).plus(0.2);
        let left = sum.left_of(0.3);
        // 0.1 + 0.2 is above 0.3, all of them as doubles.
        assert!(left < 0.0 && !sum.within(0.3) && sum.within(0.300_000_000_000_000_04));
        assert_eq!(Running::default().plus(0.25).left_of(1.0), 0.75);
        assert_eq!(Running::default().plus(0.25).share_of(1.0), 0.25);
        // Of nothing, all or none.
        assert_eq!((Running::default().share_of(0.0), Running::default().plus(0.1).share_of(0.0)), (0.0, 1.0));
        // Times the whole it is not below the sum again.
        for (term, whole) in [(0.1, 0.3), (0.3, 3.0), (0.7, 1.1), (1e-3, 0.7)] {
            assert!(Running::default().plus(term).share_of(whole) * whole >= term);
        }
    }

    #[test]
    fn sums_and_what_they_leave_are_those_of_integers() {
        // Multiples of 2^-70 that fill more than one double.
        let unit = 80.0_f64.exp2();
        let integer = |x: f64| (x * unit) as i128;
        let (mut sum, mut exact, mut state) = (Running::default(), 0_i128, 1_u64);
        for i in 0..400 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let term = (state >> 11) as f64 * f64::exp2(-70.0 + f64::from(i % 19));
            (sum, exact) = (sum.plus(term), exact + integer(term));
            assert_eq!(integer(sum.high) + integer(sum.low), exact);
            for whole in [sum.high.next_down(), sum.high, sum.high.next_up(), 1.0, 0.75 * sum.high, 3.0 * sum.high] {
                let left = integer(whole) - exact;
                let found = sum.left_of(whole);
                assert!(integer(found) <= left && integer(found.next_up()) >= left, "{found:e} {left}");
                assert_eq!(sum.within(whole), left >= 0);
                let share = sum.share_of(whole);
                let exact = exact as f64 / integer(whole) as f64;
                let (least, most) = (exact * (1.0 - 2.0 * f64::EPSILON), exact * (1.0 + 4.0 * f64::EPSILON));
                assert!((share >= least || share == 1.0) && share <= most.min(1.0), "{share} {exact}");
            }
        }
        assert!(Running::default().plus(0.25).within(0.25));
        // Far below the last digit of what is left.
        let little = Running::default().plus(f64::exp2(-60.0));
        assert_eq!((little.left_of(1.0), little.share_of(0.0)), (1.0_f64.next_down(), 1.0));
        assert_eq!(
            (little.plus(1.0).left_of(3.0), little.plus(1.0).share_of(2.0)),
            (2.0_f64.next_down(), 0.5_f64.next_up())
        );
    }
}
