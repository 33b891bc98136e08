//! The logarithm of the gamma function, its differences, and the logarithm of the beta function.

use super::coefficients::{LOG_GAMMA_12_BOTTOM, LOG_GAMMA_12_TOP, LOG_GAMMA_23_BOTTOM, LOG_GAMMA_23_TOP};
use super::stirling::{HALF_LOG_2PI, stirling_difference, stirling_tail};
use super::{is_pole, polynomial, sin_cos_pi};

/// ln |Gamma(x)|; infinite at 0, at the negative integers and at infinity.
#[inline]
pub fn log_gamma(x: f64) -> f64 {
    if x >= 4.0 { log_gamma_large(x) } else { log_gamma_small(x) }
}

/// Stirling's formula for x >= 4, in the order that cancels least: the three terms are positive.
#[inline(always)]
fn log_gamma_large(x: f64) -> f64 {
    (x - 0.5) * (x.ln() - 1.0) + (HALF_LOG_2PI - 0.5 + stirling_tail(x))
}

/// x < 4, or NaN.
fn log_gamma_small(x: f64) -> f64 {
    if x >= 3.0 {
        (x - 1.0).ln() + log_gamma_middle(x - 1.0)
    } else if x >= 1.0 {
        log_gamma_middle(x)
    } else if x > 0.0 {
        log_gamma_1p(x) - x.ln()
    } else if x == f64::NEG_INFINITY {
        // As scipy.special.gammaln; there is no limit.
        f64::NEG_INFINITY
    } else if is_pole(x) {
        f64::INFINITY
    } else if x > -0.5 {
        log_gamma_1p(x) - (-x).ln()
    } else if x.is_nan() {
        x
    } else {
        // Gamma(x) Gamma(-x) = -pi/(x sin(pi x)).
        let (sin, _) = sin_cos_pi(x);
        (std::f64::consts::PI / (x * sin).abs()).ln() - log_gamma(-x)
    }
}

/// 1 <= x < 3, with the zeros at 1 and 2 as factors.
fn log_gamma_middle(x: f64) -> f64 {
    let quotient = if x < 2.0 {
        quotient_12(x - 1.0)
    } else {
        let t = x - 2.0;
        0.375 + polynomial(&LOG_GAMMA_23_TOP, t) / polynomial(&LOG_GAMMA_23_BOTTOM, t)
    };
    // Adding zero turns the -0 at x = 1 into 0.
    (x - 1.0) * (x - 2.0) * quotient + 0.0
}

/// lgamma(x)/((x-1)(x-2)) for 1 <= x <= 2, t = x - 1.
fn quotient_12(t: f64) -> f64 {
    0.5 + polynomial(&LOG_GAMMA_12_TOP, t) / polynomial(&LOG_GAMMA_12_BOTTOM, t)
}

/// ln Gamma(1 + x), accurate relative to its value also for tiny `x`.
pub fn log_gamma_1p(x: f64) -> f64 {
    if (0.0..1.0).contains(&x) {
        x * (x - 1.0) * quotient_12(x)
    } else if x > -0.5 && x < 0.0 {
        // Gamma(1+x) = Gamma(2+x)/(1+x).
        (1.0 + x) * x * quotient_12(1.0 + x) - x.ln_1p()
    } else {
        log_gamma(1.0 + x)
    }
}

/// lgamma(a + r) - lgamma(a) for a > 0 and a + r > 0, without cancellation; NaN outside.
///
/// Relative error below 1e-14 for a and |r| from 1e-12 to 1e15, except next to a zero (the two arguments on
/// opposite sides of 1.46), where the error is absolute. `a + r` itself need not be representable.
pub fn log_gamma_ratio(a: f64, r: f64) -> f64 {
    if !(a > 0.0) || a == f64::INFINITY || !(a + r > 0.0) {
        return f64::NAN;
    }
    if r < 0.0 {
        // Rounding a + r moves both ends of the step, not its length: harmless where r is small.
        return -log_gamma_ratio(a + r, -r);
    }
    if r == f64::INFINITY {
        return r;
    }
    if a >= 4.0 {
        return ratio_large(a, r);
    }
    if r > 16.0 || r > 1e6 * a {
        // lgamma(a + r) is far from lgamma(a), or lgamma(a) is about -ln a and dominates.
        return log_gamma(a + r) - log_gamma(a);
    }
    // Shift up: lgamma(a+r) - lgamma(a) = [lgamma(b+r) - lgamma(b)] - ln prod (1 + r/(a+k)), with the product
    // carried as its excess over 1.
    let (mut b, mut excess) = (a, 0.0);
    while b < 4.0 {
        let z = r / b;
        excess += z + excess * z;
        b += 1.0;
    }
    ratio_large(b, r) - excess.ln_1p()
}

/// The difference of two Stirling formulas, a >= 4 and r >= 0.
fn ratio_large(a: f64, r: f64) -> f64 {
    // (a+r-1/2) ln(a+r) - (a-1/2) ln a - r = (a-1/2) ln(1+r/a) + r (ln(a+r) - 1).
    let main = (a - 0.5) * (r / a).ln_1p() + r * ((a + r).ln() - 1.0);
    main + stirling_difference(a, r)
}

/// ln B(a) = sum lgamma(a_i) - lgamma(sum a_i), the normaliser of a Dirichlet; NaN unless every a_i > 0.
pub fn log_beta(a: &[f64]) -> f64 {
    if !a.iter().all(|&a| a > 0.0) {
        return f64::NAN;
    }
    // One part after another, the largest first: each step is a ratio that loses nothing, since
    // ln B(s, b) = lgamma(b) - (lgamma(s+b) - lgamma(s)).
    let Some(first) = (0..a.len()).max_by(|&i, &j| a[i].total_cmp(&a[j])) else { return 0.0 };
    let (mut total, mut sum) = (a[first], 0.0);
    for (i, &b) in a.iter().enumerate() {
        if i != first {
            sum += log_gamma(b) - log_gamma_ratio(total, b);
            total += b;
        }
    }
    sum
}
