//! Quantiles of the Gamma and Beta distributions: inverses of the incomplete functions in their last argument.
//!
//! The equation is solved for logarithms, of the smaller tail against that of the variable: the function is then
//! nearly straight in both tails, and the root may lie on any scale. Halley's steps from the usual approximations end
//! after two or three evaluations; where they do not settle, a bracket is shrunk.

use super::gaps::{Tail, Tails};
use super::incomplete_beta::{self, in_range};
use super::incomplete_gamma;
use super::{log_gamma_1p, log_gamma_ratio};
use crate::Result;
use crate::roots::{Search, Side, Space, Trend};

/// Two units in the last place: what the equation decides.
const TOLERANCE: f64 = 4.5e-16;

/// Below this (times the larger shape) two terms of a power series are exact.
const TINY: f64 = 1e-8;

/// Halley's steps settle after two or three from a good start; a bad one is left to the bracket after these.
const MOST_STEPS: u32 = 8;

/// A step of s leaves about s (s (1 + scale))^2 in ln x; ten times more is still half a unit in the last place.
const SETTLED: f64 = 1e-17;

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

    /// The standard normal quantile to about 5e-4, a starting point. [AS64] 26.2.23
    fn rough_normal_quantile(self) -> f64 {
        let upper = |q: f64| {
            let t = (-2.0 * q.ln()).sqrt();
            t - (2.515_517 + t * (0.802_853 + t * 0.010_328))
                / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)))
        };
        match self {
            Self::Lower(p) => -upper(p),
            Self::Upper(q) => upper(q),
        }
    }

    /// ln(tail/wanted) with two derivatives by ln x; `weight` is x density(x), and `bend` the slope of its logarithm.
    fn jet(self, tails: Tails, weight: Tail, bend: f64) -> [f64; 3] {
        let (value, tail, sign) = match self {
            Self::Lower(p) => (tails.log_lower() - p.ln(), tails.lower, 1.0),
            Self::Upper(q) => (tails.log_upper() - q.ln(), tails.upper, -1.0),
        };
        let slope = sign * (weight.exponent - tail.exponent).exp() * (weight.factor / tail.factor);
        [value, slope, slope * (bend - slope)]
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
        let weight = incomplete_gamma::weight(a, x);
        wanted.jet(incomplete_gamma::tails(a, x), weight, a - x)
    };
    let start = if a < 1.0 {
        small_shape_guess(a, power, wanted)
    } else {
        // The cube root is nearly normal (Wilson and Hilferty); far down the tail the power takes over.
        let cube_root = 1.0 - 1.0 / (9.0 * a) + wanted.rough_normal_quantile() / (3.0 * a.sqrt());
        power.max(a * cube_root.max(0.0).powi(3))
    };
    if let Some(x) = settled(equation, start, f64::MAX, a.sqrt()) {
        return Ok(x);
    }
    Ok(wanted.search("gammainc_inverse").solve(against_x(equation), start, (f64::MIN_POSITIVE, f64::MAX))?.x)
}

/// Roughly the root for a < 1: the power, or far up Q(a, x) = x^(a-1) e^-x/Gamma(a) (1 + O(1/x)).
fn small_shape_guess(a: f64, power: f64, wanted: Wanted) -> f64 {
    if let Wanted::Upper(q) = wanted {
        let leading = a.ln() - log_gamma_1p(a) - q.ln();
        if leading > 1.0 {
            return leading - (1.0 - a) * leading.ln();
        }
    }
    power * (power / (1.0 + a)).min(1.0).exp()
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
    // The half that is likely to hold the root, so that the unknown is the small one of x and 1 - x.
    let (x, y) = beta_guess(a, b, wanted);
    let settled =
        if x <= y { beta_settled(a, b, wanted, x) } else { beta_settled(b, a, wanted.mirror(), y).map(|y| 1.0 - y) };
    if let Some(x) = settled {
        return Ok(x);
    }
    let middle = incomplete_beta::tails(a, b, 0.5);
    let below = match wanted {
        Wanted::Lower(p) => middle.lower.value() >= p,
        Wanted::Upper(q) => middle.upper.value() <= q,
    };
    if below { beta_small_root(a, b, wanted) } else { Ok(1.0 - beta_small_root(b, a, wanted.mirror())?) }
}

