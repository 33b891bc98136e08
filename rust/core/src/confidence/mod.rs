//! How far a release may be from what is true, for confidence intervals that cover with the probability they state.
//!
//! An interval is the set of true values that a test of size 1 - level does not reject, so it covers the true value with a
//! probability of at least the level, whatever that value is.

mod noise;
mod shares;
mod weighted;

pub use noise::Radius;
pub use shares::{DirichletDraws, ideal_share};
pub use weighted::weighted_reaches;

use crate::rounding::{quotient_down, sum_down};
use crate::{Error, Result};

/// The size of the test of each of so many entries: together they err with 1 - level by the union bound.
///
/// # Errors
/// If the level does not lie strictly between 0 and 1, or leaves nothing to err with.
pub fn test_size(level: f64, entries: u64) -> Result<f64> {
    if !(0.0 < level && level < 1.0) {
        return Err(Error::parameter("level", "lie strictly between 0 and 1", level));
    }
    Ok(quotient_down(sum_down(1.0, -level), entries.max(1) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_tests_are_not_above_what_the_level_leaves() {
        // 1 - 1e-17 lies between two doubles.
        assert_eq!(test_size(1e-17, 1).unwrap(), 1.0_f64.next_down());
        assert_eq!(test_size(0.75, 1).unwrap(), 0.25);
        assert!(crate::rounding::product_up(test_size(0.5, 7).unwrap(), 7.0) <= 0.5_f64.next_up());
        assert!(test_size(0.5, 7).unwrap() < 0.5 / 7.0 + 1e-17);
        assert_eq!(test_size(0.5, 0).unwrap(), 0.5);
        for level in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(test_size(level, 1).is_err(), "{level}");
        }
    }
}
