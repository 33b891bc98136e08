//! Eight numbers of single precision side by side, as processors take them; the same operations in the same order on
//! every processor, so that a fit does not depend on it.

/// Components that are handled together.
pub(super) const LANES: usize = 8;

/// One value for each of eight components.
pub(super) type Lane = [f32; LANES];

/// Applies a function to each lane of two values.
#[inline(always)]
pub(super) fn map2(a: Lane, b: Lane, f: impl Fn(f32, f32) -> f32) -> Lane {
    std::array::from_fn(|l| f(a[l], b[l]))
}

/// The sum of the lanes.
#[inline(always)]
pub(super) fn sum(a: Lane) -> f32 {
    ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}

/// exp for x in [-87, 0], to three units in the last place.
#[inline(always)]
pub(super) fn exp(x: Lane) -> Lane {
    x.map(exp_one)
}

/// 2^23 + 2^22: a double of half the size loses its fraction when this is added, and keeps it as an integer.
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts; the first has few digits, so that its multiples are exact.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;

#[inline(always)]
fn exp_one(x: f32) -> f32 {
    let x = x.clamp(-87.0, 0.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    // Taylor's polynomial of degree 7 on |r| <= ln(2)/2: its next term is below 2^-27.
    let p = 1.0 / 5040.0;
    let p = p * r + 1.0 / 720.0;
    let p = p * r + 1.0 / 120.0;
    let p = p * r + 1.0 / 24.0;
    let p = p * r + 1.0 / 6.0;
    let p = p * r + 0.5;
    let p = (p * r + 1.0) * r + 1.0;
    // 2^n for n from -126 to 0, by its exponent bits.
    let bits = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    p * f32::from_bits(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_that_of_the_library() {
        for i in 0..=870_000 {
            let x = i as f32 * -1e-4;
            let expected = f64::from(x).exp();
            let off = (f64::from(exp_one(x)) - expected).abs() / expected;
            assert!(off < 3.0 * f64::from(f32::EPSILON), "{x} {off}");
        }
        assert_eq!(exp_one(0.0), 1.0);
    }
}
