//! How much the evidence of a classifier counts, from a released table of its hits and misses.
//!
//! Naive Bayes counts features that depend on each other as if each were news. Calibrated, its log-likelihoods count w times:
//! p_w(c | x) ~ pi_c p(x | c)^w, from the class shares alone (w = 0) to the tables as they are (w = 1). Records whose predicted
//! class has prior log-odds o and posterior log-odds m are hits with probability
//!
//! ```text
//! p_w = logistic(o + w (m - o)),
//! ```
//!
//! exactly for two classes, nearly for more. A bin of such records, lambda of them expected, holds Poisson(lambda p_w) hits and
//! Poisson(lambda (1 - p_w)) misses, and what is released of both is known by its law: with lambda flat (which makes the hits binomial
//! given their number) the likelihood of w is the product over bins of
//!
//! ```text
//! integral over lambda of g_hit(lambda p_w) g_miss(lambda (1 - p_w)),     g(mu) = sum over a of e^-mu mu^a / a! P(released | a).
//! ```
//!
//! w is uniform on [0, 1] before the release.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::factor::Factor;
use crate::special::log_gamma;
use crate::{Error, Result, interrupt, parallel};

/// Values of w that are looked at at once.
const POINTS: usize = 17;

/// The range of w is narrowed so often at most.
const ROUNDS: usize = 5;

/// Logarithm of a relative likelihood below which a w is left out.
const NEGLIGIBLE: f64 = 25.0;

/// Logarithm of a relative mass where a sum ends.
const CUT: f64 = 20.0;

/// Steps in the spread of a count.
const FINENESS: f64 = 3.0;

/// Between the roots of mu at which ln g is computed; a Poisson law has a spread of one half there.
const ROOT_STEP: f64 = 0.125;

/// Records whose predicted class has the same prior log-odds, and nearly the same posterior ones.
#[derive(Debug, Clone, Copy)]
pub struct Bin {
    /// What was released of the number of records that are of the predicted class.
    pub hits: Factor,
    /// What was released of the others.
    pub misses: Factor,
    /// Log-odds of the share of the predicted class.
    pub prior: f64,
    /// Log-odds of the predicted class given the record, if all evidence counts.
    pub posterior: f64,
}

/// Mean and standard deviation of w given the release.
///
/// # Errors
/// [`Error::InvalidParameter`] for factors that are no noisy counts; [`Error::Interrupted`].
pub fn weight_of_evidence(bins: &[Bin], threads: usize) -> Result<(f64, f64)> {
    let likelihoods: Vec<Mutex<Likelihood>> =
        bins.iter().map(|bin| Ok(Mutex::new(Likelihood::new(bin)?))).collect::<Result<_>>()?;
    let (mut low, mut high) = (0.0, 1.0);
    for round in 1.. {
        let step = (high - low) / (POINTS - 1) as f64;
        let places: Vec<f64> = (0..POINTS).map(|i| low + i as f64 * step).collect();
        let by_bin = parallel::map(0..bins.len(), threads, |k| {
            interrupt::check()?;
            let mut likelihood = likelihoods[k].lock().unwrap_or_else(PoisonError::into_inner);
            Ok(places.iter().map(|&w| likelihood.log_at(w)).collect::<Vec<f64>>())
        })?;
        let logs: Vec<f64> = (0..POINTS).map(|i| by_bin.iter().map(|logs| logs[i]).sum()).collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let likely: Vec<usize> = (0..POINTS).filter(|&i| logs[i] > top - NEGLIGIBLE).collect();
        let (first, last) = (likely.first().copied().unwrap_or(0), likely.last().copied().unwrap_or(POINTS - 1));
        let (first, last) = (first.saturating_sub(1), (last + 1).min(POINTS - 1));
        if round >= ROUNDS || last - first > POINTS / 2 {
            return Ok(moments(&places, &logs, top));
        }
        (low, high) = (places[first], places[last]);
    }
    unreachable!()
}

/// By the trapezoidal rule.
fn moments(places: &[f64], logs: &[f64], top: f64) -> (f64, f64) {
    let end = places.len() - 1;
    let mass = |i: usize| (logs[i] - top).exp() * if i == 0 || i == end { 0.5 } else { 1.0 };
    let sum = |f: &dyn Fn(f64) -> f64| (0..=end).map(|i| mass(i) * f(places[i])).sum::<f64>();
    let all = sum(&|_| 1.0);
    let mean = sum(&|w| w) / all;
    (mean, (sum(&|w| (w - mean).powi(2)) / all).sqrt())
}

