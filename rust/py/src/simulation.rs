//! `simplexdp_core::simulation`: plain double draws, for which a seed needs no warning.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::simulation;

use crate::arrays::as_slice;
use crate::detached::detached;
use crate::error::CoreResult;
use crate::random::simulation_key;

/// `repeats` rounds of one gamma draw for every shape.
#[pyfunction]
#[pyo3(signature = (shapes, repeats, rng = None))]
pub(crate) fn simulate_gammas<'py>(
    py: Python<'py>,
    shapes: PyReadonlyArray1<'py, f64>,
    repeats: usize,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let (shapes, key) = (as_slice("shape", &shapes)?, simulation_key(rng)?);
    Ok(detached(py, || simulation::gammas(shapes, repeats, &key))??.into_pyarray(py))
}

/// One beta draw for each pair of shapes, flat.
#[pyfunction]
#[pyo3(signature = (pairs, rng = None))]
pub(crate) fn simulate_betas<'py>(
    py: Python<'py>,
    pairs: PyReadonlyArray1<'py, f64>,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let (pairs, key) = (as_slice("pairs", &pairs)?, simulation_key(rng)?);
    Ok(detached(py, || simulation::betas(pairs, &key))??.into_pyarray(py))
}

/// `rows` Dirichlet rows.
#[pyfunction]
#[pyo3(signature = (alpha, rows, rng = None))]
pub(crate) fn simulate_dirichlet<'py>(
    py: Python<'py>,
    alpha: PyReadonlyArray1<'py, f64>,
    rows: usize,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let (alpha, key) = (as_slice("alpha", &alpha)?, simulation_key(rng)?);
    Ok(detached(py, || simulation::dirichlet(alpha, rows, &key))??.into_pyarray(py))
}
