//! Truncated concentrated differential privacy (tCDP) [BDRS18], and zCDP as its limit.

use super::linear_pair::MARGIN;
use super::{Profile, parameter};
use crate::Result;

/// The conversion of \[DPS\] Lemma 1 from (rho, omega)-tCDP, as the papers use it.
#[derive(Debug, Clone, Copy)]
pub struct TruncatedProfile {
    rho: f64,
    omega: f64,
}

impl TruncatedProfile {
    /// The curve of (rho, omega)-tCDP; omega may be infinite.
    ///
    /// # Errors
    ///
    /// If `rho` is negative or infinite, or `omega` not above 1.
    pub fn new(rho: f64, omega: f64) -> Result<Self> {
        if !(omega > 1.0) {
            return Err(crate::Error::parameter("omega", "be above 1", omega));
        }
        Ok(Self { rho: parameter::non_negative("rho", rho)?, omega })
    }

    /// The bound of D at this order.
    pub fn renyi(&self, order: f64) -> f64 {
        if order < self.omega { order * self.rho * (1.0 + MARGIN) } else { f64::INFINITY }
    }

    /// ln(1/delta) at this epsilon: the inverse of \[DPS\] Lemma 1.
    pub(super) fn log_inverse_delta(rho: f64, omega: f64, epsilon: f64) -> f64 {
        if epsilon <= rho {
            0.0
        } else if omega == f64::INFINITY || epsilon <= rho * (2.0 * omega - 1.0) {
            (epsilon - rho) * (epsilon - rho) / (4.0 * rho)
        } else {
            (omega - 1.0) * (epsilon - rho * omega)
        }
    }

    /// \[DPS\] Lemma 1.
    pub(super) fn lemma(rho: f64, omega: f64, log_inverse_delta: f64) -> f64 {
        if omega == f64::INFINITY || log_inverse_delta <= (omega - 1.0) * (omega - 1.0) * rho {
            rho + 2.0 * (rho * log_inverse_delta).sqrt()
        } else {
            rho * omega + log_inverse_delta / (omega - 1.0)
        }
    }
}

impl Profile for TruncatedProfile {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        rounded_exp(Self::log_inverse_delta(self.rho, self.omega, epsilon))
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        if epsilon < 0.0 { -epsilon.exp_m1() } else { 0.0 }
    }

    fn epsilon_upper(&self, delta: f64) -> f64 {
        if !(delta > 0.0) {
            return f64::INFINITY;
        }
        let epsilon = Self::lemma(self.rho, self.omega, -delta.min(1.0).ln()) * (1.0 + MARGIN);
        super::inverse::settle(&|epsilon| self.delta_upper(epsilon), epsilon, delta)
    }

    fn renyi_upper(&self, order: f64) -> f64 {
        self.renyi(order)
    }

    fn tcdp_upper(&self, omega: f64) -> f64 {
        if omega <= self.omega { self.rho } else { f64::INFINITY }
    }

    fn is_pair(&self) -> bool {
        false
    }
}

