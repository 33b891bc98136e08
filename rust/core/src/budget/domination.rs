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
        let between = Between::new(self.step, h);
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
                    everywhere &= before.value.min(here.value) >= between.dip(&before, &here);
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

/// What is known between two grid points from what is known at both.
struct Between {
    /// h^2/8 and (e^h - 1)^2/8, rounded up.
    eighth: f64,
    bend: f64,
    /// The terms of r'''' in between are at most so many times those at one of the ends: each of them is at most what it is
    /// at the nearer end, times what a normal density grows by on the way, and both ends together are twice the larger one.
    spread: f64,
}

impl Between {
    fn new(step: f64, h: f64) -> Self {
        Self {
            eighth: 0.125 * h * h * (1.0 + ROUNDING),
            bend: 0.125 * h.exp_m1() * h.exp_m1() * (1.0 + ROUNDING),
            spread: 2.0 * (0.5 * step * step).exp(),
        }
    }

    /// The supremum of -r'', and zero, from above.
    fn falling(&self, before: &Difference, here: &Difference) -> f64 {
        let fourth = self.spread * before.fourth.max(here.fourth);
        (before.falling.max(here.falling) + self.eighth * fourth).max(0.0)
    }

    /// The supremum of r, and zero, from above.
    fn convexity(&self, before: &Difference, here: &Difference) -> f64 {
        (before.convexity.max(here.convexity) + self.eighth * self.falling(before, here)).max(0.0)
    }

