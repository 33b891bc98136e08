//! `simplexdp_core::marginals`: tables counted and measured, mixtures of products fitted to them and sampled.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::Error;
use simplexdp_core::marginals::{self, FitOptions, Layout, Measurement, Neighbours};

use crate::arrays::as_slice;
use crate::counting::Column;
use crate::detached::detached;
use crate::error::CoreResult;
use crate::random::{simulation_key, stream_key};

/// Counts of all cells: the one-way tables of all columns, then the pairs.
#[pyfunction]
pub(crate) fn count_marginals<'py>(
    py: Python<'py>,
    columns: Vec<Bound<'py, PyAny>>,
    sizes: Vec<usize>,
    pairs: Vec<(usize, usize)>,
) -> CoreResult<Bound<'py, PyArray1<i64>>> {
    let layout = Layout::new(&sizes, &pairs)?;
    let columns = columns.iter().map(Column::new).collect::<PyResult<Vec<_>>>()?;
    let codes = columns.iter().map(Column::codes).collect::<CoreResult<Vec<_>>>()?;
    Ok(detached(py, || marginals::count_marginals(&layout, &codes))??.into_pyarray(py))
}

/// The measurement of all tables at a fixed cost.
#[pyclass(frozen, name = "MarginalPlan", module = "simplexdp._core")]
pub(crate) struct MarginalPlan(marginals::Plan);

/// The noisy total, its sigma, all noisy cells and the sigma of each table.
type Released<'py> = (f64, f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);
/// What a plan is made of; persons are told by whether they are replaced, and how many rows they have.
type Parts = (Layout, Vec<f64>, Neighbours);

fn parts(sizes: Vec<usize>, pairs: Vec<(usize, usize)>, weights: Vec<f64>, persons: (bool, u64)) -> CoreResult<Parts> {
    Ok((Layout::new(&sizes, &pairs)?, weights, neighbours(persons)))
}

fn neighbours(persons: (bool, u64)) -> Neighbours {
    match persons {
        (true, 1) => Neighbours::Replace,
        (true, _) => Neighbours::ReplacePerson,
        (false, _) => Neighbours::AddRemove,
    }
}

/// The mu of tables that were measured with this noise.
#[pyfunction]
pub(crate) fn measured_mu(
    sizes: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    sigmas: PyReadonlyArray1<'_, f64>,
    persons: (bool, u64),
) -> CoreResult<f64> {
    let layout = Layout::new(&sizes, &pairs)?;
    Ok(marginals::measured_mu(&layout, as_slice("sigmas", &sigmas)?, neighbours(persons), persons.1)?)
}

#[pymethods]
impl MarginalPlan {
    #[staticmethod]
    fn calibrated(
        py: Python<'_>,
        sizes: Vec<usize>,
        pairs: Vec<(usize, usize)>,
        weights: Vec<f64>,
        persons: (bool, u64),
        epsilon: f64,
        delta: f64,
    ) -> CoreResult<Self> {
        let (layout, weights, neighbours) = parts(sizes, pairs, weights, persons)?;
        Ok(Self(detached(py, || {
            marginals::Plan::calibrated(layout, &weights, neighbours, persons.1, epsilon, delta)
        })??))
    }

    /// The plan of this cost.
    #[new]
    fn new(
        sizes: Vec<usize>,
        pairs: Vec<(usize, usize)>,
        weights: Vec<f64>,
        persons: (bool, u64),
        mu: f64,
    ) -> CoreResult<Self> {
        let (layout, weights, neighbours) = parts(sizes, pairs, weights, persons)?;
        Ok(Self(marginals::Plan::new(layout, &weights, neighbours, persons.1, mu)?))
    }

    #[getter]
    fn mu(&self) -> f64 {
        self.0.mu()
    }

    #[getter]
    fn error(&self) -> f64 {
        self.0.error()
    }

    /// The noisy total, its sigma, all noisy cells and the sigma of each table.
    #[pyo3(signature = (counts, rng = None))]
    fn measure<'py>(
        &self,
        py: Python<'py>,
        counts: PyReadonlyArray1<'py, i64>,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Released<'py>> {
        let (counts, key) = (as_slice("counts", &counts)?, stream_key(rng)?);
        let found = detached(py, || self.0.measure(counts, &key))??;
        Ok((found.total, found.total_sigma, found.cells.into_pyarray(py), found.sigmas.into_pyarray(py)))
    }
}

