//! Sums of epsilon: the rule for pure differential privacy, with a sum for the chance of telling everything beside it.
//!
//! The family is RR_E behind a leak S: binary randomised response at E, after everything was told with probability
//! 1 - e^-S. It is the worst pair that is (E, 1 - e^-S)-DP [KOV15], and RR_e x RR_E is below RR_(e+E): so costs (e, s) of
//! curves below RR_e behind s add up (theory D2).

use super::Spend;
use super::rule::{Decision, Opening, Rule, checked, refused, told_apart};
use super::running::Running;
use crate::Result;
use crate::rounding::{ln_1p_down, ln_1p_up};

/// The state: sums of epsilon, of leaks, and of samplers' errors, each as two doubles.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sums {
    pub(super) epsilon: Running,
    pub(super) leak: Running,
    pub(super) errors: Running,
}

impl Sums {
    pub(super) fn numbers(&self) -> Vec<f64> {
        [self.epsilon, self.leak, self.errors].into_iter().flat_map(|sum| [sum.high, sum.low]).collect()
    }

    pub(super) fn read(numbers: &[f64]) -> Result<Self> {
        checked(numbers.len() == 6 && numbers.iter().all(|x| x.is_finite()))?;
        checked(numbers.chunks(2).all(|sum| sum[0] >= 0.0 && sum[0] + sum[1] == sum[0]))?;
        let sum = |i: usize| Running { high: numbers[2 * i], low: numbers[2 * i + 1] };
        Ok(Self { epsilon: sum(0), leak: sum(1), errors: sum(2) })
    }

    fn plus(&self, (epsilon, leak): (f64, f64), error: f64) -> Self {
        Self { epsilon: self.epsilon.plus(epsilon), leak: self.leak.plus(leak), errors: self.errors.plus(error) }
    }
}

/// Sums of epsilon within a fixed one, and of leaks within delta.
#[derive(Debug, Clone)]
pub struct PureRule {
    opening: Opening,
    leak: f64,
}

impl PureRule {
    /// The rule of this budget; with a delta of zero only pure curves can be paid.
    ///
    /// # Errors
    /// [`crate::Error::InvalidParameter`] unless epsilon is positive and delta in [0, 1).
    pub fn new(epsilon: f64, delta: f64) -> Result<Self> {
        let opening = Opening::new(epsilon, delta)?;
        // -ln(1 - delta), from below.
        Ok(Self { opening, leak: -ln_1p_up(-opening.ideal_delta()) })
    }

    pub(super) fn opening(&self) -> &Opening {
        &self.opening
    }

    /// Epsilon, and the leak, that is left.
    pub(super) fn left(&self, sums: &Sums) -> (f64, f64) {
        (sums.epsilon.left_of(self.opening.epsilon), sums.leak.left_of(self.leak).max(0.0))
    }

    /// The sums with a spend, if they are within the budget.
    pub(super) fn paid(&self, sums: &Sums, spend: &Spend) -> Option<Sums> {
        let cost = self.cost(sums, spend)?;
        let then = sums.plus(cost, spend.error());
        let fits = then.epsilon.within(self.opening.epsilon)
            && then.leak.within(self.leak)
            && then.errors.within(self.opening.errors);
        fits.then_some(then)
    }

