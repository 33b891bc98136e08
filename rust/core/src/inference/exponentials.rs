//! Many exponentials at once, in vectors.

use crate::wide;

/// 1.5 * 2^52: a sum with it has a whole number of units, which stands in its last digits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// ln 2 in two parts, the first with so few digits that its multiples by whole numbers below 2^11 are exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Exponents below are taken for this: some 1e-304.
const LEAST: f64 = -700.0;

/// 1 / k!: on [-ln 2 / 2, ln 2 / 2] the terms beyond come to less than 5e-18.
const TERMS: [f64; 14] = {
    let mut terms = [1.0; 14];
    let mut k = 1;
    while k < terms.len() {
        terms[k] = terms[k - 1] / k as f64;
        k += 1;
    }
    terms
};

/// exp(x) for x <= 1, with a relative error below 1e-15.
#[inline(always)]
fn exponential(x: f64) -> f64 {
    let x = if x > LEAST { x } else { LEAST };
    let shifted = x * std::f64::consts::LOG2_E + ROUNDER;
    let whole = shifted - ROUNDER;
    let rest = (x - whole * LN_2_HIGH) - whole * LN_2_LOW;
    let mut sum = TERMS[TERMS.len() - 1];
    let mut k = TERMS.len() - 1;
    while k > 0 {
        k -= 1;
        sum = sum * rest + TERMS[k];
    }
    // The whole number in the last digits becomes the exponent of a power of two.
    sum * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52))
}

/// exp(logs[i] + tilt i - top), where no exponent may be above one.
pub(super) fn exponentials(logs: &[f64], tilt: f64, top: f64) -> Vec<f64> {
    let mut values = logs.to_vec();
    wide::widest(
        #[inline(always)]
        || {
            for (i, value) in values.iter_mut().enumerate() {
                *value = exponential(*value + (tilt * i as f64 - top));
            }
        },
    );
    values
}

/// The largest logs[i] + tilt i, and the first and last place where it is above that minus `depth`.
pub(super) fn likely(logs: &[f64], tilt: f64, depth: f64) -> (f64, usize, usize) {
    let at = |i: usize| logs[i] + tilt * i as f64;
    let top = wide::widest(
        #[inline(always)]
        || {
            let mut tops = [f64::NEG_INFINITY; 8];
            let whole = logs.len() / 8 * 8;
            for first in (0..whole).step_by(8) {
                for (lane, top) in tops.iter_mut().enumerate() {
                    let value = logs[first + lane] + tilt * (first + lane) as f64;
                    *top = if value > *top { value } else { *top };
                }
            }
            (whole..logs.len()).map(at).chain(tops).fold(f64::NEG_INFINITY, f64::max)
        },
    );
    let first = (0..logs.len()).find(|&i| at(i) > top - depth).unwrap_or(0);
    let last = (0..logs.len()).rev().find(|&i| at(i) > top - depth).unwrap_or(0);
    (top, first, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_the_standard_library() {
        let logs: Vec<f64> = (0..20_000).map(|i| -f64::from(i) * 0.034_9 + 0.9).collect();
        for (i, (value, log)) in exponentials(&logs, 0.0, 0.0).iter().zip(&logs).enumerate() {
            let exact = log.max(LEAST).exp();
            assert!((value - exact).abs() <= 1e-15 * exact, "{i}: {value:e} {exact:e}");
        }
        assert_eq!(exponentials(&[f64::NEG_INFINITY], 0.0, 0.0), [LEAST.exp()]);
        let tilted = exponentials(&[0.0, -1.0, -2.0], 0.5, 0.25);
        assert!(tilted.iter().enumerate().all(|(i, v)| (v - (-0.25 - 0.5 * i as f64).exp()).abs() < 1e-15));
    }

    #[test]
    fn the_likely_ones_are_found_under_any_tilt() {
        let logs: Vec<f64> = (0..37).map(|i| -0.1 * f64::from(i - 9).powi(2)).collect();
        let (top, first, last) = likely(&logs, 0.0, 1.7);
        assert_eq!((top, first, last), (0.0, 5, 13));
        // -0.1 (i - 9)^2 + 4 i = -0.1 (i - 29)^2 + 76
        let (top, first, last) = likely(&logs, 4.0, 0.5);
        assert!((top - 76.0).abs() < 1e-12 && (first, last) == (27, 31));
    }
}
