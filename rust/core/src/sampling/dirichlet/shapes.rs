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

    /// Writes delta and c of each entry, where its draw needs them, and tells which draws the row needs.
    ///
    /// # Errors
    /// [`Error::InvalidData`] for a count that is negative or no number, or a shape beyond the largest.
    #[inline(always)]
    pub(super) fn constants(&self, counts: &[f64], deltas: &mut Vec<f64>, factors: &mut Vec<f64>) -> Result<Kinds> {
        let (mut valid, mut boosted, mut n_ones) = (true, false, 0);
        for (&count, &prior) in counts.iter().zip(&self.prior) {
            let a = Shape::rounded(self.scale, count, prior);
            // NaN fails both comparisons.
            valid &= (count >= 0.0) & (a <= MAX_SHAPE);
            boosted |= a < 1.0;
            n_ones += u64::from(Shape::is_one(self.scale, count, prior));
        }
        if !valid {
            return Err(Error::data("counts", "be finite, not negative, and give shapes of at most 2^50"));
        }
        let kinds = Kinds { boosted, some_ones: n_ones > 0, all_ones: n_ones == counts.len() as u64 };
        if !kinds.all_ones {
            // A loop in sight: `extend` would be compiled for the oldest processors.
            deltas.resize(counts.len(), 0.0);
            factors.resize(counts.len(), 0.0);
            let constants = deltas.iter_mut().zip(factors);
            for ((&count, &prior), (delta, factor)) in counts.iter().zip(&self.prior).zip(constants) {
                *delta = Shape::delta(Shape::rounded(self.scale, count, prior));
                *factor = Shape::factor(*delta);
            }
        }
        Ok(kinds)
    }

    /// Whether the shape of entry i is one exactly.
    #[inline]
    pub(super) fn is_one(&self, counts: &[f64], i: usize) -> bool {
        Shape::is_one(self.scale, counts[i], self.prior[i])
    }

    /// The shapes in doubles, entry by entry.
    #[inline(always)]
    pub(super) fn nearby<'a>(&'a self, counts: &'a [f64]) -> impl Iterator<Item = f64> + Clone + 'a {
        counts.iter().zip(&self.prior).map(|(&count, &prior)| Shape::rounded(self.scale, count, prior))
    }
}

/// Which draws a row needs.
#[derive(Clone, Copy)]
pub(super) struct Kinds {
    /// Some shape is below one.
    pub(super) boosted: bool,
    /// Some shape is one exactly.
    pub(super) some_ones: bool,
    /// Every shape is one exactly.
    pub(super) all_ones: bool,
}