/// Roughly the root, and what it leaves of one.
fn beta_guess(a: f64, b: f64, wanted: Wanted) -> (f64, f64) {
    if a.min(b) > 1.0 {
        // [AS64] 26.5.22, whose normal quantile is the upper one.
        let z = wanted.rough_normal_quantile();
        let (u, v) = (1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0));
        let (lambda, h) = ((z * z - 3.0) / 6.0, 2.0 / (u + v));
        let w = -z * (h + lambda).sqrt() / h - (v - u) * (lambda + 5.0 / 6.0 - 2.0 / (3.0 * h));
        let (x, y) = (a, b * (2.0 * w).exp());
        return (x / (x + y), y / (x + y));
    }
    // The density is taken for a power of x below the mean and of 1 - x above.
    let (x, y) = (a / (a + b), b / (a + b));
    let (below, above) = (x.powf(a) / a, y.powf(b) / b);
    let (p, q) = match wanted {
        Wanted::Lower(p) => (p, 1.0 - p),
        Wanted::Upper(q) => (1.0 - q, q),
    };
    if p * (below + above) < below {
        let x = (a * (below + above) * p).powf(1.0 / a);
        (x, 1.0 - x)
    } else {
        let y = (b * (below + above) * q).powf(1.0 / b);
        // 1 - y, of which little may be left.
        (-((b * (below + above) * q).ln() / b).exp_m1(), y)
    }
}

/// The root by Halley's steps, when it is not far above 1/2 and they settle.
fn beta_settled(a: f64, b: f64, wanted: Wanted, guess: f64) -> Option<f64> {
    let power = beta_power(a, b, wanted);
    if let Some(x) = tiny_root(a, b, power) {
        return Some(x);
    }
    let bend = bend(a, b, power);
    let start = if a <= 1.0 && bend.abs() < 0.5 { power * bend.exp() } else { guess };
    settled(beta_equation(a, b, wanted), start.min(0.5), 0.75, (1.0 / a + 1.0 / b).sqrt().recip())
}

/// The root next to that of the power, where two terms of the series are exact.
fn tiny_root(a: f64, b: f64, power: f64) -> Option<f64> {
    (power * b.max(1.0) < TINY).then(|| power * (1.0 + bend(a, b, power)))
}

/// How far the second term of the series moves the root of the power, as a share of it.
fn bend(a: f64, b: f64, power: f64) -> f64 {
    (b - 1.0) * power / (1.0 + a)
}

/// The root of the leading power: I_x(a, b) = x^a/(a B(a, b)) (1 - a (b-1) x/(a+1) + O((b x)^2)).
fn beta_power(a: f64, b: f64, wanted: Wanted) -> f64 {
    power_root(a, wanted, log_gamma_1p(a) - log_gamma_ratio(b, a))
}

/// The equation for ln x, with two derivatives.
fn beta_equation(a: f64, b: f64, wanted: Wanted) -> impl Fn(f64) -> [f64; 3] {
    move |x| {
        let (tails, weight) = incomplete_beta::inner_tails(a, b, x);
        // x density(x) = x^a (1-x)^(b-1)/B(a, b).
        let rest = 1.0 - x;
        wanted.jet(tails, weight.times(1.0 / rest), a - (b - 1.0) * (x / rest))
    }
}

/// The root when it is at most 1/2.
fn beta_small_root(a: f64, b: f64, wanted: Wanted) -> Result<f64> {
    let power = beta_power(a, b, wanted);
    if let Some(x) = tiny_root(a, b, power) {
        return Ok(x);
    }
    let equation = against_x(beta_equation(a, b, wanted));
    let start = if a.min(b) < 1.0 { power } else { power.max(beta_guess(a, b, wanted).0) };
    // Where I_(1/2) equals the wanted value to the last bit, the sign at 1/2 may be either.
    let high = 0.5;
    if sign_at_end(wanted, equation(high)[0]) {
        return Ok(high);
    }
    Ok(wanted.search("betainc_inverse").solve(equation, start.min(high), (f64::MIN_POSITIVE, high))?.x)
}

/// Halley's steps in ln x from `start`, until the error that the last one leaves is below a unit in the last place of x;
/// none if they do not settle soon, or beyond `last`.
///
/// `equation` has the value and two derivatives by ln x, and bends over distances of 1/(1 + `scale`).
fn settled(equation: impl Fn(f64) -> [f64; 3], start: f64, last: f64, scale: f64) -> Option<f64> {
    let mut x = start;
    for _ in 0..MOST_STEPS {
        let [value, slope, curvature] = equation(x);
        let newton = -value / slope;
        let step = newton / (1.0 + 0.5 * newton * curvature / slope).clamp(0.5, 2.0);
        x += x * step.exp_m1();
        if !(x >= f64::MIN_POSITIVE && x <= last) {
            return None;
        }
        let relative = step * (1.0 + scale);
        if step.abs() * (relative * relative) < SETTLED {
            return Some(x);
        }
    }
    None
}

/// An equation for ln x as one for x, with its slope alone.
fn against_x(equation: impl Fn(f64) -> [f64; 3]) -> impl Fn(f64) -> [f64; 3] {
    move |x| {
        let [value, slope, _] = equation(x);
        [value, slope / x, f64::NAN]
    }
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
