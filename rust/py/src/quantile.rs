//! Private quantiles over a public list of candidates.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::mechanisms::quantile;

use crate::arrays::as_slice;
use crate::detached::detached;
use crate::error::{CoreError, CoreResult};
use crate::random::stream_key;

/// Positions of the chosen candidates, one for each level.
#[pyfunction]
#[pyo3(signature = (ranks, present, levels, epsilon, rng = None))]
pub(crate) fn private_quantiles<'py>(
    py: Python<'py>,
    ranks: PyReadonlyArray1<'py, u64>,
    present: u64,
    levels: PyReadonlyArray1<'py, f64>,
    epsilon: f64,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<usize>>> {
    let (ranks, levels) = (as_slice("ranks", &ranks)?, as_slice("levels", &levels)?);
    let mut stream = stream_key(rng)?.stream(0);
    let positions = detached(py, || quantile::quantiles(ranks, present, levels, epsilon, &mut stream))??;
    Ok::<_, CoreError>(positions.into_pyarray(py))
}

/// The cost of one quantile, the rounding of its weights included.
#[pyfunction]
pub(crate) fn quantile_epsilon(epsilon: f64, max_total: u64) -> f64 {
    quantile::quantile_epsilon(epsilon, max_total)
}
