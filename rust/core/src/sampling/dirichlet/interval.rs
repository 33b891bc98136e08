//! Fixed-point intervals over big integers: the arithmetic that decides what doubles cannot.
//!
//! An [`Interval`] holds two integers `lo <= hi` and stands for every real in `[lo, hi] 2^-bits`. Each operation
//! returns an interval that contains the exact result for all reals in its operands (docs/exactness.md, section 6, has
//! the error count of every step). Only sums, products, shifts and the truncating quotient of big integers are used,
//! and each quotient is checked against its remainder.

use std::cmp::Ordering;
use std::sync::OnceLock;

use num_bigint::{BigInt, Sign};

/// Extra bits inside `ln` and `exp`; the error counts there stay below 2^40 units of the working precision.
const GUARD: u64 = 64;

/// `exp` halves its argument this often before its series.
const HALVINGS: u64 = 8;

/// Reals between two fixed-point numbers.
#[derive(Clone, Debug)]
pub(super) struct Interval {
    lo: BigInt,
    hi: BigInt,
}

impl Interval {
    fn exact(value: BigInt) -> Self {
        Self { lo: value.clone(), hi: value }
    }

    /// The order of two reals, if the intervals decide it.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        if self.hi < other.lo {
            Some(Ordering::Less)
        } else if self.lo > other.hi {
            Some(Ordering::Greater)
        } else {
            None
        }
    }

    /// Whether the real is positive, if the interval decides it.
    pub(super) fn is_positive(&self) -> Option<bool> {
        match (self.lo.sign(), self.hi.sign()) {
            (Sign::Plus, _) => Some(true),
            (_, Sign::Minus | Sign::NoSign) => Some(false),
            _ => None,
        }
    }

    pub(super) fn add(&self, other: &Self) -> Self {
        Self { lo: &self.lo + &other.lo, hi: &self.hi + &other.hi }
    }

    pub(super) fn sub(&self, other: &Self) -> Self {
        Self { lo: &self.lo - &other.hi, hi: &self.hi - &other.lo }
    }

    pub(super) fn neg(&self) -> Self {
        Self { lo: -&self.hi, hi: -&self.lo }
    }

    /// The product with a small integer, exact.
    pub(super) fn times(&self, factor: i64) -> Self {
        let (a, b) = (&self.lo * factor, &self.hi * factor);
        if factor >= 0 { Self { lo: a, hi: b } } else { Self { lo: b, hi: a } }
    }

    /// The product with 2^-power, outward.
    pub(super) fn halve(&self, power: u64) -> Self {
        Self { lo: floor_shift(&self.lo, power), hi: ceil_shift(&self.hi, power) }
    }
}

/// floor(n 2^-power): the shift of a negative `BigInt` rounds down as well.
fn floor_shift(n: &BigInt, power: u64) -> BigInt {
    n >> power
}

/// ceil(n 2^-power).
fn ceil_shift(n: &BigInt, power: u64) -> BigInt {
    -((-n) >> power)
}

/// floor(n / d) for d > 0, checked: the quotient and the remainder must give n back.
fn floor_div(n: &BigInt, d: &BigInt) -> BigInt {
    let mut quotient = n / d;
    let mut remainder = n - &quotient * d;
    if remainder.sign() == Sign::Minus {
        quotient -= 1;
        remainder += d;
    }
    assert!(remainder.sign() != Sign::Minus && remainder < *d, "a quotient of big integers is wrong");
    quotient
}

/// The fixed point with `bits` binary places.
pub(super) struct Context {
    bits: u64,
    /// ln 2 with `bits + GUARD` places, within one unit per term of its series.
    ln2: OnceLock<BigInt>,
}

impl Context {
    pub(super) const fn new(bits: u64) -> Self {
        Self { bits, ln2: OnceLock::new() }
    }

    pub(super) fn bits(&self) -> u64 {
        self.bits
    }

    /// The double `x`, exactly where its last bit is at 2^-bits or above, else between its neighbours.
    /// A double that is not finite has no interval; the callers hold only finite ones.
    pub(super) fn double(&self, x: f64) -> Interval {
        let raw = x.to_bits();
        let stored = ((raw >> 52) & 0x7ff) as i64;
        let fraction = (raw & ((1 << 52) - 1)) as i64;
        let (magnitude, exponent) = if stored == 0 { (fraction, -1074) } else { (fraction | (1 << 52), stored - 1075) };
        let mantissa = if x < 0.0 { -magnitude } else { magnitude };
        self.scaled(&BigInt::from(mantissa), exponent)
    }

    /// The integer n.
    pub(super) fn integer(&self, n: i64) -> Interval {
        Interval::exact(BigInt::from(n) << self.bits)
    }

