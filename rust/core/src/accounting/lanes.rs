//! Exponentials of several numbers side by side: no branch, no call, so that the compiler uses vectors.

/// ln 2 in two parts: products of the first with integers below 2^27 are exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_f800_0000);
const LN2_LOW: f64 = 1.299_650_689_388_988_9e-8;

/// Added and taken away, it rounds to the nearest integer; that integer stands in the lowest bits of the sum.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Arguments are moved to this range: exp stays in the normal doubles.
const RANGE: f64 = 700.0;

/// 1/k! for k = 2 to 13: for |r| <= ln(2)/2 the series leaves out less than 2^-57.
const SERIES: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// f of each number; unlike `map` of an array a plain loop, which becomes vectors.
#[inline(always)]
pub(super) fn each<const N: usize>(numbers: &[f64; N], f: impl Fn(f64) -> f64) -> [f64; N] {
    let mut values = [0.0; N];
    for (value, number) in values.iter_mut().zip(numbers) {
        *value = f(*number);
    }
    values
}

/// 2^n and exp(r) - 1, where x = n ln 2 + r.
#[inline(always)]
fn parts(x: f64) -> (f64, f64) {
    let x = x.clamp(-RANGE, RANGE);
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let square = r * r;
    // Even and odd powers apart: two chains.
    let (mut even, mut odd) = (0.0, 0.0);
    for pair in SERIES.chunks_exact(2).rev() {
        even = even * square + pair[0];
        odd = odd * square + pair[1];
    }
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    (power, r + square * (even + r * odd))
}

/// exp(x) to two units in the last place, for |x| <= 700.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    let (power, rest) = parts(x);
    power + power * rest
}

/// exp(x) - 1 to a few units in its last place, for |x| <= 700.
#[inline(always)]
pub(super) fn exp_m1(x: f64) -> f64 {
    let (power, rest) = parts(x);
    power * rest + (power - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_agree_with_the_library() {
        for i in -69_900_i32..=69_900 {
            let x = f64::from(i) * 0.01 + 1e-4 / f64::from(i.abs() + 1);
            for (got, want) in [(exp(x), x.exp()), (exp_m1(x), x.exp_m1())] {
                assert!((got - want).abs() <= 8e-16 * want.abs(), "{x}: {got:e} {want:e}");
            }
            let small = x * 1e-6;
            assert!((exp_m1(small) - small.exp_m1()).abs() <= 8e-16 * small.abs(), "{small:e}");
        }
        assert_eq!((exp(0.0), exp_m1(0.0)), (1.0, 0.0));
        assert_eq!(exp(-1e300), exp(-700.0));
    }
}
