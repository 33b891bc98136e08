//! The second derivative of the logarithm of the gamma function.

use super::coefficients::TRIGAMMA_TAIL;
use super::{is_pole, polynomial, sin_cos_pi};

/// psi'(x) = d^2/dx^2 ln Gamma(x); +inf at 0 and at the negative integers.
#[inline]
pub fn trigamma(x: f64) -> f64 {
    if x >= 4.0 { tail(x) } else { trigamma_small(x) }
}

/// The asymptotic form, fitted for x >= 4.
#[inline(always)]
fn tail(x: f64) -> f64 {
    let u = 1.0 / x;
    let z = u * u;
    u + z * (0.5 + u * polynomial(&TRIGAMMA_TAIL, z))
}

/// x < 4, or NaN.
fn trigamma_small(x: f64) -> f64 {
    if x > 0.0 {
        // psi'(x) = 1/x^2 + psi'(x+1), all terms positive; the smallest are summed first.
        if x < 1.0 {
            return trigamma(x + 1.0) + 1.0 / (x * x);
        }
        let shifted = if x < 2.0 {
            trigamma(x + 1.0)
        } else {
            let (a, b) = (x * x, (x + 1.0) * (x + 1.0));
            return (tail(x + 2.0) + 1.0 / b) + 1.0 / a;
        };
        return shifted + 1.0 / (x * x);
    }
    if is_pole(x) {
        return f64::INFINITY;
    }
    if x.is_nan() {
        return x;
    }
    // psi'(x) = (pi/sin(pi x))^2 - psi'(1-x), and psi'(1-x) = psi'(-x) - 1/x^2.
    let (sin, _) = sin_cos_pi(x);
    let root = std::f64::consts::PI / sin;
    if x > -1.0 {
        return root * root - trigamma(1.0 - x);
    }
    root * root - (trigamma(-x) - 1.0 / (x * x))
}
