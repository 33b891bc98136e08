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
