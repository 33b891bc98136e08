//! One exact exponential draw, Gamma(1): 255 rectangles under exp(-x), and a tail that is the curve once more.
//!
//! Only integers decide in 98 of 100 draws, and no logarithm is taken for the value (docs/exactness.md, section 3).

use super::elementary::ln;
use super::exact;
use super::exponential_table::{AREA, FLOOR, INNER, WIDTH};
use super::gamma::{Drawn, MARGIN, MAX_ATTEMPTS, Normal, Path, ROUNDING, TAIL};
use super::lazy::{Id, LazyBits};
use crate::random::Bits;

/// Positions inside a rectangle have this many bits.
pub(super) const POSITION_BITS: u32 = 52;

/// The unit of the position inside a rectangle.
pub(super) const UNIT: f64 = 1.0 / (1u64 << POSITION_BITS) as f64;

/// Of 2^52 first bits of a uniform all but these last ones keep the tail at once: exp(-r)/area > 1 - 2^-40.
const TAIL_IN_DOUBT: u64 = 1 << 12;

/// Draws from this word, and from more where it is not enough.
///
/// Beyond the edge r of the rectangles the law is that of r + another draw: each step there adds r.
/// `None` after `MAX_ATTEMPTS` words that gave nothing, each with a probability below 0.02.
pub(super) fn draw<B: Bits>(source: &mut LazyBits<B>, first: (u64, Id), path: Path) -> Option<Drawn> {
    let (mut next, mut steps) = (Some(first), 0);
    for _ in 0..MAX_ATTEMPTS {
        let (word, id) = next.take().unwrap_or_else(|| source.word());
        let layer = (word & 0xff) as u32;
        let position = word >> (64 - POSITION_BITS);
        if layer == TAIL {
            // The tail's cover is a little higher than the curve; its own uniform is the position.
            let surely = path == Path::Fast && position < (1 << POSITION_BITS) - TAIL_IN_DOUBT;
            steps += u32::from(surely || exact::exponential_tail_keeps(source, (position, id)));
            continue;
        }
        let normal = Normal { word, id, layer, steps };
        if position < INNER[layer as usize] || under_curve(source, &normal, path) {
            let (value, error) = value_and_error(position as f64 + 0.5, WIDTH[layer as usize] * UNIT);
            let before = f64::from(steps) * WIDTH[0];
            // The product and the sum round once each.
            return Some(Drawn { normal, value: before + value, error: error + 2.2 * ROUNDING * (before + value) });
        }
    }
    None
}

/// The middle of a position's cell, `middle` units from zero, and how far the ideal may be from it.
#[inline(always)]
pub(super) fn value_and_error(middle: f64, unit: f64) -> (f64, f64) {
    let value = middle * unit;
    // Half a cell, and the rounding of the product.
    (value, 0.51 * unit + 1.01 * ROUNDING * value)
}

/// Whether the point at a height of its own, beyond the inner part of its rectangle, lies under the curve.
#[cold]
#[inline(never)]
fn under_curve<B: Bits>(source: &mut LazyBits<B>, normal: &Normal, path: Path) -> bool {
    let (v, v_id) = source.word();
    let layer = normal.layer as usize;
    let width = WIDTH[layer];
    let x = ((normal.word >> (64 - POSITION_BITS)) as f64 + 0.5) * (width * UNIT);
    // Y + V area/width < exp(-x), compared as logarithms.
    let y = FLOOR[layer] + (v as f64 / 18_446_744_073_709_551_616.0) * (AREA / width);
    let gap = if y > 1e-3 { -x - ln(y) } else { 0.0 };
    if path == Path::Fast && gap.abs() > MARGIN {
        gap > 0.0
    } else {
        exact::under_exponential(source, normal, (v, v_id))
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::super::interval::Context;
    use super::*;
    use crate::random::StreamKey;

    #[test]
    fn the_error_of_a_draw_is_within_its_bound() {
        let context = Context::new(256);
        let mut source = LazyBits::new(StreamKey::from_bytes([4; 32]).stream(0));
        let (mut n_steps, mut n_beyond_a_third) = (0, 0);
        for _ in 0..20_000 {
            let first = source.word();
            let drawn = draw(&mut source, first, Path::Fast).unwrap();
            n_steps += drawn.normal.steps;
            let ideal = exact::exponential(&context, &source, &drawn.normal);
            let above = context.double(drawn.value + drawn.error);
            let below = context.double(drawn.value - drawn.error);
            assert_ne!(ideal.compare(&above), Some(Ordering::Greater));
            assert_ne!(ideal.compare(&below), Some(Ordering::Less));
            let third = context.double(drawn.value + drawn.error / 3.0);
            n_beyond_a_third += usize::from(ideal.compare(&third) == Some(Ordering::Greater));
        }
        assert!(n_steps > 20);
        // The bound is not so wide that a mistake in it could not show.
        assert!(n_beyond_a_third > 1000, "{n_beyond_a_third}");
    }

    #[test]
    fn the_tail_is_kept_but_for_its_last_bits() {
        let mut source = LazyBits::new(StreamKey::from_bytes([4; 32]).stream(0));
        let (_, id) = source.word();
        assert!(exact::exponential_tail_keeps(&source, ((1 << POSITION_BITS) - TAIL_IN_DOUBT - 1, id)));
    }
}
