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

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of 1/(x + k)^2, its tail by the Euler-Maclaurin formula.
    fn trigamma(x: f64) -> f64 {
        let terms: f64 = (0..2_000).rev().map(|k| (x + f64::from(k)).powi(-2)).sum();
        let y = x + 2_000.0;
        terms + 1.0 / y + 0.5 / (y * y) + 1.0 / (6.0 * y * y * y)
    }

    #[test]
    fn divergences_are_those_of_the_theorem() {
        // D <= (l/2) (r D2)^2 psi'(alpha - (l - 1) r Dinf).
        let (scale, l2, linf, alpha) = (0.8, 1.4, 1.1, 6.0);
        let bounds = DirichletBounds::new(scale, l2, linf, alpha).unwrap();
        for order in [1.01, 2.0, 4.0, 7.5] {
            let exact = 0.5 * order * (scale * l2_squared(l2) * scale) * trigamma(alpha - (order - 1.0) * scale * linf);
            let found = bounds.renyi(order);
            assert!(found >= exact * (1.0 - 1e-14) && found <= exact * (1.0 + 2e-11), "{order}: {found} {exact}");
        }
        let end = 1.0 + alpha / (scale * linf);
        assert!(bounds.renyi(end * (1.0 - 1e-9)).is_finite() && bounds.renyi(end * (1.0 + 1e-15)).is_infinite());
        // Rounded towards more loss: this order is the end but for roundings.
        assert!(bounds.renyi(1.0 + 6.0 / 0.88).is_infinite());
    }

    fn l2_squared(l2: f64) -> f64 {
        l2 * l2
    }

    #[test]
    fn the_gamma_that_is_used_is_the_best_of_a_dense_grid() {
        for (scale, l2, linf, alpha) in [(1.0, 1.0, 1.0, 5.0), (0.1, 1.4, 1.0, 0.5), (2.0, 1.0, 0.7, 100.0)] {
            let bounds = DirichletBounds::new(scale, l2, linf, alpha).unwrap();
            let theorem = TheoremTwo(bounds);
            for delta in [1e-2_f64, 1e-6, 1e-30] {
                let log = -delta.ln();
                // rho omega + ln(1/delta)/(omega - 1), or with the best order below omega where that is inside.
                let cost = |share: f64| {
                    let gamma = share * alpha;
                    let rho = 0.5 * l2_squared(scale * l2) * trigamma(alpha - gamma);
                    let excess = gamma / (scale * linf);
                    let order = 1.0 + excess.min((log / rho).sqrt());
                    (rho * order + log / (order - 1.0), rho * (1.0 + excess) + log / excess)
                };
                let shares = || (1..400).map(|i| f64::from(i) / 400.0);
                let least = shares().map(|s| cost(s).0).fold(f64::INFINITY, f64::min);
                let found = theorem.epsilon_upper(delta);
                let (gamma, seven) =
                    (bounds.best_gamma(log), shares().map(|s| cost(s).1).fold(f64::INFINITY, f64::min));
                assert!(
                    gamma > 0.0 && gamma < alpha && cost(gamma / alpha).1 <= seven * (1.0 + 1e-9),
                    "{delta}: {gamma}"
                );
                // Every gamma is valid: below the cost of the one that is used nothing may be reported.
                assert!(
                    found >= cost(gamma / alpha).0 * (1.0 - 1e-9) && found <= least * 1.1,
                    "{delta}: {found} {least}"
                );
                let back = theorem.delta_upper(found);
                assert!(back <= delta * (1.0 + 1e-9), "{delta}: {back:e}");
                // Chernoff's bound with the best gamma of the grid, not below the least by more than the grid misses.
                let exponent = |share: f64| {
                    let rho = 0.5 * l2_squared(scale * l2) * trigamma(alpha * (1.0 - share));
                    let end = 1.0 + share * alpha / (scale * linf);
                    let order = (0.5 * (found + rho) / rho).clamp(1.0, end);
                    (order - 1.0) * (found - rho * order)
                };
                let most = shares().map(exponent).fold(0.0, f64::max);
                assert!(
                    -back.ln() <= most * (1.0 + 1e-3) && -back.ln() >= most * (1.0 - 1e-9) - 1e-9,
                    "{delta}: {back:e}"
                );
            }
            assert!(theorem.epsilon_upper(0.0).is_infinite() && theorem.epsilon_upper(f64::NAN).is_infinite());
            assert_eq!((theorem.delta_lower(1.0), theorem.is_pair()), (0.0, false));
            assert_eq!(theorem.delta_lower(-1.0), 1.0 - (-1.0_f64).exp());
            assert_eq!(theorem.renyi_upper(1.1), bounds.renyi(1.1));
        }
    }

    #[test]
    fn next_to_the_last_order_a_divergence_is_not_below_that_of_the_exact_parameter() {
        for (linf, alpha) in [(0.7, 1e6), (0.3, 3e9), (1.1, 1234.5), (1e-3, 0.7), (13.0, 1e12)] {
            let bounds = DirichletBounds::new(1.0, 1.0, linf, alpha).unwrap();
            let mut order: f64 = 1.0 + alpha / linf;
            for _ in 0..12 {
                order = order.next_down();
            }
            for _ in 0..24 {
                // alpha - (l - 1) Dinf with one rounding; next to zero the sum of 1/(x + k)^2 is its first term and pi^2/6.
                let left = (1.0 - order).mul_add(linf, alpha);
                let exact = if left > 0.0 { 0.5 * order * (left * left).recip() } else { f64::INFINITY };
                assert!(
                    bounds.renyi(order) >= exact * (1.0 - 1e-12),
                    "{linf} {alpha} {order}: {} {exact}",
                    bounds.renyi(order)
                );
                order = order.next_up();
            }
        }
    }

    #[test]
    fn the_best_gamma_lies_inside_and_is_the_best_at_any_size() {
        for scale in [1e-3, 1.0, 40.0] {
            for (l2, linf) in [(1.0, 1.0), (0.01, 0.007), (30.0, 2.0)] {
                for alpha in [1e-3, 0.5, 20.0, 1e4] {
                    let bounds = DirichletBounds::new(scale, l2, linf, alpha).unwrap();
                    for log in [1e-3, 1.0, 40.0, 700.0] {
                        let cost = |gamma: f64| {
                            let excess = gamma / (scale * linf);
                            0.5 * l2_squared(scale * l2) * trigamma(alpha - gamma) * (1.0 + excess) + log / excess
                        };
                        let share = |i: i32| 1.0 / (1.0 + (-0.1 * f64::from(i)).exp());
                        let least = (-150..=150).map(|i| cost(alpha * share(i))).fold(f64::INFINITY, f64::min);
                        let gamma = bounds.best_gamma(log);
                        assert!(gamma > 0.0 && gamma < alpha, "{scale} {l2} {alpha} {log}: {gamma}");
                        assert!(cost(gamma) <= least * (1.0 + 1e-9), "{scale} {l2} {alpha} {log}: {gamma}");
                    }
                }
            }
        }
    }
}
