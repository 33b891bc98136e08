//! What Stirling's formula leaves of the logarithm of the gamma function.

use super::coefficients::{ATANH_EXCESS_BOTTOM, ATANH_EXCESS_TOP, STIRLING};
use super::log_gamma::log_gamma;
use super::polynomial;

/// ln(2 pi)/2.
pub(super) const HALF_LOG_2PI: f64 = 0.918_938_533_204_672_741_8;

/// s(x) = lgamma(x) - ((x - 1/2) ln x - x + ln(2 pi)/2) for x > 0, without cancellation; NaN otherwise.
///
/// Positive and decreasing, about 1/(12 x) for large x and -ln(2 pi x)/2 for small x.
pub fn stirling_remainder(x: f64) -> f64 {
    if !(x >= 0.0) {
        return f64::NAN;
    }
    if x < 0.5 {
        // s(x) > 1/7 here and no term exceeds it by a factor of more than 4.
        return log_gamma(x) - ((x - 0.5) * x.ln() - x + HALF_LOG_2PI);
    }
    // s(x) - s(x+1) = (x + 1/2) ln(1 + 1/x) - 1 = atanh(t)/t - 1 with t = 1/(2x+1): every term is positive.
    let (mut x, mut sum) = (x, 0.0);
    while x < 4.0 {
        let t = 1.0 / (2.0 * x + 1.0);
        let w = t * t;
        sum += w * polynomial(&ATANH_EXCESS_TOP, w) / polynomial(&ATANH_EXCESS_BOTTOM, w);
        x += 1.0;
    }
    sum + stirling_tail(x)
}

/// s(x) for x >= 4.
#[inline(always)]
pub(super) fn stirling_tail(x: f64) -> f64 {
    let u = 1.0 / x;
    u * polynomial(&STIRLING, u * u)
}

/// s(x + r) - s(x) for x >= 4 and r >= 0, with a small relative error however small r is.
pub(super) fn stirling_difference(x: f64, r: f64) -> f64 {
    // s is odd in u = 1/x: u^(2k+1) - v^(2k+1) = (u - v) h_2k(u, v), h_n = u h_(n-1) + v^n, and u - v = r u v.
    let (u, v) = (1.0 / x, 1.0 / (x + r));
    let (mut h, mut power, mut sum) = (1.0, 1.0, 0.0);
    for c in STIRLING {
        sum += c * h;
        for _ in 0..2 {
            power *= v;
            h = u * h + power;
        }
    }
    -(r * u) * v * sum
}
