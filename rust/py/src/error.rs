//! Core errors as Python exceptions: defined in `simplexdp.exceptions`, raised from here, in one match.

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use simplexdp_core::Error;

/// A core error on its way to Python, or an exception that Python raised itself. Rust forbids a direct conversion
/// between two foreign types.
pub(crate) enum CoreError {
    Core(Error),
    Python(PyErr),
}

/// The result of every exported function that calls the core.
pub(crate) type CoreResult<T> = Result<T, CoreError>;

impl From<Error> for CoreError {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl From<PyErr> for CoreError {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<CoreError> for PyErr {
    fn from(error: CoreError) -> Self {
        let error = match error {
            CoreError::Core(error) => error,
            CoreError::Python(error) => return error,
        };
        let class = match &error {
            Error::InvalidParameter { .. } => "InvalidParameterError",
            Error::InvalidData { .. } => "InvalidDataError",
            Error::NotAffordable { .. } => "NotAffordableError",
            Error::Numerical { .. } => "NumericalError",
            Error::Entropy(_) => "EntropyError",
            // Nobody asks for that but through `detached`, which raises what it asked with.
            Error::Interrupted => return PyKeyboardInterrupt::new_err(()),
            Error::OutOfMemory { .. } => return PyMemoryError::new_err(error.to_string()),
            // `Error` is non-exhaustive; a variant that is not mapped yet must still reach the user.
            _ => "SimplexDpError",
        };
        raise(class, &error.to_string())
    }
}

/// Builds the exception `simplexdp.exceptions.<class>`.
fn raise(class: &str, message: &str) -> PyErr {
    Python::attach(|py| {
        py.import("simplexdp.exceptions")
            .and_then(|module| module.getattr(class)?.call1((message,)))
            .map(PyErr::from_value)
            .unwrap_or_else(|error| PyRuntimeError::new_err(format!("{message} (and simplexdp.exceptions: {error})")))
    })
}
