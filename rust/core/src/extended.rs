//! Pairs of doubles with about 31 digits, for set-up formulas whose terms cancel.
//!
//! An [`Extended`] is an unevaluated sum `hi + lo` with `|lo|` at most half a unit in the last place of `hi`. Only
//! what the constants of privacy losses need is here: sums, products, quotients, logarithms and log-gamma ratios.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// An unevaluated sum of two doubles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extended {
    hi: f64,
    lo: f64,
}

/// ln 2.
const LN_2: Extended = Extended { hi: std::f64::consts::LN_2, lo: 2.3190468138462996e-17 };

/// ln(2 pi) / 2.
const HALF_LN_TWO_PI: Extended = Extended { hi: 0.9189385332046728, lo: -3.8782941580672414e-17 };

/// B(2k) / (2k (2k - 1)) for k = 1, 2, ...: the coefficients of Stirling's series [DLMF 5.11.1].
const STIRLING: [Extended; 13] = [
    Extended { hi: 0.08333333333333333, lo: 4.625929269271485e-18 },
    Extended { hi: -0.002777777777777778, lo: 1.0601087908747154e-19 },
    Extended { hi: 0.0007936507936507937, lo: 6.883823317368282e-22 },
    Extended { hi: -0.0005952380952380953, lo: 5.36938218754726e-20 },
    Extended { hi: 0.0008417508417508417, lo: 3.6870174889237694e-20 },
    Extended { hi: -0.0019175269175269176, lo: 1.0675702776872475e-19 },
    Extended { hi: 0.00641025641025641, lo: 2.2240044563805217e-19 },
    Extended { hi: -0.029550653594771242, lo: 4.861760957508855e-19 },
    Extended { hi: 0.17964437236883057, lo: -6.401600482710946e-19 },
    Extended { hi: -1.3924322169059011, lo: 1.5837056989230303e-17 },
    Extended { hi: 13.402864044168393, lo: -6.154114101993966e-16 },
    Extended { hi: -156.84828462600203, lo: 9.391823141715389e-15 },
    Extended { hi: 2193.1033333333335, lo: -1.3339255626002948e-13 },
];

/// From here on Stirling's series with 13 terms is exact to 1e-36.
const STIRLING_FROM: f64 = 40.0;

impl Extended {
    /// The sum of two doubles, exactly.
    pub fn sum(a: f64, b: f64) -> Self {
        let hi = a + b;
        let back = hi - a;
        Self { hi, lo: (a - (hi - back)) + (b - back) }
    }

    /// The product of two doubles, exactly (barring underflow).
    pub fn product(a: f64, b: f64) -> Self {
        let hi = a * b;
        Self { hi, lo: a.mul_add(b, -hi) }
    }

    /// The nearest double.
    pub fn value(self) -> f64 {
        self.hi
    }

    /// `hi` and `lo` when `|hi| >= |lo|`.
    fn quick(hi: f64, lo: f64) -> Self {
        let sum = hi + lo;
        Self { hi: sum, lo: lo - (sum - hi) }
    }

    /// The natural logarithm of a positive number, to about 1e-31 absolute or relative, whichever is larger.
    pub fn ln(self) -> Self {
        // x = 2^k m with m in [2/3, 4/3]; the scaling is exact.
        let k = (self.hi * 0.75).log2().round();
        let scale = 2f64.powi(-(k as i32));
        let m = Self { hi: self.hi * scale, lo: self.lo * scale };
        let log_m = two_atanh((m - Self::from(1.0)) / (m + Self::from(1.0)));
        LN_2 * k + log_m
    }
}

/// 2 atanh(s) for |s| <= 0.21, with relative accuracy: the odd series, whose far terms need only a double.
fn two_atanh(s: Extended) -> Extended {
    let square = s * s;
    let s2 = square.hi;
    // s^2 <= 0.044: from s^22 on a term is below 1e-15 of the sum, so a double holds it.
    let mut far = 0.0;
    for i in (11..28).rev() {
        far = far * s2 + 1.0 / f64::from(2 * i + 1);
    }
    let mut sum = Extended::from(far);
    for i in (0..11).rev() {
        sum = sum * square + Extended::from(1.0) / f64::from(2 * i + 1);
    }
    s * sum * 2.0
}

/// ln((a + r) / a) for a, a + r > 0, with relative accuracy also when r is far below a.
pub fn ln_ratio(a: Extended, r: Extended) -> Extended {
    let s = r / (a + a + r);
    if s.hi.abs() < 0.2 { two_atanh(s) } else { ((a + r) / a).ln() }
}

