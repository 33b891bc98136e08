//! One exact gamma draw: decisions in doubles, by margins, and in intervals where the margins overlap.
//!
//! For X with a density proportional to `(1 + c x)^(3a-1) exp(-delta (1 + c x)^3)` on `1 + c x > 0` the variable
//! `delta (1 + c X)^3` has the law Gamma(a), for every c and delta > 0. So c and delta may be doubles near
//! `1/(3 sqrt(a - 1/3))` and `a - 1/3`, and a itself enters one rare decision only (docs/exactness.md, section 4).

use super::elementary::ln;
use super::exact;
use super::lazy::{Id, LazyBits};
use super::normal_table::{AREA, FLOOR, INNER, WIDTH};
use crate::random::Bits;

/// Rejections in a row after which a draw gives up: each has a probability below 0.1, so 2^-850 in all.
pub(super) const MAX_ATTEMPTS: usize = 256;

/// The layer that stands for the tail, and the tail with a negative sign.
pub(super) const TAIL: u32 = 255;
pub(super) const NEGATIVE_TAIL: u32 = 256;

/// Positions inside a rectangle have this many bits, and a sign.
pub(super) const POSITION_BITS: u32 = 51;

/// The unit of the position inside a rectangle.
pub(super) const UNIT: f64 = 1.0 / (1u64 << POSITION_BITS) as f64;

/// A decision by doubles needs this distance; the errors stay below it by a factor of 2^10 at least.
pub(super) const MARGIN: f64 = 1e-9;

/// ln of the bound of target over proposal: what the rounding of c and delta can cost (section 4).
pub(super) const LOG_EXCESS_BITS: u64 = 30;
const LOG_EXCESS: f64 = 1.0 / (1u64 << LOG_EXCESS_BITS) as f64;

/// c sqrt(delta) = (1 + 2^-20)/3: a little above 1/3, so that the normal dominates.
const C_TIMES_ROOT: f64 = (1.0 + 1.0 / 1_048_576.0) / 3.0;

/// Normal variates beyond this, of probability 10^-57, are left to intervals.
const FAR: f64 = 16.0;

/// The shape scale * count + prior, an exact rational, with the doubles that its draw uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) scale: f64,
    pub(super) count: f64,
    pub(super) prior: f64,
    /// 1 when the draw is made at shape + 1 and multiplied by a uniform to the power 1/shape.
    pub(super) boost: bool,
    /// Whether the shape is one exactly: an exponential, which has a draw of its own.
    pub(super) exponential: bool,
    pub(super) delta: f64,
    pub(super) c: f64,
}

impl Shape {
    /// The shape in doubles: relative error at most 2^-52, as both terms are non-negative.
    #[inline(always)]
    pub(super) fn rounded(scale: f64, count: f64, prior: f64) -> f64 {
        scale * count + prior
    }

    /// delta of the shape a: a - 1/3, or a + 2/3 where the draw is boosted, to four roundings.
    #[inline(always)]
    pub(super) fn delta(a: f64) -> f64 {
        (if a < 1.0 { a + 1.0 } else { a }) - 1.0 / 3.0
    }

    /// c for delta.
    #[inline(always)]
    pub(super) fn factor(delta: f64) -> f64 {
        C_TIMES_ROOT / delta.sqrt()
    }

    #[inline]
    pub(super) fn new(scale: f64, count: f64, prior: f64) -> Self {
        let a = Self::rounded(scale, count, prior);
        let delta = Self::delta(a);
        let exponential = Self::is_one(scale, count, prior);
        Self { scale, count, prior, boost: a < 1.0, exponential, delta, c: Self::factor(delta) }
    }

    /// Whether scale * count + prior is one, as rationals.
    #[inline(always)]
    pub(super) fn is_one(scale: f64, count: f64, prior: f64) -> bool {
        let product = scale * count;
        let sum = product + prior;
        // What the product and the sum leave out, by Dekker and by Knuth; scale and count are below 2^60 where it matters, and
        // a product of 2^-500 leaves out nothing below the doubles. Smaller ones make no sum exactly one.
        let (a, b) = (split(scale), split(count));
        let rest = ((a.0 * b.0 - product) + a.0 * b.1 + a.1 * b.0) + a.1 * b.1;
        let back = sum - product;
        let left = (product - (sum - back)) + (prior - back);
        (sum == 1.0) & (left == 0.0) & ((count == 0.0) | ((rest == 0.0) & (product > TINY)))
    }
}

