//! A mixture of products fitted to what was measured, in two stages.
//!
//! First with a penalty that pulls each component towards the product of the one-way tables; then with a normal prior
//! around that first fit, whose width is found for each pair by the evidence. Squares of differences to the noisy tables
//! are the logarithm of the likelihood, as the noise is (discrete) Gaussian.

mod adam;
mod evidence;
mod lanes;
mod objective;
mod products;

use lanes::{LANES, Lane};
use objective::{Logits, Objective, Workspace, component_weights, padded};
use products::Tiles;

use super::estimate::{one_way_shares, probabilities, records};
use super::mixture::Mixture;
use super::{Layout, Measurement};
use crate::random::{Bits, StreamKey};
use crate::{Error, Result};

/// How a mixture is fitted; the defaults were found on data sets of a thousand to fifty thousand records.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// At most so many components, of all fits together; rounded up to a multiple of 16.
    pub components: usize,
    /// Steps of each stage.
    pub steps: usize,
    /// Largest step of a logit.
    pub rate: f64,
    /// The penalty of the first stage where the mean precision of a pair's cell, as a probability, is 10^5.
    pub penalty: f64,
    /// How it grows with that precision.
    pub penalty_power: f64,
    /// Factor on the widths that the evidence finds: it underestimates them in the tails.
    pub widen: f64,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { components: 256, steps: 600, rate: 0.2, penalty: 400.0, penalty_power: 0.3, widen: 3.0 }
    }
}

/// Standard deviation of the first logits around the logarithms of the one-way tables.
const SPREAD: f64 = 0.3;

/// Weights of the second stage's prior are at most this many times the largest of the tables: the problem stays well
/// conditioned.
const MOST_PRIOR: f64 = 30.0;

/// ... or of this, as a precision of a probability: tables that are all noise must not loosen the prior.
const PLENTY: f64 = 2e4;

/// More fits than this gain nothing.
const MOST_FITS: usize = 4;

/// Squares of levels of all fits together: what each passes over in every step, however few its components are.
const MOST_SQUARES: usize = 1 << 22;

/// Numbers of single precision that a fit may hold: 8 GiB.
const MOST_NUMBERS: usize = 1 << 31;

/// Fits a mixture to a measurement. `done` hears which share of the work was done.
///
/// # Errors
/// [`Error::InvalidParameter`] when the measurement does not fit the layout; [`Error::NotAffordable`] when the model
/// would take more memory than it may; [`Error::Interrupted`].
pub fn fit(
    layout: &Layout,
    measured: &Measurement,
    options: &FitOptions,
    key: &StreamKey,
    done: &mut dyn FnMut(f64),
) -> Result<Mixture> {
    if measured.sigmas.len() == layout.n_columns() && !layout.pairs().is_empty() {
        // Pairs were not measured.
        return fit(&Layout::new(layout.sizes(), &[])?, measured, options, key, done);
    }
    layout.check_cells("cells", measured.cells.len())?;
    if measured.sigmas.len() != layout.n_tables() || !measured.sigmas.iter().all(|&sigma| sigma > 0.0) {
        return Err(Error::parameter("sigmas", "be positive, one for each table", measured.sigmas.len()));
    }
    let width = padded(layout.width());
    if options.components.saturating_mul(width).saturating_mul(8).saturating_add(8 * width * width) > MOST_NUMBERS {
        return Err(Error::NotAffordable {
            asked: format!("{} components of {} levels", options.components, layout.width()),
            limit: format!("{MOST_NUMBERS} numbers of single precision"),
            instead: "take fewer components, merge rare values, or give numeric columns fewer bins",
        });
    }
    let n_records = records(measured);
    let shares = one_way_shares(layout, measured, n_records);
    let one_way = probabilities(layout, &shares);
    if layout.pairs().is_empty() {
        return Ok(Mixture::product(layout, &one_way));
    }
    let (n_fits, components) = split(options.components, width, pair_noise(layout, measured, n_records));
    let mut objective = Objective::of(layout, measured, n_records, &shares, &one_way, components / LANES);
    // The scale of all weights, so that single precision holds them.
    let precision = objective.mean_weight(layout);
    objective.scale(1.0 / precision);
    let mut mixtures = Vec::with_capacity(n_fits);
    for number in 0..n_fits {
        objective.prior = None;
        objective.penalty = (options.penalty * (precision / 1e5).powf(options.penalty_power) / precision) as f32;
        let start = start(&objective, key, number as u64);
        let mut stage = |objective: &Objective, at: Logits, stage: usize| {
            let steps = 2 * n_fits * options.steps;
            let mut share = |step: usize| done(((2 * number + stage) * options.steps + step) as f64 / steps as f64);
            adam::minimise(objective, at, options.steps, options.rate, &mut share)
        };
        let first = stage(&objective, start, 0)?;
        let mixture = objective.mixture(layout, first.clone());
        let spreads = evidence::spreads(layout, measured, n_records, &mixture)?;
        objective.penalty = 0.0;
        objective.add_prior(layout, &mixture, &spreads, options.widen, precision);
        let second = stage(&objective, first, 1)?;
        mixtures.push(objective.mixture(layout, second));
    }
    Ok(Mixture::mean(layout, &mixtures))
}

