//! Quantiles of the Gamma and Beta distributions: inverses of the incomplete functions in their last argument.
//!
//! The equation is solved for logarithms, of the smaller tail against that of the variable: the function is then
//! nearly straight in both tails, and the root may lie on any scale.

use super::incomplete_beta::{self, Point, in_range};
use super::incomplete_gamma;
use super::{log_gamma_1p, log_gamma_ratio};
use crate::Result;
use crate::roots::{Search, Side, Space, Trend};

/// Two units in the last place: what the equation decides.
const TOLERANCE: f64 = 4.5e-16;

/// Below this (times the larger shape) two terms of a power series are exact.
const TINY: f64 = 1e-8;

/// A probability below one half and the tail that it belongs to.
#[derive(Clone, Copy)]
enum Wanted {
    Lower(f64),
    Upper(f64),
}

impl Wanted {
    fn lower(p: f64) -> Self {
        // 1 - p is exact from 1/2 on.
        if p <= 0.5 { Self::Lower(p) } else { Self::Upper(1.0 - p) }
    }

    fn mirror(self) -> Self {
        match self {
            Self::Lower(p) => Self::Upper(p),
            Self::Upper(p) => Self::Lower(p),
        }
    }

    /// The standard normal quantile to about 3e-3, a starting point. [AS64] 26.2.22
    fn rough_normal_quantile(self) -> f64 {
        let upper = |q: f64| {
            let t = (-2.0 * q.ln()).sqrt();
            t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + 0.04481 * t))
        };
        match self {
            Self::Lower(p) => -upper(p),
            Self::Upper(q) => upper(q),
        }
    }

    fn search(self, routine: &'static str) -> Search {
        let trend = if matches!(self, Self::Lower(_)) { Trend::Increasing } else { Trend::Decreasing };
        Search { routine, trend, side: Side::Left, space: Space::Log, tolerance: TOLERANCE }
    }
}

/// The x with P(a, x) = p, as scipy.special.gammaincinv; NaN unless a > 0 is finite and 0 <= p <= 1.
///
/// # Errors
///
/// [`crate::Error::Numerical`] if the search does not end; no input is known for which it does not.
pub fn gamma_p_inverse(a: f64, p: f64) -> Result<f64> {
    gamma_inverse(a, p, Wanted::lower(p), (0.0, f64::INFINITY))
}

/// The x with Q(a, x) = q, as scipy.special.gammainccinv; NaN unless a > 0 is finite and 0 <= q <= 1.
///
/// # Errors
///
/// As [`gamma_p_inverse`].
pub fn gamma_q_inverse(a: f64, q: f64) -> Result<f64> {
    gamma_inverse(a, q, Wanted::lower(q).mirror(), (f64::INFINITY, 0.0))
}

/// The x with I_x(a, b) = p, as scipy.special.betaincinv; NaN unless a, b > 0 are finite and 0 <= p <= 1.
///
/// # Errors
///
/// As [`gamma_p_inverse`].
pub fn beta_inc_inverse(a: f64, b: f64, p: f64) -> Result<f64> {
    beta_inverse(a, b, p, Wanted::lower(p), (0.0, 1.0))
}

/// The x with 1 - I_x(a, b) = q, as scipy.special.betainccinv; NaN unless a, b > 0 are finite and 0 <= q <= 1.
///
/// # Errors
///
/// As [`gamma_p_inverse`].
pub fn beta_inc_c_inverse(a: f64, b: f64, q: f64) -> Result<f64> {
    beta_inverse(a, b, q, Wanted::lower(q).mirror(), (1.0, 0.0))
}

fn gamma_inverse(a: f64, p: f64, wanted: Wanted, ends: (f64, f64)) -> Result<f64> {
    if !(a > 0.0 && a < f64::INFINITY && (0.0..=1.0).contains(&p)) {
        return Ok(f64::NAN);
    }
    if p == 0.0 || p == 1.0 {
        return Ok(if p == 0.0 { ends.0 } else { ends.1 });
    }
    if a > 1e40 {
        // 40 standard deviations are less than half a unit in the last place of the mean.
        return Ok(a);
    }
    let a = a.max(1e-300);
    // P(a, x) = x^a/Gamma(1+a) (1 - a x/(a+1) + O(x^2)).
    let power = power_root(a, wanted, log_gamma_1p(a));
    if power < TINY {
        return Ok(power * (1.0 + power / (1.0 + a)));
    }
    let equation = |x: f64| {
        let tails = incomplete_gamma::tails(a, x);
        let log_weight = incomplete_gamma::weight(a, x).log();
        jet(wanted, tails.log_lower(), tails.log_upper(), log_weight, x)
    };
    // The cube root is nearly normal (Wilson and Hilferty); the power takes over for small shapes and far down the tail.
    let cube_root = 1.0 - 1.0 / (9.0 * a) + wanted.rough_normal_quantile() / (3.0 * a.sqrt());
    let start = if a < 1.0 { power } else { power.max(a * cube_root.max(0.0).powi(3)) };
    Ok(wanted.search("gammainc_inverse").solve(equation, start, (f64::MIN_POSITIVE, f64::MAX))?.x)
}

