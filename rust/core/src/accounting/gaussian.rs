//! Two normal laws with the same variance [BW18].

use super::linear_pair::{Linear, LinearPair, MARGIN};
use super::parameter;
use super::shape::Shape;
use crate::Result;
use crate::double_double::DoubleDouble;
use crate::rounding::product_up;

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
        let c = DoubleDouble::product(mu, mu) * 0.5;
        let pair = LinearPair::new(Shape::normal(mu.into()), Shape::normal(0.0.into()), mu, c);
        Ok(Self { mu, pair })
    }
}

impl Linear for GaussianPair {
    fn pair(&self) -> &LinearPair {
        &self.pair
    }

    fn renyi(&self, order: f64) -> f64 {
        0.5 * order * self.mu * self.mu * (1.0 + MARGIN)
    }

    fn tcdp(&self, _omega: f64) -> Option<f64> {
        // D/order does not depend on the order.
        Some(self.renyi(1.0))
    }

    fn gaussian_square(&self) -> Option<f64> {
        Some(product_up(self.mu, self.mu))
    }
}
