//! The posterior of the counts of one histogram.
//!
//! The weight of counts x is H(sum x) prod w_k(x_k) (theory E1): `blocks` says how the sum is looked at.

use super::blocks::{Fineness, Problem, RawBlock, Whole};
use super::cell::Cell;
use super::convolution::{convolve_signed, correlate_signed};
use super::segment::Segment;
use super::shares::ShareLaw;
use super::total::{Total, TotalPrior};
use super::tree::{Tree, uniform};
use crate::random::{Bits, StreamKey};
use crate::{Error, Result, interrupt};

/// How closely the total is looked at.
const FINENESS: Fineness = Fineness { outside: 1e-17, depth: 1e-6, reach: 7.0 };

/// Totals whose weight is exp of minus this below the best are left out: some 1e-17.
const TOTAL_DEPTH: f64 = 39.0;

/// Groups of a private total in the laws of probabilities; as many totals or fewer are groups by themselves.
const TOTAL_GROUPS: usize = 48;

/// The same for a part of a mixture with less than [`SMALL_WEIGHT`] of it: what groups leave out is that much smaller.
const FEW_TOTAL_GROUPS: usize = 8;
const SMALL_WEIGHT: f64 = 0.01;

/// The exact posterior of counts given their releases.
#[derive(Debug, Clone)]
pub struct Posterior {
    priors: Vec<f64>,
    prior_sum: f64,
    blocks: Vec<Block>,
    total: Segment,
    log_evidence: f64,
    error: f64,
}

/// Totals that share one tilt.
#[derive(Debug, Clone)]
struct Block {
    tree: Tree,
    /// What the probability of a total under the tilted law is multiplied with to give its posterior probability.
    weights: Segment,
}

impl Posterior {
    /// The posterior for cells whose counts sum to `total`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] with fewer than two cells or if the total is below the sum of the least counts;
    /// [`Error::NotAffordable`] where windows or the range of a private total are too large, or a flat prior of the total
    /// meets releases that do not locate it; [`Error::Numerical`] if the releases cannot occur.
    pub fn new(cells: &[Cell], total: &Total) -> Result<Self> {
        if cells.len() < 2 {
            return Err(Error::parameter("cells", "be at least two", cells.len()));
        }
        let least: u64 = cells.iter().map(Cell::least).sum();
        if total.needs_location() && !cells.iter().all(Cell::locates) {
            let rule = "have a proper prior: these releases say nothing of a large total";
            return Err(Error::parameter("total", rule, "a flat prior"));
        }
        let prior_sum = cells.iter().map(Cell::prior).sum();
        let whole = Tied { total, prior_sum };
        let problem = Problem { parts: cells, whole: &whole, least, fineness: FINENESS };
        let raw = match total.known() {
            Some(n) if n < least => {
                return Err(Error::parameter("total", "be at least the sum of the least counts", n));
            }
            Some(n) => vec![problem.block_at(n)?],
            None => problem.blocks(TOTAL_DEPTH)?,
        };
        let mut posterior = Self::weighed(cells, prior_sum, raw)?;
        if least > 0 {
            // The prior is that of counts that are not below the least: what it is divided by.
            let unreleased: Vec<Cell> = cells.iter().map(Cell::unreleased).collect();
            let alone = total.alone();
            let prior =
                Problem { parts: &unreleased, whole: &Tied { total: &alone, prior_sum }, least, fineness: FINENESS };
            let raw = total.known().map_or_else(|| prior.blocks(TOTAL_DEPTH), |n| Ok(vec![prior.block_at(n)?]))?;
            posterior.log_evidence -= Self::weighed(&unreleased, prior_sum, raw)?.log_evidence;
        }
        Ok(posterior)
    }

