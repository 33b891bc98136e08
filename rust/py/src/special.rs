//! `simplexdp_core::special`, element by element.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::{Error, special as core};

use crate::arrays::{DETACH_ABOVE, as_slice, collect, map, map_broadcast};
use crate::detached::detached_above;
use crate::error::CoreResult;

type Values<'py> = PyReadonlyArray1<'py, f64>;
type Mapped<'py> = CoreResult<Bound<'py, PyArray1<f64>>>;

/// ln |Gamma(x)|.
#[pyfunction]
pub(crate) fn log_gamma<'py>(py: Python<'py>, x: Values<'py>) -> Mapped<'py> {
    map(py, x, core::log_gamma)
}

/// lgamma(a + r) - lgamma(a).
#[pyfunction]
pub(crate) fn log_gamma_ratio<'py>(py: Python<'py>, a: Values<'py>, r: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("a", &a), ("r", &r)], |[a, r]| Ok(core::log_gamma_ratio(a, r)))
}

/// ln B of rows of `dimension` parameters.
#[pyfunction]
pub(crate) fn log_beta<'py>(py: Python<'py>, a: Values<'py>, dimension: usize) -> Mapped<'py> {
    let a = as_slice("a", &a)?;
    if dimension == 0 {
        return Err(Error::parameter("dimension", "be positive", dimension).into());
    }
    let rows = a.len().div_ceil(dimension);
    let apply = || collect(rows, |row| Ok(core::log_beta(&a[row * dimension..((row + 1) * dimension).min(a.len())])));
    let values = detached_above(py, DETACH_ABOVE, a.len(), apply)??;
    Ok(values.into_pyarray(py))
}

/// psi(x).
#[pyfunction]
pub(crate) fn digamma<'py>(py: Python<'py>, x: Values<'py>) -> Mapped<'py> {
    map(py, x, core::digamma)
}

/// psi'(x).
#[pyfunction]
pub(crate) fn trigamma<'py>(py: Python<'py>, x: Values<'py>) -> Mapped<'py> {
    map(py, x, core::trigamma)
}

/// The derivative of digamma of a whole `order`, 0 to 20.
#[pyfunction]
pub(crate) fn polygamma<'py>(py: Python<'py>, order: Values<'py>, x: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("order", &order), ("x", &x)], |[order, x]| {
        if !(order >= 0.0 && order <= f64::from(core::MAX_ORDER) && order == order.floor()) {
            return Err(Error::parameter("order", "be a whole number from 0 to 20", order));
        }
        Ok(core::polygamma(order as u32, x))
    })
}
