//! Tail masses of a log-concave law, with relative accuracy: suffix sums over panels plus one partial panel.

use super::lanes::{self, each};
use super::quadrature::{nodes_32, rule_12};
use super::shape::Shape;
use crate::wide::wide;

/// Table panels reach this far down on the right; further out one panel of the 32-point rule holds the whole tail.
const RIGHT_DEVIANCE: f64 = 50.0;
/// Left of the table lies less than exp(-45) of the mass, relative to 1.
const LEFT_DEVIANCE: f64 = 45.0;
/// How much D may change over a table panel: the 12-point rule then errs by less than 1e-16 relative.
const PANEL_DEVIANCE: f64 = 6.0;
/// Panel width in units of 1/sqrt(D''): about the same error for the bell around the mode.
const PANEL_WIDTH: f64 = 2.4;
/// A tail is cut where its integrand has fallen by exp(-CUT); the rest is added as an exponential.
const CUT: f64 = 36.0;
/// Panel length of the 32-point rule in units of the distance to the nearest singularity.
const LONG_REACH: f64 = 3.0;
/// More panels than any admissible parameter needs.
const MAX_PANELS: usize = 4000;

/// A left end of a panel and the mass above it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Knot {
    /// Distance from the mode.
    pub(super) x: f64,
    /// P[X > x].
    pub(super) mass: f64,
}

/// A law with the suffix sums of its mass.
#[derive(Debug, Clone)]
pub(super) struct Tail {
    pub(super) shape: Shape,
    /// Ascending; the last one stands for the whole tail beyond it.
    pub(super) knots: Vec<Knot>,
}

impl Tail {
    /// The panels, with the masses still to be filled in from the right.
    pub(super) fn unfilled(shape: Shape) -> Self {
        let mut xs = walk(&shape, -1.0, LEFT_DEVIANCE);
        xs.reverse();
        xs.push(0.0);
        xs.append(&mut walk(&shape, 1.0, RIGHT_DEVIANCE));
        Self { shape, knots: xs.into_iter().map(|x| Knot { x, mass: 0.0 }).collect() }
    }

    pub(super) fn new(shape: Shape) -> Self {
        let mut tail = Self::unfilled(shape);
        for k in (0..tail.knots.len()).rev() {
            tail.knots[k].mass = tail.mass_above(tail.knots[k].x);
        }
        tail
    }

    /// The density at distance x from the mode.
    pub(super) fn density(&self, x: f64) -> f64 {
        (self.shape.log_peak - self.shape.deviance(x)).exp()
    }

    /// The index of the panel that x lies in: the largest k with knots[k].x <= x; None left of the table.
    pub(super) fn locate(&self, x: f64) -> Option<usize> {
        self.knots.partition_point(|knot| knot.x <= x).checked_sub(1)
    }

    /// Whether panel `k` is the open one.
    pub(super) fn is_open(&self, k: usize) -> bool {
        k + 1 == self.knots.len()
    }

    /// P[X > x].
    pub(super) fn mass_above(&self, x: f64) -> f64 {
        match self.locate(x) {
            None => self.knots[0].mass,
            Some(k) if self.is_open(k) => self.density(x) * self.mills(x, 0.0),
            Some(k) => self.panel(x, self.knots[k + 1].x - x) + self.knots[k + 1].mass,
        }
    }

    fn panel(&self, x: f64, h: f64) -> f64 {
        wide(
            #[inline(always)]
            || self.pieces(x, h).1.iter().sum(),
        )
    }

    /// The nodes of the 12-point rule on a panel at x, which lies in the table, and what each adds to its mass.
    #[inline(always)]
    pub(super) fn pieces(&self, x: f64, h: f64) -> ([f64; 12], [f64; 12]) {
        let (nodes, mut pieces) = rule_12(h);
        let deviances = self.shape.deviances(&each(&nodes, |u| x + u));
        let densities = each(&deviances, |deviance| lanes::exp(self.shape.log_peak - deviance));
        for (piece, density) in pieces.iter_mut().zip(densities) {
            *piece *= density;
        }
        (nodes, pieces)
    }

    /// The integral of density(x + u) exp(-r u) / density(x) over u > 0, where D' + r is positive from x on.
    pub(super) fn mills(&self, x: f64, r: f64) -> f64 {
        let at_x = self.shape.deviance(x);
        let fall = |u: f64| self.shape.deviance(x + u) - at_x + r * u;
        let (mut start, mut sum) = (0.0, 0.0);
        for _ in 0..MAX_PANELS {
            let h = self.long_step(x, start, r, &fall);
            nodes_32(start, h, |u, weight| sum += weight * (-fall(u)).exp());
            start += h;
            if fall(start) >= CUT || h == 0.0 {
                break;
            }
        }
        sum + rest(&fall, start, self.shape.slope(x + start) + r)
    }

    /// The length of the next panel of the 32-point rule at x + start: to the cut, or as far as it converges.
    pub(super) fn long_step(&self, x: f64, start: f64, r: f64, fall: &impl Fn(f64) -> f64) -> f64 {
        let mut h = (CUT - fall(start)).max(0.0) / (self.shape.slope(x + start) + r);
        // D is convex: the first guess reaches at least as deep as asked; a few steps bring it near the cut.
        for _ in 0..60 {
            let reached = fall(start + h);
            if reached <= CUT + 4.0 {
                break;
            }
            h *= ((CUT + 2.0) / reached).max(0.2);
        }
        h.min(LONG_REACH * self.shape.distance(x + start))
    }
}

/// What lies beyond the cut, as an exponential of the slope there; an upper bound, since D is convex.
fn rest(fall: &impl Fn(f64) -> f64, start: f64, slope: f64) -> f64 {
    if slope > 0.0 { (-fall(start)).exp() / slope } else { 0.0 }
}

/// Panel ends from the mode outwards until D reaches `target`.
fn walk(shape: &Shape, direction: f64, target: f64) -> Vec<f64> {
    let mut xs = Vec::with_capacity(24);
    let mut x = 0.0;
    let mut at_x = 0.0;
    while at_x < target && xs.len() < MAX_PANELS {
        let mut h = shape.distance(x).min(PANEL_WIDTH / shape.curvature(x).sqrt());
        let mut next = shape.deviance(x + direction * h);
        for _ in 0..60 {
            let change = next - at_x;
            let bend = h * (shape.curvature(x + direction * h)).sqrt();
            if change <= PANEL_DEVIANCE && bend <= PANEL_WIDTH {
                break;
            }
            h *= (0.95 * PANEL_DEVIANCE / change).min(0.95 * PANEL_WIDTH / bend).clamp(0.3, 0.9);
            next = shape.deviance(x + direction * h);
        }
        x += direction * h;
        at_x = next;
        xs.push(x);
    }
    xs
}
