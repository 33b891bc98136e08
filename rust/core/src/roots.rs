//! Roots of strictly monotone functions: bracketed, safeguarded, and returned on the side asked for.

use crate::{Error, Result};

/// Evaluations after which a search gives up. Bisection over the doubles needs 64 halvings and at least every
/// ninth evaluation halves, so only a function that is not a function gets here.
const MAX_EVALUATIONS: u32 = 640;

/// Newton steps in a row that may leave the bracket larger than half, as long as the value keeps shrinking.
const MAX_FREE_STEPS: u32 = 8;

/// Which side of the root the returned point lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// At the root or to its left.
    Left,
    /// At the root or to its right.
    Right,
}

/// Whether the function increases or decreases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trend {
    /// f(x) < f(y) for x < y.
    Increasing,
    /// f(x) > f(y) for x < y.
    Decreasing,
}

/// The variable in which steps are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Steps in x.
    Linear,
    /// Steps in ln x, for a positive root whose order of magnitude is unknown.
    Log,
}

/// What to look for, and how.
#[derive(Debug, Clone, Copy)]
pub struct Search {
    /// Name of the routine, for error messages.
    pub routine: &'static str,
    /// The direction of the function.
    pub trend: Trend,
    /// The side wanted.
    pub side: Side,
    /// The variable of the steps.
    pub space: Space,
    /// Largest relative distance between the point returned and the root; 0 asks for neighbouring doubles.
    pub tolerance: f64,
}

/// A point next to the root, with the evidence for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    /// The point, on the side asked for.
    pub x: f64,
    /// The function there; its sign (or zero) is the proof of the side.
    pub value: f64,
    /// The nearest point seen on the other side; equal to `x` when `value` is zero.
    pub beyond: f64,
    /// The side of the root on which `x` lies.
    pub side: Side,
    /// Evaluations spent.
    pub evaluations: u32,
}

/// A point with the function, made increasing, and its first two derivatives there.
#[derive(Clone, Copy)]
struct Point {
    x: f64,
    jet: [f64; 3],
}

/// A counted function, turned so that it increases.
struct Counted<'a, F> {
    f: F,
    search: &'a Search,
    evaluations: u32,
}

impl<F: FnMut(f64) -> [f64; 3]> Counted<'_, F> {
    fn at(&mut self, x: f64) -> Result<Point> {
        self.evaluations += 1;
        let jet = (self.f)(x);
        if jet[0].is_nan() {
            return Err(Error::numerical(self.search.routine, format!("the function is not a number at {x:e}")));
        }
        let sign = if self.search.trend == Trend::Increasing { 1.0 } else { -1.0 };
        Ok(Point { x, jet: jet.map(|v| sign * v) })
    }
}

impl Search {
    /// The root of `f` in `[domain.0, domain.1]`, found from `start` by growing a bracket first.
    ///
    /// `f` returns its value and its first two derivatives, NaN for those that it does not know. It may be
    /// infinite, flat to the last bit, or kinked; only the sign of its value is trusted.
    ///
    /// # Errors
    ///
    /// [`Error::Numerical`] when the sign does not change in the domain, when `f` is not a number at a point
    /// visited, or when the cap on evaluations is reached.
    pub fn solve(&self, f: impl FnMut(f64) -> [f64; 3], start: f64, domain: (f64, f64)) -> Result<Root> {
        let mut f = Counted { f, search: self, evaluations: 0 };
        let (low, high) = self.expand(&mut f, start, domain)?;
        self.polish(&mut f, low, high)
    }

    /// The root of `f` between `low` and `high`, where its signs differ.
    ///
    /// # Errors
    ///
    /// As [`Search::solve`].
    pub fn between(&self, f: impl FnMut(f64) -> [f64; 3], low: f64, high: f64) -> Result<Root> {
        let mut f = Counted { f, search: self, evaluations: 0 };
        let (low, high) = (f.at(low)?, f.at(high)?);
        if !(low.jet[0] <= 0.0 && high.jet[0] >= 0.0 && low.x <= high.x) {
            return Err(self.no_sign_change(low.x, high.x));
        }
        self.polish(&mut f, low, high)
    }

    fn no_sign_change(&self, low: f64, high: f64) -> Error {
        Error::numerical(self.routine, format!("the sign does not change between {low:e} and {high:e}"))
    }

