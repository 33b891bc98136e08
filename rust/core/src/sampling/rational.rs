//! Parameters as the exact rationals that they are.

use std::cmp::Ordering;

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

    /// An integer.
    pub fn whole(value: impl Into<BigUint>) -> Self {
        Self { numerator: value.into(), denominator: BigUint::from(1u8) }
    }

    /// 2^log.
    pub fn power_of_two(log: i32) -> Self {
        let one = || BigUint::from(1u8);
        Self { numerator: one() << log.max(0).unsigned_abs(), denominator: one() << log.min(0).unsigned_abs() }
    }

    /// The sum, exactly.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let numerator = &self.numerator * &other.denominator + &other.numerator * &self.denominator;
        Self { numerator, denominator: &self.denominator * &other.denominator }
    }

    /// The product, exactly.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        Self { numerator: &self.numerator * &other.numerator, denominator: &self.denominator * &other.denominator }
    }

    /// The quotient by a positive number, exactly.
    ///
    /// # Panics
    /// Where the other number is zero.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        assert!(other.numerator.bits() > 0, "a number has no quotient by zero");
        Self { numerator: &self.numerator * &other.denominator, denominator: &self.denominator * &other.numerator }
    }

    /// The least integer of at least this.
    pub fn ceil(&self) -> BigUint {
        (&self.numerator + &self.denominator - 1u8) / &self.denominator
    }

    /// The largest integer of at most this.
    pub fn floor(&self) -> BigUint {
        &self.numerator / &self.denominator
    }

    /// The least double of at least this; infinite beyond the largest.
    pub fn to_f64_up(&self) -> f64 {
        let mut value = self.to_f64();
        while value.is_finite() && self > &Self::exactly(value) {
            value = value.next_up();
        }
        while value > 0.0 && self <= &Self::exactly(value.next_down()) {
            value = value.next_down();
        }
        value
    }

    /// The largest double of at most this.
    pub fn to_f64_down(&self) -> f64 {
        let up = self.to_f64_up();
        if up.is_finite() && self == &Self::exactly(up) { up } else { up.next_down() }
    }

    /// A finite double that is not negative.
    fn exactly(value: f64) -> Self {
        Self::from_f64("value", value).unwrap_or_else(|_| unreachable!("finite and not negative"))
    }
}

impl PartialEq for Rational {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rational {}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
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
    fn doubles_on_either_side_are_next_to_each_other() {
        let ratio = |a: u64, b: u64| Rational::whole(a).over(&Rational::whole(b));
        for (a, b) in [(1, 3), (2, 3), (1, 10), (10, 1), (1 << 60, 3), (u64::MAX, 1), (u64::MAX, u64::MAX - 1), (0, 5)]
        {
            let exact = ratio(a, b);
            let (down, up) = (exact.to_f64_down(), exact.to_f64_up());
            assert!(Rational::exactly(down) <= exact && exact <= Rational::exactly(up), "{a}/{b}");
            assert!(down == up || down.next_up() == up, "{a}/{b}");
            assert_eq!(down == up, Rational::exactly(exact.to_f64()) == exact, "{a}/{b}");
        }
        let tiny = Rational::power_of_two(-1080);
        assert_eq!((tiny.to_f64_down(), tiny.to_f64_up()), (0.0, 5e-324));
        let huge = Rational::power_of_two(1024);
        assert_eq!((huge.to_f64_down(), huge.to_f64_up()), (f64::MAX, f64::INFINITY));
        assert_eq!(Rational::power_of_two(-3).to_f64_up(), 0.125);
    }

    #[test]
    fn arithmetic_is_exact() {
        let (third, half) = (Rational::whole(1u8).over(&Rational::whole(3u8)), Rational::power_of_two(-1));
        assert_eq!(third.plus(&half), Rational::whole(5u8).over(&Rational::whole(6u8)));
        assert_eq!(third.times(&half), Rational::whole(1u8).over(&Rational::whole(6u8)));
        assert_eq!((third.ceil(), third.floor()), (BigUint::from(1u8), BigUint::ZERO));
        assert_eq!(Rational::whole(7u8).ceil(), Rational::whole(7u8).floor());
        assert!(third < half);
    }

    #[test]
    fn quotients_round_within_the_bound() {
        let third = Rational::new("x", BigUint::from(1u8), BigUint::from(3u8)).unwrap();
        assert!((third.to_f64() * 3.0 - 1.0).abs() <= f64::EPSILON);
        assert!(Rational::new("x", BigUint::from(1u8), BigUint::ZERO).is_err());
    }
}
