//! How likely every data set makes a released candidate: what inference needs, normaliser and exponent of each included.

use super::kernel::{exp_negative, sum};
use super::{Enumeration, Family, Shape};
use crate::{Error, Result, interrupt};

/// Distances that are computed at most: each data set has all candidates in its normaliser.
const PAIRS_LIMIT: u128 = 1 << 28;

impl Family {
    /// ln P(released | x) for every data set x, in lexicographic order, of the mechanism with exponent factor w(x).
    ///
    /// # Errors
    /// [`Error::NotAffordable`] above 2^28 pairs of data sets and candidates.
    pub fn log_likelihoods(&self, shape: Shape, factor: f64, released: &[u64]) -> Result<Vec<f64>> {
        let candidates = self.lattice().count().unwrap_or(u128::MAX);
        if candidates.checked_mul(candidates).is_none_or(|pairs| pairs > PAIRS_LIMIT) {
            return Err(Error::NotAffordable {
                asked: format!("the likelihood of {candidates} data sets, each with as many candidates"),
                limit: format!("{PAIRS_LIMIT} pairs"),
                instead: "release noisy counts, whose posterior is exact at any size, or take fewer records or categories",
            });
        }
        let enumeration = Enumeration::tabulated(self)?;
        let place = self.lattice().rank(released)? as usize;
        let mut logs = Vec::with_capacity(enumeration.len());
        let (mut distances, mut outcome) = (Vec::new(), Ok(()));
        self.lattice().for_each(0..candidates, |x| {
            if outcome.is_err() {
                return;
            }
            outcome = interrupt::check();
            enumeration.distances_into(x, &mut distances);
            let exponent = factor * self.inverse_sensitivity(x, shape);
            let total = sum(distances.iter().map(|distance| exp_negative(exponent * distance)));
            logs.push(-exponent * distances[place] - total.ln());
        })?;
        outcome.map(|()| logs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likelihoods_are_the_probabilities_of_the_law() {
        let family = Family::new(&[1.0, 0.4, 2.0], 7).unwrap();
        let shape = Shape::Lifted;
        let enumeration = Enumeration::new(&family).unwrap();
        let released = [3, 0, 4];
        let place = family.lattice().rank(&released).unwrap() as usize;
        let logs = family.log_likelihoods(shape, 0.7, &released).unwrap();
        for (rank, log) in logs.iter().enumerate() {
            let x = family.lattice().unrank(rank as u128).unwrap();
            let law = enumeration.law(&x, 0.7 * family.inverse_sensitivity(&x, shape)).unwrap();
            assert!((log - law.probabilities[place].ln()).abs() < 1e-12);
        }
        assert!(Family::new(&[1.0; 6], 1000).unwrap().log_likelihoods(shape, 1.0, &[0, 0, 0, 0, 0, 1000]).is_err());
    }
}