/// The remainder of Stirling's formula, lgamma(x) - ((x - 1/2) ln x - x + ln(2 pi)/2), for x > 0.
pub fn stirling_remainder(x: Extended) -> Extended {
    if x.hi >= STIRLING_FROM {
        return stirling_series(x);
    }
    // lgamma(x) = lgamma(x + n) - ln(x (x + 1) ... (x + n - 1)).
    let mut product = x;
    let mut shifted = x + Extended::from(1.0);
    while shifted.hi < STIRLING_FROM {
        product = product * shifted;
        shifted = shifted + Extended::from(1.0);
    }
    let half = Extended::from(0.5);
    stirling_series(shifted) + ((shifted - half) * shifted.ln() - shifted) - product.ln() - ((x - half) * x.ln() - x)
}

/// Stirling's asymptotic series for x >= 40.
fn stirling_series(x: Extended) -> Extended {
    let inverse = Extended::from(1.0) / x;
    let square = inverse * inverse;
    let mut sum = Extended::from(0.0);
    for &coefficient in STIRLING.iter().rev() {
        sum = sum * square + coefficient;
    }
    sum * inverse
}

/// lgamma(x) for x > 0.
pub fn log_gamma(x: Extended) -> Extended {
    (x - Extended::from(0.5)) * x.ln() - x + HALF_LN_TWO_PI + stirling_remainder(x)
}

/// lgamma(a + r) - lgamma(a) for a, a + r > 0, without cancellation when r is far below a.
pub fn log_gamma_ratio(a: Extended, r: Extended) -> Extended {
    let sum = a + r;
    (a - Extended::from(0.5)) * ln_ratio(a, r) + r * sum.ln() - r + (stirling_remainder(sum) - stirling_remainder(a))
}

impl From<f64> for Extended {
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

impl Neg for Extended {
    type Output = Self;

    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Add for Extended {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let high = Self::sum(self.hi, other.hi);
        let low = Self::sum(self.lo, other.lo);
        let partial = Self::quick(high.hi, high.lo + low.hi);
        Self::quick(partial.hi, partial.lo + low.lo)
    }
}

impl Sub for Extended {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Extended {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.hi, other.hi);
        Self::quick(product.hi, product.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Mul<f64> for Extended {
    type Output = Self;

    fn mul(self, other: f64) -> Self {
        let product = Self::product(self.hi, other);
        Self::quick(product.hi, product.lo + self.lo * other)
    }
}

impl Div for Extended {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        if !first.is_finite() || first == 0.0 {
            return Self::from(first);
        }
        let rest = self - other * first;
        let second = rest.hi / other.hi;
        let rest = rest - other * second;
        Self::quick(first, second) + Self::from(rest.hi / other.hi)
    }
}

impl Div<f64> for Extended {
    type Output = Self;

    fn div(self, other: f64) -> Self {
        self / Self::from(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(computed: Extended, hi: f64, lo: f64) {
        let error = (computed - Extended { hi, lo }).value().abs();
        assert!(error <= 1e-29 * hi.abs(), "{computed:?} against {hi} + {lo}: {error:e}");
    }

    // Expected values: mpmath with 60 digits, split into two doubles.
    #[test]
    fn logarithms_have_thirty_digits() {
        assert_close(Extended::from(10.0).ln(), std::f64::consts::LN_10, -2.1707562233822494e-16);
        assert_close(ln_ratio(1e9.into(), 1e-3.into()), LN_RATIO.hi, LN_RATIO.lo);
    }

    #[test]
    fn log_gamma_ratio_does_not_cancel() {
        assert_close(log_gamma_ratio(1e9.into(), 1e-3.into()), RATIO_LARGE.hi, RATIO_LARGE.lo);
        assert_close(log_gamma_ratio(1e-3.into(), 1e9.into()), RATIO_SMALL.hi, RATIO_SMALL.lo);
        assert_close(log_gamma(2.5.into()), LOG_GAMMA.hi, LOG_GAMMA.lo);
    }
    const LN_RATIO: Extended = Extended { hi: 9.999999999995e-13, lo: 6.514797418543752e-29 };
    const RATIO_LARGE: Extended = Extended { hi: 0.020723265836446913, lo: -1.2756539807296032e-18 };
    const RATIO_SMALL: Extended = Extended { hi: 19723265820.61726, lo: 1.1721812699640958e-06 };
    const LOG_GAMMA: Extended = Extended { hi: 0.2846828704729192, lo: -2.0938630583071727e-17 };
}
