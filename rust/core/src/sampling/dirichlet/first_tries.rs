//! What most draws need: one word, one half word and no branch, for many values at a time.
//!
//! A try that integers or the squeeze settle ends here, with the value that `gamma::draw` and `exponential::draw` give; where
//! they do not, the value is not a number, and those go on from the same bits. Which loop a draw ends in is decided by the
//! ideal draw where it reads bits, so results do not depend on it.

use super::elementary::{TWO_52, small};
use super::exponential;
use super::exponential_table;
use super::gamma::{self, squeezed, value_and_error};
use super::normal_table;

/// Width in units of the position, and inner bound: what a layer's try looks up. The tail has nothing inside.
type Layers = [(f64, f64); 256];

const fn layers(width: &[f64; 256], unit: f64, inner: &[u64; 256]) -> Layers {
    let mut layers = [(0.0, 0.0); 256];
    let mut i = 0;
    while i < 256 {
        // Both are exact: a power of two, and an integer of at most 53 bits.
        layers[i] = (width[i] * unit, inner[i] as f64);
        i += 1;
    }
    layers
}

static NORMAL: Layers = layers(&normal_table::WIDTH, gamma::UNIT, &normal_table::INNER);
static EXPONENTIAL: Layers = layers(&exponential_table::WIDTH, exponential::UNIT, &exponential_table::INNER);

/// Exponential draws from their first words.
#[inline(always)]
pub(super) fn exponentials(words: &[u64], values: &mut [f64], errors: &mut [f64]) {
    for ((&word, value), error) in words.iter().zip(values).zip(errors) {
        let (unit, inner) = EXPONENTIAL[(word & 0xff) as usize];
        let middle = small(word >> (64 - exponential::POSITION_BITS)) + 0.5;
        let (inside, bound) = exponential::value_and_error(middle, unit);
        *value = if middle < inner { inside } else { f64::NAN };
        *error = bound;
    }
}

/// Gamma draws from their first words and the halves of their second ones, at delta and c of each.
#[inline(always)]
pub(super) fn gammas(
    (words, halves): (&[u64], &[u32]),
    (deltas, factors): (&[f64], &[f64]),
    values: &mut [f64],
    errors: &mut [f64],
) {
    let bits = words.iter().zip(halves);
    let constants = deltas.iter().zip(factors);
    for (((&word, &half), (&delta, &c)), (value, error)) in bits.zip(constants).zip(values.iter_mut().zip(errors)) {
        let (unit, inner) = NORMAL[(word & 0xff) as usize];
        // The position lies in the middle of its cell, 2^51 below the unsigned one.
        let middle = small(word >> 12) - TWO_52 / 2.0 + 0.5;
        let x = middle * unit;
        let s = c * x;
        let (inside, bound) = value_and_error(delta, c, 1.0 + s, true);
        let settled = (middle.abs() < inner) & squeezed(x, s, small(u64::from(half)));
        *value = if settled { inside } else { f64::NAN };
        *error = bound;
    }
}

/// Values that are looked at together for some that are not settled.
pub(super) const BLOCK: usize = 8;

/// Which blocks of values have some that are not settled.
#[inline(always)]
pub(super) fn open_blocks(values: &[f64], open: &mut Vec<bool>) {
    open.resize(values.len().div_ceil(BLOCK), false);
    let (blocks, rest) = values.as_chunks::<BLOCK>();
    for (block, open) in blocks.iter().zip(open.iter_mut()) {
        *open = block.iter().fold(0, |n, value| n | u64::from(value.is_nan())) != 0;
    }
    if let (false, Some(open)) = (rest.is_empty(), open.last_mut()) {
        *open = rest.iter().any(|value| value.is_nan());
    }
}

#[cfg(test)]
mod tests {
    use super::super::gamma::{First, Path, Shape};
    use super::super::lazy::LazyBits;
    use super::*;
    use crate::random::StreamKey;

    /// Every try that is settled has the value, to the last bit, that the draw by itself has; and most are.
    #[test]
    fn what_is_settled_is_what_is_drawn() {
        let mut source = LazyBits::new(StreamKey::from_bytes([9; 32]).stream(0));
        for a in [0.5, 1.0, 1.5, 5.0, 1e6] {
            let (shape, mut n_settled) = (Shape::new(1.0, 0.0, a), 0);
            for _ in 0..5000 {
                let first = First { word: source.word(), half: source.half() };
                let (mut value, mut error) = ([0.0], [0.0]);
                let drawn = if shape.exponential {
                    exponentials(&[first.word.0], &mut value, &mut error);
                    exponential::draw(&mut source, first.word, Path::Fast)
                } else {
                    let constants: (&[f64], &[f64]) = (&[shape.delta], &[shape.c]);
                    gammas((&[first.word.0], &[first.half.0]), constants, &mut value, &mut error);
                    gamma::draw(&mut source, &shape, first, Path::Fast)
                }
                .unwrap();
                if !value[0].is_nan() {
                    n_settled += 1;
                    assert_eq!(value[0], drawn.value);
                    assert!((error[0] / drawn.error - 1.0).abs() < 1e-12 || shape.exponential);
                }
            }
            // Nine in ten where the squeeze is widest, next to a half.
            assert!(n_settled > 4500, "{n_settled} at {a}");
        }
    }
}
