//! Directed rounding: arithmetic of doubles whose result is on the side that a guarantee needs.
//!
//! `_up` is never below the exact result, `_down` never above it, over all doubles: subnormal ones, results that
//! overflow, infinities. A single operation is the correctly rounded one, so an exact result stays as it is. NaN comes
//! out where the operation has no value (infinity minus infinity, zero times infinity, zero by zero).
//!
//! `x_down(a)` is `-x_up(-a)`, which is exact; so one proof, at `_up`, serves for both.

/// 2^600, 2^1000: products with these are exact as long as they do not overflow.
const TWO_600: f64 = f64::from_bits((1023 + 600) << 52);
const TWO_1000: f64 = f64::from_bits((1023 + 1000) << 52);
/// 2^-480, 2^-800, 2^-960.
const BELOW_480: f64 = f64::from_bits((1023 - 480) << 52);
const BELOW_800: f64 = f64::from_bits((1023 - 800) << 52);
const BELOW_960: f64 = f64::from_bits((1023 - 960) << 52);

/// Units in the last place by which exp, ln and their relatives of the platform's library may be off.
///
/// The standard library promises nothing; the libraries in use state less than one unit, and the tests of this module
/// measure it. Four leaves room for the worst of them.
const LIBRARY_UNITS: u32 = 4;

/// a + b, rounded up.
///
/// Bound: the error of a sum rounded to nearest is a double, found by `two_sum`; where it is positive the next double
/// above the rounded sum is the smallest one that is not below the exact sum.
pub fn sum_up(a: f64, b: f64) -> f64 {
    let (sum, error) = two_sum(a, b);
    if !sum.is_finite() {
        return from_overflow(sum, a, b);
    }
    if error > 0.0 { sum.next_up() } else { sum }
}

/// a + b, rounded down.
pub fn sum_down(a: f64, b: f64) -> f64 {
    -sum_up(-a, -b)
}

/// a b, rounded up.
///
/// Bound: the sign of the exact a b - p, p the rounded product, decides. A fused multiply-add has that sign, unless the
/// difference underflows, which it does not where |p| >= 2^-960: it is a multiple of 2^-104 |p|. Below, at least one
/// factor is smaller than 2^-480. Factors below 2^-480 are scaled exactly, the smaller by 2^1000, the other by 2^600, and
/// p by the same; the difference is then a multiple of 2^-606, and nothing exceeds 2^640.
pub fn product_up(a: f64, b: f64) -> f64 {
    let product = a * b;
    if !product.is_finite() {
        return from_overflow(product, a, b);
    }
    let above = if product.abs() >= BELOW_960 {
        a.mul_add(b, -product)
    } else {
        let (small, other) = if a.abs() <= b.abs() { (a, b) } else { (b, a) };
        let (other, scaled) = if other.abs() < BELOW_480 {
            (other * TWO_600, product * TWO_1000 * TWO_600)
        } else {
            (other, product * TWO_1000)
        };
        (small * TWO_1000).mul_add(other, -scaled)
    };
    if above > 0.0 { product.next_up() } else { product }
}

/// a b, rounded down.
pub fn product_down(a: f64, b: f64) -> f64 {
    -product_up(-a, b)
}

/// a / b, rounded up.
///
/// Bound: a/b is above the rounded quotient q where (a - q b)/b is positive, and a fused multiply-add has the sign of
/// a - q b unless that underflows. It is a multiple of the last places of q and of b, so not below 2^-930 where
/// |a| >= 2^-800. Below, a and the smaller of q and b, which is less than 2^-400, are scaled by 2^600, exactly.
pub fn quotient_up(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if !quotient.is_finite() {
        // Division by zero is exact as a limit; what overflows is not.
        return if b == 0.0 { quotient } else { from_overflow(quotient, a, b) };
    }
    if b.is_infinite() {
        // The limit, exactly.
        return quotient;
    }
    let rest = if a.abs() >= BELOW_800 {
        (-quotient).mul_add(b, a)
    } else {
        let (small, other) = if quotient.abs() <= b.abs() { (quotient, b) } else { (b, quotient) };
        (-small * TWO_600).mul_add(other, a * TWO_600)
    };
    let above = if b > 0.0 { rest > 0.0 } else { rest < 0.0 };
    if above { quotient.next_up() } else { quotient }
}

/// a / b, rounded down.
pub fn quotient_down(a: f64, b: f64) -> f64 {
    -quotient_up(-a, b)
}