    /// n 2^exponent.
    fn scaled(&self, n: &BigInt, exponent: i64) -> Interval {
        let shift = exponent + self.bits as i64;
        if shift >= 0 {
            Interval::exact(n << shift.unsigned_abs())
        } else {
            Interval::exact(n.clone()).halve(shift.unsigned_abs())
        }
    }

    /// Every real of `[n, n + 1] 2^exponent`: what is known of a number whose later bits are not read yet.
    pub(super) fn cell(&self, n: &BigInt, exponent: i64) -> Interval {
        Interval { lo: self.scaled(n, exponent).lo, hi: self.scaled(&(n + 1), exponent).hi }
    }

    pub(super) fn mul(&self, a: &Interval, b: &Interval) -> Interval {
        if a.lo.sign() != Sign::Minus && b.lo.sign() != Sign::Minus {
            return Interval {
                lo: floor_shift(&(&a.lo * &b.lo), self.bits),
                hi: ceil_shift(&(&a.hi * &b.hi), self.bits),
            };
        }
        let corners = [&a.lo * &b.lo, &a.lo * &b.hi, &a.hi * &b.lo, &a.hi * &b.hi];
        let (mut lo, mut hi) = (&corners[0], &corners[0]);
        for corner in &corners[1..] {
            lo = lo.min(corner);
            hi = hi.max(corner);
        }
        Interval { lo: floor_shift(lo, self.bits), hi: ceil_shift(hi, self.bits) }
    }

    /// a / b for b > 0; `None` when b is not known to be positive.
    pub(super) fn div(&self, a: &Interval, b: &Interval) -> Option<Interval> {
        if b.lo.sign() != Sign::Plus {
            return None;
        }
        let below = if a.lo.sign() == Sign::Minus { &b.lo } else { &b.hi };
        let above = if a.hi.sign() == Sign::Minus { &b.hi } else { &b.lo };
        let lo = floor_div(&(&a.lo << self.bits), below);
        let hi = -floor_div(&-(&a.hi << self.bits), above);
        Some(Interval { lo, hi })
    }

    /// floor(total a / b) for 0 <= a <= b, b > 0, kept within `[0, total - 1]`; `None` while it is undecided.
    pub(super) fn floor_share(&self, total: u64, a: &Interval, b: &Interval) -> Option<u64> {
        if b.lo.sign() != Sign::Plus {
            return None;
        }
        let zero = BigInt::ZERO;
        let lo = floor_div(&(a.lo.clone().max(zero) * total), &b.hi);
        let hi = floor_div(&(&a.hi * total), &b.lo);
        let top = total.saturating_sub(1);
        let lo = u64::try_from(&lo).map_or(top, |n| n.min(top));
        let hi = u64::try_from(&hi).map_or(top, |n| n.min(top));
        (lo == hi).then_some(lo)
    }

    /// min(floor(x 2^power), cap) for x >= 0 and power <= bits; `None` while it is undecided.
    pub(super) fn floor_scaled(&self, x: &Interval, power: u64, cap: u64) -> Option<u64> {
        let floor = |n: &BigInt| {
            let n = floor_shift(n, self.bits - power).max(BigInt::ZERO);
            u64::try_from(&n).map_or(cap, |n| n.min(cap))
        };
        let lo = floor(&x.lo);
        (lo == floor(&x.hi)).then_some(lo)
    }

    /// ln x for x > 0; `None` when x is not known to be positive.
    pub(super) fn ln(&self, x: &Interval) -> Option<Interval> {
        if x.lo.sign() != Sign::Plus {
            return None;
        }
        let low = self.ln_point(&x.lo);
        // ln hi <= ln lo + (hi - lo)/lo: one series instead of two.
        let more = -floor_div(&((&x.lo - &x.hi) << self.bits), &x.lo);
        Some(Interval { hi: &low + 2 + more, lo: low - 1 })
    }

    /// ln(n 2^-bits) in units of 2^-bits for n >= 1: one below to two above enclose it.
    ///
    /// n 2^-bits = m 2^e with m in [2/3, 4/3); ln m = 2 atanh z, z = (m-1)/(m+1), |z| <= 1/5.
    fn ln_point(&self, n: &BigInt) -> BigInt {
        let places = self.bits + GUARD;
        let one = BigInt::from(1) << places;
        let length = n.bits();
        let mut exponent = length as i64 - self.bits as i64;
        let mut m = if length <= places { n << (places - length) } else { n >> (length - places) };
        if &m * 3 < &one * 2 {
            m <<= 1;
            exponent -= 1;
        }
        let difference = &m - &one;
        let negative = difference.sign() == Sign::Minus;
        let z = floor_div(&(BigInt::from(difference.magnitude().clone()) << places), &(&m + &one));
        let square = (&z * &z) >> places;
        let mut power = z.clone();
        let mut sum = z;
        let mut odd = 3u64;
        loop {
            power = (&power * &square) >> places;
            if power.sign() == Sign::NoSign {
                break;
            }
            sum += &power / odd;
            odd += 2;
        }
        sum <<= 1;
        let logarithm = if negative { -sum } else { sum };
        (logarithm + self.ln2() * exponent) >> GUARD
    }

