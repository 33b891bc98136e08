//! The posterior from a list of all data sets, for a release whose law is no product over cells.

use super::mixture::{Wanted, draw_rest};
use super::segment::Segment;
use super::shares::ShareLaw;
use super::tree::uniform;
use crate::lattice::Lattice;
use crate::random::{Bits, StreamKey};
use crate::special::{log_gamma, log_gamma_ratio};
use crate::{Error, Result, interrupt};

/// Every data set of n records with its posterior probability.
#[derive(Debug, Clone)]
pub struct Enumerated {
    prior: Vec<f64>,
    total: u64,
    /// Data sets in lexicographic order, one after the other.
    counts: Vec<i64>,
    weights: Vec<f64>,
    log_evidence: f64,
}

impl Enumerated {
    /// The posterior for these logarithms of the likelihood of all data sets of `total` records, in lexicographic order.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless there is one likelihood for each data set and a prior in [1e-12, 1e12].
    pub fn new(prior: &[f64], total: u64, log_likelihoods: &[f64]) -> Result<Self> {
        if let Some(bad) = prior.iter().find(|a| !(1e-12..=1e12).contains(*a)) {
            return Err(Error::parameter("prior", "have entries in [1e-12, 1e12]", bad));
        }
        let lattice = Lattice::new(total, prior.len())?;
        if lattice.count() != Some(log_likelihoods.len() as u128) {
            return Err(Error::parameter("log_likelihoods", "be one for each data set", log_likelihoods.len()));
        }
        let mass: f64 = prior.iter().sum();
        let front = log_gamma(total as f64 + 1.0) - log_gamma_ratio(mass, total as f64);
        let mut counts = Vec::with_capacity(log_likelihoods.len() * prior.len());
        let mut logs = Vec::with_capacity(log_likelihoods.len());
        lattice.for_each(0..log_likelihoods.len() as u128, |x| {
            let cell = |(&a, &k): (&f64, &u64)| log_gamma_ratio(a, k as f64) - log_gamma(k as f64 + 1.0);
            logs.push(front + prior.iter().zip(x).map(cell).sum::<f64>() + log_likelihoods[logs.len()]);
            counts.extend(x.iter().map(|&k| k as i64));
        })?;
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs.iter().map(|log| (log - top).exp()).sum();
        let weights = logs.iter().map(|log| (log - top).exp() / sum).collect();
        Ok(Self { prior: prior.to_vec(), total, counts, weights, log_evidence: top + sum.ln() })
    }

    /// ln p(release).
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// Nothing is left out.
    pub fn error(&self) -> f64 {
        0.0
    }

    /// The prior with its weight, one.
    pub fn priors(&self) -> &[f64] {
        &self.prior
    }

    /// The public total.
    pub fn total(&self) -> Segment {
        Segment { start: self.total as i64, values: vec![1.0] }
    }

    fn rows(&self) -> impl Iterator<Item = (&[i64], f64)> {
        self.counts.chunks_exact(self.prior.len()).zip(self.weights.iter().copied())
    }

    /// The marginal laws of the counts.
    ///
    /// # Errors
    /// None; as [`super::Mixture::marginals`].
    pub fn marginals(&self) -> Result<Vec<Segment>> {
        let empty = Segment { start: 0, values: vec![0.0; self.total as usize + 1] };
        let mut laws = vec![empty; self.prior.len()];
        for (x, w) in self.rows() {
            x.iter().zip(&mut laws).for_each(|(&k, law)| law.values[k as usize] += w);
        }
        Ok(laws)
    }

    /// The laws of the probabilities theta.
    ///
    /// # Errors
    /// None; as [`super::Mixture::share_laws`].
    pub fn share_laws(&self) -> Result<Vec<ShareLaw>> {
        let mass = self.total as f64 + self.prior.iter().sum::<f64>();
        Ok(self.marginals()?.into_iter().zip(&self.prior).map(|(law, &a)| ShareLaw::new([(law, a, mass)])).collect())
    }

    /// Means and variances of the probabilities theta.
    ///
    /// # Errors
    /// None; as [`super::Mixture::share_moments`].
    pub fn share_moments(&self) -> Result<Vec<(f64, f64)>> {
        Ok(self.share_laws()?.iter().map(|law| (law.mean(), law.variance())).collect())
    }

    /// The covariance matrix of the counts, row by row.
    ///
    /// # Errors
    /// None; as [`super::Mixture::count_covariance`].
    pub fn count_covariance(&self) -> Result<Vec<f64>> {
        let d = self.prior.len();
        let means: Vec<f64> = self.marginals()?.iter().map(|law| law.moments().0).collect();
        let mut covariance = vec![0.0; d * d];
        for (x, w) in self.rows() {
            for i in 0..d * d {
                covariance[i] += w * (x[i / d] as f64 - means[i / d]) * (x[i % d] as f64 - means[i % d]);
            }
        }
        Ok(covariance)
    }

    /// `size` independent joint draws, one after the other.
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::Entropy`].
    pub fn sample(&self, wanted: Wanted, size: usize, key: &StreamKey) -> Result<Vec<f64>> {
        let d = self.prior.len();
        let mut running = 0.0;
        let sums: Vec<f64> = self
            .weights
            .iter()
            .map(|w| {
                running += w;
                running
            })
            .collect();
        let mut stream = key.stream(0);
        let mut rng = super::mixture::second_generator(key);
        let mut draws = Vec::with_capacity(size * d);
        for _ in 0..size {
            interrupt::check()?;
            stream.refresh()?;
            let u = uniform(&mut stream) * running;
            let row = sums.partition_point(|sum| *sum <= u).min(sums.len() - 1);
            draw_rest(wanted, &self.prior, &self.counts[row * d..(row + 1) * d], &mut rng, &mut draws)?;
        }
        Ok(draws)
    }
}
