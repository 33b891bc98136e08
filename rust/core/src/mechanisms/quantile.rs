//! Private quantiles: the exponential mechanism over a public list of candidates, by rank error.
//!
//! The score of a candidate c for level q is -|#{x < c} - q n|, n the number of values that there are; records whose
//! value is missing count in neither. Let r = #{x < c} - q n. A record with a value below c gives r 1 - q, one with a
//! value of c or more gives it -q, and one without a value gives it 0. So a value replaced by another moves r by at
//! most one; a record that is added or removed, and a value that goes missing or is found, moves it by at most
//! max(q, 1 - q) < 1, and a missing value that is added or removed by nothing, for all candidates at once. Whoever is a
//! neighbour of whom, no score moves by more than one, so exp(-epsilon |..| / 2) is epsilon-DP under both adjacencies
//! [McSherry and Talwar 2007], and how many values are missing needs not be public.

use crate::random::Bits;
use crate::sampling::{LOG_ERROR, Selection};
use crate::{Error, Result};

/// Draws, for each level, the position of one candidate; `ranks[c]` is the number of values below candidate `c`, of
/// `present` values: those that are missing count in neither.
///
/// # Errors
/// [`Error::InvalidParameter`] for levels outside (0, 1), an epsilon that is not positive and finite, or no candidate.
pub fn quantiles<B: Bits>(
    ranks: &[u64],
    present: u64,
    levels: &[f64],
    epsilon: f64,
    bits: &mut B,
) -> Result<Vec<usize>> {
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
        let target = level * present as f64;
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
        // One value moves from below candidate i to above candidate j: ranks between drop by one.
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

    #[test]
    fn the_stated_cost_is_epsilon_and_four_times_both_errors() {
        // Dyadic, so that all but the last sum is exact: 2 EPSILON epsilon (n + 1), and the bound of the selection.
        for (epsilon, total) in [(1.0, 0), (0.25, 7), (4.0, (1_u64 << 40) - 1)] {
            let errors = 8.0 * f64::EPSILON * epsilon * (total + 1) as f64 + LOG_ERROR * 4.0;
            let (cost, least) = (quantile_epsilon(epsilon, total), epsilon + errors);
            assert!(cost >= least && cost <= least * (1.0 + 6.0 * f64::EPSILON), "{epsilon} {total}: {cost} {least}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let drawn = |ranks: &[u64], level, epsilon| {
            quantiles(ranks, 3, &[level], epsilon, &mut StreamKey::from_bytes([1; 32]).stream(0))
        };
        assert!(drawn(&[0, 3], 0.5, 1.0).is_ok() && drawn(&[], 0.5, 1.0).is_err());
        for wrong in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert!(drawn(&[0, 3], 0.5, wrong).is_err() && drawn(&[0, 3], wrong, 1.0).is_err(), "{wrong}");
        }
        assert!(drawn(&[0, 3], 1.0, 1.0).is_err());
    }

    #[test]
    fn a_value_that_goes_missing_costs_no_more_than_one_that_is_replaced() {
        // Every table of at most five records over three values and none, every neighbour, in closed form.
        let (epsilon, candidates) = (0.8, 3_usize);
        for level in [0.05, 0.3, 0.5, 0.95] {
            let law = |cells: [u64; 4]| {
                let ranks: Vec<u64> = (1..=candidates).map(|c| cells[..c].iter().sum()).collect();
                let present: u64 = cells[..3].iter().sum();
                let weight = |rank: &u64| (-0.5 * epsilon * (*rank as f64 - level * present as f64).abs()).exp();
                let weights: Vec<f64> = ranks.iter().map(weight).collect();
                let sum: f64 = weights.iter().sum();
                weights.into_iter().map(|weight| weight / sum).collect::<Vec<_>>()
            };
            let apart = |a: [u64; 4], b: [u64; 4]| {
                law(a).iter().zip(law(b)).map(|(p, q)| (p / q).ln().abs()).fold(0.0, f64::max)
            };
            let (mut found, mut added): (f64, f64) = (0.0, 0.0);
            for code in 0..6_u64.pow(4) {
                let cells = [code % 6, code / 6 % 6, code / 36 % 6, code / 216];
                if cells.iter().sum::<u64>() > 5 {
                    continue;
                }
                for i in 0..4 {
                    let mut more = cells;
                    more[i] += 1;
                    added = added.max(apart(cells, more));
                    if i == 3 {
                        assert_eq!(law(cells), law(more));
                    } else if cells[i] > 0 {
                        let mut gone = cells;
                        gone[i] -= 1;
                        gone[3] += 1;
                        found = found.max(apart(cells, gone));
                    }
                }
            }
            assert!(found <= quantile_epsilon(epsilon, 6) && added <= quantile_epsilon(epsilon, 6));
            assert!(found > 0.35 * epsilon, "{found}");
        }
    }
}
