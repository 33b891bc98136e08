//! The law of the mechanism by enumeration: P(k) proportional to exp(-exponent H(x, k)) over all candidates.

use super::Family;
use super::kernel::{distances, exp_negative, sum};
use super::scores::coordinate_score;
use crate::{Error, Result};

/// Candidates that are enumerated at most: a table of doubles of half a gigabyte.
pub const ENUMERATION_LIMIT: usize = 1 << 26;

/// Scores of one coordinate are tabulated for all pairs of counts when that takes at most this many entries.
const SQUARE_TABLE_LIMIT: usize = 1 << 23;

const INSTEAD: &str = "release without the table of probabilities, which works at any size";

/// The distances of all candidates from any data set, computed with tables that are shared by all of them.
pub struct Enumeration {
    family: Family,
    len: usize,
    /// For each distinct entry of the prior, g(a + x, a + k) at x (n+1) + k; empty when that is too large.
    squares: Vec<Vec<f64>>,
    /// Which of the squares belongs to a coordinate.
    square_of: Vec<usize>,
}

/// The law of the output at one data set.
#[derive(Debug, Clone)]
pub struct Law {
    /// The Hellinger distance of every candidate from the data set's own posterior, in lexicographic order of counts.
    pub distances: Vec<f64>,
    /// The probability of every candidate.
    pub probabilities: Vec<f64>,
    /// The logarithm of the sum of exp(-exponent distance).
    pub log_total: f64,
}

impl Enumeration {
    /// An enumeration for single data sets: no tables beyond a row per coordinate.
    ///
    /// # Errors
    /// [`Error::NotAffordable`] above [`ENUMERATION_LIMIT`] candidates.
    pub fn new(family: &Family) -> Result<Self> {
        let len = family.lattice().affordable(ENUMERATION_LIMIT, INSTEAD)?;
        Ok(Self { family: family.clone(), len, squares: Vec::new(), square_of: Vec::new() })
    }

    /// An enumeration for many data sets: the scores of all pairs of counts are tabulated when they fit.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn tabulated(family: &Family) -> Result<Self> {
        let mut enumeration = Self::new(family)?;
        let side = family.n() as usize + 1;
        let mut distinct: Vec<f64> = Vec::new();
        let square_of: Vec<usize> = family
            .prior()
            .iter()
            .map(|a| {
                distinct.iter().position(|b| a == b).unwrap_or_else(|| {
                    distinct.push(*a);
                    distinct.len() - 1
                })
            })
            .collect();
        if side
            .checked_mul(side)
            .and_then(|area| area.checked_mul(distinct.len()))
            .is_some_and(|size| size <= SQUARE_TABLE_LIMIT)
        {
            enumeration.squares = distinct.iter().map(|&a| square(a, side)).collect();
            enumeration.square_of = square_of;
        }
        Ok(enumeration)
    }

    /// The number of candidates.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no candidate: never.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The family whose candidates these are.
    pub fn family(&self) -> &Family {
        &self.family
    }

    /// Writes the Hellinger distances of all candidates from x, in lexicographic order.
    pub fn distances_into(&self, x: &[u64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.len, 0.0);
        let rows: Vec<Vec<f64>> = (0..x.len()).map(|i| self.row(i, x[i])).collect();
        let last = x.len() - 1;
        let reversed: Vec<f64> = rows[last].iter().rev().copied().collect();
        let runs = Runs { rows: &rows[..last], reversed: &reversed, n: self.family.n() as usize };
        let written = runs.write(0, runs.n, 0.0, out);
        debug_assert_eq!(written, self.len);
    }

    /// The Hellinger distances of all candidates from x, in lexicographic order.
    pub fn distances(&self, x: &[u64]) -> Vec<f64> {
        let mut out = Vec::new();
        self.distances_into(x, &mut out);
        out
    }

    /// The law at x for the given exponent, the factor of -H.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an exponent that is negative or not finite.
    pub fn law(&self, x: &[u64], exponent: f64) -> Result<Law> {
        if !(exponent >= 0.0 && exponent.is_finite()) {
            return Err(Error::parameter("exponent", "be finite and not negative", exponent));
        }
        let distances = self.distances(x);
        let mut probabilities: Vec<f64> = distances.iter().map(|distance| exp_negative(exponent * distance)).collect();
        let total = sum(probabilities.iter().copied());
        probabilities.iter_mut().for_each(|p| *p /= total);
        Ok(Law { distances, probabilities, log_total: total.ln() })
    }

    /// g_i(k) for k = 0..n at x_i = x.
    fn row(&self, i: usize, x: u64) -> Vec<f64> {
        let side = self.family.n() as usize + 1;
        match self.square_of.get(i) {
            Some(&square) => self.squares[square][x as usize * side..][..side].to_vec(),
            None => (0..side as u64).map(|k| coordinate_score(self.family.prior()[i], x, k)).collect(),
        }
    }
}

/// The runs of candidates that differ in their last two coordinates only.
struct Runs<'a> {
    rows: &'a [Vec<f64>],
    /// g of the last coordinate from k = n down, so that both rows of a run are read forwards.
    reversed: &'a [f64],
    n: usize,
}

impl Runs<'_> {
    /// Writes all candidates whose coordinates from `depth` on sum to `rest`; returns how many.
    fn write(&self, depth: usize, rest: usize, prefix: f64, out: &mut [f64]) -> usize {
        let row = &self.rows[depth];
        if depth + 1 == self.rows.len() {
            distances(prefix, &row[..=rest], &self.reversed[self.n - rest..], &mut out[..=rest]);
            return rest + 1;
        }
        let mut written = 0;
        for (k, score) in row[..=rest].iter().enumerate() {
            written += self.write(depth + 1, rest - k, prefix + score, &mut out[written..]);
        }
        written
    }
}

/// The expected distance under the weights exp(-exponent distance).
pub(super) fn mean_distance(distances: &[f64], exponent: f64) -> f64 {
    let weights = distances.iter().map(|distance| (distance, exp_negative(exponent * distance)));
    let [error, total] = weights.fold([0.0; 2], |sum, (distance, w)| [sum[0] + distance * w, sum[1] + w]);
    error / total
}

fn square(prior: f64, side: usize) -> Vec<f64> {
    let mut table = vec![0.0; side * side];
    for x in 0..side {
        for k in 0..x {
            let score = coordinate_score(prior, x as u64, k as u64);
            table[x * side + k] = score;
            table[k * side + x] = score;
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_do_not_change_the_law() {
        let family = Family::new(&[1.0, 0.3, 1.0, 7.0], 6).unwrap();
        let (plain, tabulated) = (Enumeration::new(&family).unwrap(), Enumeration::tabulated(&family).unwrap());
        let (a, b) = (plain.law(&[2, 0, 3, 1], 9.0).unwrap(), tabulated.law(&[2, 0, 3, 1], 9.0).unwrap());
        assert_eq!(a.distances, b.distances);
        assert_eq!(a.probabilities, b.probabilities);
        assert!((a.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        let own = family.lattice().rank(&[2, 0, 3, 1]).unwrap() as usize;
        assert_eq!(a.distances[own], 0.0);
    }

    #[test]
    fn one_candidate_is_certain() {
        let family = Family::new(&[1.0, 2.0], 0).unwrap();
        assert_eq!(Enumeration::new(&family).unwrap().law(&[0, 0], 5.0).unwrap().probabilities, vec![1.0]);
    }
}
