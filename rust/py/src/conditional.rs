//! `simplexdp_core::inference::conditional`: the tables of a model, smoothed by what was released.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use simplexdp_core::inference::Bin;
use simplexdp_core::inference::conditional::{Group, Smoothed, Table, TableMoments};
use simplexdp_core::{Error, Result};

use crate::detached::detached;
use crate::error::CoreResult;
use crate::inference::Observation;

type Floats<'py> = Bound<'py, PyArray1<f64>>;

/// Mean and standard deviation of the weight of a classifier's evidence, given what was released of hits and misses, alternating,
/// and the log-odds of each bin before and after the evidence.
#[pyfunction]
pub(crate) fn weight_of_evidence(
    py: Python<'_>,
    released: PyRef<'_, Observation>,
    prior: Vec<f64>,
    posterior: Vec<f64>,
    threads: usize,
) -> CoreResult<(f64, f64)> {
    let factors = released.factors();
    if factors.len() != 2 * prior.len() || prior.len() != posterior.len() {
        return Err(Error::parameter("released", "have hits and misses of every bin", factors.len()).into());
    }
    let odds = prior.into_iter().zip(posterior);
    let bin = |(pair, (prior, posterior)): (&[_], (f64, f64))| Bin { hits: pair[0], misses: pair[1], prior, posterior };
    let bins: Vec<Bin> = factors.chunks_exact(2).zip(odds).map(bin).collect();
    Ok(detached(py, || simplexdp_core::inference::weight_of_evidence(&bins, threads))??)
}

/// The posterior of the tables of a group.
#[pyclass(frozen, name = "SmoothedTables")]
pub(crate) struct SmoothedTables {
    posterior: Smoothed,
    moments: Vec<TableMoments>,
    threads: usize,
}

fn pairs(values: &[(f64, f64)]) -> Vec<f64> {
    values.iter().flat_map(|&(a, b)| [a, b]).collect()
}

#[pymethods]
impl SmoothedTables {
    /// `tables` are what was released of tables whose rows have the `totals`, or None; each total its released number or
    /// share, or NaN. `partitions` are ways in which rows may be alike: a label for each row.
    #[new]
    #[pyo3(signature = (tables, rows, totals, totals_prior, known, concentration, partitions, threads))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        tables: Vec<(PyRef<'_, Observation>, usize)>,
        rows: usize,
        totals: Option<PyRef<'_, Observation>>,
        totals_prior: f64,
        known: Option<u64>,
        concentration: Option<f64>,
        partitions: Vec<Vec<usize>>,
        threads: usize,
    ) -> CoreResult<Self> {
        let cells = |observation: &Observation, size: usize| -> Result<Vec<Option<_>>> {
            let factors = observation.factors();
            if factors.len() != size && !factors.is_empty() {
                return Err(Error::parameter("tables", "have whole rows, as many as there are totals", size));
            }
            Ok((0..size).map(|k| factors.get(k).copied()).collect())
        };
        let table = |(observation, levels): &(PyRef<'_, Observation>, usize)| {
            Ok(Table { factors: cells(observation, rows * levels)?, term: observation.term() })
        };
        let group = Group {
            totals: totals.map_or_else(|| Ok(vec![None; rows]), |observation| cells(&observation, rows))?,
            totals_prior,
            known,
            tables: tables.iter().map(table).collect::<Result<_>>()?,
            concentration,
            partitions,
        };
        let work = || {
            let posterior = group.smooth(threads)?;
            let moments = posterior.moments(threads)?;
            Ok::<_, Error>((posterior, moments))
        };
        let (posterior, moments) = detached(py, work)??;
        Ok(Self { posterior, moments, threads })
    }

    /// Means and variances of the shares of a table, alternating.
    fn shares<'py>(&self, py: Python<'py>, table: usize) -> CoreResult<Floats<'py>> {
        Ok(pairs(&self.table(table)?.shares).into_pyarray(py))
    }

    /// Means and variances of the counts of a table, alternating.
    fn counts<'py>(&self, py: Python<'py>, table: usize) -> CoreResult<Floats<'py>> {
        Ok(pairs(&self.table(table)?.counts).into_pyarray(py))
    }

    /// Concentrations of a table and their weights, alternating.
    fn concentrations<'py>(&self, py: Python<'py>, table: usize) -> CoreResult<Floats<'py>> {
        self.table(table)?;
        Ok(pairs(&self.posterior.concentrations(table)).into_pyarray(py))
    }

    /// Ends of intervals of the shares of a table, alternating.
    fn intervals<'py>(&self, py: Python<'py>, table: usize, level: f64) -> CoreResult<Floats<'py>> {
        self.table(table)?;
        Ok(pairs(&detached(py, || self.posterior.intervals(table, level, self.threads))??).into_pyarray(py))
    }

    /// Means and variances of the totals of the rows, alternating.
    fn totals<'py>(&self, py: Python<'py>) -> Floats<'py> {
        pairs(&self.posterior.totals()).into_pyarray(py)
    }

    /// Means and variances of the shares of the rows, alternating.
    fn total_shares<'py>(&self, py: Python<'py>) -> Floats<'py> {
        pairs(&self.posterior.total_shares()).into_pyarray(py)
    }

    /// Ends of intervals of the shares of the rows, alternating.
    fn total_intervals<'py>(&self, py: Python<'py>, level: f64) -> CoreResult<Floats<'py>> {
        Ok(pairs(&detached(py, || self.posterior.total_intervals(level))?).into_pyarray(py))
    }
}

impl SmoothedTables {
    fn table(&self, table: usize) -> Result<&TableMoments> {
        self.moments.get(table).ok_or_else(|| Error::parameter("table", "be one of the tables", table))
    }
}
