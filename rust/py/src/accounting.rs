//! Privacy profiles as objects that Python can hold, compare, pickle and hand back to the core.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use simplexdp_core::accounting::{GaussianPair, epsilon_tangent};
use simplexdp_core::guarantee::{Function, Leaf, Node, Real, Recipe};
use simplexdp_core::{Error, interrupt};

use crate::arrays;
use crate::detached::{detached, fail};
use crate::error::CoreResult;

/// What pickle calls, and with what.
pub(crate) type Reduced<'py, A> = PyResult<(Bound<'py, PyAny>, A)>;

/// The profile delta(epsilon) of one ordered pair of output distributions, or an upper bound of it.
///
/// Made by the functions `*_profile` of this module; immutable; equal where all parameters are; pickles as a text.
#[pyclass(frozen, name = "Profile", module = "simplexdp._core")]
pub(crate) struct PyProfile {
    node: Arc<Node>,
}

/// Applies a function to an array, with the interpreter released: a composition takes a while, and holds a lock.
pub(crate) fn map<'py>(
    name: &'static str,
    x: PyReadonlyArray1<'py, f64>,
    function: impl Fn(f64) -> f64 + Send + Sync,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let py = x.py();
    let x = arrays::as_slice(name, &x)?;
    let value = |i: usize| {
        interrupt::check()?;
        Ok(function(x[i]))
    };
    Ok(detached(py, || arrays::collect(x.len(), value))??.into_pyarray(py))
}

/// The hash of what compares equal.
pub(crate) fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The Python functions that a profile holds, in the order of its text.
pub(crate) fn callables<'py>(py: Python<'py>, functions: &[Function]) -> PyResult<Bound<'py, PyTuple>> {
    let tags = functions.iter().filter_map(|function| function.tag.downcast_ref::<Py<PyAny>>());
    PyTuple::new(py, tags.map(|callable| callable.bind(py).clone()).collect::<Vec<_>>())
}

/// A Python function of the order that bounds the Renyi divergence.
fn function(callable: Py<PyAny>) -> Function {
    let tag = Arc::new(callable);
    let called = Arc::clone(&tag);
    let bound = move |order: f64| {
        let answer = Python::attach(|py| called.call1(py, (order,)).and_then(|value| value.extract::<f64>(py)));
        answer.unwrap_or_else(|error| {
            fail(error);
            f64::INFINITY
        })
    };
    Function { bound: Arc::new(bound), tag }
}

impl PyProfile {
    pub(crate) fn new(node: Arc<Node>) -> Self {
        Self { node }
    }

    fn of(recipe: Recipe) -> CoreResult<Self> {
        Ok(Self { node: Node::new(recipe)? })
    }

    /// What the profile was made from, shared.
    pub(crate) fn node(&self) -> Arc<Node> {
        Arc::clone(&self.node)
    }
}

