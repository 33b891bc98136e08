//! Sums of independent counts in a balanced tree: upwards their laws, downwards what the rest of the tree says of each.
//!
//! The leaves are the tilted laws of the cells. A node holds the law of the sum of its leaves, on a window that leaves out
//! a stated mass. Given a weight for every value of the sum of all, the weight of a value at a node is that of all ways in
//! which the other leaves can complete it: [`Tree::outside`]. The product of both is the node's marginal; a joint draw
//! goes down the tree and splits each sum in two.

use super::convolution::{convolve, correlate};
use super::segment::Segment;
use super::sums::in_lanes;
use crate::random::Bits;
use crate::{Result, interrupt};

/// Exponents at which tails are bounded, each twice the one before.
const EXPONENTS: usize = 14;

/// Points in the spread of a leaf at which its exponential moments are bounded.
const POINTS_IN_SPREAD: f64 = 8.0;

/// Trees with fewer values at the leaves are trimmed by their own tails, which direct sums give without absolute error.
const SMALL: usize = 4096;

/// Leaves, then inner nodes, each after its children; the last node is the root.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    leaves: usize,
    /// Bound of the mass that the laws of inner nodes leave out.
    pub(super) lost: f64,
    /// Bound of what the absolute errors of transforms come to at any value of the root.
    pub(super) noise: f64,
}

#[derive(Debug, Clone)]
struct Node {
    law: Segment,
    /// Sums of the first and of the last values of its leaves.
    reach: (i64, i64),
    children: Option<(usize, usize)>,
}

impl Tree {
    /// The tree of the leaves' laws, whose sum is looked at from `window.0` to before `window.1`; an inner node leaves out
    /// at most `tail` on either side.
    pub(super) fn new(leaves: Vec<Segment>, window: (i64, i64), tail: f64) -> Result<Self> {
        let count = leaves.len();
        let small = leaves.iter().map(|law| law.values.len()).sum::<usize>() <= SMALL;
        let mut tails = if small { None } else { Some(Tails::of(&leaves)) };
        let mut tree = Self {
            nodes: leaves
                .into_iter()
                .map(|law| Node { reach: (law.start, law.end() - 1), law, children: None })
                .collect(),
            leaves: count,
            lost: 0.0,
            noise: 0.0,
        };
        let all = tree.nodes.iter().fold((0, 0), |sum, node| (sum.0 + node.reach.0, sum.1 + node.reach.1));
        // Similar lengths meet.
        let mut layer: Vec<usize> = (0..count).collect();
        layer.sort_by_key(|&i| tree.nodes[i].law.values.len());
        while layer.len() > 1 {
            let mut next = Vec::with_capacity(layer.len().div_ceil(2));
            for pair in layer.chunks(2) {
                interrupt::check()?;
                next.push(match *pair {
                    [left, right] => tree.join((left, right), (all, window), tail, tails.as_mut()),
                    _ => pair[0],
                });
            }
            layer = next;
        }
        Ok(tree)
    }

    /// Adds the parent of two nodes, on the window of the values that the other leaves can complete; returns its place.
    fn join(
        &mut self,
        (left, right): (usize, usize),
        (all, window): ((i64, i64), (i64, i64)),
        tail: f64,
        tails: Option<&mut Vec<Tails>>,
    ) -> usize {
        let [a, b] = [left, right].map(|i| &self.nodes[i]);
        let reach = (a.reach.0 + b.reach.0, a.reach.1 + b.reach.1);
        let mut kept = (window.0 - (all.1 - reach.1), window.1 - (all.0 - reach.0));
        if let Some(tails) = tails {
            let joined = Tails::joined(&tails[left], &tails[right]);
            let bounds = joined.window(tail);
            kept = (kept.0.max(bounds.0), kept.1.min(bounds.1));
            self.lost += 2.0 * tail;
            tails.push(joined);
            let (law, error) = convolve(&a.law, &b.law, kept);
            self.noise += error;
            self.nodes.push(Node { law, reach, children: Some((left, right)) });
        } else {
            let (mut law, error) = convolve(&a.law, &b.law, kept);
            self.noise += error;
            if error == 0.0 {
                self.lost += law.trim(tail);
            }
            self.nodes.push(Node { law, reach, children: Some((left, right)) });
        }
        self.nodes.len() - 1
    }

