//! How far the table of a pair may leave a first fit: decided by how far the measured table does.

use super::super::measure::centre;
use super::super::mixture::Mixture;
use super::super::{Layout, Measurement};
use crate::{Result, interrupt};

/// Standard deviations that are tried, relative to the root of a probability.
fn grid() -> impl Iterator<Item = f64> {
    let steps = 40;
    let (least, most) = (0.003_f64, 3.0_f64);
    let ratio = (most / least).ln() / f64::from(steps - 1);
    std::iter::once(1e-3).chain((0..steps).map(move |i| least * (ratio * f64::from(i)).exp()))
}

/// Deviations beyond this are as rare as an exponential law makes them, where the table of a pair is too noisy to say.
const TYPICAL: f64 = 0.1;

/// Cells of the first fit are at least this probable.
pub(super) const LEAST: f64 = 1e-6;

/// For each pair the posterior mean of tau, where the true probabilities are normal around those of the first fit with
/// variance tau^2 times them, and what was measured of them normal around the true ones. What was not measured, the
/// one-way tables, is that of the first fit.
pub(super) fn spreads(layout: &Layout, measured: &Measurement, n_records: f64, first: &Mixture) -> Result<Vec<f64>> {
    let taus: Vec<f64> = grid().collect();
    let mut spreads = Vec::with_capacity(layout.pairs().len());
    for number in 0..layout.pairs().len() {
        interrupt::check()?;
        let sigma = measured.sigmas[layout.n_columns() + number] / n_records;
        let (i, j) = layout.pairs()[number];
        let fitted = first.pair(i, j);
        let mut off = fitted.clone();
        centre(&mut off, layout.sizes()[j]);
        let cells = measured.interaction(layout, number);
        off.iter_mut().zip(cells).for_each(|(off, cell)| *off = cell / n_records - *off);
        let log_evidence = |tau: f64| {
            let each = fitted.iter().zip(&off).map(|(&q, off)| {
                let variance = tau * tau * q.max(LEAST) + sigma * sigma;
                variance.ln() + off * off / variance
            });
            -0.5 * each.sum::<f64>() - tau / TYPICAL
        };
        let logs: Vec<f64> = taus.iter().map(|&tau| log_evidence(tau)).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights = logs.iter().map(|log| (log - most).exp());
        let (sum, mean) = weights.zip(&taus).fold((0.0, 0.0), |(sum, mean), (w, tau)| (sum + w, mean + w * tau));
        spreads.push(mean / sum);
    }
    Ok(spreads)
}
