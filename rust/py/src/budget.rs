//! Rules of budgets, and what they are asked to pay.

use pyo3::prelude::*;
use simplexdp_core::budget::{self, Decision, GaussianRule, PureRule, RenyiRule, Rule, Spend};

use crate::accounting::PyProfile;
use crate::detached::detached;
use crate::error::CoreResult;

/// One spend: the profiles of the ideal mechanism in each direction, and how far its sampler may be off.
#[pyclass(frozen, name = "Spend", module = "simplexdp._core")]
pub(crate) struct PySpend(Spend);

#[pymethods]
impl PySpend {
    #[new]
    fn new(py: Python<'_>, profiles: Vec<Bound<'_, PyProfile>>, sampling_error: f64) -> CoreResult<Self> {
        let profiles = profiles.iter().map(|profile| profile.get().node().shared()).collect();
        Ok(Self(detached(py, || Spend::new(profiles, sampling_error))??))
    }
}

/// A valid budget, as a function from states and spends to states.
#[pyclass(frozen, name = "BudgetRule", module = "simplexdp._core")]
pub(crate) struct PyBudgetRule(Box<dyn Rule>);

#[pymethods]
impl PyBudgetRule {
    /// The numbers of a book in which nothing was spent.
    fn start(&self) -> Vec<f64> {
        self.0.start()
    }

    /// The numbers after a spend and None, or None and why it does not fit.
    fn debit(
        &self,
        py: Python<'_>,
        state: Vec<f64>,
        spend: &Bound<'_, PySpend>,
    ) -> CoreResult<(Option<Vec<f64>>, Option<String>)> {
        let spend = &spend.get().0;
        Ok(match detached(py, || self.0.debit(&state, spend))?? {
            Decision::Paid(state) => (Some(state), None),
            Decision::Refused { reason } => (None, Some(reason)),
        })
    }

    /// The share of the budget that is used.
    fn used(&self, state: Vec<f64>) -> CoreResult<f64> {
        Ok(self.0.used(&state)?)
    }
}

/// Sums of epsilon, and of the chance to tell everything.
#[pyfunction]
pub(crate) fn pure_rule(epsilon: f64, delta: f64) -> CoreResult<PyBudgetRule> {
    Ok(PyBudgetRule(Box::new(PureRule::new(epsilon, delta)?)))
}

/// A pair that is moved by what each spend needs of it.
#[pyfunction]
pub(crate) fn gaussian_rule(epsilon: f64, delta: f64, slack: f64) -> CoreResult<PyBudgetRule> {
    Ok(PyBudgetRule(Box::new(GaussianRule::new(epsilon, delta, Some(slack))?)))
}

/// Sums of Renyi divergences at one order.
#[pyfunction]
pub(crate) fn renyi_rule(epsilon: f64, delta: f64, order: f64) -> CoreResult<PyBudgetRule> {
    Ok(PyBudgetRule(Box::new(RenyiRule::new(epsilon, delta, Some(order))?)))
}

/// The order at which most Gaussian releases fit.
#[pyfunction]
pub(crate) fn renyi_rule_order(py: Python<'_>, epsilon: f64, delta: f64) -> CoreResult<f64> {
    Ok(detached(py, || RenyiRule::new(epsilon, delta, None))??.order())
}

/// The share of an epsilon that is used when so much of it is spent.
#[pyfunction]
pub(crate) fn share_used(spent: f64, epsilon: f64) -> f64 {
    budget::share_used(spent, epsilon)
}
