//! Whether a curve followed by a Gaussian pair stays below a larger one with a leak, and perhaps jumps, at every real eps.
//!
//! The question is C x G_k <= 1 - e^-s (1 - V), V = G_(k+m) x T_(c m) (jumps.rs; c = 0 for Gaussian books). With W the
//! profile on the left and v = e^s - 1 it reads
//!
//!   f = V + v - (1 + v) W >= 0.
//!
//! What is said of the other direction at eps > 0 says everything of this one at eps < 0 (law.rs), so eps >= 0 in both
//! directions is enough. In x = exp(eps) the second derivative of f is r/x^2, r = n - (1 + v) w, with n and w the densities
//! of the losses: mixtures of normal ones, whose own derivatives are known. Between grid points at distance h, therefore, with errors of linear interpolation,
//!
//!   f >= min of both ends - (e^h - 1)^2/8 sup r,
//!   r <= max of both ends + h^2/8 sup(-r''),
//!   -r'' <= max of both ends + h^2/8 sup r'''',
//!
//! and the last is bounded term by term. So the supremum over the continuum is certified, not sampled. To the right of the
//! last point W only falls: it is enough that (1 + v) W <= v there.
//!
//! An answer for k holds for every larger k too, and with all the jumps of a book: compose both sides with what more there is.

use super::jumps::Jumps;
use super::law::{Law, Side};
use super::leaky::{self, ROUNDING};
use super::normal::{density, tail};
use crate::rounding::{exp_down, exp_m1_down, exp_m1_up};
use crate::{Result, interrupt};

/// Distance of grid points in standard deviations of the smaller pair, at first.
const STEP: f64 = 0.0625;
/// How often the grid may be made finer.
const REFINEMENTS: u32 = 3;
/// More grid points than this are not worth it.
const MOST_POINTS: usize = 6000;
/// The cost is found to this relative accuracy.
const ACCURACY: f64 = 3e-4;

/// A curve followed by a Gaussian pair, at one eps.
#[derive(Debug, Clone, Copy)]
struct Composed {
    /// W, without its rounding error.
    value: f64,
    /// What the rounding error of W is relative to.
    scale: f64,
    /// w, w'', and a bound of the terms of w'''' around here.
    density: f64,
    curvature: f64,
    fourth: f64,
}

/// |z^4 - 6 z^2 + 3| for |z| <= a.
fn hermite_4(a: f64) -> f64 {
    let square = a * a;
    square * (square + 6.0) + 3.0
}

impl Side {
    fn composed(&self, square: f64, epsilon: f64, step: f64) -> Composed {
        let width = square.sqrt();
        let (mut value, mut scale, mut flat, mut curved, mut fourth) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for &(loss, mass) in &self.atoms {
            let y = epsilon - loss;
            let t = y / width - 0.5 * width;
            let phi = density(t);
            let upper = tail(t, phi);
            value += mass * (upper - leaky::other_tail(t, width, y, phi));
            scale += mass * upper;
            let weight = mass * phi;
            flat += weight;
            curved += weight * (t * t - 1.0);
            fourth += weight * hermite_4(t.abs() + step);
        }
        Composed {
            value: value + self.infinite,
            scale: scale + self.infinite,
            density: flat / width,
            curvature: curved / (width * square),
            fourth: fourth / (width * square * square),
        }
    }

    /// An upper bound of the profile, followed by a Gaussian pair, at one eps.
    pub(super) fn profile_up(&self, square: f64, epsilon: f64) -> f64 {
        let at = self.composed(square, epsilon, 0.0);
        at.value + ROUNDING * at.scale
    }

    /// An upper bound of the profile itself.
    fn alone_up(&self, epsilon: f64) -> f64 {
        let above = self.atoms.iter().filter(|(loss, _)| *loss > epsilon);
        let value: f64 = above.map(|(loss, mass)| mass * -(epsilon - loss).exp_m1()).sum();
        (value + self.infinite) * (1.0 + ROUNDING)
    }
}

/// The left side on a grid.
struct Grid {
    square: f64,
    step: f64,
    sides: Vec<Vec<Composed>>,
}

