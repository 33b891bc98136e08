//! The papers' bounds for y ~ Dirichlet(r f(x) + alpha) with a general f of bounded sensitivities.

use super::linear_pair::MARGIN;
use super::truncated::{TruncatedProfile, rounded_exp};
use super::{Profile, parameter};
use crate::Result;
use crate::special::polygamma;

/// Sensitivities, scale and smallest parameter (with the scaled floor) of a Dirichlet mechanism.
#[derive(Debug, Clone, Copy)]
pub struct DirichletBounds {
    /// r D2, the l2-sensitivity of the parameters.
    l2: f64,
    /// r Dinf, their l-infinity-sensitivity.
    linf: f64,
    /// The smallest parameter.
    alpha: f64,
}

impl DirichletBounds {
    /// The bounds for these parameters; `alpha` is the smallest prior plus r times a public floor of f.
    ///
    /// # Errors
    ///
    /// If one of them is not positive and finite.
    pub fn new(scale: f64, l2: f64, linf: f64, alpha: f64) -> Result<Self> {
        let scale = parameter::positive("scale", scale)?;
        Ok(Self {
            l2: scale * parameter::positive("l2", l2)?,
            linf: scale * parameter::positive("linf", linf)?,
            alpha: parameter::positive("prior", alpha)?,
        })
    }

    /// \[DM\] Thm 1 in the form of its proof, and \[DPS\] Thm 1 at every gamma at once:
    /// D <= (l/2) r^2 D2^2 psi'(alpha - (l - 1) r Dinf), infinite from l = 1 + alpha/(r Dinf) on.
    pub fn renyi(&self, order: f64) -> f64 {
        let left = self.alpha - (order - 1.0) * self.linf;
        // Rounded towards more loss: psi' decreases.
        let left = left - 4.0 * f64::EPSILON * self.alpha;
        if left > 0.0 { order * self.rho(left) * (1.0 + MARGIN) } else { f64::INFINITY }
    }

    /// rho = r^2 D2^2 psi'(left)/2, \[DPS\] eq. 2.
    fn rho(&self, left: f64) -> f64 {
        0.5 * self.l2 * self.l2 * polygamma(1, left)
    }

    /// rho and omega at gamma.
    fn at(&self, gamma: f64) -> (f64, f64) {
        (self.rho(self.alpha - gamma), gamma / self.linf + 1.0)
    }

    /// The gamma that minimises \[DPS\] eq. 7, f = rho(gamma) (gamma/Dinf + 1) + ln(1/delta) Dinf/gamma.
    ///
    /// f is strictly convex (a product of increasing convex positive functions plus a convex one), so f' has one
    /// root; Newton's method on it, kept inside the bracket.
    pub fn best_gamma(&self, log_inverse_delta: f64) -> f64 {
        let half = 0.5 * self.l2 * self.l2;
        let (mut low, mut high) = (0.0, self.alpha);
        let mut gamma = 0.5 * self.alpha;
        for _ in 0..100 {
            let left = self.alpha - gamma;
            let (p1, p2, p3) = (polygamma(1, left), polygamma(2, left), polygamma(3, left));
            let omega = gamma / self.linf + 1.0;
            let pull = log_inverse_delta * self.linf / (gamma * gamma);
            let slope = half * (p1 / self.linf - p2 * omega) - pull;
            let curvature = half * (p3 * omega - 2.0 * p2 / self.linf) + 2.0 * pull / gamma;
            if slope > 0.0 {
                high = gamma;
            } else {
                low = gamma;
            }
            let mut next = gamma - slope / curvature;
            if !(next > low && next < high) {
                next = 0.5 * (low + high);
            }
            let done = (next - gamma).abs() <= 1e-12 * gamma;
            gamma = next;
            if done {
                break;
            }
        }
        gamma
    }
}

/// \[DPS\] Thm 2: for each delta the best gamma.
#[derive(Debug, Clone, Copy)]
pub struct TheoremTwo(
    /// The parameters.
    pub DirichletBounds,
);

impl Profile for TheoremTwo {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        // ln(1/delta) is concave in gamma where the second case of [DPS] Lemma 1 holds, and any gamma is valid.
        let value = |gamma: f64| {
            let (rho, omega) = self.0.at(gamma);
            -TruncatedProfile::log_inverse_delta(rho, omega, epsilon)
        };
        let (_, least) = super::search::golden_minimum(value, 0.0, self.0.alpha, 70);
        rounded_exp((-least).max(0.0))
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        if epsilon < 0.0 { -epsilon.exp_m1() } else { 0.0 }
    }

    fn epsilon_upper(&self, delta: f64) -> f64 {
        if !(delta > 0.0) {
            return f64::INFINITY;
        }
        let log_inverse_delta = -delta.min(1.0).ln();
        let (rho, omega) = self.0.at(self.0.best_gamma(log_inverse_delta));
        TruncatedProfile::lemma(rho, omega, log_inverse_delta) * (1.0 + MARGIN)
    }

    fn renyi_upper(&self, order: f64) -> f64 {
        self.0.renyi(order)
    }

    fn is_pair(&self) -> bool {
        false
    }
}
