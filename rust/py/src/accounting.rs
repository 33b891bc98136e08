//! Privacy profiles as objects that Python can hold, pickle and hand back to the core.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use simplexdp_core::accounting::{
    BetaPair, BudgetPair, Composition, Conversion, Direction, DirichletBounds, DiscreteGaussianPair, GammaPair,
    GaussianPair, LaplacePair, LossTable, MaximumProfile, MinimumProfile, Profile, RenyiProfile, TheoremTwo,
    TruncatedProfile, TwoCategories, WithSamplingError, epsilon_tangent,
};
use simplexdp_core::{Error, interrupt};

use crate::arrays;
use crate::detached::{detached, fail};
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

    /// Applies a method of the profile to an array.
    fn map<'py>(
        &self,
        x: PyReadonlyArray1<'py, f64>,
        method: impl Fn(&dyn Profile, f64) -> f64 + Send + Sync,
    ) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        // Always detached: a composition takes a while, also behind another profile, and holds a lock meanwhile.
        let py = x.py();
        let x = arrays::as_slice("x", &x)?;
        let value = |i: usize| {
            interrupt::check()?;
            Ok(method(&*self.inner, x[i]))
        };
        Ok(detached(py, || arrays::collect(x.len(), value))??.into_pyarray(py))
    }

    /// The profile, shared.
    pub(crate) fn shared(&self) -> Arc<dyn Profile> {
        Arc::clone(&self.inner)
    }
}

#[pymethods]
impl PyProfile {
    /// Upper bounds of delta.
    fn delta<'py>(&self, epsilon: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        self.map(epsilon, |profile, epsilon| profile.delta_upper(epsilon))
    }

    /// Lower bounds of delta.
    fn delta_lower<'py>(&self, epsilon: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        self.map(epsilon, |profile, epsilon| profile.delta_lower(epsilon))
    }

    /// Epsilons >= 0 at which the upper bound of delta is at most this.
    fn epsilon<'py>(&self, delta: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        self.map(delta, |profile, delta| profile.epsilon_upper(delta))
    }

    /// Upper bounds of the Renyi divergence.
    fn renyi<'py>(&self, order: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        self.map(order, |profile, order| profile.renyi_upper(order))
    }

    /// Upper bounds of rho such that (rho, omega)-tCDP holds.
    fn tcdp<'py>(&self, omega: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        self.map(omega, |profile, omega| profile.tcdp_upper(omega))
    }

    /// Whether the profile belongs to a pair of distributions and may be composed as such.
    #[getter]
    fn is_pair(&self) -> bool {
        self.inner.is_pair()
    }

    /// What it is composed of: profiles, and how often each of them counts.
    #[getter]
    fn parts<'py>(slf: &Bound<'py, Self>) -> PyResult<Vec<(Bound<'py, PyAny>, u64)>> {
        let (name, args) = (slf.get().recipe.0, slf.get().recipe.1.bind(slf.py()));
        let (profiles, counts): (Vec<Bound<'py, PyAny>>, Vec<u64>) = match name {
            "compose_profiles" => args.extract()?,
            "renyi_sum_profile" => {
                let counts: Vec<f64> = args.get_item(1)?.extract()?;
                (args.get_item(0)?.extract()?, counts.into_iter().map(|count| count as u64).collect())
            }
            // Two bounds of one composition; the first one names all of its parts.
            "minimum_profile" => return Self::parts(args.get_item(0)?.cast()?),
            _ => return Ok(vec![(slf.clone().into_any(), 1)]),
        };
        Ok(profiles.into_iter().zip(counts).collect())
    }

    /// Bounds of epsilon at this delta from both sides, refined until they are `tolerance` apart.
    fn epsilon_within(&self, py: Python<'_>, delta: f64, tolerance: f64) -> CoreResult<(f64, f64)> {
        Ok(detached(py, || self.inner.epsilon_within(delta, tolerance))??)
    }

    /// A lower bound of epsilon at each delta.
    fn epsilon_lower<'py>(&self, delta: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        self.map(delta, |profile, delta| profile.epsilon_lower(delta))
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