/// Where the variate of a proposal comes from, a normal or an exponential one: enough to compute it again with more bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Normal {
    pub(super) word: u64,
    pub(super) id: Id,
    pub(super) layer: u32,
    /// How often an exponential draw went beyond the edge of the rectangles.
    pub(super) steps: u32,
}

/// 2^-500.
const TINY: f64 = f64::from_bits((1023 - 500) << 52);

/// Two parts of 26 bits at most that sum to x: products of such parts are exact.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    let scaled = 134_217_729.0 * x;
    let high = scaled - (scaled - x);
    (high, x - high)
}

/// Whether doubles may decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Doubles decide where their margins allow.
    Fast,
    /// Every decision goes to interval arithmetic: for tests, slow, with the same outputs.
    Exact,
}

/// Half a unit in the last place, relative: the error of one rounding.
pub(super) const ROUNDING: f64 = 1.0 / (1u64 << 53) as f64;

/// A drawn gamma variate in doubles.
pub(super) struct Drawn {
    pub(super) normal: Normal,
    /// `delta (1 + c x)^3`; not a number where doubles do not know it.
    pub(super) value: f64,
    /// How far the ideal variate may be away.
    pub(super) error: f64,
}

/// The signed position that a word gives: 52 bits above the layer's eight, and four that nobody reads.
#[inline]
pub(super) fn position(word: u64) -> i64 {
    (word >> (63 - POSITION_BITS)) as i64 - (1 << POSITION_BITS)
}

/// The first bits of a draw's first attempt.
#[derive(Clone, Copy)]
pub(super) struct First {
    /// The proposal's word.
    pub(super) word: (u64, Id),
    /// The half word that decides the acceptance of what is proposed first.
    pub(super) half: (u32, Id),
}

/// Draws X at the given shape, from these bits and more where they are not enough.
///
/// `None` after `MAX_ATTEMPTS` rejections.
pub(super) fn draw<B: Bits>(source: &mut LazyBits<B>, shape: &Shape, first: First, path: Path) -> Option<Drawn> {
    let (mut next, mut half) = (Some(first.word), Some(first.half));
    for _ in 0..MAX_ATTEMPTS {
        let (word, id) = next.take().unwrap_or_else(|| source.word());
        let layer = (word & 0xff) as usize;
        let j = position(word);
        let inner = INNER[layer] as i64;
        let (normal, x) = if (-inner..inner).contains(&j) {
            (Normal { word, id, layer: layer as u32, steps: 0 }, (j as f64 + 0.5) * (WIDTH[layer] * UNIT))
        } else {
            match outer(source, word, id, path) {
                Some(pair) => pair,
                None => continue,
            }
        };
        let s = shape.c * x;
        let t = 1.0 + s;
        let near_zero = !(t > 1e-6);
        if (near_zero || path == Path::Exact) && !exact::is_inside(source, shape, &normal, t, path) {
            continue;
        }
        let (u, u_id) = half.take().unwrap_or_else(|| source.half());
        let accepted = if path == Path::Fast && squeezed(x, s, f64::from(u)) {
            true
        } else {
            accept(source, shape, &normal, x, (u, u_id), path)
        };
        if accepted {
            let (value, error) = value_and_error(shape.delta, shape.c, t, normal.layer < TAIL);
            return Some(Drawn { normal, value: if near_zero { f64::NAN } else { value }, error });
        }
    }
    None
}

