//! Privacy profiles as objects that Python can hold, pickle and hand back to the core.

use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use simplexdp_core::accounting::{
    BetaPair, BudgetPair, Direction, GammaPair, GaussianPair, LaplacePair, MaximumProfile, Profile, WithSamplingError,
};

use crate::arrays;
use crate::error::CoreResult;

/// The profile delta(epsilon) of one ordered pair of output distributions, or an upper bound of it.
///
/// Made by the functions `*_profile` of this module; immutable; pickles as the call that made it.
#[pyclass(frozen, name = "Profile", module = "simplexdp._core")]
pub(crate) struct PyProfile {
    inner: Arc<dyn Profile>,
    /// The function of this module that made it, and its arguments.
    recipe: (&'static str, Py<PyTuple>),
}

impl PyProfile {
    /// Wraps a profile; `name(*args)` must be a call of this module that makes it again.
    pub(crate) fn new<'py, A>(
        py: Python<'py>,
        profile: impl Profile + 'static,
        name: &'static str,
        args: A,
    ) -> PyResult<Self>
    where
        A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
        PyErr: From<A::Error>,
    {
        Ok(Self { inner: Arc::new(profile), recipe: (name, args.into_pyobject(py)?.unbind()) })
    }

    /// The profile, shared.
    pub(crate) fn shared(&self) -> Arc<dyn Profile> {
        Arc::clone(&self.inner)
    }
}

#[pymethods]
impl PyProfile {
    /// Upper bounds of delta.
    fn delta<'py>(
        &self,
        py: Python<'py>,
        epsilon: PyReadonlyArray1<'py, f64>,
    ) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        arrays::map(py, epsilon, |epsilon| self.inner.delta_upper(epsilon))
    }

    /// Lower bounds of delta.
    fn delta_lower<'py>(
        &self,
        py: Python<'py>,
        epsilon: PyReadonlyArray1<'py, f64>,
    ) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        arrays::map(py, epsilon, |epsilon| self.inner.delta_lower(epsilon))
    }

    /// Epsilons >= 0 at which the upper bound of delta is at most this.
    fn epsilon<'py>(
        &self,
        py: Python<'py>,
        delta: PyReadonlyArray1<'py, f64>,
    ) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        arrays::map(py, delta, |delta| self.inner.epsilon_upper(delta))
    }

    /// Upper bounds of the Renyi divergence.
    fn renyi<'py>(&self, py: Python<'py>, order: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        arrays::map(py, order, |order| self.inner.renyi_upper(order))
    }

    /// Whether the profile belongs to a pair of distributions and may be composed as such.
    #[getter]
    fn is_pair(&self) -> bool {
        self.inner.is_pair()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, &Py<PyTuple>)> {
        Ok((py.import("simplexdp._core")?.getattr(self.recipe.0)?, &self.recipe.1))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("{}{}", self.recipe.0, self.recipe.1.bind(py).repr()?))
    }
}

/// Beta(a + r, b) against Beta(a, b + r).
#[pyfunction]
pub(crate) fn beta_profile(py: Python<'_>, a: f64, b: f64, r: f64) -> CoreResult<PyProfile> {
    Ok(PyProfile::new(py, BetaPair::new(a, b, r)?, "beta_profile", (a, b, r))?)
}

/// Gamma(a + r) against Gamma(a), or the other way round.
#[pyfunction]
pub(crate) fn gamma_profile(py: Python<'_>, a: f64, r: f64, add: bool) -> CoreResult<PyProfile> {
    let direction = if add { Direction::Add } else { Direction::Remove };
    Ok(PyProfile::new(py, GammaPair::new(a, r, direction)?, "gamma_profile", (a, r, add))?)
}

/// N(mu, 1) against N(0, 1).
#[pyfunction]
pub(crate) fn gaussian_profile(py: Python<'_>, mu: f64) -> CoreResult<PyProfile> {
    Ok(PyProfile::new(py, GaussianPair::new(mu)?, "gaussian_profile", (mu,))?)
}

/// Laplace laws whose centres are this many scales apart.
#[pyfunction]
pub(crate) fn laplace_profile(py: Python<'_>, epsilon: f64) -> CoreResult<PyProfile> {
    Ok(PyProfile::new(py, LaplacePair::new(epsilon)?, "laplace_profile", (epsilon,))?)
}

/// The worst pair that an (epsilon, delta) guarantee allows.
#[pyfunction]
pub(crate) fn budget_profile(py: Python<'_>, epsilon: f64, delta: f64) -> CoreResult<PyProfile> {
    Ok(PyProfile::new(py, BudgetPair::new(epsilon, delta)?, "budget_profile", (epsilon, delta))?)
}

/// The pointwise maximum.
#[pyfunction]
#[pyo3(signature = (*profiles))]
pub(crate) fn maximum_profile(py: Python<'_>, profiles: &Bound<'_, PyTuple>) -> CoreResult<PyProfile> {
    let inner =
        profiles.iter().map(|profile| Ok(profile.cast::<PyProfile>()?.get().shared())).collect::<PyResult<Vec<_>>>()?;
    Ok(PyProfile::new(py, MaximumProfile::new(inner), "maximum_profile", profiles.clone())?)
}

/// A profile with the total variation error of its sampler added.
#[pyfunction]
pub(crate) fn sampling_error_profile(py: Python<'_>, ideal: Bound<'_, PyProfile>, eta: f64) -> CoreResult<PyProfile> {
    let profile = WithSamplingError::new(ideal.get().shared(), eta)?;
    Ok(PyProfile::new(py, profile, "sampling_error_profile", (ideal, eta))?)
}
