//! `simplexdp_core::inference`: posteriors of counts and shares given what was released.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::inference::{
    Cell, Enumerated, Factor, Interval, Mixture, Noise, Posterior, Rows, Segment, Total, TotalPrior, TotalTerm, Wanted,
    log_zero_sum_probability,
};
use simplexdp_core::{Error, Result, parallel};

use crate::arrays::as_slice;
use crate::detached::detached;
use crate::error::CoreResult;
use crate::random::simulation_key;

type Floats<'py> = Bound<'py, PyArray1<f64>>;

/// A kind of prior of the total with its two numbers, or the first total and an array of logarithms of weights.
type TotalSpec<'py> = (String, f64, f64, Option<PyReadonlyArray1<'py, f64>>);

/// What was released of some histograms with `dimension` cells each, row by row.
#[pyclass(frozen, name = "Observation")]
#[derive(Clone)]
pub(crate) struct Observation {
    factors: Arc<Vec<Factor>>,
    /// One entry for all rows, or one for each.
    terms: Arc<Vec<TotalTerm>>,
}

impl Observation {
    pub(crate) fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// What is said of the total of every row alike.
    pub(crate) fn term(&self) -> Option<TotalTerm> {
        self.terms.first().copied()
    }
}

fn noise(kind: &str, size: f64, step: f64) -> Noise {
    if kind == "gaussian" { Noise::Gaussian { sigma: size, step } } else { Noise::Laplace { scale: size, step } }
}

fn whole_rows(values: usize, dimension: usize) -> Result<usize> {
    if dimension == 0 || !values.is_multiple_of(dimension) {
        return Err(Error::parameter("release", "be whole rows", values));
    }
    Ok(values / dimension)
}

#[pymethods]
impl Observation {
    /// Counts with independent noise.
    #[staticmethod]
    fn noisy(values: PyReadonlyArray1<'_, f64>, kind: &str, size: f64, step: f64) -> CoreResult<Self> {
        let noise = noise(kind, size, step);
        let factors = as_slice("release", &values)?.iter().map(|&y| Factor::noisy(y, noise)).collect::<Result<_>>()?;
        Ok(Self { factors: Arc::new(factors), terms: Arc::default() })
    }

    /// What is known of counts as normal laws: means and deviations.
    #[staticmethod]
    fn normal(means: PyReadonlyArray1<'_, f64>, deviations: PyReadonlyArray1<'_, f64>) -> CoreResult<Self> {
        let (means, deviations) = (as_slice("means", &means)?, as_slice("deviations", &deviations)?);
        let factor = |(&mean, &sigma): (&f64, &f64)| Factor::noisy(mean, Noise::Gaussian { sigma, step: 1.0 });
        let factors = means.iter().zip(deviations).map(factor).collect::<Result<_>>()?;
        Ok(Self { factors: Arc::new(factors), terms: Arc::default() })
    }

    /// Counts with Laplace noise of sum zero.
    #[staticmethod]
    fn zero_sum(values: PyReadonlyArray1<'_, f64>, dimension: usize, scale: f64) -> CoreResult<Self> {
        let values = as_slice("release", &values)?;
        whole_rows(values.len(), dimension)?;
        let factors = values.iter().map(|&y| Factor::zero_sum(y, scale)).collect::<Result<_>>()?;
        let terms = vec![TotalTerm::Constant(-log_zero_sum_probability(scale, dimension))];
        Ok(Self { factors: Arc::new(factors), terms: Arc::new(terms) })
    }

    /// Rows of a Dirichlet draw on its grid.
    #[staticmethod]
    fn shares(
        units: PyReadonlyArray1<'_, i64>,
        scale: f64,
        prior: PyReadonlyArray1<'_, f64>,
        resolution_bits: u32,
    ) -> CoreResult<Self> {
        let (units, prior) = (as_slice("release", &units)?, as_slice("prior", &prior)?);
        whole_rows(units.len(), prior.len())?;
        let factor = |(u, b): (&i64, &f64)| Factor::grid_share(*u, prior.len(), resolution_bits, scale, *b);
        let factors = units.iter().zip(prior.iter().cycle()).map(factor).collect::<Result<_>>()?;
        let terms = vec![TotalTerm::Shares { scale, prior: prior.iter().sum() }];
        Ok(Self { factors: Arc::new(factors), terms: Arc::new(terms) })
    }