/// A mixture of products.
#[pyclass(frozen, name = "ProductMixture", module = "simplexdp._core")]
pub(crate) struct ProductMixture(marginals::Mixture);

#[pymethods]
impl ProductMixture {
    #[new]
    fn new(
        sizes: Vec<usize>,
        weights: PyReadonlyArray1<'_, f64>,
        levels: PyReadonlyArray1<'_, f64>,
    ) -> CoreResult<Self> {
        let (weights, levels) = (as_slice("weights", &weights)?.to_vec(), as_slice("levels", &levels)?.to_vec());
        Ok(Self(marginals::Mixture::new(&sizes, weights, levels)?))
    }

    /// Fits a mixture to what `MarginalPlan.measure` returned.
    #[staticmethod]
    #[pyo3(signature = (sizes, pairs, measured, components = None, progress = None, rng = None))]
    fn fit<'py>(
        py: Python<'py>,
        sizes: Vec<usize>,
        pairs: Vec<(usize, usize)>,
        measured: (f64, f64, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>),
        components: Option<usize>,
        progress: Option<Py<PyAny>>,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Self> {
        let layout = Layout::new(&sizes, &pairs)?;
        let (total, total_sigma, cells, sigmas) = measured;
        let (cells, sigmas) = (as_slice("cells", &cells)?.to_vec(), as_slice("sigmas", &sigmas)?.to_vec());
        let measured = Measurement { total, total_sigma, cells, sigmas };
        let usual = FitOptions::default();
        let options = FitOptions { components: components.unwrap_or(usual.components), ..usual };
        let key = simulation_key(rng)?;
        let mut told = -1;
        let mut done = |share: f64| {
            // A hundred times at the most.
            let percent = (share * 100.0) as i32;
            if let Some(progress) = progress.as_ref().filter(|_| percent > told) {
                told = percent;
                Python::attach(|py| progress.call1(py, (share,)).map_or_else(crate::detached::fail, drop));
            }
        };
        Ok(Self(detached(py, || marginals::fit(&layout, &measured, &options, &key, &mut done))??))
    }

    /// One column of codes for each column.
    #[pyo3(signature = (size, polish = true, rng = None))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        size: usize,
        polish: bool,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Vec<Bound<'py, PyArray1<u16>>>> {
        let key = simulation_key(rng)?;
        let columns = detached(py, || self.0.sample(size, polish, &key))??;
        Ok(columns.into_iter().map(|column| column.into_pyarray(py)).collect())
    }

    /// The joint table of some columns, flat, the last fastest.
    fn marginal<'py>(&self, py: Python<'py>, columns: Vec<usize>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        Ok(detached(py, || self.0.marginal(&columns))??.into_pyarray(py))
    }

    /// The logarithm of the probability of each record.
    fn log_likelihood<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<usize>,
        codes: Vec<PyReadonlyArray1<'py, u32>>,
    ) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        let codes = owned(&codes)?;
        Ok(detached(py, || self.0.log_likelihood(&columns, &codes))??.into_pyarray(py))
    }

    /// The distribution of a column for each record, flat.
    fn conditional<'py>(
        &self,
        py: Python<'py>,
        column: usize,
        given: Vec<usize>,
        codes: Vec<PyReadonlyArray1<'py, u32>>,
        n_rows: usize,
    ) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        let codes = owned(&codes)?;
        Ok(detached(py, || self.0.conditional(column, &given, &codes, n_rows))??.into_pyarray(py))
    }

    #[getter]
    fn sizes(&self) -> Vec<usize> {
        self.0.sizes().to_vec()
    }

    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.weights().to_vec().into_pyarray(py)
    }

    #[getter]
    fn levels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.levels().to_vec().into_pyarray(py)
    }
}

fn owned(codes: &[PyReadonlyArray1<'_, u32>]) -> CoreResult<Vec<Vec<u32>>> {
    let rows = |codes| Ok(as_slice("codes", codes)?.to_vec());
    if codes.len() > 1 << 20 {
        return Err(Error::parameter("codes", "be fewer than 2^20 columns", codes.len()).into());
    }
    codes.iter().map(rows).collect()
}
