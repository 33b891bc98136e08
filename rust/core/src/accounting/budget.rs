//! The pair that an (epsilon, delta) guarantee is as bad as: randomised response that sometimes tells the truth.

use super::linear_pair::MARGIN;
use super::{Profile, parameter};
use crate::Result;

/// The profile that dominates every mechanism that is (epsilon0, delta0)-DP \[KOV15\]; delta0 = 0 is pure DP.
///
/// With probability delta0 the output names the data set; otherwise it is binary randomised response.
#[derive(Debug, Clone)]
pub struct BudgetPair {
    epsilon0: f64,
    delta0: f64,
}

impl BudgetPair {
    /// The pair of an (epsilon0, delta0) guarantee.
    ///
    /// # Errors
    ///
    /// If `epsilon0` is negative or infinite, or `delta0` outside [0, 1).
    pub fn new(epsilon0: f64, delta0: f64) -> Result<Self> {
        Ok(Self {
            epsilon0: parameter::non_negative("epsilon", epsilon0)?,
            delta0: parameter::below_one("delta", delta0)?,
        })
    }

    fn delta(&self, epsilon: f64) -> f64 {
        let pure = if epsilon >= self.epsilon0 {
            0.0
        } else if epsilon <= -self.epsilon0 {
            -epsilon.exp_m1()
        } else {
            // (e^eps0 - e^eps)/(1 + e^eps0)
            -(epsilon - self.epsilon0).exp_m1() / (1.0 + (-self.epsilon0).exp())
        };
        self.delta0 + (1.0 - self.delta0) * pure
    }
}

impl Profile for BudgetPair {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        if epsilon.is_nan() {
            1.0
        } else if epsilon >= self.epsilon0 {
            self.delta0
        } else {
            // The margin is relative; the next double covers what underflows.
            (self.delta(epsilon) * (1.0 + MARGIN)).next_up().min(1.0)
        }
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        if epsilon.is_nan() { 0.0 } else { self.delta(epsilon) * (1.0 - MARGIN) }
    }

    fn epsilon_upper(&self, delta: f64) -> f64 {
        if !(delta > self.delta0) {
            return if delta == self.delta0 { self.epsilon0 } else { f64::INFINITY };
        }
        // The inverse of (1 - delta0) (1 - e^(eps - eps0))/(1 + e^-eps0), from the safe side.
        let pure = (delta - self.delta0) / (1.0 - self.delta0) * (1.0 - 4.0 * MARGIN);
        let fall = pure * (1.0 + (-self.epsilon0).exp());
        let epsilon = if fall < 1.0 { (self.epsilon0 + (-fall).ln_1p()).max(0.0) } else { 0.0 };
        super::inverse::settle(&|epsilon| self.delta_upper(epsilon), epsilon, delta).min(self.epsilon0)
    }

    fn response(&self) -> Option<(f64, f64)> {
        Some((self.epsilon0, self.delta0))
    }

    fn kinks(&self) -> Vec<f64> {
        vec![-self.epsilon0, self.epsilon0]
    }

    fn renyi_upper(&self, order: f64) -> f64 {
        if self.delta0 > 0.0 {
            return f64::INFINITY;
        }
        if self.epsilon0 == 0.0 {
            return 0.0;
        }
        // ln((e^(l e) + e^((1 - l) e))/(1 + e^e))/(l - 1), without overflow for large and cancellation for small e.
        let (e, excess) = (self.epsilon0, order - 1.0);
        let high = ((1.0 - 2.0 * order) * e).exp();
        let low = (-e).exp();
        let value = if excess * e < 1.0 && e < 100.0 {
            // The quotient less one is (1 - e^((1-l) e)) (e^(l e) - 1)/(1 + e^e).
            let gain = -(-excess * e).exp_m1() * (order * e).exp_m1() / (1.0 + e.exp());
            gain.ln_1p() / excess
        } else {
            e + ((high - low) / (1.0 + low)).ln_1p() / excess
        };
        value.clamp(0.0, e) * (1.0 + MARGIN)
    }
}
