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

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<Shape> {
        let mut shapes = vec![Shape::normal(0.0.into())];
        for s in [1e-6, 0.02, 0.5, 3.0, 50.0, 1e4, 1e9, 1e12] {
            shapes.extend([Shape::log_gamma(s.into(), false), Shape::log_gamma(s.into(), true)]);
            for q in [1e-6, 0.7, 12.0, 1e6, 1e12] {
                shapes.push(Shape::logit_beta(s.into(), q.into()));
            }
        }
        shapes
    }

    #[test]
    fn panels_are_no_longer_than_their_rule_is_good_for_and_reach_as_far_as_they_should() {
        for shape in shapes() {
            for (direction, target) in [(1.0, RIGHT_DEVIANCE), (-1.0, LEFT_DEVIANCE)] {
                let mut xs = walk(&shape, direction, target);
                assert!(xs.len() <= 90, "{shape:?}: {}", xs.len());
                xs.insert(0, 0.0);
                for pair in xs.windows(2) {
                    let h = direction * (pair[1] - pair[0]);
                    let change = shape.deviance(pair[1]) - shape.deviance(pair[0]);
                    let bend = h * shape.curvature(pair[0]).max(shape.curvature(pair[1])).sqrt();
                    let room = 1.0 + 1e-6;
                    assert!(
                        h > 0.0 && change <= PANEL_DEVIANCE * room && bend <= PANEL_WIDTH * room,
                        "{shape:?} {pair:?}"
                    );
                    assert!(h <= shape.distance(pair[0]) * room, "{shape:?} {pair:?}");
                }
                let (last, before) = (xs[xs.len() - 1], xs[xs.len() - 2]);
                assert!(shape.deviance(last) >= target && shape.deviance(before) < target, "{shape:?}");
            }
        }
    }

    #[test]
    fn tails_of_exponential_and_normal_laws_have_their_closed_forms() {
        for s in [1e-3, 0.8, 30.0] {
            // Far left the logarithm of a gamma variable falls like exp(s x).
            let tail = Tail::unfilled(Shape::log_gamma(s.into(), true));
            // The slope that is taken off may be all of it but a part in 10^12.
            for r in [0.0, 0.5 * s, s * (1.0 - 1e-12), s, s * (1.0 + 1e-12), 40.0 * s] {
                let found = tail.mills(60.0, r);
                assert!((found * (s + r) - 1.0).abs() < 1e-13, "{s} {r}: {found}");
            }
        }
        // sqrt(pi/2) e^(x^2/2) erfc(x/sqrt(2)), 18 digits (mpmath); a factor exp(-r u) moves x by r.
        let normal = Tail::unfilled(Shape::normal(0.0.into()));
        for (x, exact) in MILLS {
            for r in [0.0, 0.25, 1.5, 7.0] {
                if r <= x {
                    let found = normal.mills(x - r, r);
                    assert!((found / exact - 1.0).abs() < 1e-13, "{x} {r}: {found}");
                }
            }
        }
    }

    const MILLS: [(f64, f64); 5] = [
        (0.5, 0.876_364_456_453_692_347),
        (1.5, 0.515_815_638_217_963_355),
        (3.0, 0.304_590_298_710_103_296),
        (12.5, 0.079_497_529_161_117_212_3),
        (40.0, 0.024_984_404_205_720_571_1),
    ];

    #[test]
    fn masses_are_those_of_closed_forms_on_either_side_of_the_mode() {
        // Beta(1, 1): the logit lies above x with chance 1/(1 + e^x). Gamma(1): its logarithm with chance exp(-e^x).
        let logit = Tail::new(Shape::logit_beta(1.0.into(), 1.0.into()));
        let (up, down) =
            (Tail::new(Shape::log_gamma(1.0.into(), false)), Tail::new(Shape::log_gamma(1.0.into(), true)));
        for i in -160..=2_800 {
            let x = 0.25 * f64::from(i);
            let exact = 1.0 / (1.0 + x.exp());
            assert!((logit.mass_above(x) / exact - 1.0).abs() < 1e-12, "{x}: {:e}", logit.mass_above(x));
            // 1 - exp(-e^-x)
            let exact = -(-(-x).exp()).exp_m1();
            assert!((down.mass_above(x) / exact - 1.0).abs() < 1e-12, "{x}: {:e}", down.mass_above(x));
            let x = 0.04 * x;
            if x < 6.5 {
                let exact = (-x.exp()).exp();
                assert!((up.mass_above(x) / exact - 1.0).abs() < 1e-12, "{x}: {:e}", up.mass_above(x));
            }
        }
    }
}
