//! The Hellinger mechanism's law: sensitivities, calibration, certification, enumeration and release.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use simplexdp_core::Error;
use simplexdp_core::hellinger::{self, Certificate, Certifier, Enumeration, Family, Goal, Release, Sensitivity, Shape};
use simplexdp_core::inference::Enumerated;
use simplexdp_core::random::StreamKey;
use simplexdp_core::{interrupt, memory};

use crate::arrays::as_slice;
use crate::detached::{detached, fail};
use crate::error::{CoreError, CoreResult};
use crate::inference::CountPosterior;
use crate::random::{simulation_key, stream_key};

/// Name of a shape, its parameter, the factor.
type Exponent = (&'static str, f64, f64);
/// An exponent, its pure loss, its mean error, the points of its profile.
type Certified<'py> = (Exponent, f64, f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);
/// Two columns.
type Columns<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The posteriors that a prior and n observations can produce.
#[pyclass(frozen, name = "HellingerFamily", module = "simplexdp._core")]
pub(crate) struct HellingerFamily(Family);

#[pymethods]
impl HellingerFamily {
    #[new]
    fn new(prior: PyReadonlyArray1<'_, f64>, n: u64) -> CoreResult<Self> {
        Ok(Self(Family::new(as_slice("prior", &prior)?, n)?))
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> (Bound<'py, pyo3::types::PyType>, (Bound<'py, PyArray1<f64>>, u64)) {
        let family = &this.get().0;
        (this.get_type(), (family.prior().to_vec().into_pyarray(this.py()), family.n()))
    }

    /// The number of candidates, when it fits in 128 bits.
    fn candidate_count(&self) -> Option<u128> {
        self.0.lattice().count()
    }

    /// The natural logarithm of the number of candidates.
    fn log_candidate_count(&self) -> f64 {
        self.0.lattice().log_count()
    }

    /// All candidates as counts, flat, in lexicographic order.
    fn candidates<'py>(&self, py: Python<'py>) -> CoreResult<Bound<'py, PyArray1<i64>>> {
        let flat = detached(py, || -> Result<_, Error> {
            let len = Enumeration::new(&self.0)?.len();
            let size = memory::size_of_rows::<i64>("the candidates", len, self.0.categories())?;
            let mut flat = memory::reserved("the candidates", size)?;
            self.0.lattice().for_each(0..len as u128, |point| flat.extend(point.iter().map(|&k| k as i64)))?;
            Ok(flat)
        })??;
        Ok(flat.into_pyarray(py))
    }

    /// The global sensitivity.
    fn global_sensitivity(&self) -> f64 {
        self.0.global_sensitivity()
    }

    /// The local sensitivity at the counts.
    fn local_sensitivity(&self, counts: PyReadonlyArray1<'_, i64>) -> CoreResult<f64> {
        Ok(self.0.local_sensitivity(&self.check(&counts)?))
    }

    /// The lifted local sensitivity at the counts.
    fn lifted_sensitivity(&self, counts: PyReadonlyArray1<'_, i64>) -> CoreResult<f64> {
        Ok(self.0.lifted_sensitivity(&self.check(&counts)?))
    }

    /// The smooth sensitivity at the counts.
    fn smooth_sensitivity(&self, counts: PyReadonlyArray1<'_, i64>, gamma: f64) -> CoreResult<f64> {
        Ok(self.0.smooth_sensitivity(&self.check(&counts)?, gamma))
    }

    /// The inverse sensitivity that an exponent of this shape follows.
    fn inverse_sensitivity(&self, counts: PyReadonlyArray1<'_, i64>, shape: &str, parameter: f64) -> CoreResult<f64> {
        Ok(self.0.inverse_sensitivity(&self.check(&counts)?, shape_of(shape, parameter)?))
    }

    /// An upper bound of the constant K of Theorem P.
    fn theorem_p_constant(&self) -> f64 {
        self.0.theorem_p_constant()
    }

    /// The epsilon of Theorem A.
    fn theorem_a_epsilon(&self, epsilon0: f64, gamma: f64, delta: f64) -> f64 {
        self.0.theorem_a_epsilon(epsilon0, gamma, delta)
    }

    /// The utility bound of the exponential mechanism.
    fn utility_bound(&self, exponent: f64, beta: f64) -> f64 {
        self.0.utility_bound(exponent, beta)
    }

    /// The exponent of a calibration and its proved (epsilon, delta), if any.
    fn calibrate(
        &self,
        py: Python<'_>,
        calibration: &str,
        sensitivity: &str,
        epsilon: f64,
        delta: f64,
    ) -> CoreResult<(Exponent, Option<(f64, f64)>)> {
        let (sensitivity, goal) = (sensitivity_of(sensitivity)?, Goal::new(epsilon, delta)?);
        let found = detached(py, || match calibration {
            "paper" => self.0.paper(sensitivity, goal),
            _ => self.0.proved(sensitivity, goal),
        })??;
        Ok((exponent(found.shape, found.factor), found.proved.map(|goal| (goal.epsilon, goal.delta))))
    }

    /// How many probabilities a certification compares in one pass, when that fits in 128 bits.
    fn certification_cost(&self) -> Option<u128> {
        Certifier::cost(&self.0)
    }

    /// Certifies an exponent as it is.
    fn certify<'py>(
        &self,
        py: Python<'py>,
        shape: &str,
        parameter: f64,
        factor: f64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Certified<'py>> {
        let shape = shape_of(shape, parameter).map_err(PyErr::from)?;
        run(py, progress, |report| Certifier::new(&self.0)?.certify(shape, factor, report))
    }

    /// Searches the best exponent that certification passes.
    fn search<'py>(
        &self,
        py: Python<'py>,
        sensitivity: &str,
        epsilon: f64,
        delta: f64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Certified<'py>> {
        let shapes = sensitivity_of(sensitivity).map_err(PyErr::from)?.shapes();
        let goal = Goal::new(epsilon, delta).map_err(CoreError::from)?;
        run(py, progress, |report| Certifier::new(&self.0)?.search(&shapes, goal, report))
    }

    /// The Hellinger distances of all candidates and their probabilities.
    fn law<'py>(&self, py: Python<'py>, counts: PyReadonlyArray1<'py, i64>, exponent: f64) -> CoreResult<Columns<'py>> {
        let x = self.check(&counts)?;
        let law = detached(py, || Enumeration::new(&self.0)?.law(&x, exponent))??;
        Ok((law.distances.into_pyarray(py), law.probabilities.into_pyarray(py)))
    }

    /// The values of the error and their probabilities, by "hellinger" or "l1".
    fn error_law<'py>(
        &self,
        py: Python<'py>,
        counts: PyReadonlyArray1<'py, i64>,
        exponent: f64,
        metric: &str,
    ) -> CoreResult<Columns<'py>> {
        let x = self.check(&counts)?;
        let (values, probabilities) = detached(py, || {
            let enumeration = Enumeration::new(&self.0)?;
            let law = enumeration.law(&x, exponent)?;
            if metric == "l1" { law.by_l1(&enumeration, &x) } else { Ok(law.by_distance()) }
        })??;
        Ok((values.into_pyarray(py), probabilities.into_pyarray(py)))
    }

    /// `size` candidates, flat, drawn exactly.
    #[pyo3(signature = (counts, exponent, size, rng = None))]
    fn release<'py>(
        &self,
        py: Python<'py>,
        counts: PyReadonlyArray1<'py, i64>,
        exponent: f64,
        size: usize,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Bound<'py, PyArray1<i64>>> {
        let key = stream_key(rng)?;
        self.drawn(py, &counts, exponent, size, &key)
    }

    /// The same for experiments: a seed needs no warning.
    #[pyo3(signature = (counts, exponent, size, rng = None))]
    fn draws<'py>(
        &self,
        py: Python<'py>,
        counts: PyReadonlyArray1<'py, i64>,
        exponent: f64,
        size: usize,
        rng: Option<&Bound<'py, PyAny>>,
    ) -> CoreResult<Bound<'py, PyArray1<i64>>> {
        let key = simulation_key(rng)?;
        self.drawn(py, &counts, exponent, size, &key)
    }

    /// The chance that a proposal of the sampler is accepted.
    fn acceptance_rate(&self, py: Python<'_>, counts: PyReadonlyArray1<'_, i64>, exponent: f64) -> CoreResult<f64> {
        let x = self.check(&counts)?;
        Ok(detached(py, || Release::new(&self.0, &x, exponent))??.acceptance_rate())
    }

    /// The posterior of the data given a released candidate.
    fn infer(
        &self,
        py: Python<'_>,
        released: PyReadonlyArray1<'_, i64>,
        shape: &str,
        parameter: f64,
        factor: f64,
        prior: PyReadonlyArray1<'_, f64>,
    ) -> CoreResult<CountPosterior> {
        let (shape, prior) = (shape_of(shape, parameter)?, as_slice("prior", &prior)?);
        let released = self.check(&released)?;
        let posterior =
            detached(py, || Enumerated::new(prior, self.0.n(), &self.0.log_likelihoods(shape, factor, &released)?))??;
        Ok(CountPosterior::enumerated(posterior))
    }
}