/// Discrete Gaussian noise around integers of which one or two move by one.
#[pyfunction]
pub(crate) fn discrete_gaussian_profile(py: Python<'_>, sigma: f64, changed: u32) -> CoreResult<PyProfile> {
    let profile = DiscreteGaussianPair::new(sigma, changed)?;
    Ok(PyProfile::new(py, profile, "discrete_gaussian_profile", (sigma, changed))?)
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
    Ok(PyProfile::new(py, MaximumProfile::new(shared(profiles)?), "maximum_profile", profiles.clone())?)
}

/// Two categories with a public total, over all counts of at least `floor`.
#[pyfunction]
pub(crate) fn two_categories_profile(
    py: Python<'_>,
    a: f64,
    b: f64,
    r: f64,
    total: u64,
    floor: u64,
) -> CoreResult<PyProfile> {
    let profile = TwoCategories::new(a, b, r, total, floor)?;
    Ok(PyProfile::new(py, profile, "two_categories_profile", (a, b, r, total, floor))?)
}

/// Masses at increasing losses, and at infinity.
#[pyfunction]
pub(crate) fn loss_table_profile(
    py: Python<'_>,
    losses: Vec<f64>,
    masses: Vec<f64>,
    infinite: f64,
) -> CoreResult<PyProfile> {
    let profile = LossTable::new(losses.clone(), &masses, infinite)?;
    Ok(PyProfile::new(py, profile, "loss_table_profile", (losses, masses, infinite))?)
}

/// The smaller of two bounds of the same release.
#[pyfunction]
pub(crate) fn minimum_profile(
    py: Python<'_>,
    first: Bound<'_, PyProfile>,
    second: Bound<'_, PyProfile>,
) -> CoreResult<PyProfile> {
    let profile = MinimumProfile::new(first.get().shared(), second.get().shared());
    Ok(PyProfile::new(py, profile, "minimum_profile", (first, second))?)
}

/// Profiles in the same direction composed, each as often as its count says.
#[pyfunction]
pub(crate) fn compose_profiles(
    py: Python<'_>,
    profiles: Vec<Bound<'_, PyProfile>>,
    counts: Vec<u64>,
) -> CoreResult<PyProfile> {
    if profiles.len() != counts.len() {
        return Err(Error::parameter("counts", "be as many as the profiles", counts.len()).into());
    }
    let parts: Vec<_> = profiles.iter().map(|profile| profile.get().shared()).zip(counts.iter().copied()).collect();
    let composition = Composition::new(parts)?;
    let args = (PyTuple::new(py, profiles)?, PyTuple::new(py, counts)?);
    Ok(PyProfile::new(py, composition, "compose_profiles", args)?)
}

/// A profile with the total variation error of its sampler added.
#[pyfunction]
pub(crate) fn sampling_error_profile(py: Python<'_>, ideal: Bound<'_, PyProfile>, eta: f64) -> CoreResult<PyProfile> {
    let profile = WithSamplingError::new(ideal.get().shared(), eta)?;
    Ok(PyProfile::new(py, profile, "sampling_error_profile", (ideal, eta))?)
}

/// (rho, omega)-tCDP by \[DPS\] Lemma 1.
#[pyfunction]
pub(crate) fn tcdp_lemma_profile(py: Python<'_>, rho: f64, omega: f64) -> CoreResult<PyProfile> {
    Ok(PyProfile::new(py, TruncatedProfile::new(rho, omega)?, "tcdp_lemma_profile", (rho, omega))?)
}

/// (rho, omega)-tCDP through all Renyi orders below omega.
#[pyfunction]
pub(crate) fn tcdp_profile(py: Python<'_>, rho: f64, omega: f64, optimal: bool) -> CoreResult<PyProfile> {
    let bound = TruncatedProfile::new(rho, omega)?;
    let profile = RenyiProfile::new(Arc::new(move |order| bound.renyi(order)), conversion(optimal))
        .with_rho(Arc::new(move |omega| bound.tcdp_upper(omega)));
    Ok(PyProfile::new(py, profile, "tcdp_profile", (rho, omega, optimal))?)
}