/// The square root, rounded up; NaN below zero.
///
/// Bound: the root rounded to nearest is s. x - s^2 is a multiple of 2^-104 x, so a fused multiply-add has its sign where
/// x >= 2^-800; smaller x are scaled by 2^600, s by 2^300, exactly: no root is subnormal.
pub fn sqrt_up(x: f64) -> f64 {
    let root = x.sqrt();
    if !root.is_finite() || root == 0.0 {
        return root;
    }
    let rest = if x >= BELOW_800 {
        (-root).mul_add(root, x)
    } else {
        let root = root * f64::from_bits((1023 + 300) << 52);
        (-root).mul_add(root, x * TWO_600)
    };
    if rest > 0.0 { root.next_up() } else { root }
}

/// The square root, rounded down; NaN below zero.
pub fn sqrt_down(x: f64) -> f64 {
    let up = sqrt_up(x);
    // The correctly rounded root from above: exact if its square is x, else one too high.
    if up.is_finite() && product_up(up, up) == x && product_down(up, up) == x {
        return up;
    }
    if up.is_finite() && up > 0.0 { up.next_down() } else { up }
}

/// The sum of all terms, rounded up.
///
/// Bound: sum and errors of all additions together are exact; the errors are summed up with [`sum_up`]. So the result is
/// not below the exact sum, and above it by at most one unit in its last place and n^2 units of the last place of an
/// error, n the number of terms: once rounded for all practical purposes. A partial sum that overflows is rounded up.
pub fn total_up(terms: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut errors) = (0.0_f64, 0.0);
    for term in terms {
        let (next, error) = two_sum(sum, term);
        if next.is_finite() {
            (sum, errors) = (next, sum_up(errors, error));
        } else {
            (sum, errors) = (sum_up(sum_up(sum, errors), term), 0.0);
        }
    }
    sum_up(sum, errors)
}

/// The sum of all terms, rounded down.
pub fn total_down(terms: impl IntoIterator<Item = f64>) -> f64 {
    -total_up(terms.into_iter().map(|term| -term))
}

/// The product of all factors, none below zero, rounded up.
///
/// Bound: products of non-negative numbers increase in each factor, so rounding every step up rounds the whole up.
pub fn total_product_up(factors: impl IntoIterator<Item = f64>) -> f64 {
    factors.into_iter().fold(1.0, product_up)
}

/// The product of all factors, none below zero, rounded down.
pub fn total_product_down(factors: impl IntoIterator<Item = f64>) -> f64 {
    factors.into_iter().fold(1.0, product_down)
}

/// An integer as a double, rounded up.
pub fn count_up(count: u64) -> f64 {
    let nearest = count as f64;
    // Every double up to 2^64 that is near a u64 is an integer: the comparison is exact.
    if (nearest as u128) < u128::from(count) { nearest.next_up() } else { nearest }
}

/// An integer as a double, rounded down.
pub fn count_down(count: u64) -> f64 {
    let nearest = count as f64;
    if nearest as u128 > u128::from(count) { nearest.next_down() } else { nearest }
}

/// `count` times x, x >= 0, rounded up; zero times anything is zero: what is never released costs nothing.
pub fn multiple_up(count: u64, x: f64) -> f64 {
    if count == 0 { 0.0 } else { product_up(count_up(count), x) }
}

/// `count` times x, x >= 0, rounded down.
pub fn multiple_down(count: u64, x: f64) -> f64 {
    if count == 0 { 0.0 } else { product_down(count_down(count), x) }
}

/// x^count for x >= 0, rounded up.
///
/// Bound: repeated squaring of non-negative numbers, which increases in x, every step rounded up.
pub fn power_up(x: f64, count: u64) -> f64 {
    power(x, count, product_up)
}

/// x^count for x >= 0, rounded down.
pub fn power_down(x: f64, count: u64) -> f64 {
    power(x, count, product_down)
}

fn power(mut x: f64, mut count: u64, product: impl Fn(f64, f64) -> f64) -> f64 {
    let mut power = 1.0;
    while count > 0 {
        if count & 1 == 1 {
            power = product(power, x);
        }
        count >>= 1;
        x = product(x, x);
    }
    power
}

/// exp(x), rounded up by what the library may be off; exact at 0 and minus infinity.
pub fn exp_up(x: f64) -> f64 {
    if x == 0.0 || x == f64::NEG_INFINITY { x.exp() } else { above(x.exp()) }
}