    /// For every total from `low` to `high` the logarithm of the probability of the releases of these cells given that total
    /// (theory E2: Z(N), the part of a row of a table in the likelihood of the row's total).
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn log_evidence_by_total(cells: &[Cell], low: u64, high: u64) -> Result<Vec<f64>> {
        let least: u64 = cells.iter().map(Cell::least).sum();
        if cells.len() < 2 || low > high || low < least {
            return Err(Error::parameter("total", "be a range from at least the sum of the least counts", low));
        }
        let range = Total::new(TotalPrior::Between(low, high), Vec::new())?;
        let whole = Tied { total: &range, prior_sum: cells.iter().map(Cell::prior).sum() };
        let problem = Problem { parts: cells, whole: &whole, least, fineness: FINENESS };
        let mut logs = vec![f64::NEG_INFINITY; (high - low + 1) as usize];
        let uniform = (logs.len() as f64).ln();
        for block in problem.blocks(f64::INFINITY)? {
            let offset = (block.start - low as i64) as usize;
            logs[offset..].iter_mut().zip(&block.log_weights).for_each(|(log, weight)| *log = weight + uniform);
        }
        Ok(logs)
    }

    fn weighed(cells: &[Cell], prior_sum: f64, raw: Vec<RawBlock>) -> Result<Self> {
        let logs = || raw.iter().flat_map(|block| &block.log_weights);
        let top = logs().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs().map(|log| (log - top).exp()).sum();
        if !(sum > 0.0 && top.is_finite()) {
            return Err(Error::numerical("inference", "the release cannot come from any counts that are possible"));
        }
        let log_evidence = top + sum.ln();
        let start = raw.iter().map(|block| block.start).min().unwrap_or(0);
        let end = raw.iter().map(|block| block.start + block.log_weights.len() as i64).max().unwrap_or(0);
        let mut total = Segment { start, values: vec![0.0; (end - start) as usize] };
        let mut error = 0.0_f64;
        let blocks = raw
            .into_iter()
            .map(|block| {
                let root = block.tree.root();
                let weights = (block.start..)
                    .zip(&block.log_weights)
                    .map(|(n, log)| {
                        let mass = (log - log_evidence).exp();
                        total.values[(n - start) as usize] = mass;
                        if mass > 0.0 { mass / root.at(n) } else { 0.0 }
                    })
                    .collect();
                error = error.max(block.error);
                Block { weights: Segment { start: block.start, values: weights }, tree: block.tree }
            })
            .collect();
        let priors = cells.iter().map(Cell::prior).collect();
        Ok(Self { priors, prior_sum, blocks, total, log_evidence, error })
    }

    /// The number of cells.
    pub fn dimension(&self) -> usize {
        self.priors.len()
    }

    /// The parameters of the prior.
    pub fn priors(&self) -> &[f64] {
        &self.priors
    }

    /// ln p(releases | prior): masses for releases on integers and grids, densities for shares. Under least counts the prior is
    /// that of counts that are not below them.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// The posterior law of the total.
    pub fn total(&self) -> &Segment {
        &self.total
    }

