//! Totals in blocks: sums of independent counts, each block of sums under a tilt of its own (theory E1).
//!
//! The weight of counts x is H(sum x) prod w_k(x_k). The product is tilted by exp(t sum x), which makes the sum likely where it
//! matters, so that no digit is lost; it leaves exp(-t n), which goes into the weight of the sum. A public sum needs one tilt. A
//! private one is covered by blocks of sums, each with a tilt of its own, from the likely ones outwards.

use super::cell::TiltedLaw;
use super::tree::Tree;
use crate::{Error, Result, interrupt};

/// How near the mean of a tilted sum has to be to the totals of a block, and to a public total, in standard deviations: that one is
/// a seventh as likely then as the mean, and errors set against its probability seven times as large.
const CLOSE: f64 = 0.5;
const CLOSE_TO_ONE: f64 = 2.0;

/// Blocks at most.
const MOST_BLOCKS: usize = 1024;

/// The tilted laws of all cells, with the mean and variance of their sum.
pub(super) struct Tilted {
    pub(super) tilt: f64,
    pub(super) most: u64,
    pub(super) leaves: Vec<TiltedLaw>,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

/// A block before it is weighed against the others: for each of its totals the logarithm of the posterior weight.
pub(super) struct RawBlock {
    pub(super) tree: Tree,
    pub(super) start: i64,
    pub(super) log_weights: Vec<f64>,
    /// Bound of the error of a probability of the sum, relative to the smallest in the block.
    pub(super) error: f64,
    pub(super) tilt: f64,
    /// The largest total that the tilted laws are good for.
    pub(super) most: u64,
    pub(super) deviation: f64,
}

/// One count of those that are added up: a function of it that can be tilted.
pub(super) trait Part {
    /// No count below is possible.
    fn least(&self) -> u64;

    /// A count from which the search for the likely ones may start.
    fn guess(&self) -> f64;

    /// The tilted law with at most `tail` of its mass outside of the window; counts above `cap` are impossible.
    ///
    /// # Errors
    /// [`Error::NotAffordable`] if the window would be too large, also where the weights have no finite sum.
    fn tilted(&self, tilt: f64, cap: u64, tail: f64) -> Result<TiltedLaw>;
}

/// What is known of the sum of the parts.
pub(super) trait Whole {
    /// The logarithm of its weight.
    fn log_weight(&self, n: u64) -> f64;

    /// Adds the logarithms of the weights of consecutive sums to others.
    fn add_log_weights(&self, start: i64, logs: &mut [f64]) {
        logs.iter_mut().zip(start..).for_each(|(log, n)| *log += self.log_weight(n as u64));
    }

    /// A sum from which the search for the likely ones may start.
    fn guess(&self) -> Option<f64>;

    /// The least and the largest sum that are possible.
    fn range(&self) -> (u64, u64);
}

/// How closely sums are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fineness {
    /// Mass that all windows together leave out, before it is set against the probability of the total.
    pub(super) outside: f64,
    /// A block of totals reaches as far as the tilted sum has this share of its largest probability.
    pub(super) depth: f64,
    /// So many standard deviations are enough for that.
    pub(super) reach: f64,
}

/// Counts that are added up, and what is known of their sum.
pub(super) struct Problem<'a, P, W> {
    pub(super) parts: &'a [P],
    pub(super) whole: &'a W,
    /// The sum of the least counts.
    pub(super) least: u64,
    pub(super) fineness: Fineness,
}

