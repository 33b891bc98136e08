//! Gamma(a + r) against Gamma(a): what one added or removed record does to a Dirichlet draw.

use super::beta_pair::{divergence, falling_term, rising_term};
use super::linear_pair::{Linear, LinearPair};
use super::parameter;
use super::shape::Shape;
use crate::Result;
use crate::double_double::DoubleDouble;
use crate::log_gamma_extended::log_gamma_ratio;

/// Which of the two neighbours comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// P has the record: Gamma(a + r) against Gamma(a).
    Remove,
    /// Q has the record: Gamma(a) against Gamma(a + r).
    Add,
}

/// The profile of Gamma(a + r) and Gamma(a) (unit rate), in either order.
///
/// With g ~ P and c = lgamma(a + r) - lgamma(a) the loss is r ln g - c when the record is removed, and c - r ln g
/// when it is added. It dominates all neighbours of a Dirichlet mechanism under add/remove (theory B1).
#[derive(Debug, Clone)]
pub struct GammaPair {
    a: f64,
    r: f64,
    direction: Direction,
    pair: LinearPair,
}

impl GammaPair {
    /// The pair with these parameters.
    ///
    /// # Errors
    ///
    /// If one of them lies outside 1e-9 .. 1e12.
    pub fn new(a: f64, r: f64, direction: Direction) -> Result<Self> {
        let (a, r) = (parameter::shape("a", a)?, parameter::shape("r", r)?);
        let c = log_gamma_ratio(a.into(), r.into());
        let reversed = direction == Direction::Add;
        let with = Shape::log_gamma(DoubleDouble::sum(a, r), reversed);
        let without = Shape::log_gamma(a.into(), reversed);
        let pair = match direction {
            Direction::Remove => LinearPair::new(with, without, r, c),
            Direction::Add => LinearPair::new(without, with, r, -c),
        };
        Ok(Self { a, r, direction, pair })
    }
}

impl Linear for GammaPair {
    fn pair(&self) -> &LinearPair {
        &self.pair
    }

    fn renyi(&self, order: f64) -> f64 {
        match self.direction {
            Direction::Remove => divergence(rising_term(self.a, self.r, order), order),
            Direction::Add => falling_term(self.a, self.r, order).map_or(f64::INFINITY, |term| divergence(term, order)),
        }
    }
}
