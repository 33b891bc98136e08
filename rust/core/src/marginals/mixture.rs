//! A mixture of products: its tables, conditionals and likelihoods in closed form.

use super::Layout;
use crate::{Error, Result};

/// Probabilities of the levels of all columns in each of K components, and the weights of the components.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    sizes: Vec<usize>,
    offsets: Vec<usize>,
    weights: Vec<f64>,
    /// Row by row the levels of all columns, each with one probability for each component.
    levels: Vec<f64>,
}

/// How far probabilities that a caller gives may be from summing to one.
const TOLERANCE: f64 = 1e-9;

/// Cells of a table that is asked for.
const MOST_CELLS: usize = 1 << 31;

impl Mixture {
    /// The mixture of these weights and levels: for each level of each column one probability for each component.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when the numbers do not fit together, or are no probabilities.
    pub fn new(sizes: &[usize], weights: Vec<f64>, levels: Vec<f64>) -> Result<Self> {
        let layout = Layout::new(sizes, &[])?;
        let n = weights.len();
        let valid = |values: &[f64]| values.iter().all(|&p| (0.0..=1.0).contains(&p));
        if n == 0 || !valid(&weights) || (weights.iter().sum::<f64>() - 1.0).abs() > TOLERANCE {
            return Err(Error::parameter("weights", "be probabilities that sum to one", format!("{n} numbers")));
        }
        let sums_to_one = |column: usize| {
            let rows = layout.levels(column);
            let sum = |k: usize| rows.clone().map(|level| levels[level * n + k]).sum::<f64>();
            (0..n).all(|k| (sum(k) - 1.0).abs() <= TOLERANCE)
        };
        if Some(levels.len()) != n.checked_mul(layout.width()) || !valid(&levels) || !(0..sizes.len()).all(sums_to_one)
        {
            return Err(Error::parameter(
                "levels",
                "hold probabilities that sum to one in each column of each component",
                format!("{} numbers", levels.len()),
            ));
        }
        Ok(Self::normalised(&layout, weights, levels))
    }

    /// The mixture of numbers that sum to one but for rounding.
    pub(super) fn normalised(layout: &Layout, mut weights: Vec<f64>, mut levels: Vec<f64>) -> Self {
        let n = weights.len();
        let of_weights = divisor(weights.iter().sum(), n);
        weights.iter_mut().for_each(|w| *w /= of_weights);
        for column in 0..layout.n_columns() {
            let rows = &mut levels[layout.levels(column).start * n..layout.levels(column).end * n];
            let mut sums = vec![0.0; n];
            rows.chunks_exact(n).for_each(|row| sums.iter_mut().zip(row).for_each(|(sum, p)| *sum += p));
            sums.iter_mut().for_each(|sum| *sum = divisor(*sum, layout.sizes()[column]));
            rows.chunks_exact_mut(n).for_each(|row| row.iter_mut().zip(&sums).for_each(|(p, sum)| *p /= sum));
        }
        let offsets = (0..layout.n_columns()).map(|column| layout.levels(column).start).collect();
        Self { sizes: layout.sizes().to_vec(), offsets, weights, levels }
    }

    /// The product of one-way tables.
    pub(super) fn product(layout: &Layout, one_way: &[f64]) -> Self {
        Self::normalised(layout, vec![1.0], one_way.to_vec())
    }

    /// The mean of mixtures of one size: all their components side by side.
    pub(super) fn mean(layout: &Layout, mixtures: &[Self]) -> Self {
        if let [only] = mixtures {
            return only.clone();
        }
        let weights = mixtures.iter().flat_map(|mixture| &mixture.weights).copied().collect();
        let mut levels = Vec::with_capacity(mixtures.iter().map(|mixture| mixture.levels.len()).sum());
        for level in 0..layout.width() {
            for mixture in mixtures {
                let n = mixture.weights.len();
                levels.extend_from_slice(&mixture.levels[level * n..][..n]);
            }
        }
        Self::normalised(layout, weights, levels)
    }

    /// The number of levels of each column.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The weights of the components.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The probabilities of the levels: for each level of each column one for each component.
    pub fn levels(&self) -> &[f64] {
        &self.levels
    }

    /// The probabilities of one level in all components.
    pub(super) fn level(&self, column: usize, code: usize) -> &[f64] {
        let n = self.weights.len();
        &self.levels[(self.offsets[column] + code) * n..][..n]
    }