    /// exp x. Arguments above 22 are not needed by any caller and are refused with `None`.
    pub(super) fn exp(&self, x: &Interval) -> Option<Interval> {
        let low = self.exp_point(&x.lo)?;
        let width = &x.hi - &x.lo;
        // exp(lo + w) <= exp(lo) (1 + 2 w) for 0 <= w <= 1.
        let hi = if width.bits() <= self.bits {
            let top: BigInt = low.clone() + 2;
            let more = ceil_shift(&(&top * width), self.bits - 1);
            top + more
        } else {
            self.exp_point(&x.hi)? + 2
        };
        Some(Interval { lo: (low - 1u32).max(BigInt::ZERO), hi })
    }

    /// exp(n 2^-bits) in units of 2^-bits: one below to two above enclose it.
    ///
    /// n 2^-bits = k ln 2 + r; exp r by its series at r 2^-HALVINGS and repeated squaring.
    fn exp_point(&self, n: &BigInt) -> Option<BigInt> {
        if *n > BigInt::from(22) << self.bits {
            return None;
        }
        if *n < -(BigInt::from(self.bits + 1) << self.bits) {
            return Some(BigInt::ZERO);
        }
        let places = self.bits + GUARD;
        let one = BigInt::from(1) << places;
        let argument = n << GUARD;
        let k = floor_div(&argument, self.ln2());
        let r = (&argument - &k * self.ln2()) >> HALVINGS;
        let mut term = one.clone();
        let mut sum = one.clone();
        let mut index = 1u64;
        loop {
            term = ((&term * &r) >> places) / index;
            if term.sign() == Sign::NoSign {
                break;
            }
            sum += &term;
            index += 1;
        }
        for _ in 0..HALVINGS {
            sum = (&sum * &sum) >> places;
        }
        let k = i64::try_from(&k).ok()?;
        let shift = GUARD as i64 - k;
        Some(if shift >= 0 { sum >> shift.unsigned_abs() } else { sum << shift.unsigned_abs() })
    }

    /// ln 2 = 18 atanh(1/26) - 2 atanh(1/4801) + 8 atanh(1/8749) with `bits + GUARD` places.
    fn ln2(&self) -> &BigInt {
        self.ln2.get_or_init(|| {
            let one = BigInt::from(1) << (self.bits + GUARD);
            atanh_inverse(&one, 26) * 18 - atanh_inverse(&one, 4801) * 2 + atanh_inverse(&one, 8749) * 8
        })
    }

    /// An integer e such that x < e ln 2 for every x of the interval, by no more than needed.
    pub(super) fn doublings_above(&self, x: &Interval) -> Option<i64> {
        i64::try_from(&floor_div(&(&x.hi << GUARD), self.ln2())).ok().map(|e| e + 2)
    }

    /// ln 2.
    pub(super) fn ln_two(&self) -> Interval {
        let low = self.ln2() >> GUARD;
        Interval { hi: &low + 2, lo: low - 1 }
    }
}