/// The length of the noise of a pair's table, as shares of the records: the root of the mean square.
fn pair_noise(layout: &Layout, measured: &Measurement, n_records: f64) -> f64 {
    let sizes = layout.sizes();
    let freedom = |&(i, j): &(usize, usize)| ((sizes[i] - 1) * (sizes[j] - 1)) as f64;
    let noise = layout.pairs().iter().map(freedom).zip(&measured.sigmas[layout.n_columns()..]);
    let (squares, tables) = noise
        .filter(|(freedom, _)| *freedom > 0.0)
        .fold((0.0, 0.0), |(sum, tables), (f, s)| (sum + f * (s / n_records).powi(2), tables + 1.0));
    (squares / f64::max(tables, 1.0)).sqrt()
}

/// The number of fits, and the components of each: one over the length of the noise, up to a power of two.
fn split(components: usize, width: usize, noise: f64) -> (usize, usize) {
    let least = 2 * LANES;
    let components = components.max(1).next_multiple_of(least);
    let wanted = (1.0 / noise.max(f64::MIN_POSITIVE)).min(components as f64).max(least as f64);
    let each = (wanted.ceil() as usize).next_power_of_two().min(components);
    ((components / each).min(MOST_FITS).min(MOST_SQUARES / width.pow(2)).max(1), each)
}

impl Objective {
    /// The tables as probabilities, each cell weighted by its precision.
    fn of(layout: &Layout, measured: &Measurement, n_records: f64, shares: &[f64], one_way: &[f64], n: usize) -> Self {
        let width = padded(layout.width());
        let precision = |table: usize| (n_records / measured.sigmas[table]).powi(2);
        let mut objective = Self {
            blocks: (0..layout.n_columns()).map(|column| layout.levels(column)).collect(),
            width,
            n,
            tiles: Tiles::of(width, layout.pairs().iter().map(|&(i, j)| (layout.levels(i), layout.levels(j)))),
            shares: vec![0.0; width],
            pair_weights: vec![0.0; width * width],
            pair_targets: vec![0.0; width * width],
            prior: None,
            weights: vec![0.0; width],
            targets: vec![0.0; width],
            penalty: 0.0,
            log_prior: vec![0.0; width],
        };
        for column in 0..layout.n_columns() {
            for level in layout.levels(column) {
                objective.shares[level] = (1.0 / layout.sizes()[column] as f64) as f32;
                objective.weights[level] = precision(column) as f32;
                objective.targets[level] = shares[level] as f32;
                objective.log_prior[level] = one_way[level].max(1e-7).ln() as f32;
            }
        }
        for number in 0..layout.pairs().len() {
            let cells = measured.interaction(layout, number);
            let weight = precision(layout.n_columns() + number) as f32;
            let mean = 1.0 / cells.len() as f64;
            for (place, cell) in pair_places(layout, number, width).zip(cells) {
                objective.pair_weights[place] = weight;
                objective.pair_targets[place] = (cell / n_records - mean) as f32;
            }
        }
        objective
    }

