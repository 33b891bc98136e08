//! The envelope of the unnormalised target T(k) = exp(-c sqrt(1 - exp(s(k)))): a mixture of product laws.
//!
//! T(k) = sum_J p_J exp(J s(k)). exp(J s) is convex in J, so on [l, h) it lies below its chord, and sharing every p_J linearly
//! between the two ends gives T(k) <= sum_l A_l exp(l s(k)) over the nodes l = 0 < 1 < ... < L, J >= L being counted at L. The
//! nodes start dyadic; then the cell whose chord wastes most is split at its geometric mean, until the waste is small. The law
//! of J can have two modes, so that nothing is walked outwards from one.

use super::node::Node;
use super::problem::Problem;
use super::stable_series::{Cell, StableSeries};
use crate::Result;

/// The last node is no later than this.
const LAST_NODE: u64 = 1 << 52;
/// Nodes beyond which all mass sits at k = x: no later ones are needed.
const CONCENTRATED: f64 = 1e-3;
/// Part of the envelope that the chords may waste.
const WASTE: f64 = 0.1;
const MAX_NODES: usize = 8192;
/// With this many groups a node costs enough to be interpolated where the chord of the logarithm loses at most 1/16.
pub(super) const INTERPOLATE_FROM: usize = 256;

/// The nodes l >= 1 and ln A_l.
pub(super) struct Envelope {
    pub(super) nodes: Vec<Node>,
    pub(super) log_shares: Vec<f64>,
    /// Nodes that were evaluated, not interpolated.
    pub(super) n_evaluations: usize,
    /// Estimate of the part of the envelope that the chords do not waste.
    pub(super) efficiency: f64,
}

/// The cell from one node to the next, with what it adds to the envelope and what it would add without waste.
struct Stretch {
    cell: Cell,
    log_upper: f64,
    log_estimate: f64,
}

pub(super) fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

pub(super) fn log_sum(terms: impl Iterator<Item = f64>) -> f64 {
    terms.fold(f64::NEG_INFINITY, log_add)
}

impl Stretch {
    fn new(series: &StableSeries, left: &Node, right: &Node) -> Self {
        let cell = series.cell(left.l, right.l);
        let log_upper = log_add(cell.log_left + left.log_total, cell.log_right + right.log_total);
        // Between its nodes the sum over k falls about like a power of J.
        let fall = right.log_total - left.log_total;
        let log_estimate =
            log_sum(cell.pieces.iter().map(|piece| piece.log_mass + left.log_total + piece.position * fall));
        Self { cell, log_upper, log_estimate }
    }

    /// What splitting can save, as a part of exp(log_total).
    fn waste(&self, log_total: f64) -> f64 {
        (self.log_upper - log_total).exp() - (self.log_estimate.min(self.log_upper) - log_total).exp()
    }
}

impl Envelope {
    /// The envelope but for J = 0, whose ln(p_0 |R|) is `log_uniform`.
    pub(super) fn new(
        problem: &Problem,
        series: &StableSeries,
        log_uniform: f64,
        interpolate_from: usize,
    ) -> Result<Self> {
        let mut nodes = Self::dyadic_nodes(problem)?;
        let mut n_evaluations = nodes.len();
        let mut stretches: Vec<_> = nodes.windows(2).map(|pair| Stretch::new(series, &pair[0], &pair[1])).collect();
        let close = 1.0 + 1.0 / (problem.m as f64).sqrt();
        let mut efficiency = 1.0;
        while nodes.len() < MAX_NODES {
            let last = nodes[nodes.len() - 1];
            let open = series.log_tail_upper(last.l) + last.log_total;
            let log_total = log_sum(stretches.iter().map(|stretch| stretch.log_upper)).max(open);
            let log_total = log_add(log_add(log_total, open), log_uniform);
            let (mut total_waste, mut worst) = (0.0, (0.0, None));
            for (i, stretch) in stretches.iter().enumerate() {
                let waste = stretch.waste(log_total);
                total_waste += waste;
                if waste > worst.0 && nodes[i + 1].l - nodes[i].l > 1 {
                    worst = (waste, Some(i));
                }
            }
            efficiency = 1.0 - total_waste.min(1.0);
            let (true, Some(i)) = (total_waste > WASTE, worst.1) else {
                break;
            };
            let (left, right) = (nodes[i], nodes[i + 1]);
            let middle = ((left.l as f64 * right.l as f64).sqrt() as u64).clamp(left.l + 1, right.l - 1);
            let is_interpolated = problem.groups.len() >= interpolate_from && (right.l as f64) < left.l as f64 * close;
            let node = if is_interpolated {
                Node::between(problem, &left, &right, middle)
            } else {
                n_evaluations += 1;
                Node::optimal(problem, middle, 0.5 * (left.theta + right.theta))?
            };
            stretches[i] = Stretch::new(series, &left, &node);
            stretches.insert(i + 1, Stretch::new(series, &node, &right));
            nodes.insert(i + 1, node);
        }
        let log_shares = Self::log_shares(series, &nodes, &stretches);
        Ok(Self { nodes, log_shares, n_evaluations, efficiency })
    }

    /// Nodes 1, 2, 4, ... until nothing but k = x is left.
    fn dyadic_nodes(problem: &Problem) -> Result<Vec<Node>> {
        let mut nodes: Vec<Node> = Vec::new();
        let (mut l, mut theta) = (1, 0.0);
        loop {
            let node = Node::optimal(problem, l, theta)?;
            theta = node.theta;
            nodes.push(node);
            if node.log_total < CONCENTRATED || l >= LAST_NODE {
                return Ok(nodes);
            }
            l *= 2;
        }
    }

    fn log_shares(series: &StableSeries, nodes: &[Node], stretches: &[Stretch]) -> Vec<f64> {
        let mut shares = vec![f64::NEG_INFINITY; nodes.len()];
        for (i, stretch) in stretches.iter().enumerate() {
            shares[i] = log_add(shares[i], stretch.cell.log_left);
            shares[i + 1] = log_add(shares[i + 1], stretch.cell.log_right);
        }
        let last = nodes.len() - 1;
        shares[last] = log_add(shares[last], series.log_tail_upper(nodes[last].l));
        shares
    }
}
