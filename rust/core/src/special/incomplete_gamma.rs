//! The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x), both tails accurate.
//!
//! P is the distribution function of a Gamma variable of shape a. Large shapes near the mean have an expansion of their
//! own. Elsewhere x^a e^-x/Gamma(a) is taken out, and what is left is a power series of positive terms below the mean and
//! a continued fraction above. Nothing cancels, and the cost does not grow with the shape.

use super::gaps::{Tail, Tails, log_gap};
use super::{log_gamma_1p, near_mean, stirling_remainder};

/// 1/(2 pi).
const INVERSE_2PI: f64 = 0.159_154_943_091_895_335_77;

/// Terms of a series or fraction; they need about 100, most where a shape below one meets an x of one.
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
    } else {
        let outer = if a >= near_mean::SMALLEST_SHAPE && near_mean::NEAR.contains(&(x / a)) {
            near_mean::outer_tail(a, x, -log_ratio_to_mode(a, x))
        } else if x < a {
            series(a, x)
        } else {
            continued_fraction(a, x)
        };
        if x < a { Tails::from_lower(outer) } else { Tails::from_lower(outer).swap() }
    }
}

/// a ln(x/a) - (x - a) <= 0 for a >= 1: the logarithm of x^a e^-x, less its largest value.
fn log_ratio_to_mode(a: f64, x: f64) -> f64 {
    let (t, ratio) = ((x - a) / a, x / a);
    if ratio <= 1e-290 {
        // The quotient leaves the normal range of doubles.
        a * (x.ln() - a.ln()) - (x - a)
    } else if !(0.5..=2.0).contains(&ratio) {
        -a * log_gap(t, ratio)
    } else {
        // Here x - a is exact, and t is off by the rounding of the division.
        -a * log_gap(t, ratio) - t.mul_add(-a, x - a) * (t / ratio)
    }
}

/// x^a e^-x/Gamma(a).
pub(super) fn weight(a: f64, x: f64) -> Tail {
    if a < 1.0 {
        return Tail { exponent: a * x.ln() - x - log_gamma_1p(a), factor: a };
    }
    // Stirling: Gamma(a) = sqrt(2 pi/a) (a/e)^a e^s(a), and a ln(x/a) - (x - a) = -a (t - ln(1+t)), t = x/a - 1.
    let main = log_ratio_to_mode(a, x);
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
    weight.times(sum / a)
}

/// Q for x >= max(a, 1), as x^a e^-x/Gamma(a) times 1/(x+1-a - 1 (1-a)/(x+3-a - 2 (2-a)/(x+5-a - ...))), whose convergents
/// are summed [DLMF 8.9.2, Gau79].
fn continued_fraction(a: f64, x: f64) -> Tail {
    let first = x - a + 1.0;
    let (mut p, mut q, mut step) = (0.0, (x - a - 1.0) * first, 4.0 * first);
    let (mut s, mut rho, mut term, mut sum) = (1.0 - a, 0.0, 1.0, 1.0);
    for _ in 0..MAX_TERMS {
        p += s;
        q += step;
        step += 8.0;
        s += 2.0;
        let tau = p * (1.0 + rho);
        rho = tau / (q - tau);
        term *= rho;
        sum += term;
        if !(f64::abs(term) >= 1e-17 * sum) {
            break;
        }
    }
    let weight = weight(a, x);
    weight.times(sum / first)
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
