//! exp(-x) for rational x, enclosed between integers to as many bits as asked, and coins with such a bias.

use num_bigint::BigUint;

use super::Rational;
use crate::random::Bits;

/// Integers low and high with low <= 2^bits exp(-x) <= high and high - low <= 3.
pub fn exp_neg_enclosed(x: &Rational, bits: u32) -> (BigUint, BigUint) {
    let one = BigUint::from(1u8);
    if x.numerator == BigUint::ZERO {
        return (&one << bits, one << bits);
    }
    if x.numerator >= &x.denominator * bits {
        // exp(-x) <= exp(-bits) < 2^-bits.
        return (BigUint::ZERO, one);
    }
    // r = x 2^-halvings < 2^-8, in units of 2^-precision. Here x < bits, so halvings <= log2(bits) + 9.
    let halvings = 8 + (&x.numerator / &x.denominator).bits() as u32;
    let precision = bits + 64;
    let r = (&x.numerator << precision) / (&x.denominator << halvings);
    // exp(-r) by its series. r and each term are short by less than two units, the last term is below one unit, and
    // there are fewer than `precision` terms: the sum is off by less than 4 precision units.
    let (mut plus, mut minus, mut term) = (&one << precision, BigUint::ZERO, &one << precision);
    let mut n = 0u32;
    while term != BigUint::ZERO {
        n += 1;
        term = ((term * &r) >> precision) / n;
        *(if n.is_multiple_of(2) { &mut plus } else { &mut minus }) += &term;
    }
    let mut value = plus - minus;
    // A squaring of a number up to 1 doubles the error and adds a unit.
    for _ in 0..halvings {
        value = (&value * &value) >> precision;
    }
    // The error is below 2^halvings (4 precision + 1) units, with halvings <= log2(bits) + 9 and precision = bits + 64
    // below 2^(2 log2(bits + 64) + 12) <= 2^64 for bits <= 2^25: at most one unit of the result either way.
    let nearest = value >> 64u32;
    let low = if nearest == BigUint::ZERO { BigUint::ZERO } else { &nearest - 1u8 };
    (low, nearest + 2u8)
}

/// True with probability p, where `enclose(n)` gives integers low <= 2^n p <= high that close in on p 2^n.
pub(crate) fn coin<B: Bits>(bits: &mut B, enclose: impl Fn(u32) -> (BigUint, BigUint)) -> bool {
    coin_from(bits.next_u64(), bits, enclose)
}

/// The same, with the first 64 bits of the uniform number already drawn.
pub(crate) fn coin_from<B: Bits>(first: u64, bits: &mut B, enclose: impl Fn(u32) -> (BigUint, BigUint)) -> bool {
    let (mut u, mut n) = (BigUint::from(first), 64);
    // A turn is undecided with chance (high - low) 2^-n.
    loop {
        let (low, high) = enclose(n);
        if u < low {
            return true;
        }
        if u >= high {
            return false;
        }
        u = (u << 64u32) | BigUint::from(bits.next_u64());
        n += 64;
    }
}

/// True with probability exp(-x), where `approximate` is x within a factor 1 +- 2^-50.
///
/// Doubles decide unless the uniform number falls within 2^-49 (1 + x) of exp(-x), relatively.
pub(crate) fn coin_exp_neg<B: Bits>(bits: &mut B, approximate: f64, exact: impl Fn() -> Rational) -> bool {
    let first = bits.next_u64();
    let scaled = libm::exp(-approximate) * 2f64.powi(64);
    // exp(-approximate) is off by a factor exp(2^-50 x) and by one unit in the last place, 2^-52.
    let slack = scaled * ((1.0 + approximate) * 2f64.powi(-49));
    let u = first as f64;
    // u and the bounds round once more each: twice 2^-53, covered by the factor 2 in `slack`.
    if u < scaled - slack - 1.0 {
        return true;
    }
    if u > scaled + slack + 1.0 {
        return false;
    }
    coin_from(first, bits, |n| exp_neg_enclosed(&exact(), n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::StreamKey;

    fn rational(numerator: u64, denominator: u64) -> Rational {
        Rational::new("x", numerator.into(), denominator.into()).unwrap()
    }

    #[test]
    fn enclosures_are_narrow_and_consistent_with_products() {
        // exp(-x) exp(-y) = exp(-(x + y)), at widely different numbers of bits.
        for (x, y, d) in
            [(1, 2, 3), (0, 5, 1), (1, 1, 1 << 40), (700, 1, 7), (123, 456, 17), (1, u64::MAX / 2, 1 << 59)]
        {
            for bits in [1, 64, 128, 1000] {
                let enclose = |n| exp_neg_enclosed(&rational(n, d), bits);
                let ((a, b), (c, e), (low, high)) = (enclose(x), enclose(y), enclose(x + y));
                assert!(&high - &low <= BigUint::from(3u8));
                assert!((a * c) >> bits <= high && low <= ((b * e) >> bits) + 1u8);
            }
        }
    }

    #[test]
    fn undecided_coins_come_down_as_the_exact_ones_do() {
        let key = StreamKey::from_bytes([5; 32]);
        let x = rational(1, 3);
        let (mut fast, mut slow) = (key.stream(0), key.stream(0));
        for _ in 0..2000 {
            let a = coin_exp_neg(&mut fast, 1.0 / 3.0, || x.clone());
            assert_eq!(a, coin(&mut slow, |n| exp_neg_enclosed(&x, n)));
        }
    }
}