    /// Rows of synthetic counts.
    #[staticmethod]
    fn urn(drawn: PyReadonlyArray1<'_, i64>, scale: f64, prior: PyReadonlyArray1<'_, f64>) -> CoreResult<Self> {
        let (drawn, prior) = (as_slice("release", &drawn)?, as_slice("prior", &prior)?);
        whole_rows(drawn.len(), prior.len())?;
        let count = |z: &i64| u64::try_from(*z).map_err(|_| Error::parameter("release", "be non-negative", z));
        let factor = |(z, b): (&i64, &f64)| Factor::urn(count(z)?, scale, *b);
        let factors = drawn.iter().zip(prior.iter().cycle()).map(factor).collect::<Result<_>>()?;
        let term = |row: &[i64]| {
            Ok(TotalTerm::Urn { scale, prior: prior.iter().sum(), size: row.iter().map(count).sum::<Result<u64>>()? })
        };
        let terms = drawn.chunks(prior.len()).map(term).collect::<Result<_>>()?;
        Ok(Self { factors: Arc::new(factors), terms: Arc::new(terms) })
    }

    /// Totals with independent noise.
    #[staticmethod]
    fn total(values: PyReadonlyArray1<'_, f64>, kind: &str, size: f64, step: f64) -> CoreResult<Self> {
        let noise = noise(kind, size, step);
        let term = |&y: &f64| Ok(TotalTerm::Noisy(Factor::noisy(y, noise)?));
        let terms = as_slice("total", &values)?.iter().map(term).collect::<Result<_>>()?;
        Ok(Self { factors: Arc::default(), terms: Arc::new(terms) })
    }
}

/// The releases and priors of some rows, ready for any thread.
struct Problem {
    observations: Vec<Observation>,
    /// The priors one after the other, `dimension` entries each.
    priors: Vec<f64>,
    dimension: usize,
    /// One for all rows, or one for each.
    totals: Vec<TotalPrior>,
    least: u64,
}

impl Problem {
    fn new(
        observations: &[PyRef<'_, Observation>],
        priors: &[f64],
        parts: usize,
        totals: Vec<TotalPrior>,
        least: u64,
    ) -> Result<Self> {
        let dimension = whole_rows(priors.len(), parts.max(1))?;
        Ok(Self {
            observations: observations.iter().map(|observation| Observation::clone(observation)).collect(),
            priors: priors.to_vec(),
            dimension,
            totals,
            least,
        })
    }

    fn posterior(&self, row: usize, part: usize) -> Result<Posterior> {
        let cell = |k: usize| {
            let of = |o: &Observation| o.factors.get(row * self.dimension + k).copied();
            Cell::new(
                self.priors[part * self.dimension + k],
                self.observations.iter().filter_map(of).collect(),
                self.least,
            )
        };
        let cells = (0..self.dimension).map(cell).collect::<Result<Vec<_>>>()?;
        let term = |o: &Observation| o.terms.get(if o.terms.len() == 1 { 0 } else { row }).copied();
        let prior = &self.totals[if self.totals.len() == 1 { 0 } else { row }];
        Posterior::new(&cells, &Total::new(prior.clone(), self.observations.iter().filter_map(term).collect())?)
    }
}

fn total_prior((kind, a, b, weights): &TotalSpec<'_>) -> CoreResult<TotalPrior> {
    Ok(match (kind.as_str(), weights) {
        ("known", _) => TotalPrior::Known(*a as u64),
        ("flat", _) => TotalPrior::Flat,
        ("between", _) => TotalPrior::Between(*a as u64, *b as u64),
        ("negative_binomial", _) => TotalPrior::NegativeBinomial { mean: *a, size: *b },
        (_, Some(weights)) => TotalPrior::Weights(*a as u64, as_slice("weights", weights)?.to_vec()),
        _ => return Err(Error::parameter("total", "be a prior that is known", kind).into()),
    })
}

/// The posterior of one histogram.
#[pyclass(frozen, name = "CountPosterior")]
pub(crate) struct CountPosterior(Kind);

enum Kind {
    Mixture(Mixture),
    Enumerated(Enumerated),
}

/// The same call on either kind.
macro_rules! either {
    ($posterior:expr, $name:ident => $work:expr) => {
        match &$posterior {
            Kind::Mixture($name) => $work,
            Kind::Enumerated($name) => $work,
        }
    };
}

impl CountPosterior {
    pub(crate) fn enumerated(posterior: Enumerated) -> Self {
        Self(Kind::Enumerated(posterior))
    }
}

fn segment<'py>(py: Python<'py>, segment: Segment) -> (i64, Floats<'py>) {
    (segment.start, segment.values.into_pyarray(py))
}

