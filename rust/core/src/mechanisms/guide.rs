//! A quick, rough logarithm of delta for the pairs of theory B1: it guides searches and proves nothing.
//!
//! The loss is r W - c with W log-concave, and delta = integral over u > 0 of p(t + u) (1 - exp(-r u)) with the
//! threshold t = (epsilon + c)/r. The integrand is log-concave too: a trapezoidal sum in steps of half its
//! width around its mode is good to a few parts in a hundred, on the logarithmic scale down to any depth.

use crate::guarantee::Adjacency;
use crate::special::{log_gamma, log_gamma_ratio};

/// Steps of the trapezoidal sum, in units of the integrand's width.
const STEP: f64 = 0.5;
/// The sum is cut where the integrand has fallen by exp(-CUT).
const CUT: f64 = 14.0;
const MAX_STEPS: u32 = 400;

/// The law of W under the first distribution of a pair.
#[derive(Clone, Copy)]
enum Law {
    /// The logit of Beta(p, q).
    Logit { p: f64, q: f64 },
    /// The logarithm of Gamma(s).
    LogGamma { s: f64 },
    /// Its negative.
    NegativeLogGamma { s: f64 },
}

/// ln delta at `epsilon` for the parameters `a` and `b` of two categories (prior plus floor) and scale `r`, roughly.
pub(super) fn log_delta(adjacency: Adjacency, a: f64, b: f64, r: f64, epsilon: f64) -> f64 {
    match adjacency {
        Adjacency::Replace => {
            let c = log_gamma_ratio(a, r) - log_gamma_ratio(b, r);
            let first = Law::Logit { p: a + r, q: b }.log_excess((epsilon + c) / r, r);
            if a == b {
                return first;
            }
            first.max(Law::Logit { p: b + r, q: a }.log_excess((epsilon - c) / r, r))
        }
        Adjacency::AddRemove => {
            let c = log_gamma_ratio(a, r);
            let remove = Law::LogGamma { s: a + r }.log_excess((epsilon + c) / r, r);
            remove.max(Law::NegativeLogGamma { s: a }.log_excess((epsilon - c) / r, r))
        }
    }
}

impl Law {
    /// The logarithm of the density, without its constant.
    fn log_kernel(self, w: f64) -> f64 {
        match self {
            // ln(1 + e^w) = max(w, 0) + ln(1 + e^-|w|), and p w - (p + q) w = -q w
            Self::Logit { p, q } => {
                let tail = if w > 0.0 { -q * w } else { p * w };
                tail - (p + q) * (-w.abs()).exp().ln_1p()
            }
            Self::LogGamma { s } => s * w - w.exp(),
            Self::NegativeLogGamma { s } => -s * w - (-w).exp(),
        }
    }

    fn log_constant(self) -> f64 {
        match self {
            // The difference of two huge logarithms would have no digits left.
            Self::Logit { p, q } => log_gamma_ratio(p.max(q), p.min(q)) - log_gamma(p.min(q)),
            Self::LogGamma { s } | Self::NegativeLogGamma { s } => -log_gamma(s),
        }
    }

    /// Slope of the log-density, and minus its curvature.
    fn slopes(self, w: f64) -> (f64, f64) {
        match self {
            Self::Logit { p, q } => {
                let e = (-w.abs()).exp();
                let (big, small) = (1.0 / (1.0 + e), e / (1.0 + e));
                // p - (p+q) sigma(w) = p (1 - sigma) - q sigma
                let slope = if w > 0.0 { p * small - q * big } else { p * big - q * small };
                (slope, (p + q) * big * small)
            }
            Self::LogGamma { s } => (s - w.exp(), w.exp()),
            Self::NegativeLogGamma { s } => ((-w).exp() - s, (-w).exp()),
        }
    }

    /// The logarithm of the integral over u > 0 of p(t + u) (1 - exp(-r u)).
    fn log_excess(self, t: f64, r: f64) -> f64 {
        let Some(mode) = self.mode(t, r) else { return f64::NEG_INFINITY };
        let value = |u: f64| self.log_kernel(t + u) + (-(-r * u).exp_m1()).ln();
        let (peak, step) = (value(mode), STEP * self.width(t, r, mode));
        let mut sum = 1.0;
        for direction in [-1.0, 1.0] {
            for k in 1..MAX_STEPS {
                let u = mode + direction * f64::from(k) * step;
                if u <= 0.0 {
                    break;
                }
                let fall = value(u) - peak;
                if !(fall > -CUT) {
                    break;
                }
                sum += fall.exp();
            }
        }
        peak + self.log_constant() + (sum * step).ln()
    }

    /// Where p(t + u) (1 - exp(-r u)) is largest: its logarithmic slope falls from infinity through zero.
    fn mode(self, t: f64, r: f64) -> Option<f64> {
        let slope = |u: f64| self.slopes(t + u).0 + r / (r * u).exp_m1();
        // r/(e^(ru) - 1) < 1/u and the slope of ln p falls, so that the zero is left of -1/slope(t) where that is positive.
        let at_threshold = self.slopes(t).0;
        let mut high = if at_threshold < 0.0 { -1.0 / at_threshold } else { 1.0 };
        while slope(high) > 0.0 {
            high *= 4.0;
            if high > 1e200 {
                return None;
            }
        }
        let mut low = high / 2.0;
        while slope(low) < 0.0 {
            (low, high) = (low / 2.0, low);
            if low < 1e-200 {
                return None;
            }
        }
        let mut u = (low * high).sqrt();
        for _ in 0..60 {
            let value = slope(u);
            if value > 0.0 {
                low = u
            } else {
                high = u
            }
            let width = self.width(t, r, u);
            let step = value * width * width;
            if step.abs() < 0.2 * width {
                return Some(u);
            }
            // Newton's method, or halving where it leaves the bracket.
            let next = u + step;
            u = if next > low && next < high { next } else { (low * high).sqrt() };
        }
        Some(u)
    }

    /// The width of a bell with the integrand's curvature at u.
    fn width(self, t: f64, r: f64, u: f64) -> f64 {
        let growth = r / -(-r * u).exp_m1();
        1.0 / (self.slopes(t + u).1 + growth * growth * (-r * u).exp()).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_is_near_known_values() {
        // Theory B1: replace, r = 1, delta = 1e-5.
        for (a, epsilon) in [(1.5, 7.8789), (3.0, 4.3563), (10.0, 1.8772), (100.0, 0.4995), (1000.0, 0.1417)] {
            let found = log_delta(Adjacency::Replace, a, a, 1.0, epsilon);
            assert!((found - 1e-5_f64.ln()).abs() < 0.03, "{a}: {found}");
        }
    }

    #[test]
    fn the_guide_survives_extreme_depths() {
        for (a, r) in [(1e-3, 1e-6), (1e6, 1e-3), (1e9, 1e9), (0.5, 100.0)] {
            for adjacency in [Adjacency::Replace, Adjacency::AddRemove] {
                assert!(log_delta(adjacency, a, a, r, 1.0).is_finite(), "{a} {r} {adjacency:?}");
            }
        }
    }
}
