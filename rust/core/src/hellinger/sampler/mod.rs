//! Exact draws from the Hellinger mechanism without enumerating its candidates.
//!
//! The law is pi(k) proportional to T(k) = exp(-c sqrt(1 - exp(s(k)))) over all compositions k of n into m parts, where
//! s(k) = sum_i g_i(k_i) (HP section 2; docs/hellinger-sampler.md has the derivation and the proofs). Rejection sampling from
//! a mixture (`envelope`) of the uniform law and of product laws (`node`) whose coordinates are drawn exactly (`table`):
//! 1. pick a node by integer weights N_l >= A_l exp(log-total of the node), and k from its law;
//! 2. accept with probability [A_l exp(true log-total) / N_l] [T(k) / sum_l A_l exp(l s_others + theta_l D + peak_l)].
//!
//! The first factor undoes what N_l was rounded up by; the second is the target over the whole mixture, so that no J is ever
//! drawn and p_J enters by upper bounds only. Every constant of the envelope is a double that is taken as the exact number; what
//! the decisions depend on besides is computed in doubles with error bounds, and where those do not decide, to thirty
//! digits. See [`log_error`] for what is left.

mod decision;
mod envelope;
mod exact_scores;
mod law;
mod node;
mod problem;
mod stable_series;
mod table;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod uniform;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::double_double::{DoubleDouble, LN_2};
use decision::accept;
use envelope::{Envelope, log_sum};
use exact_scores::{exact_score, log_n_candidates};
use node::{Cache, NodeTables, exact_log_sum};
use problem::Problem;
use stable_series::StableSeries;

use crate::random::Bits;
use crate::sampling::uniform_below;
use crate::{Error, Result, interrupt};

/// Bound on the relative error of a score in doubles; tested at a quarter of it.
const SCORE_ERROR: f64 = 1.0 / (1u64 << 44) as f64;
/// Bits of the largest node weight.
const WEIGHT_BITS: u32 = 50;
/// Proposals times categories before a draw is given up.
const MAX_WORK: u64 = 1 << 31;
const MIN_PROPOSALS: u64 = 1 << 16;
const MAX_PROPOSALS: u64 = 1 << 24;
/// Bytes of tables that are kept; nodes beyond build theirs anew.
const TABLE_BYTES: usize = 64 << 20;
/// Terms below exp(-NEGLIGIBLE) of the largest are left out of exact sums.
const NEGLIGIBLE: f64 = 90.0;

/// The Hellinger mechanism at one data set and one exponent, ready to draw from.
///
/// # Examples
/// ```
/// use simplexdp_core::hellinger::sampler::HellingerSampler;
/// use simplexdp_core::random::StreamKey;
///
/// let sampler = HellingerSampler::new(&[20, 0, 30], &[1.0, 1.0, 1.0], 12.0)?;
/// let counts = sampler.sample(&mut StreamKey::from_os()?.stream(0))?;
/// assert_eq!(counts.iter().sum::<u64>(), 50);
/// # Ok::<(), simplexdp_core::Error>(())
/// ```
pub struct HellingerSampler {
    problem: Problem,
    /// ln |R|.
    log_n_candidates: DoubleDouble,
    components: Vec<Component>,
    caches: Vec<Cache>,
    /// ln of what a node weight of 2^WEIGHT_BITS stands for.
    log_unit: f64,
    /// Running sums of the integer node weights.
    sums: Vec<u64>,
    n_evaluations: usize,
    predicted_acceptance: f64,
    cached_bytes: AtomicUsize,
    n_proposals: AtomicU64,
    n_accepted: AtomicU64,
    settings: Settings,
}

/// What tests change to reach the rare paths.
#[derive(Debug, Clone, Copy)]
struct Settings {
    /// Fewer send draws to the tails of the tables.
    unit_bits: u32,
    /// Fewer groups interpolate nodes in small problems.
    interpolate_from: usize,
    /// More than any logarithm sends every decision to thirty digits.
    least_error: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { unit_bits: table::UNIT_BITS, interpolate_from: envelope::INTERPOLATE_FROM, least_error: 0.0 }
    }
}

/// Bound on |ln P(k) - ln pi(k)| for every candidate k, P being the law of what is drawn: (m+2) (2^-69 + (n+2) 2^-93).
///
/// Two data sets add this twice to the mechanism's epsilon and nothing to its delta. What it bounds is the part of the
/// decisions that thirty digits leave open: 2^-70 of a coordinate's weights, (n+2) 2^-94 in the tails of a table, 2^-71 of
/// an acceptance, each as a factor; normalisation doubles them.
pub fn log_error(n: u64, m: usize) -> f64 {
    (m as f64 + 2.0) * (2f64.powi(-69) + (n as f64 + 2.0) * 2f64.powi(-93))
}

