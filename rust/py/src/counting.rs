//! Contingency tables over NumPy columns of any integer type.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use simplexdp_core::counting::{self, Codes};

use crate::arrays::as_slice;
use crate::error::CoreResult;

/// A NumPy column of one of the integer types.
#[derive(FromPyObject)]
enum Column<'py> {
    I8(PyReadonlyArray1<'py, i8>),
    U8(PyReadonlyArray1<'py, u8>),
    I16(PyReadonlyArray1<'py, i16>),
    U16(PyReadonlyArray1<'py, u16>),
    I32(PyReadonlyArray1<'py, i32>),
    U32(PyReadonlyArray1<'py, u32>),
    I64(PyReadonlyArray1<'py, i64>),
    U64(PyReadonlyArray1<'py, u64>),
}

impl Column<'_> {
    fn codes(&self) -> CoreResult<Codes<'_>> {
        const NAME: &str = "columns";
        Ok(match self {
            Self::I8(array) => Codes::I8(as_slice(NAME, array)?),
            Self::U8(array) => Codes::U8(as_slice(NAME, array)?),
            Self::I16(array) => Codes::I16(as_slice(NAME, array)?),
            Self::U16(array) => Codes::U16(as_slice(NAME, array)?),
            Self::I32(array) => Codes::I32(as_slice(NAME, array)?),
            Self::U32(array) => Codes::U32(as_slice(NAME, array)?),
            Self::I64(array) => Codes::I64(as_slice(NAME, array)?),
            Self::U64(array) => Codes::U64(as_slice(NAME, array)?),
        })
    }
}

/// Counts of every combination of codes, last column fastest.
#[pyfunction]
pub(crate) fn count_table<'py>(
    py: Python<'py>,
    columns: Vec<Bound<'py, PyAny>>,
    cardinalities: Vec<usize>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let columns = columns
        .iter()
        .map(|column| {
            column.extract().map_err(|_| PyTypeError::new_err("columns must be one-dimensional integer arrays"))
        })
        .collect::<PyResult<Vec<Column<'py>>>>()?;
    let codes = columns.iter().map(Column::codes).collect::<CoreResult<Vec<_>>>()?;
    let table = py.detach(|| counting::count_table(&codes, &cardinalities)).map_err(crate::error::CoreError::from)?;
    Ok(table.into_pyarray(py))
}