/// Whether x is accepted whatever the later bits of the uniform whose first 32 are u.
///
/// ln(target/proposal) > -x^2 ((0.0834 + 0.1159 max(-s, 0)) s^2 + 2^-19) - 2^-20 for s >= -1/2, and |x| < 16 (section 4).
#[inline(always)]
pub(super) fn squeezed(x: f64, s: f64, u: f64) -> bool {
    let below = if s < 0.0 { -s } else { 0.0 };
    let bound = (1.0 - 1.0 / 1024.0 - (0.0837 + 0.1164 * below) * (s * x) * (s * x)) * 4_294_967_296.0;
    (s >= -0.5) & (u + 1.0 <= bound)
}

/// `delta t^3`, and how far it may be from the ideal, for a t = 1 + c x from a rectangle or the tail.
#[inline(always)]
pub(super) fn value_and_error(delta: f64, c: f64, t: f64, rectangle: bool) -> (f64, f64) {
    // The error of t in roundings: 1 + 15 c inside the rectangles, 1 + 77 c in the tail (section 4).
    let spread = if rectangle { 15.0 } else { 77.0 };
    let square = delta * t * t;
    let value = square * t;
    (value, (3.1 * ROUNDING) * (square * (1.0 + spread * c) + value))
}

/// Outside the inner part: the edge of a rectangle, or the tail. `None` is a rejection.
#[cold]
#[inline(never)]
fn outer<B: Bits>(source: &mut LazyBits<B>, word: u64, id: Id, path: Path) -> Option<(Normal, f64)> {
    let layer = (word & 0xff) as u32;
    let j = position(word);
    if layer == TAIL {
        return tail(source, j < 0, path);
    }
    let width = WIDTH[layer as usize];
    let x = (j as f64 + 0.5) * (width * UNIT);
    let normal = Normal { word, id, layer, steps: 0 };
    let (v, v_id) = source.word();
    // Under the curve: Y + V area/width < exp(-x^2/2), compared as logarithms.
    let y = FLOOR[layer as usize] + (v as f64 / 18_446_744_073_709_551_616.0) * (AREA / width);
    let gap = if y > 1e-3 { -0.5 * x * x - ln(y) } else { 0.0 };
    let under = if path == Path::Fast && gap.abs() > MARGIN {
        gap > 0.0
    } else {
        exact::under_curve(source, &normal, (v, v_id))
    };
    under.then_some((normal, x))
}

/// x = +-(r - ln(U)/r), accepted when V < exp(-x^2/2) / (area r U).
fn tail<B: Bits>(source: &mut LazyBits<B>, negative: bool, path: Path) -> Option<(Normal, f64)> {
    let r = WIDTH[0];
    let (word, id) = source.word();
    let (v, v_id) = source.word();
    let normal = Normal { word, id, layer: if negative { NEGATIVE_TAIL } else { TAIL }, steps: 0 };
    let log_u = ln(unit(word));
    // Not a number stands for a variate that doubles do not know: whatever uses it goes to intervals.
    let x = if word >> 48 != 0 && r - log_u / r < FAR { r - log_u / r } else { f64::NAN };
    let gap = if v >> 32 != 0 { -0.5 * x * x - log_u - ln(AREA * r) - ln(unit(v)) } else { f64::NAN };
    let accepted = if path == Path::Fast && gap.abs() > MARGIN {
        gap > 0.0
    } else {
        exact::tail_accepts(source, &normal, (v, v_id))
    };
    accepted.then_some((normal, if negative { -x } else { x }))
}

/// The middle of the cell of a uniform's first 64 bits.
#[inline(always)]
pub(super) fn unit(word: u64) -> f64 {
    (word as f64 + 0.5) / 18_446_744_073_709_551_616.0
}

/// ln U < ln(target/proposal) - excess, past the squeeze.
#[cold]
#[inline(never)]
fn accept<B: Bits>(
    source: &LazyBits<B>,
    shape: &Shape,
    normal: &Normal,
    x: f64,
    (u, u_id): (u32, Id),
    path: Path,
) -> bool {
    let s = shape.c * x;
    let t = 1.0 + s;
    if path == Path::Fast && t > 1e-3 && u > 0 {
        let log_t = ln(t);
        let log_ratio =
            0.5 * x * x * (1.0 - 9.0 * shape.delta * shape.c * shape.c) + 3.0 * shape.delta * cubic_rest(s, log_t);
        let log_u = ln((f64::from(u) + 0.5) / 4_294_967_296.0);
        // The cell of u, the share of 3a - 1 - 3 delta, and the rounding of everything else.
        let margin = 1.0 / f64::from(u) + shape.delta * log_t.abs() * 2f64.powi(-46) + MARGIN * (1.0 + log_ratio.abs());
        let gap = log_ratio - LOG_EXCESS - log_u;
        if gap.abs() > margin {
            return gap > 0.0;
        }
    }
    exact::accepts(source, shape, normal, (u, u_id))
}