impl Grid {
    /// Points from zero to where W is at most `end`; none if there would be too many.
    fn new(law: &Law, square: f64, step: f64, end: f64) -> Result<Option<Self>> {
        let width = square.sqrt();
        let mut sides = Vec::with_capacity(law.sides.len());
        for side in &law.sides {
            let mut points: Vec<Composed> = Vec::new();
            loop {
                interrupt::check()?;
                let point = side.composed(square, points.len() as f64 * step * width, step);
                points.push(point);
                if point.value <= end {
                    break;
                }
                if points.len() > MOST_POINTS {
                    return Ok(None);
                }
            }
            sides.push(points);
        }
        Ok(Some(Self { square, step, sides }))
    }

    /// Whether f >= 0 at the points, and whether everywhere.
    fn holds(&self, added: f64, leak: f64, jumps: &Jumps) -> (bool, bool) {
        let (square, gain) = (self.square + added, exp_m1_down(leak));
        let h = self.step * self.square.sqrt();
        let eighth = 0.125 * h * h * (1.0 + ROUNDING);
        let bend = 0.125 * h.exp_m1() * h.exp_m1() * (1.0 + ROUNDING);
        let spread = 2.0 * (0.5 * self.step * self.step).exp();
        let mut everywhere = true;
        // A pair with jumps has two directions, also where the curve has one.
        let directions = if jumps.is_none() { self.sides.len() } else { 2 };
        for direction in 0..directions {
            let points = &self.sides[direction.min(self.sides.len() - 1)];
            let target = jumps.law(added, direction, false);
            let mut before: Option<Difference> = None;
            for (i, point) in points.iter().enumerate() {
                let above = target.composed(square, i as f64 * h, self.step);
                let here = Difference::new(point, &above, square, gain);
                // What is no number proves nothing.
                if !(here.value >= 0.0) {
                    return (false, false);
                }
                if let Some(before) = before {
                    let fourth = spread * before.fourth.max(here.fourth);
                    let falling = (before.falling.max(here.falling) + eighth * fourth).max(0.0);
                    let convexity = (before.convexity.max(here.convexity) + eighth * falling).max(0.0);
                    everywhere &= before.value.min(here.value) >= bend * convexity;
                }
                before = Some(here);
            }
            let last = points[points.len() - 1];
            everywhere &= (1.0 + gain) * (last.value + ROUNDING * last.scale) <= gain * (1.0 - ROUNDING);
        }
        (true, everywhere)
    }
}

/// f and what bounds it between points, each with its rounding error on the unfavourable side.
struct Difference {
    value: f64,
    /// r, from above.
    convexity: f64,
    /// -r'', from above.
    falling: f64,
    /// Terms of r'''' in absolute value.
    fourth: f64,
}

impl Difference {
    fn new(point: &Composed, above: &Composed, square: f64, gain: f64) -> Self {
        let times = 1.0 + gain;
        let fourth = above.fourth + times * point.fourth;
        let value = above.value + gain - times * point.value;
        Self {
            value: value - 2.0 * ROUNDING * (above.scale + times * point.scale + gain),
            convexity: above.density - times * point.density + ROUNDING * (above.density + times * point.density),
            // The terms of n'' and w'' are at most those of n'''' and w'''' times the square of the larger width.
            falling: times * point.curvature - above.curvature + 2.0 * ROUNDING * fourth * square,
            fourth,
        }
    }
}

/// The least m, nearly, with C x G_k <= D_(m, leak + rate m) x T_(c m) x G_k everywhere, k = `square`; none up to `most`.
///
/// `hint` is a guess of m. The result is certified for this k and so for every larger one.
pub(super) fn price(
    law: &Law,
    jumps: &Jumps,
    square: f64,
    rate: f64,
    leak: f64,
    hint: f64,
    most: f64,
) -> Result<Option<f64>> {
    let mut step = STEP;
    let mut best: Option<f64> = None;
    for _ in 0..=REFINEMENTS {
        let Some(grid) = Grid::new(law, square, step, -exp_m1_up(-leak) + 0.3 * rate * hint)? else {
            break;
        };
        let total = |m: f64| leak + rate * m;
        let Some(sampled) = least(hint, most, |m| grid.holds(m, total(m), jumps).0) else {
            return Ok(None);
        };
        let certified = least(sampled, most, |m| grid.holds(m, total(m), jumps).1);
        best = match (best, certified) {
            (Some(best), Some(new)) => Some(best.min(new)),
            (best, new) => best.or(new),
        };
        if best.is_some_and(|best| best <= sampled * (1.0 + 4.0 * ACCURACY)) {
            break;
        }
        step *= 0.5;
    }
    Ok(best)
}