    /// Bound of the relative error of probabilities of totals: masses left out by windows and absolute errors of
    /// transforms, over the probability of the total under the tilted law. Rounding of sums and products comes on top.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The marginal laws of the counts, on windows.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn marginals(&self) -> Result<Vec<Segment>> {
        self.weighed_marginals(|_| 1.0)
    }

    /// The marginal laws of the counts jointly with the total: masses of the counts, and the total. Many private totals are put
    /// into groups of equal probability, each represented by its mean; a count above that is lowered to it. Fewer groups are
    /// enough for a posterior that is a small part, of this weight, of a mixture.
    ///
    /// # Errors
    /// As for [`Self::marginals`].
    pub(super) fn marginals_by_total(&self, weight: f64) -> Result<Vec<(Vec<Segment>, f64)>> {
        let most = if weight < SMALL_WEIGHT { FEW_TOTAL_GROUPS } else { TOTAL_GROUPS };
        if let Some(n) = self.public_total() {
            return Ok(vec![(self.marginals()?, n)]);
        }
        let total = self.total.sum();
        let (mut groups, mut mass, mut first, mut moment) = (Vec::new(), 0.0, 0.0, 0.0);
        for (n, p) in self.total.iter() {
            if mass == 0.0 {
                first = n as f64;
            }
            (mass, moment) = (mass + p, moment + p * n as f64);
            let full = self.total.values.len() <= most || mass >= total / most as f64;
            if full || n + 1 == self.total.end() {
                if mass > 0.0 {
                    groups.push((first, n as f64, moment / mass));
                }
                (mass, moment) = (0.0, 0.0);
            }
        }
        groups
            .into_iter()
            .map(|(first, last, mean)| {
                let mut laws = self.weighed_marginals(|n| f64::from(u8::from(first <= n && n <= last)))?;
                laws.iter_mut().for_each(|law| law.cap(mean.floor() as i64));
                Ok((laws, mean))
            })
            .collect()
    }

    /// For every cell and every value x of its count the expectation of g(total) on the event that the count is x.
    fn weighed_marginals(&self, g: impl Fn(f64) -> f64) -> Result<Vec<Segment>> {
        let mut parts: Vec<Vec<Segment>> = vec![Vec::with_capacity(self.blocks.len()); self.dimension()];
        for block in &self.blocks {
            let mut weights = block.weights.clone();
            (weights.start..).zip(&mut weights.values).for_each(|(n, w)| *w *= g(n as f64));
            if weights.values.iter().all(|w| *w == 0.0) {
                continue;
            }
            let (outside, _) = block.tree.outside(weights)?;
            for (k, parts) in parts.iter_mut().enumerate() {
                let law = block.tree.law(k);
                let values = law.iter().map(|(x, p)| p * outside[k].at(x)).collect();
                parts.push(Segment { start: law.start, values });
            }
        }
        Ok(parts.into_iter().map(|parts| Segment::sum_of(&parts)).collect())
    }

    /// Means and variances of the counts.
    ///
    /// # Errors
    /// As for [`Self::marginals`].
    pub fn count_moments(&self) -> Result<Vec<(f64, f64)>> {
        Ok(self.marginals()?.iter().map(Segment::moments).collect())
    }

    /// Means and variances of the probabilities theta, which given the counts are Dirichlet(prior + counts).
    ///
    /// # Errors
    /// As for [`Self::marginals`].
    pub fn share_moments(&self) -> Result<Vec<(f64, f64)>> {
        let a = self.prior_sum;
        let moment = |g: &dyn Fn(f64) -> f64, power: &dyn Fn(f64, f64) -> f64| -> Result<Vec<f64>> {
            let laws = self.weighed_marginals(g)?;
            let sum = |(law, &prior): (&Segment, &f64)| law.iter().map(|(x, p)| p * power(x as f64, prior)).sum();
            Ok(laws.iter().zip(&self.priors).map(sum).collect())
        };
        if let Some(n) = self.public_total() {
            let laws = self.marginals()?;
            let share = |(law, &prior): (&Segment, &f64)| {
                let law = ShareLaw::new([(law.clone(), prior, a + n)]);
                (law.mean(), law.variance())
            };
            return Ok(laws.iter().zip(&self.priors).map(share).collect());
        }
        let mean = moment(&|n| 1.0 / (a + n), &|x, prior| x + prior)?;
        let second = moment(&|n| 1.0 / ((a + n) * (a + n + 1.0)), &|x, prior| (x + prior) * (x + prior + 1.0))?;
        Ok(mean.iter().zip(&second).map(|(m, s)| (*m, (s - m * m).max(0.0))).collect())
    }

    /// The total where it has one value only.
    pub(super) fn public_total(&self) -> Option<f64> {
        (self.total.values.len() == 1).then_some(self.total.start as f64)
    }

    /// The covariance matrix of the counts, row by row.
    ///
    /// With m_j the law of a node weighted by the count of its leaf j, the expectation of x_j x_k is a sum over the node where
    /// their paths meet: O(d log d) convolutions and d^2 sums of products.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn count_covariance(&self) -> Result<Vec<f64>> {
        let d = self.dimension();
        let marginals = self.marginals()?;
        let moments: Vec<(f64, f64)> = marginals.iter().map(Segment::moments).collect();
        let mut covariance = vec![0.0; d * d];
        for block in &self.blocks {
            let (outside, _) = block.tree.outside(block.weights.clone())?;
            // The deviation from the mean instead of the count: no cancellation at the end.
            let centred = |k: usize| {
                let law = block.tree.law(k);
                let values = law.iter().map(|(x, p)| p * (x as f64 - moments[k].0)).collect();
                Segment { start: law.start, values }
            };
            let mut weighted: Vec<Vec<(usize, Segment)>> = (0..d).map(|k| vec![(k, centred(k))]).collect();
            for (node, (left, right)) in block.tree.inner() {
                let (lefts, rights) = (std::mem::take(&mut weighted[left]), std::mem::take(&mut weighted[right]));
                let window = block.tree.law(left);
                for (k, of_right) in &rights {
                    interrupt::check()?;
                    let (rest, _) = correlate_signed(&outside[node], of_right, (window.start, window.end()));
                    for (j, of_left) in &lefts {
                        let product: f64 = of_left.iter().map(|(x, p)| p * rest.at(x)).sum();
                        covariance[j * d + k] += product;
                        covariance[k * d + j] += product;
                    }
                }
                let law = block.tree.law(node);
                let lift = |parts: Vec<(usize, Segment)>, other: usize| {
                    parts
                        .into_iter()
                        .map(|(k, m)| {
                            let other = block.tree.law(other);
                            (k, convolve_signed(&m, other, (law.start, law.end())).0)
                        })
                        .collect::<Vec<_>>()
                };
                let mut all = lift(lefts, right);
                all.extend(lift(rights, left));
                weighted.push(all);
            }
        }
        (0..d).for_each(|k| covariance[k * d + k] = moments[k].1);
        Ok(covariance)
    }

    /// `size` joint draws of the counts, one after the other.
    ///
    /// # Errors
    /// [`Error::Interrupted`], or [`Error::Entropy`].
    pub fn sample(&self, size: usize, key: &StreamKey) -> Result<Vec<i64>> {
        let mut stream = key.stream(0);
        let d = self.dimension();
        let mut counts = vec![0; size * d];
        for row in counts.chunks_exact_mut(d) {
            interrupt::check()?;
            stream.refresh()?;
            self.draw_into(&mut stream, row);
        }
        Ok(counts)
    }

    /// One joint draw of the counts. A total at the very end of its law may not be reachable in doubles: it is drawn again.
    pub(super) fn draw_into<B: Bits>(&self, bits: &mut B, row: &mut [i64]) {
        while !self.draw(bits, row) {}
    }

    fn draw<B: Bits>(&self, bits: &mut B, row: &mut [i64]) -> bool {
        let mut rest = uniform(bits) * self.total.sum();
        let mut n = self.total.start;
        for (value, mass) in self.total.iter() {
            if mass > 0.0 {
                n = value;
                rest -= mass;
                if rest < 0.0 {
                    break;
                }
            }
        }
        let block = self.blocks.iter().find(|block| (block.weights.start..block.weights.end()).contains(&n));
        block.is_some_and(|block| block.tree.split(n, bits, row))
    }
}

