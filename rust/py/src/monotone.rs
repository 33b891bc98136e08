//! `simplexdp_core::monotone`: the search behind every calibration that Python drives.

use pyo3::prelude::*;
use simplexdp_core::monotone::ScaleSearch;

/// A search for the largest scale whose share of a budget is at most one.
#[pyclass(module = "simplexdp._core", name = "ScaleSearch")]
pub(crate) struct PyScaleSearch(ScaleSearch);

#[pymethods]
impl PyScaleSearch {
    #[new]
    fn new(start: f64) -> Self {
        Self(ScaleSearch::new(start))
    }

    /// The logarithm of the scale to try next, or None at the end.
    #[getter]
    fn at(&self) -> Option<f64> {
        self.0.at()
    }

    /// Takes the share of the budget that the scale would spend; whether it keeps the budget.
    fn tell(&mut self, share: f64) -> bool {
        self.0.tell(share)
    }
}
