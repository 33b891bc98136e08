//! `simplexdp_core::sampling`: exact discrete noise and urns.

use numpy::{IntoPyArray, PyArray1, PyArrayDyn, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use simplexdp_core::sampling::{self, LARGEST_VALUE, PolyaUrn, Rational, exact_integer};
use simplexdp_core::{Error, memory};

use crate::arrays::{Numbers, as_slice, in_shape, ready};
use crate::detached::detached_above;
use crate::error::CoreResult;
use crate::random::{simulation_key, stream_key};

/// Fewer draws than this are made with the interpreter held: releasing it costs a tenth of that time.
const DETACH_ABOVE: usize = 1024;

/// Discrete Laplace or discrete Gaussian noise, its table made.
#[pyclass(frozen, name = "DiscreteNoise")]
pub(crate) struct DiscreteNoise(sampling::DiscreteNoise);

/// Numerator and denominator.
pub(crate) type Fraction<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// A positive fraction from Python integers of any length.
pub(crate) fn rational(name: &'static str, fraction: Fraction<'_>) -> CoreResult<Rational> {
    let integer = |value: &Bound<'_, PyAny>| -> PyResult<_> {
        let length = value.call_method0("bit_length")?.extract::<usize>()?.div_ceil(8);
        let bytes = value.call_method1("to_bytes", (length, "little"))?;
        Ok(exact_integer(bytes.cast::<PyBytes>()?.as_bytes()))
    };
    Ok(Rational::new(name, integer(&fraction.0)?, integer(&fraction.1)?)?)
}

#[pymethods]
impl DiscreteNoise {
    #[staticmethod]
    fn laplace(scale: (Bound<'_, PyAny>, Bound<'_, PyAny>)) -> CoreResult<Self> {
        Ok(Self(sampling::DiscreteNoise::laplace(&rational("scale", scale)?)?))
    }

    #[staticmethod]
    fn gaussian(sigma: (Bound<'_, PyAny>, Bound<'_, PyAny>)) -> CoreResult<Self> {
        Ok(Self(sampling::DiscreteNoise::gaussian(&rational("sigma", sigma)?)?))
    }

    /// Noise alone, for experiments: a seed needs no warning.
    #[pyo3(signature = (size, threads = 1, rng = None))]
    fn draws<'py>(
        &self,
        py: Python<'py>,
        size: usize,
        threads: usize,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Bound<'py, PyArray1<i64>>> {
        let key = simulation_key(rng)?;
        Ok(detached_above(py, DETACH_ABOVE, size, || self.0.draws(size, &key, threads))??.into_pyarray(py))
    }

    #[pyo3(signature = (values, threads = 1, rng = None))]
    fn release<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray1<'py, i64>,
        threads: usize,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Bound<'py, PyArray1<i64>>> {
        let (values, key) = (as_slice("values", &values)?, stream_key(rng)?);
        Ok(detached_above(py, DETACH_ABOVE, values.len(), || self.0.release(values, &key, threads))??.into_pyarray(py))
    }

    /// The release of an array of integers as it is, of at most `most` values; nothing for what must be coerced first.
    #[pyo3(signature = (values, most, rng = None))]
    fn release_ready<'py>(
        &self,
        values: &Bound<'py, PyAny>,
        most: usize,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Option<Bound<'py, PyArrayDyn<i64>>>> {
        let Some(array) = ready::<i64>(values).filter(|array| array.ndim() > 0 && array.len() <= most) else {
            return Ok(None);
        };
        let (py, flat, key) = (values.py(), flat(&array)?, stream_key(rng)?);
        let noisy = detached_above(py, DETACH_ABOVE, flat.len(), || self.0.release(flat, &key, 1))??;
        Ok(Some(in_shape(py, noisy, array.shape())?))
    }

    /// The release on a grid of an array of doubles or integers as it is, of at most `most` values.
    #[pyo3(signature = (values, log_resolution, most, rng = None))]
    fn release_ready_on_grid<'py>(
        &self,
        values: &Bound<'py, PyAny>,
        log_resolution: i32,
        most: usize,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        let (py, fits) = (values.py(), |shape: &[usize], len| !shape.is_empty() && len <= most);
        if let Some(array) = ready::<f64>(values).filter(|array| fits(array.shape(), array.len())) {
            let (flat, key) = (flat(&array)?, stream_key(rng)?);
            let release = || self.0.release_on_grid(flat, log_resolution, &key, 1);
            let noisy = detached_above(py, DETACH_ABOVE, flat.len(), release)??;
            return Ok(Some(in_shape(py, noisy, array.shape())?));
        }
        if let Some(array) = ready::<i64>(values).filter(|array| fits(array.shape(), array.len())) {
            let (flat, key) = (flat(&array)?, stream_key(rng)?);
            let release = || self.0.release_integers_on_grid(flat, log_resolution, &key, 1);
            let noisy = detached_above(py, DETACH_ABOVE, flat.len(), release)??;
            return Ok(Some(in_shape(py, noisy, array.shape())?));
        }
        Ok(None)
    }

    #[pyo3(signature = (values, log_resolution, threads = 1, rng = None))]
    fn release_on_grid<'py>(
        &self,
        py: Python<'py>,
        values: Numbers<'py>,
        log_resolution: i32,
        threads: usize,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        let key = stream_key(rng)?;
        let noisy = match values {
            Numbers::Reals(values) => {
                let values = as_slice("values", &values)?;
                let release = || self.0.release_on_grid(values, log_resolution, &key, threads);
                detached_above(py, DETACH_ABOVE, values.len(), release)??
            }
            Numbers::Integers(values) => {
                let values = as_slice("values", &values)?;
                let release = || self.0.release_integers_on_grid(values, log_resolution, &key, threads);
                detached_above(py, DETACH_ABOVE, values.len(), release)??
            }
        };
        Ok(noisy.into_pyarray(py))
    }
}