fn beta_inverse(a: f64, b: f64, p: f64, wanted: Wanted, ends: (f64, f64)) -> Result<f64> {
    let valid = |shape: f64| shape > 0.0 && shape < f64::INFINITY;
    if !(valid(a) && valid(b) && (0.0..=1.0).contains(&p)) {
        return Ok(f64::NAN);
    }
    if p == 0.0 || p == 1.0 {
        return Ok(if p == 0.0 { ends.0 } else { ends.1 });
    }
    let (a, b) = in_range(a, b);
    let middle = incomplete_beta::tails(a, b, 0.5);
    let below = match wanted {
        Wanted::Lower(p) => middle.lower.value() >= p,
        Wanted::Upper(q) => middle.upper.value() <= q,
    };
    // The half that holds the root, so that the unknown is the small one of x and 1 - x.
    if below { beta_small_root(a, b, wanted) } else { Ok(1.0 - beta_small_root(b, a, wanted.mirror())?) }
}

/// The root when it is at most 1/2.
fn beta_small_root(a: f64, b: f64, wanted: Wanted) -> Result<f64> {
    // I_x(a, b) = x^a/(a B(a, b)) (1 - a (b-1) x/(a+1) + O((b x)^2)).
    let power = power_root(a, wanted, log_gamma_1p(a) - log_gamma_ratio(b, a));
    if power * b.max(1.0) < TINY {
        return Ok(power * (1.0 + (b - 1.0) * power / (1.0 + a)));
    }
    let equation = |x: f64| {
        let tails = incomplete_beta::tails(a, b, x);
        let log_weight = Point::new(a, b, x).weight().log() - (-x).ln_1p();
        jet(wanted, tails.log_lower(), tails.log_upper(), log_weight, x)
    };
    // The logit is nearly normal for large shapes.
    let logit = (a / b).ln() + wanted.rough_normal_quantile() * (1.0 / a + 1.0 / b).sqrt();
    let start = if a.min(b) < 1.0 { power } else { power.max(1.0 / (1.0 + (-logit).exp())) };
    // Where I_(1/2) equals the wanted value to the last bit, the sign at 1/2 may be either.
    let high = 0.5;
    if sign_at_end(wanted, equation(high)[0]) {
        return Ok(high);
    }
    Ok(wanted.search("betainc_inverse").solve(equation, start.min(high), (f64::MIN_POSITIVE, high))?.x)
}

/// Whether the root is not left of the right end, where the equation has this value.
fn sign_at_end(wanted: Wanted, value: f64) -> bool {
    match wanted {
        Wanted::Lower(_) => value <= 0.0,
        Wanted::Upper(_) => value >= 0.0,
    }
}

/// (p e^l)^(1/a), the root of x^a e^-l = p for the lower probability p.
fn power_root(a: f64, wanted: Wanted, l: f64) -> f64 {
    let p = match wanted {
        Wanted::Upper(q) => return (((-q).ln_1p() + l) / a).exp(),
        Wanted::Lower(p) => p,
    };
    let inverse = 1.0 / a;
    let base = p * l.exp();
    let power = base.powf(inverse);
    if !(base.is_normal() && power.is_normal()) {
        return ((p.ln() + l) / a).exp();
    }
    // No error of a logarithm of a tiny number; what the rounding of 1/a leaves counts times that logarithm.
    let rest = (-inverse).mul_add(a, 1.0) / a;
    power * (rest * base.ln()).exp()
}

/// ln(tail/wanted) with its slope; `log_weight` is ln(x density(x)).
fn jet(wanted: Wanted, log_lower: f64, log_upper: f64, log_weight: f64, x: f64) -> [f64; 3] {
    match wanted {
        Wanted::Lower(p) => [log_lower - p.ln(), (log_weight - log_lower).exp() / x, f64::NAN],
        Wanted::Upper(q) => [log_upper - q.ln(), -(log_weight - log_upper).exp() / x, f64::NAN],
    }
}