/// The total of a histogram.
struct Tied<'a> {
    total: &'a Total,
    prior_sum: f64,
}

impl Whole for Tied<'_> {
    fn log_weight(&self, n: u64) -> f64 {
        self.total.log_weight(n, self.prior_sum)
    }

    fn guess(&self) -> Option<f64> {
        self.total.guess()
    }

    fn range(&self) -> (u64, u64) {
        self.total.range()
    }
}

#[cfg(test)]
mod tests {
    use super::super::factor::{Factor, Noise};
    use super::*;

    /// The mean of the sum is steep between two flat parts in the tilt: Newton's steps alone jump over it for ever.
    #[test]
    fn a_tilt_is_found_between_flat_parts() {
        let noisy = [260.77, 244.07, 243.54, 260.40, 0.74, -0.17, -3.13, 1.47, 3.35, -0.40];
        let noise = Noise::Laplace { scale: 2.0, step: 2f64.powi(-20) };
        for prior in [10.0, 31.6, 100.0] {
            let cell = |&y: &f64| Cell::new(prior, vec![Factor::noisy(y, noise).unwrap()], 0).unwrap();
            let cells: Vec<Cell> = noisy.iter().map(cell).collect();
            for n in (0..=1300).step_by(50) {
                let total = Total::new(TotalPrior::Known(n), Vec::new()).unwrap();
                let mean: f64 =
                    Posterior::new(&cells, &total).unwrap().count_moments().unwrap().iter().map(|m| m.0).sum();
                assert!((mean - n as f64).abs() < 1e-9 * (1.0 + n as f64), "{prior} {n}: {mean}");
            }
        }
    }

