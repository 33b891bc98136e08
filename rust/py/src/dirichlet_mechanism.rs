//! The Dirichlet mechanism of `simplexdp_core::mechanisms`: calibration, expected losses, the truncated guarantee.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::Error;
use simplexdp_core::mechanisms::{self as core, Budget, Group, Loss, Objective};
use simplexdp_core::sensitivity::Person;

use crate::arrays::as_slice;
use crate::detached::detached;
use crate::error::CoreResult;
use crate::guarantee::adjacency as adjacency_of;

fn loss_of(name: &str) -> Result<Loss, Error> {
    match name {
        "kl" => Ok(Loss::Kl),
        "l1" => Ok(Loss::L1),
        "l2" => Ok(Loss::L2),
        "linf" => Ok(Loss::Linf),
        _ => Err(Error::parameter("loss", "be 'kl', 'l1', 'l2' or 'linf'", name)),
    }
}

/// What a calibration may spend, and on whom.
#[pyclass(frozen, name = "DirichletBudget", module = "simplexdp._core")]
pub(crate) struct PyBudget(Budget);

#[pymethods]
impl PyBudget {
    #[new]
    #[pyo3(signature = (epsilon, delta, adjacency, max_rows=1, floor=0.0, pair_total=None))]
    fn new(
        epsilon: f64,
        delta: f64,
        adjacency: &str,
        max_rows: u64,
        floor: f64,
        pair_total: Option<u64>,
    ) -> CoreResult<Self> {
        let person = Person { adjacency: adjacency_of(adjacency)?, max_rows };
        Ok(Self(Budget { epsilon, delta, person, floor, pair_total }))
    }

    /// The largest scale for smallest priors a <= b.
    fn largest_scale(&self, a: f64, b: f64) -> CoreResult<f64> {
        Ok(self.0.largest_scale(a, b)?)
    }

    /// The smallest prior for a scale.
    fn smallest_prior(&self, scale: f64) -> CoreResult<f64> {
        Ok(self.0.smallest_prior(scale)?)
    }

    /// Prior and scale with the smallest expected loss.
    #[pyo3(signature = (loss, dimension, total, reference = None))]
    fn best_prior(
        &self,
        py: Python<'_>,
        loss: &str,
        dimension: usize,
        total: f64,
        reference: Option<PyReadonlyArray1<'_, f64>>,
    ) -> CoreResult<(f64, f64)> {
        let reference = reference.map(|rows| as_slice("reference", &rows).map(<[f64]>::to_vec)).transpose()?;
        let objective = Objective { loss: loss_of(loss)?, dimension, total, reference };
        Ok(detached(py, || self.0.best_prior(&objective))??)
    }
}

/// Prior plus scale times floor, rounded towards more loss.
#[pyfunction]
pub(crate) fn dirichlet_floor_parameter(prior: f64, scale: f64, floor: f64) -> f64 {
    core::floor_parameter(prior, scale, floor)
}

/// (rho, omega) of the truncated concentrated guarantee at gamma.
#[pyfunction]
pub(crate) fn dirichlet_tcdp(a: f64, scale: f64, gamma: f64, l2_squared: f64, linf: f64) -> CoreResult<(f64, f64)> {
    Ok(core::tcdp(a, scale, gamma, l2_squared, linf)?)
}

/// The expected loss about each row of probabilities, at each row's weight, scale times total.
#[pyfunction]
pub(crate) fn dirichlet_expected_loss<'py>(
    py: Python<'py>,
    loss: &str,
    probabilities: PyReadonlyArray1<'py, f64>,
    prior: PyReadonlyArray1<'py, f64>,
    weights: PyReadonlyArray1<'py, f64>,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let (probabilities, prior) = (as_slice("probabilities", &probabilities)?, as_slice("prior", &prior)?);
    let (loss, weights) = (loss_of(loss)?, as_slice("weights", &weights)?);
    let values = detached(py, || {
        let rows = probabilities.chunks(prior.len().max(1)).zip(weights);
        rows.map(|(row, &weight)| {
            let groups = row.iter().zip(prior).map(|(&probability, &prior)| Group { probability, prior, size: 1.0 });
            core::expected_loss(loss, &groups.collect::<Vec<_>>(), weight)
        })
        .collect::<Vec<_>>()
    })?;
    Ok(values.into_pyarray(py))
}
