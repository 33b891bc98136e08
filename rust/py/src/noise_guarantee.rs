//! `simplexdp_core::guarantee`: what added noise guarantees, and the least noise for a budget.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt};
use simplexdp_core::Error;
use simplexdp_core::confidence::Radius;
use simplexdp_core::guarantee::{
    Grid, Guarantee, Noise, NoiseBudget, NoiseMechanism, choices_epsilon, choices_rho, gaussian_on_grid, least_size,
};
use simplexdp_core::sampling::Rational;

use crate::detached::detached;
use crate::error::CoreResult;
use crate::guarantee::{PyGuarantee, adjacency};
use crate::noise::{Fraction, rational};

fn noise(name: &str) -> Result<Noise, Error> {
    match name {
        "laplace" => Ok(Noise::Laplace),
        "gaussian" => Ok(Noise::Gaussian),
        _ => Err(Error::parameter("noise", "be 'laplace' or 'gaussian'", name)),
    }
}

fn budget(rho: Option<Fraction<'_>>, pair: Option<(f64, f64)>, advantage: Option<f64>) -> CoreResult<NoiseBudget> {
    Ok(match (rho, pair, advantage) {
        (Some(rho), None, None) => NoiseBudget::Rho(rational("rho", rho)?),
        (None, Some((epsilon, delta)), None) => NoiseBudget::Pair(epsilon, delta),
        (None, None, Some(advantage)) => NoiseBudget::Advantage(advantage),
        _ => {
            return Err(
                Error::parameter("budget", "be one of rho, epsilon with delta, and advantage", "another").into()
            );
        }
    })
}

/// A mechanism that adds noise, by its exact parameters.
#[pyclass(frozen, name = "NoiseMechanism", module = "simplexdp._core")]
pub(crate) struct PyNoiseMechanism(NoiseMechanism);

#[pymethods]
impl PyNoiseMechanism {
    /// The grid is (the logarithm of its step, the number of values that change).
    #[new]
    #[pyo3(signature = (noise, size, sensitivity, grid = None))]
    fn new(noise: &str, size: Fraction<'_>, sensitivity: Fraction<'_>, grid: Option<(i32, u64)>) -> CoreResult<Self> {
        let (size, sensitivity) = (rational("scale", size)?, rational("sensitivity", sensitivity)?);
        let grid = grid.map(|(log_step, changed)| Grid { step: Rational::power_of_two(log_step), changed });
        Ok(Self(NoiseMechanism { noise: self::noise(noise)?, size, sensitivity, grid }))
    }

    /// What one release guarantees.
    fn guarantee(&self, adjacency: &str) -> CoreResult<PyGuarantee> {
        Ok(PyGuarantee::new(self.0.guarantee(crate::guarantee::adjacency(adjacency)?)?))
    }

    /// Of zero-concentrated DP, rounded up.
    fn rho(&self) -> f64 {
        self.0.rho()
    }

    /// What the error of a value exceeds with a probability of at most alpha: an int for integers, else a float.
    fn radius<'py>(&self, py: Python<'py>, alpha: f64) -> CoreResult<Bound<'py, PyAny>> {
        Ok(match self.0.radius(alpha)? {
            Radius::Whole(steps) => PyInt::new(py, steps).into_any(),
            Radius::Real(width) => PyFloat::new(py, width).into_any(),
        })
    }

    /// Numerator and denominator of the distance of neighbours once they are on the grid.
    fn widened<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let widened = self.0.widened();
        let integer =
            |bytes: Vec<u8>| py.get_type::<PyInt>().call_method1("from_bytes", (PyBytes::new(py, &bytes), "little"));
        Ok((integer(widened.numerator.to_bytes_le())?, integer(widened.denominator.to_bytes_le())?))
    }
}

/// Tables with Gaussian noise on grids, together.
#[pyfunction]
pub(crate) fn gaussian_tables(tables: Vec<Bound<'_, PyNoiseMechanism>>, adjacency: &str) -> CoreResult<PyGuarantee> {
    let tables: Vec<NoiseMechanism> = tables.iter().map(|table| table.get().0.clone()).collect();
    Ok(PyGuarantee::new(Guarantee::gaussian_tables(crate::guarantee::adjacency(adjacency)?, &tables)?))
}

/// Mechanisms that are rho-zCDP each, together.
#[pyfunction]
pub(crate) fn concentrated(rhos: Vec<f64>, adjacency: &str) -> CoreResult<PyGuarantee> {
    Ok(PyGuarantee::new(Guarantee::concentrated(crate::guarantee::adjacency(adjacency)?, &rhos)?))
}

/// Pure epsilon and rho of so many choices by an exponential mechanism.
#[pyfunction]
pub(crate) fn choices_cost(epsilon: f64, choices: u64) -> (f64, f64) {
    (choices_epsilon(epsilon, choices), choices_rho(epsilon, choices))
}

/// The least scale or sigma of noise on integers that keeps a budget.
#[pyfunction]
#[pyo3(signature = (adjacency, noise, sensitivity, *, rho = None, pair = None, advantage = None))]
pub(crate) fn least_noise(
    py: Python<'_>,
    adjacency: &str,
    noise: &str,
    sensitivity: Fraction<'_>,
    rho: Option<Fraction<'_>>,
    pair: Option<(f64, f64)>,
    advantage: Option<f64>,
) -> CoreResult<f64> {
    let (neighbours, noise) = (self::adjacency(adjacency)?, self::noise(noise)?);
    let (sensitivity, budget) = (rational("sensitivity", sensitivity)?, budget(rho, pair, advantage)?);
    Ok(detached(py, || least_size(noise, &sensitivity, &budget, neighbours))??)
}

/// The step of the grid where none is stated, as a logarithm.
#[pyfunction]
pub(crate) fn default_step(size: Fraction<'_>, sensitivity: Fraction<'_>) -> CoreResult<i32> {
    Ok(simplexdp_core::guarantee::default_step(&rational("scale", size)?, &rational("sensitivity", sensitivity)?))
}

/// The least sigma of Gaussian noise on a grid that keeps a budget, and the logarithm of the step of the grid.
#[pyfunction]
#[pyo3(signature = (adjacency, sensitivity, changed, *, rho = None, pair = None, advantage = None))]
pub(crate) fn least_noise_on_grid(
    py: Python<'_>,
    adjacency: &str,
    sensitivity: Fraction<'_>,
    changed: u64,
    rho: Option<Fraction<'_>>,
    pair: Option<(f64, f64)>,
    advantage: Option<f64>,
) -> CoreResult<(f64, i32)> {
    let neighbours = self::adjacency(adjacency)?;
    let (sensitivity, budget) = (rational("sensitivity", sensitivity)?, budget(rho, pair, advantage)?);
    Ok(detached(py, || gaussian_on_grid(&sensitivity, changed, &budget, neighbours))??)
}