    /// The two-way table of two columns, the second fastest.
    pub(super) fn pair(&self, i: usize, j: usize) -> Vec<f64> {
        let mut table = Vec::with_capacity(self.sizes[i] * self.sizes[j]);
        for a in 0..self.sizes[i] {
            let weighted: Vec<f64> = self.level(i, a).iter().zip(&self.weights).map(|(p, w)| p * w).collect();
            table.extend((0..self.sizes[j]).map(|b| dot(&weighted, self.level(j, b))));
        }
        table
    }

    /// The joint table of some columns, the last fastest.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for columns that do not exist, [`Error::NotAffordable`] for too many cells,
    /// [`Error::Interrupted`].
    pub fn marginal(&self, columns: &[usize]) -> Result<Vec<f64>> {
        self.check_columns(columns)?;
        let n = self.weights.len();
        let cells = columns.iter().try_fold(1_usize, |cells, &column| cells.checked_mul(self.sizes[column]));
        if cells.and_then(|cells| cells.checked_mul(n)).is_none_or(|size| size > MOST_CELLS) {
            return Err(Error::NotAffordable {
                asked: format!("a table of {} columns in {n} components", columns.len()),
                limit: format!("{MOST_CELLS} numbers"),
                instead: "ask for fewer columns, or draw records and count them",
            });
        }
        let mut parts = vec![self.weights.clone()];
        for &column in columns {
            crate::interrupt::check()?;
            let extended = |part: &Vec<f64>| {
                let times = |code| part.iter().zip(self.level(column, code)).map(|(p, q)| p * q).collect();
                (0..self.sizes[column]).map(times).collect::<Vec<Vec<f64>>>()
            };
            parts = parts.iter().flat_map(extended).collect();
        }
        Ok(parts.iter().map(|part| part.iter().sum()).collect())
    }

    /// The logarithm of the probability of each record; `codes` are one slice for each of `columns`, others are summed
    /// out.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for columns that do not fit, [`Error::InvalidData`] for codes beyond them,
    /// [`Error::Interrupted`].
    pub fn log_likelihood(&self, columns: &[usize], codes: &[Vec<u32>]) -> Result<Vec<f64>> {
        let n_rows = self.check_codes(columns, codes)?;
        (0..n_rows).map(|row| Ok(self.posterior(columns, codes, row)?.1)).collect()
    }

    /// The distribution of a column given others, for each record: rows of as many numbers as the column has levels.
    ///
    /// # Errors
    /// As [`Self::log_likelihood`].
    pub fn conditional(&self, column: usize, given: &[usize], codes: &[Vec<u32>], n_rows: usize) -> Result<Vec<f64>> {
        self.check_columns(&[column])?;
        if given.contains(&column) {
            return Err(Error::parameter("given", "not hold the column that is asked for", column));
        }
        let counted = self.check_codes(given, codes)?;
        let n_rows = if given.is_empty() { n_rows } else { counted };
        let mut rows = Vec::with_capacity(n_rows * self.sizes[column]);
        for row in 0..n_rows {
            let (posterior, _) = self.posterior(given, codes, row)?;
            rows.extend((0..self.sizes[column]).map(|code| dot(&posterior, self.level(column, code))));
        }
        Ok(rows)
    }

    /// The weights of the components given a record, and the logarithm of its probability. A record that no component
    /// allows leaves the weights as they are.
    fn posterior(&self, columns: &[usize], codes: &[Vec<u32>], row: usize) -> Result<(Vec<f64>, f64)> {
        if row.is_multiple_of(64) {
            crate::interrupt::check()?;
        }
        let (mut posterior, mut log) = (self.weights.clone(), 0.0);
        for (&column, codes) in columns.iter().zip(codes) {
            posterior.iter_mut().zip(self.level(column, codes[row] as usize)).for_each(|(w, p)| *w *= p);
            let sum: f64 = posterior.iter().sum();
            log += sum.ln();
            if !(sum > 0.0) {
                return Ok((self.weights.clone(), f64::NEG_INFINITY));
            }
            // Many columns would leave the range of doubles.
            posterior.iter_mut().for_each(|w| *w /= sum);
        }
        Ok((posterior, log))
    }

    fn check_columns(&self, columns: &[usize]) -> Result<()> {
        let repeated = columns.iter().enumerate().any(|(at, column)| columns[..at].contains(column));
        if repeated || columns.iter().any(|&column| column >= self.sizes.len()) {
            return Err(Error::parameter("columns", "be columns of the mixture, none twice", format!("{columns:?}")));
        }
        Ok(())
    }

