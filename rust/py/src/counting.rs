//! Contingency tables over NumPy columns of any integer type.

use numpy::{IntoPyArray, PyArray1, PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use simplexdp_core::counting::{self, Codes};

use crate::arrays::as_slice;
use crate::detached::detached;
use crate::error::CoreResult;

/// A NumPy column of one of the integer types.
pub(crate) enum Column<'py> {
    I8(PyReadonlyArray1<'py, i8>),
    U8(PyReadonlyArray1<'py, u8>),
    I16(PyReadonlyArray1<'py, i16>),
    U16(PyReadonlyArray1<'py, u16>),
    I32(PyReadonlyArray1<'py, i32>),
    U32(PyReadonlyArray1<'py, u32>),
    I64(PyReadonlyArray1<'py, i64>),
    U64(PyReadonlyArray1<'py, u64>),
}

impl<'py> Column<'py> {
    /// Asks for the type first: to try one after the other takes as long as counting 10,000 rows.
    pub(crate) fn new(column: &Bound<'py, PyAny>) -> PyResult<Self> {
        const RULE: &str = "columns must be one-dimensional integer arrays";
        let wrong = |_| PyTypeError::new_err(RULE);
        let dtype = column.cast::<PyUntypedArray>().map_err(|_| PyTypeError::new_err(RULE))?.dtype();
        match (dtype.kind(), dtype.itemsize()) {
            (b'i', 1) => column.extract().map(Self::I8).map_err(wrong),
            (b'u', 1) => column.extract().map(Self::U8).map_err(wrong),
            (b'i', 2) => column.extract().map(Self::I16).map_err(wrong),
            (b'u', 2) => column.extract().map(Self::U16).map_err(wrong),
            (b'i', 4) => column.extract().map(Self::I32).map_err(wrong),
            (b'u', 4) => column.extract().map(Self::U32).map_err(wrong),
            (b'i', 8) => column.extract().map(Self::I64).map_err(wrong),
            (b'u', 8) => column.extract().map(Self::U64).map_err(wrong),
            _ => Err(PyTypeError::new_err(RULE)),
        }
    }

    pub(crate) fn codes(&self) -> CoreResult<Codes<'_>> {
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
) -> CoreResult<Bound<'py, PyArray1<i64>>> {
    let columns = columns.iter().map(Column::new).collect::<PyResult<Vec<_>>>()?;
    let codes = columns.iter().map(Column::codes).collect::<CoreResult<Vec<_>>>()?;
    let table = detached(py, || counting::count_table(&codes, &cardinalities))??;
    Ok(table.into_pyarray(py))
}
