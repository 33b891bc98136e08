//! What is left of exp and ln when their leading terms are taken away, and integrals of what decays like exp.

use super::coefficients::{ATANH_EXCESS_BOTTOM, ATANH_EXCESS_TOP, EXP_GAP, GAUSS_NODES, GAUSS_WEIGHTS};
use super::polynomial;

/// t - ln(1 + t) >= 0, without cancellation; `one_plus_t` is used where t is near -1 or large.
pub(super) fn log_gap(t: f64, one_plus_t: f64) -> f64 {
    if t > -0.5 && t < 1.0 {
        // With r = t/(2+t): ln(1+t) = 2 atanh(r) and t - 2 r = t r.
        let r = t / (2.0 + t);
        let w = r * r;
        r * (t - 2.0 * w * polynomial(&ATANH_EXCESS_TOP, w) / polynomial(&ATANH_EXCESS_BOTTOM, w))
    } else {
        t - one_plus_t.ln()
    }
}

/// exp(v) - 1 - v >= 0, without cancellation.
pub(super) fn exp_gap(v: f64) -> f64 {
    if v.abs() <= 0.5 { v * v * polynomial(&EXP_GAP, v) } else { v.exp_m1() - v }
}

/// Exponents are followed down to exp(-40) = 4e-18.
const LAST_EXPONENT: f64 = 40.0;

/// Panels no wider than this keep the rule far from the singularities, which lie at a distance of about pi.
const WIDEST_PANEL: f64 = 1.5;

/// The ranges that occur need at most five panels.
const MAX_PANELS: f64 = 32.0;

/// The integral over v >= 0 of exp(-E(v)), for E convex with E(0) = 0, E'(0) = `slope` >= 0, E''(0) = `curvature`.
///
/// `exponent` gives E and its derivative. Gauss and Legendre's rule up to E = 40: positive terms, and a cost that does
/// not depend on the scale of E.
pub(super) fn integrate_decay(slope: f64, curvature: f64, exponent: impl Fn(f64) -> (f64, f64)) -> f64 {
    // The end solves slope v + curvature v^2/2 = 40 first, then E(v) = 40 by Newton; from the right it stays right.
    // (hypot: shapes up to the largest double.)
    let mut end = 2.0 * LAST_EXPONENT / (slope + slope.hypot((2.0 * LAST_EXPONENT).sqrt() * curvature.sqrt()));
    for _ in 0..8 {
        let (value, derivative) = exponent(end);
        let step = (value - LAST_EXPONENT) / derivative;
        if !step.is_finite() {
            break;
        }
        end -= step;
        if (value - LAST_EXPONENT).abs() < 1.0 {
            break;
        }
    }
    let n_panels = (end / WIDEST_PANEL).ceil().clamp(1.0, MAX_PANELS);
    let width = end / n_panels;
    let panel = |start: f64| -> f64 {
        let terms = GAUSS_NODES.iter().zip(&GAUSS_WEIGHTS);
        terms.map(|(node, weight)| weight * (-exponent(start + width * node).0).exp()).sum()
    };
    width * (0..n_panels as u32).rev().map(|i| panel(f64::from(i) * width)).sum::<f64>()
}

/// A probability, as a logarithm that may be far below the doubles and a factor of moderate size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    pub(super) exponent: f64,
    pub(super) factor: f64,
}

impl Tail {
    pub(super) const ZERO: Self = Self { exponent: f64::NEG_INFINITY, factor: 1.0 };
    pub(super) const ONE: Self = Self { exponent: 0.0, factor: 1.0 };
    pub(super) const NAN: Self = Self { exponent: f64::NAN, factor: 1.0 };

    pub(super) fn plain(value: f64) -> Self {
        Self { exponent: 0.0, factor: value }
    }

    /// 1 - self; right where self is not close to 1.
    pub(super) fn complement(self) -> Self {
        Self::plain(1.0 - self.value())
    }

    pub(super) fn times(self, factor: f64) -> Self {
        Self { factor: self.factor * factor, ..self }
    }

    pub(super) fn log(self) -> f64 {
        self.exponent + self.factor.ln()
    }

    pub(super) fn value(self) -> f64 {
        // Unlike min and max, clamp keeps NaN.
        (self.exponent.exp() * self.factor).clamp(0.0, 1.0)
    }
}

/// Both tails of a distribution at a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tails {
    pub(super) lower: Tail,
    pub(super) upper: Tail,
}

impl Tails {
    pub(super) const NAN: Self = Self { lower: Tail::NAN, upper: Tail::NAN };
    /// All mass lies above the point.
    pub(super) const AT_BOTTOM: Self = Self { lower: Tail::ZERO, upper: Tail::ONE };
    /// All mass lies below the point.
    pub(super) const AT_TOP: Self = Self { lower: Tail::ONE, upper: Tail::ZERO };

    pub(super) fn from_lower(lower: Tail) -> Self {
        Self { lower, upper: lower.complement() }
    }

    pub(super) fn swap(self) -> Self {
        Self { lower: self.upper, upper: self.lower }
    }

    pub(super) fn log_lower(self) -> f64 {
        log(self.lower, self.upper)
    }

    pub(super) fn log_upper(self) -> f64 {
        log(self.upper, self.lower)
    }
}

/// The logarithm of a tail, from the other one when that is the small one.
fn log(tail: Tail, other: Tail) -> f64 {
    let rest = other.value();
    if rest < 0.25 { (-rest).ln_1p() } else { tail.log() }
}
