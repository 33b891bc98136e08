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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{BudgetPair, GaussianPair, MinimumProfile};

    #[test]
    fn the_dearer_profile_counts_at_each_epsilon() {
        let (a, b) = (GaussianPair::new(1.0).unwrap(), BudgetPair::new(2.0, 0.0).unwrap());
        let both = MaximumProfile::new(vec![Arc::new(a.clone()), Arc::new(b.clone())]);
        for epsilon in [0.0, 0.5, 1.9, 2.5] {
            assert_eq!(both.delta_upper(epsilon), a.delta_upper(epsilon).max(b.delta_upper(epsilon)));
            assert_eq!(both.delta_lower(epsilon), a.delta_lower(epsilon).max(b.delta_lower(epsilon)));
        }
        for delta in [0.5, 0.1, 1e-6] {
            assert_eq!(both.epsilon_upper(delta), a.epsilon_upper(delta).max(b.epsilon_upper(delta)));
        }
        for order in [1.1, 3.0, 20.0] {
            assert_eq!(both.renyi_upper(order), a.renyi_upper(order).max(b.renyi_upper(order)));
        }
        assert_eq!((both.kinks(), both.is_pair()), (vec![-2.0, 2.0], true));
        let bound: Arc<dyn Profile> = Arc::new(MinimumProfile::new(Arc::new(a), Arc::new(b.clone())));
        assert!(!MaximumProfile::new(vec![Arc::new(b), bound]).is_pair());
    }
}
