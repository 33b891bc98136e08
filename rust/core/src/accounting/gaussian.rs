//! Two normal laws with the same variance [BW18].

use super::linear_pair::{LinearPair, MARGIN};
use super::shape::Shape;
use super::{Profile, parameter};
use crate::Result;
use crate::extended::Extended;

/// The profile of N(mu, 1) against N(0, 1); mu is the sensitivity over the standard deviation.
///
/// delta(eps) = Phi(mu/2 - eps/mu) - exp(eps) Phi(-mu/2 - eps/mu) [BW18, Theorem 8].
#[derive(Debug, Clone)]
pub struct GaussianPair {
    mu: f64,
    pair: LinearPair,
}

impl GaussianPair {
    /// The pair whose means differ by `mu` standard deviations.
    ///
    /// # Errors
    ///
    /// If `mu` lies outside 1e-9 .. 1e12.
    pub fn new(mu: f64) -> Result<Self> {
        let mu = parameter::shape("mu", mu)?;
        let c = Extended::product(mu, mu) * 0.5;
        let pair = LinearPair::new(Shape::normal(mu.into()), Shape::normal(0.0.into()), mu, c);
        Ok(Self { mu, pair })
    }
}

impl Profile for GaussianPair {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        self.pair.delta_upper(epsilon)
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        self.pair.delta_lower(epsilon)
    }

    fn epsilon_upper(&self, delta: f64) -> f64 {
        self.pair.epsilon_upper(delta)
    }

    fn renyi_upper(&self, order: f64) -> f64 {
        0.5 * order * self.mu * self.mu * (1.0 + MARGIN)
    }
}
