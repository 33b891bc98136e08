//! Beta(a + r, b) against Beta(a, b + r): what one replaced record does to a Dirichlet draw.

use super::linear_pair::{LinearPair, MARGIN};
use super::shape::Shape;
use super::{Profile, parameter};
use crate::Result;
use crate::extended::{Extended, log_gamma_ratio};

/// The profile of P = Beta(a + r, b) against Q = Beta(a, b + r).
///
/// With y ~ P the loss is r logit(y) - c, c = ln B(a + r, b) - ln B(a, b + r), which is 0 for a = b. With a = b this is
/// the pair that dominates all neighbours of a Dirichlet mechanism whose smallest prior is a (theory B1).
#[derive(Debug, Clone)]
pub struct BetaPair {
    a: f64,
    b: f64,
    r: f64,
    pair: LinearPair,
}

impl BetaPair {
    /// The pair with these parameters.
    ///
    /// # Errors
    ///
    /// If one of them lies outside 1e-9 .. 1e12.
    pub fn new(a: f64, b: f64, r: f64) -> Result<Self> {
        let (a, b, r) = (parameter::shape("a", a)?, parameter::shape("b", b)?, parameter::shape("r", r)?);
        let p = Shape::logit_beta(Extended::sum(a, r), b.into());
        let q = if a == b { p.mirrored() } else { Shape::logit_beta(a.into(), Extended::sum(b, r)) };
        let c = if a == b {
            Extended::from(0.0)
        } else {
            log_gamma_ratio(a.into(), r.into()) - log_gamma_ratio(b.into(), r.into())
        };
        Ok(Self { a, b, r, pair: LinearPair::new(p, q, r, c) })
    }
}

impl Profile for BetaPair {
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
        // [DM] eq. 11-12; the sums of the parameters agree, so that their terms cancel.
        match falling_term(self.b, self.r, order) {
            Some(falling) => divergence(rising_term(self.a, self.r, order) + falling, order),
            None => f64::INFINITY,
        }
    }
}

/// The Renyi divergence whose moment has this logarithm, rounded up.
pub(super) fn divergence(log_moment: Extended, order: f64) -> f64 {
    (log_moment / (Extended::from(order) - Extended::from(1.0))).value().max(0.0) * (1.0 + MARGIN)
}

/// ln of the integral of p^order q^(1-order) for one coordinate whose parameter is a + r under P and a under Q.
pub(super) fn rising_term(a: f64, r: f64, order: f64) -> Extended {
    // lgamma(a + order r) - lgamma(a + r) - (order - 1) (lgamma(a + r) - lgamma(a))
    let excess = Extended::from(order) - Extended::from(1.0);
    log_gamma_ratio(Extended::sum(a, r), excess * r) - excess * log_gamma_ratio(a.into(), r.into())
}

/// The same for a coordinate with a under P and a + r under Q; None where it is infinite.
pub(super) fn falling_term(a: f64, r: f64, order: f64) -> Option<Extended> {
    // lgamma(a - (order - 1) r) - lgamma(a) + (order - 1) (lgamma(a + r) - lgamma(a))
    let excess = Extended::from(order) - Extended::from(1.0);
    let low = Extended::from(a) - excess * r;
    (low.value() > 0.0).then(|| excess * log_gamma_ratio(a.into(), r.into()) - log_gamma_ratio(low, excess * r))
}
