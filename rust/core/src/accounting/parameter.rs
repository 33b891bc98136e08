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
