//! One row of a table given a prior of its shares and what is known of its total: evidence, moments, marginal laws.
//!
//! As in `posterior`, with a tilt for each block of totals, but for the thousands of rows and priors that one model needs:
//! counts are on the multiples of a step that is a fraction of the spread of the cells. Masses are put on that grid so that sums and
//! means stay what they are. With a step of one, which is what small spreads give, nothing is left out but masses below 1e-17.

use crate::inference::cell::Cell;
use crate::inference::exponentials::exponentials;
use crate::inference::factor::Factor;
use crate::inference::segment::Segment;
use crate::inference::total::{Total, TotalPrior, TotalTerm};
use crate::inference::tree::Tree;
use crate::special::{log_gamma, log_gamma_ratio};
use crate::{Error, Result, interrupt};

use super::lattice::{Lattice, on_multiples};
use super::untilted::{Run, Untilted};

/// Logarithm of the relative weight where a window ends: exact counts, and counts on a coarser grid.
const CUT_EXACT: f64 = 42.0;
const CUT_COARSE: f64 = 23.0;

/// The same for the totals that blocks are looked for, on a coarser grid.
const BLOCKS_COARSE: f64 = 16.0;

/// Priors below one rise towards zero: so much more for the end of a window on that side.
const RISE: f64 = 30.0;

/// Multiples of the step near zero that are filled from single counts, as priors below one need.
const NEAR_ZERO: i64 = 4;

/// A block holds the totals with at least this share of the largest probability of its tilted sum: transforms have
/// an absolute error.
const BLOCK_DEPTH: f64 = 1e-8;

/// Blocks at most; more than a few are needed by rows only of which nothing is known.
const MOST_BLOCKS: usize = 200;

/// Points in the window of a cell at most.
const MOST_POINTS: i64 = 1 << 22;

/// Newton's steps towards a tilt, then halvings; at most so many in all.
const NEWTON_STEPS: usize = 8;
const MOST_STEPS: usize = 100;

/// Mass that an inner node of a tree of sums leaves out.
const TAIL: f64 = 1e-18;

/// A row's releases; each cell has at most one.
#[derive(Debug, Clone)]
pub(super) struct Row<'a> {
    pub(super) factors: &'a [Option<Factor>],
    pub(super) term: Option<TotalTerm>,
    /// No count is larger.
    pub(super) cap: u64,
}

/// A row with a prior, ready for questions.
#[derive(Debug)]
pub(super) struct Fitted {
    priors: Vec<f64>,
    prior_sum: f64,
    /// ln Gamma of the sum of the prior.
    front: f64,
    term: Total,
    /// By increasing totals.
    blocks: Vec<Block>,
}

/// Totals that share a tilt and a grid.
#[derive(Debug)]
struct Block {
    step: i64,
    tilt: f64,
    log_scale: f64,
    tree: Tree,
    /// The totals that are looked at here, the end excluded.
    range: (i64, i64),
    spread: f64,
}

/// What the law of the total weighs the roots of the trees with.
pub(super) struct Weights {
    /// By blocks; the products with the roots sum to one.
    segments: Vec<Segment>,
    /// The logarithm of the probability of the row's releases.
    pub(super) log_evidence: f64,
}

/// Means and variances.
pub(super) type Moments = Vec<(f64, f64)>;

/// The cells of a row with what is known of their weights.
struct Leaves {
    cells: Vec<Cell>,
    known: Vec<Untilted>,
}

struct Leaf {
    law: Segment,
    log_sum: f64,
}

