//! Shapes below one: a draw at shape + 1, times U^(1/shape).

use super::elementary::{exp_scaled, ln};
use super::gamma::{ROUNDING, unit};

/// Numbers that are worked on side by side where the order matters.
const LANES: usize = 8;

/// The largest of the numbers.
#[inline(always)]
fn largest(values: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f64::NEG_INFINITY; LANES];
    for block in blocks {
        for (lane, &value) in lanes.iter_mut().zip(block) {
            *lane = larger(*lane, value);
        }
    }
    lanes.iter().chain(rest).fold(f64::NEG_INFINITY, |a, &b| larger(a, b))
}

/// Multiplies values and errors by U^(1/a) 2^-e where the shape a is below one, e the largest such power's own exponent (0 if
/// an entry has no such factor, or if the values are not `relative` to each other): small entries keep their logarithm's
/// accuracy, whatever their size. `words` are the first bits of each U, `logs` is room to work in.
#[inline(always)]
pub(super) fn apply(
    words: &[u64],
    shapes: impl Iterator<Item = f64> + Clone,
    logs: &mut Vec<f64>,
    relative: bool,
    (values, errors): (&mut [f64], &mut [f64]),
) {
    // A loop in sight: `extend` would be compiled for the oldest processors.
    logs.resize(words.len(), 0.0);
    for ((&word, a), log) in words.iter().zip(shapes.clone()).zip(logs.iter_mut()) {
        let value = ln(unit(word)) / a;
        *log = if a < 1.0 { value } else { 0.0 };
    }
    let exponent = if relative { (largest(logs) / std::f64::consts::LN_2).round() } else { 0.0 };
    let entries = words.iter().zip(shapes).zip(logs.iter());
    for (((&word, a), &log), (value, error)) in entries.zip(values.iter_mut().zip(errors)) {
        let scaled = exp_scaled(log, exponent);
        // Relative error: logarithm, shape and quotient (12 roundings of the factor's logarithm), the uniform's cell and
        // conversion, exp and product. What exp_scaled returns as 0 is below 2^-999 times a draw below 2^60.
        let cell = (0.51 / word as f64 + 2.1 * ROUNDING) / a;
        let cell = if a < 1.0 { cell } else { 0.0 };
        let relative = 1.01 * (12.0 * ROUNDING * log.abs() + cell + 10.0 * ROUNDING);
        let relative = if relative < 0.01 { relative } else { f64::INFINITY };
        *error = 1.03 * (*error * scaled + *value * scaled * relative) + 1e-250;
        *value *= scaled;
    }
}
