//! `simplexdp_core::moments`: sums of bounded numbers by class, and how far one person moves them.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::moments::{Moments, Order};

use crate::arrays::as_slice;
use crate::detached::detached;
use crate::error::{CoreError, CoreResult};
use crate::guarantee::adjacency as adjacency_of;

/// What is summed of every class, on which grid.
#[pyclass(frozen, module = "simplexdp._core", name = "Moments")]
pub(crate) struct PyMoments(Moments);

#[pymethods]
impl PyMoments {
    #[new]
    fn new(squares: bool, half: i64, columns: u64, classes: u64, count_weight: u64) -> CoreResult<Self> {
        let order = if squares { Order::Second } else { Order::First };
        Ok(Self(Moments::new(order, half, columns, classes, count_weight)?))
    }

    /// What stands for 1 in the sums.
    #[getter]
    fn unit(&self) -> u64 {
        self.0.unit()
    }

    /// (l1 rounded up, l2 rounded up, changed sums) of neighbours; `left_out`: rows may be in no class.
    #[pyo3(signature = (adjacency, max_rows, left_out = false))]
    fn moves(&self, adjacency: &str, max_rows: u64, left_out: bool) -> CoreResult<(f64, f64, u64)> {
        let change = self.0.moves(adjacency_of(adjacency)?, max_rows, left_out)?;
        Ok((change.l1_up(), change.l2(), change.cells))
    }

    /// The sums of every class, one class after the other.
    fn sums<'py>(
        &self,
        py: Python<'py>,
        classes: PyReadonlyArray1<'py, i64>,
        columns: Vec<PyReadonlyArray1<'py, f64>>,
        bounds: Vec<(f64, f64)>,
    ) -> CoreResult<Bound<'py, PyArray1<i64>>> {
        let classes = as_slice("classes", &classes)?;
        let columns = columns.iter().map(|column| as_slice("columns", column)).collect::<CoreResult<Vec<_>>>()?;
        let sums = detached(py, || self.0.sums(classes, &columns, &bounds))??;
        Ok::<_, CoreError>(sums.into_pyarray(py))
    }
}
