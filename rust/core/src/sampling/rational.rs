//! Parameters as the exact rationals that they are.

use num_bigint::BigUint;

use crate::{Error, Result};

/// A non-negative rational number; not necessarily in lowest terms.
#[derive(Debug, Clone)]
pub struct Rational {
    /// The numerator.
    pub numerator: BigUint,
    /// The denominator, not zero.
    pub denominator: BigUint,
}

impl Rational {
    /// A finite non-negative double, exactly.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] under `name` for a negative, infinite or undefined one.
    pub fn from_f64(name: &'static str, value: f64) -> Result<Self> {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(Error::parameter(name, "be non-negative and finite", value));
        }
        let exponent_bits = (value.to_bits() >> 52) as u32 & 0x7ff;
        let fraction = value.to_bits() & ((1 << 52) - 1);
        // A subnormal has no hidden bit and the exponent of the smallest normal.
        let (mantissa, shift) =
            if exponent_bits == 0 { (fraction, 1074) } else { (fraction | 1 << 52, 1075 - exponent_bits as i32) };
        let (up, down) = (shift.min(0).unsigned_abs(), shift.max(0).unsigned_abs());
        Ok(Self { numerator: BigUint::from(mantissa) << up, denominator: BigUint::from(1u8) << down })
    }

    /// numerator / denominator.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] under `name` for a zero denominator.
    pub fn new(name: &'static str, numerator: BigUint, denominator: BigUint) -> Result<Self> {
        if denominator == BigUint::ZERO {
            return Err(Error::parameter(name, "have a denominator other than zero", "zero"));
        }
        Ok(Self { numerator, denominator })
    }

    /// A double within a factor 1 +- 2^-52, unless that is subnormal, zero or infinite.
    pub fn to_f64(&self) -> f64 {
        if self.numerator == BigUint::ZERO {
            return 0.0;
        }
        // A quotient of 64 or 65 bits; it is short by less than 2^-63, and the conversion rounds by 2^-53.
        let shift = 64 + self.denominator.bits() as i64 - self.numerator.bits() as i64;
        let (up, down) = (shift.max(0) as u64, shift.min(0).unsigned_abs());
        let quotient = (&self.numerator << up) / (&self.denominator << down);
        let value = quotient.to_u64_digits().iter().rev().fold(0.0, |sum, &digit| sum * 2f64.powi(64) + digit as f64);
        // In two steps, so that a power out of range does not spoil a product that is in range.
        value * 2f64.powi((-shift / 2) as i32) * 2f64.powi((-shift - -shift / 2) as i32)
    }
}

/// An integer from its little-endian bytes.
pub fn exact_integer(bytes: &[u8]) -> BigUint {
    BigUint::from_bytes_le(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_survive_the_round_trip() {
        for value in [0.0, 5e-324, 2.2e-308, 1e-9, 0.1, 1.0, 3.0, 1e15, 1.797e308] {
            assert_eq!(Rational::from_f64("x", value).unwrap().to_f64(), value);
        }
        assert!(Rational::from_f64("x", f64::NAN).is_err() && Rational::from_f64("x", -1.0).is_err());
    }

    #[test]
    fn a_tenth_is_not_the_double_next_to_it() {
        let double = Rational::from_f64("x", 0.1).unwrap();
        // 7205759403792794 / 2^56, ten times of which exceeds 1 by 4 / 2^56.
        assert_eq!(double.numerator * 10u8, double.denominator + 4u8);
    }

    #[test]
    fn quotients_round_within_the_bound() {
        let third = Rational::new("x", BigUint::from(1u8), BigUint::from(3u8)).unwrap();
        assert!((third.to_f64() * 3.0 - 1.0).abs() <= f64::EPSILON);
        assert!(Rational::new("x", BigUint::from(1u8), BigUint::ZERO).is_err());
    }
}
