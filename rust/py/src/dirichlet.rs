//! `simplexdp_core::sampling::dirichlet`, many rows at a time.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::sampling::dirichlet::{ExactDirichlet, ExactGamma};

use crate::arrays::as_slice;
use crate::detached::detached_above;
use crate::error::CoreResult;
use crate::random::stream_key;

/// Rows with fewer values in all than this are drawn with the interpreter held: releasing it costs a tenth of that time.
const DETACH_ABOVE: usize = 64;

/// Exact Dirichlet rows for rows of counts: multiples of 2^-resolution_bits that sum to one.
#[pyfunction]
#[pyo3(signature = (counts, scale, prior, resolution_bits = 32, threads = 1, rng = None))]
pub(crate) fn dirichlet_release<'py>(
    py: Python<'py>,
    counts: PyReadonlyArray1<'py, f64>,
    scale: f64,
    prior: PyReadonlyArray1<'py, f64>,
    resolution_bits: u32,
    threads: usize,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let (counts, key) = (as_slice("counts", &counts)?, stream_key(rng)?);
    let law = ExactDirichlet::new(scale, as_slice("prior", &prior)?, resolution_bits)?;
    let values = detached_above(py, DETACH_ABOVE, counts.len(), || law.release_values(counts, &key, threads))??;
    Ok(values.into_pyarray(py))
}

/// The same rows in whole units of the grid.
#[pyfunction]
#[pyo3(signature = (counts, scale, prior, resolution_bits = 32, threads = 1, rng = None))]
pub(crate) fn dirichlet_release_units<'py>(
    py: Python<'py>,
    counts: PyReadonlyArray1<'py, f64>,
    scale: f64,
    prior: PyReadonlyArray1<'py, f64>,
    resolution_bits: u32,
    threads: usize,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<u64>>> {
    let (counts, key) = (as_slice("counts", &counts)?, stream_key(rng)?);
    let law = ExactDirichlet::new(scale, as_slice("prior", &prior)?, resolution_bits)?;
    let units = detached_above(py, DETACH_ABOVE, counts.len(), || law.release(counts, &key, threads))??;
    Ok(units.into_pyarray(py))
}

/// Independent exact gamma variates of unit rate for rows of counts, in whole units of 2^-resolution_bits.
#[pyfunction]
#[pyo3(signature = (counts, scale, prior, resolution_bits = 32, threads = 1, rng = None))]
pub(crate) fn gamma_release_units<'py>(
    py: Python<'py>,
    counts: PyReadonlyArray1<'py, f64>,
    scale: f64,
    prior: PyReadonlyArray1<'py, f64>,
    resolution_bits: u32,
    threads: usize,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<u64>>> {
    let (counts, key) = (as_slice("counts", &counts)?, stream_key(rng)?);
    let law = ExactGamma::new(scale, as_slice("prior", &prior)?, resolution_bits)?;
    let units = detached_above(py, DETACH_ABOVE, counts.len(), || law.release(counts, &key, threads))??;
    Ok(units.into_pyarray(py))
}