/// atanh(1/q) in units of 1/one, too small by less than two units per term.
fn atanh_inverse(one: &BigInt, q: u64) -> BigInt {
    let mut power = one / q;
    let mut sum = power.clone();
    let mut odd = 3u64;
    while power.sign() != Sign::NoSign {
        power /= q * q;
        sum += &power / odd;
        odd += 2;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> BigInt {
        BigInt::parse_bytes(text.as_bytes(), 36).unwrap()
    }

    #[test]
    fn logarithms_exponentials_and_quotients_enclose_the_golden_values() {
        let data = include_str!("../../../../../tests/golden/data/fixed_point.csv");
        let mut n_rows = 0;
        for line in data.lines().skip(1) {
            let fields: Vec<_> = line.split(',').collect();
            let context = Context::new(fields[1].parse().unwrap());
            let (a, b) = (Interval::exact(parse(fields[2])), Interval::exact(parse(fields[3])));
            let result = match fields[0] {
                "ln" => context.ln(&a),
                "exp" => context.exp(&a),
                _ => context.div(&a, &b),
            };
            let result = result.unwrap_or_else(|| panic!("no result for {line}"));
            let floor = parse(fields[4]);
            assert!(result.lo <= floor && floor <= result.hi, "{line}");
            assert!(&result.hi - &result.lo <= BigInt::from(4), "{line}");
            n_rows += 1;
        }
        assert!(n_rows > 300);
    }

    #[test]
    fn wide_operands_enclose_both_ends() {
        let context = Context::new(128);
        for (lo, hi) in [(0.5, 0.5001), (1e-9, 2e-9), (0.9, 1.1), (3.0, 9.0), (1e-12, 20.0)] {
            let (low, high) = (context.double(lo), context.double(hi));
            let wide = Interval { lo: low.lo.clone(), hi: high.hi.clone() };
            for (of_wide, of_low, of_high) in [
                (context.ln(&wide), context.ln(&low), context.ln(&high)),
                (context.exp(&wide), context.exp(&low), context.exp(&high)),
                (context.exp(&wide.neg()), context.exp(&high.neg()), context.exp(&low.neg())),
            ] {
                let (of_wide, of_low, of_high) = (of_wide.unwrap(), of_low.unwrap(), of_high.unwrap());
                assert!(of_wide.lo <= of_low.lo && of_high.hi <= of_wide.hi, "{lo} {hi}");
            }
        }
    }

    #[test]
    fn products_and_shifts_round_outward_for_every_sign() {
        let context = Context::new(4);
        for a in -40..40i64 {
            for b in -40..40i64 {
                let x = Interval { lo: BigInt::from(a), hi: BigInt::from(a + 3) };
                let y = Interval { lo: BigInt::from(b), hi: BigInt::from(b + 5) };
                let product = context.mul(&x, &y);
                let corners = [a * b, a * (b + 5), (a + 3) * b, (a + 3) * (b + 5)];
                let (low, high) = (corners.iter().min().unwrap(), corners.iter().max().unwrap());
                assert_eq!(product.lo, BigInt::from(low.div_euclid(16)));
                assert_eq!(product.hi, BigInt::from(-(-high).div_euclid(16)));
            }
        }
    }

    #[test]
    fn quotients_of_intervals_hold_every_quotient() {
        let context = Context::new(6);
        for a in -30..30i64 {
            for b in 1..30i64 {
                let x = Interval { lo: BigInt::from(a), hi: BigInt::from(a + 2) };
                let y = Interval { lo: BigInt::from(b), hi: BigInt::from(b + 2) };
                let quotient = context.div(&x, &y).unwrap();
                for n in a..=a + 2 {
                    for d in b..=b + 2 {
                        assert!(quotient.lo <= BigInt::from((n * 64).div_euclid(d)));
                        assert!(quotient.hi >= BigInt::from(-(-n * 64).div_euclid(d)));
                    }
                }
            }
        }
        assert!(context.div(&context.integer(1), &context.integer(0)).is_none());
    }

    #[test]
    fn a_double_is_itself_or_between_neighbours() {
        let context = Context::new(128);
        for x in [0.0, -0.0, 1.0, -2.5, 1e-6, 1e15, 0.1, -1e12, f64::MIN_POSITIVE, 5e-324, -5e-324] {
            let interval = context.double(x);
            let width = &interval.hi - &interval.lo;
            assert_eq!(width == BigInt::ZERO, x == 0.0 || x.abs() > 1e-20, "{x}");
            if x.abs() > 1e-20 {
                assert_eq!(interval.lo, BigInt::from((x * 2f64.powi(74)) as i128) << 54, "{x}");
            }
        }
    }

    #[test]
    fn shares_are_decided_only_when_every_quotient_agrees() {
        let context = Context::new(8);
        let number = |lo: i64, hi: i64| Interval { lo: BigInt::from(lo), hi: BigInt::from(hi) };
        assert_eq!(context.floor_share(100, &number(50, 50), &number(200, 201)), None);
        assert_eq!(context.floor_share(100, &number(51, 51), &number(200, 201)), Some(25));
        // A share is below the total, and above zero: the ends are no boundaries.
        assert_eq!(context.floor_share(100, &number(197, 199), &number(200, 201)), None);
        assert_eq!(context.floor_share(100, &number(2000, 2001), &number(2000, 2001)), Some(99));
        assert_eq!(context.floor_share(100, &number(-1, 1), &number(2000, 2001)), Some(0));
        // In units of 2^-3 of numbers in units of 2^-8.
        assert_eq!(context.floor_scaled(&number(31, 32), 3, 50), None);
        assert_eq!(context.floor_scaled(&number(32, 63), 3, 50), Some(1));
        assert_eq!(context.floor_scaled(&number(1 << 20, 1 << 21), 3, 50), Some(50));
        assert_eq!(context.floor_scaled(&number(-3, 7), 3, 50), Some(0));
    }
}