fn pairs<T: Copy>(values: &[(T, T)]) -> Vec<T> {
    values.iter().flat_map(|&(a, b)| [a, b]).collect()
}

#[pymethods]
impl CountPosterior {
    #[new]
    #[pyo3(signature = (observations, row, priors, log_weights, total, least = 0))]
    fn new(
        py: Python<'_>,
        observations: Vec<PyRef<'_, Observation>>,
        row: usize,
        priors: PyReadonlyArray1<'_, f64>,
        log_weights: PyReadonlyArray1<'_, f64>,
        total: TotalSpec<'_>,
        least: u64,
    ) -> CoreResult<Self> {
        let weights = as_slice("log_weights", &log_weights)?.to_vec();
        let totals = vec![total_prior(&total)?];
        let problem = Problem::new(&observations, as_slice("prior", &priors)?, weights.len(), totals, least)?;
        let part = move |i: usize| Ok((weights[i], problem.posterior(row, i)?));
        let parts = log_weights.len()?;
        let work = || (0..parts).map(part).collect::<Result<Vec<_>>>().and_then(Mixture::new);
        Ok(Self(Kind::Mixture(detached(py, work)??)))
    }

    fn log_evidence(&self) -> f64 {
        either!(self.0, p => p.log_evidence())
    }

    fn error(&self) -> f64 {
        either!(self.0, p => p.error())
    }

    /// The posterior weights of the priors that matter, each with its parameters.
    fn parts<'py>(&self, py: Python<'py>) -> Vec<(f64, Floats<'py>)> {
        match &self.0 {
            Kind::Mixture(p) => {
                p.parts().iter().map(|(w, part)| (*w, part.priors().to_vec().into_pyarray(py))).collect()
            }
            Kind::Enumerated(p) => vec![(1.0, p.priors().to_vec().into_pyarray(py))],
        }
    }

    fn total<'py>(&self, py: Python<'py>) -> (i64, Floats<'py>) {
        segment(py, either!(self.0, p => p.total()))
    }

    fn marginals<'py>(&self, py: Python<'py>) -> CoreResult<Vec<(i64, Floats<'py>)>> {
        let laws = detached(py, || either!(self.0, p => p.marginals()))??;
        Ok(laws.into_iter().map(|law| segment(py, law)).collect())
    }

    /// Means and variances of the probabilities, alternating.
    fn share_moments<'py>(&self, py: Python<'py>) -> CoreResult<Floats<'py>> {
        Ok(pairs(&detached(py, || either!(self.0, p => p.share_moments()))??).into_pyarray(py))
    }

    fn covariance<'py>(&self, py: Python<'py>) -> CoreResult<Floats<'py>> {
        Ok(detached(py, || either!(self.0, p => p.count_covariance()))??.into_pyarray(py))
    }

    /// Ends of intervals of the probabilities, alternating.
    fn share_intervals<'py>(&self, py: Python<'py>, level: f64, shortest: bool) -> CoreResult<Floats<'py>> {
        let ends = detached(py, || {
            let laws = either!(self.0, p => p.share_laws())?;
            parallel::map(laws.iter(), parallel::threads_for(laws.len(), 8), |law| {
                if shortest { law.shortest(level) } else { law.central(level) }
            })
        })??;
        Ok(pairs(&ends).into_pyarray(py))
    }

    /// Ends of intervals of the counts, alternating.
    fn count_intervals<'py>(
        &self,
        py: Python<'py>,
        level: f64,
        shortest: bool,
    ) -> CoreResult<Bound<'py, PyArray1<i64>>> {
        let interval = Interval { level, shortest, shares: false };
        let laws = detached(py, || either!(self.0, p => p.marginals()))??;
        Ok(pairs(&laws.iter().map(|law| interval.of_counts(law)).collect::<Vec<_>>()).into_pyarray(py))
    }

    /// The distribution function of one probability.
    fn share_cdf<'py>(&self, py: Python<'py>, cell: usize, t: PyReadonlyArray1<'py, f64>) -> CoreResult<Floats<'py>> {
        let t = as_slice("t", &t)?;
        let laws = detached(py, || either!(self.0, p => p.share_laws()))??;
        let law = laws.get(cell).ok_or_else(|| Error::parameter("cell", "be one of the cells", cell))?;
        let at = |&t: &f64| {
            if t <= 0.0 {
                0.0
            } else if t >= 1.0 {
                1.0
            } else {
                law.at(t).0
            }
        };
        Ok(t.iter().map(at).collect::<Vec<_>>().into_pyarray(py))
    }

    #[pyo3(signature = (wanted, size, records = 0, rng = None))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        wanted: &str,
        size: usize,
        records: u64,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Floats<'py>> {
        let wanted = match wanted {
            "counts" => Wanted::Counts,
            "shares" => Wanted::Shares,
            _ => Wanted::Future(records),
        };
        let key = simulation_key(rng)?;
        Ok(detached(py, || either!(self.0, p => p.sample(wanted, size, &key)))??.into_pyarray(py))
    }
}

