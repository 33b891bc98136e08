//! Double-double arithmetic, about 31 digits: what decides when doubles cannot tell accept from reject.
//!
//! A number is the unevaluated sum of two doubles. Sums, products and quotients have a relative error below 2^-101;
//! `exp` one below (1 + |x|) 2^-98, `ln` an absolute one below (1 + |ln x|) 2^-98, `ln_1p` and `exp_m1` a relative one below
//! 2^-97 ([DEK71] for the error-free transformations).

use std::ops::{Add, Div, Mul, Neg, Sub};

/// high + low with |low| at most half a unit in the last place of high.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DoubleDouble {
    pub(super) high: f64,
    low: f64,
}

/// ln 2.
pub(super) const LN_2: DoubleDouble = DoubleDouble { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };

/// Halvings of the argument before the exponential series, and doublings after it.
const EXP_HALVINGS: u32 = 8;
/// Terms of that series: 0.0014^11 / 11! < 2^-120.
const EXP_TERMS: u32 = 11;
/// Terms of atanh(s)/s for |s| <= 0.12: the first one left out is below 2^-120.
const ATANH_TERMS: u32 = 20;

/// a + b, exactly.
fn two_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    let b_part = high - a;
    DoubleDouble { high, low: (a - (high - b_part)) + (b - b_part) }
}

/// a + b, exactly, for |a| >= |b| or a = 0.
fn quick_two_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    DoubleDouble { high, low: b - (high - a) }
}

/// The upper 26 bits of a double.
fn upper_half(a: f64) -> f64 {
    let scaled = 134_217_729.0 * a;
    scaled - (scaled - a)
}

/// a b, exactly, unless an intermediate result overflows or underflows.
fn two_product(a: f64, b: f64) -> DoubleDouble {
    let high = a * b;
    let (a1, b1) = (upper_half(a), upper_half(b));
    let (a0, b0) = (a - a1, b - b1);
    DoubleDouble { high, low: ((a1 * b1 - high) + a1 * b0 + a0 * b1) + a0 * b0 }
}

impl From<f64> for DoubleDouble {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl From<u128> for DoubleDouble {
    /// Rounded to 2^-100 or better.
    fn from(value: u128) -> Self {
        let words = [(value >> 96) as u32, (value >> 64) as u32, (value >> 32) as u32, value as u32];
        words.iter().fold(Self::from(0.0), |sum, &word| sum.times(4_294_967_296.0) + Self::from(f64::from(word)))
    }
}

impl From<u64> for DoubleDouble {
    fn from(value: u64) -> Self {
        two_sum((value >> 32) as f64 * 4_294_967_296.0, f64::from(value as u32))
    }
}

impl Neg for DoubleDouble {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Add for DoubleDouble {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, low) = (two_sum(self.high, other.high), two_sum(self.low, other.low));
        let sum = quick_two_sum(high.high, high.low + low.high);
        quick_two_sum(sum.high, sum.low + low.low)
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
        let product = two_product(self.high, other.high);
        quick_two_sum(product.high, product.low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other.times(first);
        let second = rest.high / other.high;
        let rest = rest - other.times(second);
        quick_two_sum(first, second) + Self::from(rest.high / other.high)
    }
}

impl DoubleDouble {
    /// a + b of two doubles, exactly.
    pub(super) fn sum(a: f64, b: f64) -> Self {
        two_sum(a, b)
    }

    /// a b of two doubles, exactly.
    pub(super) fn product(a: f64, b: f64) -> Self {
        two_product(a, b)
    }

    /// The product with a double.
    pub(super) fn times(self, factor: f64) -> Self {
        let product = two_product(self.high, factor);
        quick_two_sum(product.high, product.low + self.low * factor)
    }

    /// Rounded to a double.
    pub(super) fn value(self) -> f64 {
        self.high + self.low
    }

