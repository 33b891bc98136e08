//! The regularised incomplete beta function I_x(a, b) and its complement, both tails accurate.
//!
//! I_x is the distribution function of a Beta(a, b) variable. As for the gamma function, x^a (1-x)^b/B(a, b) is taken
//! out without cancellation, and what is left is a continued fraction, or, where that takes too long (both shapes large)
//! or a shape is below one, a series of positive terms or a log-concave integral over ln x - ln(1-x).

use super::gaps::{Tail, Tails, exp_gap, integrate_decay, log_gap};
use super::{log_gamma_1p, log_gamma_ratio, stirling_remainder};

/// Both shapes must reach this before the integral stands alone; the range of integration is then short against pi, the
/// distance of the singularities of 1 - x + x e^-v.
const SERIES_BELOW: f64 = 25.0;

/// 1/(2 pi).
const INVERSE_2PI: f64 = 0.159_154_943_091_895_335_77;

/// Below, x may have lost digits, so that only its logarithm may be taken; b x is far below one for every b in range.
const TINY: f64 = 1e-290;

/// The fraction takes about twice the root of the smaller shape at the mean, and less elsewhere; the integral takes the
/// time of about 100 of its terms.
const FRACTION_BELOW: f64 = 1e3;

/// Terms of a series or fraction; they need about 90.
const MAX_TERMS: u32 = 400;

/// I_x(a, b), as scipy.special.betainc; NaN outside a, b >= 0, 0 <= x <= 1, and for a = b = 0 or both infinite.
pub fn beta_inc(a: f64, b: f64, x: f64) -> f64 {
    tails(a, b, x).lower.value()
}

/// 1 - I_x(a, b), as scipy.special.betaincc.
pub fn beta_inc_c(a: f64, b: f64, x: f64) -> f64 {
    tails(a, b, x).upper.value()
}

/// ln I_x(a, b), finite far beyond the range of I.
pub fn log_beta_inc(a: f64, b: f64, x: f64) -> f64 {
    tails(a, b, x).log_lower()
}

/// ln(1 - I_x(a, b)), finite far beyond the range of its argument.
pub fn log_beta_inc_c(a: f64, b: f64, x: f64) -> f64 {
    tails(a, b, x).log_upper()
}

/// ln(x^a (1-x)^b / B(a, b)) for a, b > 0 and 0 < x < 1, without cancellation.
pub(crate) fn log_beta_weight(a: f64, b: f64, x: f64) -> f64 {
    Point::new(a, b, x).weight().log()
}

/// Both tails.
pub(super) fn tails(a: f64, b: f64, x: f64) -> Tails {
    if !(a >= 0.0 && b >= 0.0 && (0.0..=1.0).contains(&x)) {
        return Tails::NAN;
    }
    if (a == 0.0 && b == 0.0) || (a == f64::INFINITY && b == f64::INFINITY) {
        Tails::NAN
    } else if x == 1.0 {
        Tails::AT_TOP
    } else if x == 0.0 {
        Tails::AT_BOTTOM
    } else if a == 0.0 || b == f64::INFINITY {
        // All mass at 0.
        Tails::AT_TOP
    } else if b == 0.0 || a == f64::INFINITY {
        // All mass at 1.
        Tails::AT_BOTTOM
    } else {
        let (a, b) = in_range(a, b);
        inner_tails(a, b, x).0
    }
}

/// Both tails and x^a (1-x)^b/B(a, b), for shapes in range and 0 < x < 1.
pub(super) fn inner_tails(a: f64, b: f64, x: f64) -> (Tails, Tail) {
    let point = Point::new(a, b, x);
    let weight = point.weight();
    let tails = if x < TINY {
        let (lower, upper) = power_series(a, b, x);
        Tails { lower, upper }
    } else if a == b && x == 0.5 {
        // The median of a symmetric law, to the last digit.
        Tails { lower: Tail::plain(0.5), upper: Tail::plain(0.5) }
    } else if point.margin >= 0.0 {
        point.tails_below_mean(weight)
    } else {
        point.mirror().tails_below_mean(weight).swap()
    };
    (tails, weight)
}

