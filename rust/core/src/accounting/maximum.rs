//! The maximum of several profiles, which is a profile again.

use std::sync::Arc;

use super::Profile;

/// The pointwise maximum over all real eps: convex in exp(eps), so the profile of a pair that dominates all of them.
#[derive(Clone)]
pub struct MaximumProfile {
    profiles: Vec<Arc<dyn Profile>>,
}

impl MaximumProfile {
    /// The maximum of these profiles.
    pub fn new(profiles: Vec<Arc<dyn Profile>>) -> Self {
        Self { profiles }
    }
}

impl Profile for MaximumProfile {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        self.profiles.iter().map(|profile| profile.delta_upper(epsilon)).fold(0.0, f64::max)
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        self.profiles.iter().map(|profile| profile.delta_lower(epsilon)).fold(0.0, f64::max)
    }

    fn epsilon_upper(&self, delta: f64) -> f64 {
        self.profiles.iter().map(|profile| profile.epsilon_upper(delta)).fold(0.0, f64::max)
    }

    /// Of each pair on its own, the largest; the dominating pair of the maximum may have a larger one.
    fn renyi_upper(&self, order: f64) -> f64 {
        self.profiles.iter().map(|profile| profile.renyi_upper(order)).fold(0.0, f64::max)
    }

    fn kinks(&self) -> Vec<f64> {
        self.profiles.iter().flat_map(|profile| profile.kinks()).collect()
    }

    fn is_pair(&self) -> bool {
        self.profiles.iter().all(|profile| profile.is_pair())
    }
}