/// Renyi differential privacy at one order, and so at the orders below it.
#[pyfunction]
pub(crate) fn rdp_profile(py: Python<'_>, order: f64, epsilon: f64, optimal: bool) -> CoreResult<PyProfile> {
    let bound = move |x: f64| if x <= order { epsilon } else { f64::INFINITY };
    let profile = RenyiProfile::at_order(Arc::new(bound), conversion(optimal), order)?;
    Ok(PyProfile::new(py, profile, "rdp_profile", (order, epsilon, optimal))?)
}

/// A Python function of the order that bounds the Renyi divergence.
#[pyfunction]
pub(crate) fn renyi_profile(py: Python<'_>, function: Bound<'_, PyAny>, optimal: bool) -> CoreResult<PyProfile> {
    let callable = function.clone().unbind();
    let bound = move |order: f64| {
        Python::attach(|py| callable.call1(py, (order,)).and_then(|value| value.extract::<f64>(py))).unwrap_or_else(
            |error| {
                fail(error);
                f64::INFINITY
            },
        )
    };
    let profile = RenyiProfile::new(Arc::new(bound), conversion(optimal));
    Ok(PyProfile::new(py, profile, "renyi_profile", (function, optimal))?)
}

/// Independent releases through the sum of their Renyi divergences, each taken so many times.
#[pyfunction]
pub(crate) fn renyi_sum_profile(
    py: Python<'_>,
    profiles: Bound<'_, PyTuple>,
    times: Vec<f64>,
    optimal: bool,
) -> CoreResult<PyProfile> {
    let parts = shared(&profiles)?.into_iter().zip(times.iter().copied()).collect();
    let profile = RenyiProfile::composed(parts, conversion(optimal));
    Ok(PyProfile::new(py, profile, "renyi_sum_profile", (profiles, times, optimal))?)
}

/// Any f of bounded sensitivities under a Dirichlet mechanism, through all Renyi orders.
#[pyfunction]
pub(crate) fn dirichlet_renyi_profile(
    py: Python<'_>,
    scale: f64,
    l2: f64,
    linf: f64,
    prior: f64,
    optimal: bool,
) -> CoreResult<PyProfile> {
    let bounds = DirichletBounds::new(scale, l2, linf, prior)?;
    let profile = RenyiProfile::new(Arc::new(move |order| bounds.renyi(order)), conversion(optimal));
    Ok(PyProfile::new(py, profile, "dirichlet_renyi_profile", (scale, l2, linf, prior, optimal))?)
}

/// The same by \[DPS\] Thm 2.
#[pyfunction]
pub(crate) fn dirichlet_theorem_profile(
    py: Python<'_>,
    scale: f64,
    l2: f64,
    linf: f64,
    prior: f64,
) -> CoreResult<PyProfile> {
    let profile = TheoremTwo(DirichletBounds::new(scale, l2, linf, prior)?);
    Ok(PyProfile::new(py, profile, "dirichlet_theorem_profile", (scale, l2, linf, prior))?)
}

/// The epsilon of \[DM\] eq. 10 at a fixed order.
#[pyfunction]
pub(crate) fn rdp_epsilon<'py>(
    py: Python<'py>,
    order: PyReadonlyArray1<'py, f64>,
    epsilon: PyReadonlyArray1<'py, f64>,
    delta: PyReadonlyArray1<'py, f64>,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let arguments = [("order", &order), ("epsilon", &epsilon), ("delta", &delta)];
    arrays::map_broadcast(py, arguments, |[order, epsilon, delta]| Ok(epsilon_tangent(order, epsilon, delta)))
}

fn shared(profiles: &Bound<'_, PyTuple>) -> PyResult<Vec<Arc<dyn Profile>>> {
    profiles.iter().map(|profile| Ok(profile.cast::<PyProfile>()?.get().shared())).collect()
}

fn conversion(optimal: bool) -> Conversion {
    if optimal { Conversion::Optimal } else { Conversion::Tangent }
}