    /// Walks from `start` towards the root with steps that grow doubly exponentially.
    fn expand<F: FnMut(f64) -> [f64; 3]>(
        &self,
        f: &mut Counted<'_, F>,
        start: f64,
        domain: (f64, f64),
    ) -> Result<(Point, Point)> {
        let mut near = f.at(start.clamp(domain.0, domain.1))?;
        let rightwards = near.jet[0] < 0.0;
        let mut growth = 2.0_f64;
        // 2^(2^k) spans all doubles after a dozen steps.
        for _ in 0..64 {
            if near.jet[0] == 0.0 {
                return Ok((near, near));
            }
            let step = match self.space {
                Space::Log if rightwards => near.x * growth,
                Space::Log => near.x / growth,
                Space::Linear if rightwards => near.x + (growth - 1.0) * near.x.abs().max(1.0),
                Space::Linear => near.x - (growth - 1.0) * near.x.abs().max(1.0),
            };
            let far = f.at(step.clamp(domain.0, domain.1))?;
            match (rightwards, far.jet[0] >= 0.0, far.jet[0] <= 0.0) {
                (true, true, _) => return Ok((near, far)),
                (false, _, true) => return Ok((far, near)),
                _ if far.x == near.x => break,
                _ => near = far,
            }
            growth = (growth * growth).min(1e300);
        }
        Err(self.no_sign_change(domain.0, domain.1))
    }

    /// Shrinks a bracket by safeguarded steps until it is as small as the tolerance.
    fn polish<F: FnMut(f64) -> [f64; 3]>(
        &self,
        f: &mut Counted<'_, F>,
        mut low: Point,
        mut high: Point,
    ) -> Result<Root> {
        let mut best = if low.jet[0].abs() <= high.jet[0].abs() { low } else { high };
        let (mut free_steps, mut width) = (0, distance(low.x, high.x));
        loop {
            if low.jet[0] == 0.0 {
                high = low;
            } else if high.jet[0] == 0.0 {
                low = high;
            }
            if distance(low.x, high.x) <= 1 || high.x - low.x <= self.tolerance * low.x.abs().min(high.x.abs()) {
                return Ok(self.choose(low, high, f.evaluations));
            }
            if f.evaluations >= MAX_EVALUATIONS {
                let reason = format!("no convergence between {:e} and {:e}", low.x, high.x);
                return Err(Error::numerical(self.routine, reason));
            }
            let halve = free_steps >= MAX_FREE_STEPS;
            let next = if halve { None } else { self.step(best, low.x, high.x) };
            let point = f.at(next.unwrap_or_else(|| middle(low.x, high.x)))?;
            if point.jet[0] <= 0.0 {
                low = point;
            } else {
                high = point;
            }
            let shrunk = distance(low.x, high.x) <= width / 2;
            if shrunk {
                (free_steps, width) = (0, distance(low.x, high.x));
            } else if point.jet[0].abs() <= 0.5 * best.jet[0].abs() {
                free_steps += 1;
            } else {
                // No progress either way: the next step is a bisection.
                free_steps = MAX_FREE_STEPS;
            }
            if point.jet[0].abs() <= best.jet[0].abs() || best.x < low.x || best.x > high.x || halve {
                best = point;
            }
        }
    }

    /// The Newton or Halley step from `from`, if it falls strictly inside the bracket.
    fn step(&self, from: Point, low: f64, high: f64) -> Option<f64> {
        let [value, first, second] = from.jet;
        let (slope, curvature) = match self.space {
            Space::Linear => (first, second),
            Space::Log => (from.x * first, from.x * first + from.x * from.x * second),
        };
        let newton = -value / slope;
        if !newton.is_finite() || !(slope > 0.0) {
            return None;
        }
        // Halley's correction, held to a factor of two so that a bad curvature cannot do harm.
        let correction = 1.0 + 0.5 * newton * curvature / slope;
        let delta = if correction.is_nan() { newton } else { newton / correction.clamp(0.5, 2.0) };
        let mut x = match self.space {
            Space::Linear => from.x + delta,
            Space::Log => from.x + from.x * delta.exp_m1(),
        };
        // A step below the tolerance is lengthened to it: it crosses the root and closes the bracket.
        let least = self.tolerance * from.x.abs() * 0.75;
        if (x - from.x).abs() < least {
            x = from.x + least.copysign(delta);
        }
        if x == from.x {
            x = if delta > 0.0 { x.next_up() } else { x.next_down() };
        }
        (x > low && x < high).then_some(x)
    }

    fn choose(&self, low: Point, high: Point, evaluations: u32) -> Root {
        let (point, other) = if self.side == Side::Left { (low, high) } else { (high, low) };
        let sign = if self.trend == Trend::Increasing { 1.0 } else { -1.0 };
        Root { x: point.x, value: sign * point.jet[0], beyond: other.x, side: self.side, evaluations }
    }
}

/// The position of a double in the order of all doubles.
fn position(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
}

/// The number of doubles from `low` to `high`.
fn distance(low: f64, high: f64) -> u64 {
    position(high).wrapping_sub(position(low)) as u64
}