/// The likelihood of w by one bin, for many w.
struct Likelihood {
    bin: Bin,
    /// Of the sum of hits and misses.
    centre: f64,
    /// In the root of lambda.
    step: f64,
    hits: LogMasses,
    misses: LogMasses,
}

impl Likelihood {
    fn new(bin: &Bin) -> Result<Self> {
        let (hits, hits_variance) = noisy(&bin.hits)?;
        let (misses, misses_variance) = noisy(&bin.misses)?;
        let centre = (hits + misses).max(0.0);
        let variance = hits_variance + misses_variance + centre + 1.0;
        // In the root of lambda, whose spread changes little with lambda. The trapezoidal rule is exact to nine digits if steps
        // are no longer than the spread of a normal law.
        let step = 0.25 * (variance / (centre + variance.sqrt())).sqrt();
        Ok(Self { bin: *bin, centre, step, hits: LogMasses::new(bin.hits), misses: LogMasses::new(bin.misses) })
    }

    /// Up to a constant that is the same for every w.
    fn log_at(&mut self, w: f64) -> f64 {
        let odds = self.bin.prior + w * (self.bin.posterior - self.bin.prior);
        let (hit, miss) = ((1.0 + (-odds).exp()).recip().sqrt(), (1.0 + odds.exp()).recip().sqrt());
        let step = self.step;
        let (of_hits, of_misses) = (&mut self.hits, &mut self.misses);
        let mut at = |i: u64| {
            let root = (i as f64 + 0.5) * step;
            root.ln() + of_hits.at_root(root * hit) + of_misses.at_root(root * miss)
        };
        let start = (self.centre.sqrt() / step) as u64;
        let mut logs = vec![at(start)];
        let mut top = logs[0];
        for upwards in [true, false] {
            let mut i = start;
            while upwards || i > 0 {
                i = if upwards { i + 1 } else { i - 1 };
                let log = at(i);
                logs.push(log);
                if log < top - CUT {
                    break;
                }
                top = top.max(log);
            }
        }
        log_sum(logs.into_iter()) + step.ln()
    }
}

/// ln g of one factor at roots of mu, in which it is smooth: on a grid, filled where it is asked for, and cubic between.
struct LogMasses {
    factor: Factor,
    values: HashMap<i64, f64>,
}

impl LogMasses {
    fn new(factor: Factor) -> Self {
        Self { factor, values: HashMap::new() }
    }

    fn at_root(&mut self, root: f64) -> f64 {
        let place = root / ROOT_STEP;
        let (below, t) = (place.floor() as i64, place.fract());
        let [a, b, c, d] = [-1, 0, 1, 2].map(|offset| self.at_multiple(below + offset));
        // Lagrange's cubic through the four points around.
        let (u, v, w) = (t + 1.0, t - 1.0, t - 2.0);
        -a * t * v * w / 6.0 + b * u * v * w / 2.0 - c * u * t * w / 2.0 + d * u * t * v / 6.0
    }

    /// A function of mu, so an even one of its root.
    fn at_multiple(&mut self, i: i64) -> f64 {
        let factor = &self.factor;
        let compute = || log_mass(factor, 2.0 * (i.abs() as f64 * ROOT_STEP).ln());
        *self.values.entry(i.abs()).or_insert_with(compute)
    }
}

fn noisy(factor: &Factor) -> Result<(f64, f64)> {
    factor.noisy_count().ok_or_else(|| Error::parameter("release", "be counts with noise", "shares"))
}

/// ln g at a logarithm of mu: summed outwards from the most likely count, in steps of a fraction of the spread.
fn log_mass(factor: &Factor, log_mu: f64) -> f64 {
    // Below, one record in 10^30 bins would be there.
    let log_mu = log_mu.max(-70.0);
    let mode = mode(factor, log_mu);
    let spread = (1.0 / factor.variance_near(mode) + 1.0 / (mode + 1.0)).sqrt().recip();
    let step = (spread / FINENESS).floor().max(1.0);
    let log_at = |a: f64| factor.log_at(a) + a * log_mu - log_gamma(a + 1.0);
    let top = log_at(mode);
    let mut sum = 1.0;
    for sign in [-1.0, 1.0] {
        let mut a = mode + sign * step;
        while a >= 0.0 {
            let log = log_at(a) - top;
            if log < -CUT {
                break;
            }
            sum += log.exp();
            a += sign * step;
        }
    }
    top + (sum * step).ln() - log_mu.exp()
}

