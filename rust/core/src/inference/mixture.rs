//! Posteriors under several priors, weighed by their evidence: what integrates over the strength of a prior.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Binomial, Distribution, Exp1, Gamma};

use super::posterior::Posterior;
use super::segment::Segment;
use super::shares::ShareLaw;
use super::tree::uniform;
use crate::random::{Bits, StreamKey};
use crate::{Error, Result, interrupt};

/// Parts of a mixture with less weight are left out.
const NEGLIGIBLE: f64 = 1e-15;

/// The posterior under a prior that is one of several, each with its own weight.
#[derive(Debug, Clone)]
pub struct Mixture {
    parts: Vec<(f64, Posterior)>,
    log_evidence: f64,
}

/// What a draw from the posterior is wanted of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The counts of the data.
    Counts,
    /// The probabilities that the data were drawn with.
    Shares,
    /// Counts of this many records that are still to come.
    Future(u64),
}

impl Mixture {
    /// The mixture of posteriors with the logarithms of their priors' weights.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no parts.
    pub fn new(parts: Vec<(f64, Posterior)>) -> Result<Self> {
        let logs: Vec<f64> = parts.iter().map(|(log, part)| log + part.log_evidence()).collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return Err(Error::parameter("prior", "have a part of positive weight", parts.len()));
        }
        let sum: f64 = logs.iter().map(|log| (log - top).exp()).sum();
        let weighed = parts.into_iter().zip(logs).map(|((_, part), log)| ((log - top).exp() / sum, part));
        Ok(Self { parts: weighed.filter(|(w, _)| *w >= NEGLIGIBLE).collect(), log_evidence: top + sum.ln() })
    }

    /// The mixture with posterior weights that are known.
    pub(super) fn weighed(parts: Vec<(f64, Posterior)>) -> Self {
        let log_evidence = parts.iter().map(|(w, part)| w * part.log_evidence().exp()).sum::<f64>().ln();
        Self { parts, log_evidence }
    }

    /// Whether the total has one value only.
    pub(super) fn public_total(&self) -> bool {
        self.parts.iter().all(|(_, part)| part.public_total().is_some())
    }

    /// [`Self::share_laws`] with the marginals at hand, which are all that is needed of a single part with a public total.
    pub(super) fn share_laws_from(&self, marginals: &[Segment]) -> Result<Vec<ShareLaw>> {
        if let [(_, part)] = &self.parts[..]
            && let Some(n) = part.public_total()
        {
            let mass = n + part.priors().iter().sum::<f64>();
            let law = |(law, &prior): (&Segment, &f64)| ShareLaw::new([(law.clone(), prior, mass)]);
            return Ok(marginals.iter().zip(part.priors()).map(law).collect());
        }
        self.share_laws()
    }

    /// ln p(releases).
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// The parts that matter, with their posterior weights.
    pub fn parts(&self) -> &[(f64, Posterior)] {
        &self.parts
    }

    /// The number of cells.
    pub fn dimension(&self) -> usize {
        self.parts[0].1.dimension()
    }

    /// The largest of [`Posterior::error`].
    pub fn error(&self) -> f64 {
        self.parts.iter().map(|(_, part)| part.error()).fold(0.0, f64::max)
    }

    /// The posterior law of the total.
    pub fn total(&self) -> Segment {
        Segment::sum_of(&self.parts.iter().map(|(w, part)| part.total().scaled(*w)).collect::<Vec<_>>())
    }

    /// The marginal laws of the counts.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn marginals(&self) -> Result<Vec<Segment>> {
        let laws = self
            .parts
            .iter()
            .map(|(w, part)| Ok(part.marginals()?.iter().map(|law| law.scaled(*w)).collect()))
            .collect::<Result<Vec<Vec<Segment>>>>()?;
        let cell = |k: usize| Segment::sum_of(&laws.iter().map(|part| part[k].clone()).collect::<Vec<_>>());
        Ok((0..self.dimension()).map(cell).collect())
    }

    /// Means and variances of the probabilities theta.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn share_moments(&self) -> Result<Vec<(f64, f64)>> {
        let moments = self.parts.iter().map(|(w, part)| Ok((*w, part.share_moments()?))).collect::<Result<Vec<_>>>()?;
        let cell = |k: usize| {
            let mean: f64 = moments.iter().map(|(w, m)| w * m[k].0).sum();
            let variance = moments.iter().map(|(w, m)| w * (m[k].1 + (m[k].0 - mean).powi(2))).sum();
            (mean, variance)
        };
        Ok((0..self.dimension()).map(cell).collect())
    }

    /// The laws of the probabilities theta.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn share_laws(&self) -> Result<Vec<ShareLaw>> {
        let mut cells: Vec<Vec<(Segment, f64, f64)>> = vec![Vec::new(); self.dimension()];
        for (w, part) in &self.parts {
            for (laws, total) in part.marginals_by_total(*w)? {
                for (k, law) in laws.iter().enumerate() {
                    cells[k].push((law.scaled(*w), part.priors()[k], total + part.priors().iter().sum::<f64>()));
                }
            }
        }
        Ok(cells.into_iter().map(ShareLaw::new).collect())
    }

    /// The covariance matrix of the counts, row by row.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn count_covariance(&self) -> Result<Vec<f64>> {
        let d = self.dimension();
        let means: Vec<f64> = self.marginals()?.iter().map(|law| law.moments().0).collect();
        let mut covariance = vec![0.0; d * d];
        for (w, part) in &self.parts {
            let within = part.count_covariance()?;
            let own: Vec<f64> = part.count_moments()?.iter().zip(&means).map(|(m, mean)| m.0 - mean).collect();
            for (i, value) in covariance.iter_mut().enumerate() {
                *value += w * (within[i] + own[i / d] * own[i % d]);
            }
        }
        Ok(covariance)
    }

    /// `size` independent joint draws, one after the other.
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::Entropy`].
    pub fn sample(&self, wanted: Wanted, size: usize, key: &StreamKey) -> Result<Vec<f64>> {
        let d = self.dimension();
        let mut stream = key.stream(0);
        let mut rng = second_generator(key);
        let (mut draws, mut counts) = (Vec::with_capacity(size * d), vec![0_i64; d]);
        for _ in 0..size {
            interrupt::check()?;
            stream.refresh()?;
            let part = self.draw_part(&mut stream);
            part.draw_into(&mut stream, &mut counts);
            draw_rest(wanted, part.priors(), &counts, &mut rng, &mut draws)?;
        }
        Ok(draws)
    }

    fn draw_part<B: Bits>(&self, bits: &mut B) -> &Posterior {
        let mut rest = uniform(bits);
        let found = self.parts.iter().find(|(w, _)| {
            rest -= w;
            rest < 0.0
        });
        &found.unwrap_or(&self.parts[0]).1
    }
}

/// Appends what is wanted of a draw of the counts: them, or what is drawn given them.
pub(super) fn draw_rest(
    wanted: Wanted,
    prior: &[f64],
    counts: &[i64],
    rng: &mut ChaCha8Rng,
    draws: &mut Vec<f64>,
) -> Result<()> {
    match wanted {
        Wanted::Counts => draws.extend(counts.iter().map(|&x| x as f64)),
        Wanted::Shares => draws.extend(dirichlet(prior, counts, rng)?),
        Wanted::Future(records) => multinomial(records, &dirichlet(prior, counts, rng)?, rng, draws)?,
    }
    Ok(())
}

/// A generator for draws that given the counts need no exactness, from a stream of the key that nothing else reads.
pub(super) fn second_generator(key: &StreamKey) -> ChaCha8Rng {
    let mut stream = key.stream(1);
    let mut seed = [0; 32];
    seed.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&stream.next_u64().to_le_bytes()));
    ChaCha8Rng::from_seed(seed)
}

/// A draw from Dirichlet(prior + counts), by logarithms of gamma variables, which small parameters do not make vanish.
fn dirichlet(prior: &[f64], counts: &[i64], rng: &mut ChaCha8Rng) -> Result<Vec<f64>> {
    let failed = |_| Error::numerical("inference", "a parameter of the posterior is out of range");
    let log_gamma = |(a, x): (&f64, &i64)| -> Result<f64> {
        let shape = a + *x as f64;
        // Gamma(s) = Gamma(s + 1) U^(1/s), and -ln U is exponential.
        let exponential: f64 = if shape < 1.0 { Exp1.sample(rng) } else { 0.0 };
        let lifted = if shape < 1.0 { shape + 1.0 } else { shape };
        Ok(Gamma::new(lifted, 1.0).map_err(failed)?.sample(rng).ln() - exponential / shape)
    };
    let logs = prior.iter().zip(counts).map(log_gamma).collect::<Result<Vec<_>>>()?;
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
    let sum: f64 = weights.iter().sum();
    Ok(weights.into_iter().map(|w| w / sum).collect())
}

/// Appends counts of `records` records with these probabilities, by binomial draws one cell after the other.
fn multinomial(records: u64, shares: &[f64], rng: &mut ChaCha8Rng, draws: &mut Vec<f64>) -> Result<()> {
    let failed = |_| Error::numerical("inference", "a probability of the posterior is out of range");
    let (mut left, mut mass) = (records, 1.0_f64);
    for (k, share) in shares.iter().enumerate() {
        let p = if k + 1 == shares.len() { 1.0 } else { (share / mass).clamp(0.0, 1.0) };
        let drawn = Binomial::new(left, p).map_err(failed)?.sample(rng);
        draws.push(drawn as f64);
        left -= drawn;
        mass = (mass - share).max(f64::MIN_POSITIVE);
    }
    Ok(())
}
