//! One node l of the envelope: the tilt theta, the constants of its product law, and its tables when they are needed.
//!
//! With * the coordinate that closes the sum and D the sum of k_i - x_i over the others, so that k_* = x_* - D,
//! exp(l s(k)) <= exp(l sum_(i != *) g_i(k_i) + theta D + peak), peak >= max_k (l g_*(k) + theta (k - x_*)),
//! because sum_i (k_i - x_i) = 0. The right-hand side adds up to exp(peak + sum of log-sums): convex in theta and in l
//! together, a sum of logarithms of sums of exponentials of linear functions.

use std::sync::OnceLock;

use super::SCORE_ERROR;
use super::law::{Coordinate, Law, Moments};
use super::problem::Problem;
use super::table::{Detail, Table};
use crate::double_double::DoubleDouble;
use crate::{Result, parallel};

/// Steps of the search for the tilt; any tilt is valid, so a cap costs nothing but acceptance.
const MAX_TILT_STEPS: u32 = 60;
/// Groups from here on have coarse tables.
const COARSE_FROM: usize = 24;
/// Groups whose moments, or tables, take a thread a fifth of a millisecond.
const MOMENTS_PER_THREAD: usize = 128;
const TABLES_PER_THREAD: usize = 64;

/// l, theta and the sum over k of the bound above, as a logarithm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) l: u64,
    pub(super) theta: f64,
    /// At least the largest l g_*(k) + theta (k - x_*).
    pub(super) peak: f64,
    /// At least peak plus the sum of the others' log-sums.
    pub(super) log_total: f64,
    /// Guess of the chance that the closing coordinate accepts.
    pub(super) closing: f64,
}

/// What [`evaluate`] finds at one tilt.
struct Evaluation {
    peak: f64,
    log_sum: f64,
    error: f64,
    /// Derivative of the logarithm of the bound by theta.
    drift: f64,
    variance: f64,
    star_variance: f64,
}

impl Evaluation {
    fn log_total(&self) -> f64 {
        self.peak + self.log_sum + 2.0 * self.error
    }
}

fn law(coordinate: Coordinate, l: u64, theta: f64) -> Law {
    Law { coordinate, l: l as f64, theta }
}

/// The largest l g_*(k) + theta (k - x_*), from above, and its argument's distance from x_*.
fn star_peak(problem: &Problem, l: u64, theta: f64) -> (f64, f64) {
    // alpha_* + x_* >= 1: the law is concave.
    let (peak, mode) = law(problem.star, l, theta).peak_upper();
    (peak, problem.star.shift(mode))
}

/// Every group's moments, weighted by how often it occurs.
fn group_moments(problem: &Problem, l: u64, theta: f64) -> Result<Moments> {
    let weighted = |&(coordinate, count): &(Coordinate, f64)| {
        let moments = law(coordinate, l, theta).moments()?;
        Ok(Moments {
            log_sum: count * moments.log_sum,
            mean: count * moments.mean,
            variance: count * moments.variance,
            error: count * (moments.error + SCORE_ERROR * moments.log_sum.abs()),
        })
    };
    let zero = Moments { log_sum: 0.0, mean: 0.0, variance: 0.0, error: 0.0 };
    let add = |a: Moments, b: Moments| Moments {
        log_sum: a.log_sum + b.log_sum,
        mean: a.mean + b.mean,
        variance: a.variance + b.variance,
        error: a.error + b.error,
    };
    let threads = parallel::threads_for(problem.groups.len(), MOMENTS_PER_THREAD);
    Ok(parallel::map(problem.groups.iter(), threads, weighted)?.into_iter().fold(zero, add))
}

fn evaluate(problem: &Problem, l: u64, theta: f64) -> Result<Evaluation> {
    let moments = group_moments(problem, l, theta)?;
    let (peak, star_shift) = star_peak(problem, l, theta);
    Ok(Evaluation {
        peak,
        log_sum: moments.log_sum,
        error: moments.error,
        drift: moments.mean + star_shift,
        variance: moments.variance,
        star_variance: 4.0 * problem.star.a() / l as f64,
    })
}

