//! Private quantiles: the exponential mechanism over a public list of candidates, by rank error.
//!
//! The score of a candidate c for level q is -|#{x < c} - q n|. Replacing a record moves the count by at most one;
//! adding or removing one moves count - q n by at most max(q, 1 - q). So exp(-epsilon |..| / 2) is epsilon-DP under
//! both adjacencies [McSherry and Talwar 2007].

use crate::random::Bits;
use crate::sampling::{LOG_ERROR, Selection};
use crate::{Error, Result};

/// Draws, for each level, the position of one candidate; `ranks[c]` is the number of records below candidate `c`.
///
/// # Errors
/// [`Error::InvalidParameter`] for levels outside (0, 1), an epsilon that is not positive and finite, or no candidate.
pub fn quantiles<B: Bits>(ranks: &[u64], total: u64, levels: &[f64], epsilon: f64, bits: &mut B) -> Result<Vec<usize>> {
    if !(epsilon > 0.0 && epsilon.is_finite()) {
        return Err(Error::parameter("epsilon", "be positive and finite", epsilon));
    }
    if ranks.is_empty() {
        return Err(Error::parameter("candidates", "hold at least one value", "none"));
    }
    let mut positions = Vec::with_capacity(levels.len());
    for &level in levels {
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::parameter("levels", "lie strictly between 0 and 1", level));
        }
        let target = level * total as f64;
        let log_weights: Vec<f64> = ranks.iter().map(|&rank| -0.5 * epsilon * (rank as f64 - target).abs()).collect();
        positions.push(Selection::new(&log_weights)?.sample(bits));
        bits.refresh()?;
    }
    Ok(positions)
}

/// What one quantile costs: `epsilon` and what the rounding of the weights adds to it, for data of any size.
///
/// A log weight is at most epsilon `max_total` / 2 in size and is computed with three roundings, a probability is off
/// by exp(2 LOG_ERROR) at the most; both enter the ratio of two probabilities twice.
pub fn quantile_epsilon(epsilon: f64, max_total: u64) -> f64 {
    let log_weight_error = 2.0 * f64::EPSILON * epsilon * (max_total as f64 + 1.0);
    (epsilon + 4.0 * (LOG_ERROR + log_weight_error)) * (1.0 + 4.0 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::StreamKey;

    #[test]
    fn frequencies_follow_the_exponential_mechanism() {
        let (ranks, epsilon) = ([0, 2, 3, 7, 10], 0.7);
        let mut bits = StreamKey::from_bytes([9; 32]).stream(0);
        let levels = [0.3; 100_000];
        let mut counts = [0.0; 5];
        for position in quantiles(&ranks, 10, &levels, epsilon, &mut bits).unwrap() {
            counts[position] += 1.0;
        }
        let weights = ranks.map(|rank: u64| (-0.5 * epsilon * (rank as f64 - 3.0).abs()).exp());
        let sum: f64 = weights.iter().sum();
        // 100,000 draws; the 1e-6 quantile of chi-square with 4 degrees of freedom is 33.38.
        let statistic: f64 =
            counts.iter().zip(weights).map(|(o, w)| (o - 1e5 * w / sum).powi(2) / (1e5 * w / sum)).sum();
        assert!(statistic < 33.38, "{statistic}");
    }

    #[test]
    fn the_stated_cost_covers_every_ratio_of_neighbouring_laws() {
        let (epsilon, total) = (0.4, 12_u64);
        let law = |ranks: &[u64]| {
            let weights: Vec<f64> =
                ranks.iter().map(|&rank| (-0.5 * epsilon * (rank as f64 - 0.3 * total as f64).abs()).exp()).collect();
            let sum: f64 = weights.iter().sum();
            weights.into_iter().map(|weight| weight / sum).collect::<Vec<_>>()
        };
        // One record moves from below candidate i to above candidate j: ranks between drop by one.
        let ranks = [1, 4, 4, 6, 9, 12];
        let before = law(&ranks);
        let mut worst: f64 = 0.0;
        for i in 0..ranks.len() {
            for j in i..=ranks.len() {
                let mut moved = ranks;
                moved[i..j].iter_mut().for_each(|rank| *rank -= 1);
                for (p, q) in before.iter().zip(law(&moved)) {
                    worst = worst.max((p / q).ln().abs());
                }
            }
        }
        assert!(worst <= quantile_epsilon(epsilon, total) && worst > 0.5 * epsilon, "{worst}");
    }
}
