//! The exact law of the error, and bounds of it where enumeration is too large.

use super::{Enumeration, Family, Law};
use crate::Result;

/// Distances this close, relatively, are one distance: candidates that tie differ in their last places only.
const TIE: f64 = 1e-13;

impl Law {
    /// The law of the Hellinger distance to the data set's own posterior (\[HN\] 4.4): distances and their probabilities.
    pub fn by_distance(&self) -> (Vec<f64>, Vec<f64>) {
        let pairs = self.distances.iter().copied().zip(self.probabilities.iter().copied());
        grouped(pairs.collect())
    }

    /// The law of the l1 distance of the counts to x.
    ///
    /// # Errors
    /// None for a law that was enumerated.
    pub fn by_l1(&self, enumeration: &Enumeration, x: &[u64]) -> Result<(Vec<f64>, Vec<f64>)> {
        let n = enumeration.family().n();
        let mut mass = vec![0.0; n as usize + 1];
        let mut probabilities = self.probabilities.iter();
        enumeration.family().lattice().for_each(0..self.probabilities.len() as u128, |point| {
            let l1: u64 = point.iter().zip(x).map(|(&a, &b)| a.abs_diff(b)).sum();
            // Counts of equal totals differ by an even amount.
            mass[(l1 / 2) as usize] += probabilities.next().copied().unwrap_or(0.0);
        })?;
        Ok(mass.into_iter().enumerate().filter(|(_, p)| *p > 0.0).map(|(half, p)| (2.0 * half as f64, p)).unzip())
    }
}

impl Family {
    /// The utility bound of the exponential mechanism: with probability at least 1 - beta the Hellinger distance of the
    /// output is at most the value returned, ln((|R| - 1)/beta)/exponent, and never above 1.
    ///
    /// The candidate at distance 0 has weight 1, and all others together at most (|R| - 1) exp(-exponent t) beyond t.
    pub fn utility_bound(&self, exponent: f64, beta: f64) -> f64 {
        let log_all = self.lattice().log_count();
        let log_others = if log_all > 0.0 { log_all + (-(-log_all).exp()).ln_1p() } else { f64::NEG_INFINITY };
        ((log_others - beta.ln()) / exponent).clamp(0.0, 1.0)
    }
}

/// Sums the probabilities of values that tie; values increase.
fn grouped(mut pairs: Vec<(f64, f64)>) -> (Vec<f64>, Vec<f64>) {
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut values, mut masses): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for (value, probability) in pairs {
        match (values.last(), masses.last_mut()) {
            (Some(&last), Some(mass)) if value - last <= TIE * value => *mass += probability,
            _ => {
                values.push(value);
                masses.push(probability);
            }
        }
    }
    (values, masses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetric_candidates_are_one_group() {
        // [HN] 4.4: from (5, 5) there are pairs at the same distance; 10 records make the centre and 5 pairs.
        let family = Family::new(&[1.0, 1.0], 10).unwrap();
        let enumeration = Enumeration::new(&family).unwrap();
        let law = enumeration.law(&[5, 5], 3.0).unwrap();
        let (values, masses) = law.by_distance();
        assert_eq!(values.len(), 6);
        assert!((masses.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        let (l1, by_l1) = law.by_l1(&enumeration, &[5, 5]).unwrap();
        assert_eq!(l1, vec![0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert!(masses.iter().zip(by_l1).all(|(a, b)| (a - b).abs() < 1e-15));
    }

    #[test]
    fn the_utility_bound_holds() {
        let family = Family::new(&[1.0, 0.5, 2.0], 12).unwrap();
        let enumeration = Enumeration::new(&family).unwrap();
        for exponent in [1.0, 10.0, 60.0] {
            let (values, masses) = enumeration.law(&[3, 9, 0], exponent).unwrap().by_distance();
            for beta in [0.5, 0.1, 1e-4] {
                let bound = family.utility_bound(exponent, beta);
                let tail: f64 = values.iter().zip(&masses).filter(|(value, _)| **value > bound).map(|(_, p)| p).sum();
                assert!(tail <= beta);
            }
        }
    }
}
