//! `simplexdp_core::divergence`, row by row.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::divergence as core;

use crate::arrays::{DETACH_ABOVE, as_slice, collect};
use crate::detached::detached_above;
use crate::error::CoreResult;

type Rows<'py> = PyReadonlyArray1<'py, f64>;

/// Renyi divergences of rows of `dimension` concentrations, one order a row.
#[pyfunction]
pub(crate) fn renyi_dirichlet<'py>(
    py: Python<'py>,
    u: Rows<'py>,
    v: Rows<'py>,
    dimension: usize,
    order: Rows<'py>,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let order = as_slice("order", &order)?;
    by_row(py, &u, &v, dimension, |row, u, v| core::renyi_dirichlet(u, v, order[row]))
}

/// KL divergences of rows of `dimension` concentrations.
#[pyfunction]
pub(crate) fn kl_dirichlet<'py>(
    py: Python<'py>,
    u: Rows<'py>,
    v: Rows<'py>,
    dimension: usize,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    by_row(py, &u, &v, dimension, |_, u, v| core::kl_dirichlet(u, v))
}

/// Hellinger distances of rows of `dimension` concentrations.
#[pyfunction]
pub(crate) fn hellinger_dirichlet<'py>(
    py: Python<'py>,
    u: Rows<'py>,
    v: Rows<'py>,
    dimension: usize,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    by_row(py, &u, &v, dimension, |_, u, v| core::hellinger_dirichlet(u, v))
}

fn by_row<'py>(
    py: Python<'py>,
    u: &Rows<'py>,
    v: &Rows<'py>,
    dimension: usize,
    f: impl Fn(usize, &[f64], &[f64]) -> simplexdp_core::Result<f64> + Send + Sync,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let (u, v) = (as_slice("u", u)?, as_slice("v", v)?);
    let apply = || {
        let rows: Vec<_> = u.chunks(dimension).zip(v.chunks(dimension)).collect();
        collect(rows.len(), |row| f(row, rows[row].0, rows[row].1))
    };
    let values = detached_above(py, DETACH_ABOVE, u.len(), apply)??;
    Ok(values.into_pyarray(py))
}
