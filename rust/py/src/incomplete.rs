//! The incomplete functions of `simplexdp_core::special`, element by element.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::special as core;

use crate::arrays::map_broadcast;
use crate::error::CoreResult;

type Values<'py> = PyReadonlyArray1<'py, f64>;
type Mapped<'py> = CoreResult<Bound<'py, PyArray1<f64>>>;

/// Regularised lower incomplete gamma function: P[Gamma(a) <= x].
#[pyfunction]
pub(crate) fn gammainc<'py>(py: Python<'py>, a: Values<'py>, x: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("a", &a), ("x", &x)], |[a, x]| Ok(core::gamma_p(a, x)))
}

/// Logarithm of `gammainc`, finite where `gammainc` underflows.
#[pyfunction]
pub(crate) fn log_gammainc<'py>(py: Python<'py>, a: Values<'py>, x: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("a", &a), ("x", &x)], |[a, x]| Ok(core::log_gamma_p(a, x)))
}

/// Quantile of the Gamma distribution: the `x` with `gammainc(a, x) = p`.
#[pyfunction]
pub(crate) fn gammainc_inverse<'py>(py: Python<'py>, a: Values<'py>, p: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("a", &a), ("p", &p)], |[a, p]| core::gamma_p_inverse(a, p))
}

/// Regularised upper incomplete gamma function: P[Gamma(a) > x].
#[pyfunction]
pub(crate) fn gammaincc<'py>(py: Python<'py>, a: Values<'py>, x: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("a", &a), ("x", &x)], |[a, x]| Ok(core::gamma_q(a, x)))
}

/// Logarithm of `gammaincc`, finite where `gammaincc` underflows.
#[pyfunction]
pub(crate) fn log_gammaincc<'py>(py: Python<'py>, a: Values<'py>, x: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("a", &a), ("x", &x)], |[a, x]| Ok(core::log_gamma_q(a, x)))
}

/// Upper quantile of the Gamma distribution: the `x` with `gammaincc(a, x) = q`.
#[pyfunction]
pub(crate) fn gammaincc_inverse<'py>(py: Python<'py>, a: Values<'py>, q: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("a", &a), ("q", &q)], |[a, q]| core::gamma_q_inverse(a, q))
}

/// Regularised incomplete beta function: P[Beta(a, b) <= x].
#[pyfunction]
pub(crate) fn betainc<'py>(py: Python<'py>, a: Values<'py>, b: Values<'py>, x: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("a", &a), ("b", &b), ("x", &x)], |[a, b, x]| Ok(core::beta_inc(a, b, x)))
}

/// Logarithm of `betainc`, finite where `betainc` underflows.
#[pyfunction]
pub(crate) fn log_betainc<'py>(py: Python<'py>, a: Values<'py>, b: Values<'py>, x: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("a", &a), ("b", &b), ("x", &x)], |[a, b, x]| Ok(core::log_beta_inc(a, b, x)))
}

/// Quantile of the Beta distribution: the `x` with `betainc(a, b, x) = p`.
#[pyfunction]
pub(crate) fn betainc_inverse<'py>(py: Python<'py>, a: Values<'py>, b: Values<'py>, p: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("a", &a), ("b", &b), ("p", &p)], |[a, b, p]| core::beta_inc_inverse(a, b, p))
}

/// Complement of the regularised incomplete beta function: P[Beta(a, b) > x].
#[pyfunction]
pub(crate) fn betaincc<'py>(py: Python<'py>, a: Values<'py>, b: Values<'py>, x: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("a", &a), ("b", &b), ("x", &x)], |[a, b, x]| Ok(core::beta_inc_c(a, b, x)))
}

/// Logarithm of `betaincc`, finite where `betaincc` underflows.
#[pyfunction]
pub(crate) fn log_betaincc<'py>(py: Python<'py>, a: Values<'py>, b: Values<'py>, x: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("a", &a), ("b", &b), ("x", &x)], |[a, b, x]| Ok(core::log_beta_inc_c(a, b, x)))
}

/// Upper quantile of the Beta distribution: the `x` with `betaincc(a, b, x) = q`.
#[pyfunction]
pub(crate) fn betaincc_inverse<'py>(py: Python<'py>, a: Values<'py>, b: Values<'py>, q: Values<'py>) -> Mapped<'py> {
    map_broadcast(py, [("a", &a), ("b", &b), ("q", &q)], |[a, b, q]| core::beta_inc_c_inverse(a, b, q))
}
