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