impl Row<'_> {
    /// The row under a Dirichlet prior; `fineness` is the number of steps in the spread of a cell, `start` a first guess of
    /// the tilt.
    pub(super) fn fit(&self, priors: &[f64], totals: &Lattice, fineness: f64, start: f64) -> Result<Fitted> {
        interrupt::check()?;
        let cell = |(&prior, factor): (&f64, &Option<Factor>)| {
            Cell::new(prior.clamp(1e-12, 1e12), factor.iter().copied().collect(), 0)
        };
        let cells = priors.iter().zip(self.factors).map(cell).collect::<Result<Vec<_>>>()?;
        let prior_sum: f64 = cells.iter().map(Cell::prior).sum();
        let term = Total::new(TotalPrior::Flat, self.term.into_iter().collect())?;
        let priors = cells.iter().map(Cell::prior).collect();
        let mut fitted = Fitted { priors, prior_sum, front: log_gamma(prior_sum), term, blocks: Vec::new() };
        let all = (totals.start, totals.last() + 1);
        let mut leaves = Leaves { known: vec![Untilted::default(); cells.len()], cells };
        let first = self.block(&mut leaves, &fitted, totals.moments(), all, fineness, start)?;
        fitted.blocks.push(first);
        self.extend(&mut leaves, &mut fitted, totals, fineness)?;
        Ok(fitted)
    }

    /// Adds blocks on either side as far as totals matter.
    fn extend(&self, leaves: &mut Leaves, fitted: &mut Fitted, totals: &Lattice, fineness: f64) -> Result<()> {
        let all = (totals.start, totals.last() + 1);
        let depth = if fitted.blocks[0].step == 1 { CUT_EXACT } else { BLOCKS_COARSE };
        let height = |fitted: &Fitted, block: &Block, n: i64| totals.log_at(n) + fitted.log_at(block, n);
        let top = |fitted: &Fitted, block: &Block| {
            block.multiples().map(|i| height(fitted, block, i * block.step)).fold(f64::NEG_INFINITY, f64::max)
        };
        let mut best = top(fitted, &fitted.blocks[0]);
        for upwards in [true, false] {
            loop {
                let place = if upwards { fitted.blocks.len() - 1 } else { 0 };
                let last = &fitted.blocks[place];
                let (edge, inner) =
                    if upwards { (last.range.1 - 1, last.range.0) } else { (last.range.0, last.range.1 - 1) };
                let rest = if upwards { (last.range.1, all.1) } else { (all.0, last.range.0) };
                let (at_edge, at_inner) = (height(fitted, last, edge), height(fitted, last, inner));
                if rest.0 >= rest.1
                    || fitted.blocks.len() >= MOST_BLOCKS
                    || (at_edge < best - depth && at_edge <= at_inner)
                {
                    break;
                }
                let missing = if upwards { rest.0 } else { rest.1 - 1 };
                let (mut distance, tilt) = (4.0 * last.spread, last.tilt);
                let next = loop {
                    let target = if upwards { missing as f64 + distance } else { missing as f64 - distance };
                    let target = target.clamp(rest.0 as f64, (rest.1 - 1) as f64).max(0.0);
                    let block = self.block(leaves, fitted, (target, 1.0), rest, fineness, tilt)?;
                    if (block.range.0..block.range.1).contains(&missing) {
                        break Some(block);
                    }
                    if distance < 0.5 {
                        break None;
                    }
                    distance *= 0.5;
                };
                let Some(next) = next else { break };
                best = best.max(top(fitted, &next));
                fitted.blocks.insert(if upwards { place + 1 } else { 0 }, next);
            }
        }
        Ok(())
    }

    /// The block of totals around what is known of the total.
    fn block(
        &self,
        leaves: &mut Leaves,
        fitted: &Fitted,
        known: (f64, f64),
        window: (i64, i64),
        fineness: f64,
        start: f64,
    ) -> Result<Block> {
        let step = self.step(&fitted.priors, known.0, fineness);
        let (tilt, leaves) = self.tilted(leaves, fitted, known, step, start)?;
        let log_scale = leaves.iter().map(|leaf| leaf.log_sum).sum::<f64>() - (step as f64).ln();
        let (mean, variance) = leaves
            .iter()
            .map(|leaf| leaf.law.moments())
            .fold((0.0, 0.0), |sum, moments| (sum.0 + moments.0, sum.1 + moments.1));
        let (mean, spread) = (mean * step as f64, variance.sqrt() * step as f64);
        let multiples = (window.0.div_euclid(step), (window.1 - 1).div_euclid(step) + 2);
        let tree = Tree::new(leaves.into_iter().map(|leaf| leaf.law).collect(), multiples, TAIL)?;
        let mut block = Block { step, tilt, log_scale, tree, range: (window.0, window.0), spread };
        let root = block.tree.root();
        let inside = || root.iter().filter(|(i, _)| (multiples.0..multiples.1).contains(i));
        let largest = inside().map(|(_, p)| p).fold(0.0, f64::max);
        if !(largest > 0.0) {
            return Ok(block);
        }
        let mode = inside().find(|(_, p)| *p == largest).map_or(multiples.0, |(i, _)| i);
        let deep = |i: &i64| root.at(*i) > BLOCK_DEPTH * largest;
        let low = mode - (multiples.0..mode).rev().take_while(deep).count() as i64;
        let high = mode + (mode..multiples.1).take_while(deep).count() as i64 - 1;
        // What lies well below needs a finer grid.
        let finer = if step > 1 { (mean / 2.5).ceil() as i64 } else { 0 };
        let from = if low == multiples.0 { window.0 } else { low * step }.max(finer.min(mode * step)).max(window.0);
        let to = if high + 1 == multiples.1 { window.1 } else { high * step + 1 }.min(window.1);
        block.range = (from, to.max(from));
        Ok(block)
    }

    /// The step: a fraction of the root mean square of the cells' spreads.
    fn step(&self, priors: &[f64], total: f64, fineness: f64) -> i64 {
        let sum: f64 = priors.iter().sum();
        let spread = |(&a, factor): (&f64, &Option<Factor>)| {
            let share = a / sum;
            let of_prior = total * share * (1.0 - share) * (total + sum) / (sum + 1.0) + 0.25;
            let of_release = factor.map_or(f64::INFINITY, |f| f.variance_near(share * total));
            1.0 / (1.0 / of_prior + 1.0 / of_release)
        };
        let mean = priors.iter().zip(self.factors).map(spread).sum::<f64>() / priors.len() as f64;
        // The part of the total in the prior changes by orders of magnitude while the total is a few steps for each cell.
        let of_total = total / (2.0 * fineness * priors.len() as f64);
        ((mean.sqrt() / fineness).min(of_total) as i64).max(1)
    }

    /// The tilt that makes the sum likely where the total is, with the tilted laws.
    fn tilted(
        &self,
        leaves: &mut Leaves,
        fitted: &Fitted,
        known: (f64, f64),
        step: i64,
        start: f64,
    ) -> Result<(f64, Vec<Leaf>)> {
        let precision = 1.0 / known.1.max(0.05);
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut tilt = start;
        let mut steps = 0;
        // Far below the inverse of any spread.
        let tolerance = 1e-4 / (1.0 + known.0.sqrt());
        loop {
            steps += 1;
            let laws = leaves.cells.iter().zip(&mut leaves.known);
            let laws = laws.map(|(cell, known)| self.leaf(cell, known, tilt, step)).collect::<Result<Vec<_>>>()?;
            let (mut mean, mut variance) = (0.0, 0.0);
            for leaf in &laws {
                let (m, v) = leaf.law.moments();
                mean += m * step as f64;
                variance += v * (step * step) as f64;
            }
            // The slope of what is known of the total, where it meets that of the tilted sum, which is the tilt.
            let at = mean.floor().max(0.0);
            let slope = fitted.log_of_prior(at + 1.0) - fitted.log_of_prior(at);
            let gap = slope + (known.0 - mean) * precision - tilt;
            let change = gap / (1.0 + variance * precision);
            // Noise with little spread moves in jumps, whose place is found by halving.
            let narrow = high - low <= tolerance * (1.0 + tilt.abs()) || steps >= MOST_STEPS;
            if (change.abs() * variance.sqrt() <= 0.5 && change.abs() <= 0.5) || narrow {
                return Ok((tilt, laws));
            }
            if gap > 0.0 {
                low = tilt;
            } else {
                high = tilt;
            }
            let next = tilt + change.clamp(-8.0, 8.0);
            let halve = low.is_finite() && high.is_finite() && steps > NEWTON_STEPS;
            tilt = if next > low && next < high && !halve { next } else { 0.5 * (low + high) };
        }
    }

    /// The law of one count that is proportional to exp(tilt x) times its weight, on multiples of the step.
    fn leaf(&self, cell: &Cell, known: &mut Untilted, tilt: f64, step: i64) -> Result<Leaf> {
        let cap = self.cap as i64;
        let mode = cell.mode(tilt, self.cap).unwrap_or(self.cap) as i64;
        let front = log_gamma(cell.prior());
        let untilted = |x: f64| log_rising(x, cell.prior(), front) + cell.log_likelihood(x);
        let log_weight = |x: f64| untilted(x) + tilt * x;
        let top = log_weight(mode as f64);
        let cut = if step == 1 { CUT_EXACT } else { CUT_COARSE };
        let rise = if cell.prior() < 1.0 { RISE } else { 0.0 };
        let reach = |sign: i64, most: i64, depth: f64| {
            let mut distance = 4 * step;
            while distance < most && log_weight((mode + sign * distance) as f64) > top - depth {
                distance += distance / 2;
            }
            distance.min(most)
        };
        let low = mode - reach(-1, mode, cut + rise);
        let high = mode + reach(1, cap - mode, cut);
        if (high - low) / step > MOST_POINTS {
            return Err(Error::NotAffordable {
                asked: format!("a window of {} counts", (high - low) / step),
                limit: format!("{MOST_POINTS}"),
                instead: "ask for a model with less noise or fewer records",
            });
        }
        // Multiples next to zero are filled from single counts.
        let near = if step > 1 && low < NEAR_ZERO * step { NEAR_ZERO } else { -1 };
        let (start, end) = (if near >= 0 { 0 } else { low / step }, (high + step - 1) / step);
        let first = start.max(near + 1);
        let mut points = vec![f64::NEG_INFINITY; (first - start) as usize];
        if first <= end {
            let log_step = (step as f64).ln();
            let at = |i: i64| ((i * step).min(cap)) as f64;
            let logs = known.on(step, (first, end), &|i| untilted(at(i)));
            points.extend((first..).zip(logs).map(|(i, log)| log + tilt * at(i) + log_step));
        }
        points.truncate((end - start + 1) as usize);
        let mut largest = points.iter().copied().fold(top, f64::max);
        if rise > 0.0 && low == 0 {
            largest = largest.max(log_weight(0.0));
        }
        let mut values = exponentials(&points, 0.0, largest);
        if near >= 0 {
            values.iter_mut().take(first as usize).for_each(|value| *value = 0.0);
            let end = (NEAR_ZERO * step).min(high + 1);
            let runs = known.near_zero(step, end, &untilted);
            add_near_zero(&mut values, step, runs, &|run| (run.log + tilt * run.middle - largest).exp());
            if end == NEAR_ZERO * step && NEAR_ZERO < values.len() as i64 {
                // Half of the triangle around the multiple where the grid goes on: the sum over k < h of 1 - k / h.
                values[NEAR_ZERO as usize] += (log_weight(end as f64) - largest).exp() * 0.5 * (step + 1) as f64;
            }
        }
        let sum: f64 = values.iter().sum();
        values.iter_mut().for_each(|value| *value /= sum);
        Ok(Leaf { law: Segment { start, values }, log_sum: largest + sum.ln() })
    }
}

