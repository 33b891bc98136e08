//! `simplexdp_core::monotone`: the search behind every calibration that Python drives.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use simplexdp_core::monotone::ScaleSearch;

/// A search for the largest scale whose share of a budget is at most one.
#[pyclass(frozen, module = "simplexdp._core", name = "ScaleSearch")]
pub(crate) struct PyScaleSearch(Mutex<ScaleSearch>);

impl PyScaleSearch {
    /// Nothing panics while it is held.
    fn search(&self) -> MutexGuard<'_, ScaleSearch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyScaleSearch {
    #[new]
    fn new(start: f64) -> Self {
        Self(Mutex::new(ScaleSearch::new(start)))
    }

    /// The logarithm of the scale to try next, or None at the end.
    #[getter]
    fn at(&self) -> Option<f64> {
        self.search().at()
    }

    /// Takes the share of the budget that the scale would spend; whether it keeps the budget.
    fn tell(&self, share: f64) -> bool {
        self.search().tell(share)
    }
}