    /// The law of the sum of all leaves, on the window.
    pub(super) fn root(&self) -> &Segment {
        self.nodes.last().map_or_else(|| unreachable!("a tree has a leaf"), |node| &node.law)
    }

    /// The law of any node.
    pub(super) fn law(&self, node: usize) -> &Segment {
        &self.nodes[node].law
    }

    /// The inner nodes with their children, from the leaves up.
    pub(super) fn inner(&self) -> impl DoubleEndedIterator<Item = (usize, (usize, usize))> + '_ {
        self.nodes.iter().enumerate().filter_map(|(i, node)| node.children.map(|children| (i, children)))
    }

    /// For every node the weight of its values given weights of the sum of all: what is left to multiply its law with; and
    /// a bound of the absolute error of any weight, in units of the largest weight given.
    pub(super) fn outside(&self, weights: Segment) -> Result<(Vec<Segment>, f64)> {
        let largest = weights.values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut outside: Vec<Segment> = vec![Segment::default(); self.nodes.len()];
        outside[self.nodes.len() - 1] = weights;
        let mut noise = 0.0;
        for (i, (left, right)) in self.inner().rev() {
            interrupt::check()?;
            for (child, sibling) in [(left, right), (right, left)] {
                let law = &self.nodes[child].law;
                let (segment, error) = correlate(&outside[i], &self.nodes[sibling].law, (law.start, law.end()));
                outside[child] = segment;
                noise += error;
            }
        }
        Ok((outside, noise / largest))
    }

    /// Splits a value of the sum of all into values of the leaves, written to `counts`; `false` if the sum cannot occur.
    pub(super) fn split<B: Bits>(&self, total: i64, bits: &mut B, counts: &mut [i64]) -> bool {
        let mut sums = vec![0; self.nodes.len()];
        sums[self.nodes.len() - 1] = total;
        for (i, (left, right)) in self.inner().rev() {
            let Some(x) = draw_part(self.law(left), self.law(right), sums[i], uniform(bits)) else { return false };
            (sums[left], sums[right]) = (x, sums[i] - x);
        }
        counts.copy_from_slice(&sums[..self.leaves]);
        true
    }
}

/// The law of the sum of independent counts, but for 1e-16 of its mass.
///
/// # Errors
/// [`crate::Error::Interrupted`].
pub fn independent_sum(laws: Vec<Segment>) -> Result<Segment> {
    let everything = (i64::MIN / 4, i64::MAX / 4);
    let tail = 1e-16 / (4 * laws.len().max(1)) as f64;
    Ok(Tree::new(laws, everything, tail)?.root().clone())
}

/// A number in (0, 1).
pub(super) fn uniform<B: Bits>(bits: &mut B) -> f64 {
    ((bits.next_u64() >> 11) as f64 + 0.5) * 2f64.powi(-53)
}

/// The value of the first part at which its cumulated mass, given the sum of both, passes the share `u`.
fn draw_part(a: &Segment, b: &Segment, sum: i64, u: f64) -> Option<i64> {
    let (low, high) = (a.start.max(sum - b.end() + 1), a.end().min(sum - b.start + 1));
    if low >= high {
        return None;
    }
    let left = &a.values[(low - a.start) as usize..(high - a.start) as usize];
    let right = &b.values[(sum - high + 1 - b.start) as usize..][..left.len()];
    let products = || left.iter().zip(right.iter().rev()).map(|(p, q)| p * q);
    let total: f64 = products().sum();
    if !(total > 0.0) {
        return None;
    }
    let (mut rest, mut last) = (u * total, None);
    for (x, mass) in (low..).zip(products()).filter(|(_, mass)| *mass > 0.0) {
        last = Some(x);
        rest -= mass;
        if rest < 0.0 {
            break;
        }
    }
    last
}

