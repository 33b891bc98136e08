//! Guarantees that are stated by their numbers, and those of noise at a known sensitivity.

use super::{Adjacency, Guarantee, Leaf, Node, Real};
use crate::rounding::quotient_up;
use crate::{Error, Result};

impl Guarantee {
    fn of_leaf(adjacency: Adjacency, leaf: Leaf) -> Result<Self> {
        Self::symmetric(adjacency, Node::leaf(leaf)?)
    }

    /// The worst that an (epsilon, delta) guarantee allows \[KOV15\]; delta = 0 is pure DP.
    ///
    /// # Errors
    /// If `epsilon` is negative or infinite, or `delta` outside [0, 1).
    pub fn budget(adjacency: Adjacency, epsilon: f64, delta: f64) -> Result<Self> {
        Self::of_leaf(adjacency, Leaf::Budget { epsilon: Real(epsilon), delta: Real(delta) })
    }

    /// (rho, omega)-tCDP through all Renyi orders below omega, which may be infinite (zCDP).
    ///
    /// # Errors
    /// If `rho` is negative or infinite, or `omega` not above 1.
    pub fn tcdp_bound(adjacency: Adjacency, rho: f64, omega: f64, optimal: bool) -> Result<Self> {
        Self::of_leaf(adjacency, Leaf::Truncated { rho: Real(rho), omega: Real(omega), optimal })
    }

    /// Gaussian noise of deviation `sigma` on values at Euclidean distance `sensitivity` \[BW18\].
    ///
    /// # Errors
    /// If one of them is not positive, or their ratio is out of range.
    pub fn gaussian(adjacency: Adjacency, sigma: f64, sensitivity: f64) -> Result<Self> {
        let mu = ratio_up(sensitivity, sigma)?;
        Ok(Self::of_leaf(adjacency, Leaf::Gaussian { mu: Real(mu) })?.attained(true))
    }

    /// Discrete Gaussian noise on integers of which one or two move by one.
    ///
    /// # Errors
    /// If `sigma` lies outside 1e-3 .. 5000, or `changed` is neither one nor two.
    pub fn discrete_gaussian(adjacency: Adjacency, sigma: f64, changed: u64) -> Result<Self> {
        Ok(Self::of_leaf(adjacency, Leaf::DiscreteGaussian { sigma: Real(sigma), changed })?.attained(true))
    }

    /// Laplace noise of this scale on a number that moves by `sensitivity`.
    ///
    /// # Errors
    /// If one of them is not positive, or their ratio is out of range.
    pub fn laplace(adjacency: Adjacency, scale: f64, sensitivity: f64) -> Result<Self> {
        let epsilon = ratio_up(sensitivity, scale)?;
        Ok(Self::of_leaf(adjacency, Leaf::Laplace { epsilon: Real(epsilon) })?.attained(true))
    }
}

/// Sensitivity over noise, rounded up.
fn ratio_up(sensitivity: f64, noise: f64) -> Result<f64> {
    let ratio = quotient_up(sensitivity, noise);
    if ratio.is_finite() && sensitivity > 0.0 && noise > 0.0 {
        Ok(ratio)
    } else {
        Err(Error::parameter(
            "sensitivity",
            "be positive and fit a double over the noise",
            format!("{sensitivity} over {noise}"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_of_what_is_not_positive_are_refused() {
        for (noise, sensitivity) in [
            (1.0, 0.0),
            (1.0, -1.0),
            (0.0, 1.0),
            (-1.0, 1.0),
            (-1.0, -1.0),
            (f64::NAN, 1.0),
            (1e-300, 1e300),
            (1.0, f64::NAN),
        ] {
            assert!(ratio_up(sensitivity, noise).is_err(), "{noise} {sensitivity}");
            assert!(Guarantee::gaussian(Adjacency::Replace, noise, sensitivity).is_err());
            assert!(Guarantee::laplace(Adjacency::Replace, noise, sensitivity).is_err());
        }
        let third = ratio_up(1.0, 3.0).unwrap();
        assert!(third.mul_add(3.0, -1.0) >= 0.0 && third.next_down().mul_add(3.0, -1.0) < 0.0);
    }
}
