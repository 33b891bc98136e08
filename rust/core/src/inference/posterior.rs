//! The posterior of the counts of one histogram.
//!
//! The weight of counts x is H(sum x) prod w_k(x_k) (theory E1). The product is tilted by exp(t sum x), which makes the sum
//! likely where it matters, so that no digit is lost; it leaves exp(-t n), which goes into the weight of the total. A
//! public total needs one tilt. A private one is covered by blocks of totals, each with a tilt of its own.

use super::cell::{Cell, TiltedLaw};
use super::convolution::{convolve_signed, correlate_signed};
use super::segment::Segment;
use super::shares::ShareLaw;
use super::total::{Total, TotalPrior};
use super::tree::{Tree, uniform};
use crate::random::{Bits, StreamKey};
use crate::{Error, Result, interrupt};

/// Mass that all windows together leave out, before it is set against the probability of the total.
const OUTSIDE: f64 = 1e-17;

/// A block of totals reaches as far as the tilted sum has this share of its largest probability.
const BLOCK_DEPTH: f64 = 1e-6;

/// Totals whose weight is exp of minus this below the best are left out: some 1e-17.
const TOTAL_DEPTH: f64 = 39.0;

/// Groups of a private total in the laws of probabilities; as many totals or fewer are groups by themselves.
const TOTAL_GROUPS: usize = 48;

/// How near the mean of a tilted sum has to be to the totals of a block, and to a public total, in standard deviations: that one is
/// a seventh as likely then as the mean, and errors set against its probability seven times as large.
const CLOSE: f64 = 0.5;
const CLOSE_TO_ONE: f64 = 2.0;

/// Blocks at most.
const MOST_BLOCKS: usize = 1024;

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

/// The tilted laws of all cells, with the mean and variance of their sum.
struct Tilted {
    tilt: f64,
    leaves: Vec<TiltedLaw>,
    mean: f64,
    variance: f64,
}

/// A block before it is weighed against the others: for each of its totals the logarithm of the posterior weight.
struct RawBlock {
    tree: Tree,
    start: i64,
    log_weights: Vec<f64>,
    /// Bound of the error of a probability of the sum, relative to the smallest in the block.
    error: f64,
    tilt: f64,
    deviation: f64,
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
        let problem = Problem { cells, total, prior_sum: cells.iter().map(Cell::prior).sum(), least };
        let raw = match total.known() {
            Some(n) if n < least => {
                return Err(Error::parameter("total", "be at least the sum of the least counts", n));
            }
            Some(n) => vec![problem.block_at(n)?],
            None => problem.blocks(TOTAL_DEPTH)?,
        };
        let mut posterior = Self::weighed(problem, raw)?;
        if least > 0 {
            // The prior is that of counts that are not below the least: what it is divided by.
            let unreleased: Vec<Cell> = cells.iter().map(Cell::unreleased).collect();
            let alone = total.alone();
            let prior = Problem { cells: &unreleased, total: &alone, ..problem };
            let raw = total.known().map_or_else(|| prior.blocks(TOTAL_DEPTH), |n| Ok(vec![prior.block_at(n)?]))?;
            posterior.log_evidence -= Self::weighed(prior, raw)?.log_evidence;
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
        let problem = Problem { cells, total: &range, prior_sum: cells.iter().map(Cell::prior).sum(), least };
        let mut logs = vec![f64::NEG_INFINITY; (high - low + 1) as usize];
        let uniform = (logs.len() as f64).ln();
        for block in problem.blocks(f64::INFINITY)? {
            let offset = (block.start - low as i64) as usize;
            logs[offset..].iter_mut().zip(&block.log_weights).for_each(|(log, weight)| *log = weight + uniform);
        }
        Ok(logs)
    }