#[pymethods]
impl PyProfile {
    /// Upper bounds of delta.
    fn delta<'py>(&self, epsilon: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        map("epsilon", epsilon, |epsilon| self.node.profile().delta_upper(epsilon))
    }

    /// Lower bounds of delta.
    fn delta_lower<'py>(&self, epsilon: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        map("epsilon", epsilon, |epsilon| self.node.profile().delta_lower(epsilon))
    }

    /// Epsilons >= 0 at which the upper bound of delta is at most this.
    fn epsilon<'py>(&self, delta: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        map("delta", delta, |delta| self.node.profile().epsilon_upper(delta))
    }

    /// Upper bounds of the Renyi divergence.
    fn renyi<'py>(&self, order: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        map("order", order, |order| self.node.profile().renyi_upper(order))
    }

    /// Upper bounds of rho such that (rho, omega)-tCDP holds.
    fn tcdp<'py>(&self, omega: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        map("omega", omega, |omega| self.node.profile().tcdp_upper(omega))
    }

    /// Whether the profile belongs to a pair of distributions and may be composed as such.
    #[getter]
    fn is_pair(&self) -> bool {
        self.node.profile().is_pair()
    }

    /// Whether it is made of several releases.
    #[getter]
    fn is_composition(&self) -> bool {
        matches!(self.node.recipe(), Recipe::Composition(_) | Recipe::RenyiSum(..) | Recipe::Minimum(..))
    }

    /// What it is composed of: profiles, and how often each of them counts.
    #[getter]
    fn parts(&self) -> Vec<(PyProfile, u64)> {
        self.node.parts().into_iter().map(|(node, times)| (Self::new(node), times)).collect()
    }

    /// Bounds of epsilon at this delta from both sides, refined until they are `tolerance` apart.
    fn epsilon_within(&self, py: Python<'_>, delta: f64, tolerance: f64) -> CoreResult<(f64, f64)> {
        Ok(detached(py, || self.node.profile().epsilon_within(delta, tolerance))??)
    }

    /// A lower bound of epsilon at each delta.
    fn epsilon_lower<'py>(&self, delta: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        map("delta", delta, |delta| self.node.profile().epsilon_lower(delta))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.node == other.node
    }

    fn __hash__(&self) -> u64 {
        hash_of(&self.node)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, (String, Bound<'py, PyTuple>)> {
        let functions = callables(py, &self.node.functions())?;
        Ok((py.import("simplexdp._core")?.getattr("profile_from_text")?, (self.node.to_text(), functions)))
    }

    fn __repr__(&self) -> String {
        self.node.to_text()
    }
}

/// The profile of a text, with the functions that it names in order.
#[pyfunction]
#[pyo3(signature = (text, functions = Vec::new()))]
pub(crate) fn profile_from_text(text: &str, functions: Vec<Py<PyAny>>) -> CoreResult<PyProfile> {
    let functions: Vec<Function> = functions.into_iter().map(function).collect();
    Ok(PyProfile::new(Node::from_text(text, &functions)?))
}

/// Beta(a + r, b) against Beta(a, b + r).
#[pyfunction]
pub(crate) fn beta_profile(a: f64, b: f64, r: f64) -> CoreResult<PyProfile> {
    PyProfile::of(Recipe::Leaf(Leaf::Beta { a: Real(a), b: Real(b), r: Real(r) }))
}

/// Gamma(a + r) against Gamma(a), or the other way round.
#[pyfunction]
pub(crate) fn gamma_profile(a: f64, r: f64, add: bool) -> CoreResult<PyProfile> {
    PyProfile::of(Recipe::Leaf(Leaf::Gamma { a: Real(a), r: Real(r), add }))
}

/// N(mu, 1) against N(0, 1).
#[pyfunction]
pub(crate) fn gaussian_profile(mu: f64) -> CoreResult<PyProfile> {
    PyProfile::of(Recipe::Leaf(Leaf::Gaussian { mu: Real(mu) }))
}

/// The largest distance of two normal laws, in standard deviations, that keeps a budget.
#[pyfunction]
pub(crate) fn gaussian_mu(epsilon: f64, delta: f64) -> CoreResult<f64> {
    Ok(GaussianPair::largest_mu(epsilon, delta)?)
}

/// Laplace laws whose centres are this many scales apart.
#[pyfunction]
pub(crate) fn laplace_profile(epsilon: f64) -> CoreResult<PyProfile> {
    PyProfile::of(Recipe::Leaf(Leaf::Laplace { epsilon: Real(epsilon) }))
}

/// The worst pair that an (epsilon, delta) guarantee allows.
#[pyfunction]
pub(crate) fn budget_profile(epsilon: f64, delta: f64) -> CoreResult<PyProfile> {
    PyProfile::of(Recipe::Leaf(Leaf::Budget { epsilon: Real(epsilon), delta: Real(delta) }))
}

/// The pointwise maximum.
#[pyfunction]
#[pyo3(signature = (*profiles))]
pub(crate) fn maximum_profile(profiles: Vec<Bound<'_, PyProfile>>) -> CoreResult<PyProfile> {
    PyProfile::of(Recipe::Maximum(profiles.iter().map(|profile| profile.get().node()).collect()))
}

