//! `simplexdp_core::sampling::dirichlet`, many rows at a time.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use simplexdp_core::Error;
use simplexdp_core::sampling::dirichlet::{Count, ExactDirichlet, ExactGamma};

use crate::arrays::{Numbers, as_slice, ready};
use crate::detached::detached_above;
use crate::error::CoreResult;
use crate::random::stream_key;

/// Rows with fewer values in all than this are drawn with the interpreter held: releasing it costs a tenth of that time.
const DETACH_ABOVE: usize = 64;

/// Exact Dirichlet rows for rows of counts: multiples of 2^-resolution_bits that sum to one.
#[pyfunction]
#[pyo3(signature = (counts, scale, prior, resolution_bits = 32, threads = 1, rng = None))]
pub(crate) fn dirichlet_release<'py>(
    py: Python<'py>,
    counts: Numbers<'py>,
    scale: f64,
    prior: PyReadonlyArray1<'py, f64>,
    resolution_bits: u32,
    threads: usize,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let law = ExactDirichlet::new(scale, as_slice("prior", &prior)?, resolution_bits)?;
    match counts {
        Numbers::Reals(counts) => released(py, &law, as_slice("counts", &counts)?, threads, rng),
        Numbers::Integers(counts) => released(py, &law, as_slice("counts", &counts)?, threads, rng),
    }
}

fn released<'py, C: Count>(
    py: Python<'py>,
    law: &ExactDirichlet,
    counts: &[C],
    threads: usize,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let key = stream_key(rng)?;
    let values = detached_above(py, DETACH_ABOVE, counts.len(), || law.release_values(counts, &key, threads))??;
    Ok(values.into_pyarray(py))
}

/// A mechanism's law, made once, with the rules for counts of one row: what a single release needs.
#[pyclass(frozen)]
pub(crate) struct DirichletRow {
    law: ExactDirichlet,
    dimension: usize,
    /// The least and the largest count.
    range: (f64, f64),
    /// What the counts sum to, where that is public.
    total: Option<i64>,
}

#[pymethods]
impl DirichletRow {
    #[new]
    #[pyo3(signature = (scale, prior, resolution_bits, floor, largest, total = None))]
    fn new(
        scale: f64,
        prior: PyReadonlyArray1<'_, f64>,
        resolution_bits: u32,
        floor: f64,
        largest: f64,
        total: Option<i64>,
    ) -> CoreResult<Self> {
        let prior = as_slice("prior", &prior)?;
        let law = ExactDirichlet::new(scale, prior, resolution_bits)?;
        Ok(Self { law, dimension: prior.len(), range: (floor, largest), total })
    }

    /// The release of one row of integers as it is; nothing for what must be coerced or refused.
    #[pyo3(signature = (counts, rng = None))]
    fn release<'py>(
        &self,
        counts: &Bound<'py, PyAny>,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Option<Bound<'py, PyArray1<f64>>>> {
        let Some(array) = ready::<i64>(counts).filter(|array| array.shape() == [self.dimension]) else {
            return Ok(None);
        };
        let row = array.as_slice().map_err(|_| Error::parameter("counts", "be contiguous", "a strided array"))?;
        let (floor, largest) = self.range;
        // Counts are at most 1e15 then, and there are at most 10^6 of them: doubles hold them, and i128 their sum.
        let fits = row.iter().all(|&count| (floor..=largest).contains(&(count as f64)));
        let sum = || row.iter().map(|&count| i128::from(count)).sum::<i128>();
        if !fits || self.total.is_some_and(|total| sum() != i128::from(total)) {
            return Ok(None);
        }
        Ok(Some(released(counts.py(), &self.law, row, 1, rng)?))
    }
}

/// The same rows in whole units of the grid.
#[pyfunction]
#[pyo3(signature = (counts, scale, prior, resolution_bits = 32, threads = 1, rng = None))]
pub(crate) fn dirichlet_release_units<'py>(
    py: Python<'py>,
    counts: PyReadonlyArray1<'py, f64>,
    scale: f64,
    prior: PyReadonlyArray1<'py, f64>,
    resolution_bits: u32,
    threads: usize,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<u64>>> {
    let (counts, key) = (as_slice("counts", &counts)?, stream_key(rng)?);
    let law = ExactDirichlet::new(scale, as_slice("prior", &prior)?, resolution_bits)?;
    let units = detached_above(py, DETACH_ABOVE, counts.len(), || law.release(counts, &key, threads))??;
    Ok(units.into_pyarray(py))
}

/// Independent exact gamma variates of unit rate for rows of counts, in whole units of 2^-resolution_bits.
#[pyfunction]
#[pyo3(signature = (counts, scale, prior, resolution_bits = 32, threads = 1, rng = None))]
pub(crate) fn gamma_release_units<'py>(
    py: Python<'py>,
    counts: PyReadonlyArray1<'py, f64>,
    scale: f64,
    prior: PyReadonlyArray1<'py, f64>,
    resolution_bits: u32,
    threads: usize,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<u64>>> {
    let (counts, key) = (as_slice("counts", &counts)?, stream_key(rng)?);
    let law = ExactGamma::new(scale, as_slice("prior", &prior)?, resolution_bits)?;
    let units = detached_above(py, DETACH_ABOVE, counts.len(), || law.release(counts, &key, threads))??;
    Ok(units.into_pyarray(py))
}
