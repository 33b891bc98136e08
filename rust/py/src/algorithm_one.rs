//! `simplexdp_core::mechanisms::AlgorithmOne`, element by element.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::mechanisms::{AlgorithmOne, squared};

use crate::arrays::map_broadcast;
use crate::error::CoreResult;

type Values<'py> = PyReadonlyArray1<'py, f64>;

/// The largest scale that Algorithm 1 allows, rounded towards privacy.
#[pyfunction]
pub(crate) fn algorithm_one_scale<'py>(
    py: Python<'py>,
    order: Values<'py>,
    epsilon: Values<'py>,
    l2_squared: Values<'py>,
    linf: Values<'py>,
    floor: Values<'py>,
    slack: Values<'py>,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let arguments = [
        ("order", &order),
        ("epsilon", &epsilon),
        ("l2_squared", &l2_squared),
        ("linf", &linf),
        ("floor", &floor),
        ("slack", &slack),
    ];
    map_broadcast(py, arguments, |[order, epsilon, l2_squared, linf, floor, slack]| {
        AlgorithmOne { order, epsilon, l2_squared, linf, floor, slack }.scale()
    })
}

/// Scale and prior of the mechanism that Algorithm 1 allows.
#[pyfunction]
pub(crate) fn algorithm_one_mechanism(
    order: f64,
    epsilon: f64,
    l2_squared: f64,
    linf: f64,
    floor: f64,
    slack: f64,
) -> CoreResult<(f64, f64)> {
    Ok(AlgorithmOne { order, epsilon, l2_squared, linf, floor, slack }.mechanism()?)
}

/// The square of an l2-sensitivity, rounded up.
#[pyfunction]
pub(crate) fn squared_l2(l2: f64) -> f64 {
    squared(l2)
}
