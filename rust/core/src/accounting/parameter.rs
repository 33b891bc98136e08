//! Checks of the parameters of privacy profiles.

use crate::{Error, Result};

/// Shapes and scales of beta and gamma pairs are tested to 1e-3 .. 1e9; beyond this range they are refused.
const SMALLEST: f64 = 1e-9;
pub(super) const LARGEST: f64 = 1e12;

/// `value` if it is a shape or scale that the profiles are accurate for.
pub(super) fn shape(name: &'static str, value: f64) -> Result<f64> {
    if (SMALLEST..=LARGEST).contains(&value) {
        Ok(value)
    } else {
        Err(Error::parameter(name, "lie between 1e-9 and 1e12", value))
    }
}

/// `value` if it is positive and finite.
pub(super) fn positive(name: &'static str, value: f64) -> Result<f64> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(Error::parameter(name, "be positive and finite", value))
    }
}

/// `value` if it is a non-negative finite number.
pub(super) fn non_negative(name: &'static str, value: f64) -> Result<f64> {
    if value >= 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(Error::parameter(name, "be non-negative and finite", value))
    }
}

/// `value` if it is a probability below one.
pub(super) fn below_one(name: &'static str, value: f64) -> Result<f64> {
    if (0.0..1.0).contains(&value) { Ok(value) } else { Err(Error::parameter(name, "lie in [0, 1)", value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_outside_its_range_or_is_no_number_is_refused() {
        let (nan, infinite) = (f64::NAN, f64::INFINITY);
        let refused = |check: fn(&'static str, f64) -> Result<f64>, values: &[f64]| {
            values.iter().all(|&value| check("a", value).is_err())
        };
        assert!(refused(shape, &[nan, infinite, -1.0, 0.0, 0.99e-9, 1.01e12]));
        assert!(refused(positive, &[nan, infinite, -infinite, -1.0, 0.0, -0.0]));
        assert!(refused(non_negative, &[nan, infinite, -infinite, -1e-300]));
        assert!(refused(below_one, &[nan, infinite, -1e-300, 1.0, 2.0]));
        for value in [1e-9, 0.5, 1.0, 1e12] {
            assert!(shape("a", value).is_ok() && positive("a", value).is_ok() && non_negative("a", value).is_ok());
        }
        assert!(non_negative("a", 0.0).is_ok() && below_one("a", 0.0).is_ok() && positive("a", 5e-324).is_ok());
    }
}