/// Two categories with a public total, over all counts of at least `floor`.
#[pyfunction]
pub(crate) fn two_categories_profile(a: f64, b: f64, r: f64, total: u64, floor: u64) -> CoreResult<PyProfile> {
    PyProfile::of(Recipe::Leaf(Leaf::TwoCategories { a: Real(a), b: Real(b), r: Real(r), total, floor }))
}

fn reals(values: &[f64]) -> Arc<[Real]> {
    values.iter().copied().map(Real).collect()
}

/// Masses at increasing losses, and at infinity.
#[pyfunction]
pub(crate) fn loss_table_profile(losses: Vec<f64>, masses: Vec<f64>, infinite: f64) -> CoreResult<PyProfile> {
    let (losses, masses) = (reals(&losses), reals(&masses));
    PyProfile::of(Recipe::Leaf(Leaf::LossTable { losses, masses, infinite: Real(infinite) }))
}

/// The profile of a certificate, from its points.
#[pyfunction]
pub(crate) fn certified_profile(
    epsilons: PyReadonlyArray1<'_, f64>,
    deltas: PyReadonlyArray1<'_, f64>,
) -> CoreResult<PyProfile> {
    let epsilons = reals(arrays::as_slice("epsilons", &epsilons)?);
    let deltas = reals(arrays::as_slice("deltas", &deltas)?);
    PyProfile::of(Recipe::Leaf(Leaf::Certified { epsilons, deltas }))
}

fn counted(profiles: &[Bound<'_, PyProfile>], counts: &[u64]) -> CoreResult<Vec<(Arc<Node>, u64)>> {
    if profiles.len() != counts.len() {
        return Err(Error::parameter("counts", "be as many as the profiles", counts.len()).into());
    }
    Ok(profiles.iter().map(|profile| profile.get().node()).zip(counts.iter().copied()).collect())
}

/// Profiles in the same direction composed, each as often as its count says.
#[pyfunction]
pub(crate) fn compose_profiles(profiles: Vec<Bound<'_, PyProfile>>, counts: Vec<u64>) -> CoreResult<PyProfile> {
    PyProfile::of(Recipe::Composition(counted(&profiles, &counts)?))
}

/// (rho, omega)-tCDP by \[DPS\] Lemma 1.
#[pyfunction]
pub(crate) fn tcdp_lemma_profile(rho: f64, omega: f64) -> CoreResult<PyProfile> {
    PyProfile::of(Recipe::Leaf(Leaf::TruncatedLemma { rho: Real(rho), omega: Real(omega) }))
}

/// (rho, omega)-tCDP through all Renyi orders below omega.
#[pyfunction]
pub(crate) fn tcdp_profile(rho: f64, omega: f64, optimal: bool) -> CoreResult<PyProfile> {
    PyProfile::of(Recipe::Leaf(Leaf::Truncated { rho: Real(rho), omega: Real(omega), optimal }))
}

/// Renyi differential privacy at one order, and so at the orders below it.
#[pyfunction]
pub(crate) fn rdp_profile(order: f64, epsilon: f64, optimal: bool) -> CoreResult<PyProfile> {
    PyProfile::of(Recipe::Leaf(Leaf::Renyi { order: Real(order), epsilon: Real(epsilon), optimal }))
}

/// A Python function of the order that bounds the Renyi divergence.
#[pyfunction]
#[pyo3(name = "renyi_profile")]
pub(crate) fn renyi_profile(callable: Py<PyAny>, optimal: bool) -> CoreResult<PyProfile> {
    PyProfile::of(Recipe::Function(function(callable), optimal))
}

/// Independent releases through the sum of their Renyi divergences, each taken so many times.
#[pyfunction]
pub(crate) fn renyi_sum_profile(
    profiles: Vec<Bound<'_, PyProfile>>,
    times: Vec<u64>,
    optimal: bool,
) -> CoreResult<PyProfile> {
    PyProfile::of(Recipe::RenyiSum(counted(&profiles, &times)?, optimal))
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
