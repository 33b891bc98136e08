//! Two Laplace laws with the same scale.

use super::linear_pair::MARGIN;
use super::{Profile, parameter};
use crate::Result;

/// The profile of two Laplace laws whose centres are `epsilon0` scales apart.
#[derive(Debug, Clone)]
pub struct LaplacePair {
    epsilon0: f64,
}

impl LaplacePair {
    /// The pair of a mechanism that is `epsilon0`-DP: sensitivity over scale.
    ///
    /// # Errors
    ///
    /// If `epsilon0` is not positive and finite.
    pub fn new(epsilon0: f64) -> Result<Self> {
        Ok(Self { epsilon0: parameter::positive("epsilon0", epsilon0)? })
    }

    fn delta(&self, epsilon: f64) -> f64 {
        if epsilon >= self.epsilon0 {
            0.0
        } else if epsilon <= -self.epsilon0 {
            -epsilon.exp_m1()
        } else {
            -(0.5 * (epsilon - self.epsilon0)).exp_m1()
        }
    }
}

impl Profile for LaplacePair {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        if epsilon.is_nan() {
            1.0
        } else if epsilon >= self.epsilon0 {
            0.0
        } else {
            // The margin is relative; the next double covers what underflows.
            (self.delta(epsilon) * (1.0 + MARGIN)).next_up().min(1.0)
        }
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        // Sensitivity over scale was rounded up: the laws may be closer by that.
        let least = Self { epsilon0: self.epsilon0.next_down() };
        if epsilon.is_nan() { 0.0 } else { least.delta(epsilon) * (1.0 - MARGIN) }
    }

    fn epsilon_upper(&self, delta: f64) -> f64 {
        if !(delta > 0.0) {
            return if delta == 0.0 { self.epsilon0 } else { f64::INFINITY };
        }
        // The inverse of 1 - exp((eps - eps0)/2), from the safe side.
        let epsilon = self.epsilon0 + 2.0 * (-delta.min(0.5)).ln_1p() * (1.0 - 2.0 * MARGIN);
        super::inverse::settle(
            &|epsilon| self.delta_upper(epsilon),
            if delta < 0.5 { epsilon.max(0.0) } else { 0.0 },
            delta,
        )
        .min(self.epsilon0)
    }

    fn kinks(&self) -> Vec<f64> {
        vec![-self.epsilon0, self.epsilon0]
    }

    fn renyi_upper(&self, order: f64) -> f64 {
        if order == f64::INFINITY {
            return self.epsilon0 * (1.0 + MARGIN);
        }
        // [Mir17] Table II: ln(l/(2l-1) e^((l-1) eps0) + (l-1)/(2l-1) e^(-l eps0))/(l-1), less its value at eps0 = 0,
        // where the weights sum to one.
        // Both sums are divided by l: 2l - 1 alone overflows at the largest orders, and would leave no divergence.
        let (excess, total) = (order - 1.0, 2.0 - 1.0 / order);
        let up = excess * self.epsilon0;
        let value = if up < 1.0 {
            // One expm1 against the other: e^((l-1)e) - 1 + (l-1)/l (e^(-l e) - 1), each less its linear part.
            let sum =
                super::shape::exp_m1_minus(up) + excess / order * super::shape::exp_m1_minus(-order * self.epsilon0);
            (sum / total).ln_1p() / excess
        } else {
            let down = excess / order * (-(total * order * self.epsilon0)).exp();
            (up - total.ln() + down.ln_1p()) / excess
        };
        value.clamp(0.0, self.epsilon0) * (1.0 + MARGIN)
    }
}
