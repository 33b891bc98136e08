//! The shapes of a row's gamma draws: scale * counts + prior, exact rationals.

use super::gamma::Shape;
use crate::{Error, Result};

/// The largest number of entries of a row.
pub const MAX_DIMENSION: usize = 1_000_000;

/// Smallest and largest prior weight.
const PRIOR_RANGE: std::ops::RangeInclusive<f64> = 1e-6..=1e15;

/// Largest shape: 2^50.
const MAX_SHAPE: f64 = (1u64 << 50) as f64;

/// A scale and one prior weight per entry, within the limits of exact draws.
#[derive(Clone, Debug)]
pub(super) struct Shapes {
    scale: f64,
    prior: Vec<f64>,
}

impl Shapes {
    pub(super) fn new(scale: f64, prior: &[f64]) -> Result<Self> {
        if !(scale > 0.0 && scale <= 1e15) {
            return Err(Error::parameter("scale", "be positive and at most 1e15", scale));
        }
        if let Some(weight) = prior.iter().find(|weight| !PRIOR_RANGE.contains(weight)) {
            return Err(Error::parameter("prior", "be between 1e-6 and 1e15 for an exact release", weight));
        }
        if prior.is_empty() || prior.len() > MAX_DIMENSION {
            return Err(Error::parameter("dimension", "be from 1 to 10^6 for an exact release", prior.len()));
        }
        Ok(Self { scale, prior: prior.to_vec() })
    }

    pub(super) fn dimension(&self) -> usize {
        self.prior.len()
    }

    /// The shape of entry i, with the doubles of its draw.
    #[inline]
    pub(super) fn at(&self, counts: &[f64], i: usize) -> Shape {
        Shape::new(self.scale, counts[i], self.prior[i])
    }

    /// Writes delta and c of each entry, and tells whether some shape is below one.
    pub(super) fn constants(&self, counts: &[f64], deltas: &mut Vec<f64>, factors: &mut Vec<f64>) -> Result<bool> {
        let mut valid = true;
        let mut boosted = false;
        deltas.clear();
        deltas.extend(counts.iter().zip(&self.prior).map(|(&count, &prior)| {
            let a = Shape::rounded(self.scale, count, prior);
            // NaN fails both comparisons.
            valid &= (count >= 0.0) & (a <= MAX_SHAPE);
            boosted |= a < 1.0;
            Shape::delta(a)
        }));
        factors.clear();
        factors.extend(deltas.iter().map(|&delta| Shape::factor(delta)));
        if valid {
            Ok(boosted)
        } else {
            Err(Error::data("counts", "be finite, not negative, and give shapes of at most 2^50"))
        }
    }

    /// The shape of an entry whose constants are known.
    #[inline]
    pub(super) fn known(&self, counts: &[f64], i: usize, delta: f64, c: f64) -> Shape {
        let (scale, count, prior) = (self.scale, counts[i], self.prior[i]);
        Shape { scale, count, prior, boost: Shape::rounded(scale, count, prior) < 1.0, delta, c }
    }
}