/// ln of Gamma(x + a) / (x! Gamma(a)) given ln Gamma(a), by products for small x and Stirling's series for large: its error
/// is below 1e-13 times the logarithms.
fn log_rising(x: f64, a: f64, log_gamma_of_a: f64) -> f64 {
    if x < 12.0 || a > 1e7 {
        return if a < x + 1.0 {
            log_gamma_ratio(x + 1.0, a - 1.0) - log_gamma_of_a
        } else {
            log_gamma_ratio(a, x) - log_gamma(x + 1.0)
        };
    }
    let stirling = |z: f64| {
        let (inverse, square) = (1.0 / z, 1.0 / (z * z));
        (z - 0.5) * z.ln() - z
            + inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)))
    };
    stirling(x + a) - stirling(x + 1.0) - log_gamma_of_a
}

/// Adds the weights of the counts near zero to the multiples next to them.
fn add_near_zero(values: &mut [f64], step: i64, runs: &[Run], weight: &dyn Fn(&Run) -> f64) {
    let last = values.len() as i64 - 1;
    for run in runs {
        let mass = weight(run) * run.width;
        let below = (run.middle / step as f64).floor();
        let upper = run.middle / step as f64 - below;
        let i = (below as i64).min(last) as usize;
        values[i] += mass * (1.0 - upper);
        values[((i as i64) + 1).min(last) as usize] += mass * upper;
    }
}