impl Node {
    /// The node at l with the tilt that makes the bound smallest, or nearly; the search starts from `theta`.
    pub(super) fn optimal(problem: &Problem, l: u64, mut theta: f64) -> Result<Self> {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut best: Option<(f64, Evaluation)> = None;
        for _ in 0..MAX_TILT_STEPS {
            let found = evaluate(problem, l, theta)?;
            let (drift, variance) = (found.drift, found.variance + found.star_variance);
            let is_done = drift.abs() < 0.25 * variance.sqrt() + 0.02;
            if best.as_ref().is_none_or(|(_, other)| found.log_total() < other.log_total()) {
                best = Some((theta, found));
            }
            if is_done {
                break;
            }
            if drift > 0.0 {
                high = theta;
            } else {
                low = theta;
            }
            let reach = (3.0 / variance.sqrt()).min(1.0);
            let step = (-drift / variance.max(1e-300)).clamp(-reach, reach);
            theta = match (theta + step, low.is_finite(), high.is_finite()) {
                (next, _, _) if low < next && next < high => next,
                (_, true, true) => 0.5 * (low + high),
                (_, true, false) => low + reach,
                (_, _, _) => high - reach,
            };
            if theta == low || theta == high {
                break;
            }
        }
        let (theta, found) = match best {
            Some(best) => best,
            None => (0.0, evaluate(problem, l, 0.0)?),
        };
        // The closing coordinate accepts with its weight over the peak: its sum over the peak, times the chance of one value
        // of a sum with the variance of all.
        let star = law(problem.star, l, theta).rough_moments()?;
        let spread = 2.0 * std::f64::consts::PI * (star.variance + found.variance);
        let closing = ((star.log_sum - found.peak).exp() / (1.0 + spread).sqrt()).min(1.0);
        Ok(Self { l, theta, peak: found.peak, log_total: found.log_total(), closing })
    }

    /// The node at l between two others without a search: by convexity the chord bounds the logarithm of the sum.
    pub(super) fn between(problem: &Problem, left: &Self, right: &Self, l: u64) -> Self {
        let t = (l - left.l) as f64 / (right.l - left.l) as f64;
        let mix = |a: f64, b: f64| a + t * (b - a);
        let theta = mix(left.theta, right.theta);
        let log_total = mix(left.log_total, right.log_total);
        // The tilt is rounded; the slope of the logarithm by theta is the drift, which is small, and at most n.
        let slack = SCORE_ERROR * (1.0 + log_total.abs() + theta.abs() * problem.n as f64 / (1u64 << 8) as f64);
        let peak = star_peak(problem, l, theta).0;
        Self { l, theta, peak, log_total: log_total + slack, closing: mix(left.closing, right.closing) }
    }
}

/// What drawing at a node takes: one table a group, and the sum of the others' log-sums.
pub(super) struct NodeTables {
    pub(super) tables: Vec<Table>,
    pub(super) log_sum: f64,
    pub(super) error: f64,
}

impl NodeTables {
    pub(super) fn new(problem: &Problem, node: &Node, unit_bits: u32) -> Result<Self> {
        // With many groups a release visits many nodes, each once or twice.
        let detail = if problem.groups.len() < COARSE_FROM { Detail::FINE } else { Detail::COARSE };
        let build =
            |&(coordinate, _): &(Coordinate, f64)| Table::new(law(coordinate, node.l, node.theta), detail, unit_bits);
        let threads = parallel::threads_for(problem.groups.len(), TABLES_PER_THREAD);
        let tables = parallel::map(problem.groups.iter(), threads, build)?;
        let moments = group_moments(problem, node.l, node.theta)?;
        Ok(Self { tables, log_sum: moments.log_sum, error: moments.error })
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.tables.iter().map(Table::n_bytes).sum()
    }
}

/// The sum of the others' log-sums to thirty digits, with its error.
pub(super) fn exact_log_sum(problem: &Problem, node: &Node) -> Result<(DoubleDouble, f64)> {
    let (mut sum, mut error) = (DoubleDouble::from(0.0), 0.0);
    for &(coordinate, count) in &problem.groups {
        let (log_sum, log_error) = law(coordinate, node.l, node.theta).exact_log_sum()?;
        sum = sum + log_sum * count;
        error += count * (log_error + 2f64.powi(-94) * log_sum.to_f64().abs());
    }
    Ok((sum, error))
}

/// Tables and exact sums that are found once and kept.
#[derive(Default)]
pub(super) struct Cache {
    pub(super) tables: OnceLock<NodeTables>,
    pub(super) exact_log_sum: OnceLock<(DoubleDouble, f64)>,
}
