//! What a sampler that is slightly wrong adds to the loss of the ideal mechanism.

use std::sync::{Arc, OnceLock};

use super::linear_pair::MARGIN;
use super::{Profile, parameter};
use crate::once::kept;
use crate::{Result, interrupt};

/// The bound for outputs that are each within total variation `eta` of the ideal ones:
/// delta(eps) + (1 + e^eps) eta (theory B7).
///
/// It is a bound for each epsilon, not the profile of a pair: compose the ideal profiles, and sum the etas.
#[derive(Clone)]
pub struct WithSamplingError {
    ideal: Arc<dyn Profile>,
    eta: f64,
    /// Where the sum is smallest, once that was asked: a composition takes long to answer so far out.
    least: OnceLock<(f64, f64)>,
}

impl WithSamplingError {
    /// The bound for samplers within `eta` of the ideal.
    ///
    /// # Errors
    ///
    /// If `eta` lies outside [0, 1).
    pub fn new(ideal: Arc<dyn Profile>, eta: f64) -> Result<Self> {
        Ok(Self { ideal, eta: parameter::below_one("sampling_error", eta)?, least: OnceLock::new() })
    }

    fn added(&self, epsilon: f64) -> f64 {
        // e^eps eta without overflow where eta is 0.
        if self.eta > 0.0 { self.eta * (1.0 + epsilon.exp()) * (1.0 + MARGIN) } else { 0.0 }
    }

    /// The right end of the epsilons worth considering: where e^eps eta alone reaches 1.
    fn end(&self) -> f64 {
        if self.eta > 0.0 { -self.eta.ln() } else { f64::INFINITY }
    }

    /// Where the sum is smallest in (-inf, end], and its value there.
    ///
    /// The sum is convex in exp(eps), so its slope changes sign once; a golden section on eps finds where. An inexact
    /// minimiser is a valid epsilon all the same.
    fn minimum(&self) -> (f64, f64) {
        if let Some(&known) = self.least.get() {
            return known;
        }
        let value = |epsilon: f64| self.ideal.delta_upper(epsilon) + self.added(epsilon);
        let found = super::search::golden_minimum(value, -1.0, self.end(), 80);
        // What was found while the caller wanted it to stop is nothing to keep.
        if interrupt::requested() { found } else { *kept(&self.least, || found) }
    }
}

impl Profile for WithSamplingError {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        if epsilon.is_nan() {
            return 1.0;
        }
        let here = self.ideal.delta_upper(epsilon) + self.added(epsilon);
        // A guarantee at a smaller epsilon holds at this one too; it matters only where (1 + e^eps) eta dominates.
        // Where both are infinite too.
        if self.eta > 0.0 && self.added(epsilon) >= 0.25 * here && epsilon > 0.0 {
            let (at, least) = self.minimum();
            if at < epsilon {
                return here.min(least).min(1.0);
            }
        }
        here.min(1.0)
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        // The error may as well be zero.
        (self.ideal.delta_lower(epsilon) - self.added(epsilon)).max(0.0)
    }

    fn epsilon_upper(&self, delta: f64) -> f64 {
        if self.eta == 0.0 {
            return self.ideal.epsilon_upper(delta);
        }
        // Start from the ideal epsilon; the addition is tiny unless delta is near eta.
        let mut epsilon = self.ideal.epsilon_upper(delta);
        for _ in 0..8 {
            let left = delta - self.added(epsilon);
            if !(left > 0.0) {
                // Near the least delta that can be had, or below it.
                return if self.minimum().1 <= delta {
                    super::inverse::epsilon_upper(&|epsilon| self.delta_upper(epsilon), delta)
                } else {
                    f64::INFINITY
                };
            }
            let next = self.ideal.epsilon_upper(left);
            if next == epsilon || (self.delta_upper(next) <= delta && next - epsilon <= 1e-13 * next) {
                return super::inverse::settle(&|epsilon| self.delta_upper(epsilon), next, delta);
            }
            epsilon = next;
        }
        super::inverse::epsilon_upper(&|epsilon| self.delta_upper(epsilon), delta)
    }

    fn renyi_upper(&self, order: f64) -> f64 {
        if self.eta > 0.0 { f64::INFINITY } else { self.ideal.renyi_upper(order) }
    }

    fn is_pair(&self) -> bool {
        self.eta == 0.0 && self.ideal.is_pair()
    }
}
