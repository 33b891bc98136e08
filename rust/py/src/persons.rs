//! `simplexdp_core::counting`: which rows of a person count.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use simplexdp_core::counting::{self, Counted, Crowded, MODULUS, Rows, Word};

use crate::arrays::{DETACH_ABOVE, as_slice};
use crate::counting::Column;
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

/// The numbers of integers under a key that ends with what stands before their digits.
#[pyfunction]
pub(crate) fn keyed_numbers_of_integers<'py>(
    py: Python<'py>,
    key: &str,
    integers: PyReadonlyArray1<'py, i64>,
) -> CoreResult<Bound<'py, PyArray1<u32>>> {
    let integers = as_slice("integers", &integers)?;
    let number = || counting::keyed_numbers_of_integers(key, integers);
    Ok(detached_above(py, DETACH_ABOVE, integers.len(), number)??.into_pyarray(py))
}

/// Rows and where those of each person end.
type Crowds<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// The rows of persons who have more than `max_rows`, person by person.
#[pyfunction]
pub(crate) fn crowded_rows<'py>(
    py: Python<'py>,
    persons: &Bound<'py, PyAny>,
    max_rows: usize,
) -> CoreResult<Crowds<'py>> {
    let found = match Column::new(persons)? {
        Column::U32(persons) => crowded(py, as_slice("persons", &persons)?, max_rows)?,
        Column::I64(persons) => crowded(py, as_slice("persons", &persons)?, max_rows)?,
        _ => return Err(other_persons().into()),
    };
    Ok((found.rows.into_pyarray(py), found.ends.into_pyarray(py)))
}

/// How many rows the person of each row has, `most` where they are more.
#[pyfunction]
pub(crate) fn rows_of_each<'py>(
    py: Python<'py>,
    persons: &Bound<'py, PyAny>,
    most: u8,
) -> CoreResult<Bound<'py, PyArray1<u8>>> {
    let found = match Column::new(persons)? {
        Column::U32(persons) => sizes(py, as_slice("persons", &persons)?, most)?,
        Column::I64(persons) => sizes(py, as_slice("persons", &persons)?, most)?,
        _ => return Err(other_persons().into()),
    };
    Ok(found.into_pyarray(py))
}

fn other_persons() -> PyErr {
    PyTypeError::new_err("persons must be an array of uint32 or int64")
}

fn sizes<W: Word>(py: Python<'_>, persons: &[W], most: u8) -> CoreResult<Vec<u8>> {
    Ok(detached_above(py, DETACH_ABOVE, persons.len(), || counting::rows_of_each(persons, most))??)
}

fn crowded<W: Word>(py: Python<'_>, persons: &[W], max_rows: usize) -> CoreResult<Crowded> {
    Ok(detached_above(py, DETACH_ABOVE, persons.len(), || counting::crowded_rows(persons, max_rows))??)
}

/// A column: the level of each row, the number of each level, and whether levels are those of all rows.
type Level<'py> = (PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u32>, bool);

/// The sums of the numbers of what is counted in these rows.
#[pyfunction]
pub(crate) fn values_of_rows<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray1<'py, u32>,
    columns: Vec<Level<'py>>,
) -> CoreResult<Bound<'py, PyArray1<u32>>> {
    let rows = as_slice("rows", &rows)?;
    let mut counted = Vec::with_capacity(columns.len());
    for (levels, numbers, of_all) in &columns {
        let (levels, numbers) = (as_slice("levels", levels)?, as_slice("numbers", numbers)?);
        counted.push(Counted { levels, numbers, of_all: *of_all });
    }
    let values = || counting::values_of_rows(rows, &counted);
    Ok(detached_above(py, DETACH_ABOVE, rows.len(), values)??.into_pyarray(py))
}

/// Whether each row is kept, at most `max_rows` for each person; rows of a person stand side by side.
#[pyfunction]
pub(crate) fn kept_rows<'py>(
    py: Python<'py>,
    ends: PyReadonlyArray1<'py, u32>,
    numbers: PyReadonlyArray1<'py, u32>,
    values: PyReadonlyArray1<'py, u32>,
    order: Option<PyReadonlyArray1<'py, i64>>,
    again: u32,
    max_rows: usize,
) -> CoreResult<Bound<'py, PyArray1<bool>>> {
    let rows = Rows {
        ends: as_slice("ends", &ends)?,
        numbers: as_slice("numbers", &numbers)?,
        values: as_slice("values", &values)?,
        order: order.as_ref().map(|order| as_slice("order", order)).transpose()?,
    };
    let kept = detached_above(py, DETACH_ABOVE, rows.values.len(), || counting::kept_rows(rows, again, max_rows))??;
    Ok(kept.into_pyarray(py))
}
