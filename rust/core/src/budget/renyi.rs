//! Sums of Renyi divergences at one order that was fixed at the opening, converted once.
//!
//! With the order fixed, exp((order - 1) (loss so far + what may still be spent)) is a supermartingale, whatever chooses
//! the next cost [FZ21]. The best order at the end would not be.

use std::sync::Arc;

use super::Spend;
use super::rule::{Decision, Opening, Rule, checked, refused, told_apart};
use super::running::Running;
use crate::accounting::{Conversion, Profile, RenyiProfile};
use crate::{Error, Result};

/// Sums of divergences, one for each direction.
#[derive(Debug, Clone)]
pub struct RenyiRule {
    opening: Opening,
    order: f64,
    most: f64,
}

impl RenyiRule {
    /// The rule of this budget at this order; at the order that is best for Gaussian releases if none is named.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless epsilon is positive, delta in (0, 1) and the order above 1 and finite.
    pub fn new(epsilon: f64, delta: f64, order: Option<f64>) -> Result<Self> {
        let opening = Opening::new(epsilon, delta)?;
        if !(delta > 0.0) {
            return Err(Error::parameter("delta", "be above 0 for a Renyi budget", delta));
        }
        let order = match order {
            Some(order) if !(order > 1.0 && order <= 1e9) => {
                return Err(Error::parameter("order", "be above 1 and at most 1e9", order));
            }
            Some(order) => order,
            None => best_order(&opening),
        };
        Ok(Self { opening, order, most: largest_divergence(&opening, order) })
    }

    /// The order.
    pub fn order(&self) -> f64 {
        self.order
    }

    fn read(state: &[f64]) -> Result<[Running; 3]> {
        checked(state.len() == 6 && state.iter().all(|x| x.is_finite()))?;
        checked(state.chunks(2).all(|sum| sum[0] >= 0.0 && sum[0] + sum[1] == sum[0]))?;
        Ok(std::array::from_fn(|i| Running { high: state[2 * i], low: state[2 * i + 1] }))
    }
}

/// The order at which most Gaussian releases fit, nearly: each costs order mu^2/2.
fn best_order(opening: &Opening) -> f64 {
    // By the simple conversion, solved for the divergence; any order is valid.
    let divergence = |excess: f64| {
        let order = 1.0 + excess;
        opening.epsilon + (opening.delta.ln() + order * (1.0 / excess).ln_1p() + excess.ln()) / excess
    };
    let excesses = (0..400).map(|i| (0.05 * f64::from(i) - 5.0).exp());
    let value = |excess: f64| divergence(excess) / (1.0 + excess);
    1.0 + excesses.fold(1.0, |best, next| if value(next) > value(best) { next } else { best })
}

