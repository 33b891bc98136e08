//! The distinct values of a NumPy column, given as its bytes.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::counting;

use crate::arrays::{DETACH_ABOVE, as_slice};
use crate::detached::detached_above;
use crate::error::CoreResult;

/// A number for each row and the first row of each number.
type Numbered<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<usize>>);

/// The numbers of all rows and the first row of each number, or nothing when more than `most` values differ.
#[pyfunction]
#[pyo3(signature = (bytes, width, most=usize::MAX))]
pub(crate) fn distinct<'py>(
    py: Python<'py>,
    bytes: PyReadonlyArray1<'py, u8>,
    width: usize,
    most: usize,
) -> CoreResult<Option<Numbered<'py>>> {
    let bytes = as_slice("bytes", &bytes)?;
    let found = detached_above(py, DETACH_ABOVE, bytes.len(), || counting::distinct(bytes, width, most))??;
    Ok(found.map(|found| (found.numbers.into_pyarray(py), found.first_rows.into_pyarray(py))))
}
