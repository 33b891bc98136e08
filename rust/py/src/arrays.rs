//! Arrays in and out: flat, contiguous slices of doubles; shapes and broadcasting are handled in Python.

use numpy::{
    Element, IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use simplexdp_core::{Error, interrupt};

use crate::detached::detached_above;
use crate::error::CoreResult;

/// Calls shorter than this keep the interpreter: releasing it costs more than they take.
pub(crate) const DETACH_ABOVE: usize = 4096;

/// The array as a slice, or an error that names it.
pub(crate) fn as_slice<'a, T: numpy::Element>(
    name: &'static str,
    array: &'a PyReadonlyArray1<'_, T>,
) -> CoreResult<&'a [T]> {
    Ok(array.as_slice().map_err(|_| Error::parameter(name, "be contiguous", "a strided array"))?)
}

/// Flat numbers as they lie in NumPy's memory: a copy as doubles would be memory that comes and goes with every call.
#[derive(FromPyObject)]
pub(crate) enum Numbers<'py> {
    Reals(PyReadonlyArray1<'py, f64>),
    Integers(PyReadonlyArray1<'py, i64>),
}

/// The object as it is, where it is an array of this type in one piece: what a single release need not coerce. Nothing
/// otherwise, and the caller takes the long way, which refuses what must be refused.
pub(crate) fn ready<'py, T: Element>(object: &Bound<'py, PyAny>) -> Option<PyReadonlyArrayDyn<'py, T>> {
    let array = object.cast::<PyArrayDyn<T>>().ok()?;
    // Subclasses mean something by their values, masks above all.
    if !array.get_type().is(array.py().get_type::<PyUntypedArray>()) {
        return None;
    }
    let array = array.try_readonly().ok()?;
    // Values that lie askew in the memory give no slice.
    (array.is_c_contiguous() && array.as_slice().is_ok()).then_some(array)
}

/// Values in the shape of an array.
pub(crate) fn in_shape<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    values.into_pyarray(py).reshape(shape)
}

/// Values between two looks at the interrupt; the fastest take some nanoseconds.
const ASK_EVERY: usize = 64;

/// The values of `f` at 0, ..., n - 1, in a loop that hears an interrupt.
pub(crate) fn collect<T>(
    n: usize,
    mut f: impl FnMut(usize) -> simplexdp_core::Result<T>,
) -> simplexdp_core::Result<Vec<T>> {
    // Results tell no length to `collect` of the standard library, which would grow the vector again and again.
    let mut values = Vec::with_capacity(n);
    for start in (0..n).step_by(ASK_EVERY) {
        interrupt::check()?;
        for i in start..(start + ASK_EVERY).min(n) {
            values.push(f(i)?);
        }
    }
    Ok(values)
}

/// Maps `f` over one array, with the interpreter released when the array is long.
pub(crate) fn map<'py>(
    py: Python<'py>,
    x: PyReadonlyArray1<'py, f64>,
    f: impl Fn(f64) -> f64 + Send + Sync,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let x = as_slice("x", &x)?;
    let apply = || {
        let mut values = Vec::with_capacity(x.len());
        for some in x.chunks(ASK_EVERY) {
            interrupt::check()?;
            values.extend(some.iter().map(|&x| f(x)));
        }
        Ok(values)
    };
    let values: simplexdp_core::Result<Vec<f64>> = detached_above(py, DETACH_ABOVE, x.len(), apply)?;
    Ok(values?.into_pyarray(py))
}

/// Maps `f` over `N` named arrays, each as long as the longest or of one value that stands for all.
pub(crate) fn map_broadcast<'py, const N: usize>(
    py: Python<'py>,
    arguments: [(&'static str, &PyReadonlyArray1<'py, f64>); N],
    f: impl Fn([f64; N]) -> simplexdp_core::Result<f64> + Send + Sync,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let mut slices: [&[f64]; N] = [&[]; N];
    for (slice, (name, array)) in slices.iter_mut().zip(&arguments) {
        *slice = as_slice(name, array)?;
    }
    let n = slices.iter().map(|slice| slice.len()).find(|&len| len != 1).unwrap_or(1);
    for (slice, (name, _)) in slices.iter().zip(&arguments) {
        if slice.len() != 1 && slice.len() != n {
            return Err(Error::parameter(name, "have one value or as many as the others", slice.len()).into());
        }
    }
    let apply = || {
        let value = |i: usize| f(slices.map(|slice| if slice.len() == 1 { slice[0] } else { slice[i] }));
        collect(n, value)
    };
    let values = detached_above(py, DETACH_ABOVE, n, apply)??;
    Ok(values.into_pyarray(py))
}
