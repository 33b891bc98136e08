//! A rule: from what a book holds and what is asked to what it holds then.

use super::Spend;
use crate::{Error, Result};

/// What a rule answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// The spend is paid; this is left.
    Paid(Vec<f64>),
    /// It does not fit; nothing was spent.
    Refused {
        /// What there is not enough of.
        reason: String,
    },
}

/// A valid budget whose costs may depend on earlier answers: a pure state machine.
///
/// A state is a few numbers that only the rule reads; every rule of the same settings reads them alike. Whatever is
/// released, everything together satisfies the (epsilon, delta) of the opening if each release was paid first, from the
/// state that the last one left (docs/theory/budgets.md).
pub trait Rule: Send + Sync {
    /// The state of a book in which nothing was spent.
    fn start(&self) -> Vec<f64>;

    /// Pays a spend.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a state that no spends lead to; [`Error::Numerical`] where the curve cannot be
    /// evaluated; [`Error::Interrupted`]. Nothing was spent then.
    fn debit(&self, state: &[f64], spend: &Spend) -> Result<Decision>;

    /// The share of the budget that is used, in [0, 1].
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a state that no spends lead to.
    fn used(&self, state: &[f64]) -> Result<f64>;
}

/// The budget that a book is opened with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Opening {
    pub(super) epsilon: f64,
    pub(super) delta: f64,
    /// The part of delta that is kept for the errors of samplers, and the total of errors that it covers:
    /// (1 + e^epsilon) errors = reserve.
    pub(super) reserve: f64,
    pub(super) errors: f64,
}

/// The share of delta that is kept for the errors of samplers. Ours are below 2^-64 for a release.
const RESERVE: f64 = 1.0 / (1u64 << 20) as f64;

impl Opening {
    pub(super) fn new(epsilon: f64, delta: f64) -> Result<Self> {
        if !(epsilon > 0.0 && epsilon.is_finite()) {
            return Err(Error::parameter("epsilon", "be positive and finite", epsilon));
        }
        if !(0.0..1.0).contains(&delta) {
            return Err(Error::parameter("delta", "be in [0, 1)", delta));
        }
        let reserve = delta * RESERVE;
        let errors = reserve / (1.0 + epsilon.exp()) * (1.0 - 1e-15);
        Ok(Self { epsilon, delta, reserve, errors })
    }

    /// What is left of delta for the ideal mechanisms.
    pub(super) fn ideal_delta(&self) -> f64 {
        crate::rounding::sum_down(self.delta, -self.reserve)
    }

    /// Whether one release may use up all of the budget, errors of its sampler included.
    pub(super) fn fits_alone(&self, spend: &Spend) -> bool {
        let error = spend.error();
        let added = if error > 0.0 { error * (1.0 + self.epsilon.exp()) * (1.0 + 1e-15) } else { 0.0 };
        let left = crate::rounding::sum_down(self.delta, -added);
        left >= 0.0 && (spend.delta(self.epsilon) <= left || spend.epsilon(left) <= self.epsilon)
    }
}

/// A refusal.
pub(super) fn refused(reason: impl Into<String>) -> Result<Decision> {
    Ok(Decision::Refused { reason: reason.into() })
}

/// A cost and what is left of a budget in six places, or in all of theirs where six do not tell them apart: ten times
/// the double 0.1 is more than 1, and of the last one "0.100000" would be left.
pub(super) fn told_apart(cost: f64, left: f64) -> (String, String) {
    let short = (format!("{cost:.6}"), format!("{left:.6}"));
    if short.0 == short.1 { (cost.to_string(), left.to_string()) } else { short }
}

/// Checks a number of a state.
pub(super) fn checked(valid: bool) -> Result<()> {
    if valid { Ok(()) } else { Err(Error::parameter("state", "be one that the rule has returned", "another")) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::accounting::{BudgetPair, GaussianPair, Profile};

    #[test]
    fn what_is_kept_for_samplers_covers_the_errors_it_says() {
        for (epsilon, delta) in [(0.1, 1e-6), (1.0, 1e-5), (8.0, 0.5), (30.0, 1e-9)] {
            let opening = Opening::new(epsilon, delta).unwrap();
            let used = opening.errors * (1.0 + f64::exp(epsilon)) + opening.ideal_delta();
            assert!(used <= delta * (1.0 + 1e-16) && used >= delta * (1.0 - 1e-14), "{epsilon} {delta}: {used:e}");
            // About a millionth of delta is kept, 2^-20.
            assert!(((delta - opening.ideal_delta()) / delta * 1_048_576.0 - 1.0).abs() < 1e-9);
        }
        let none = Opening::new(1.0, 0.0).unwrap();
        assert_eq!((none.errors, none.ideal_delta()), (0.0, 0.0));
        for (epsilon, delta) in
            [(0.0, 0.1), (f64::INFINITY, 0.1), (f64::NAN, 0.1), (1.0, 1.0), (1.0, -0.1), (1.0, f64::NAN)]
        {
            assert!(Opening::new(epsilon, delta).is_err(), "{epsilon} {delta}");
        }
    }

    #[test]
    fn a_release_fits_alone_as_far_as_its_delta_and_its_error_together() {
        let pair = || -> Vec<Arc<dyn Profile>> { vec![Arc::new(GaussianPair::new(0.5).unwrap())] };
        let delta = pair()[0].delta_upper(1.0);
        let fits = |budget: f64, error: f64| {
            Opening::new(1.0, budget).unwrap().fits_alone(&Spend::new(pair(), error).unwrap())
        };
        assert!(fits(delta * (1.0 + 1e-9), 0.0) && !fits(delta * (1.0 - 1e-9), 0.0));
        // An error of one part in ten thousand of delta, counted 1 + e times.
        let error = 1e-4 * delta;
        let whole = delta + error * (1.0 + std::f64::consts::E);
        assert!(fits(whole * (1.0 + 1e-9), error) && !fits(whole * (1.0 - 1e-9), error));
        assert!(!fits(error, error));
        // Exactly the budget fits; epsilon alone decides where delta is none.
        let response = |e: f64| Spend::new(vec![Arc::new(BudgetPair::new(e, 0.0).unwrap())], 0.0).unwrap();
        let pure = Opening::new(1.0, 0.0).unwrap();
        assert!(pure.fits_alone(&response(1.0)) && !pure.fits_alone(&response(1.0_f64.next_up())));
    }

    #[test]
    fn numbers_that_look_alike_are_written_out() {
        assert_eq!(told_apart(0.25, 0.1), ("0.250000".to_owned(), "0.100000".to_owned()));
        let (cost, left) = told_apart(0.1, 0.099_999_999_999);
        assert!(cost == "0.1" && left == "0.099999999999", "{cost} {left}");
        assert!(checked(true).is_ok() && checked(false).is_err());
        assert_eq!(refused("no").unwrap(), Decision::Refused { reason: "no".to_owned() });
    }
}
