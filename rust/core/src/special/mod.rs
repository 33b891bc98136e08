//! Special functions of a real argument in double precision.
//!
//! Poles and arguments outside a domain give what `scipy.special` documents; docs/numerics.md says which, with the
//! measured errors.

mod coefficients;
mod digamma;
mod gaps;
mod incomplete_beta;
mod incomplete_gamma;
mod log_gamma;
mod near_mean;
mod polygamma;
mod quantiles;
mod stirling;
mod trigamma;

pub use digamma::digamma;
pub(crate) use incomplete_beta::log_beta_weight;
pub use incomplete_beta::{beta_inc, beta_inc_c, log_beta_inc, log_beta_inc_c};
pub use incomplete_gamma::{gamma_p, gamma_q, log_gamma_p, log_gamma_q};
pub use log_gamma::{log_beta, log_gamma, log_gamma_1p, log_gamma_ratio};
pub use polygamma::{MAX_ORDER, polygamma};
pub use quantiles::{beta_inc_c_inverse, beta_inc_inverse, gamma_p_inverse, gamma_q_inverse};
pub use stirling::stirling_remainder;
pub use trigamma::trigamma;

/// The value at `x` of the polynomial with these coefficients, lowest power first.
#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// sin(pi x) and cos(pi x); the reduction of x is exact.
fn sin_cos_pi(x: f64) -> (f64, f64) {
    // |r| <= 1/4 and x = r + q/2 exactly (fmod is exact, then Sterbenz).
    let x = x % 2.0;
    let q = (2.0 * x).round();
    let (sin, cos) = (std::f64::consts::PI * (x - 0.5 * q)).sin_cos();
    match (q as i64).rem_euclid(4) {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// Whether `x` is a pole of the gamma function, 0 or a negative integer.
fn is_pole(x: f64) -> bool {
    x <= 0.0 && x == x.floor()
}