/// What is known of many rows: evidence, total, counts and shares as means and deviations that alternate, then intervals.
type Summaries<'py> =
    (Floats<'py>, Floats<'py>, Floats<'py>, Floats<'py>, Bound<'py, PyArray1<i64>>, Floats<'py>, Floats<'py>);

/// Summaries of many histograms under one of several priors, which they share if `shared`; the last array holds the weights
/// of the priors then, and `shared_weights` takes it back. With `counts_only` there are no shares.
#[pyfunction]
#[pyo3(signature = (observations, rows, priors, log_weights, totals, least, shared, interval, threads, shared_weights=None, counts_only=false))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn infer_rows<'py>(
    py: Python<'py>,
    observations: Vec<PyRef<'py, Observation>>,
    rows: usize,
    priors: PyReadonlyArray1<'py, f64>,
    log_weights: PyReadonlyArray1<'py, f64>,
    totals: (TotalSpec<'py>, Option<PyReadonlyArray1<'py, i64>>),
    least: u64,
    shared: bool,
    interval: Option<(f64, bool, bool)>,
    threads: usize,
    shared_weights: Option<PyReadonlyArray1<'py, f64>>,
    counts_only: bool,
) -> CoreResult<Summaries<'py>> {
    let weights = as_slice("log_weights", &log_weights)?.to_vec();
    let known =
        |n: &i64| u64::try_from(*n).map(TotalPrior::Known).map_err(|_| Error::parameter("total", "be non-negative", n));
    let totals = match &totals.1 {
        Some(known_totals) => as_slice("total", known_totals)?.iter().map(known).collect::<Result<_>>()?,
        None => vec![total_prior(&totals.0)?],
    };
    let problem = Problem::new(&observations, as_slice("prior", &priors)?, weights.len(), totals, least)?;
    let interval = interval.map(|(level, shortest, shares)| Interval { level, shortest, shares });
    let known = match &shared_weights {
        Some(known) => Some(as_slice("shared_weights", known)?.to_vec()),
        None => None,
    };
    if known.as_ref().is_some_and(|known| known.len() != weights.len()) {
        return Err(Error::parameter("shared_weights", "have one weight for each prior", weights.len()).into());
    }
    let (summaries, shared) = detached(py, || {
        let all = Rows { rows, log_weights: weights, posterior: |row, part| problem.posterior(row, part) };
        let shared = match known {
            None if shared => Some(all.shared_weights(&all.log_evidence(threads)?)),
            known => known,
        };
        Ok::<_, Error>((all.summaries(shared.as_deref(), interval, counts_only, threads)?, shared.unwrap_or_default()))
    })??;
    let array = |values: Vec<f64>| values.into_pyarray(py);
    Ok((
        array(summaries.iter().map(|s| s.log_evidence).collect()),
        array(pairs(&summaries.iter().map(|s| s.total).collect::<Vec<_>>())),
        array(summaries.iter().flat_map(|s| pairs(&s.counts)).collect()),
        array(summaries.iter().flat_map(|s| pairs(&s.shares)).collect()),
        summaries.iter().flat_map(|s| pairs(&s.count_intervals)).collect::<Vec<_>>().into_pyarray(py),
        array(summaries.iter().flat_map(|s| pairs(&s.share_intervals)).collect()),
        array(shared),
    ))
}
