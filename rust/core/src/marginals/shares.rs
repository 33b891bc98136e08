//! How the budget of the tables is split: by numbers that are public or were released.

use super::Layout;

/// Least share of the one-way tables.
const ONE_WAY: f64 = 0.2;

/// One-way tables get this times the root of the number of pairs, over n sqrt(rho), where that is more than [`ONE_WAY`]:
/// pairs of few records are noise, the more so the more of them share the budget.
const SCARCE: f64 = 9.0;

/// The number of records is looked at a second time with this over (n sqrt(rho))^2 of the budget: its relative error is
/// then a tenth, if not [`MOST_TOTAL`] is too little for that. Nothing below [`LEAST_TOTAL`].
const SCARCE_TOTAL: f64 = 50.0;
const MOST_TOTAL: f64 = 0.2;
const LEAST_TOTAL: f64 = 0.005;

/// Where one-way tables would get more than this, they get everything: pairs tell nothing with the rest.
const MOST_ONE_WAY: f64 = 0.95;

/// The share of a table grows with these powers of its degrees of freedom; the optimum is flat.
const ONE_WAY_POWER: f64 = 2.0 / 3.0;
const TWO_WAY_POWER: f64 = 0.5;

/// Degrees of freedom are rounded to powers of 2^(1/4), so that a few dozen parameters do for any number of tables: what is
/// drawn from has to be made for each.
const STEPS: f64 = 4.0;

/// The share of each table, one-way tables first; they sum to one. Only one-way tables have a share where there is no pair,
/// or too little to measure any. `signal` is n sqrt(rho).
pub(super) fn shares(layout: &Layout, weights: &[f64], signal: f64) -> Vec<f64> {
    let scarce = SCARCE * (layout.pairs().len() as f64).sqrt();
    let wanted = (scarce / signal.max(1e-6)).max(ONE_WAY);
    let one_way = if layout.pairs().is_empty() || wanted > MOST_ONE_WAY { 1.0 } else { wanted };
    let sizes = layout.sizes();
    // A column of one level has nothing to tell; a little keeps its noise finite.
    let size = |freedom: usize, power: f64| {
        let rounded = (STEPS * (freedom.max(1) as f64).log2()).round() / STEPS;
        2f64.powf(rounded * power) * if freedom == 0 { 1e-3 } else { 1.0 }
    };
    let one: Vec<f64> = sizes.iter().map(|&a| size(a - 1, ONE_WAY_POWER)).collect();
    let scaled = |values: Vec<f64>, share: f64| {
        let sum: f64 = values.iter().sum();
        values.into_iter().map(move |value| share * value / sum)
    };
    if one_way == 1.0 {
        return scaled(one, 1.0).collect();
    }
    let pairs = layout.pairs().iter().zip(weights);
    let two: Vec<f64> =
        pairs.map(|(&(i, j), weight)| weight * size((sizes[i] - 1) * (sizes[j] - 1), TWO_WAY_POWER)).collect();
    scaled(one, one_way).chain(scaled(two, 1.0 - one_way)).collect()
}

/// The share of a second look at the number of records; `signal` is n sqrt(rho).
pub(super) fn total_share(signal: f64) -> f64 {
    let share = (SCARCE_TOTAL / signal.max(1e-6).powi(2)).min(MOST_TOTAL);
    if share < LEAST_TOTAL { 0.0 } else { share }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_tables_get_more_the_fewer_the_records_are() {
        let layout = Layout::new(&[2, 9, 16], &[(0, 1), (1, 2)]).unwrap();
        for (signal, expected) in [(1e9, ONE_WAY), (18.0 * 2f64.sqrt(), 0.5), (12.0, 1.0), (-5.0, 1.0)] {
            let found = shares(&layout, &[1.0, 1.0], signal);
            assert_eq!(found.len(), if expected < 1.0 { 5 } else { 3 });
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12 && found.iter().all(|&share| share > 0.0));
            assert!((found[..3].iter().sum::<f64>() - expected).abs() < 1e-12);
        }
        assert!((shares(&Layout::new(&[2, 9], &[]).unwrap(), &[], 1.0).iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
