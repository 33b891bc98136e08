//! Logarithm and exponential of doubles with an error bound that is proved, not assumed.
//!
//! Only `+ - * /` of IEEE 754 are used, so the results are the same on every platform (docs/exactness.md, section 5).

/// ln 2 in two parts: the first has 26 bits, so products with integers below 2^27 are exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_f800_0000);
const LN2_LOW: f64 = 1.299_650_689_388_988_9e-8;

/// 2^52: its bits with an integer below 2^52 added are those of the sum.
pub(super) const TWO_52: f64 = (1u64 << 52) as f64;

/// Adding and taking away 1.5 2^52 rounds to the nearest integer; its bits with an integer added are those of the sum.
pub(super) const ROUND: f64 = 1.5 * TWO_52;

/// An integer up to 2^52 as a double, exact; vectors of old processors have no instruction for it.
#[inline(always)]
pub(super) fn small(integer: u64) -> f64 {
    f64::from_bits(integer.wrapping_add(TWO_52.to_bits())) - TWO_52
}

/// ln x for a normal x > 0: |error| <= 2^-50 |ln x|.
#[inline(always)]
pub(super) fn ln(x: f64) -> f64 {
    let raw = x.to_bits();
    let mut e = small(raw >> 52) - 1023.0;
    let mut m = f64::from_bits((raw & ((1 << 52) - 1)) | (1023 << 52));
    // m in [sqrt(1/2), sqrt(2)], where |f| = |(m-1)/(m+1)| <= 0.1716.
    if m > std::f64::consts::SQRT_2 {
        m *= 0.5;
        e += 1.0;
    }
    let f = (m - 1.0) / (m + 1.0);
    let s = f * f;
    // 2 atanh f = 2 f (1 + s/3 + s^2/5 + ...); the terms left out are below 2^-62 relative.
    let p = 1.0 / 19.0 + s * (1.0 / 21.0 + s * (1.0 / 23.0));
    let p = 1.0 / 13.0 + s * (1.0 / 15.0 + s * (1.0 / 17.0 + s * p));
    let p = 1.0 / 7.0 + s * (1.0 / 9.0 + s * (1.0 / 11.0 + s * p));
    let p = s * (1.0 / 3.0 + s * (1.0 / 5.0 + s * p));
    let log_m = 2.0 * f + (2.0 * f * p);
    e * LN2_HIGH + (e * LN2_LOW + log_m)
}

/// exp x 2^-shift for |x| <= 2^26 and an integer |shift| <= 2^27: |error| <= 2^-50 of the value; 0 below 2^-1000.
#[inline(always)]
pub(super) fn exp_scaled(x: f64, shift: f64) -> f64 {
    let n = (x * std::f64::consts::LOG2_E + ROUND) - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    // |r| <= 0.3467; the series to r^13 leaves out less than 2^-57.
    let p = 1.0 / 6_227_020_800.0;
    let p = 1.0 / 39_916_800.0 + r * (1.0 / 479_001_600.0 + r * p);
    let p = 1.0 / 362_880.0 + r * (1.0 / 3_628_800.0 + r * p);
    let p = 1.0 / 5_040.0 + r * (1.0 / 40_320.0 + r * p);
    let p = 1.0 / 120.0 + r * (1.0 / 720.0 + r * p);
    let p = 1.0 / 6.0 + r * (1.0 / 24.0 + r * p);
    let value = 1.0 + (r + r * r * (0.5 + r * p));
    let power = n - shift;
    // From -1000 to 1000, as an exponent's bits.
    let within = if power < -1000.0 { -1000.0 } else { power };
    let within = if within > 1000.0 { 1000.0 } else { within };
    let two_to = f64::from_bits((within + (1023.0 + ROUND)).to_bits() << 52);
    if power < -1000.0 { 0.0 } else { value * two_to }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::super::interval::{Context, Interval};
    use super::*;
    use crate::random::{Bits, StreamKey};

    /// Whether |got - value| <= relative |value|, in intervals that are checked against mpmath.
    fn within(context: &Context, got: f64, value: &Interval, relative: f64) -> bool {
        let error = context.double(got).sub(value);
        let bound = context.mul(value, &context.double(relative));
        let zero = context.integer(0);
        let bound = if value.compare(&zero) == Some(Ordering::Less) { bound.neg() } else { bound };
        error.compare(&bound) != Some(Ordering::Greater) && error.compare(&bound.neg()) != Some(Ordering::Less)
    }

    fn check(n_points: usize) {
        let context = Context::new(256);
        let mut bits = StreamKey::from_bytes([2; 32]).stream(0);
        let mut uniform = || bits.next_u64() as f64 / 18_446_744_073_709_551_616.0;
        for _ in 0..n_points {
            let x = match uniform() {
                choice if choice < 0.3 => uniform(),
                choice if choice < 0.6 => 1.0 + (uniform() - 0.5) * (-30.0 * uniform()).exp(),
                choice if choice < 0.7 => uniform() * 2f64.powi(-60),
                _ => 0.7 + 0.75 * uniform(),
            };
            let value = context.ln(&context.double(x)).unwrap();
            assert!(within(&context, ln(x), &value, 2f64.powi(-50)), "ln {x:e}");
            let x = -uniform() * if uniform() < 0.5 { 5e7 } else { 50.0 };
            let shift = (x / std::f64::consts::LN_2 + 60.0 * (uniform() - 0.5)).round();
            let exact = context.double(x).sub(&context.ln_two().times(shift as i64));
            if let Some(value) = context.exp(&exact) {
                assert!(within(&context, exp_scaled(x, shift), &value, 2f64.powi(-50)), "exp {x:e} {shift}");
            }
        }
    }

    #[test]
    fn logarithm_and_exponential_keep_their_bounds() {
        check(10_000);
    }

    #[test]
    #[ignore = "long: a million points"]
    fn logarithm_and_exponential_keep_their_bounds_at_a_million_points() {
        check(1_000_000);
    }

    #[test]
    fn the_exponential_ends_in_zero_and_at_one() {
        assert_eq!(exp_scaled(0.0, 0.0), 1.0);
        assert_eq!(exp_scaled(-5e7, 0.0), 0.0);
        assert_eq!(ln(1.0), 0.0);
    }
}
