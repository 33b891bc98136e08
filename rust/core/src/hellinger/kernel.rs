//! The inner loops of enumeration: distances and weights of many candidates, without branches, so that they vectorise.
//!
//! Only IEEE additions, multiplications and square roots: the same bits on every platform, given the same scores.

/// 1.5 * 2^52: added and subtracted, it rounds to the nearest integer, which it leaves in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first ends in zeros, so that its product with a small integer is exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
/// Below exp(-LEAST) nothing is told apart.
const LEAST: f64 = 708.0;

/// 1/14!, ..., 1/2!: the next term is below 2e-17 of exp(r) - 1 for |r| <= ln(2)/2.
const INVERSE_FACTORIALS: [f64; 13] = [
    1.0 / 87_178_291_200.0,
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    1.0 / 2.0,
];

/// s = k ln 2 + r: 2^k and exp(r) - 1.
#[inline(always)]
fn split(s: f64) -> (f64, f64) {
    let s = s.max(-LEAST);
    let rounded = s * std::f64::consts::LOG2_E + ROUND;
    let k = rounded - ROUND;
    let r = (s - k * LN2_HIGH) - k * LN2_LOW;
    let exponent = (rounded.to_bits() as i64).wrapping_sub(ROUND.to_bits() as i64);
    let scale = f64::from_bits(((exponent + 1023) << 52) as u64);
    let mut tail = 0.0;
    for coefficient in INVERSE_FACTORIALS {
        tail = tail * r + coefficient;
    }
    (scale, r + r * r * tail)
}

/// sqrt(1 - exp(s)) for s <= 0, to a few units in the last place.
#[inline(always)]
pub(super) fn distance(s: f64) -> f64 {
    let (scale, less_one) = split(s);
    // (1 - 2^k) is exact, and for k < 0 at least 1/2; for k = 0 what is left is -(exp(s) - 1).
    ((1.0 - scale) - scale * less_one).max(0.0).sqrt()
}

/// exp(-x) for x >= 0, to a few units in the last place; exp(-708) beyond.
#[inline(always)]
pub(super) fn exp_negative(x: f64) -> f64 {
    let (scale, less_one) = split(-x);
    scale + scale * less_one
}

/// Distances of a run of candidates: sqrt(1 - exp(prefix + first[k] + second[k])).
pub(super) fn distances(prefix: f64, first: &[f64], second: &[f64], out: &mut [f64]) {
    for ((out, a), b) in out.iter_mut().zip(first).zip(second) {
        *out = distance(prefix + a + b);
    }
}

/// Four partial sums, so that a long sum keeps its digits and the loop its speed.
pub(super) fn sum(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let mut parts = [0.0; 4];
    for (index, value) in values.enumerate() {
        parts[index % 4] += value;
    }
    (parts[0] + parts[1]) + (parts[2] + parts[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_agree_with_the_library_functions() {
        for i in 0..40_000 {
            let s = -(f64::from(i) * 0.002 - 40.0).exp();
            let expected = (-s.exp_m1()).sqrt();
            assert!((distance(s) / expected - 1.0).abs() < 4e-16, "{s}");
            if s > -700.0 {
                assert!((exp_negative(-s) / s.exp() - 1.0).abs() < 5e-16, "{s}");
            }
        }
        assert_eq!(distance(0.0), 0.0);
        assert_eq!(distance(f64::NEG_INFINITY), 1.0);
        assert_eq!(exp_negative(0.0), 1.0);
    }
}
