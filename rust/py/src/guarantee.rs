//! Guarantees as objects that Python can hold, compare, pickle and hand back to the core.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use simplexdp_core::Error;
use simplexdp_core::guarantee::{self as core, Adjacency, DirichletDraw, DirichletFunction, Guarantee, Unit};

use simplexdp_core::sensitivity::Person;

use crate::accounting::{PyProfile, Reduced, hash_of, map};
use crate::detached::detached;
use crate::error::CoreResult;

/// What a guarantee is pickled as.
type State<'py> = (Bound<'py, PyTuple>, &'static str, bool, f64, Option<String>);

/// What a mechanism guarantees: adjacency, the profiles of its directions, the sampling error.
#[pyclass(frozen, name = "Guarantee", module = "simplexdp._core")]
pub(crate) struct PyGuarantee {
    inner: Guarantee,
}

impl PyGuarantee {
    pub(crate) fn new(inner: Guarantee) -> Self {
        Self { inner }
    }

    pub(crate) fn inner(&self) -> &Guarantee {
        &self.inner
    }
}

pub(crate) fn adjacency(name: &str) -> CoreResult<Adjacency> {
    let known = Adjacency::named(name);
    Ok(known.ok_or_else(|| Error::parameter("adjacency", "be one of 'replace', 'add_remove'", format!("{name:?}")))?)
}

fn unit(name: Option<&str>) -> CoreResult<Unit> {
    Ok(name.map_or_else(|| Ok(Unit::default()), Unit::named)?)
}

#[pymethods]
impl PyGuarantee {
    /// The guarantee of these profiles of the ideal mechanism, by direction.
    #[new]
    #[pyo3(signature = (profiles, adjacency, exact, sampling_error, unit = None))]
    fn py_new(
        profiles: Vec<Bound<'_, PyProfile>>,
        adjacency: &str,
        exact: bool,
        sampling_error: f64,
        unit: Option<&str>,
    ) -> CoreResult<Self> {
        let directions = profiles.iter().map(|profile| profile.get().node()).collect();
        let guarantee = Guarantee::new(self::adjacency(adjacency)?, directions, sampling_error)?;
        Ok(Self::new(guarantee.attained(exact).of_unit(self::unit(unit)?)))
    }

    /// The same, for all records of one such unit; for single records without a name.
    fn of_unit(&self, name: Option<&str>) -> CoreResult<Self> {
        Ok(Self::new(self.inner.clone().of_unit(unit(name)?)))
    }

    /// The unit whose records change together; None for single records.
    #[getter]
    fn unit(&self) -> Option<&str> {
        self.inner.unit().name()
    }

    /// The worst that an (epsilon, delta) guarantee allows.
    #[staticmethod]
    fn budget(adjacency: &str, epsilon: f64, delta: f64) -> CoreResult<Self> {
        Ok(Self::new(Guarantee::budget(self::adjacency(adjacency)?, epsilon, delta)?))
    }

    /// Gaussian noise on values at this Euclidean distance.
    #[staticmethod]
    fn gaussian(adjacency: &str, sigma: f64, sensitivity: f64) -> CoreResult<Self> {
        Ok(Self::new(Guarantee::gaussian(self::adjacency(adjacency)?, sigma, sensitivity)?))
    }

    /// Discrete Gaussian noise on integers of which one or two move by one.
    #[staticmethod]
    fn discrete_gaussian(adjacency: &str, sigma: f64, changed: u64) -> CoreResult<Self> {
        Ok(Self::new(Guarantee::discrete_gaussian(self::adjacency(adjacency)?, sigma, changed)?))
    }

    /// Laplace noise on one number that moves by `sensitivity`.
    #[staticmethod]
    fn laplace(adjacency: &str, scale: f64, sensitivity: f64) -> CoreResult<Self> {
        Ok(Self::new(Guarantee::laplace(self::adjacency(adjacency)?, scale, sensitivity)?))
    }