impl HellingerFamily {
    fn check(&self, counts: &PyReadonlyArray1<'_, i64>) -> CoreResult<Vec<u64>> {
        Ok(self.0.check(as_slice("counts", counts)?)?)
    }

    fn drawn<'py>(
        &self,
        py: Python<'py>,
        counts: &PyReadonlyArray1<'py, i64>,
        exponent: f64,
        size: usize,
        key: &StreamKey,
    ) -> CoreResult<Bound<'py, PyArray1<i64>>> {
        let x = self.check(counts)?;
        let flat = detached(py, || -> Result<_, Error> {
            let release = Release::new(&self.0, &x, exponent)?;
            let mut stream = key.stream(0);
            let n_values = memory::size_of_rows::<i64>("the draws", size, x.len())?;
            let mut flat = memory::reserved("the draws", n_values)?;
            for _ in 0..size {
                interrupt::check()?;
                flat.extend(release.sample(&mut stream)?.into_iter().map(|k| k as i64));
            }
            Ok(flat)
        })??;
        Ok(flat.into_pyarray(py))
    }
}

/// The nearest counts of sum n, for each row of noisy counts.
#[pyfunction]
pub(crate) fn project_counts<'py>(
    py: Python<'py>,
    noisy: PyReadonlyArray1<'py, i64>,
    categories: usize,
    n: u64,
) -> CoreResult<Bound<'py, PyArray1<i64>>> {
    let rows = as_slice("noisy", &noisy)?.chunks(categories.max(1));
    let flat: Vec<i64> = rows.flat_map(|row| hellinger::project_counts(row, n)).map(|k| k as i64).collect();
    Ok(flat.into_pyarray(py))
}