/// Shapes whose products and quotients stay in the normal range: from 1e-140 to 1e140, two tiny ones in proportion.
pub(super) fn in_range(a: f64, b: f64) -> (f64, f64) {
    // Below 1e-100 the law is that of a coin, decided by the quotient of the shapes alone.
    let scale = if a.max(b) < 1e-100 { 1e-100 / a.max(b) } else { 1.0 };
    ((a * scale).clamp(1e-140, 1e140), (b * scale).clamp(1e-140, 1e140))
}

/// A distribution and a point, with what must not be computed twice.
#[derive(Clone, Copy)]
struct Point {
    a: f64,
    b: f64,
    x: f64,
    /// 1 - x.
    y: f64,
    /// a y - b x = a - (a + b) x, rounded once; not negative at or below the mean.
    margin: f64,
    /// What `margin` leaves.
    margin_rest: f64,
}

impl Point {
    fn new(a: f64, b: f64, x: f64) -> Self {
        // a - a x - b x with exact products and sums: y is only known to half a unit in the last place.
        let (p, q) = (a * x, b * x);
        let (p_rest, q_rest) = (a.mul_add(x, -p), b.mul_add(x, -q));
        let (first, first_rest) = two_difference(a, p);
        let (margin, second_rest) = two_difference(first, q);
        let rest = (first_rest + second_rest) - (p_rest + q_rest);
        let rounded = margin + rest;
        Self { a, b, x, y: 1.0 - x, margin: rounded, margin_rest: rest - (rounded - margin) }
    }

    /// The same event for 1 - X.
    fn mirror(self) -> Self {
        Self { a: self.b, b: self.a, x: self.y, y: self.x, margin: -self.margin, margin_rest: -self.margin_rest }
    }

    /// The same point for a shape larger by `steps`.
    fn raise(self, steps: f64) -> Self {
        Self { a: self.a + steps, margin: self.margin + steps * self.y, margin_rest: 0.0, ..self }
    }

    /// Both tails of a point that is not above the mean; `weight` is its [`Self::weight`].
    fn tails_below_mean(self, weight: Tail) -> Tails {
        let Self { a, b, x, y, .. } = self;
        if x > 0.5 && (a + b) * y < 1.0 && b < 1.0 {
            // The mean of 1 - X is below y, but almost all of its mass may be too.
            let upper = power_series(b, a, y);
            return Tails { lower: upper.1, upper: upper.0 };
        }
        let lower = if a >= 1.0 && b >= 1.0 && a.min(b) < FRACTION_BELOW {
            weight.times(self.fraction())
        } else if a < SERIES_BELOW {
            weight.times(self.series())
        } else {
            weight.times(self.integral())
        };
        if a < 1.0 && x <= 0.5 {
            // The lower tail may be close to 1.
            return Tails { lower, upper: power_series(a, b, x).1 };
        }
        Tails::from_lower(lower)
    }

    /// x^a y^b/B(a, b).
    fn weight(self) -> Tail {
        let Self { a, b, x, y, margin, margin_rest } = self;
        let n = a + b;
        // At the mean, x0 = a/n: x0^a y0^b/B(a, b) = sqrt(a b/(2 pi n)) exp(s(n) - s(a) - s(b)) by Stirling. From there,
        // a ln(x/x0) + b ln(y/y0) = -a gap(t) - b gap(u), where t = x/x0 - 1 = -margin/a and u = margin/b.
        let (t, u) = (-margin / a, margin / b);
        let (t_ratio, u_ratio) = (x * (n / a), y * (n / b));
        let (t_rest, u_rest) = ((-t).mul_add(a, -margin) - margin_rest, (-u).mul_add(b, margin) + margin_rest);
        // First-order corrections where the gap is computed from t; elsewhere it comes from the ratio.
        let correct = |rest: f64, t: f64, ratio: f64| if ratio > 0.5 && ratio < 2.0 { rest * (t / ratio) } else { 0.0 };
        let rests = correct(t_rest, t, t_ratio) + correct(u_rest, u, u_ratio);
        let main = -a * log_gap(t, t_ratio) - b * log_gap(u, u_ratio);
        let stirling = stirling_remainder(n) - (stirling_remainder(a) + stirling_remainder(b));
        let exponent = main + stirling - rests;
        Tail { exponent, factor: (a / n * b * INVERSE_2PI).sqrt() }
    }