    /// The square root of a number that is not negative.
    pub(super) fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return Self::from(0.0);
        }
        let root = self.high.sqrt();
        let correction = (self - two_product(root, root)).high / (2.0 * root);
        quick_two_sum(root, correction)
    }

    /// exp(x) - 1 for |x| <= 0.36.
    fn exp_m1_reduced(self) -> Self {
        let x = self.times(0.5f64.powi(EXP_HALVINGS as i32));
        // x (1 + x/2 (1 + x/3 (...)))
        let series =
            (2..=EXP_TERMS).rev().fold(Self::from(1.0), |sum, k| Self::from(1.0) + sum * x / Self::from(f64::from(k)));
        (0..EXP_HALVINGS).fold(series * x, |e, _| e.times(2.0) + e * e)
    }

    /// exp(x); zero below the range of doubles.
    pub(super) fn exp(self) -> Self {
        if self.high < -700.0 {
            return Self::from(0.0);
        }
        let k = (self.high * std::f64::consts::LOG2_E).round();
        let reduced = (self - LN_2.times(k)).exp_m1_reduced() + Self::from(1.0);
        // In two steps, for k near the ends of the exponent range.
        let half = (k / 2.0).trunc();
        reduced.times(2f64.powi(half as i32)).times(2f64.powi((k - half) as i32))
    }

    /// exp(x) - 1.
    pub(super) fn exp_m1(self) -> Self {
        if self.high.abs() <= 0.35 { self.exp_m1_reduced() } else { self.exp() - Self::from(1.0) }
    }

    /// ln(x) for a normal, positive x.
    pub(super) fn ln(self) -> Self {
        // x = 2^k y keeps the exponential of the correction in range.
        let k = self.high.log2().round();
        let half = (k / 2.0).trunc();
        let y = self.times(2f64.powi(-half as i32)).times(2f64.powi(-(k - half) as i32));
        let guess = Self::from(y.high.ln());
        let power = guess.exp();
        // Halley's step triples the digits of the guess.
        guess + ((y - power) / (y + power)).times(2.0) + LN_2.times(k)
    }

    /// ln(1 + x) for x > -1.
    pub(super) fn ln_1p(self) -> Self {
        if self.high.abs() > 0.2 {
            return (self + Self::from(1.0)).ln();
        }
        let s = self / (self + Self::from(2.0));
        (s + s.atanh_minus()).times(2.0)
    }

    /// x - ln(1 + x) for x > -1: non-negative, no digit cancels.
    pub(super) fn minus_ln_1p(self) -> Self {
        if self.high.abs() > 0.2 {
            return self - (self + Self::from(1.0)).ln();
        }
        // With s = x/(2+x): x - 2 s = x s.
        let s = self / (self + Self::from(2.0));
        self * s - s.atanh_minus().times(2.0)
    }

    /// atanh(s) - s for |s| <= 0.12.
    fn atanh_minus(self) -> Self {
        let square = self * self;
        let series = (1..ATANH_TERMS)
            .rev()
            .fold(Self::from(0.0), |sum, k| sum * square + Self::from(1.0) / Self::from(f64::from(2 * k + 1)));
        series * square * self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative error against a value given as two doubles.
    fn error(value: DoubleDouble, high: f64, low: f64) -> f64 {
        ((value - DoubleDouble { high, low }).value() / high).abs()
    }

    #[test]
    fn elementary_functions_have_thirty_digits() {
        for (value, high, low, tolerance) in cases() {
            assert!(error(value, high, low) < tolerance, "{value:?} against {high:e} + {low:e}");
        }
    }

    // mpmath, 60 digits, split into two doubles.
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
            (x(1e-15).minus_ln_1p(), 4.999999999999998e-31, -3.455268169956187e-47, 1e-29),
            (x(-0.015).minus_ln_1p(), 0.00011363781004817067, -2.700763816700517e-21, 1e-29),
            (x(0.19).minus_ln_1p(), 0.016046692876561984, -9.735333130849512e-19, 1e-29),
            (x(-0.5).minus_ln_1p(), 0.19314718055994531, -4.565107477165917e-18, 1e-29),
            (x(1000.0).minus_ln_1p(), 993.0912452206848, 2.4701631803251462e-14, 1e-29),
            (x(2.0).sqrt(), 1.4142135623730951, -9.667293313452913e-17, 3e-30),
            (x(1.0) / x(3.0), 0.3333333333333333, 1.850371707708594e-17, 3e-30),
        ]
    }

    #[test]
    fn a_square_root_squares_back() {
        let x = DoubleDouble { high: 2.0, low: 1e-17 };
        let root = x.sqrt();
        assert!((root * root - x).value().abs() < 1e-30);
    }

    #[test]
    fn wide_integers_keep_thirty_digits() {
        let value = DoubleDouble::from((1u128 << 127) + (1 << 40) + 1);
        assert_eq!((value - DoubleDouble::from(2f64.powi(127))).value(), 2f64.powi(40) + 1.0);
    }
}