    /// (e, s) with the curve below RR_e behind the leak s.
    fn cost(&self, sums: &Sums, spend: &Spend) -> Option<(f64, f64)> {
        if let Some(loss) = spend.largest_loss(self.opening.epsilon) {
            return Some((loss, spend.leak()));
        }
        // Any point of the curve will do: the one that takes the same share of both.
        let (epsilon, leak) = self.left(sums);
        let at = |share: f64| {
            let delta = -(-share * leak).exp_m1();
            (spend.epsilon(delta), -ln_1p_down(-delta))
        };
        let (mut low, mut high) = (0.0, 1.0);
        if !(leak > 0.0 && at(high).0 <= epsilon) {
            return None;
        }
        for _ in 0..30 {
            let middle = if low > 0.0 { f64::sqrt(low * high) } else { 0.1 * high };
            if at(middle).0 <= middle * epsilon {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(at(high))
    }

    /// About how many of these spends fit into what is left.
    pub(super) fn affords(&self, sums: &Sums, spend: &Spend) -> f64 {
        let (epsilon, leak) = self.left(sums);
        // A cost of zero fits for ever.
        let often = |left: f64, cost: f64| if cost > 0.0 { left / cost } else { f64::INFINITY };
        self.cost(sums, spend).map_or(0.0, |cost| often(epsilon, cost.0).min(often(leak, cost.1)))
    }

    /// The share of the budget that these sums are.
    pub(super) fn share(&self, sums: &Sums) -> f64 {
        sums.epsilon.share_of(self.opening.epsilon).max(sums.leak.share_of(self.leak))
    }
}

impl Rule for PureRule {
    fn start(&self) -> Vec<f64> {
        Sums::default().numbers()
    }

    fn debit(&self, state: &[f64], spend: &Spend) -> Result<Decision> {
        let sums = Sums::read(state)?;
        if let Some(then) = self.paid(&sums, spend) {
            return Ok(Decision::Paid(then.numbers()));
        }
        if sums == Sums::default() && self.opening.fits_alone(spend) {
            return Ok(Decision::Paid(self.used_up().numbers()));
        }
        let (epsilon, leak) = self.left(&sums);
        match self.cost(&sums, spend) {
            None => refused(format!(
                "no point of its curve is within epsilon {epsilon:.6} at delta {:.3e}",
                -(-leak).exp_m1()
            )),
            Some((cost, told)) => {
                let (cost, left) = told_apart(cost, epsilon.max(0.0));
                refused(format!(
                    "it costs epsilon {cost} and delta {:.3e}, and {left} and {:.3e} are left",
                    -(-told).exp_m1(),
                    -(-leak).exp_m1()
                ))
            }
        }
    }

    fn used(&self, state: &[f64]) -> Result<f64> {
        Ok(self.share(&Sums::read(state)?))
    }
}

impl PureRule {
    /// The state in which nothing is left.
    fn used_up(&self) -> Sums {
        let all = |whole: f64| Running { high: whole, low: 0.0 };
        Sums { epsilon: all(self.opening.epsilon), leak: all(self.leak), errors: all(self.opening.errors) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::accounting::{BudgetPair, GaussianPair, Profile};

    fn spend(profile: impl Profile + 'static, error: f64) -> Spend {
        Spend::new(vec![Arc::new(profile)], error).unwrap()
    }

    fn pair(epsilon: f64, delta: f64) -> BudgetPair {
        BudgetPair::new(epsilon, delta).unwrap()
    }

    /// What is used after each of so many spends; none where the next is refused.
    fn used(rule: &PureRule, spend: &Spend) -> Vec<f64> {
        let (mut state, mut shares) = (rule.start(), vec![]);
        while let Decision::Paid(next) = rule.debit(&state, spend).unwrap() {
            shares.push(rule.used(&next).unwrap());
            state = next;
            assert!(shares.len() < 1000);
        }
        shares
    }

    #[test]
    fn every_sum_is_read_with_its_own_low_digits() {
        let read = Sums::read(&[1.0, 1e-17, 2.0, 2e-17, 3.0, 3e-17]).unwrap();
        let read = [read.epsilon, read.leak, read.errors].map(|sum| (sum.high, sum.low));
        assert_eq!(read, [(1.0, 1e-17), (2.0, 2e-17), (3.0, 3e-17)]);
    }

    #[test]
    fn epsilons_add_up_to_the_budget_and_no_further() {
        let rule = PureRule::new(1.0, 1e-6).unwrap();
        assert_eq!(used(&rule, &spend(pair(0.25, 0.0), 0.0)), [0.25, 0.5, 0.75, 1.0]);
        assert_eq!(used(&rule, &spend(pair(0.25_f64.next_up(), 0.0), 0.0)).len(), 3);
        assert_eq!(used(&PureRule::new(1.0, 0.0).unwrap(), &spend(pair(0.5, 0.0), 0.0)), [0.5, 1.0]);
        assert!(used(&PureRule::new(1.0, 0.0).unwrap(), &spend(pair(0.5, 1e-12), 0.0)).is_empty());
        let affords = rule.affords(&Sums::default(), &spend(pair(0.25, 0.0), 0.0));
        assert!((affords - 4.0).abs() < 1e-9, "{affords}");
    }

    #[test]
    fn leaks_add_up_to_delta_and_no_further() {
        let rule = PureRule::new(1.0, 1e-6).unwrap();
        let cost = spend(pair(0.0625, 4e-7), 0.0);
        // Two leave 2e-7; the leak is the larger share.
        let shares = used(&rule, &cost);
        assert!(shares.len() == 2 && (0.4..0.40001).contains(&shares[0]) && (0.8..0.80001).contains(&shares[1]));
        assert!((rule.affords(&Sums::default(), &cost) - 2.5).abs() < 1e-4);
        let (epsilon, leak) = rule.cost(&Sums::default(), &cost).unwrap();
        assert!((epsilon - 0.0625).abs() < 1e-12 && leak >= -(-4e-7_f64).ln_1p() && leak < 4.000_01e-7, "{leak}");
    }

    #[test]
    fn errors_of_samplers_add_up_to_their_reserve_and_no_further() {
        let rule = PureRule::new(1.0, 1e-6).unwrap();
        // (1 + e) times all errors is 2^-20 of delta.
        let all = 1e-6 * 2.0_f64.powi(-20) / (1.0 + std::f64::consts::E);
        assert_eq!(used(&rule, &spend(pair(0.01, 0.0), 0.45 * all)).len(), 2);
        assert!((rule.opening.errors / all - 1.0).abs() < 1e-14 && rule.opening.errors <= all * (1.0 + 1e-16));
    }

    #[test]
    fn a_curve_without_an_end_is_below_what_it_costs() {
        let rule = PureRule::new(1.0, 1e-6).unwrap();
        for mu in [0.02, 0.1, 0.2] {
            let normal = GaussianPair::new(mu).unwrap();
            let (epsilon, leak) = rule.cost(&Sums::default(), &spend(normal, 0.0)).unwrap();
            let normal = GaussianPair::new(mu).unwrap();
            // Randomised response at epsilon behind the leak is above the curve where its delta at epsilon is.
            assert!(normal.delta_lower(epsilon) <= -(-leak).exp_m1(), "{mu}: {epsilon} {leak}");
            // The same share of both, or the leak more where the last step fell short.
            assert!(epsilon <= leak / rule.leak && epsilon >= 0.98 * leak / rule.leak, "{mu}: {epsilon} {leak}");
        }
        assert!(rule.cost(&Sums::default(), &spend(GaussianPair::new(3.0).unwrap(), 0.0)).is_none());
    }

    #[test]
    fn one_release_may_use_up_everything_if_it_is_the_first_and_fits_with_its_error() {
        // A normal law with delta 1e-6 at epsilon 1; of a smaller one a share of the budget, and never after another.
        let (mut low, mut high) = (0.01, 1.0);
        while high - low > 1e-12 {
            let mu = 0.5 * (low + high);
            if GaussianPair::new(mu).unwrap().delta_upper(1.0) <= 1e-6 { low = mu } else { high = mu }
        }
        let rule = PureRule::new(1.0, 1e-6).unwrap();
        let normal = |share: f64| GaussianPair::new(share * low).unwrap();
        assert_eq!(used(&rule, &spend(normal(1.0), 0.0)), [1.0]);
        assert!(used(&rule, &spend(normal(1.0 + 1e-6), 0.0)).is_empty());
        assert!(used(&rule, &spend(normal(1.0), 1e-9)).is_empty() && used(&rule, &spend(normal(1.0), 0.1)).is_empty());
        // Its delta is a share of 1e-6 that an error may fill up: (1 + e) errors.
        let left = (1e-6 - normal(0.99).delta_upper(1.0)) / (1.0 + std::f64::consts::E);
        assert_eq!(used(&rule, &spend(normal(0.99), 0.999 * left)), [1.0]);
        assert!(used(&rule, &spend(normal(0.99), 1.001 * left)).is_empty());
        let Decision::Paid(state) = rule.debit(&rule.start(), &spend(pair(1e-9, 0.0), 0.0)).unwrap() else {
            panic!("a cost of nearly nothing");
        };
        assert!(matches!(rule.debit(&state, &spend(normal(1.0), 0.0)).unwrap(), Decision::Refused { .. }));
    }

    #[test]
    fn states_that_no_spends_lead_to_are_refused() {
        let rule = PureRule::new(1.0, 1e-6).unwrap();
        let good = [0.5, 1e-20, 1e-9, 0.0, 0.0, 0.0];
        assert!(rule.used(&good).is_ok());
        for (place, wrong) in [(0, -0.5), (0, f64::NAN), (1, 0.25), (2, f64::INFINITY), (4, -1e-9), (5, 1e-3)] {
            let mut state = good;
            state[place] = wrong;
            assert!(rule.used(&state).is_err(), "{state:?}");
        }
        assert!(rule.used(&good[..5]).is_err() && rule.used(&[]).is_err() && rule.used(&[0.0; 8]).is_err());
    }
}
