//! `simplexdp_core::confidence`: how far releases may be from what is true.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::Error;
use simplexdp_core::confidence::{self, Shape};

use crate::arrays::as_slice;
use crate::error::CoreResult;
use crate::noise::{Fraction, rational};

/// What the error of noise on integers exceeds with a probability of at most alpha.
#[pyfunction]
pub(crate) fn noise_radius(noise: &str, size: Fraction<'_>, alpha: f64) -> CoreResult<u64> {
    let shape = match noise {
        "laplace" => Shape::Laplace,
        "gaussian" => Shape::Gaussian,
        _ => return Err(Error::parameter("noise", "be 'laplace' or 'gaussian'", noise).into()),
    };
    Ok(confidence::radius(shape, &rational("size", size)?, alpha)?)
}

type Ends<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The ends between which the ideal shares of a release lie.
#[pyfunction]
pub(crate) fn ideal_shares<'py>(
    py: Python<'py>,
    y: PyReadonlyArray1<'py, f64>,
    dimension: u64,
    step: f64,
) -> CoreResult<Ends<'py>> {
    let ends = as_slice("y", &y)?.iter().map(|&y| confidence::ideal_share(y, dimension, step));
    let (low, high): (Vec<f64>, Vec<f64>) = ends.unzip();
    Ok((low.into_pyarray(py), high.into_pyarray(py)))
}