/// exp(-x), rounded up by the margin and by what the rounding of x does to it.
pub(super) fn rounded_exp(x: f64) -> f64 {
    if x.is_nan() {
        return 1.0;
    }
    ((-x * (1.0 - 1e-14)).exp() * (1.0 + MARGIN)).clamp(f64::MIN_POSITIVE, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chernoff's bound with every order of a dense grid: the largest (l - 1)(eps - rho l) over l in [1, omega].
    fn by_orders(rho: f64, omega: f64, epsilon: f64) -> f64 {
        let value = |l: f64| (l - 1.0) * (epsilon - rho * l);
        let last = omega.min(1e3);
        (0..=20_000).map(|i| value(1.0 + (last - 1.0) * f64::from(i) / 20_000.0)).fold(0.0, f64::max)
    }

    #[test]
    fn delta_is_the_best_of_the_bounds_of_all_orders() {
        for (rho, omega) in [(0.1, 3.0), (0.5, 12.0), (0.02, 40.0), (1.0, 1.5), (0.5, f64::INFINITY)] {
            let profile = TruncatedProfile::new(rho, omega).unwrap();
            for epsilon in [-1.0, 0.0, 0.5 * rho, rho, 1.1 * rho, 3.0 * rho, 6.0 * rho, 30.0 * rho, 80.0 * rho] {
                let (found, exact) = (-profile.delta_upper(epsilon).ln(), by_orders(rho, omega, epsilon).min(708.396));
                // A grid of orders misses the best one by little, and only to one side.
                assert!(
                    found <= exact + 1e-3 * exact && found >= exact * (1.0 - 1e-9) - 2.0 * MARGIN,
                    "{rho} {omega} {epsilon}"
                );
                assert!(profile.delta_lower(epsilon) <= (1.0 - epsilon.exp()).max(0.0) + 1e-16);
            }
        }
        assert_eq!(TruncatedProfile::new(0.5, 2.0).unwrap().delta_lower(-1.0), 1.0 - (-1.0_f64).exp());
        assert_eq!(TruncatedProfile::new(0.5, 2.0).unwrap().delta_upper(f64::NAN), 1.0);
    }

    #[test]
    fn epsilon_is_the_best_of_the_bounds_of_all_orders() {
        for (rho, omega) in [(0.1, 3.0), (0.5, 12.0), (0.02, 40.0), (1.0, 1.5), (0.5, f64::INFINITY)] {
            let profile = TruncatedProfile::new(rho, omega).unwrap();
            for delta in [0.9_f64, 0.3, 1e-2, 1e-6, 1e-20, 1e-100] {
                let cost = |l: f64| rho * l - delta.ln() / (l - 1.0);
                let last = f64::min(omega, 1e3);
                let orders = (0..100_000).map(|i| 1.0 + (last - 1.0) * (-1e-4 * f64::from(i)).exp());
                let exact = orders.map(cost).fold(f64::INFINITY, f64::min);
                let found = profile.epsilon_upper(delta);
                assert!(
                    found <= exact * (1.0 + 1e-9) && found >= exact * (1.0 - 1e-6),
                    "{rho} {omega} {delta}: {found} {exact}"
                );
                assert!(profile.delta_upper(found) <= delta);
            }
            assert!(profile.epsilon_upper(0.0).is_infinite() && profile.epsilon_upper(f64::NAN).is_infinite());
        }
    }

    #[test]
    fn orders_beyond_omega_are_bounded_by_nothing() {
        let profile = TruncatedProfile::new(0.25, 8.0).unwrap();
        assert!((1.0..1.0 + 1e-10).contains(&profile.renyi_upper(4.0)) && profile.renyi_upper(8.0).is_infinite());
        assert_eq!((profile.tcdp_upper(8.0), profile.tcdp_upper(8.1), profile.is_pair()), (0.25, f64::INFINITY, false));
        assert!(TruncatedProfile::new(0.1, 1.0).is_err() && TruncatedProfile::new(-0.1, 2.0).is_err());
        assert!(TruncatedProfile::new(0.1, f64::NAN).is_err() && TruncatedProfile::new(0.0, 1.1).is_ok());
    }

    #[test]
    fn the_lemma_is_the_best_order_within_omega_on_either_side_of_where_omega_binds() {
        for (rho, omega) in [(0.1_f64, 3.0_f64), (0.5, 12.0), (2.0, 1.25), (0.01, 40.0)] {
            // The best order of all is 1 + sqrt(log/rho): it reaches omega at rho (omega - 1)^2.
            let edge = rho * (omega - 1.0) * (omega - 1.0);
            for part in [0.1, 0.5, 0.9, 0.999, 1.001, 1.1, 1.3, 2.0, 5.0, 40.0] {
                let log = part * edge;
                let cost = |l: f64| rho * l + log / (l - 1.0);
                let orders = (1..=20_000).map(|i| 1.0 + (omega - 1.0) * f64::from(i) / 20_000.0);
                let exact = orders.map(cost).fold(f64::INFINITY, f64::min);
                let found = TruncatedProfile::lemma(rho, omega, log);
                assert!(
                    found <= exact * (1.0 + 1e-13) && found >= exact * (1.0 - 1e-5),
                    "{rho} {omega} {part}: {found} {exact}"
                );
                let back = TruncatedProfile::log_inverse_delta(rho, omega, found);
                assert!((back / log - 1.0).abs() < 1e-12, "{rho} {omega} {part}: {back} {log}");
            }
        }
    }
}