/// One law of the mixture; the first is the uniform one, l = 0.
struct Component {
    node: node::Node,
    /// ln A_l.
    log_share: f64,
}

impl Component {
    /// ln of A_l exp(l s_others + theta D + peak), D being the sum of the others' shifts.
    fn log_density(&self, others: f64, shift: f64) -> f64 {
        self.log_share + self.node.peak + self.node.l as f64 * others + self.node.theta * shift
    }

    /// The same to thirty digits.
    fn exact_log_density(&self, others: DoubleDouble, shift: f64) -> DoubleDouble {
        DoubleDouble::sum(self.log_share, self.node.peak)
            + others * self.node.l as f64
            + DoubleDouble::product(self.node.theta, shift)
    }

    /// The sum of the absolute values of its terms.
    fn magnitude(&self, others: f64, shift: f64) -> f64 {
        self.log_share.abs()
            + self.node.peak.abs()
            + self.node.l as f64 * others.abs()
            + (self.node.theta * shift).abs()
    }
}

/// A candidate, with what its acceptance depends on.
struct Proposal {
    counts: Vec<u64>,
    component: usize,
    /// Sum of the scores of all coordinates but the closing one, and of that one.
    others: f64,
    closing: f64,
    /// Sum of k - x over the others.
    shift: f64,
    /// ln of the component's true weight, A_l exp(true log-total), and its error.
    log_weight: f64,
    weight_error: f64,
}

impl HellingerSampler {
    /// The sampler for these counts, prior and exponent c (beta(x) of the mechanism).
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for fewer than two categories, priors of another length or outside 1e-100 to 1e12;
    /// [`Error::InvalidData`] for counts that add up to more than 2^43 or an exponent outside 0 to 1e12;
    /// [`Error::Numerical`] for a coordinate whose weights take more than 2^22 terms.
    pub fn new(counts: &[u64], prior: &[f64], exponent: f64) -> Result<Self> {
        Self::with_settings(counts, prior, exponent, Settings::default())
    }

    fn with_settings(counts: &[u64], prior: &[f64], exponent: f64, settings: Settings) -> Result<Self> {
        let problem = Problem::new(counts, prior, exponent)?;
        let log_n_candidates = log_n_candidates(problem.n, problem.m);
        let log_uniform = log_n_candidates.to_f64() - exponent;
        let uniform = node::Node {
            l: 0,
            theta: 0.0,
            peak: 0.0,
            log_total: log_n_candidates.to_f64() * (1.0 + SCORE_ERROR),
            closing: 1.0,
        };
        let mut components = vec![Component { node: uniform, log_share: -exponent }];
        let (mut n_evaluations, mut efficiency) = (0, 1.0);
        if problem.n > 0 && exponent > 0.0 {
            let envelope =
                Envelope::new(&problem, &StableSeries::new(exponent), log_uniform, settings.interpolate_from)?;
            n_evaluations = envelope.n_evaluations;
            efficiency = envelope.efficiency;
            let pairs = envelope.nodes.into_iter().zip(envelope.log_shares);
            // 1e-11 and the error bounds of the terms: the envelope stays above the target where they cancel.
            components.extend(pairs.map(|(node, log_share)| Component { node, log_share: log_share + 1e-11 }));
        }
        let mut sampler = Self {
            caches: components.iter().map(|_| Cache::default()).collect(),
            problem,
            log_n_candidates,
            components,
            log_unit: 0.0,
            sums: Vec::new(),
            n_evaluations,
            predicted_acceptance: efficiency,
            cached_bytes: AtomicUsize::new(0),
            n_proposals: AtomicU64::new(0),
            n_accepted: AtomicU64::new(0),
            settings,
        };
        sampler.weigh_components();
        Ok(sampler)
    }

    /// Integer weights of the components, rounded up.
    fn weigh_components(&mut self) {
        let log_weight = |component: &Component| {
            let log = component.log_share + component.node.log_total;
            log + SCORE_ERROR * (1.0 + log.abs() + component.log_share.abs())
        };
        let largest = self.components.iter().map(log_weight).fold(f64::NEG_INFINITY, f64::max);
        self.log_unit = largest;
        let (mut sum, mut closing) = (0, 0.0);
        for component in &self.components {
            let scaled = (log_weight(component) - largest).exp() * 2f64.powi(WEIGHT_BITS as i32) * (1.0 + SCORE_ERROR);
            let weight = scaled as u64 + 1;
            sum += weight;
            closing += weight as f64 * component.node.closing;
            self.sums.push(sum);
        }
        self.predicted_acceptance *= closing / sum as f64;
    }

