//! Two normal laws with the same variance [BW18].

use super::linear_pair::{Linear, LinearPair, MARGIN};
use super::parameter;
use super::profile::Profile;
use super::shape::Shape;
use crate::double_double::DoubleDouble;
use crate::monotone::least;
use crate::rounding::product_up;
use crate::{Error, Result};

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

    /// The largest `mu` that keeps (epsilon, delta), to 40 bits, within what a pair can have.
    ///
    /// # Errors
    ///
    /// If epsilon is not positive and finite, delta not strictly between 0 and 1, or no pair keeps such a small budget.
    pub fn largest_mu(epsilon: f64, delta: f64) -> Result<f64> {
        if !(epsilon > 0.0 && epsilon.is_finite()) {
            return Err(Error::parameter("epsilon", "be positive and finite", epsilon));
        }
        if !(0.0 < delta && delta < 1.0) {
            return Err(Error::parameter("delta", "lie strictly between 0 and 1", delta));
        }
        // [BS16, Proposition 1.3] solved for mu: where the search begins.
        let tail = -delta.ln();
        let start = ((tail + epsilon).sqrt() + tail.sqrt()) / (std::f64::consts::SQRT_2 * epsilon);
        let noise = least(start, 40, |noise| match Self::new(1.0 / noise) {
            Ok(pair) => Ok(pair.delta_upper(epsilon) <= delta),
            Err(_) => Ok(noise > 1.0),
        })?;
        let rule = "leave room for noise that a double can hold";
        noise.map(|noise| 1.0 / noise).ok_or_else(|| Error::parameter("epsilon", rule, epsilon))
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