impl Block {
    /// The multiples of the step in the range.
    fn multiples(&self) -> std::ops::Range<i64> {
        let up = |n: i64| (n + self.step - 1).div_euclid(self.step);
        up(self.range.0)..up(self.range.1)
    }
}

impl Fitted {
    /// The tilt of a block in the middle: a guess for the next prior.
    pub(super) fn tilt(&self) -> f64 {
        self.blocks[self.blocks.len() / 2].tilt
    }

    /// The part of the weight of the i-th multiple that the cells leave out, the tilt taken back.
    fn log_of_total(&self, block: &Block, i: i64) -> f64 {
        let n = i * block.step;
        if n < 0 {
            return f64::NEG_INFINITY;
        }
        block.log_scale + self.log_of_prior(n as f64) - block.tilt * n as f64
    }

    /// ln of n! Gamma(A) / Gamma(n + A) with what the release says of the total by itself.
    fn log_of_prior(&self, n: f64) -> f64 {
        self.term.log_weight_of_terms(n as u64) - log_rising(n, self.prior_sum, self.front)
    }

    /// ln p(the row's releases | total), in a block.
    fn log_at(&self, block: &Block, n: i64) -> f64 {
        let root = block.tree.root();
        let at =
            |i: i64| if root.at(i) > 0.0 { root.at(i).ln() + self.log_of_total(block, i) } else { f64::NEG_INFINITY };
        let (below, rest) = (n.div_euclid(block.step), n.rem_euclid(block.step));
        let share = rest as f64 / block.step as f64;
        if rest == 0 { at(below) } else { at(below) * (1.0 - share) + at(below + 1) * share }
    }

