//! `simplexdp_core::counting`: which rows of a person count.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::counting::{self, MODULUS, Rows};

use crate::arrays::{DETACH_ABOVE, as_slice};
use crate::detached::detached_above;
use crate::error::CoreResult;

/// The numbers of texts under a key, below the modulus.
#[pyfunction]
pub(crate) fn keyed_numbers<'py>(
    py: Python<'py>,
    key: &str,
    texts: Vec<String>,
) -> CoreResult<Bound<'py, PyArray1<u32>>> {
    let number = || texts.iter().map(|text| counting::keyed_number(key, text)).collect::<Vec<_>>();
    Ok(detached_above(py, DETACH_ABOVE, texts.len(), number)?.into_pyarray(py))
}

/// What the numbers of texts are smaller than.
#[pyfunction]
pub(crate) fn keyed_modulus() -> u64 {
    MODULUS
}

/// Whether each row is kept, at most `max_rows` for each person.
#[pyfunction]
pub(crate) fn kept_rows<'py>(
    py: Python<'py>,
    persons: PyReadonlyArray1<'py, u32>,
    numbers: PyReadonlyArray1<'py, u32>,
    values: PyReadonlyArray1<'py, u32>,
    order: Option<PyReadonlyArray1<'py, i64>>,
    again: u32,
    max_rows: usize,
) -> CoreResult<Bound<'py, PyArray1<bool>>> {
    let rows = Rows {
        persons: as_slice("persons", &persons)?,
        numbers: as_slice("numbers", &numbers)?,
        values: as_slice("values", &values)?,
        order: order.as_ref().map(|order| as_slice("order", order)).transpose()?,
    };
    let kept = detached_above(py, DETACH_ABOVE, rows.persons.len(), || counting::kept_rows(rows, again, max_rows))??;
    Ok(kept.into_pyarray(py))
}
