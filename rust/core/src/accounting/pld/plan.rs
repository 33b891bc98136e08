//! Where to look: range, tilt and grid for one question about a composition, from a coarse picture of its parts.
//!
//! Nothing here has to be exact. A bad choice costs accuracy, which the bounds then show; it cannot make them wrong.

use super::discretise::pessimistic;
use super::pmf::Pmf;
use crate::accounting::Profile;
use crate::{Result, interrupt};

/// A profile, and how many times it is composed with itself.
pub(super) type Part<'a> = (&'a dyn Profile, u64);

/// A coarse pessimistic picture of each part over the range that matters.
pub(super) struct Sketch {
    parts: Vec<(Pmf, u64)>,
    /// Where each part bends.
    kinks: Vec<Vec<f64>>,
    /// Standard deviation of the untilted composed loss.
    deviation: f64,
}

/// Position of a question in the tail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    pub(super) tilt: f64,
    pub(super) epsilon: f64,
    pub(super) log_delta: f64,
    pub(super) deviation: f64,
}

/// Knots of the coarse picture for each factor of two.
const KNOTS_PER_OCTAVE: i32 = 6;
const OCTAVES: i32 = 18;
/// Half the relative distance of knots of the coarse picture.
const SPREAD: f64 = 0.06;
/// Grid steps to the range of the widest part: beyond, multiples of the step would not be exact.
const MOST_STEPS: f64 = (1_u64 << 28) as f64;
/// Knots of one part at most.
const MOST_KNOTS: i64 = 1 << 20;