/// The values of an array that [`ready`] found to be in one piece.
fn flat<'a, T: numpy::Element>(array: &'a numpy::PyReadonlyArrayDyn<'_, T>) -> CoreResult<&'a [T]> {
    Ok(array.as_slice().map_err(|_| Error::parameter("values", "be contiguous", "a strided array"))?)
}

/// Laplace noise on the integer vectors with sum zero, its table made.
#[pyclass(frozen, name = "SumPreservingNoise")]
pub(crate) struct SumPreservingNoise(sampling::SumPreservingLaplace);

#[pymethods]
impl SumPreservingNoise {
    #[new]
    fn new(scale: (Bound<'_, PyAny>, Bound<'_, PyAny>), dimension: usize) -> CoreResult<Self> {
        Ok(Self(sampling::SumPreservingLaplace::new(&rational("scale", scale)?, dimension)?))
    }

    #[pyo3(signature = (values, threads = 1, rng = None))]
    fn release<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray1<'py, i64>,
        threads: usize,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Bound<'py, PyArray1<i64>>> {
        let (values, key) = (as_slice("values", &values)?, stream_key(rng)?);
        Ok(detached_above(py, DETACH_ABOVE, values.len(), || self.0.release(values, &key, threads))??.into_pyarray(py))
    }

    /// The release of one row of integers as it is; nothing for what must be coerced or refused.
    #[pyo3(signature = (values, rng = None))]
    fn release_ready<'py>(
        &self,
        values: &Bound<'py, PyAny>,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Option<Bound<'py, PyArray1<i64>>>> {
        let Some(array) = ready::<i64>(values).filter(|array| array.shape() == [self.0.dimension()]) else {
            return Ok(None);
        };
        let (py, row) = (values.py(), flat(&array)?);
        if row.iter().any(|value| value.unsigned_abs() >= LARGEST_VALUE.unsigned_abs()) {
            return Ok(None);
        }
        let key = stream_key(rng)?;
        Ok(Some(detached_above(py, DETACH_ABOVE, row.len(), || self.0.release(row, &key, 1))??.into_pyarray(py)))
    }

    /// Rows of noise alone, flat, for experiments: a seed needs no warning.
    #[pyo3(signature = (rows, threads = 1, rng = None))]
    fn draws<'py>(
        &self,
        py: Python<'py>,
        rows: usize,
        threads: usize,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Bound<'py, PyArray1<i64>>> {
        let size = memory::size_of_rows::<i64>("the draws", rows, self.0.dimension())?;
        let (zeros, key) = (memory::zeros("the draws", size)?, simulation_key(rng)?);
        Ok(detached_above(py, DETACH_ABOVE, zeros.len(), || self.0.release(&zeros, &key, threads))??.into_pyarray(py))
    }
}

/// How often each category is drawn in `size` draws from an urn with weights scale * counts + prior.
#[pyfunction]
#[pyo3(signature = (scale, counts, prior, size, rng = None))]
pub(crate) fn polya_counts<'py>(
    py: Python<'py>,
    scale: f64,
    counts: PyReadonlyArray1<'py, f64>,
    prior: PyReadonlyArray1<'py, f64>,
    size: usize,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<i64>>> {
    let (counts, prior, key) = (as_slice("counts", &counts)?, as_slice("prior", &prior)?, stream_key(rng)?);
    let draw = || PolyaUrn::new(scale, counts, prior)?.sample_counts(&mut key.stream(0), size);
    Ok(detached_above(py, DETACH_ABOVE, counts.len().saturating_add(size), draw)??.into_pyarray(py))
}

/// The draws themselves, in order.
#[pyfunction]
#[pyo3(signature = (scale, counts, prior, size, rng = None))]
pub(crate) fn polya_draws<'py>(
    py: Python<'py>,
    scale: f64,
    counts: PyReadonlyArray1<'py, f64>,
    prior: PyReadonlyArray1<'py, f64>,
    size: usize,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<u32>>> {
    let (counts, prior, key) = (as_slice("counts", &counts)?, as_slice("prior", &prior)?, stream_key(rng)?);
    let draw = || PolyaUrn::new(scale, counts, prior)?.sample(&mut key.stream(0), size);
    Ok(detached_above(py, DETACH_ABOVE, counts.len().saturating_add(size), draw)??.into_pyarray(py))
}
