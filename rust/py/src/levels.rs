//! `simplexdp_core::inference`: counts that add up along a tree, and the laws of many counts.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::inference::{Level, Segment, Split, independent_sum, tree_posterior};
use simplexdp_core::{Error, Result, parallel};

use crate::arrays::as_slice;
use crate::detached::detached;
use crate::error::CoreResult;
use crate::inference::Observation;

/// The parents of a level's nodes, its priors as logarithms of weights and parameters, and what was released of it.
type LevelSpec<'py> =
    (PyReadonlyArray1<'py, i64>, Vec<(f64, PyReadonlyArray1<'py, f64>)>, Option<PyRef<'py, Observation>>);

/// Laws of many counts, each with a mass of one.
#[pyclass(frozen, name = "Laws")]
pub(crate) struct Laws(Arc<Vec<Segment>>);

impl Laws {
    fn chosen(&self, order: &[i64]) -> Result<Vec<Segment>> {
        let at = |&i: &i64| usize::try_from(i).ok().and_then(|i| self.0.get(i)).cloned();
        let found = order.iter().map(at).collect::<Option<Vec<_>>>();
        found.ok_or_else(|| Error::parameter("order", "be of laws that there are", self.0.len()))
    }
}

#[pymethods]
impl Laws {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The first count of a law, and the masses from it on.
    fn law<'py>(&self, py: Python<'py>, place: usize) -> CoreResult<(i64, Bound<'py, PyArray1<f64>>)> {
        let law = self.0.get(place).ok_or_else(|| Error::parameter("place", "be of a law that there is", place))?;
        Ok((law.start, law.values.clone().into_pyarray(py)))
    }

    /// Means and variances.
    fn moments<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>) {
        let (means, variances): (Vec<f64>, Vec<f64>) = self.0.iter().map(Segment::moments).unzip();
        (means.into_pyarray(py), variances.into_pyarray(py))
    }

    /// Ends of intervals that leave at most `tail` out on each side.
    fn intervals<'py>(&self, py: Python<'py>, tail: f64) -> (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>) {
        let (low, high): (Vec<i64>, Vec<i64>) = self.0.iter().map(|law| law.central(tail)).unzip();
        (low.into_pyarray(py), high.into_pyarray(py))
    }

    /// The same laws in another order.
    fn ordered(&self, order: PyReadonlyArray1<'_, i64>) -> CoreResult<Self> {
        Ok(Self(Arc::new(self.chosen(as_slice("order", &order)?)?)))
    }

    /// These laws and others after them.
    fn followed_by(&self, others: &Self) -> Self {
        Self(Arc::new(self.0.iter().chain(others.0.iter()).cloned().collect()))
    }

    /// The laws of the sums of so many counts that follow each other in this order, counts taken as independent.
    fn sums(&self, py: Python<'_>, order: PyReadonlyArray1<'_, i64>, size: usize) -> CoreResult<Self> {
        let laws = self.chosen(as_slice("order", &order)?)?;
        let sums = detached(py, || {
            let threads = parallel::threads_for(laws.len(), 64);
            parallel::map(laws.chunks(size.max(1)), threads, |block| independent_sum(block.to_vec()))
        })??;
        Ok(Self(Arc::new(sums)))
    }
}

/// The laws of the root and of the nodes of each level.
#[pyfunction]
#[pyo3(name = "tree_posterior")]
pub(crate) fn tree_laws(
    py: Python<'_>,
    levels: Vec<LevelSpec<'_>>,
    total: Option<u64>,
    threads: usize,
) -> CoreResult<Vec<Laws>> {
    let read = |(parents, splits, released): &LevelSpec<'_>| -> CoreResult<Level> {
        let parent = |&p: &i64| usize::try_from(p).map_err(|_| Error::parameter("parents", "be non-negative", p));
        let split = |(log_weight, parameters): &(f64, PyReadonlyArray1<'_, f64>)| -> CoreResult<Split> {
            Ok(Split { log_weight: *log_weight, parameters: as_slice("parameters", parameters)?.to_vec() })
        };
        Ok(Level {
            parents: as_slice("parents", parents)?.iter().map(parent).collect::<Result<_>>()?,
            splits: splits.iter().map(split).collect::<CoreResult<_>>()?,
            released: released.as_ref().map_or_else(Vec::new, |observed| observed.factors().to_vec()),
        })
    };
    let levels = levels.iter().map(read).collect::<CoreResult<Vec<_>>>()?;
    let laws = detached(py, || tree_posterior(&levels, total, threads))??;
    Ok(laws.into_iter().map(|level| Laws(Arc::new(level))).collect())
}