    /// The mean precision of a pair, each pair counted once.
    fn mean_weight(&self, layout: &Layout) -> f64 {
        let first = |number| pair_places(layout, number, self.width).next().map_or(0.0, |at| self.pair_weights[at]);
        let sum: f64 = (0..layout.pairs().len()).map(|number| f64::from(first(number))).sum();
        sum / layout.pairs().len() as f64
    }

    fn scale(&mut self, factor: f64) {
        for weight in self.pair_weights.iter_mut().chain(&mut self.weights) {
            *weight = (f64::from(*weight) * factor) as f32;
        }
    }

    /// Adds the prior of the second stage.
    fn add_prior(&mut self, layout: &Layout, first: &Mixture, spreads: &[f64], widen: f64, precision: f64) {
        let largest = f64::from(self.pair_weights.iter().copied().fold(0.0, f32::max));
        let most = MOST_PRIOR * largest.max(PLENTY / precision);
        let (mut weights, mut targets) = (vec![0.0; self.width * self.width], vec![0.0; self.width * self.width]);
        for (number, spread) in spreads.iter().enumerate() {
            let (i, j) = layout.pairs()[number];
            for (place, q) in pair_places(layout, number, self.width).zip(first.pair(i, j)) {
                let variance = ((widen * spread).powi(2) * q.max(evidence::LEAST)).max(1e-12);
                weights[place] = (1.0 / (variance * precision)).min(most) as f32;
                targets[place] = q as f32;
            }
        }
        self.prior = Some((weights, targets));
    }

    /// The mixture of these logits.
    fn mixture(&self, layout: &Layout, mut logits: Logits) -> Mixture {
        let mut work = Workspace::new(self);
        let mut gradient = Logits::zeros(self.width, self.n);
        self.evaluate(&mut logits, &mut gradient, &mut work);
        let weights = component_weights(&logits.components);
        let levels =
            work.probabilities().as_flattened()[..layout.width() * weights.len()].iter().map(|&a| f64::from(a));
        Mixture::normalised(layout, weights, levels.collect())
    }
}

/// Where the cells of a pair stand above the diagonal, in the order of the layout.
fn pair_places(layout: &Layout, number: usize, width: usize) -> impl Iterator<Item = usize> {
    let (i, j) = layout.pairs()[number];
    let columns = layout.levels(j);
    layout.levels(i).flat_map(move |row| columns.clone().map(move |column| row * width + column))
}

/// Logits around the logarithms of the one-way tables.
fn start(objective: &Objective, key: &StreamKey, number: u64) -> Logits {
    let mut logits = Logits::zeros(objective.width, objective.n);
    let mut bits = key.stream(number);
    for block in &objective.blocks {
        for i in block.clone() {
            for lane in &mut logits.levels[i * objective.n..(i + 1) * objective.n] {
                let centre = objective.log_prior[i];
                *lane = normals(&mut bits).map(|x| centre + SPREAD as f32 * x);
            }
        }
    }
    logits
}

/// Standard normal numbers, good enough to start from (Box and Muller).
fn normals<B: Bits>(bits: &mut B) -> Lane {
    let mut lane = [0.0; LANES];
    for pair in lane.as_chunks_mut::<2>().0 {
        let uniform = |word: u64| ((word >> 11) as f64 + 0.5) / 2f64.powi(53);
        let radius = (-2.0 * libm::log(uniform(bits.next_u64()))).sqrt();
        let angle = 2.0 * std::f64::consts::PI * uniform(bits.next_u64());
        *pair = [(radius * libm::cos(angle)) as f32, (radius * libm::sin(angle)) as f32];
    }
    lane
}

#[cfg(test)]
mod tests;