    /// I_x without its weight by a continued fraction, below the mean. [DM92, eq. 9; DLMF 8.17.22 contracted]
    fn fraction(self) -> f64 {
        let Self { a, b, x, y, margin, .. } = self;
        let inverse_a = 1.0 / a;
        let (c, c1) = (1.0 + margin, 1.0 + inverse_a);
        let quotient = b * inverse_a;
        let (mut p, mut s) = (1.0, a + 1.0);
        // Numerators and denominators of two neighbours, divided by the later denominator.
        let (mut value, mut before, mut denominator_before) = (c1 / c, 0.0, c1 / c);
        for n in 1..MAX_TERMS {
            let n = f64::from(n);
            let t = n * inverse_a;
            let w = n * (b - n) * x;
            let inverse_s = 1.0 / s;
            let e = a * inverse_s;
            let alpha = p * (p + quotient) * (e * e) * (w * x);
            let beta = n + w * inverse_s + (1.0 + t) / (c1 + t + t) * (c + n * (1.0 + y));
            p = 1.0 + t;
            s += 2.0;
            let scale = 1.0 / (alpha * denominator_before + beta);
            let next = (alpha * before + beta * value) * scale;
            (before, denominator_before) = (value * scale, scale);
            let done = (next - value).abs() <= 1e-16 * next;
            value = next;
            if done {
                break;
            }
        }
        value
    }

    /// I_x without its weight by its series of positive terms [DLMF 8.17.8], as far as the shape at which the integral takes over:
    /// I_x(a, b) = x^a y^b/(a B(a, b)) sum over k < m of (a+b)_k/(a+1)_k x^k + I_x(a+m, b).
    fn series(self) -> f64 {
        let Self { a, b, x, .. } = self;
        let steps = (SERIES_BELOW - a).ceil();
        let (mut term, mut sum, mut k) = (1.0, 0.0, 0.0);
        while k < steps {
            sum += term;
            let ratio = (a + b + k) / (a + 1.0 + k) * x;
            term *= ratio;
            k += 1.0;
            if ratio < 1.0 && term < 1e-17 * (1.0 - ratio) * sum {
                return sum / a;
            }
        }
        let rest = self.raise(steps).integral();
        (sum + term * (a + steps) * rest) / a
    }

    /// int_0^inf of (t/x)^a ((1-t)/y)^b dv, logit t = logit x - v: I_x without its weight.
    fn integral(self) -> f64 {
        let Self { a, b, x, y, margin, .. } = self;
        let n = a + b;
        if x <= 0.5 {
            // E = a v + n ln(1 - q), q = x (1 - e^-v).
            integrate_decay(margin, n * x * y, |v| {
                let q = -x * (-v).exp_m1();
                let value = margin * v + n * (x * exp_gap(-v) - log_gap(-q, 1.0 - q));
                (value, a - n * (x - q) / (1.0 - q))
            })
        } else {
            // E = -b v + n ln(1 + p), p = y (e^v - 1).
            integrate_decay(margin, n * x * y, |v| {
                let p = y * v.exp_m1();
                let value = if p < 1.0 {
                    margin * v + n * (y * exp_gap(v) - log_gap(p, 1.0 + p))
                } else {
                    n * (1.0 + p).ln() - b * v
                };
                (value, n * (y + p) / (1.0 + p) - b)
            })
        }
    }
}

/// I_x(a, b) and its complement for small a and x (b x not large), where I may be close to 1:
/// with x^a/(a B(a, b)) = e^L, I = e^L (1 + a sum_(k >= 1) (1-b)_k x^k/(k! (a+k))). [DLMF 8.17.7]
fn power_series(a: f64, b: f64, x: f64) -> (Tail, Tail) {
    let log_power = a * x.ln() + log_gamma_ratio(b, a) - log_gamma_1p(a);
    let (mut term, mut sum) = (1.0, 0.0);
    for k in 1..MAX_TERMS {
        let k = f64::from(k);
        term *= (k - b) / k * x;
        sum += term / (a + k);
        if term.abs() < 1e-18 * x {
            break;
        }
    }
    let lower = Tail { exponent: log_power, factor: 1.0 + a * sum };
    (lower, Tail::plain(-log_power.exp_m1() - log_power.exp() * a * sum))
}

/// a - b and its rounding error.
fn two_difference(a: f64, b: f64) -> (f64, f64) {
    let difference = a - b;
    let part = difference - a;
    (difference, (a - (difference - part)) - (b + part))
}
