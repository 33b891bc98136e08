//! How alike the rows of a table are: theta_c ~ Dirichlet(kappa m) around a centre m that is unknown itself.
//!
//! By the law of total expectation E(theta_c | y) is the mean over the posterior of m of E(theta_c | m, y_c). That is taken at the
//! mean of m; what m adds to the variance is w^2 Var(m | y), where w, the weight that row c gives its prior, is the ratio of its
//! variances after and before its own release. Both are exact where means are linear, as they nearly are.
//!
//! The law of m goes from row to row. Each row is looked at under what the rows before it say of m (so their evidences
//! multiply to that of kappa, as conditional probabilities do), and changes it by what it adds. In between m is taken to be
//! Dirichlet(B mu) with the right mean and the right sum of variances (assumed density filtering):
//!
//! - theta_c given (mu, B): variance mu (1 - mu) (B + kappa + 1) / ((B + 1) (kappa + 1)), so a Dirichlet law of mass
//!   K = (B + 1) (kappa + 1) / (B + kappa + 1) - 1, between B (rows that are all the same) and kappa (a centre that is known).
//! - m given theta_c: the regression of m on theta_c has the slope r = Var m / Var theta_c = (K + 1) / (B + 1), so mu moves by
//!   r (E theta_c - mu), and the variance of m falls by r^2 (Var theta_c - Var(theta_c given the release)).
//!
//! One mass B for all levels is right for the mean. Noise on counts is as large on rare levels as on frequent ones, though, so the
//! variance of the centre that intervals use is taken level by level: the precisions of the prior and of what each row says of m_k add up.

use super::lattice::Lattice;
use super::row::{Moments, Row};
use crate::Result;
use crate::special::beta_inc_inverse;

/// The concentrations that are tried, as logarithms: 1 to 10^5, all equally likely before the release.
pub(super) const CONCENTRATIONS: [f64; 11] = [
    1.0,
    3.162_277_660_168_379,
    10.0,
    31.622_776_601_683_79,
    100.0,
    316.227_766_016_837_9,
    1e3,
    3_162.277_660_168_379,
    1e4,
    31_622.776_601_683_79,
    1e5,
];

/// Steps in the spread of a cell while concentrations are compared.
const FINENESS: f64 = 2.0;

/// Tables with equal weights for all concentrations, to start the frequencies from.
const PSEUDO_TABLES: f64 = 1.0;

/// Steps from equal frequencies.
const STEPS: usize = 30;

/// Shares of a centre that intervals are averaged over.
const CENTRES: u32 = 12;

/// Variances of a centre below this part of those of a share around it are none.
const NEARLY_KNOWN: f64 = 1e-3;

/// No prior of a level is smaller.
const LEAST: f64 = 1e-6;

/// What is known of the centre: Dirichlet(mass mean).
#[derive(Debug, Clone)]
struct Centre {
    mean: Vec<f64>,
    mass: f64,
}

/// One concentration with the priors that the rows have then.
#[derive(Debug, Clone)]
pub(super) struct Strength {
    pub(super) concentration: f64,
    pub(super) log_evidence: f64,
    /// Which rows are alike: the place of each row's centre.
    labels: Vec<usize>,
    centres: Vec<Known>,
}

/// What is known of the centre of rows that are alike.
#[derive(Debug, Clone)]
struct Known {
    /// The prior of these rows.
    prior: Vec<f64>,
    /// What is not known of the centre: variances of its entries.
    variance: Vec<f64>,
}

impl Centre {
    /// The prior of a row with this centre.
    fn row(&self, concentration: f64) -> Vec<f64> {
        let mass = self.row_mass(concentration);
        self.mean.iter().map(|m| (m * mass).max(LEAST)).collect()
    }

    fn row_mass(&self, concentration: f64) -> f64 {
        // (B + 1) (kappa + 1) / (B + kappa + 1) - 1
        self.mass * concentration / (self.mass + concentration + 1.0)
    }

    /// The centre with what a row says, given the moments of the row's shares.
    fn after(&self, concentration: f64, shares: &Moments) -> Self {
        let slope = (concentration + 1.0) / (self.mass + concentration + 1.0);
        let row_mass = self.row_mass(concentration);
        let (mut spread, mut variance) = (0.0, 0.0);
        let mut mean = Vec::with_capacity(self.mean.len());
        for (&m, &(share, share_variance)) in self.mean.iter().zip(shares) {
            let moved = (m + slope * (share - m)).max(0.0);
            let square = m * (1.0 - m);
            let left = square / (self.mass + 1.0) - slope * slope * (square / (row_mass + 1.0) - share_variance);
            mean.push(moved);
            spread += moved * (1.0 - moved);
            variance += left.max(1e-12 * square);
        }
        let sum: f64 = mean.iter().sum();
        mean.iter_mut().for_each(|m| *m /= sum);
        let mass = if variance > 0.0 { spread / variance - 1.0 } else { self.mass };
        // A row that contradicts the others widens the law, but not beyond reason.
        Self { mean, mass: mass.clamp(0.5 * self.mass, 1e12) }
    }
}