/// The double halfway between two in the order of all doubles: 64 halvings end any search.
fn middle(low: f64, high: f64) -> f64 {
    let bits = position(low).wrapping_add((distance(low, high) / 2) as i64);
    f64::from_bits(if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits } as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: Search =
        Search { routine: "test", trend: Trend::Increasing, side: Side::Left, space: Space::Linear, tolerance: 0.0 };

    /// Solves from both sides and checks side, proof and closeness.
    fn check(search: Search, f: impl Fn(f64) -> [f64; 3], start: f64, domain: (f64, f64), root: f64) -> u32 {
        let mut evaluations = 0;
        for side in [Side::Left, Side::Right] {
            let found = Search { side, ..search }.solve(&f, start, domain).unwrap();
            let increasing = if search.trend == Trend::Increasing { 1.0 } else { -1.0 };
            let value = increasing * f(found.x)[0];
            assert_eq!(found.side, side);
            assert!(if side == Side::Left { value <= 0.0 } else { value >= 0.0 }, "{found:?}");
            let slack = (search.tolerance + 4e-16) * root.abs().max(1e-300);
            assert!((found.x - root).abs() <= slack && (found.beyond - root).abs() <= slack, "{found:?} for {root:e}");
            evaluations = evaluations.max(found.evaluations);
        }
        evaluations
    }

    #[test]
    fn positions_order_the_doubles() {
        let xs = [f64::NEG_INFINITY, -1.0, -1e-310, -0.0, 0.0, 1e-310, 1.0, f64::INFINITY];
        assert!(xs.windows(2).all(|w| position(w[0]) <= position(w[1])));
        assert_eq!(middle(-1.0, 1.0), 0.0);
        assert_eq!(distance(1.0, 1.0 + f64::EPSILON), 1);
    }

    #[test]
    fn newton_that_cycles_is_stopped() {
        // x^3 - 2x + 2 cycles between 0 and 1; it is monotone left of -0.82.
        let f = |x: f64| [x * x * x - 2.0 * x + 2.0, 3.0 * x * x - 2.0, 6.0 * x];
        check(SEARCH, f, -1.0, (-1e9, -0.82), -1.769_292_354_238_631_4);
        // sign(x) sqrt|x| throws every Newton step to the other side, to the same distance.
        let g = |x: f64| [(x - 3.0).signum() * (x - 3.0).abs().sqrt(), 0.5 / (x - 3.0).abs().sqrt(), f64::NAN];
        check(SEARCH, g, 100.0, (-1e300, 1e300), 3.0);
        // atan diverges from far away.
        check(
            SEARCH,
            |x: f64| [(x - 3.0).atan(), 1.0 / (1.0 + (x - 3.0).powi(2)), f64::NAN],
            1e9,
            (-1e300, 1e300),
            3.0,
        );
    }

    #[test]
    fn flat_kinked_and_steep_functions_are_solved() {
        // Slope zero at the root, and for all purposes everywhere near.
        check(SEARCH, |x: f64| [(x - 0.5).powi(9), 9.0 * (x - 0.5).powi(8), f64::NAN], 7.0, (-1e3, 1e3), 0.5);
        // A kink with slopes 1e-12 and 1e12.
        let kink = |x: f64| if x < 2.0 { [1e-12 * (x - 2.0), 1e-12, 0.0] } else { [1e12 * (x - 2.0), 1e12, 0.0] };
        check(SEARCH, kink, -1e6, (-1e9, 1e9), 2.0);
        // Overflow on one side, a huge slope on the other; wrong, zero and missing slopes.
        check(SEARCH, |x: f64| [x.exp() - 1e-3, x.exp(), x.exp()], 1e4, (-1e5, 1e5), 1e-3_f64.ln());
        for slope in [0.0, -5.0, 1e-300, f64::INFINITY, f64::NAN] {
            check(SEARCH, |x: f64| [x - 1.75, slope, slope], -40.0, (-1e9, 1e9), 1.75);
        }
        // A step function: the jump is found although no zero exists.
        check(SEARCH, |x: f64| [if x < 0.3 { -1.0 } else { 1.0 }, 0.0, 0.0], 50.0, (-1e9, 1e9), 0.3);
    }

    #[test]
    fn log_space_finds_roots_of_any_magnitude() {
        for exponent in -12..=12 {
            let root = 10.0_f64.powi(exponent);
            let search = Search { space: Space::Log, trend: Trend::Decreasing, tolerance: 1e-14, ..SEARCH };
            let f = |x: f64| [(root / x).ln(), -1.0 / x, 1.0 / (x * x)];
            let n = check(search, f, 1.0, (f64::MIN_POSITIVE, f64::MAX), root);
            assert!(n <= 14, "{n} evaluations for a straight line in ln x");
        }
    }

    #[test]
    fn a_missing_root_is_an_error() {
        assert!(SEARCH.solve(|x| [x.exp(), x.exp(), x.exp()], 0.0, (-700.0, 700.0)).is_err());
        assert!(SEARCH.solve(|_| [f64::NAN; 3], 0.0, (-1.0, 1.0)).is_err());
        assert!(SEARCH.between(|x| [x, 1.0, 0.0], 1.0, 2.0).is_err());
    }
}