    /// A Dirichlet draw from counts; the error of `rows` sampled rows is counted in.
    #[staticmethod]
    #[pyo3(signature = (adjacency, scale, prior, dimension, floor, total, max_rows = 1))]
    fn dirichlet(
        adjacency: &str,
        scale: f64,
        prior: Vec<f64>,
        dimension: u64,
        floor: f64,
        total: Option<u64>,
        max_rows: u64,
    ) -> CoreResult<Self> {
        let draw = DirichletDraw { scale, prior: &prior, dimension, floor, total, max_rows };
        Ok(Self::new(draw.guarantee(self::adjacency(adjacency)?)?))
    }

    /// A Dirichlet draw from any function of known sensitivities, by the papers' bounds.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the mechanism's parameters and the choice of the bound")]
    fn dirichlet_bound(
        adjacency: &str,
        scale: f64,
        l2: f64,
        linf: f64,
        prior: f64,
        floor: f64,
        by_theorem: bool,
        optimal: bool,
    ) -> CoreResult<Self> {
        let (function, adjacency) = (DirichletFunction { scale, l2, linf, prior, floor }, self::adjacency(adjacency)?);
        Ok(Self::new(if by_theorem { function.theorem(adjacency)? } else { function.renyi(adjacency, optimal)? }))
    }

    /// Several releases from the same records.
    #[staticmethod]
    fn compose(parts: Vec<Bound<'_, Self>>, counts: Vec<u64>) -> CoreResult<Self> {
        Ok(Self::new(Guarantee::compose(&counted(&parts, &counts)?)?))
    }

    /// The same through the sum of their Renyi divergences.
    #[staticmethod]
    fn compose_renyi(parts: Vec<Bound<'_, Self>>, counts: Vec<u64>) -> CoreResult<Self> {
        Ok(Self::new(Guarantee::compose_renyi(&counted(&parts, &counts)?)?))
    }

    /// Releases from disjoint groups of the records.
    #[staticmethod]
    fn compose_disjoint(groups: Vec<Bound<'_, Self>>, adjacency: &str) -> CoreResult<Self> {
        let groups: Vec<&Guarantee> = groups.iter().map(|group| group.get().inner()).collect();
        Ok(Self::new(Guarantee::compose_disjoint(&groups, self::adjacency(adjacency)?)?))
    }

    /// Releases from parts of the records that a record's place decides.
    #[staticmethod]
    fn compose_parts(parts: Vec<Bound<'_, Self>>) -> CoreResult<Self> {
        let parts: Vec<&Guarantee> = parts.iter().map(|part| part.get().inner()).collect();
        Ok(Self::new(Guarantee::compose_parts(&parts)?))
    }

    /// The guarantee that `to_text` wrote.
    #[staticmethod]
    fn from_text(text: &str) -> CoreResult<Self> {
        Ok(Self::new(Guarantee::from_text(text)?))
    }

    /// A text that tells guarantees apart to the last bit; None where a function of Python is part of it.
    fn to_text(&self) -> Option<String> {
        self.inner.to_text()
    }

    /// The same for a sampler that is another `error` off.
    fn with_sampling_error(&self, error: f64) -> CoreResult<Self> {
        Ok(Self::new(self.inner.with_sampling_error(error)?))
    }

