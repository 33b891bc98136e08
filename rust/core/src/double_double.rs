//! Arithmetic with twice the digits of a double, for formulas whose leading terms cancel.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The unevaluated sum of two doubles, about 106 bits; each operation errs by a few units of 2^-104 relative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DoubleDouble {
    hi: f64,
    lo: f64,
}

/// ln 2 to 32 digits.
const LN_2: DoubleDouble = DoubleDouble { hi: std::f64::consts::LN_2, lo: 2.319046813846299558e-17 };

/// Powers of r^2 beyond 1e-33 no longer change a result: ln(1e33).
const LOG_OF_INVERSE_PRECISION: f64 = 76.0;

/// Terms below 1e-17 of a sum need only a double: ln(1e17).
const LOG_OF_INVERSE_DOUBLE: f64 = 39.2;

fn two_sum(a: f64, b: f64) -> DoubleDouble {
    let hi = a + b;
    let b_part = hi - a;
    DoubleDouble { hi, lo: (a - (hi - b_part)) + (b - b_part) }
}

/// `two_sum` for |a| >= |b|.
fn quick_two_sum(a: f64, b: f64) -> DoubleDouble {
    let hi = a + b;
    DoubleDouble { hi, lo: b - (hi - a) }
}

impl DoubleDouble {
    pub(crate) const ZERO: Self = Self { hi: 0.0, lo: 0.0 };
    pub(crate) const ONE: Self = Self { hi: 1.0, lo: 0.0 };

    /// The exact sum a + b.
    pub(crate) fn sum(a: f64, b: f64) -> Self {
        two_sum(a, b)
    }

    /// The exact product a b, barring underflow.
    pub(crate) fn product(a: f64, b: f64) -> Self {
        let hi = a * b;
        Self { hi, lo: a.mul_add(b, -hi) }
    }

    /// A constant whose two parts are known.
    pub(crate) const fn constant(hi: f64, lo: f64) -> Self {
        Self { hi, lo }
    }

    /// The exact difference a - b.
    pub(crate) fn difference(a: f64, b: f64) -> Self {
        two_sum(a, -b)
    }

    /// The nearest double.
    pub(crate) fn to_f64(self) -> f64 {
        self.hi
    }

    /// Whether the value is exactly zero.
    pub(crate) fn is_zero(self) -> bool {
        self.hi == 0.0
    }

    pub(crate) fn square(self) -> Self {
        self * self
    }

    /// ln(self) for a positive value in the normal range.
    pub(crate) fn ln(self) -> Self {
        // self = 2^k m with m near 1; the scale goes in two steps because 2^-k itself may overflow.
        let k = (self.hi * std::f64::consts::FRAC_1_SQRT_2).log2().ceil() as i32;
        let (half, rest) = (k / 2, k - k / 2);
        let scale = |x: f64| x * 2f64.powi(-half) * 2f64.powi(-rest);
        let m = Self { hi: scale(self.hi), lo: scale(self.lo) };
        let r = (m - Self::ONE) / (m + Self::ONE);
        r * Self::from(2.0) * odd_series(r.square(), 1) + LN_2 * Self::from(f64::from(k))
    }

    /// ln((self + step) / self) for positive self and self + step, with relative accuracy also for tiny steps.
    pub(crate) fn ln_ratio(self, step: Self) -> Self {
        let r = step / (self + self + step);
        if r.hi.abs() < 0.2 { r * 2.0 * odd_series(r.square(), 1) } else { ((self + step) / self).ln() }
    }

    /// t - ln(1 + t) for |t| <= 1/2, with full relative accuracy.
    pub(crate) fn log1p_gap(self) -> Self {
        // With r = t/(2+t): ln(1+t) = 2 (r + r^3/3 + ...) and t - 2r = t r.
        let r = self / (self + Self::from(2.0));
        let square = r.square();
        r * (self - Self::from(2.0) * square * odd_series(square, 3))
    }
}

/// 1/first + x/(first+2) + x^2/(first+4) + ..., for 0 <= x <= 1/9.
fn odd_series(x: DoubleDouble, first: u32) -> DoubleDouble {
    let decay = if x.hi > 1e-300 { -x.hi.ln() } else { f64::INFINITY };
    let (n_terms, n_double) = ((LOG_OF_INVERSE_PRECISION / decay).ceil(), (LOG_OF_INVERSE_DOUBLE / decay).ceil());
    let (n_terms, n_double) = (n_terms.max(1.0) as u32, n_double.max(1.0) as u32);
    let far = (n_double..=n_terms).rev().fold(0.0, |sum, k| sum * x.hi + 1.0 / f64::from(first + 2 * k));
    (0..n_double).rev().fold(DoubleDouble::from(far), |sum, k| sum * x + reciprocal(f64::from(first + 2 * k)))
}

fn reciprocal(x: f64) -> DoubleDouble {
    let hi = 1.0 / x;
    DoubleDouble { hi, lo: hi.mul_add(-x, 1.0) / x }
}

impl From<f64> for DoubleDouble {
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let high = two_sum(self.hi, other.hi);
        let low = two_sum(self.lo, other.lo);
        let sum = quick_two_sum(high.hi, high.lo + low.hi);
        quick_two_sum(sum.hi, sum.lo + low.lo)
    }
}

impl Neg for DoubleDouble {
    type Output = Self;

    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let hi = self.hi * other.hi;
        let error = self.hi.mul_add(other.hi, -hi);
        quick_two_sum(hi, error + self.hi.mul_add(other.lo, self.lo * other.hi))
    }
}

impl Mul<f64> for DoubleDouble {
    type Output = Self;

    fn mul(self, other: f64) -> Self {
        self * Self::from(other)
    }
}

impl Div<f64> for DoubleDouble {
    type Output = Self;

    fn div(self, other: f64) -> Self {
        self / Self::from(other)
    }
}

impl Div for DoubleDouble {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        let rest = self - other * Self::from(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * Self::from(second);
        quick_two_sum(first, second) + Self::from(rest.hi / other.hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_and_products_undo_each_other_to_thirty_digits() {
        let x = DoubleDouble::from(3.0) / DoubleDouble::from(7.0);
        let back = x * DoubleDouble::from(7.0) - DoubleDouble::from(3.0);
        assert!(back.to_f64().abs() < 1e-30);
    }

    #[test]
    fn logarithms_of_products_add() {
        for (a, b) in [(1e-250, 1e200), (1.0 + 1e-9, 3.0), (0.7, 1e17), (2.5e-9, 4.0e8)] {
            let (x, y) = (DoubleDouble::from(a), DoubleDouble::from(b));
            let gap = (x * y).ln() - x.ln() - y.ln();
            assert!(gap.to_f64().abs() < 1e-29 * (1.0 + x.ln().to_f64().abs() + y.ln().to_f64().abs()), "{a} {b}");
        }
    }

    #[test]
    fn the_log1p_gap_agrees_with_the_logarithm_and_keeps_its_digits_near_zero() {
        for t in [-0.5, -0.3, 0.1, 0.5] {
            let x = DoubleDouble::from(t);
            let direct = x - (DoubleDouble::ONE + x).ln();
            assert!((x.log1p_gap() - direct).to_f64().abs() < 1e-30, "{t}");
        }
        // t^2/2 - t^3/3 + ... at t = 1e-20.
        assert!((DoubleDouble::from(1e-20).log1p_gap().to_f64() / 5e-41 - 1.0).abs() < 1e-15);
    }
}