    /// One draw.
    ///
    /// # Errors
    /// [`Error::Numerical`] when no proposal is accepted within a cap that grows from 2^16 to 2^24 as m falls, or when a bound
    /// that the exactness rests on turns out to be broken.
    pub fn sample<B: Bits>(&self, bits: &mut B) -> Result<Vec<u64>> {
        if self.problem.n == 0 {
            return Ok(vec![0; self.problem.m]);
        }
        let cap = (MAX_WORK / self.problem.m as u64).clamp(MIN_PROPOSALS, MAX_PROPOSALS);
        for attempt in 1..=cap {
            interrupt::check()?;
            if let Some(counts) = self.attempt(bits)? {
                self.n_proposals.fetch_add(attempt, Ordering::Relaxed);
                self.n_accepted.fetch_add(1, Ordering::Relaxed);
                return Ok(counts);
            }
        }
        self.n_proposals.fetch_add(cap, Ordering::Relaxed);
        let reason = format!("{cap} proposals were rejected; enumerate the candidates if they are few");
        Err(Error::numerical("Hellinger sampler", reason))
    }

    /// Part of the proposals that were accepted so far, or an estimate before the first draw. It depends on the data.
    pub fn acceptance_rate(&self) -> f64 {
        match self.n_proposals.load(Ordering::Relaxed) {
            0 => self.predicted_acceptance,
            n_proposals => self.n_accepted.load(Ordering::Relaxed) as f64 / n_proposals as f64,
        }
    }

    /// Nodes at which the envelope was evaluated.
    pub fn envelope_evaluations(&self) -> usize {
        self.n_evaluations
    }

    /// How far the logarithm of the probability of any candidate is from that of pi: [`log_error`] at this n and m.
    pub fn log_error(&self) -> f64 {
        log_error(self.problem.n, self.problem.m)
    }

    fn attempt<B: Bits>(&self, bits: &mut B) -> Result<Option<Vec<u64>>> {
        let target = uniform_below(bits, self.sums[self.sums.len() - 1]);
        let component = self.sums.partition_point(|&sum| sum <= target);
        let proposal =
            if component == 0 { Some(self.propose_uniform(bits)) } else { self.propose_product(component, bits)? };
        let Some(proposal) = proposal else {
            return Ok(None);
        };
        let (log_ratio, error) = self.log_ratio(&proposal);
        let is_accepted =
            accept(bits, log_ratio, error.max(self.settings.least_error), || self.exact_log_ratio(&proposal))?;
        Ok(is_accepted.then_some(proposal.counts))
    }

    /// A candidate from the uniform law.
    fn propose_uniform<B: Bits>(&self, bits: &mut B) -> Proposal {
        let problem = &self.problem;
        let counts = uniform::uniform_composition(bits, problem.n, problem.m);
        let mut others = 0.0;
        for (i, &k) in counts.iter().enumerate() {
            if i != problem.star_index {
                others += problem.groups[problem.group_of[i] as usize].0.score(k);
            }
        }
        let k = counts[problem.star_index];
        let log_weight = self.components[0].log_share + self.log_n_candidates.to_f64();
        Proposal {
            counts,
            component: 0,
            others,
            closing: problem.star.score(k),
            shift: -problem.star.shift(k),
            log_weight,
            weight_error: SCORE_ERROR * (self.components[0].log_share.abs() + self.log_n_candidates.to_f64()),
        }
    }

    /// A candidate from the product law of a node, or none when the others leave less than nothing.
    fn propose_product<B: Bits>(&self, component: usize, bits: &mut B) -> Result<Option<Proposal>> {
        let Component { node, log_share } = &self.components[component];
        let cache = &self.caches[component].tables;
        let built;
        let tables = match cache.get() {
            Some(tables) => tables,
            None => {
                let fresh = NodeTables::new(&self.problem, node, self.settings.unit_bits)?;
                let n_bytes = fresh.n_bytes();
                if self.cached_bytes.fetch_add(n_bytes, Ordering::Relaxed) + n_bytes <= TABLE_BYTES {
                    cache.get_or_init(|| fresh)
                } else {
                    self.cached_bytes.fetch_sub(n_bytes, Ordering::Relaxed);
                    built = fresh;
                    &built
                }
            }
        };
        let problem = &self.problem;
        let (mut others, mut shift) = (0.0, 0i64);
        let mut counts = vec![0; problem.m];
        for (i, count) in counts.iter_mut().enumerate() {
            if i != problem.star_index {
                let group = problem.group_of[i] as usize;
                let (k, score) = tables.tables[group].draw(bits)?;
                others += score;
                shift += k as i64 - problem.groups[group].0.x as i64;
                *count = k;
            }
        }
        let Ok(k) = u64::try_from(problem.star.x as i64 - shift) else {
            return Ok(None);
        };
        counts[problem.star_index] = k;
        Ok(Some(Proposal {
            counts,
            component,
            others,
            closing: problem.star.score(k),
            shift: shift as f64,
            log_weight: log_share + node.peak + tables.log_sum,
            weight_error: tables.error + SCORE_ERROR * (log_share.abs() + node.peak.abs() + tables.log_sum.abs()),
        }))
    }