/// The nearest point of the simplex of sum n, for each row.
#[pyfunction]
pub(crate) fn project_real<'py>(
    py: Python<'py>,
    noisy: PyReadonlyArray1<'py, f64>,
    categories: usize,
    n: f64,
) -> CoreResult<Bound<'py, PyArray1<f64>>> {
    let rows = as_slice("noisy", &noisy)?.chunks(categories.max(1));
    Ok(rows.flat_map(|row| hellinger::project_real(row, n)).collect::<Vec<_>>().into_pyarray(py))
}

/// Runs a certification without the interpreter, which gets it back to report progress.
fn run<'py>(
    py: Python<'py>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&mut hellinger::Progress<'_>) -> Result<Certificate, Error> + Send,
) -> PyResult<Certified<'py>> {
    let result = detached(py, || {
        let mut report = |round: usize, share: f64| {
            let Some(progress) = &progress else { return true };
            Python::attach(|py| progress.call1(py, (round, share))).map_err(fail).is_ok()
        };
        work(&mut report)
    })?;
    let found = result.map_err(CoreError::from)?;
    let (epsilons, deltas) = (found.profile.epsilons().to_vec(), found.profile.deltas().to_vec());
    let points = (epsilons.into_pyarray(py), deltas.into_pyarray(py));
    Ok((exponent(found.shape, found.factor), found.loss, found.mean_distance, points.0, points.1))
}

fn exponent(shape: Shape, factor: f64) -> Exponent {
    let (name, parameter) = match shape {
        Shape::Global => ("global", 0.0),
        Shape::Local => ("local", 0.0),
        Shape::Lifted => ("lifted", 0.0),
        Shape::Smooth(gamma) => ("smooth", gamma),
        Shape::Lipschitz(slope) => ("lipschitz", slope),
    };
    (name, parameter, factor)
}

fn shape_of(name: &str, parameter: f64) -> CoreResult<Shape> {
    Ok(match name {
        "global" => Shape::Global,
        "local" => Shape::Local,
        "lifted" => Shape::Lifted,
        "smooth" => Shape::Smooth(parameter),
        "lipschitz" => Shape::Lipschitz(parameter),
        _ => Err(Error::parameter("shape", "be the name of a shape", name))?,
    })
}

fn sensitivity_of(name: &str) -> CoreResult<Sensitivity> {
    Ok(match name {
        "adaptive" => Sensitivity::Adaptive,
        "global" => Sensitivity::Global,
        "smooth" => Sensitivity::Smooth,
        "local" => Sensitivity::Local,
        _ => Err(Error::parameter("sensitivity", "be \"adaptive\", \"global\", \"smooth\" or \"local\"", name))?,
    })
}
