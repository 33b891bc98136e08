//! Many histograms at once, under one of several priors that all of them share or that each has for itself.

use super::mixture::Mixture;
use super::posterior::Posterior;
use super::segment::Segment;
use crate::{Result, parallel};

/// Shares of the weight below which a prior that all rows share is left out.
const NEGLIGIBLE: f64 = 1e-12;

/// Rows that a prior shared by all rows is weighed by.
const MOST_EVIDENCE: usize = 2048;

/// Which interval of a given level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The least probability of the interval.
    pub level: f64,
    /// The shortest one; else that with the same probability on either side.
    pub shortest: bool,
    /// Of the probabilities too, which takes several times as long as of the counts alone.
    pub shares: bool,
}

/// Histograms whose posteriors differ in their releases only: `posterior` gives that of a row under one of the priors.
pub struct Rows<F> {
    /// The number of rows.
    pub rows: usize,
    /// Logarithms of the weights of the priors.
    pub log_weights: Vec<f64>,
    /// The posterior of a row, by its number and that of the prior.
    pub posterior: F,
}

/// The numbers that are asked of a posterior most.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// ln p(releases of the row | the mixture of priors).
    pub log_evidence: f64,
    /// Mean and standard deviation of the total.
    pub total: (f64, f64),
    /// Means and standard deviations of the counts.
    pub counts: Vec<(f64, f64)>,
    /// Means and standard deviations of the probabilities.
    pub shares: Vec<(f64, f64)>,
    /// Intervals of the counts, if asked for.
    pub count_intervals: Vec<(i64, i64)>,
    /// Intervals of the probabilities, if asked for.
    pub share_intervals: Vec<(f64, f64)>,
}

impl<F: Fn(usize, usize) -> Result<Posterior> + Sync> Rows<F> {
    /// ln p(releases of a row | prior), for every prior and every row; of more than 2048 rows for so many of
    /// them, evenly spread, which leave nothing open of what all rows share.
    ///
    /// # Errors
    /// What the posteriors refuse; [`crate::Error::Interrupted`].
    pub fn log_evidence(&self, threads: usize) -> Result<Vec<f64>> {
        let parts = self.log_weights.len();
        let of =
            |row| (0..parts).map(|part| Ok((self.posterior)(row, part)?.log_evidence())).collect::<Result<Vec<_>>>();
        let asked = self.rows.min(MOST_EVIDENCE);
        Ok(parallel::map(0..asked, threads, |i| of(i * self.rows / asked.max(1)))?.concat())
    }

    /// The weights of a prior that all rows share, given all of their releases: their evidences multiply.
    pub fn shared_weights(&self, log_evidence: &[f64]) -> Vec<f64> {
        let parts = self.log_weights.len();
        let sum = |part: usize| log_evidence.iter().skip(part).step_by(parts).sum::<f64>() + self.log_weights[part];
        let logs: Vec<f64> = (0..parts).map(sum).collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|w| w / total).map(|w| if w < NEGLIGIBLE { 0.0 } else { w }).collect()
    }

    /// The summaries of all rows. With `shared` weights each prior keeps its weight in every row; otherwise every row weighs the
    /// priors by its own evidence. With `counts_only` nothing is found out of the probabilities, which takes most of the time
    /// where the total is private.
    ///
    /// # Errors
    /// As for [`Self::log_evidence`].
    pub fn summaries(
        &self,
        shared: Option<&[f64]>,
        interval: Option<Interval>,
        counts_only: bool,
        threads: usize,
    ) -> Result<Vec<Summary>> {
        let of = |row| {
            let mut parts = Vec::new();
            for (part, log) in self.log_weights.iter().enumerate() {
                if shared.is_none_or(|weights| weights[part] > 0.0) {
                    parts.push((part, *log, (self.posterior)(row, part)?));
                }
            }
            let mixture = match shared {
                None => Mixture::new(parts.into_iter().map(|(_, log, posterior)| (log, posterior)).collect())?,
                Some(weights) => Mixture::weighed(parts.into_iter().map(|(i, _, p)| (weights[i], p)).collect()),
            };
            Summary::of(&mixture, interval, counts_only)
        };
        parallel::map(0..self.rows, threads, of)
    }
}

impl Summary {
    /// Of one posterior.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    pub fn of(mixture: &Mixture, interval: Option<Interval>, counts_only: bool) -> Result<Self> {
        let deviation = |(mean, variance): (f64, f64)| (mean, variance.sqrt());
        let mut summary = Self {
            log_evidence: mixture.log_evidence(),
            total: deviation(mixture.total().moments()),
            ..Self::default()
        };
        let marginals = mixture.marginals()?;
        summary.counts = marginals.iter().map(|law| deviation(law.moments())).collect();
        if !mixture.public_total() && !counts_only {
            // The laws of shares put many totals together; their moments need not.
            summary.shares = mixture.share_moments()?.into_iter().map(deviation).collect();
        }
        if let Some(interval) = interval {
            summary.count_intervals = marginals.iter().map(|law| interval.of_counts(law)).collect();
        }
        if counts_only {
            return Ok(summary);
        }
        let of_shares = interval.filter(|interval| interval.shares);
        if !mixture.public_total() && of_shares.is_none() {
            return Ok(summary);
        }
        let laws = mixture.share_laws_from(&marginals)?;
        if mixture.public_total() {
            summary.shares = laws.iter().map(|law| (law.mean(), law.variance().sqrt())).collect();
        }
        if let Some(interval) = of_shares {
            let ends = |law: &super::ShareLaw| {
                if interval.shortest { law.shortest(interval.level) } else { law.central(interval.level) }
            };
            summary.share_intervals = laws.iter().map(ends).collect::<Result<_>>()?;
        }
        Ok(summary)
    }
}

impl Interval {
    /// The interval of a count.
    pub fn of_counts(&self, law: &Segment) -> (i64, i64) {
        if self.shortest { law.shortest(self.level) } else { law.central(0.5 * (1.0 - self.level) * law.sum()) }
    }
}
