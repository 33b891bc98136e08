//! The distinct values of a NumPy column, given as its bytes, or of texts in Arrow's buffers.

use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::Error;
use simplexdp_core::counting::{self, Codes, Offsets, Texts};

use crate::arrays::{DETACH_ABOVE, as_slice};
use crate::counting::Column;
use crate::detached::{detached, detached_above};
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

/// One part of a column of texts: 32 or 64 bits for each offset, the bytes, and, where some rows are missing, the map of
/// those that are not and how many of its bits stand before the first row.
type Part<'py> = (Bound<'py, PyAny>, PyReadonlyArray1<'py, u8>, Option<(PyReadonlyArray1<'py, u8>, usize)>);

enum OffsetArray<'py> {
    Short(PyReadonlyArray1<'py, i32>),
    Long(PyReadonlyArray1<'py, i64>),
}

/// The same for texts in Arrow's buffers, in one part or several; missing ones are one value.
#[pyfunction]
pub(crate) fn distinct_texts<'py>(py: Python<'py>, parts: Vec<Part<'py>>) -> CoreResult<Numbered<'py>> {
    let offsets = parts.iter().map(|(offsets, ..)| match offsets.extract() {
        Ok(short) => Ok(OffsetArray::Short(short)),
        Err(_) => Ok(OffsetArray::Long(offsets.extract()?)),
    });
    let offsets = offsets.collect::<PyResult<Vec<_>>>()?;
    let texts = parts.iter().zip(&offsets).map(|((_, bytes, valid), offsets)| {
        Ok(Texts {
            offsets: match offsets {
                OffsetArray::Short(offsets) => Offsets::Short(as_slice("offsets", offsets)?),
                OffsetArray::Long(offsets) => Offsets::Long(as_slice("offsets", offsets)?),
            },
            bytes: as_slice("bytes", bytes)?,
            valid: valid
                .as_ref()
                .map(|(bits, first)| CoreResult::Ok((as_slice("valid", bits)?, *first)))
                .transpose()?,
        })
    });
    let texts = texts.collect::<CoreResult<Vec<_>>>()?;
    let found = detached(py, || counting::distinct_texts(&texts))??;
    Ok((found.numbers.into_pyarray(py), found.first_rows.into_pyarray(py)))
}

/// The code of each row, from its number.
#[pyfunction]
pub(crate) fn coded<'py>(
    py: Python<'py>,
    numbers: PyReadonlyArray1<'py, u32>,
    codes: &Bound<'py, PyAny>,
) -> CoreResult<Bound<'py, PyAny>> {
    let numbers = as_slice("numbers", &numbers)?;
    Ok(match Column::new(codes)?.codes()? {
        Codes::I8(codes) => looked_up(py, numbers, codes)?,
        Codes::I16(codes) => looked_up(py, numbers, codes)?,
        Codes::I32(codes) => looked_up(py, numbers, codes)?,
        Codes::I64(codes) => looked_up(py, numbers, codes)?,
        _ => return Err(Error::parameter("codes", "be signed", "unsigned ones").into()),
    })
}

fn looked_up<'py, C: Element + Copy + Default + Send + Sync>(
    py: Python<'py>,
    numbers: &[u32],
    codes: &[C],
) -> CoreResult<Bound<'py, PyAny>> {
    let coded = detached_above(py, DETACH_ABOVE, numbers.len(), || counting::coded(numbers, codes))??;
    Ok(coded.into_pyarray(py).into_any())
}
