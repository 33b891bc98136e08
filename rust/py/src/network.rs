//! Synthetic records from a released Bayesian network.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::network::{Network, Node};

use crate::arrays::as_slice;
use crate::detached::detached;
use crate::error::CoreResult;
use crate::random::stream_key;

/// Draws records; every node is a triple of cardinality, positions of the parents and flat table.
#[pyfunction]
#[pyo3(signature = (nodes, size, rng = None))]
pub(crate) fn sample_network<'py>(
    py: Python<'py>,
    nodes: Vec<(usize, Vec<usize>, PyReadonlyArray1<'py, f64>)>,
    size: usize,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Vec<Bound<'py, PyArray1<u32>>>> {
    let nodes = nodes
        .into_iter()
        .map(|(cardinality, parents, table)| {
            Ok(Node { cardinality, parents, table: as_slice("table", &table)?.to_vec() })
        })
        .collect::<CoreResult<Vec<_>>>()?;
    let network = Network::new(&nodes)?;
    let key = stream_key(rng)?;
    let columns = detached(py, || network.sample(size, &key))??;
    Ok(columns.into_iter().map(|column| column.into_pyarray(py)).collect())
}