    #[getter]
    fn adjacency(&self) -> &'static str {
        self.inner.adjacency().name()
    }

    #[getter]
    fn exact(&self) -> bool {
        self.inner.exact()
    }

    #[getter]
    fn sampling_error(&self) -> f64 {
        self.inner.sampling_error()
    }

    /// The profiles of the ideal mechanism, by direction.
    #[getter]
    fn profiles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.directions().iter().map(|node| PyProfile::new(node.clone())).collect::<Vec<_>>())
    }

    /// Upper bounds of delta.
    fn delta<'py>(&self, epsilon: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        map("epsilon", epsilon, |epsilon| self.inner.delta(epsilon))
    }

    /// Epsilons with at most these deltas.
    fn epsilon<'py>(&self, delta: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        map("delta", delta, |delta| self.inner.epsilon(delta))
    }

    /// Lower bounds of epsilon, of the ideal mechanism.
    fn epsilon_lower<'py>(&self, delta: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        map("delta", delta, |delta| self.inner.epsilon_lower(delta))
    }

    /// Bounds of epsilon from both sides, at most `tolerance` apart.
    fn epsilon_within(&self, py: Python<'_>, delta: f64, tolerance: f64) -> CoreResult<(f64, f64)> {
        Ok(detached(py, || self.inner.epsilon_within(delta, tolerance))??)
    }

    /// Upper bounds of the Renyi divergence of the ideal mechanism.
    fn renyi<'py>(&self, order: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        map("order", order, |order| self.inner.renyi(order))
    }

    /// Upper bounds of rho such that the ideal mechanism is (rho, omega)-tCDP.
    fn tcdp<'py>(&self, omega: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        map("omega", omega, |omega| self.inner.tcdp(omega))
    }

    /// Lower bounds of the false negative rate at these false positive rates.
    fn tradeoff<'py>(&self, fpr: PyReadonlyArray1<'py, f64>) -> CoreResult<Bound<'py, PyArray1<f64>>> {
        map("fpr", fpr, |fpr| self.inner.tradeoff(fpr))
    }

    /// Epsilon at delta, the factor of the odds, its exception, and the chance of a right guess.
    fn meaning(&self, py: Python<'_>, delta: f64) -> CoreResult<(f64, f64, f64, f64)> {
        let found = detached(py, || self.inner.meaning(delta))?;
        Ok((found.epsilon, found.factor, found.exception, found.guess))
    }

    /// An upper bound of every attacker's advantage.
    fn advantage(&self, py: Python<'_>) -> CoreResult<f64> {
        Ok(detached(py, || self.inner.advantage())?)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.inner == other.inner
    }

    fn __hash__(&self) -> u64 {
        hash_of(&self.inner)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, State<'py>> {
        let class = py.import("simplexdp._core")?.getattr("Guarantee")?;
        let unit = self.unit().map(str::to_owned);
        Ok((class, (self.profiles(py)?, self.adjacency(), self.exact(), self.sampling_error(), unit)))
    }
}

fn counted<'a>(parts: &'a [Bound<'_, PyGuarantee>], counts: &[u64]) -> CoreResult<Vec<(&'a Guarantee, u64)>> {
    if parts.len() != counts.len() {
        return Err(Error::parameter("counts", "be one number for each curve", counts.len()).into());
    }
    Ok(parts.iter().map(|part| part.get().inner()).zip(counts.iter().copied()).collect())
}

/// Refuses what is no name of a unit.
#[pyfunction]
pub(crate) fn check_unit(name: &str) -> CoreResult<()> {
    unit(Some(name)).map(drop)
}

/// The largest belief after the odds have grown by a factor.
#[pyfunction]
pub(crate) fn belief_after(before: f64, factor: f64) -> f64 {
    core::belief(before, factor)
}

/// An (epsilon, delta) that gives no attacker more than this advantage.
#[pyfunction]
pub(crate) fn pair_within(advantage: f64) -> (f64, f64) {
    core::pair_within(advantage)
}

/// Parts of a budget in the ratio of shares, not above it together.
#[pyfunction]
pub(crate) fn parts_of(budget: f64, shares: Vec<f64>) -> Vec<f64> {
    core::parts_of(budget, &shares)
}

/// What the Dirichlet sampler is off by in total variation between neighbours, over so many tables.
#[pyfunction]
pub(crate) fn dirichlet_sampling_error(adjacency: &str, max_rows: u64, tables: u64) -> CoreResult<f64> {
    let person = Person { adjacency: self::adjacency(adjacency)?, max_rows };
    Ok(core::sampling_error(person, tables)?)
}
