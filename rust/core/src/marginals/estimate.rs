//! One-way tables as probabilities.

use super::{Layout, Measurement};

/// The number of records as later steps use it: at least one.
pub(super) fn records(measured: &Measurement) -> f64 {
    measured.total.max(1.0)
}

/// For all levels side by side: the one-way tables as shares, shrunk towards equal ones as far as they may be noise.
pub(super) fn one_way_shares(layout: &Layout, measured: &Measurement, n_records: f64) -> Vec<f64> {
    let shares = |column: usize| {
        let cells = measured.one_way(layout, column, n_records);
        shrunk(cells.iter().map(|cell| cell / n_records).collect(), measured.sigmas[column] / n_records)
    };
    (0..layout.n_columns()).flat_map(shares).collect()
}

/// The nearest probabilities to shares of all levels, column by column.
pub(super) fn probabilities(layout: &Layout, shares: &[f64]) -> Vec<f64> {
    (0..layout.n_columns()).flat_map(|column| simplex(shares[layout.levels(column)].to_vec())).collect()
}

/// James and Stein's shrinkage towards the mean [JS61], which lowers the expected sum of squares for four numbers or more.
fn shrunk(mut values: Vec<f64>, sigma: f64) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let factor = 1.0 - (values.len() as f64 - 3.0).max(0.0) * sigma * sigma / squares.max(f64::MIN_POSITIVE);
    values.iter_mut().for_each(|value| *value = mean + factor.max(0.0) * (*value - mean));
    values
}

/// The nearest probabilities to these numbers, by the sum of squares.
fn simplex(values: Vec<f64>) -> Vec<f64> {
    let mut sorted = values.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (count, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (count + 1) as f64;
        if value - candidate > 0.0 {
            shift = candidate;
        }
    }
    values.into_iter().map(|value| (value - shift).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_probabilities_are_those_of_the_conditions() {
        for values in [vec![0.2, 0.3, 0.1], vec![-5.0, 2.0, 1.9], vec![0.0], vec![1e6, -1e6], vec![3.0; 7]] {
            let found = simplex(values.clone());
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9 && found.iter().all(|&p| p >= 0.0));
            // One shift for all that are positive, and no smaller one for the others.
            let shifts: Vec<f64> =
                found.iter().zip(&values).filter(|(p, _)| **p > 0.0).map(|(p, value)| value - p).collect();
            assert!(shifts.iter().all(|shift| (shift - shifts[0]).abs() < 1e-9));
            assert!(found.iter().zip(&values).all(|(&p, &value)| p > 0.0 || value <= shifts[0] + 1e-9));
        }
    }
}