/// What bounds the tails of a sum X by Chernoff's inequality: ln E exp(s (X - E X)) and ln E exp(-s (X - E X)) at the
/// exponents s = least, 2 least, 4 least, ...
struct Tails {
    least: f64,
    mean: f64,
    log_moments: [[f64; EXPONENTS]; 2],
}

impl Tails {
    /// Of every leaf. The exponents span from the spread of the sum of all to beyond that of single leaves.
    fn of(leaves: &[Segment]) -> Vec<Self> {
        let moments: Vec<(f64, f64)> = leaves.iter().map(Segment::moments).collect();
        let least = 4.0 / moments.iter().map(|m| m.1).sum::<f64>().sqrt().max(1e-3);
        let of = |(law, (mean, variance)): (&Segment, (f64, f64))| {
            // On fewer points: exp is convex, so mass that goes to the points on either side, its mean kept, makes no moment less.
            let stride = ((variance.sqrt() / POINTS_IN_SPREAD) as usize).max(1);
            let mut points = vec![0.0; law.values.len().div_ceil(stride) + 1];
            for (i, run) in law.values.chunks(stride).enumerate() {
                let upper = in_lanes(
                    run.len(),
                    #[inline(always)]
                    |k| run[k] * k as f64,
                ) / stride as f64;
                points[i] += in_lanes(
                    run.len(),
                    #[inline(always)]
                    |k| run[k],
                ) - upper;
                points[i + 1] += upper;
            }
            let mut sums = [[0.0; EXPONENTS]; 2];
            for (i, p) in points.into_iter().enumerate() {
                let step = least * ((law.start + (i * stride) as i64) as f64 - mean);
                for (sums, step) in sums.iter_mut().zip([step, -step]) {
                    let mut factor = step.exp();
                    for sum in sums {
                        *sum += p * factor;
                        factor *= factor;
                    }
                }
            }
            // What overflowed bounds nothing; nor does 0 * inf.
            let log = |sum: f64| if sum < f64::INFINITY { sum.ln() } else { f64::INFINITY };
            Self { least, mean, log_moments: sums.map(|side| side.map(log)) }
        };
        leaves.iter().zip(moments).map(of).collect()
    }

    fn joined(a: &Self, b: &Self) -> Self {
        let mut log_moments = a.log_moments;
        for (side, other) in log_moments.iter_mut().zip(&b.log_moments) {
            side.iter_mut().zip(other).for_each(|(x, y)| *x += y);
        }
        Self { least: a.least, mean: a.mean + b.mean, log_moments }
    }