    /// The integer weight of a component.
    fn weight(&self, component: usize) -> u64 {
        self.sums[component] - if component == 0 { 0 } else { self.sums[component - 1] }
    }

    /// ln of the probability of accepting the proposal, in doubles, and a bound on its error.
    fn log_ratio(&self, proposal: &Proposal) -> (f64, f64) {
        let score = proposal.others + proposal.closing;
        let log_target = -self.problem.exponent * (-score.exp_m1()).sqrt();
        let density = |component: &Component| component.log_density(proposal.others, proposal.shift);
        let log_envelope = log_sum(self.components.iter().map(density));
        // The error of a logarithm of a sum is the mean of the terms' errors, each in proportion to its magnitude.
        let magnitude: f64 = self
            .components
            .iter()
            .map(|component| {
                let part = (density(component) - log_envelope).exp();
                if part < 1e-18 { 0.0 } else { part * component.magnitude(proposal.others, proposal.shift) }
            })
            .sum();
        let log_weight =
            (self.weight(proposal.component) as f64).ln() - f64::from(WEIGHT_BITS) * std::f64::consts::LN_2;
        let log_ratio = log_target - log_envelope + (proposal.log_weight - self.log_unit - log_weight);
        let scale = self.components.len() as f64 + self.problem.m as f64 / 64.0 + 8.0;
        let terms = 2.0 * (magnitude - log_target) + log_envelope.abs() + self.log_unit.abs() + log_weight.abs();
        (log_ratio, SCORE_ERROR * (terms + scale) + proposal.weight_error)
    }

    /// The same to thirty digits.
    #[cold]
    fn exact_log_ratio(&self, proposal: &Proposal) -> Result<(DoubleDouble, f64)> {
        let problem = &self.problem;
        let score = |coordinate: law::Coordinate, k: u64| exact_score(coordinate.prior, coordinate.x, k);
        let mut others = DoubleDouble::from(0.0);
        for (i, &k) in proposal.counts.iter().enumerate() {
            if i != problem.star_index {
                others = others + score(problem.groups[problem.group_of[i] as usize].0, k);
            }
        }
        let closing = score(problem.star, proposal.counts[problem.star_index]);
        let log_target = -(-(others + closing).exp_m1()).sqrt() * problem.exponent;
        let log_terms: Vec<_> =
            self.components.iter().map(|component| component.exact_log_density(others, proposal.shift)).collect();
        let largest = log_terms.iter().map(|log| log.to_f64()).fold(f64::NEG_INFINITY, f64::max);
        let mut envelope = DoubleDouble::from(0.0);
        let mut magnitude = 0.0;
        for (component, &log) in self.components.iter().zip(&log_terms) {
            if log.to_f64() > largest - NEGLIGIBLE {
                let part = (log - DoubleDouble::from(largest)).exp();
                envelope = envelope + part;
                magnitude += part.to_f64() * component.magnitude(others.to_f64(), proposal.shift);
            }
        }
        let log_envelope = DoubleDouble::from(largest) + envelope.ln();
        let magnitude = magnitude / envelope.to_f64();
        let (log_weight, weight_error) = self.exact_log_weight(proposal.component)?;
        let log_integer = DoubleDouble::from(self.weight(proposal.component)).ln() - LN_2 * f64::from(WEIGHT_BITS);
        let rounded_by = log_weight - DoubleDouble::from(self.log_unit) - log_integer;
        let terms =
            2.0 * (magnitude - log_target.to_f64()) + log_envelope.to_f64().abs() + log_weight.to_f64().abs() + 100.0;
        Ok((log_target - log_envelope + rounded_by, 2f64.powi(-90) * terms + weight_error))
    }

    /// ln of A_l exp(true log-total) to thirty digits, with its error.
    fn exact_log_weight(&self, component: usize) -> Result<(DoubleDouble, f64)> {
        let Component { node, log_share } = &self.components[component];
        if component == 0 {
            return Ok((DoubleDouble::from(*log_share) + self.log_n_candidates, 2f64.powi(-75)));
        }
        let cache = &self.caches[component].exact_log_sum;
        let (log_sum, error) = match cache.get() {
            Some(&found) => found,
            None => {
                let found = exact_log_sum(&self.problem, node)?;
                *cache.get_or_init(|| found)
            }
        };
        Ok((DoubleDouble::sum(*log_share, node.peak) + log_sum, error))
    }
}
