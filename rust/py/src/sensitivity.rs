//! `simplexdp_core::sensitivity`: how far one person moves counts.

use pyo3::prelude::*;
use simplexdp_core::sensitivity::Person;

use crate::error::CoreResult;
use crate::guarantee::adjacency as adjacency_of;

/// (l1, squared l2, l2 rounded up, linf, changed cells) of the counts of neighbours.
#[pyfunction]
#[pyo3(signature = (adjacency, max_rows, cells = None, tables = 1))]
pub(crate) fn count_change(
    adjacency: &str,
    max_rows: u64,
    cells: Option<u64>,
    tables: u64,
) -> CoreResult<(u64, u64, f64, u64, u64)> {
    let person = Person { adjacency: adjacency_of(adjacency)?, max_rows };
    let change = person.moves(cells, tables)?;
    Ok((change.l1, change.l2_squared, change.l2(), change.linf, change.cells))
}

/// In how many units a person's total of one is counted, where rows are weighted.
#[pyfunction]
pub(crate) fn weight_units(max_rows: u64) -> CoreResult<u64> {
    Ok(simplexdp_core::sensitivity::weight_units(max_rows)?)
}
