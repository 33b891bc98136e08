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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{BudgetPair, GaussianPair};

    #[test]
    fn the_error_adds_its_part_to_each_delta() {
        let ideal: Arc<dyn Profile> = Arc::new(GaussianPair::new(1.0).unwrap());
        for eta in [1e-12_f64, 1e-6, 1e-3, 0.2] {
            let all = WithSamplingError::new(ideal.clone(), eta).unwrap();
            let sum = |epsilon: f64| ideal.delta_upper(epsilon) + eta * (1.0 + epsilon.exp());
            // What holds at a smaller epsilon holds further right too.
            let so_far = |epsilon: f64| (0..=4_000).map(|i| sum(epsilon * f64::from(i) / 4_000.0)).fold(1.0, f64::min);
            for epsilon in [0.0, 0.5, 2.0, 4.0, 8.0, 16.0] {
                let (found, exact) = (all.delta_upper(epsilon), so_far(epsilon));
                assert!(
                    found >= exact * (1.0 - 1e-4) && found <= sum(epsilon).min(1.0) * (1.0 + 1e-10),
                    "{eta} {epsilon}"
                );
                assert!(
                    found <= exact * (1.0 + 1e-9) || sum(epsilon) < 1.4 * exact,
                    "{eta} {epsilon}: {found:e} {exact:e}"
                );
                let lower = ideal.delta_lower(epsilon) - eta * (1.0 + epsilon.exp());
                assert!(all.delta_lower(epsilon) <= lower.max(0.0) * (1.0 + 1e-9) + 1e-18, "{eta} {epsilon}");
                assert!(all.delta_lower(epsilon) >= lower - 1e-10 * eta * epsilon.exp() - 1e-16, "{eta} {epsilon}");
            }
            // Below zero nothing is taken from the left.
            assert!(all.delta_upper(-1.0) >= sum(-1.0).min(1.0) * (1.0 - 1e-15));
        }
    }

    #[test]
    fn epsilons_keep_their_delta_and_are_the_least_of_a_dense_grid() {
        let ideal: Arc<dyn Profile> = Arc::new(GaussianPair::new(1.0).unwrap());
        let eta = 1e-7_f64;
        let all = WithSamplingError::new(ideal.clone(), eta).unwrap();
        let sum = |epsilon: f64| ideal.delta_upper(epsilon) + eta * (1.0 + epsilon.exp());
        for delta in [0.1, 1e-2, 1e-4, 2e-5, 1.2e-5] {
            let found = all.epsilon_upper(delta);
            let least = (0..200_000).map(|i| 5e-5 * f64::from(i)).find(|&epsilon| sum(epsilon) <= delta);
            match least {
                Some(least) => assert!((least - 6e-5..=least + 1e-9).contains(&found), "{delta}: {found} {least}"),
                None => assert!(found.is_infinite(), "{delta}: {found}"),
            }
        }
        // Below the least sum nothing holds, and just above it something does.
        let least = (0..100_000).map(|i| sum(1e-4 * f64::from(i))).fold(1.0, f64::min);
        assert!(all.epsilon_upper(least * 0.999).is_infinite() && all.epsilon_upper(least * 1.001).is_finite());
        assert!(all.delta_upper(all.epsilon_upper(least * 1.001)) <= least * 1.001);
        assert!(all.epsilon_upper(0.0).is_infinite());
    }

    #[test]
    fn without_error_it_is_the_ideal_profile_and_with_one_no_pair() {
        let ideal: Arc<dyn Profile> = Arc::new(BudgetPair::new(1.0, 0.0).unwrap());
        let (none, some) =
            (WithSamplingError::new(ideal.clone(), 0.0).unwrap(), WithSamplingError::new(ideal.clone(), 1e-9).unwrap());
        for epsilon in [0.5, 1.0, 2.0, 900.0, f64::INFINITY] {
            assert_eq!(none.delta_upper(epsilon), ideal.delta_upper(epsilon), "{epsilon}");
            assert_eq!(none.delta_lower(epsilon), ideal.delta_lower(epsilon), "{epsilon}");
        }
        assert_eq!(none.epsilon_upper(1e-3), ideal.epsilon_upper(1e-3));
        assert!(none.is_pair() && !some.is_pair());
        assert!(none.renyi_upper(2.0) == ideal.renyi_upper(2.0) && some.renyi_upper(2.0).is_infinite());
        assert_eq!((none.delta_upper(f64::NAN), some.delta_upper(f64::NAN)), (1.0, 1.0));
        // Where only the error is left, the least sum counts, which is at the largest loss.
        let least = 1e-9 * (1.0 + 1.0_f64.exp());
        assert!((some.delta_upper(50.0) / least - 1.0).abs() < 1e-6, "{:e}", some.delta_upper(50.0));
        assert!(WithSamplingError::new(ideal.clone(), 1.0).is_err() && WithSamplingError::new(ideal, -1e-9).is_err());
    }
}
