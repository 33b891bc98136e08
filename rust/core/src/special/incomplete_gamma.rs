//! The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x), both tails accurate.
//!
//! P is the distribution function of a Gamma variable of shape a. With x^a e^-x/Gamma(a) taken out, what is left is a
//! power series of positive terms (small shapes, below the mean) or the integral of a log-concave function (all
//! else), so nothing cancels and the cost does not grow with the shape.

use super::gaps::{Tail, Tails, exp_gap, integrate_decay, log_gap};
use super::{log_gamma_1p, stirling_remainder};

/// From this shape on, the integral below the mean takes the place of the series, whose length grows like the root of
/// the shape.
const SERIES_BELOW: f64 = 25.0;

/// 1/(2 pi).
const INVERSE_2PI: f64 = 0.159_154_943_091_895_335_77;

/// Terms of a series; it needs about 90 at the largest shape.
const MAX_TERMS: u32 = 400;

/// P(a, x), as scipy.special.gammainc: P(0, x) = 1 for x > 0, P(inf, x) = 0; NaN for negative arguments and at (0, 0).
pub fn gamma_p(a: f64, x: f64) -> f64 {
    tails(a, x).lower.value()
}

/// Q(a, x) = 1 - P(a, x), as scipy.special.gammaincc.
pub fn gamma_q(a: f64, x: f64) -> f64 {
    tails(a, x).upper.value()
}

/// ln P(a, x), finite far beyond the range of P.
pub fn log_gamma_p(a: f64, x: f64) -> f64 {
    tails(a, x).log_lower()
}

/// ln Q(a, x), finite far beyond the range of Q.
pub fn log_gamma_q(a: f64, x: f64) -> f64 {
    tails(a, x).log_upper()
}

/// Both tails.
pub(super) fn tails(a: f64, x: f64) -> Tails {
    if !(a >= 0.0 && x >= 0.0) || (a == 0.0 && x == 0.0) || (a == f64::INFINITY && x == f64::INFINITY) {
        Tails::NAN
    } else if x == 0.0 || a == f64::INFINITY {
        Tails::AT_BOTTOM
    } else if a == 0.0 || x == f64::INFINITY {
        Tails::AT_TOP
    } else if a < 1.0 && x < 1.0 {
        let a = a.max(1e-300);
        Tails { lower: series(a, x), upper: small_shape_upper(a, x) }
    } else if x <= a {
        Tails::from_lower(if a < SERIES_BELOW { series(a, x) } else { lower_integral(a, x) })
    } else {
        Tails::from_lower(upper_integral(a, x)).swap()
    }
}

/// x^a e^-x/Gamma(a).
pub(super) fn weight(a: f64, x: f64) -> Tail {
    if a < 1.0 {
        return Tail { exponent: a * x.ln() - x - log_gamma_1p(a), factor: a };
    }
    // Stirling: Gamma(a) = sqrt(2 pi/a) (a/e)^a e^s(a), and a ln(x/a) - (x - a) = -a (t - ln(1+t)), t = x/a - 1.
    let (t, ratio) = ((x - a) / a, x / a);
    let main = if ratio <= 1e-290 {
        // The quotient leaves the normal range of doubles.
        a * (x.ln() - a.ln()) - (x - a)
    } else if !(0.5..=2.0).contains(&ratio) {
        -a * log_gap(t, ratio)
    } else {
        // Here x - a is exact, and t is off by the rounding of the division.
        -a * log_gap(t, ratio) - t.mul_add(-a, x - a) * (t / ratio)
    };
    Tail { exponent: main - stirling_remainder(a), factor: (a * INVERSE_2PI).sqrt() }
}

/// P by its series: x^a e^-x/Gamma(a+1) sum x^k/((a+1)...(a+k)). [DLMF 8.7.1]
fn series(a: f64, x: f64) -> Tail {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..MAX_TERMS {
        term *= x / (a + f64::from(k));
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    let weight = weight(a, x);
    Tail { factor: weight.factor * sum / a, ..weight }
}

/// P = x^a e^-x/Gamma(a) int_0^inf exp(-(a v + x (e^-v - 1))) dv, from t = x e^-v, for x <= a.
fn lower_integral(a: f64, x: f64) -> Tail {
    let slope = a - x;
    let weight = weight(a, x);
    let integral = integrate_decay(slope, x, |v| (slope * v + x * exp_gap(-v), slope - x * (-v).exp_m1()));
    Tail { factor: weight.factor * integral, ..weight }
}

/// Q = x^a e^-x/Gamma(a) int_0^inf exp(-(x (e^v - 1) - a v)) dv, from t = x e^v, for x >= a and x >= 1.
fn upper_integral(a: f64, x: f64) -> Tail {
    let slope = x - a;
    let weight = weight(a, x);
    let integral = integrate_decay(slope, x, |v| (slope * v + x * exp_gap(v), slope + x * v.exp_m1()));
    Tail { factor: weight.factor * integral, ..weight }
}

/// Q for a < 1 and x < 1, where P may be close to 1: with x^a/Gamma(1+a) = e^L,
/// Q = -(e^L - 1) - e^L a sum_(k >= 1) (-x)^k/(k! (a+k)). [DLMF 8.7.1]
fn small_shape_upper(a: f64, x: f64) -> Tail {
    let log_power = a * x.ln() - log_gamma_1p(a);
    let (mut term, mut sum) = (1.0, 0.0);
    for k in 1..MAX_TERMS {
        let k = f64::from(k);
        term *= -x / k;
        sum += term / (a + k);
        if term.abs() < 1e-18 * x {
            break;
        }
    }
    Tail::plain(-log_power.exp_m1() - log_power.exp() * a * sum)
}
