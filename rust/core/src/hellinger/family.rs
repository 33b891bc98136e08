//! The posteriors that a prior and n observations can produce: the public side of the Hellinger mechanism.

use crate::lattice::Lattice;
use crate::{Error, Result};

/// Counts above this are refused: beyond it the exact sampler does not go.
const COUNT_LIMIT: u64 = 1 << 43;

/// All posteriors Dirichlet(prior + k) where k runs over the counts of n observations.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    prior: Vec<f64>,
    n: u64,
    /// All entries of the prior are the same number: coordinates may be permuted.
    exchangeable: bool,
}

impl Family {
    /// The posteriors of n observations under the Dirichlet prior with the given parameters.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for fewer than two categories, a parameter outside [1e-12, 1e12], n above 2^43.
    pub fn new(prior: &[f64], n: u64) -> Result<Self> {
        if prior.len() < 2 {
            return Err(Error::parameter("prior", "have at least 2 entries", prior.len()));
        }
        if let Some(bad) = prior.iter().find(|&&a| !(1e-12..=1e12).contains(&a)) {
            return Err(Error::parameter("prior", "have entries in [1e-12, 1e12]", bad));
        }
        if n > COUNT_LIMIT {
            return Err(Error::parameter("n", "be at most 2^43", n));
        }
        let exchangeable = prior.iter().all(|&a| a == prior[0]);
        Ok(Self { prior: prior.to_vec(), n, exchangeable })
    }

    /// The prior's parameters.
    pub fn prior(&self) -> &[f64] {
        &self.prior
    }

    /// The number of observations.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The number of categories.
    pub fn categories(&self) -> usize {
        self.prior.len()
    }

    /// Whether all entries of the prior are equal, so that the mechanism commutes with permutations.
    pub fn exchangeable(&self) -> bool {
        self.exchangeable
    }

    /// The candidates, as counts.
    pub fn lattice(&self) -> Lattice {
        Lattice::new(self.n, self.prior.len()).unwrap_or_else(|_| unreachable!("there are two categories or more"))
    }

    /// Checks private counts: one per category, none negative, n in all.
    ///
    /// # Errors
    /// [`Error::InvalidData`], which names the rule and never the data.
    pub fn check(&self, counts: &[i64]) -> Result<Vec<u64>> {
        if counts.len() != self.prior.len() {
            return Err(Error::data("counts", "have one entry per category"));
        }
        let unsigned: Option<Vec<u64>> = counts.iter().map(|&k| u64::try_from(k).ok()).collect();
        let counts = unsigned.ok_or_else(|| Error::data("counts", "be non-negative"))?;
        let sum = counts.iter().try_fold(0_u64, |sum, &k| sum.checked_add(k));
        if sum != Some(self.n) {
            return Err(Error::data("counts", "sum to n"));
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_counts_are_refused_without_being_quoted() {
        let family = Family::new(&[1.0, 2.0], 5).unwrap();
        assert_eq!(family.check(&[5, 0]).unwrap(), vec![5, 0]);
        for bad in [&[5, 1][..], &[6, -1], &[5], &[i64::MAX, i64::MAX]] {
            let message = family.check(bad).unwrap_err().to_string();
            assert!(message.starts_with("counts must"), "{message}");
            assert!(!message.chars().any(|c| c.is_ascii_digit()), "{message}");
        }
    }

    #[test]
    fn wrong_priors_are_refused() {
        for bad in [&[1.0][..], &[1.0, 0.0], &[1.0, f64::NAN], &[1.0, -1.0], &[f64::INFINITY, 1.0]] {
            assert!(Family::new(bad, 3).is_err());
        }
    }
}
