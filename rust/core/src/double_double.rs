//! Arithmetic with twice the digits of a double, for formulas whose leading terms cancel and decisions that doubles leave open.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The unevaluated sum of two doubles, about 106 bits; each operation errs by a few units of 2^-104 relative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DoubleDouble {
    hi: f64,
    lo: f64,
}

/// ln 2 to 32 digits.
pub(crate) const LN_2: DoubleDouble = DoubleDouble { hi: std::f64::consts::LN_2, lo: 2.319046813846299558e-17 };

/// Powers of r^2 beyond 1e-33 no longer change a result: ln(1e33).
const LOG_OF_INVERSE_PRECISION: f64 = 76.0;

/// Terms below 1e-17 of a sum need only a double: ln(1e17).
const LOG_OF_INVERSE_DOUBLE: f64 = 39.2;

/// Halvings of the argument before the exponential series, and doublings after it.
const EXP_HALVINGS: u32 = 8;
/// Terms of that series: 0.0014^11 / 11! < 2^-120.
const EXP_TERMS: u32 = 11;

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

    /// The smallest double that is not below the value.
    pub(crate) fn above(self) -> f64 {
        if self.lo > 0.0 { self.hi.next_up() } else { self.hi }
    }

    /// The largest double that is not above the value.
    pub(crate) fn below(self) -> f64 {
        -(-self).above()
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

    /// ln(1 + t) for t > -1, with full relative accuracy.
    pub(crate) fn ln_1p(self) -> Self {
        Self::ONE.ln_ratio(self)
    }

    /// t - ln(1 + t) for t > -1, with full relative accuracy.
    pub(crate) fn log1p_gap(self) -> Self {
        if self.hi.abs() > 0.5 {
            return self - (self + Self::ONE).ln();
        }
        // With r = t/(2+t): ln(1+t) = 2 (r + r^3/3 + ...) and t - 2r = t r.
        let r = self / (self + Self::from(2.0));
        let square = r.square();
        r * (self - Self::from(2.0) * square * odd_series(square, 3))
    }

    /// The square root of a number that is not negative.
    pub(crate) fn sqrt(self) -> Self {
        if self.hi <= 0.0 {
            return Self::ZERO;
        }
        let root = self.hi.sqrt();
        let correction = (self - Self::product(root, root)).hi / (2.0 * root);
        quick_two_sum(root, correction)
    }

    /// exp(x) to (1 + |x|) 2^-98 relative; zero below exp(-700).
    pub(crate) fn exp(self) -> Self {
        if self.hi < -700.0 {
            return Self::ZERO;
        }
        let k = (self.hi * std::f64::consts::LOG2_E).round();
        let reduced = (self - LN_2 * k).exp_m1_reduced() + Self::ONE;
        // In two steps, for k near the ends of the exponent range.
        let half = (k / 2.0).trunc();
        reduced * 2f64.powi(half as i32) * 2f64.powi((k - half) as i32)
    }

    /// exp(x) - 1 to 2^-97 relative.
    pub(crate) fn exp_m1(self) -> Self {
        if self.hi.abs() <= 0.35 { self.exp_m1_reduced() } else { self.exp() - Self::ONE }
    }

    /// exp(x) - 1 for |x| <= 0.36.
    fn exp_m1_reduced(self) -> Self {
        let x = self * 0.5f64.powi(EXP_HALVINGS as i32);
        // x (1 + x/2 (1 + x/3 (...))), then exp(2x) - 1 = e (2 + e).
        let series = (2..=EXP_TERMS).rev().fold(Self::ONE, |sum, k| Self::ONE + sum * x * reciprocal(f64::from(k)));
        (0..EXP_HALVINGS).fold(series * x, |e, _| e * 2.0 + e.square())
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

impl From<u64> for DoubleDouble {
    fn from(value: u64) -> Self {
        two_sum((value >> 32) as f64 * 4_294_967_296.0, f64::from(value as u32))
    }
}

impl From<u128> for DoubleDouble {
    /// To 2^-100 or better.
    fn from(value: u128) -> Self {
        Self::from((value >> 64) as u64) * 2f64.powi(64) + Self::from(value as u64)
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

    /// The relative error against a value given as two doubles.
    fn error(value: DoubleDouble, high: f64, low: f64) -> f64 {
        ((value - DoubleDouble { hi: high, lo: low }).to_f64() / high).abs()
    }

    #[test]
    fn elementary_functions_have_thirty_digits() {
        for (value, high, low, tolerance) in cases() {
            assert!(error(value, high, low) < tolerance, "{value:?} against {high:e} + {low:e}");
        }
    }

    // mpmath, 60 digits, split into two doubles; some are constants that the standard library names.
    #[allow(clippy::approx_constant)]
    fn cases() -> Vec<(DoubleDouble, f64, f64, f64)> {
        let x = DoubleDouble::from;
        vec![
            (x(1.0).exp(), 2.718281828459045, 1.4456468917292502e-16, 3e-30),
            (x(-3.5).exp(), 0.0301973834223185, -1.2760102183793106e-19, 3e-30),
            (x(0.001).exp(), 1.0010005001667084, -4.290842058948394e-17, 3e-30),
            (x(-35.25).exp(), 4.910429870159115e-16, -4.827751481401431e-32, 3e-30),
            (x(300.0).exp(), 1.9424263952412558e+130, 1.1143145370175699e+114, 1e-28),
            (x(-650.0).exp(), 5.111951948651156e-283, 2.849121073604364e-299, 1e-28),
            (x(2.0).ln(), 0.6931471805599453, 2.3190468138462996e-17, 3e-30),
            (x(1e-300).ln(), -690.7755278982137, -2.3670096176709832e-14, 3e-30),
            (x(7.5e20).ln(), 48.06660488042318, 6.333885404710862e-16, 3e-30),
            (x(0.3).ln(), -1.2039728043259361, 8.935521583403776e-17, 3e-30),
            (x(123456789.0).ln(), 18.63140176616802, -2.0819353844153095e-16, 3e-30),
            (x(1e-20).ln_1p(), 1e-20, -5e-41, 3e-30),
            (x(0.0625).ln_1p(), 0.06062462181643484, 2.6424025938726934e-18, 3e-30),
            (x(-0.19).ln_1p(), -0.21072103131565262, 1.3046912626303315e-17, 3e-30),
            (x(-0.9).ln_1p(), -2.302585092994046, -4.968982586806388e-18, 3e-30),
            (x(5.0).ln_1p(), 1.791759469228055, 4.349979825096335e-17, 3e-30),
            (x(1e-12).exp_m1(), 1.0000000000005e-12, -2.421793960301238e-29, 3e-30),
            (x(-1e-9).exp_m1(), -9.999999995e-10, -7.477230737177921e-26, 3e-30),
            (x(0.3).exp_m1(), 0.3498588075760031, 1.6549155728191776e-17, 3e-30),
            (x(-0.3).exp_m1(), -0.2591817793182821, -1.805530505953e-18, 3e-30),
            (x(2.0).exp_m1(), 6.38905609893065, -1.7971139497839148e-16, 3e-30),
            (x(-40.0).exp_m1(), -1.0, 4.248354255291589e-18, 3e-30),
            (x(1e-15).log1p_gap(), 4.999999999999998e-31, -3.455268169956187e-47, 1e-29),
            (x(-0.015).log1p_gap(), 0.00011363781004817067, -2.700763816700517e-21, 1e-29),
            (x(0.19).log1p_gap(), 0.016046692876561984, -9.735333130849512e-19, 1e-29),
            (x(-0.5).log1p_gap(), 0.19314718055994531, -4.565107477165917e-18, 1e-29),
            (x(1000.0).log1p_gap(), 993.0912452206848, 2.4701631803251462e-14, 1e-29),
            (x(2.0).sqrt(), 1.4142135623730951, -9.667293313452913e-17, 3e-30),
            (x(1.0) / x(3.0), 0.3333333333333333, 1.850371707708594e-17, 3e-30),
        ]
    }

    #[test]
    fn a_square_root_squares_back() {
        let x = DoubleDouble { hi: 2.0, lo: 1e-17 };
        let root = x.sqrt();
        assert!((root * root - x).to_f64().abs() < 1e-30);
    }

    #[test]
    fn wide_integers_keep_thirty_digits() {
        let value = DoubleDouble::from((1u128 << 127) + (1 << 40) + 1);
        assert_eq!((value - DoubleDouble::from(2f64.powi(127))).to_f64(), 2f64.powi(40) + 1.0);
    }
}
