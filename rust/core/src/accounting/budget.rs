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

#[cfg(test)]
mod tests {
    use super::*;

    /// The four outcomes: each of two answers, and the truth told where only one data set is possible.
    fn outcomes(epsilon: f64, delta: f64) -> [(f64, f64); 4] {
        let likely = (1.0 - delta) * epsilon.exp() / (1.0 + epsilon.exp());
        let unlikely = (1.0 - delta) / (1.0 + epsilon.exp());
        [(likely, unlikely), (unlikely, likely), (delta, 0.0), (0.0, delta)]
    }

    #[test]
    fn delta_is_the_sum_over_four_outcomes() {
        for (epsilon0, delta0) in [(0.0, 0.0), (0.0, 0.1), (0.3, 0.0), (1.2, 1e-3), (4.0, 0.2)] {
            let pair = BudgetPair::new(epsilon0, delta0).unwrap();
            for epsilon in [-5.0, -1.2, -0.4, 0.0, 0.1, 0.29, 1.0, 1.2, 3.9, 7.0] {
                let excess = |(p, q): (f64, f64)| (p - f64::exp(epsilon) * q).max(0.0);
                let exact: f64 = outcomes(epsilon0, delta0).into_iter().map(excess).sum();
                let (lower, upper) = (pair.delta_lower(epsilon), pair.delta_upper(epsilon));
                assert!(lower <= exact + 2e-16 && exact - 2e-16 <= upper, "{epsilon0} {epsilon}: {lower} {upper}");
                assert!(upper - lower <= 3.0 * MARGIN * upper, "{epsilon0} {epsilon}: {lower} {upper}");
                if epsilon >= 0.0 && exact > delta0 * (1.0 + 1e-9) + 1e-12 {
                    let found = pair.epsilon_upper(exact);
                    assert!((found - epsilon).abs() < 1e-8, "{epsilon0} {epsilon}: {found}");
                    assert!(pair.delta_upper(found) <= exact);
                }
            }
            assert_eq!((pair.delta_upper(epsilon0), pair.delta_upper(f64::NAN)), (delta0, 1.0));
            assert_eq!((pair.epsilon_upper(delta0), pair.epsilon_upper(0.9999)), (epsilon0, 0.0));
            assert!(pair.epsilon_upper(delta0 - 1e-9).is_infinite() && pair.epsilon_upper(f64::NAN).is_infinite());
            assert_eq!(pair.delta_lower(f64::NAN), 0.0);
            assert_eq!((pair.response(), pair.kinks()), (Some((epsilon0, delta0)), vec![-epsilon0, epsilon0]));
        }
    }

    #[test]
    fn renyi_divergences_are_sums_over_two_answers() {
        for epsilon0 in [0.01_f64, 0.3, 1.0, 2.5, 30.0] {
            let pair = BudgetPair::new(epsilon0, 0.0).unwrap();
            for order in [1.1, 1.5, 2.0, 3.0, 7.0, 20.0] {
                let moment = |(p, q): (f64, f64)| q * (p / q).powf(order);
                let sum: f64 = outcomes(epsilon0, 0.0)[..2].iter().copied().map(moment).sum();
                let exact = sum.ln() / (order - 1.0);
                // The logarithm of a number next to one has lost digits here.
                let room = 1e-14 / (order - 1.0);
                let found = pair.renyi_upper(order);
                assert!(found >= exact - room && found <= exact * (1.0 + 2.0 * MARGIN) + room, "{epsilon0} {order}");
            }
        }
        // For small epsilon l epsilon^2/2, less parts in epsilon^2.
        let small = BudgetPair::new(1e-7, 0.0).unwrap().renyi_upper(3.0);
        assert!((small / 1.5e-14 - 1.0).abs() < 1e-10, "{small:e}");
        assert!(BudgetPair::new(1.0, 1e-9).unwrap().renyi_upper(2.0).is_infinite());
        assert_eq!(BudgetPair::new(0.0, 0.0).unwrap().renyi_upper(2.0), 0.0);
        assert!((150.0..150.1).contains(&BudgetPair::new(150.0, 0.0).unwrap().renyi_upper(1e6)));
    }

    #[test]
    fn divergences_of_the_largest_budgets_at_orders_next_to_one_are_numbers() {
        // ln((e^(l e) + e^((1 - l) e))/(1 + e^e))/(l - 1), of which e is left where e^-e is nothing beside l - 1.
        for epsilon in [50.0_f64, 99.0, 101.0, 400.0, 710.0, 900.0, 1e5] {
            for excess in [1e-7, 1e-5, 1e-3, 0.5] {
                let found = BudgetPair::new(epsilon, 0.0).unwrap().renyi_upper(1.0 + excess);
                let order: f64 = 1.0 + excess;
                let exact = epsilon + ((1.0 - 2.0 * order) * epsilon).exp().ln_1p() / (order - 1.0)
                    - (-epsilon).exp().ln_1p() / (order - 1.0);
                assert!(
                    found >= exact * (1.0 - 1e-14) && found <= exact * (1.0 + 2e-11),
                    "{epsilon} {excess}: {found} {exact}"
                );
            }
        }
    }
}
