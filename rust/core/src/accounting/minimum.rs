//! The smaller of two upper bounds of one profile.

use std::sync::Arc;

use super::Profile;

/// Two bounds of the same release, of which the better one counts at each epsilon.
///
/// It bounds the profile of a pair without being one.
#[derive(Clone)]
pub struct MinimumProfile {
    bounds: [Arc<dyn Profile>; 2],
}

impl MinimumProfile {
    /// The minimum of these two bounds.
    pub fn new(first: Arc<dyn Profile>, second: Arc<dyn Profile>) -> Self {
        Self { bounds: [first, second] }
    }

    fn least(&self, value: impl Fn(&dyn Profile) -> f64) -> f64 {
        value(&*self.bounds[0]).min(value(&*self.bounds[1]))
    }
}

impl Profile for MinimumProfile {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        self.least(|bound| bound.delta_upper(epsilon))
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        self.least(|bound| bound.delta_lower(epsilon))
    }

    fn epsilon_upper(&self, delta: f64) -> f64 {
        self.least(|bound| bound.epsilon_upper(delta))
    }

    fn renyi_upper(&self, order: f64) -> f64 {
        self.least(|bound| bound.renyi_upper(order))
    }

    fn is_pair(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{BudgetPair, GaussianPair};

    #[test]
    fn the_better_bound_counts_at_each_epsilon() {
        let (a, b) = (GaussianPair::new(1.0).unwrap(), BudgetPair::new(2.0, 0.0).unwrap());
        let least = MinimumProfile::new(Arc::new(a.clone()), Arc::new(b.clone()));
        assert_eq!(least.delta_upper(0.5), a.delta_upper(0.5));
        assert_eq!(least.delta_upper(2.5), b.delta_upper(2.5));
        assert!(!least.is_pair());
        for delta in [0.5, 0.1, 1e-6] {
            assert_eq!(least.epsilon_upper(delta), a.epsilon_upper(delta).min(b.epsilon_upper(delta)));
        }
        assert_eq!(least.delta_lower(0.5), a.delta_lower(0.5).min(b.delta_lower(0.5)));
        assert_eq!(least.renyi_upper(20.0), a.renyi_upper(20.0).min(b.renyi_upper(20.0)));
    }
}