/// The largest divergence that converts to the budget, from below.
fn largest_divergence(opening: &Opening, order: f64) -> f64 {
    let delta = opening.ideal_delta();
    let fits = |divergence: f64| {
        let bound = move |x: f64| if x <= order { divergence } else { f64::INFINITY };
        RenyiProfile::at_order(Arc::new(bound), Conversion::Optimal, order)
            .is_ok_and(|profile| profile.delta_upper(opening.epsilon) <= delta)
    };
    let (mut low, mut high) = (0.0, opening.epsilon);
    if fits(high) {
        return high;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

impl Rule for RenyiRule {
    fn start(&self) -> Vec<f64> {
        vec![0.0; 6]
    }

    fn debit(&self, state: &[f64], spend: &Spend) -> Result<Decision> {
        let [first, second, errors] = Self::read(state)?;
        let costs = [spend.renyi(0, self.order), spend.renyi(spend.directions() - 1, self.order)];
        if !costs.iter().all(|cost| cost.is_finite()) {
            return refused(format!("no Renyi divergence of order {:.6} is known of it", self.order));
        }
        let sums = [first.plus(costs[0]), second.plus(costs[1])];
        let errors = errors.plus(spend.error());
        if !sums.iter().all(|sum| sum.within(self.most)) || !errors.within(self.opening.errors) {
            let left = first.left_of(self.most).min(second.left_of(self.most)).max(0.0);
            let (cost, left) = told_apart(costs[0].max(costs[1]), left);
            return refused(format!("it costs {cost} at order {:.6}, and {left} is left", self.order));
        }
        Ok(Decision::Paid([sums[0], sums[1], errors].into_iter().flat_map(|sum| [sum.high, sum.low]).collect()))
    }

    fn used(&self, state: &[f64]) -> Result<f64> {
        let [first, second, _] = Self::read(state)?;
        Ok(first.share_of(self.most).max(second.share_of(self.most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaussian(square: f64, error: f64) -> Spend {
        let profile: Arc<dyn Profile> = Arc::new(crate::accounting::GaussianPair::new(square.sqrt()).unwrap());
        Spend::new(vec![profile], error).unwrap()
    }

    #[test]
    fn every_sum_is_read_with_its_own_low_digits() {
        let read = RenyiRule::read(&[1.0, 1e-17, 2.0, 2e-17, 3.0, 3e-17]).unwrap().map(|sum| (sum.high, sum.low));
        assert_eq!(read, [(1.0, 1e-17), (2.0, 2e-17), (3.0, 3e-17)]);
    }

    #[test]
    fn the_largest_divergence_is_what_converts_to_the_budget() {
        for (epsilon, delta, order) in [(1.0, 1e-6, 20.0), (0.1, 1e-9, 300.0), (5.0, 1e-5, 4.0)] {
            let rule = RenyiRule::new(epsilon, delta, Some(order)).unwrap();
            let delta_of = |divergence: f64| {
                let bound = move |x: f64| if x <= order { divergence } else { f64::INFINITY };
                let profile = RenyiProfile::at_order(Arc::new(bound), Conversion::Optimal, order).unwrap();
                profile.delta_upper(epsilon)
            };
            assert!(delta_of(rule.most) <= delta && delta_of(rule.most * 1.0001) > delta * (1.0 - 1e-5), "{order}");
        }
    }

    #[test]
    fn no_other_order_takes_many_more_normal_laws_than_the_one_that_is_chosen() {
        for (epsilon, delta) in [(1.0, 1e-6), (0.1, 1e-9), (8.0, 1e-5)] {
            let best = RenyiRule::new(epsilon, delta, None).unwrap();
            // Each costs order mu^2/2.
            let squares = |rule: &RenyiRule| 2.0 * rule.most / rule.order();
            for factor in [0.3, 0.7, 0.9, 1.1, 1.5, 3.0] {
                let other = RenyiRule::new(epsilon, delta, Some(1.0 + factor * (best.order() - 1.0))).unwrap();
                assert!(squares(&other) <= 1.02 * squares(&best), "{epsilon} {delta} {factor}");
            }
        }
    }

    #[test]
    fn sums_of_divergences_and_of_errors_end_at_the_budget() {
        let rule = RenyiRule::new(1.0, 1e-6, Some(20.0)).unwrap();
        let fit = |spend: &Spend| {
            let (mut state, mut n) = (rule.start(), 0);
            while let Decision::Paid(next) = rule.debit(&state, spend).unwrap() {
                (state, n) = (next, n + 1);
                assert!(n < 100);
            }
            n
        };
        let third = 2.0 * rule.most / rule.order() / 3.0;
        assert_eq!((fit(&gaussian(third * 0.999, 0.0)), fit(&gaussian(third * 1.001, 0.0))), (3, 2));
        assert_eq!(fit(&gaussian(third / 100.0, rule.opening.errors * 0.4)), 2);
    }

    #[test]
    fn states_that_no_spends_lead_to_are_refused() {
        let rule = RenyiRule::new(1.0, 1e-6, Some(20.0)).unwrap();
        let good = [0.1, 1e-20, 0.2, 0.0, 0.0, 0.0];
        assert!(rule.used(&good).is_ok() && rule.order() == 20.0);
        for (place, wrong) in [(0, -0.5), (0, f64::NAN), (1, 0.25), (2, f64::INFINITY), (4, -1e-9), (5, 1e-3)] {
            let mut state = good;
            state[place] = wrong;
            assert!(rule.used(&state).is_err(), "{state:?}");
        }
        assert!(rule.used(&good[..5]).is_err() && rule.used(&[0.0; 8]).is_err());
    }

    #[test]
    fn each_direction_is_summed_with_its_own_divergence() {
        let rule = RenyiRule::new(1.0, 1e-6, Some(20.0)).unwrap();
        let profile = |divergence: f64| -> Arc<dyn Profile> {
            let bound = move |_: f64| divergence;
            Arc::new(RenyiProfile::at_order(Arc::new(bound), Conversion::Optimal, 20.0).unwrap())
        };
        // Whichever direction is the dearer one, it decides; and two that are dear in turn cost less than twice the dearer.
        let first = Spend::new(vec![profile(0.09), profile(0.01)], 0.0).unwrap();
        let second = Spend::new(vec![profile(0.01), profile(0.09)], 0.0).unwrap();
        let after = |spends: &[&Spend]| {
            let state = spends.iter().fold(rule.start(), |state, spend| match rule.debit(&state, spend).unwrap() {
                Decision::Paid(state) => state,
                Decision::Refused { reason } => panic!("{reason}"),
            });
            rule.used(&state).unwrap() * rule.most
        };
        for (spends, sum) in [(vec![&first], 0.09), (vec![&second], 0.09), (vec![&first, &second], 0.1)] {
            assert!((after(&spends) - sum).abs() < 1e-12, "{} for {sum}", after(&spends));
        }
    }
}