/// ln(1+s) - s + s^2/2 - s^3/3, by its series where the difference would cancel.
fn cubic_rest(s: f64, log_t: f64) -> f64 {
    if s.abs() > 0.125 {
        return log_t - s + s * s * (0.5 - s / 3.0);
    }
    let mut sum = 0.0;
    for k in (4..=20).rev() {
        sum = 1.0 / f64::from(k) - s * sum;
    }
    -(s * s) * (s * s) * sum
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::super::interval::Context;
    use super::*;
    use crate::random::StreamKey;

    #[test]
    fn one_is_told_from_its_neighbours() {
        let ulp = f64::EPSILON;
        for (scale, count, prior, is_one) in [
            (0.5, 1.0, 0.5, true),
            (1.0, 0.0, 1.0, true),
            (0.1, 0.0, 1.0, true),
            (1e15, 0.0, 1.0, true),
            (1e15, 9.5e-16, 0.05, false),
            (2f64.powi(-40), 2f64.powi(39), 0.5, true),
            (0.75, 1.0, 0.25, true),
            (1.0 / 3.0, 1.0, 2.0 / 3.0, false),
            (0.1, 9.0, 0.1, false),
            (1.0, 0.0, 1.0 + ulp, false),
            (1.0, 0.0, 1.0 - ulp / 2.0, false),
            (1e-9, 1e-300, 1.0, false),
            (1e-9, 5e-324, 1.0, false),
            (0.5, ulp, 1.0, false),
            (1.0 + ulp, 1.0 - ulp, 0.5, false),
            (1.0 + ulp, 1.0 - ulp, ulp * ulp, false),
            (1.0, f64::NAN, 1.0, false),
            (1.0, f64::INFINITY, 1.0, false),
            (1.0, 1.0, 1e-6, false),
        ] {
            assert_eq!(Shape::is_one(scale, count, prior), is_one, "{scale} * {count} + {prior}");
        }
    }

    #[test]
    fn the_error_of_a_draw_is_within_its_bound() {
        let context = Context::new(256);
        let mut source = LazyBits::new(StreamKey::from_bytes([4; 32]).stream(0));
        let mut n_beyond_a_tenth = 0;
        for a in [1e-6, 0.3, 0.999, 1.0 + f64::EPSILON, 1.5, 5.0, 300.0, 1e6, 1e12, 1e15] {
            let shape = Shape::new(1.0, 0.0, a);
            let mut n_tails = 0;
            for _ in 0..3000 {
                let first = First { word: source.word(), half: source.half() };
                let drawn = draw(&mut source, &shape, first, Path::Fast).unwrap();
                n_tails += usize::from(drawn.normal.layer >= TAIL);
                let ideal = exact::variate(&context, &source, &shape, &drawn.normal).unwrap();
                if drawn.value.is_nan() {
                    continue;
                }
                let above = context.double(drawn.value + drawn.error);
                let below = context.double(drawn.value - drawn.error);
                assert_ne!(ideal.compare(&above), Some(Ordering::Greater), "{a}");
                assert_ne!(ideal.compare(&below), Some(Ordering::Less), "{a}");
                let tenth = context.double(drawn.value + drawn.error / 10.0);
                n_beyond_a_tenth += usize::from(ideal.compare(&tenth) == Some(Ordering::Greater));
            }
            assert!(n_tails > 0);
        }
        // The bound is not so wide that a mistake in it could not show.
        assert!(n_beyond_a_tenth > 100, "{n_beyond_a_tenth}");
    }
}
