//! What Python sees of the core: the declared list of names, nothing else.

use pyo3::prelude::*;

#[allow(dead_code)] // until the first wrapper stands
mod arrays;
mod counting;
mod divergence;
mod error;
mod random;

/// The compiled core of simplexdp. Import the documented names from `simplexdp` instead.
#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use counting::count_table;
    #[pymodule_export]
    use divergence::{hellinger_dirichlet, kl_dirichlet, renyi_dirichlet};
    #[pymodule_export]
    use random::{SeededRng, random_words};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