    /// A window, its end excluded, beyond either end of which lies at most `tail`.
    fn window(&self, tail: f64) -> (i64, i64) {
        let distance = |side: &[f64; EXPONENTS]| {
            let one = |(j, log): (usize, &f64)| (log - tail.ln()) / (self.least * f64::from(1_u32 << j));
            side.iter().enumerate().map(one).fold(f64::INFINITY, f64::min)
        };
        let [up, down] = [0, 1].map(|side| distance(&self.log_moments[side]));
        // One more on either side for rounding; a cast saturates where nothing is bounded.
        let clamp = |x: f64| x.clamp(-2f64.powi(60), 2f64.powi(60)) as i64;
        (clamp((self.mean - down).floor() - 1.0), clamp((self.mean + up).ceil() + 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::StreamKey;

    fn leaf(start: i64, weights: &[f64]) -> Segment {
        let sum: f64 = weights.iter().sum();
        Segment { start, values: weights.iter().map(|w| w / sum).collect() }
    }

    fn leaves() -> Vec<Segment> {
        vec![
            leaf(0, &[1.0, 2.0, 3.0]),
            leaf(2, &[5.0, 1.0]),
            leaf(0, &[1.0, 0.5, 0.25, 2.0]),
            leaf(1, &[1.0, 3.0, 1.0]),
        ]
    }

    /// All combinations of the leaves with their masses.
    fn combinations(leaves: &[Segment]) -> Vec<(Vec<i64>, f64)> {
        leaves.iter().fold(vec![(Vec::new(), 1.0)], |all, leaf| {
            let extend = |(xs, p): &(Vec<i64>, f64)| {
                leaf.iter().map(|(x, q)| ([&xs[..], &[x]].concat(), p * q)).collect::<Vec<_>>()
            };
            all.iter().flat_map(extend).collect()
        })
    }

    #[test]
    fn laws_and_outside_weights_agree_with_all_combinations() {
        let leaves = leaves();
        let all = combinations(&leaves);
        for (window, weights) in [((7, 8), vec![1.0]), ((0, 30), vec![]), ((5, 9), vec![0.3, 2.0, 0.0, 1.0])] {
            let tree = Tree::new(leaves.clone(), window, 0.0).unwrap();
            for (s, p) in tree.root().iter() {
                let exact: f64 = all.iter().filter(|(xs, _)| xs.iter().sum::<i64>() == s).map(|c| c.1).sum();
                assert!((p - exact).abs() < 1e-16);
            }
            if weights.is_empty() {
                assert!((tree.root().sum() - 1.0).abs() < 1e-15);
                continue;
            }
            let weights = Segment { start: window.0, values: weights };
            let (outside, _) = tree.outside(weights.clone()).unwrap();
            for (k, leaf) in leaves.iter().enumerate() {
                for (x, p) in leaf.iter() {
                    let matching = all.iter().filter(|(xs, _)| xs[k] == x);
                    let exact: f64 = matching.map(|(xs, q)| q * weights.at(xs.iter().sum())).sum();
                    assert!((p * outside[k].at(x) - exact).abs() < 1e-16, "leaf {k} at {x}");
                }
            }
        }
    }

    #[test]
    fn draws_follow_the_law_given_the_sum() {
        let leaves = leaves();
        let tree = Tree::new(leaves.clone(), (7, 8), 0.0).unwrap();
        let mut all: Vec<_> = combinations(&leaves).into_iter().filter(|c| c.0.iter().sum::<i64>() == 7).collect();
        let total: f64 = all.iter().map(|c| c.1).sum();
        all.iter_mut().for_each(|c| c.1 /= total);
        let (size, mut stream, mut x) = (20_000, StreamKey::from_bytes([5; 32]).stream(0), vec![0; 4]);
        let mut seen = vec![0_u32; all.len()];
        for _ in 0..size {
            assert!(tree.split(7, &mut stream, &mut x));
            seen[all.iter().position(|c| c.0 == x).unwrap()] += 1;
        }
        // Chi-square with all.len() - 1 degrees; beyond twice that plus 40 with probability below 1e-6.
        let chi: f64 =
            all.iter().zip(&seen).map(|(c, &n)| (f64::from(n) - size as f64 * c.1).powi(2) / (size as f64 * c.1)).sum();
        assert!(chi < 2.0 * all.len() as f64 + 40.0, "{chi}");
        assert!(!tree.split(100, &mut stream, &mut x));
    }

    #[test]
    fn long_trees_leave_out_no_more_than_stated() {
        let wide = |k: i64| {
            let weights: Vec<f64> = (0..400).map(|i| (-f64::from(i - 150).abs() / (5.0 + k as f64)).exp()).collect();
            leaf(k, &weights)
        };
        let leaves: Vec<Segment> = (0..20).map(wide).collect();
        let exact = leaves
            .iter()
            .skip(1)
            .fold(leaves[0].clone(), |sum, law| convolve(&sum, law, (i64::MIN / 4, i64::MAX / 4)).0);
        for tail in [1e-6, 1e-15] {
            let tree = Tree::new(leaves.clone(), (0, 10_000), tail).unwrap();
            let gap = |s: i64| (tree.root().at(s) - exact.at(s)).abs();
            let missing: f64 = (exact.start..exact.end()).map(gap).sum();
            assert!(missing <= tree.lost + tree.noise * 1e4 + 1e-13, "{missing:e} {:e} {:e}", tree.lost, tree.noise);
            assert!(tree.lost < 40.0 * tail && tree.noise < 1e-12, "{:e}", tree.noise);
            assert!(tree.root().values.len() < 4000);
        }
    }
}
