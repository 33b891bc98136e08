//! The logarithmic derivative of the gamma function.

use super::coefficients::{DIGAMMA_MIDDLE_BOTTOM, DIGAMMA_MIDDLE_TOP, DIGAMMA_ROOT, DIGAMMA_ROOT_REST, DIGAMMA_TAIL};
use super::{is_pole, polynomial, sin_cos_pi};

/// psi(x) = d/dx ln Gamma(x); NaN at the negative integers, -inf at 0 and +inf at -0.
#[inline]
pub fn digamma(x: f64) -> f64 {
    if x >= 4.0 {
        let u = 1.0 / x;
        let z = u * u;
        return x.ln() - (0.5 * u + z * polynomial(&DIGAMMA_TAIL, z));
    }
    digamma_small(x)
}

/// x < 4, or NaN.
fn digamma_small(x: f64) -> f64 {
    // Above 2.5 both terms are positive and the fit is evaluated where it is most accurate.
    if x >= 3.5 {
        middle(x - 2.0) + (1.0 / (x - 2.0) + 1.0 / (x - 1.0))
    } else if x >= 2.5 {
        middle(x - 1.0) + 1.0 / (x - 1.0)
    } else if x >= 1.0 {
        middle(x)
    } else if x == 0.0 {
        // As scipy.special.digamma.
        f64::INFINITY.copysign(-x)
    } else if x > 0.0 {
        middle(x + 1.0) - 1.0 / x
    } else if is_pole(x) || x == f64::NEG_INFINITY || x.is_nan() {
        f64::NAN
    } else {
        // psi(x) = psi(1-x) - pi cot(pi x) = psi(-x) - 1/x - pi cot(pi x).
        let (sin, cos) = sin_cos_pi(x);
        digamma(-x) - 1.0 / x - std::f64::consts::PI * (cos / sin)
    }
}

/// 1 <= x <= 2.5, with the zero as a factor.
fn middle(x: f64) -> f64 {
    let t = x - 1.0;
    let quotient = 0.9375 + polynomial(&DIGAMMA_MIDDLE_TOP, t) / polynomial(&DIGAMMA_MIDDLE_BOTTOM, t);
    ((x - DIGAMMA_ROOT) - DIGAMMA_ROOT_REST) * quotient
}
