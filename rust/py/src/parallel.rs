//! `simplexdp_core::parallel`: how many threads a call is worth.

use pyo3::prelude::*;
use simplexdp_core::parallel;

/// One thread for every `per_thread` of `size` values, from one to the most that this process may use.
#[pyfunction]
pub(crate) fn threads_for(size: usize, per_thread: usize) -> usize {
    parallel::threads_for(size, per_thread)
}