    fn weighed(problem: Problem<'_>, raw: Vec<RawBlock>) -> Result<Self> {
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
        let priors = problem.cells.iter().map(Cell::prior).collect();
        Ok(Self { priors, prior_sum: problem.prior_sum, blocks, total, log_evidence, error })
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
    /// into groups of equal probability, each represented by its mean; a count above that is lowered to it.
    ///
    /// # Errors
    /// As for [`Self::marginals`].
    pub(super) fn marginals_by_total(&self) -> Result<Vec<(Vec<Segment>, f64)>> {
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
            let full = self.total.values.len() <= TOTAL_GROUPS || mass >= total / TOTAL_GROUPS as f64;
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

#[derive(Clone, Copy)]
struct Problem<'a> {
    cells: &'a [Cell],
    total: &'a Total,
    prior_sum: f64,
    least: u64,
}

impl Problem<'_> {
    /// The tilted laws; with `most` records in all a cell has at most what the others leave.
    fn tilted(&self, tilt: f64, most: u64) -> Result<Tilted> {
        let tail = OUTSIDE / self.cells.len() as f64;
        let mut leaves = Vec::with_capacity(self.cells.len());
        let (mut mean, mut variance) = (0.0, 0.0);
        for cell in self.cells {
            interrupt::check()?;
            let cap = most.saturating_sub(self.least - cell.least());
            let leaf = cell.tilted(tilt, cap, tail)?;
            let moments = leaf.law.moments();
            mean += moments.0;
            variance += moments.1;
            leaves.push(leaf);
        }
        Ok(Tilted { tilt, leaves, mean, variance })
    }

    /// The tilt that makes the mean of the sum `target` up to so many standard deviations, from a first guess; with the largest
    /// total that the laws are good for, which keeps them finite.
    fn tilt_for(&self, target: f64, range: (i64, i64), start: f64, close: f64) -> Result<(Tilted, u64)> {
        let most = (2.0 * target + 4096.0).min(range.1 as f64) as u64;
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut tilt = start;
        let mut failure = None;
        // The width of the bracket before the last step and before the one ahead of it.
        let mut widths = [f64::INFINITY; 2];
        for _ in 0..300 {
            let step = match self.tilted(tilt, most) {
                Ok(found) => {
                    let gap = target - found.mean;
                    if gap.abs() <= close * found.variance.sqrt() || tilt.next_up() >= high || tilt.next_down() <= low {
                        return Ok((found, most));
                    }
                    if gap > 0.0 {
                        low = tilt;
                    } else {
                        high = tilt;
                    }
                    // At most twice as far from zero: draws of many units a record need tilts of thousands.
                    let reach = 32.0 + tilt.abs();
                    (gap / found.variance).clamp(-reach, reach)
                }
                // The sum has no finite mean, or none within reach: the tilt is too large.
                Err(error @ Error::NotAffordable { .. }) => {
                    high = tilt;
                    failure = Some(error);
                    -1.0
                }
                Err(error) => return Err(error),
            };
            let next = tilt + step;
            // Newton's steps may go to and fro over a steep part of the mean: what two of them do not halve is halved.
            let slow = high - low > 0.5 * widths[1];
            widths = [high - low, widths[0]];
            tilt = if next > low && next < high && !slow {
                next
            } else if low.is_finite() && high.is_finite() {
                0.5 * (low + high)
            } else if low.is_finite() {
                low + 1.0 + 2.0 * (tilt - low).abs()
            } else {
                high - 1.0 - 2.0 * (tilt - high).abs()
            };
            if high.is_finite() && low.is_finite() && high - low <= 1e-15 * high.abs().max(low.abs()) {
                break;
            }
        }
        Err(failure.unwrap_or_else(|| Error::numerical("inference", "no tilt brings the counts to the total")))
    }

    /// The block of one public total.
    fn block_at(&self, n: u64) -> Result<RawBlock> {
        let (tilted, _) = self.tilt_for(n as f64, (n as i64, n as i64), 0.0, CLOSE_TO_ONE)?;
        self.raw(tilted, (n as i64, n as i64 + 1), 0.0)
    }

    /// The block of the totals of a window where the tilted sum is not less likely than `depth` times its largest
    /// probability.
    fn raw(&self, tilted: Tilted, window: (i64, i64), depth: f64) -> Result<RawBlock> {
        let log_sum: f64 = tilted.leaves.iter().map(|leaf| leaf.log_sum).sum();
        let outside: f64 = tilted.leaves.iter().map(|leaf| leaf.outside).sum();
        let leaves = tilted.leaves.into_iter().map(|leaf| leaf.law).collect();
        let tree = Tree::new(leaves, window, OUTSIDE / self.cells.len() as f64)?;
        let root = tree.root();
        let largest = root.values.iter().copied().fold(0.0, f64::max);
        let mode = root.values.iter().position(|p| *p == largest).unwrap_or(0);
        let deep = |p: &f64| *p > depth * largest;
        let left = root.values[..mode].iter().rev().take_while(|p| deep(p)).count();
        let right = root.values[mode..].iter().take_while(|p| deep(p)).count();
        let kept = &root.values[mode - left..mode + right];
        let start = root.start + (mode - left) as i64;
        let log_weights: Vec<f64> = (start..)
            .zip(kept)
            .map(|(n, p)| log_sum + p.ln() - tilted.tilt * n as f64 + self.total.log_weight(n as u64, self.prior_sum))
            .collect();
        let least = kept.iter().copied().fold(f64::INFINITY, f64::min);
        let error = (outside + tree.lost + tree.noise) / least;
        Ok(RawBlock { start, log_weights, error, tilt: tilted.tilt, deviation: tilted.variance.sqrt(), tree })
    }

    /// Blocks of totals from the likely ones outwards, up to where weights are exp(-depth) of the best.
    fn blocks(&self, depth: f64) -> Result<Vec<RawBlock>> {
        let range = self.total.range();
        let range = (range.0.max(self.least) as i64, range.1 as i64);
        let (first, most) = self.start(range)?;
        let mut blocks = vec![self.block_around(first, (range.0, most as i64))?];
        let mut best = top(&blocks[0]);
        for upwards in [true, false] {
            loop {
                interrupt::check()?;
                let last = if upwards { blocks.last() } else { blocks.first() };
                let last = last.unwrap_or_else(|| unreachable!("there is a block"));
                let (start, end) = (last.start, last.start + last.log_weights.len() as i64);
                let edge = if upwards { last.log_weights.last() } else { last.log_weights.first() };
                let inner = if upwards { last.log_weights.first() } else { last.log_weights.last() };
                let (edge, inner) = (*edge.unwrap_or(&f64::NEG_INFINITY), *inner.unwrap_or(&f64::NEG_INFINITY));
                let rest = if upwards { (end, range.1) } else { (range.0, start - 1) };
                // It falls, and is far below.
                if rest.0 > rest.1 || (edge < best - depth && edge <= inner) {
                    break;
                }
                if blocks.len() >= MOST_BLOCKS {
                    return Err(Error::NotAffordable {
                        asked: "a posterior of the total over a wider range".into(),
                        limit: format!("{MOST_BLOCKS} blocks"),
                        instead: "state the total, or a narrower prior of it",
                    });
                }
                let next = self.next_block(last, upwards, rest, range)?;
                best = best.max(top(&next));
                if upwards {
                    blocks.push(next);
                } else {
                    blocks.insert(0, next);
                }
            }
        }
        Ok(blocks)
    }

    /// A block next to another, which reaches the first total that is missing.
    fn next_block(&self, last: &RawBlock, upwards: bool, rest: (i64, i64), range: (i64, i64)) -> Result<RawBlock> {
        let mut distance = 4.0 * last.deviation;
        let missing = if upwards { rest.0 } else { rest.1 };
        loop {
            let target = if upwards { missing as f64 + distance } else { missing as f64 - distance };
            let target = target.clamp(rest.0 as f64, rest.1 as f64);
            let (tilted, most) = self.tilt_for(target, range, last.tilt, CLOSE)?;
            let block = self.block_around(tilted, (rest.0, rest.1.min(most as i64)));
            match block {
                Ok(block) if (block.start..block.start + block.log_weights.len() as i64).contains(&missing) => {
                    return Ok(block);
                }
                Ok(_) | Err(Error::Numerical { .. }) if distance > 0.25 => distance *= 0.5,
                Ok(_) => return Err(Error::numerical("inference", "the totals cannot be covered")),
                Err(error) => return Err(error),
            }
        }
    }

    /// The block around the mean of a tilted sum, of totals in `rest`.
    fn block_around(&self, tilted: Tilted, rest: (i64, i64)) -> Result<RawBlock> {
        let reach = 7.0 * tilted.variance.sqrt() + 3.0;
        let window = (
            ((tilted.mean - reach).floor() as i64).max(rest.0),
            ((tilted.mean + reach).ceil() as i64 + 1).min(rest.1 + 1),
        );
        if window.0 >= window.1 {
            return Err(Error::numerical("inference", "a block of totals is empty"));
        }
        self.raw(tilted, window, BLOCK_DEPTH)
    }

    /// Tilted laws whose sum is near the most likely total: where the slope of the total's weight equals the tilt.
    fn start(&self, range: (i64, i64)) -> Result<(Tilted, u64)> {
        let weight = |n: f64| self.total.log_weight(n as u64, self.prior_sum);
        let inside = |n: f64| n.clamp(range.0 as f64, range.1 as f64);
        let mut target = inside(self.total.guess().unwrap_or_else(|| self.cells.iter().map(Cell::guess).sum()));
        let mut found = self.tilt_for(target, range, 0.0, CLOSE)?;
        for _ in 0..20 {
            let (tilted, _) = &found;
            let (mean, deviation) = (inside(tilted.mean.round()), tilted.variance.sqrt().max(1.0).round());
            let (below, above) = (inside(mean - deviation), inside(mean + deviation));
            if !(above > below) {
                break;
            }
            let slope = (weight(above) - weight(below)) / (above - below);
            // A Newton step in the total for cells of this spread, at most threefold.
            let step =
                inside((mean + tilted.variance * (slope - tilted.tilt)).clamp(mean / 3.0 - 10.0, 3.0 * mean + 10.0));
            if !step.is_finite() || (step - target).abs() <= deviation {
                break;
            }
            target = step;
            found = self.tilt_for(target, range, tilted.tilt, CLOSE)?;
        }
        Ok(found)
    }
}

fn top(block: &RawBlock) -> f64 {
    block.log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max)
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