    /// By how much f is below its chord at most.
    fn dip(&self, before: &Difference, here: &Difference) -> f64 {
        self.bend * self.convexity(before, here)
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

#[cfg(test)]
mod tests {
    use super::super::oracle::{self, threshold};
    use super::*;

    fn side(atoms: &[(f64, f64)], infinite: f64) -> Side {
        Side { atoms: atoms.to_vec(), infinite }
    }

    /// Skewed, of three atoms, and not all of it finite.
    fn three() -> Law {
        oracle::law(&[0.2, 0.3, 0.4999999], &[0.23, 0.33, 0.44])
    }

    const JUMPS: Jumps = Jumps { often: 0.5, height: 0.3, rising: 1 };

    /// He_n(t) phi(t)/width^(n+1), summed: the n-th derivative of the density of the losses, but for its sign.
    fn derivative(side: &Side, square: f64, eps: f64, order: u32) -> f64 {
        let width = square.sqrt();
        let term = |&(loss, mass): &(f64, f64)| {
            let t = (eps - loss) / width - 0.5 * width;
            let hermite = match order {
                0 => 1.0,
                2 => t * t - 1.0,
                4 => t.powi(4) - 6.0 * t * t + 3.0,
                _ => unreachable!(),
            };
            mass * hermite * (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt()
        };
        side.atoms.iter().map(term).sum::<f64>() / width.powi(order as i32 + 1)
    }

    #[test]
    fn a_composed_profile_and_its_derivatives_are_what_they_should_be() {
        let law = three();
        for (square, eps, step) in [(0.04, 0.0, 0.0), (0.04, 0.3, 0.2), (0.3, 0.11, 0.0625), (2.0, 1.5, 1.0)] {
            for side in &law.sides {
                let at = side.composed(square, eps, step);
                let exact = oracle::composed(side, square, eps);
                assert!((at.value - exact).abs() <= 1e-13 * at.scale, "{} {exact}", at.value);
                // The rounding error is relative to what is subtracted from.
                let scale = side.atoms.iter().map(|(loss, mass)| mass * oracle::first_tail(square, eps - loss));
                assert!((at.scale / (scale.sum::<f64>() + side.infinite) - 1.0).abs() < 1e-13);
                let up = side.profile_up(square, eps);
                assert!(up >= exact * (1.0 - 1e-15) && up <= exact + 1e-12, "{up} {exact}");
                // In x = exp(eps) the second derivative is w/x^2, that is W'' - W' in eps.
                let d = 1e-3;
                let near = |k: f64| oracle::composed(side, square, eps + k * d);
                let bend = (near(1.0) - 2.0 * near(0.0) + near(-1.0)) / (d * d) - (near(1.0) - near(-1.0)) / (2.0 * d);
                assert!((bend - at.density).abs() < 1e-4 * at.density, "{bend} {}", at.density);
                for (order, got) in [(0, at.density), (2, at.curvature)] {
                    assert!((got - derivative(side, square, eps, order)).abs() < 1e-12 * got.abs());
                }
                let width = square.sqrt();
                for k in -8..=8 {
                    // In units of the width losses of the next point are as far away as here.
                    let t = |loss: f64| (eps - loss) / width - 0.5 * width;
                    let near = eps + f64::from(k) / 8.0 * step * width;
                    let terms = side.atoms.iter().map(|&(loss, mass)| {
                        let phi = (-0.5 * t(loss).powi(2)).exp() / (2.0 * std::f64::consts::PI).sqrt();
                        let z = t(loss) + (near - eps) / width;
                        mass * phi * (z.powi(4) - 6.0 * z * z + 3.0).abs() / width.powi(5)
                    });
                    assert!(at.fourth >= terms.sum::<f64>());
                }
            }
        }
        // Far from the middle z^4 is all that counts, and the next point may be further out.
        for t in [-10.0_f64, 10.0] {
            let (step, phi) = (1.0, (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt());
            let far = t.abs() + step;
            let fourth = side(&[(-0.5, 1.0)], 0.0).composed(1.0, t, step).fourth;
            assert!(fourth >= phi * (far.powi(4) - 6.0 * far * far + 3.0), "{fourth}");
        }
        // He_4(i a), where nothing cancels.
        assert_eq!([0.0, 1.0, 2.0].map(hermite_4), [3.0, 10.0, 43.0]);
        // At the middle of a normal density nothing is lost.
        let fourth = side(&[(-0.5, 1.0)], 0.0).composed(1.0, 0.0, 0.0).fourth;
        assert!((fourth / (3.0 / (2.0 * std::f64::consts::PI).sqrt()) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn a_profile_alone_is_rounded_up() {
        for side in &three().sides {
            for eps in [0.0, 0.05, 0.1, 0.12, 0.5] {
                let (up, exact) = (side.alone_up(eps), oracle::alone(side, eps));
                assert!(up > exact * (1.0 + 1e-13) && up <= exact * (1.0 + 1e-12) || up == 0.0, "{up} {exact}");
            }
        }
    }

    /// f at a point, its exact bounds there, and what the grid says.
    fn difference(law: &Side, square: f64, target: &Side, wide: f64, gain: f64, eps: f64, step: f64) -> Difference {
        Difference::new(&law.composed(square, eps, step), &target.composed(wide, eps, step), wide, gain)
    }

    #[test]
    fn a_difference_errs_on_the_unfavourable_side() {
        let (law, target) = (&three().sides[0], oracle::jumps(0.2, 0.3, true));
        for (square, wide, gain) in [(0.04, 0.05, 0.0), (0.3, 0.5, 1e-3), (1.0, 1.01, 0.2)] {
            for eps in [0.0, 0.1, 0.6] {
                let at = difference(law, square, &target, wide, gain, eps, 0.1);
                let (value, above) = (oracle::composed(law, square, eps), oracle::composed(&target, wide, eps));
                let exact = above + gain - (1.0 + gain) * value;
                let r = derivative(&target, wide, eps, 0) - (1.0 + gain) * derivative(law, square, eps, 0);
                let falling = (1.0 + gain) * derivative(law, square, eps, 2) - derivative(&target, wide, eps, 2);
                assert!(at.value <= exact && at.value >= exact - 3e-12, "{} {exact}", at.value);
                assert!(at.convexity >= r && at.convexity <= r + 1e-11 / square.sqrt(), "{} {r}", at.convexity);
                // What is taken off is more than the rounding of the terms, which cancel.
                let terms = at.fourth * wide;
                assert!(at.falling - falling >= 1e-13 * terms && at.falling - falling < 1e-12 * terms);
                let fourth =
                    target.composed(wide, eps, 0.1).fourth + (1.0 + gain) * law.composed(square, eps, 0.1).fourth;
                assert!((at.fourth / fourth - 1.0).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn bounds_between_grid_points_hold_and_are_no_looser_than_their_order() {
        let nothing = side(&[], 0.0);
        // A normal density whose highest point is in the middle of an interval: that is where the bounds are sharp.
        for step in [0.05, 0.1, 0.2, 0.5] {
            for wide in [0.04_f64, 1.0, 2.0] {
                let (width, top) = (wide.sqrt(), (2.0 * std::f64::consts::PI * wide).sqrt().recip());
                let h = step * width;
                let target = side(&[(0.5 * h - 0.5 * wide, 1.0)], 0.0);
                let at = |eps: f64| difference(&nothing, 1.0, &target, wide, 0.0, eps, step);
                let (between, before, here) = (Between::new(step, h), at(0.0), at(h));
                let (falling, convexity) = (between.falling(&before, &here), between.convexity(&before, &here));
                // -r'' and r at the top; r'''' is counted twice, and as if nothing cancelled.
                assert!(falling >= top / wide, "{step} {wide}");
                assert!(falling <= top / wide * (1.0 + 0.375 * step.powi(2) + 6.0 * step.powi(4)), "{step} {wide}");
                assert!(
                    convexity >= top && convexity <= top * (1.0 + 0.06 * step.powi(4) + step.powi(6)),
                    "{step} {wide}"
                );
                let f = |eps: f64| oracle::composed(&target, wide, eps);
                let (from, to) = (f(0.0), f(h));
                let dip = between.dip(&before, &here);
                let mut deepest = 0.0_f64;
                for k in 1..32 {
                    let eps = f64::from(k) / 32.0 * h;
                    deepest = deepest.max(from + (to - from) * eps.exp_m1() / h.exp_m1() - f(eps));
                }
                assert!(dip >= deepest, "{step} {wide}: {dip} {deepest}");
                // x^2 is larger in the middle than where the interval begins.
                assert!(dip <= deepest * h.exp() * (1.0 + 0.3 * step * step), "{step} {wide}: {dip} {deepest}");
            }
        }
    }

    #[test]
    fn bounds_between_grid_points_hold_where_densities_cross() {
        let (law, jumped) = (three(), oracle::jumps(0.2, 0.3, true));
        for direction in 0..2 {
            for (square, wide, gain, step) in [(0.04, 0.05, 1e-4, 0.5), (0.04, 0.05, 0.0, 1.5), (0.3, 0.33, 0.05, 1.0)]
            {
                let h = step * f64::sqrt(square);
                let between = Between::new(step, h);
                let law = &law.sides[direction];
                for i in 0..8 {
                    let (from, to) = (f64::from(i) * h, f64::from(i + 1) * h);
                    let at = |eps| difference(law, square, &jumped, wide, gain, eps, step);
                    let (before, here) = (at(from), at(to));
                    let falling = between.falling(&before, &here);
                    let convexity = between.convexity(&before, &here);
                    let least = before.value.min(here.value) - between.dip(&before, &here);
                    assert!(falling >= 0.0 && convexity >= 0.0);
                    for k in 0..=40 {
                        let eps = from + f64::from(k) / 40.0 * h;
                        let both = |order| {
                            let own = derivative(law, square, eps, order);
                            derivative(&jumped, wide, eps, order) - (1.0 + gain) * own
                        };
                        assert!(both(0) <= convexity && -both(2) <= falling);
                        assert!(both(4) <= between.spread * before.fourth.max(here.fourth));
                        let f = oracle::composed(&jumped, wide, eps) + gain
                            - (1.0 + gain) * oracle::composed(law, square, eps);
                        assert!(f >= least, "{f} {least}");
                    }
                }
            }
        }
    }

    /// The least m by f at many points.
    fn dense(law: &Law, jumps: &Jumps, square: f64, rate: f64, leak: f64) -> f64 {
        let points: Vec<Vec<(f64, f64)>> = law
            .sides
            .iter()
            .map(|side| {
                let at = (0..600).map(|k| f64::from(k) / 50.0 * square.sqrt());
                at.map(|eps| (eps, oracle::composed(side, square, eps))).take_while(|at| at.1 > 1e-16).collect()
            })
            .collect();
        threshold(1e-9, 4.0 * square, |m| {
            points.iter().enumerate().all(|(direction, points)| {
                let target = if jumps.is_none() {
                    side(&[(0.0, 1.0)], 0.0)
                } else {
                    oracle::jumps(jumps.often * m, jumps.height, direction == jumps.rising)
                };
                let gain = (leak + rate * m).exp_m1();
                points.iter().all(|(eps, left)| {
                    oracle::composed(&target, square + m, *eps) + gain - (1.0 + gain) * left >= -1e-15
                })
            })
        })
    }

    #[test]
    fn prices_dominate_on_a_dense_grid_and_are_hardly_dearer() {
        let response = oracle::law(&[0.54, 0.46], &[0.46, 0.54]);
        let bells = oracle::bells(0.3, 0.2);
        let turned = Law { sides: bells.sides.iter().rev().cloned().collect() };
        for (name, law, jumps, square, rate, leak) in [
            ("response", &response, Jumps::NONE, 0.05, 1e-4, 0.0),
            ("three atoms", &three(), Jumps::NONE, 0.1, 1e-5, 2e-7),
            ("bells", &bells, Jumps::NONE, 0.5, 1e-4, 1e-6),
            ("turned", &turned, Jumps::NONE, 0.5, 1e-4, 1e-6),
            ("jumps", &bells, Jumps { rising: 0, ..JUMPS }, 0.5, 1e-3, 0.0),
            ("turned jumps", &turned, JUMPS, 0.5, 1e-3, 0.0),
        ] {
            let exact = dense(law, &jumps, square, rate, leak);
            for hint in [0.01 * exact, exact, 3.0 * exact] {
                let found = price(law, &jumps, square, rate, leak, hint, 100.0 * exact).unwrap().unwrap();
                assert!(found >= exact * (1.0 - 1e-9), "{name} {hint}: {found} {exact}");
                assert!(found <= exact * (1.0 + 3e-3), "{name} {hint}: {found} {exact}");
            }
            assert_eq!(price(law, &jumps, square, rate, leak, exact, 0.99 * exact).unwrap(), None);
        }
    }

    #[test]
    fn coarse_grids_certify_nothing_that_is_not_so() {
        let bells = oracle::bells(0.3, 0.2);
        for (law, jumps, square, rate) in [
            (&three(), Jumps::NONE, 0.1, 1e-4),
            (&bells, Jumps::NONE, 0.5, 1e-3),
            (&bells, Jumps { rising: 0, ..JUMPS }, 0.5, 1e-3),
        ] {
            let exact = dense(law, &jumps, square, rate, 2e-7);
            for step in [0.2, 0.35, 0.5, 0.7] {
                let grid = Grid::new(law, square, step, 2e-7 + 0.3 * rate * exact).unwrap().unwrap();
                let at = |m: f64| grid.holds(m, 2e-7 + rate * m, &jumps);
                let (sampled, certified) = (threshold(1e-9, 9.0, |m| at(m).0), threshold(1e-9, 9.0, |m| at(m).1));
                assert!(sampled <= exact * (1.0 + 1e-6) && certified >= exact * (1.0 - 1e-9));
                assert!(step > 0.2 || certified <= exact * (1.0 + 3e-3), "{certified} {exact}");
            }
        }
    }

    #[test]
    fn a_grid_says_nothing_of_what_is_beyond_its_last_point() {
        let law = three();
        let (square, leak) = (0.1, 2e-7);
        for (end, whole) in [(1e-3, false), (1.05e-7, true)] {
            let grid = Grid::new(&law, square, 0.02, end).unwrap().unwrap();
            assert!(grid.sides.iter().all(|points| points.last().unwrap().value <= end));
            assert!(grid.sides.iter().all(|points| points[points.len() - 2].value > end));
            assert_eq!(grid.holds(0.05, leak, &Jumps::NONE), (true, whole));
        }
        // Where v is no small number: (1 + v) W <= v.
        let leak = 0.1_f64;
        for (told, whole) in [(0.094, true), (0.1, false)] {
            let law = Law { sides: vec![side(&[(0.0, 1.0 - told)], told)] };
            let grid = Grid::new(&law, square, 0.02, told + 1e-9).unwrap().unwrap();
            assert_eq!(grid.holds(0.05, leak, &Jumps::NONE).1, whole, "{told}");
        }
        // What tells more than the leak is above it far out, and a grid that never gets there has no end.
        assert!(Grid::new(&law, square, 0.02, 0.9e-7).unwrap().is_none());
        let grid = Grid::new(&law, square, 0.02, 1.05e-7).unwrap().unwrap();
        assert!(!grid.holds(0.05, 0.95e-7, &Jumps::NONE).1);
    }

    #[test]
    fn one_direction_that_does_not_hold_is_enough() {
        let (mild, dear) = (oracle::bells(0.1, 0.0), oracle::bells(0.3, 0.0));
        let sides = |first: &Law, second: &Law| Law { sides: vec![first.sides[0].clone(), second.sides[1].clone()] };
        let holds =
            |law: &Law, m: f64| Grid::new(law, 0.5, 0.0625, 1e-9).unwrap().unwrap().holds(m, 2e-9, &Jumps::NONE);
        assert_eq!(holds(&sides(&mild, &mild), 0.05), (true, true));
        assert_eq!(holds(&sides(&mild, &dear), 0.05), (false, false));
        assert_eq!(holds(&sides(&dear, &mild), 0.05), (false, false));
        // With jumps also where the curve has one direction: the one in which they do not add to losses is the dearer.
        let one = Law { sides: vec![dear.sides[0].clone()] };
        for rising in 0..2 {
            let jumps = Jumps { often: 2.0, height: 0.5, rising };
            let alone = |direction: usize| {
                threshold(1e-3, 1.0, |m| {
                    let target = oracle::jumps(jumps.often * m, jumps.height, direction == rising);
                    (0..100).map(|k| f64::from(k) / 20.0).all(|eps| {
                        oracle::composed(&target, 0.5 + m, eps) - oracle::composed(&one.sides[0], 0.5, eps) >= -2e-9
                    })
                })
            };
            let grid = Grid::new(&one, 0.5, 0.0625, 1e-9).unwrap().unwrap();
            let found = threshold(1e-3, 1.0, |m| grid.holds(m, 2e-9, &jumps).0);
            assert!(alone(1 - rising) > 1.05 * alone(rising));
            assert!((found / alone(1 - rising) - 1.0).abs() < 1e-2, "{found} {} {}", alone(0), alone(1));
        }
    }

    #[test]
    fn the_least_is_found_from_any_guess_and_was_asked_for() {
        for exact in [1e-5, 0.3, 17.0] {
            for hint in [1e-3, 0.999, 1.0, 1.001, 1e3].map(|factor| factor * exact) {
                let asked = std::cell::RefCell::new(Vec::new());
                let holds = |m: f64| {
                    asked.borrow_mut().push(m);
                    m >= exact
                };
                let found = least(hint, 1e4 * exact, holds).unwrap();
                assert!(found >= exact && found <= exact * (1.0 + ACCURACY) * (1.0 + 1e-12), "{hint} {found} {exact}");
                assert!(asked.borrow().contains(&found));
                assert!(asked.borrow().len() < 40, "{}", asked.borrow().len());
            }
            assert_eq!(least(exact, 0.999 * exact, |m| m >= exact), None);
            assert_eq!(least(1e-3 * exact, 0.999 * exact, |m| m >= exact), None);
            let most = 1.0001 * exact;
            assert!(least(1e-3 * exact, most, |m| m >= exact).is_some_and(|found| found >= exact && found <= most));
        }
        // What holds everywhere has no least; far below the guess is enough.
        let found = least(1.0, 2.0, |_| true).unwrap();
        assert!(found > 0.0 && found < 1e-2);
    }

    #[test]
    fn a_curve_is_below_a_pair_exactly_from_where_a_dense_grid_says_so() {
        let below = |side: &Side, square: f64, leak: f64| {
            (0..2000).all(|k| {
                let eps = f64::from(k) / 500.0;
                let told = -(-leak).exp_m1();
                told + (1.0 - told) * oracle::gaussian(square, eps) >= oracle::alone(side, eps) * (1.0 - 1e-14)
            })
        };
        let bells = oracle::bells(0.3, 0.2);
        for (law, leak) in
            [(&oracle::law(&[0.54, 0.46], &[0.46, 0.54]), 0.0), (&three(), 2e-7), (&three(), 0.02), (&bells, 1e-6)]
        {
            let mut dearest = 0.0_f64;
            for side in &law.sides {
                let exact = threshold(1e-6, 9.0, |square| below(side, square, leak));
                let found = threshold(1e-6, 9.0, |square| side_is_below(side, square, leak));
                assert!(found >= exact * (1.0 - 1e-6) && found <= exact * (1.0 + 1e-3), "{found} {exact}");
                dearest = dearest.max(found);
            }
            assert!(is_below(law, dearest * 1.0001, leak) && !is_below(law, dearest * 0.9999, leak));
        }
        // What tells everything does so with the leak at most.
        let telling = side(&[(0.0, 0.99)], 0.01);
        let leak = -(-0.01_f64).ln_1p();
        assert!(side_is_below(&telling, 0.0, leak * 1.000_001) && !side_is_below(&telling, 9.0, leak * 0.999));
        assert!(side_is_below(&telling, 1e-4, leak * 1.000_001));
        assert!(!side_is_below(&side(&[(0.1, 0.5), (0.0, 0.5)], 0.0), 0.0, 0.03));
        assert!(side_is_below(&side(&[(0.1, 0.5), (0.0, 0.5)], 0.0), 0.0, 0.05));
    }

    #[test]
    fn tangents_are_below_a_pair_and_what_is_above_a_side_is_so_in_between() {
        let (square, leak) = (0.09_f64, 1e-3);
        let target = Leaky { square, kept: exp_down(-leak), told: -exp_m1_up(-leak) };
        let exact = |eps: f64| 1.0 - (-leak).exp() * (1.0 - oracle::gaussian(square, eps));
        for eps in [0.0, 0.1, 0.5, 1.0] {
            let (value, fall) = target.lower(eps);
            assert!(value <= exact(eps) && value > exact(eps) - 1e-11);
            // The slope in x = exp(eps), times x.
            let slope = (exact(eps + 1e-5) - exact(eps - 1e-5)) / 2e-5;
            assert!((fall + slope).abs() < 1e-8, "{fall} {slope}");
        }
        let none = Leaky { square: 0.0, ..target };
        assert_eq!(none.lower(0.3), (none.told, 0.0));
        // Chords of one atom beyond the interval, from far below the pair to above it.
        let (mut above, mut not) = (0, 0);
        for (start, end) in [(0.0, 0.05), (0.0, 0.3), (0.1, 0.5), (0.2, 1.0), (0.4, 0.45)] {
            // Among them a line that touches the pair in the middle of the interval, and is below it at both ends.
            let middle = 0.5 * (start + end);
            let (value, fall) = target.lower(middle);
            let touching = middle - (fall / (value + fall)).ln();
            let heavy = value + fall;
            let cases = [0.0, 0.01, 0.1, 0.5].map(|beyond| (end + beyond, 0.25)).into_iter();
            for (loss, heavy) in cases.chain([(touching, heavy)]).filter(|case| case.0 >= end) {
                let mut before = true;
                for mass in (1..1000).map(|k| f64::from(k) / 500.0 * heavy).filter(|mass| *mass <= 1.0) {
                    let side = side(&[(loss, mass), (-0.1, 1.0 - mass)], 0.0);
                    let points = (0..=100).map(|k| start + f64::from(k) / 100.0 * (end - start));
                    let room = points.map(|eps| exact(eps) - oracle::alone(&side, eps)).fold(f64::INFINITY, f64::min);
                    let says = target.is_above(&side, start, end);
                    assert!(!says || room >= 0.0, "{start} {end} {loss} {mass}: {room}");
                    // More mass is never better, and two tangents miss the pair by a part of what it bends.
                    assert!(before || !says);
                    let bend = 0.25 * (end - start).powi(2) * 1.4 * (end - start).exp();
                    assert!(says || room <= bend, "{start} {end} {loss} {mass}: {room}");
                    before = says;
                    (above, not) = (above + usize::from(says), not + usize::from(!says));
                }
            }
        }
        assert!(above > 500 && not > 500, "{above} {not}");
    }
}