/// exp(x), rounded down likewise; not below zero.
pub fn exp_down(x: f64) -> f64 {
    if x == 0.0 || x == f64::INFINITY || x == f64::NEG_INFINITY { x.exp() } else { below(x.exp()).max(0.0) }
}

/// exp(x) - 1, rounded up likewise; exact at 0 and minus infinity.
pub fn exp_m1_up(x: f64) -> f64 {
    if x == 0.0 || x == f64::NEG_INFINITY { x.exp_m1() } else { above(x.exp_m1()) }
}

/// exp(x) - 1, rounded down likewise; not below minus one.
pub fn exp_m1_down(x: f64) -> f64 {
    if x == 0.0 || x == f64::INFINITY || x == f64::NEG_INFINITY { x.exp_m1() } else { below(x.exp_m1()).max(-1.0) }
}

/// ln(x), rounded up likewise; exact at 0, 1 and infinity.
pub fn ln_up(x: f64) -> f64 {
    let ln = x.ln();
    if x == 1.0 || !ln.is_finite() { ln } else { above(ln) }
}

/// ln(x), rounded down likewise.
pub fn ln_down(x: f64) -> f64 {
    let ln = x.ln();
    if x == 1.0 || !ln.is_finite() { ln } else { below(ln) }
}

/// ln(1 + x), rounded up likewise; exact at -1, 0 and infinity.
pub fn ln_1p_up(x: f64) -> f64 {
    let ln = x.ln_1p();
    if x == 0.0 || !ln.is_finite() { ln } else { above(ln) }
}

/// ln(1 + x), rounded down likewise.
pub fn ln_1p_down(x: f64) -> f64 {
    let ln = x.ln_1p();
    if x == 0.0 || !ln.is_finite() { ln } else { below(ln) }
}

/// The chance that at least one of independent events happens, each with its chance so many times:
/// 1 - prod (1 - p_i)^n_i, rounded up, without cancellation. It is the mass at infinity of a composition.
///
/// Bound: it increases in every p_i and n_i. ln(1 - p) <= 0 is rounded down, multiples and sums of such logarithms away
/// from zero, and exp(x) - 1 decreases with its argument.
pub fn any_of_up(events: impl IntoIterator<Item = (f64, u64)>) -> f64 {
    let loss = total_up(events.into_iter().map(|(chance, count)| multiple_up(count, -ln_1p_down(-chance.min(1.0)))));
    (-exp_m1_down(-loss)).min(1.0)
}

/// The same, rounded down.
pub fn any_of_down(events: impl IntoIterator<Item = (f64, u64)>) -> f64 {
    let loss = total_down(events.into_iter().map(|(chance, count)| multiple_down(count, -ln_1p_up(-chance.min(1.0)))));
    (-exp_m1_up(-loss)).clamp(0.0, 1.0)
}

/// The rounded sum and its error, exactly where the sum is finite [Dekker 1971]: with |a| >= |b| neither difference is
/// larger than b, so nothing overflows.
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let (a, b) = if a.abs() >= b.abs() { (a, b) } else { (b, a) };
    let sum = a + b;
    (sum, b - (sum - a))
}

/// A result that is not finite, rounded up: minus infinity from finite arguments is only below the smallest double.
fn from_overflow(result: f64, a: f64, b: f64) -> f64 {
    if result == f64::NEG_INFINITY && a.is_finite() && b.is_finite() { f64::MIN } else { result }
}

/// Above whatever a function of the library meant by `x`. Infinity stays: it may be the result of an overflow.
fn above(x: f64) -> f64 {
    (0..LIBRARY_UNITS).fold(x, |x, _| x.next_up())
}