impl<P: Part, W: Whole> Problem<'_, P, W> {
    /// The tilted laws; with `most` records in all a cell has at most what the others leave.
    fn tilted(&self, tilt: f64, most: u64) -> Result<Tilted> {
        let tail = self.fineness.outside / self.parts.len() as f64;
        let mut leaves = Vec::with_capacity(self.parts.len());
        let (mut mean, mut variance) = (0.0, 0.0);
        for part in self.parts {
            interrupt::check()?;
            let cap = most.saturating_sub(self.least - part.least());
            let leaf = part.tilted(tilt, cap, tail)?;
            let moments = leaf.law.moments();
            mean += moments.0;
            variance += moments.1;
            leaves.push(leaf);
        }
        Ok(Tilted { tilt, most, leaves, mean, variance })
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
    pub(super) fn block_at(&self, n: u64) -> Result<RawBlock> {
        let (tilted, _) = self.tilt_for(n as f64, (n as i64, n as i64), 0.0, CLOSE_TO_ONE)?;
        self.raw(tilted, (n as i64, n as i64 + 1), 0.0)
    }

    /// The block of the totals of a window where the tilted sum is not less likely than `depth` times its largest
    /// probability.
    fn raw(&self, tilted: Tilted, window: (i64, i64), depth: f64) -> Result<RawBlock> {
        let log_sum: f64 = tilted.leaves.iter().map(|leaf| leaf.log_sum).sum();
        let outside: f64 = tilted.leaves.iter().map(|leaf| leaf.outside).sum();
        let leaves = tilted.leaves.into_iter().map(|leaf| leaf.law).collect();
        let tree = Tree::new(leaves, window, self.fineness.outside / self.parts.len() as f64)?;
        let root = tree.root();
        // A single part has not met the window yet.
        let inside = |n: i64| (n - root.start).clamp(0, root.values.len() as i64) as usize;
        let first = inside(window.0);
        let values = &root.values[first..inside(window.1).max(first)];
        let largest = values.iter().copied().fold(0.0, f64::max);
        let mode = values.iter().position(|p| *p == largest).unwrap_or(0);
        let deep = |p: &f64| *p > depth * largest;
        let left = values[..mode].iter().rev().take_while(|p| deep(p)).count();
        let right = values[mode..].iter().take_while(|p| deep(p)).count();
        let kept = &values[mode - left..mode + right];
        let start = root.start + (first + mode - left) as i64;
        let mut log_weights: Vec<f64> =
            (start..).zip(kept).map(|(n, p)| log_sum + p.ln() - tilted.tilt * n as f64).collect();
        self.whole.add_log_weights(start, &mut log_weights);
        let least = kept.iter().copied().fold(f64::INFINITY, f64::min);
        let error = (outside + tree.lost + tree.noise) / least;
        Ok(RawBlock {
            start,
            log_weights,
            error,
            tilt: tilted.tilt,
            most: tilted.most,
            deviation: tilted.variance.sqrt(),
            tree,
        })
    }

    /// The block of the totals of a window under a tilt that was found before.
    pub(super) fn again(&self, tilt: f64, most: u64, window: (i64, i64)) -> Result<RawBlock> {
        self.raw(self.tilted(tilt, most)?, window, 0.0)
    }

    /// Blocks of totals from the likely ones outwards, up to where weights are exp(-depth) of the best.
    pub(super) fn blocks(&self, depth: f64) -> Result<Vec<RawBlock>> {
        let range = self.whole.range();
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
        let reach = self.fineness.reach * tilted.variance.sqrt() + 3.0;
        let window = (
            ((tilted.mean - reach).floor() as i64).max(rest.0),
            ((tilted.mean + reach).ceil() as i64 + 1).min(rest.1 + 1),
        );
        if window.0 >= window.1 {
            return Err(Error::numerical("inference", "a block of totals is empty"));
        }
        self.raw(tilted, window, self.fineness.depth)
    }

    /// Tilted laws whose sum is near the most likely total: where the slope of the total's weight equals the tilt.
    fn start(&self, range: (i64, i64)) -> Result<(Tilted, u64)> {
        let weight = |n: f64| self.whole.log_weight(n as u64);
        let inside = |n: f64| n.clamp(range.0 as f64, range.1 as f64);
        let mut target = inside(self.whole.guess().unwrap_or_else(|| self.parts.iter().map(Part::guess).sum()));
        let mut found = self.tilt_for(target, range, 0.0, CLOSE)?;
        // Between totals where the weight rises faster than the tilt and where it does not, as far as was seen.
        let (mut low, mut high) = (range.0 as f64, range.1 as f64);
        for _ in 0..40 {
            let (tilted, _) = &found;
            let (mean, deviation) = (inside(tilted.mean.round()), tilted.variance.sqrt().max(1.0).round());
            let (below, above) = (inside(mean - deviation), inside(mean + deviation));
            if !(above > below) {
                break;
            }
            let slope = (weight(above) - weight(below)) / (above - below);
            if slope > tilted.tilt {
                low = low.max(target);
            } else {
                high = high.min(target);
            }
            // A Newton step in the total for cells of this spread, at most threefold.
            let step =
                inside((mean + tilted.variance * (slope - tilted.tilt)).clamp(mean / 3.0 - 10.0, 3.0 * mean + 10.0));
            if !step.is_finite() || (step - target).abs() <= deviation {
                break;
            }
            // Tilts near the end of a finite mean have spreads that are good for nothing far from there.
            target = if step > low && step < high {
                step
            } else {
                (0.5 * (low + high)).clamp(mean / 3.0 - 10.0, 3.0 * mean + 10.0)
            };
            if high - low <= deviation {
                break;
            }
            found = self.tilt_for(target, range, tilted.tilt, CLOSE)?;
        }
        Ok(found)
    }
}

fn top(block: &RawBlock) -> f64 {
    block.log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}