    fn check_codes(&self, columns: &[usize], codes: &[Vec<u32>]) -> Result<usize> {
        self.check_columns(columns)?;
        let n_rows = codes.first().map_or(0, Vec::len);
        if codes.len() != columns.len() || codes.iter().any(|codes| codes.len() != n_rows) {
            return Err(Error::parameter("codes", "be one slice of each column, all as long", codes.len()));
        }
        let beyond =
            |(&column, codes): (&usize, &Vec<u32>)| codes.iter().any(|&code| code as usize >= self.sizes[column]);
        if columns.iter().zip(codes).any(beyond) {
            return Err(Error::data("codes", "lie below the cardinality of their column"));
        }
        Ok(n_rows)
    }
}

/// What `n` numbers of this sum are divided by. Numbers that were divided by their sum before add up to one but for
/// rounding, half a unit for each quotient and each addition in both sums. They stay as they are, so that a model that is
/// read and written again is the same to the last bit.
fn divisor(sum: f64, n: usize) -> f64 {
    if (sum - 1.0).abs() <= 2.0 * n as f64 * f64::EPSILON { 1.0 } else { sum }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixture() -> Mixture {
        let levels = vec![0.1, 0.9, 0.9, 0.1, 0.5, 0.0, 0.25, 0.25, 0.25, 0.75, 1.0, 1.0];
        Mixture::new(&[2, 3, 1], vec![0.25, 0.75], levels).unwrap()
    }

    /// The probability of a record by the definition.
    fn joint(a: usize, b: usize) -> f64 {
        let first = [[0.1, 0.9], [0.9, 0.1]];
        let second = [[0.5, 0.25, 0.25], [0.0, 0.25, 0.75]];
        (0..2).map(|k| [0.25, 0.75][k] * first[k][a] * second[k][b]).sum()
    }

    #[test]
    fn tables_and_conditionals_are_those_of_the_joint_distribution() {
        let mixture = mixture();
        let table = mixture.marginal(&[1, 0]).unwrap();
        for a in 0..2 {
            for b in 0..3 {
                assert!((table[b * 2 + a] - joint(a, b)).abs() < 1e-15);
                assert!((mixture.pair(0, 1)[a * 3 + b] - joint(a, b)).abs() < 1e-15);
                let codes = [vec![a as u32], vec![b as u32]];
                let log = mixture.log_likelihood(&[0, 1], &codes).unwrap()[0];
                assert!((log - joint(a, b).ln()).abs() < 1e-14);
                let row = mixture.conditional(1, &[0], &codes[..1], 0).unwrap();
                let all: f64 = (0..3).map(|b| joint(a, b)).sum();
                assert!((row[b] - joint(a, b) / all).abs() < 1e-15);
            }
        }
        let one_way = mixture.conditional(1, &[], &[], 2).unwrap();
        assert_eq!(one_way.len(), 6);
        assert!((one_way[0] - joint(0, 0) - joint(1, 0)).abs() < 1e-15);
        assert_eq!(mixture.marginal(&[]).unwrap(), [1.0]);
    }

    #[test]
    fn numbers_that_were_divided_by_their_sum_stay_as_they_are() {
        let sizes = [2, 7, 31];
        let layout = Layout::new(&sizes, &[]).unwrap();
        for n in [1, 3, 64, 255] {
            let number = |at: usize| 1e-9 + ((at * 7919 + n) % 10_007) as f64;
            let first = Mixture::normalised(&layout, (0..n).map(number).collect(), (0..40 * n).map(number).collect());
            let again = Mixture::new(&sizes, first.weights.clone(), first.levels.clone()).unwrap();
            assert_eq!(again, first);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |sizes: &[usize], weights: &[f64], levels: &[f64]| {
            Mixture::new(sizes, weights.to_vec(), levels.to_vec()).is_err()
        };
        assert!(refused(&[2], &[1.0], &[0.5, 0.6]));
        assert!(refused(&[2], &[1.0], &[1.5, -0.5]));
        assert!(refused(&[2], &[0.5], &[0.5, 0.5]));
        assert!(refused(&[2], &[], &[]));
        assert!(refused(&[2], &[1.0], &[f64::NAN, 0.5]));
        assert!(refused(&[3], &[1.0], &[0.5, 0.5]));
        let mixture = mixture();
        assert!(mixture.marginal(&[3]).is_err() && mixture.marginal(&[0, 0]).is_err());
        assert!(mixture.log_likelihood(&[0], &[vec![2]]).is_err());
        assert!(mixture.conditional(0, &[0], &[vec![0]], 1).is_err());
    }
}