impl Sketch {
    /// Looks at each part up to where what is left of delta is negligible against `log_delta`.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub(super) fn new(pairs: &[Part<'_>], log_delta: f64) -> Result<Self> {
        let count = pairs.len() as f64;
        let parts = pairs
            .iter()
            .map(|&(profile, times)| {
                // Not below the smallest normal double: a profile has no more digits there.
                let budget = (log_delta - 18.0 - (count * times as f64).ln()).max(-700.0).exp();
                let part = (sketch(profile, budget, 1e-12 / times as f64), times);
                interrupt::check()?;
                Ok(part)
            })
            .collect::<Result<_>>()?;
        let kinks = pairs.iter().map(|(profile, _)| profile.kinks()).collect();
        let mut this = Self { parts, kinks, deviation: 0.0 };
        this.deviation = this.cumulants(0.0).2.sqrt().max(1e-300);
        Ok(this)
    }

    /// Logarithm of the moment generating function of the composed loss, and its first two derivatives.
    fn cumulants(&self, tilt: f64) -> (f64, f64, f64) {
        self.parts.iter().fold((0.0, 0.0, 0.0), |sum, (pmf, times)| {
            let (m, times) = (pmf.tilted(tilt), *times as f64);
            (sum.0 + times * m.log_mass, sum.1 + times * m.mean, sum.2 + times * m.variance)
        })
    }

    fn aim_at(&self, tilt: f64) -> Aim {
        let (log_mass, mean, variance) = self.cumulants(tilt);
        // Saddle point: exp(K - t mean) / (t (t + 1) sqrt(2 pi variance)) in the tail, 1 at tilt zero.
        let deviation = variance.sqrt();
        let log_delta = log_mass - tilt * mean - (1.0 + tilt).ln() - (tilt * deviation * 2.5).ln_1p();
        Aim { tilt, epsilon: mean, log_delta, deviation }
    }

    /// The tilt under which `reached` first holds, to about one per cent.
    fn search(&self, reached: impl Fn(&Aim) -> bool) -> Aim {
        let (mut low, mut high) = ((1e-4 / self.deviation).ln(), (1e3 / self.deviation).ln());
        if reached(&self.aim_at(low.exp())) {
            return self.aim_at(0.0);
        }
        for _ in 0..12 {
            let middle = 0.5 * (low + high);
            if reached(&self.aim_at(middle.exp())) {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.aim_at(high.exp())
    }

    /// Where delta is about exp(log_delta).
    pub(super) fn aim_delta(&self, log_delta: f64) -> Aim {
        self.search(|aim| aim.log_delta <= log_delta)
    }

    /// Where the loss is about epsilon.
    pub(super) fn aim_epsilon(&self, epsilon: f64) -> Aim {
        self.search(|aim| aim.epsilon >= epsilon)
    }

    /// The step that keeps the error of epsilon near `tolerance`.
    ///
    /// Splitting a loss between its neighbours at distance w keeps the masses of P and Q and so adds about
    /// w^2 t (t + 1) / 12 to the logarithm of the moment generating function at t, and 1/t of that to epsilon.
    pub(super) fn step(&self, aim: &Aim, tolerance: f64) -> f64 {
        let times: f64 = self.parts.iter().map(|part| part.1 as f64).sum();
        let by_error = (8.0 * tolerance / ((aim.tilt + 1.0) * times)).sqrt();
        by_error.min(self.deviation / 8.0).max(self.least_step())
    }

    /// The smallest step whose multiples, over all of each part, are exact.
    fn least_step(&self) -> f64 {
        let ends = self.parts.iter().flat_map(|(pmf, _)| {
            let (first, last) = pmf.support();
            [first as f64 * pmf.step, last as f64 * pmf.step]
        });
        (ends.fold(0.0, |widest: f64, end| widest.max(end.abs())) / MOST_STEPS).max(f64::MIN_POSITIVE)
    }

    /// Knots of part `i` on a grid of the given step, farther apart where the tilted mass is small.
    pub(super) fn knots(&self, i: usize, aim: &Aim, step: f64) -> Vec<i64> {
        let pmf = &self.parts[i].0;
        let (first, last) = pmf.support();
        let (low, high) = (first as f64 * pmf.step, last as f64 * pmf.step);
        let widest = ((high - low) / 64.0).max(step);
        let least = ((high - low) / step) as i64 / MOST_KNOTS;
        let moments = pmf.tilted(aim.tilt);
        // Tilted density near each coarse atom.
        let atoms = &pmf.atoms;
        let density: Vec<(f64, f64)> = (0..atoms.len())
            .map(|j| {
                let at = atoms[j].0 as f64 * pmf.step;
                let (left, right) = (atoms[j.saturating_sub(1)].0, atoms[(j + 1).min(atoms.len() - 1)].0);
                // A kink has a picture of its own between the others: its mass is spread as theirs are, so that a loss that
                // has mass by itself does not thin out the knots elsewhere.
                let width = (0.5 * (right - left) as f64 * pmf.step).max(SPREAD * at.abs());
                (at, atoms[j].1 * (aim.tilt * at - moments.log_mass).exp() / width.max(step))
            })
            .collect();
        let peak = density.iter().map(|d| d.1).fold(0.0, f64::max);
        let mut knots = Vec::new();
        let (mut k, end) = ((low / step).floor() as i64 - 1, (high / step).ceil() as i64 + 1);
        let mut near = 0;
        while k < end {
            knots.push(k);
            while near + 1 < density.len() && density[near + 1].0 <= k as f64 * step {
                near += 1;
            }
            // The denser of the two coarse neighbours; equal errors ask for widths like density^(-1/3).
            let here =
                density[near.min(density.len().saturating_sub(1))..].iter().take(2).map(|d| d.1).fold(0.0, f64::max);
            let width = if here > 0.0 { (0.7 * step * (peak / here).cbrt()).min(widest) } else { widest };
            k += ((width / step) as i64).max(least).max(1);
        }
        knots.push(end);
        let bends = on_both_sides(&self.kinks[i], step).into_iter().filter(|&k| knots[0] < k && k < end);
        knots.extend(bends.collect::<Vec<_>>());
        knots.sort_unstable();
        knots.dedup();
        knots
    }
}

/// The largest step of the form {4, 5, 6, 7} 2^k that is at most `step`: all multiples in use are exact.
pub(super) fn short_step(step: f64) -> f64 {
    let scale = 2.0_f64.powi(step.log2().floor() as i32 - 2);
    scale * (step / scale).floor().clamp(4.0, 7.0)
}

/// The nearest double of 24 binary digits: its products with all indices in use, below 2^29, are exact.
pub(super) fn few_digits(step: f64) -> f64 {
    let scale = 2.0_f64.powi(step.log2().floor() as i32 - 23);
    scale * (step / scale).round()
}

/// The grid points next to each loss, on either side; one where the loss is on the grid.
fn on_both_sides(losses: &[f64], step: f64) -> Vec<i64> {
    losses.iter().map(|loss| loss / step).flat_map(|at| [at.floor() as i64, at.ceil() as i64]).collect()
}

/// Pessimistic masses at losses in geometric progression around zero, up to where less than the budgets is left.
fn sketch(profile: &dyn Profile, budget: f64, budget_low: f64) -> Pmf {
    let limit = profile.delta_upper(f64::INFINITY);
    let limit = if limit.is_nan() { 0.0 } else { limit };
    let high = reach(|eps| profile.delta_upper(eps) - limit <= budget);
    // What P has below -eps, seen through the distance to the trivial profile 1 - exp(eps).
    let low = reach(|eps| profile.delta_upper(-eps) + (-eps).exp_m1() <= budget_low.max(4e-16));
    let step = 2.0_f64.powi(high.max(low).log2().floor() as i32 - 40);
    let side = |range: f64| {
        (0..=KNOTS_PER_OCTAVE * OCTAVES)
            .map(move |j| range * 2.0_f64.powf(-f64::from(j) / f64::from(KNOTS_PER_OCTAVE)))
            .map(move |eps| (eps / step) as i64)
    };
    let within: Vec<f64> = profile.kinks().into_iter().filter(|kink| (-low..=high).contains(kink)).collect();
    let bends = on_both_sides(&within, step);
    let mut knots: Vec<i64> = side(low).map(|k| -k).chain([0]).chain(side(high)).chain(bends).collect();
    knots.sort_unstable();
    knots.dedup();
    pessimistic(profile, step, &knots)
}

/// About the smallest positive value from which on `enough` holds; it is taken to be monotone.
fn reach(enough: impl Fn(f64) -> bool) -> f64 {
    let mut at = 1.0_f64;
    if enough(at) {
        while at > 1e-12 && enough(0.5 * at) {
            at *= 0.5;
        }
    } else {
        while at < 1e6 && !enough(at) {
            at *= 2.0;
        }
    }
    let (mut low, mut high) = (0.5 * at, at);
    for _ in 0..4 {
        let middle = 0.5 * (low + high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}