/// The priors of the rows at one concentration, and its evidence. Rows with the same label are alike, of others nothing is
/// supposed; `tilts` holds first guesses and takes what was found.
pub(super) fn strength(
    rows: &[Row<'_>],
    totals: &[Lattice],
    labels: &[usize],
    concentration: f64,
    tilts: &mut [f64],
) -> Result<Strength> {
    if rows.len() == 1 {
        // Nothing to be like: the concentration is that around equal shares.
        let mut strength = Strength::around_equal_shares(rows[0].factors.len(), 1, concentration);
        let fitted = rows[0].fit(strength.prior(0), &totals[0], FINENESS, tilts[0])?;
        tilts[0] = fitted.tilt();
        strength.log_evidence = fitted.weights(&totals[0])?.log_evidence;
        return Ok(strength);
    }
    let mut order: Vec<(f64, usize)> = totals.iter().map(|total| total.moments().0).zip(0..).collect();
    // The rows that say most come first: the laws in between are closer to Dirichlet laws then.
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut log_evidence = 0.0;
    let mut centres = Vec::new();
    for label in 0..=labels.iter().copied().max().unwrap_or(0) {
        let alike: Vec<usize> = order.iter().map(|&(_, c)| c).filter(|&c| labels[c] == label).collect();
        let (known, log) = centre_of(rows, totals, &alike, concentration, tilts)?;
        log_evidence += log;
        centres.push(known);
    }
    Ok(Strength { concentration, log_evidence, labels: labels.to_vec(), centres })
}

/// The centre of some rows, and the logarithm of the probability of what was released of them.
fn centre_of(
    rows: &[Row<'_>],
    totals: &[Lattice],
    alike: &[usize],
    concentration: f64,
    tilts: &mut [f64],
) -> Result<(Known, f64)> {
    let levels = rows[0].factors.len();
    let mut centre = Centre { mean: vec![1.0 / levels as f64; levels], mass: levels as f64 };
    let mut log_evidence = 0.0;
    for &c in alike {
        let fitted = rows[c].fit(&centre.row(concentration), &totals[c], FINENESS, tilts[c])?;
        tilts[c] = fitted.tilt();
        let weights = fitted.weights(&totals[c])?;
        log_evidence += weights.log_evidence;
        centre = centre.after(concentration, &fitted.shares_nearly(&weights)?);
    }
    let variance = centre
        .mean
        .iter()
        .enumerate()
        .map(|(k, &m)| {
            let square = m * (1.0 - m);
            let of_row = |&c: &usize| {
                let n = totals[c].moments().0.max(1.0);
                let noise = rows[c].factors[k].map_or(f64::INFINITY, |factor| factor.variance_near(n * m));
                1.0 / (square * (1.0 / (concentration + 1.0) + 1.0 / n) + noise / (n * n))
            };
            let rows: f64 = alike.iter().map(of_row).sum();
            square / (levels as f64 + 1.0 + square * rows)
        })
        .collect();
    let prior = centre.mean.iter().map(|m| (m * concentration).max(LEAST)).collect();
    Ok((Known { prior, variance }, log_evidence))
}

impl Strength {
    /// Equal shares as the known centre of all rows.
    pub(super) fn around_equal_shares(levels: usize, rows: usize, concentration: f64) -> Self {
        let known = Known { prior: vec![concentration / levels as f64; levels], variance: vec![0.0; levels] };
        Self { concentration, log_evidence: 0.0, labels: vec![0; rows], centres: vec![known] }
    }

    fn of(&self, row: usize) -> &Known {
        &self.centres[self.labels[row]]
    }

    /// The prior of a row.
    pub(super) fn prior(&self, row: usize) -> &[f64] {
        &self.of(row).prior
    }

    /// The variance of a share of a row, given that which a known centre leaves: with that of the centre.
    pub(super) fn variance(&self, row: usize, k: usize, variance: f64) -> f64 {
        let known = self.of(row);
        let sum: f64 = known.prior.iter().sum();
        let share = known.prior[k] / sum;
        let before = share * (1.0 - share) / (sum + 1.0);
        let weight = if before > 0.0 { (variance / before).min(1.0) } else { 0.0 };
        variance + weight * weight * known.variance[k]
    }

    /// Shares that the centre may have in a cell, all equally likely: of the Beta law with its mean and variance.
    pub(super) fn centres(&self, row: usize, k: usize) -> Vec<f64> {
        let known = self.of(row);
        let sum: f64 = known.prior.iter().sum();
        let mean = known.prior[k] / sum;
        let square = mean * (1.0 - mean);
        // What moves a share by less than a part of the spread that it has under a known centre is nothing.
        if known.variance[k] <= NEARLY_KNOWN * square / (sum + 1.0) {
            return vec![mean];
        }
        let mass = (square / known.variance[k] - 1.0).max(LEAST);
        (0..CENTRES)
            .map(|j| {
                let level = (f64::from(j) + 0.5) / f64::from(CENTRES);
                beta_inc_inverse(mean * mass, (1.0 - mean) * mass, level).unwrap_or(mean)
            })
            .collect()
    }
}

/// The weights of the concentrations of one table, given how often each occurs.
fn given(frequencies: &[f64], table: &[Strength]) -> Vec<f64> {
    let logs: Vec<f64> = table.iter().zip(frequencies).map(|(s, f)| s.log_evidence + f.ln()).collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / sum).collect()
}

/// Posterior weights of the concentrations of a table by itself, all equally likely before the release.
pub(super) fn weights_alone(table: &[Strength]) -> Vec<f64> {
    given(&vec![1.0; table.len()], table)
}

/// Posterior weights of the concentrations of every table. How often each concentration occurs among the tables is unknown
/// too: it is found from all of them together, by expectation and maximisation from equal weights on.
pub(super) fn weights(tables: &[Vec<Strength>]) -> Vec<Vec<f64>> {
    let parts = tables.iter().map(Vec::len).max().unwrap_or(1);
    let mut frequencies = vec![1.0 / parts as f64; parts];
    for _ in 0..STEPS {
        let mut sums = vec![PSEUDO_TABLES / parts as f64; parts];
        for table in tables {
            sums.iter_mut().zip(given(&frequencies, table)).for_each(|(sum, w)| *sum += w);
        }
        let sum: f64 = sums.iter().sum();
        frequencies = sums.into_iter().map(|s| s / sum).collect();
    }
    tables.iter().map(|table| given(&frequencies, table)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::lattice::Information;
    use super::*;
    use crate::inference::factor::{Factor, Noise};

    /// Rows of which those in even places are alike, and the others.
    fn released() -> (Vec<Vec<Option<Factor>>>, Vec<Lattice>) {
        let noise = Noise::Gaussian { sigma: 2.0, step: 1.0 };
        let rows = [[38.0, 3.0, 1.0], [4.0, 20.0, 27.0], [51.0, -2.0, 4.0], [1.0, 15.0, 22.0], [29.0, 2.0, 0.0]];
        let factors = |row: &[f64; 3]| row.iter().map(|&y| Some(Factor::noisy(y, noise).unwrap())).collect();
        let total = |row: &[f64; 3]| Lattice::of(Information::new(row.iter().sum(), 9.0), 200);
        (rows.iter().map(factors).collect(), rows.iter().map(total).collect())
    }

    #[test]
    fn rows_that_are_not_alike_say_nothing_of_each_other() {
        let (factors, totals) = released();
        let row = |c: usize| Row { factors: &factors[c], term: None, cap: 200 };
        let of = |places: &[usize], labels: &[usize]| {
            let rows: Vec<Row<'_>> = places.iter().map(|&c| row(c)).collect();
            let totals: Vec<Lattice> = places.iter().map(|&c| totals[c].clone()).collect();
            strength(&rows, &totals, labels, 10.0, &mut vec![0.0; rows.len()]).unwrap()
        };
        let all = of(&[0, 1, 2, 3, 4], &[0, 1, 0, 1, 0]);
        let (even, odd) = (of(&[0, 2, 4], &[0; 3]), of(&[1, 3], &[0; 2]));
        assert!((all.log_evidence - even.log_evidence - odd.log_evidence).abs() < 1e-6);
        for c in 0..5 {
            let alone = if c % 2 == 0 { even.prior(0) } else { odd.prior(0) };
            assert!(all.prior(c).iter().zip(alone).all(|(a, b)| (a - b).abs() < 1e-6 * b));
        }
        // Evidence tells that they are not all alike, and not when they are.
        let together = of(&[0, 1, 2, 3, 4], &[0; 5]);
        assert!(all.log_evidence > together.log_evidence + 3.0);
        assert!(of(&[0, 2, 4], &[0, 1, 0]).log_evidence < even.log_evidence);
        let weights = weights_alone(&[together, all]);
        assert!(weights[1] > 0.95, "{weights:?}");
    }
}
