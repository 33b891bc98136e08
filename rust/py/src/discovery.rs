//! `simplexdp_core::guarantee`: categories above a noisy threshold.

use pyo3::prelude::*;
use simplexdp_core::guarantee::{Discovery, least_threshold};

use crate::detached::detached;
use crate::error::CoreResult;
use crate::guarantee::{PyGuarantee, adjacency};
use crate::noise::{Fraction, rational};

/// What publishing categories above a noisy threshold guarantees, noisy counts included.
#[pyfunction]
pub(crate) fn discovery_guarantee(
    adjacency: &str,
    scale: Fraction<'_>,
    threshold: u64,
    least: u64,
    max_rows: u64,
) -> CoreResult<PyGuarantee> {
    let discovery = Discovery { scale: rational("scale", scale)?, threshold, least, max_rows };
    Ok(PyGuarantee::new(discovery.guarantee(self::adjacency(adjacency)?)?))
}

/// The least threshold at which a person is seen with at most this chance.
#[pyfunction]
pub(crate) fn discovery_threshold(
    py: Python<'_>,
    adjacency: &str,
    scale: Fraction<'_>,
    max_rows: u64,
    delta: f64,
) -> CoreResult<u64> {
    let (scale, neighbours) = (rational("scale", scale)?, self::adjacency(adjacency)?);
    Ok(detached(py, || least_threshold(&scale, max_rows, delta, neighbours))??)
}
