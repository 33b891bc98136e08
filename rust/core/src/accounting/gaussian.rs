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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_mu_solves_the_formula() {
        // epsilon, delta and the root of [BW18, Theorem 8], with 20 digits (mpmath).
        for (epsilon, delta, mu) in [
            (0.1, 0.01, 0.10480177537254446222),
            (1.0, 1e-5, 0.26805112321129421922),
            (4.0, 1e-10, 0.63479326141379766048),
            (20.0, 0.5, 6.4795888526245917014),
        ] {
            let found = GaussianPair::largest_mu(epsilon, delta).unwrap();
            assert!(found <= mu * (1.0 + 1e-15) && found >= mu * (1.0 - 1e-9), "{epsilon} {delta}: {found} {mu}");
        }
        for (epsilon, delta) in [(0.0, 0.1), (-1.0, 0.1), (f64::INFINITY, 0.1), (f64::NAN, 0.1), (1.0, 0.0), (1.0, 1.0)]
        {
            assert!(GaussianPair::largest_mu(epsilon, delta).is_err(), "{epsilon} {delta}");
        }
    }

    #[test]
    fn divergences_are_half_the_order_times_the_squared_distance() {
        let pair = GaussianPair::new(0.7).unwrap();
        for order in [1.5, 3.0, 40.0] {
            let (found, exact) = (pair.renyi_upper(order), 0.245 * order);
            assert!(found >= exact && found <= exact * (1.0 + 1e-10), "{order}: {found}");
        }
        assert!(pair.tcdp_upper(9.0) >= 0.245 && pair.tcdp_upper(9.0) <= 0.245 * (1.0 + 1e-10));
        let square = Profile::gaussian_square(&pair).unwrap();
        assert!((0.49..=0.49 * (1.0 + 1e-15)).contains(&square), "{square}");
    }

    #[test]
    fn the_largest_mu_is_one_that_can_be_had_where_the_formula_asks_for_more() {
        // delta = 1/2 at epsilon = mu^2/2 - c, c of order mu: the root is sqrt(2 epsilon) but for parts in 10^13.
        for epsilon in [1e26_f64, 1e30] {
            let mu = GaussianPair::largest_mu(epsilon, 0.5).unwrap();
            assert!(
                mu <= (2.0 * epsilon).sqrt() * (1.0 + 1e-12) && GaussianPair::new(mu).is_ok(),
                "{epsilon:e}: {mu:e}"
            );
        }
    }
}