    /// What is known of the total, with the row's own part of its likelihood.
    ///
    /// # Errors
    /// [`Error::Numerical`] if no total that is known to be possible can have given the row's releases.
    pub(super) fn weights(&self, totals: &Lattice) -> Result<Weights> {
        // Masses of totals, then logarithms with all but the roots.
        let logs: Vec<Segment> = self
            .blocks
            .iter()
            .map(|block| {
                // Beyond its root a block says nothing.
                let root = block.tree.root();
                let (low, high) =
                    ((root.start - 1).saturating_mul(block.step), (root.end() + 1).saturating_mul(block.step));
                let points = totals.points_within(block.step, (block.range.0.max(low), block.range.1.min(high)));
                let law = on_multiples(&points, block.step);
                let log = |(i, mass): (i64, f64)| {
                    let possible = mass > 0.0 && block.tree.root().at(i) > 0.0;
                    if possible { mass.ln() + self.log_of_total(block, i) } else { f64::NEG_INFINITY }
                };
                Segment { start: law.start, values: law.iter().map(log).collect() }
            })
            .collect();
        // Of the products with the roots.
        let heights = self.blocks.iter().zip(&logs).flat_map(|(block, logs)| {
            logs.iter().filter(|(_, log)| log.is_finite()).map(|(i, log)| log + block.tree.root().at(i).ln())
        });
        let top = heights.fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return Err(Error::numerical("inference", "the release cannot come from any counts that are possible"));
        }
        let exponential = |logs: Segment| Segment {
            start: logs.start,
            values: logs.values.into_iter().map(|log| (log - top).exp()).collect(),
        };
        let mut segments: Vec<Segment> = logs.into_iter().map(exponential).collect();
        let mass = |(block, segment): (&Block, &Segment)| -> f64 {
            segment.iter().map(|(i, w)| w * block.tree.root().at(i)).sum()
        };
        let sum: f64 = self.blocks.iter().zip(&segments).map(mass).sum();
        segments.iter_mut().flat_map(|segment| &mut segment.values).for_each(|w| *w /= sum);
        Ok(Weights { segments, log_evidence: top + sum.ln() })
    }

    /// ln p(the row's releases | total) at the lattice's totals, minus infinity where no block is.
    pub(super) fn log_by_total(&self, totals: &Lattice) -> Vec<f64> {
        let at = |n: i64| {
            let block = self.blocks.iter().find(|block| (block.range.0..block.range.1).contains(&n));
            block.map_or(f64::NEG_INFINITY, |block| self.log_at(block, n))
        };
        totals.totals().map(at).collect()
    }

    /// For every block what the rest of the tree says of each leaf, with g(total) beside the weights.
    fn outside(&self, weights: &Weights, g: &dyn Fn(f64) -> f64) -> Result<Vec<Vec<Segment>>> {
        let of = |(block, segment): (&Block, &Segment)| {
            if segment.values.is_empty() {
                return Ok(vec![Segment::default(); self.priors.len()]);
            }
            let values = segment.iter().map(|(i, w)| w * g((i * block.step) as f64)).collect();
            Ok(block.tree.outside(Segment { start: segment.start, values })?.0)
        };
        self.blocks.iter().zip(&weights.segments).map(of).collect()
    }

    /// Expectations over counts and total of f(count, prior) g(total), for every cell.
    fn expectations(
        &self,
        weights: &Weights,
        g: &dyn Fn(f64) -> f64,
        f: &[&dyn Fn(f64, f64) -> f64],
    ) -> Result<Vec<Vec<f64>>> {
        let outside = self.outside(weights, g)?;
        let of = |k: usize| {
            let mut sums = vec![0.0; f.len()];
            for (x, mass) in self.masses(&outside, k) {
                sums.iter_mut().zip(f).for_each(|(sum, f)| *sum += mass * f(x, self.priors[k]));
            }
            sums
        };
        Ok((0..self.priors.len()).map(of).collect())
    }

    /// The counts of a cell with their masses.
    fn masses<'a>(&'a self, outside: &'a [Vec<Segment>], k: usize) -> impl Iterator<Item = (f64, f64)> + 'a {
        self.blocks.iter().zip(outside).flat_map(move |(block, outside)| {
            let node = move |(i, p): (i64, f64)| ((i * block.step) as f64, p * outside[k].at(i));
            block.tree.law(k).iter().map(node).filter(|node| node.1 > 0.0)
        })
    }

    /// Means and variances of the shares; the square of the total is taken at its mean, which is close and fast.
    pub(super) fn shares_nearly(&self, weights: &Weights) -> Result<Moments> {
        let a = self.prior_sum;
        let total: f64 = self
            .blocks
            .iter()
            .zip(&weights.segments)
            .map(|(block, segment)| {
                segment.iter().map(|(i, w)| w * block.tree.root().at(i) * (i * block.step) as f64).sum::<f64>()
            })
            .sum();
        let found =
            self.expectations(weights, &|n| 1.0 / (a + n), &[&|x, b| x + b, &|x, b| (x + b) * (x + b + 1.0)])?;
        Ok(found.into_iter().map(|m| variance_of(m[0], m[1] / (a + total + 1.0))).collect())
    }

    /// Means and variances of the shares.
    pub(super) fn shares(&self, weights: &Weights) -> Result<Moments> {
        let a = self.prior_sum;
        let first = self.expectations(weights, &|n| 1.0 / (a + n), &[&|x, b| x + b])?;
        let second =
            self.expectations(weights, &|n| 1.0 / ((a + n) * (a + n + 1.0)), &[&|x, b| (x + b) * (x + b + 1.0)])?;
        Ok(first.iter().zip(&second).map(|(m, s)| variance_of(m[0], s[0])).collect())
    }

    /// Means and variances of the counts: about the mean, since of squares of millions the difference keeps no digits.
    pub(super) fn counts(&self, weights: &Weights) -> Result<Moments> {
        let outside = self.outside(weights, &|_| 1.0)?;
        let of = |k: usize| {
            let mean: f64 = self.masses(&outside, k).map(|(x, mass)| mass * x).sum();
            (mean, self.masses(&outside, k).map(|(x, mass)| mass * (x - mean).powi(2)).sum())
        };
        Ok((0..self.priors.len()).map(of).collect())
    }

    /// For every cell: its counts, each with its mass and what is known of the row's total then.
    pub(super) fn share_nodes(&self, weights: &Weights) -> Result<Vec<Vec<ShareNode>>> {
        let outside = |power: i32| self.outside(weights, &|n| (n + self.prior_sum).powi(power));
        let powers = [outside(0)?, outside(1)?, outside(2)?];
        let nodes = |k: usize| {
            let of_block = |(b, block): (usize, &Block)| {
                let node = |(i, p): (i64, f64)| {
                    let [mass, first, second] = [0, 1, 2].map(|power: usize| p * powers[power][b][k].at(i));
                    if !(mass > 0.0) {
                        return None;
                    }
                    let count = (i * block.step) as f64;
                    // The total given the count, prior included.
                    let total = (first / mass).max(count + self.priors[k]);
                    let spread = (second / mass / (total * total) - 1.0).max(0.0);
                    Some(ShareNode { mass, count, total, spread })
                };
                block.tree.law(k).iter().filter_map(node).collect::<Vec<_>>()
            };
            self.blocks.iter().enumerate().flat_map(of_block).collect()
        };
        Ok((0..self.priors.len()).map(nodes).collect())
    }

    /// The prior of a cell and of all cells together.
    pub(super) fn prior(&self, k: usize) -> (f64, f64) {
        (self.priors[k], self.prior_sum)
    }
}

/// One count of a cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShareNode {
    pub(super) mass: f64,
    pub(super) count: f64,
    /// The mean of the row's total and prior.
    pub(super) total: f64,
    /// The variance of that over its square.
    pub(super) spread: f64,
}

impl ShareNode {
    /// Mean and variance of the share where the cell has this prior.
    pub(super) fn share(&self, prior: f64) -> (f64, f64) {
        let mean = ((self.count + prior) / self.total).min(1.0);
        (mean, mean * (1.0 - mean) / (self.total + 1.0) + mean * mean * self.spread)
    }
}

fn variance_of(mean: f64, second: f64) -> (f64, f64) {
    (mean, (second - mean * mean).max(0.0))
}