/// The most likely count: the terms are concave, or below concave ones next to them.
fn mode(factor: &Factor, log_mu: f64) -> f64 {
    let rises = |a: f64| factor.concave_increment(a) + log_mu - (a + 1.0).ln() > 0.0;
    if !rises(0.0) {
        return 0.0;
    }
    let start = factor.guess().floor();
    let (mut low, mut high) = if rises(start) {
        let mut width = 1.0;
        while rises(start + width) {
            width *= 2.0;
        }
        (start + 0.5 * width, start + width)
    } else {
        let mut width = 1.0;
        while start - width > 0.0 && !rises(start - width) {
            width *= 2.0;
        }
        ((start - width).max(0.0), start - if width > 1.0 { 0.5 * width } else { 0.0 })
    };
    low = low.floor();
    while high - low > 1.0 {
        let middle = (0.5 * (low + high)).floor();
        (low, high) = if rises(middle) { (middle, high) } else { (low, middle) };
    }
    high
}

fn log_sum(logs: impl Iterator<Item = f64>) -> f64 {
    let logs: Vec<f64> = logs.collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY { top } else { top + logs.iter().map(|log| (log - top).exp()).sum::<f64>().ln() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::factor::Noise;

    /// The sum over all hits a and misses b of what was released of them times (a + b)! / (a! b!) p^a (1 - p)^b.
    fn by_sums(hits: &Factor, misses: &Factor, p: f64, most: u32) -> f64 {
        let (ln_p, ln_q) = (p.ln(), (-p).ln_1p());
        let term = |a: u32, b: u32| {
            let (a, b) = (f64::from(a), f64::from(b));
            let ways = log_gamma(a + b + 1.0) - log_gamma(a + 1.0) - log_gamma(b + 1.0);
            hits.log_at(a) + misses.log_at(b) + ways + a * ln_p + b * ln_q
        };
        log_sum((0..most).flat_map(|a| (0..most).map(move |b| term(a, b))))
    }

    #[test]
    fn likelihoods_are_those_of_all_hits_and_misses() {
        let laws = [
            Noise::Gaussian { sigma: 0.8, step: 1.0 },
            Noise::Gaussian { sigma: 15.0, step: 1.0 },
            Noise::Laplace { scale: 3.0, step: 1.0 },
            Noise::Laplace { scale: 20.0, step: 0.25 },
        ];
        for noise in laws {
            for (hits, misses) in [(0.0, 1.0), (30.0, 9.0), (150.0, -4.0), (-20.0, 12.0)] {
                let (hits, misses) = (Factor::noisy(hits, noise).unwrap(), Factor::noisy(misses, noise).unwrap());
                let (prior, posterior) = (-1.0, 4.0);
                let bin = Bin { hits, misses, prior, posterior };
                let at = |w: f64| {
                    let p = 1.0 / (1.0 + (-(prior + w * (posterior - prior))).exp());
                    (Likelihood::new(&bin).unwrap().log_at(w), by_sums(&hits, &misses, p, 400))
                };
                let first = at(0.0);
                for w in [0.3, 0.7, 1.0] {
                    let found = at(w);
                    let (ours, exact) = (found.0 - first.0, found.1 - first.1);
                    assert!((ours - exact).abs() < 0.02 * (1.0 + exact.abs()), "{noise:?} {w}: {ours} {exact}");
                }
            }
        }
    }

    #[test]
    fn the_weight_is_found_where_the_release_tells_it() {
        let noise = Noise::Gaussian { sigma: 2.0, step: 1.0 };
        for weight in [0.05, 0.4, 0.93] {
            let bin = |(prior, posterior): (f64, f64)| {
                let p = 1.0 / (1.0 + f64::exp(-(prior + weight * (posterior - prior))));
                let count = |share: f64| Factor::noisy((1e4 * share).round(), noise).unwrap();
                Bin { hits: count(p), misses: count(1.0 - p), prior, posterior }
            };
            let bins: Vec<Bin> = [(-0.5, 0.4), (-0.5, 1.2), (0.5, 1.8), (0.5, 4.0)].map(bin).to_vec();
            let (mean, sd) = weight_of_evidence(&bins, 1).unwrap();
            assert!((mean - weight).abs() < 0.005 && sd < 0.02, "{weight}: {mean} {sd}");
        }
        let nothing = Factor::noisy(3.0, Noise::Gaussian { sigma: 1e6, step: 1.0 }).unwrap();
        let bins = vec![Bin { hits: nothing, misses: nothing, prior: -0.5, posterior: 0.5 }];
        let (mean, sd) = weight_of_evidence(&bins, 1).unwrap();
        assert!((mean - 0.5).abs() < 0.05 && (sd - 12f64.sqrt().recip()).abs() < 0.02, "{mean} {sd}");
    }
}