    /// Tilts near the end of a finite mean have large spreads, and Newton's steps in the total went to and fro: the search began
    /// thousands of records from the likely totals, and every total between was in a block.
    #[test]
    fn the_search_for_a_private_total_begins_near_it() {
        let noisy = [12126, 12070, 12269, 12358, 21, 4, -4, -3, 12, 10, 8, 4, -3, -6, -13, -6].map(f64::from);
        let noise = Noise::Laplace { scale: 5.0, step: 1.0 };
        for concentration in [0.1, 100.0, 1000.0] {
            let cell = |y: f64| Cell::new(concentration / 16.0, vec![Factor::noisy(y, noise).unwrap()], 0).unwrap();
            let total = Total::new(TotalPrior::Flat, Vec::new()).unwrap();
            let posterior = Posterior::new(&noisy.map(cell), &total).unwrap();
            let (mean, variance) = posterior.total().moments();
            // 26399 and 38549 totals before, with standard deviations of 15 and 220.
            assert!(posterior.total().values.len() < 4500, "{concentration}: {}", posterior.total().values.len());
            assert!(concentration > 10.0 || (mean - 48_830.0).abs() < 50.0, "{mean} {variance}");
        }
    }

    #[test]
    fn tilts_of_thousands_are_found() {
        // Draws of Dirichlet(scale x + prior) with a large scale and prior, which are nearly counts with Gaussian noise.
        for (scale, prior) in [(5.0, 1e3), (529.0, 1e7), (16_737.0, 1e10)] {
            let counts = [128.0, 110.0, 99.0, 93.0, 101.0, 87.0, 109.0, 86.0, 98.0, 89.0];
            let sum: f64 = counts.iter().map(|x| scale * x + prior).sum();
            let cell = |x: &f64| {
                let y = (scale * x + prior) / sum;
                let share = Factor::share(y - 1e-10, y + 1e-10, scale, prior).unwrap();
                Cell::new(1.0, vec![share], 0).unwrap()
            };
            let cells: Vec<Cell> = counts.iter().map(cell).collect();
            let total = Total::new(TotalPrior::Known(1000), Vec::new()).unwrap();
            let moments = Posterior::new(&cells, &total).unwrap().count_moments().unwrap();
            let sum: f64 = moments.iter().map(|m| m.0).sum();
            assert!((sum - 1000.0).abs() < 1e-6, "{scale}: {sum}");
            // The noise has a standard deviation of some sqrt(prior) / scale.
            for (x, (mean, _)) in counts.iter().zip(&moments) {
                assert!((x - mean).abs() < 5.0 * prior.sqrt() / scale, "{scale}: {x} {mean}");
            }
        }
    }
}
