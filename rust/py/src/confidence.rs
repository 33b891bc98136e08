//! `simplexdp_core::confidence`: how far releases may be from what is true.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::confidence::{self, DirichletDraws};
use simplexdp_core::guarantee::Noise;

use crate::arrays::as_slice;
use crate::detached::detached;
use crate::error::{CoreError, CoreResult};

/// The size of the test of each of so many entries that err together with 1 - level.
#[pyfunction]
pub(crate) fn test_size(level: f64, entries: u64) -> CoreResult<f64> {
    Ok(confidence::test_size(level, entries)?)
}

/// The least and the largest count of each entry of a Dirichlet release, rows one after the other.
#[pyfunction]
#[pyo3(signature = (y, totals, *, scale, prior, floor, alpha, step, whole))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of one call from Python")]
pub(crate) fn dirichlet_counts<'py>(
    py: Python<'py>,
    y: PyReadonlyArray1<'py, f64>,
    totals: PyReadonlyArray1<'py, f64>,
    scale: f64,
    prior: PyReadonlyArray1<'py, f64>,
    floor: f64,
    alpha: f64,
    step: f64,
    whole: bool,
) -> CoreResult<Bound<'py, PyArray2<f64>>> {
    let (y, totals, prior) = (as_slice("y", &y)?, as_slice("total", &totals)?, as_slice("prior", &prior)?);
    let draws = DirichletDraws { scale, prior, floor, step, whole };
    let ends = detached(py, || draws.counts(y, totals, alpha))??;
    let rows = ends.len();
    let flat = Array2::from_shape_vec((rows, 2), ends.into_iter().flatten().collect());
    Ok::<_, CoreError>(flat.expect("two ends for each entry").into_pyarray(py))
}

/// For each row of `width` weights what the sum of weights times noise on integers exceeds with a probability of at most alpha.
#[pyfunction]
pub(crate) fn weighted_reaches<'py>(
    py: Python<'py>,
    noise: &str,
    size: f64,
    weights: PyReadonlyArray1<'py, f64>,
    width: usize,
    alpha: f64,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let noise = if noise == "gaussian" { Noise::Gaussian } else { Noise::Laplace };
    let weights = as_slice("weights", &weights)?;
    Ok(detached(py, || confidence::weighted_reaches(noise, size, weights, width, alpha))??.into_pyarray(py))
}