/// The least m <= `most`, nearly, for which `holds`; it is asked at the m that is returned.
fn least(hint: f64, most: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    let (mut low, mut high);
    high = hint.min(most);
    let mut factor = 1.0 + 2.0 * ACCURACY;
    if holds(high) {
        loop {
            low = high / factor;
            if !holds(low) {
                break;
            }
            high = low;
            factor *= factor;
            if factor > 1e6 {
                return Some(high);
            }
        }
    } else {
        loop {
            if high >= most {
                return None;
            }
            (low, high) = (high, (high * factor).min(most));
            factor *= factor;
            if holds(high) {
                break;
            }
        }
    }
    while high > low * (1.0 + ACCURACY) {
        let middle = (low * high).sqrt();
        if !(middle > low && middle < high) {
            break;
        }
        if holds(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// Whether the curve itself is below D_(M,S) everywhere: a last spend, after which nothing is left. Jumps beside it would
/// only raise D.
pub(super) fn is_below(law: &Law, square: f64, leak: f64) -> bool {
    law.sides.iter().all(|side| side_is_below(side, square, leak))
}

fn side_is_below(side: &Side, square: f64, leak: f64) -> bool {
    let target = Leaky { square, kept: exp_down(-leak), told: -exp_m1_up(-leak) };
    let width = 0.02 * square.sqrt().max(1e-3);
    let mut losses: Vec<f64> = vec![0.0];
    losses.extend(side.atoms.iter().map(|atom| atom.0).filter(|loss| *loss > 0.0));
    side.infinite <= target.told
        && losses.windows(2).all(|pair| {
            let pieces = ((pair[1] - pair[0]) / width).ceil().clamp(1.0, MOST_POINTS as f64);
            let h = (pair[1] - pair[0]) / pieces;
            (0..pieces as usize).all(|i| {
                let start = pair[0] + i as f64 * h;
                let end = if i + 1 == pieces as usize { pair[1] } else { start + h };
                target.is_above(side, start, end)
            })
        })
}

/// V = 1 - e^-S (1 - G_M) from below; convex in x = exp(eps), so above its tangents.
struct Leaky {
    square: f64,
    /// e^-S and 1 - e^-S, rounded down.
    kept: f64,
    told: f64,
}

impl Leaky {
    /// V, and minus its slope times x.
    fn lower(&self, epsilon: f64) -> (f64, f64) {
        if self.square <= 0.0 {
            return (self.told, 0.0);
        }
        let (value, scale) = leaky::profile(self.square, epsilon);
        // -x G'(x) = exp(eps) Q(t + mu) = Q(t) - G. What rounding may do to the slope is taken off the value.
        ((value - 4.0 * ROUNDING * scale) * self.kept + self.told, (scale - value) * self.kept)
    }

    /// Whether V is above the side between these two eps, between which the side is linear in x.
    fn is_above(&self, side: &Side, start: f64, end: f64) -> bool {
        let (from, to) = (side.alone_up(start), side.alone_up(end));
        let ((at_start, fall_start), (at_end, fall_end)) = (self.lower(start), self.lower(end));
        // u = (x - x_start)/x_start runs from 0 to g. Both tangents are above the chord if they are at its ends, and
        // where they meet.
        let g = (end - start).exp_m1();
        let fall_end = fall_end * (start - end).exp();
        let meet = (at_start - at_end - fall_end * g) / (fall_start - fall_end);
        let meet = if fall_start > fall_end { meet.clamp(0.0, g) } else { 0.0 };
        let chord = from + (to - from) * (meet / g);
        let tangents = (at_start - fall_start * meet).min(at_end + fall_end * (g - meet));
        from <= at_start && to <= at_end && chord * (1.0 + ROUNDING) <= tangents
    }
}