fn below(x: f64) -> f64 {
    -above(-x)
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use num_bigint::BigInt;

    use super::*;

    /// A finite double as an integer multiple of 2^-1074.
    fn exact(x: f64) -> BigInt {
        let bits = x.to_bits();
        let (exponent, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
        let magnitude =
            if exponent == 0 { BigInt::from(fraction) } else { BigInt::from(fraction | 1 << 52) << (exponent - 1) };
        if x < 0.0 { -magnitude } else { magnitude }
    }

    /// The doubles where rounding goes wrong, and arbitrary ones.
    fn hostile() -> Vec<f64> {
        let edges = [
            0.0,
            5e-324,
            1e-323,
            f64::MIN_POSITIVE,
            f64::MIN_POSITIVE.next_down(),
            2.0_f64.powi(-1000),
            BELOW_960.next_down(),
            BELOW_960,
            BELOW_800.next_down(),
            2.0_f64.powi(-537).next_up(),
            BELOW_480,
            1e-160,
            1e-16,
            0.1,
            1.0_f64.next_down(),
            1.0,
            1.0_f64.next_up(),
            1.5,
            3.0,
            1e16,
            1e160,
            1e307,
            2.0_f64.powi(1023),
            f64::MAX.next_down(),
            f64::MAX,
        ];
        let mut state = 1_u64;
        let mut random = || {
            // SplitMix64 [Steele, Lea, Flood 2014].
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            f64::from_bits(z ^ (z >> 31))
        };
        let drawn: Vec<f64> = std::iter::repeat_with(&mut random).filter(|x| x.is_finite()).take(150).collect();
        // Arbitrary digits, ordinary size.
        let near_one = drawn.iter().map(|x| f64::from_bits((x.to_bits() & !(0x7ff << 52)) | (1020 << 52)));
        let all: Vec<f64> = edges.into_iter().chain(near_one).chain(drawn.iter().copied()).collect();
        all.iter().flat_map(|&x| [x, -x]).collect()
    }

    /// Checks that `up` and its next double below enclose the truth, and `down` likewise. `order(r)` compares a double
    /// with the truth.
    fn check(what: &str, up: f64, down: f64, order: impl Fn(f64) -> Ordering) {
        let compare = |r: f64| match r {
            f64::INFINITY => Ordering::Greater,
            f64::NEG_INFINITY => Ordering::Less,
            r => order(r),
        };
        assert!(compare(up) != Ordering::Less, "{what}: {up:e} is below");
        assert!(compare(down) != Ordering::Greater, "{what}: {down:e} is above");
        assert!(up.is_infinite() || compare(up.next_down()) == Ordering::Less, "{what}: {up:e} is too high");
        assert!(down.is_infinite() || compare(down.next_up()) == Ordering::Greater, "{what}: {down:e} is too low");
    }

    #[test]
    fn sums_products_and_quotients_are_the_nearest_doubles_on_their_side() {
        let doubles = hostile();
        for &a in &doubles {
            let x = exact(a);
            for &b in &doubles {
                let y = exact(b);
                let sum = &x + &y;
                check(&format!("{a:e} + {b:e}"), sum_up(a, b), sum_down(a, b), |r| exact(r).cmp(&sum));
                let product = &x * &y;
                check(&format!("{a:e} * {b:e}"), product_up(a, b), product_down(a, b), |r| {
                    (exact(r) << 1074_u32).cmp(&product)
                });
                if b != 0.0 {
                    let numerator = &x << 1074_u32;
                    check(&format!("{a:e} / {b:e}"), quotient_up(a, b), quotient_down(a, b), |r| {
                        let order = (exact(r) * &y).cmp(&numerator);
                        if b > 0.0 { order } else { order.reverse() }
                    });
                }
            }
        }
    }

    #[test]
    fn square_roots_are_the_nearest_doubles_on_their_side() {
        for x in hostile().into_iter().filter(|x| *x >= 0.0) {
            let square = exact(x) << 1074_u32;
            check(&format!("sqrt {x:e}"), sqrt_up(x), sqrt_down(x), |r| {
                if r < 0.0 { Ordering::Less } else { (exact(r) * exact(r)).cmp(&square) }
            });
        }
    }

    #[test]
    fn infinities_stay_and_undefined_results_are_no_numbers() {
        let infinity = f64::INFINITY;
        for (up, down, value) in [
            (sum_up(infinity, 1.0), sum_down(infinity, 1.0), infinity),
            (sum_up(-infinity, 1.0), sum_down(-infinity, 1.0), -infinity),
            (product_up(infinity, 2.0), product_down(infinity, 2.0), infinity),
            (quotient_up(1.0, 0.0), quotient_down(1.0, 0.0), infinity),
            (quotient_up(1.0, infinity), quotient_down(1.0, infinity), 0.0),
            (sqrt_up(infinity), sqrt_down(infinity), infinity),
            (total_up([infinity, 1.0]), total_down([infinity, 1.0]), infinity),
        ] {
            assert_eq!((up, down), (value, value));
        }
        assert!(sum_up(infinity, -infinity).is_nan() && product_up(0.0, infinity).is_nan());
        assert!(quotient_up(0.0, 0.0).is_nan() && sqrt_up(-1.0).is_nan() && total_up([infinity, -infinity]).is_nan());
        assert_eq!((sum_down(f64::MAX, f64::MAX), product_down(f64::MAX, 2.0)), (f64::MAX, f64::MAX));
        assert_eq!((quotient_up(-f64::MAX, 0.5), sum_up(f64::MIN, f64::MIN)), (f64::MIN, f64::MIN));
    }

    #[test]
    fn totals_enclose_the_exact_sum_within_two_units() {
        let doubles = hostile();
        for size in [1, 2, 3, 7, 50, doubles.len()] {
            for terms in doubles.chunks(size) {
                // Left out where the sum overflows on the way.
                if terms.iter().map(|x| x.abs()).sum::<f64>() == f64::INFINITY {
                    assert!(total_down(terms.iter().copied()) <= total_up(terms.iter().copied()));
                    continue;
                }
                let sum: BigInt = terms.iter().map(|&x| exact(x)).sum();
                let (up, down) = (total_up(terms.iter().copied()), total_down(terms.iter().copied()));
                assert!(exact(up) >= sum && exact(down) <= sum, "{terms:?}");
                assert!(up.is_infinite() || exact(up.next_down().next_down()) < sum, "{terms:?}: {up:e}");
            }
        }
        let tenths = || std::iter::repeat_n(0.1, 1_000_000);
        let truth = exact(0.1) * 1_000_000;
        let (up, down) = (total_up(tenths()), total_down(tenths()));
        assert!(exact(down) <= truth && truth <= exact(up) && up <= down.next_up(), "{down} {up}");
    }

    #[test]
    fn counts_multiples_and_powers_enclose_the_exact_ones() {
        for count in [0, 1, 3, (1 << 53) + 1, (1 << 53) + 3, u64::MAX - 1, u64::MAX] {
            let integer = BigInt::from(count) << 1074_u32;
            assert!(exact(count_down(count)) <= integer && integer <= exact(count_up(count)), "{count}");
            for x in hostile().into_iter().filter(|x| *x >= 0.0 && *x < 1e280) {
                let product = exact(x) * count;
                assert!(exact(multiple_down(count, x)) <= product && product <= exact(multiple_up(count, x)));
            }
        }
        assert_eq!((count_up(3), count_down(3), count_down(1 << 60)), (3.0, 3.0, (1_u64 << 60) as f64));
        assert_eq!((multiple_up(1, 5e-324), multiple_up(0, f64::INFINITY)), (5e-324, 0.0));
        for x in hostile().into_iter().filter(|x| *x >= 0.0) {
            for count in [0, 1, 2, 3, 10] {
                let (up, down) = (power_up(x, count), power_down(x, count));
                let power = exact(x).pow(count as u32);
                let shift = 1074 * (count.max(1) - 1);
                let at = |r: f64| if count == 0 { exact(r) >> 1074 } else { exact(r) << shift };
                assert!(up == f64::INFINITY || at(up) >= power, "{x:e}^{count}");
                assert!(down <= up && at(down) <= power, "{x:e}^{count}");
            }
        }
        assert_eq!((total_product_up([0.5, 4.0, 0.25]), total_product_down([0.5, 4.0, 0.25])), (0.5, 0.5));
        assert!(total_product_down([0.1; 3]) < total_product_up([0.1; 3]));
        assert_eq!((power_up(2.0, 10), power_down(2.0, 10)), (1024.0, 1024.0));
        assert!(power_up(1.1, 10) <= power_down(1.1, 10) * (1.0 + 1e-14));
    }

    #[test]
    fn functions_of_the_library_are_enclosed() {
        for (x, exp, exp_m1, ln_1p, ln) in LIBRARY {
            for (up, down, value) in [
                (exp_up(x), exp_down(x), exp),
                (exp_m1_up(x), exp_m1_down(x), exp_m1),
                (ln_1p_up(x), ln_1p_down(x), ln_1p),
                (ln_up(x.abs()), ln_down(x.abs()), ln),
            ] {
                assert!(down < value && value < up, "{x:e}: {down:e} {value:e} {up:e}");
                assert!(up - down <= 12.0 * f64::EPSILON * value.abs(), "{x:e}: {down:e} {up:e}");
            }
        }
        assert_eq!(
            (exp_up(0.0), exp_down(0.0), exp_m1_up(0.0), ln_up(1.0), ln_1p_down(0.0)),
            (1.0, 1.0, 0.0, 0.0, 0.0)
        );
        assert_eq!((exp_up(f64::NEG_INFINITY), exp_down(-1e4), exp_m1_down(-1e4)), (0.0, 0.0, -1.0));
        assert!(exp_up(-1e4) > 0.0 && exp_up(1e4) == f64::INFINITY && exp_down(1e4) < f64::INFINITY);
        assert_eq!((ln_up(0.0), ln_up(f64::INFINITY)), (f64::NEG_INFINITY, f64::INFINITY));
        // Below infinity is the largest double; the exact values stay.
        assert_eq!((exp_down(f64::INFINITY), exp_m1_down(f64::INFINITY)), (f64::INFINITY, f64::INFINITY));
        assert_eq!((ln_down(1.0), ln_down(f64::INFINITY), ln_down(0.0)), (0.0, f64::INFINITY, f64::NEG_INFINITY));
    }

    /// x, exp(x), exp(x) - 1, ln(1 + x), ln|x|: nearest doubles, by ball arithmetic of 60 digits (python-flint).
    const LIBRARY: [(f64, f64, f64, f64, f64); 18] = [
        (1e-300, 1.0, 1e-300, 1e-300, -690.7755278982137),
        (3e-17, 1.0, 3e-17, 3e-17, -38.04533429223067),
        (1e-09, 1.000000001, 1.0000000005000001e-09, 9.999999995e-10, -20.72326583694641),
        (0.1, 1.1051709180756477, 0.10517091807564763, 0.09531017980432487, -2.3025850929940455),
        (0.4, 1.4918246976412703, 0.49182469764127035, 0.33647223662121295, -0.916290731874155),
        (0.7, 2.0137527074704766, 1.0137527074704764, 0.5306282510621704, -0.35667494393873245),
        (1.3, 3.6692966676192444, 2.6692966676192444, 0.832909122935104, 0.26236426446749106),
        (2.75, 15.642631884188171, 14.642631884188171, 1.3217558399823195, 1.0116009116784799),
        (10.1, 24343.00942440838, 24342.00942440838, 2.4069451083182885, 2.312535423847214),
        (36.9, 1.0603918526202508e+16, 1.0603918526202508e+16, 3.634951112088381, 3.6082115510464816),
        (700.3, 1.3690700720098904e+304, 1.3690700720098904e+304, 6.5529357555428644, 6.551508814661472),
        (-1e-300, 1.0, -1e-300, -1e-300, -690.7755278982137),
        (-3e-17, 1.0, -3e-17, -3e-17, -38.04533429223067),
        (-1e-09, 0.999999999, -9.999999995e-10, -1.0000000005000001e-09, -20.72326583694641),
        (-0.1, 0.9048374180359595, -0.09516258196404043, -0.10536051565782631, -2.3025850929940455),
        (-0.4, 0.6703200460356393, -0.32967995396436073, -0.5108256237659907, -0.916290731874155),
        (-0.7, 0.4965853037914095, -0.5034146962085905, -1.203972804325936, -0.35667494393873245),
        (-0.999, 0.3682475046136629, -0.631752495386337, -6.907755278982136, -0.0010005003335835344),
    ];

    #[test]
    fn the_chance_of_any_of_several_events() {
        // Exactly 1 - (3/4)^2 (1/2) = 23/32.
        let (up, down) = (any_of_up([(0.25, 2), (0.5, 1)]), any_of_down([(0.25, 2), (0.5, 1)]));
        assert!(down <= 23.0 / 32.0 && 23.0 / 32.0 <= up && up - down < 1e-14, "{down} {up}");
        // Tiny chances add up to the last digits: n p - n (n - 1)/2 p^2.
        let (up, down) = (any_of_up([(1e-300, 1 << 40)]), any_of_down([(1e-300, 1 << 40)]));
        let sum = 1e-300 * (1_u64 << 40) as f64;
        assert!(down <= sum && sum <= up && up - down < 1e-14 * sum);
        assert_eq!((any_of_up([(1.0, 1)]), any_of_down([(1.0, 3)])), (1.0, 1.0));
        assert_eq!((any_of_up([(0.0, 1 << 40)]), any_of_up([(1.0, 0)]), any_of_down([])), (0.0, 0.0, 0.0));
        assert!(any_of_up([(5e-324, 1)]) >= 5e-324);
    }
}
