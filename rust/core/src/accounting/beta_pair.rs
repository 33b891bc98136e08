//! Beta(a + r, b) against Beta(a, b + r): what one replaced record does to a Dirichlet draw.

use super::linear_pair::{Linear, LinearPair, MARGIN};
use super::parameter;
use super::shape::Shape;
use crate::Result;
use crate::double_double::DoubleDouble;
use crate::log_gamma_extended::log_gamma_ratio;

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
        let p = Shape::logit_beta(DoubleDouble::sum(a, r), b.into());
        let q = if a == b { p.mirrored() } else { Shape::logit_beta(a.into(), DoubleDouble::sum(b, r)) };
        let c = if a == b {
            DoubleDouble::from(0.0)
        } else {
            log_gamma_ratio(a.into(), r.into()) - log_gamma_ratio(b.into(), r.into())
        };
        Ok(Self { a, b, r, pair: LinearPair::new(p, q, r, c) })
    }
}

impl Linear for BetaPair {
    fn pair(&self) -> &LinearPair {
        &self.pair
    }

    fn renyi(&self, order: f64) -> f64 {
        // [DM] eq. 11-12; the sums of the parameters agree, so that their terms cancel.
        match falling_term(self.b, self.r, order) {
            Some(falling) => divergence(rising_term(self.a, self.r, order) + falling, order),
            None => f64::INFINITY,
        }
    }
}

/// The Renyi divergence whose moment has this logarithm, rounded up.
pub(super) fn divergence(log_moment: DoubleDouble, order: f64) -> f64 {
    let value = (log_moment / (DoubleDouble::from(order) - DoubleDouble::ONE)).to_f64();
    // NaN: the order is infinite, or so large that the sums overflow.
    if value.is_nan() { f64::INFINITY } else { value.max(0.0) * (1.0 + MARGIN) }
}

/// ln of the integral of p^order q^(1-order) for one coordinate whose parameter is a + r under P and a under Q.
pub(super) fn rising_term(a: f64, r: f64, order: f64) -> DoubleDouble {
    // lgamma(a + order r) - lgamma(a + r) - (order - 1) (lgamma(a + r) - lgamma(a))
    let excess = DoubleDouble::from(order) - DoubleDouble::ONE;
    log_gamma_ratio(DoubleDouble::sum(a, r), excess * r) - excess * log_gamma_ratio(a.into(), r.into())
}

/// The same for a coordinate with a under P and a + r under Q; None where it is infinite.
pub(super) fn falling_term(a: f64, r: f64, order: f64) -> Option<DoubleDouble> {
    // lgamma(a - (order - 1) r) - lgamma(a) + (order - 1) (lgamma(a + r) - lgamma(a))
    let excess = DoubleDouble::from(order) - DoubleDouble::ONE;
    let low = DoubleDouble::from(a) - excess * r;
    (low.to_f64() > 0.0).then(|| excess * log_gamma_ratio(a.into(), r.into()) - log_gamma_ratio(low, excess * r))
}
