//! The decisions and values of the ideal draw in interval arithmetic, from as many bits as they need.

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::gamma::{self, LOG_EXCESS_BITS, NEGATIVE_TAIL, Normal, Path, Shape, TAIL};
use super::interval::{Context, Interval};
use super::lazy::{Id, LazyBits};
use super::normal_table::{AREA, WIDTH};
use super::{exponential, exponential_table};
use crate::random::Bits;

/// Precisions that are tried in turn. What the last one leaves undecided (probability below 2^-4000) is decided by rule.
static CONTEXTS: [Context; 6] = [
    Context::new(128),
    Context::new(256),
    Context::new(512),
    Context::new(1024),
    Context::new(2048),
    Context::new(4096 + 512),
];

/// The first answer along the growing precisions.
pub(super) fn decide<T>(mut answer: impl FnMut(&Context) -> Option<T>) -> Option<T> {
    CONTEXTS.iter().find_map(&mut answer)
}

/// `[n, n+1] 2^exponent` once `context.bits()` and a word more bits have been appended to the uniform's `first` ones.
fn extended<B: Bits>(context: &Context, source: &LazyBits<B>, first: BigInt, id: Id, exponent: i64) -> Interval {
    let mut tail = source.tail(id);
    let words = context.bits().div_ceil(64);
    let mut n = first;
    for _ in 0..words {
        n = (n << 64u32) + tail.next_u64();
    }
    context.cell(&n, exponent - 64 * words as i64)
}

/// A uniform in (0, 1) from its first 64 bits on.
fn uniform<B: Bits>(context: &Context, source: &LazyBits<B>, (word, id): (u64, Id)) -> Interval {
    extended(context, source, BigInt::from(word), id, -64)
}

/// The normal variate.
fn normal_value<B: Bits>(context: &Context, source: &LazyBits<B>, normal: &Normal) -> Option<Interval> {
    if normal.layer >= TAIL {
        let r = context.double(WIDTH[0]);
        let log_u = context.ln(&uniform(context, source, (normal.word, normal.id)))?;
        let x = r.sub(&context.div(&log_u, &r)?);
        return Some(if normal.layer == NEGATIVE_TAIL { x.neg() } else { x });
    }
    let first = BigInt::from(gamma::position(normal.word));
    let position = extended(context, source, first, normal.id, -i64::from(gamma::POSITION_BITS));
    Some(context.mul(&position, &context.double(WIDTH[normal.layer as usize])))
}

/// The position of an exponential draw inside its rectangle.
fn inside<B: Bits>(context: &Context, source: &LazyBits<B>, draw: &Normal) -> Interval {
    let bits = exponential::POSITION_BITS;
    let position = extended(context, source, BigInt::from(draw.word >> (64 - bits)), draw.id, -i64::from(bits));
    context.mul(&position, &context.double(exponential_table::WIDTH[draw.layer as usize]))
}

/// The exponential variate.
pub(super) fn exponential<B: Bits>(context: &Context, source: &LazyBits<B>, draw: &Normal) -> Interval {
    let edge = context.double(exponential_table::WIDTH[0]);
    inside(context, source, draw).add(&edge.times(i64::from(draw.steps)))
}

/// Whether Y + V area/width < exp(-x), Y the sum of area/width over the rectangles below.
pub(super) fn under_exponential<B: Bits>(source: &LazyBits<B>, draw: &Normal, v: (u64, Id)) -> bool {
    decide(|context| {
        let table = (exponential_table::AREA, &exponential_table::WIDTH);
        let y = height(context, source, table, draw.layer as usize, v)?;
        y.compare(&context.exp(&inside(context, source, draw).neg())?).map(Ordering::is_lt)
    })
    .unwrap_or(false)
}

/// Whether V area < exp(-r), V the uniform whose first bits are this position.
pub(super) fn exponential_tail_keeps<B: Bits>(source: &LazyBits<B>, (position, id): (u64, Id)) -> bool {
    decide(|context| {
        let v = extended(context, source, BigInt::from(position), id, -i64::from(exponential::POSITION_BITS));
        let cover = context.mul(&v, &context.double(exponential_table::AREA));
        let curve = context.exp(&context.double(exponential_table::WIDTH[0]).neg())?;
        cover.compare(&curve).map(Ordering::is_lt)
    })
    .unwrap_or(false)
}

/// Y + V area/width, Y the sum of area/width over the rectangles below this one.
fn height<B: Bits>(
    context: &Context,
    source: &LazyBits<B>,
    (area, widths): (f64, &[f64; 256]),
    layer: usize,
    v: (u64, Id),
) -> Option<Interval> {
    let area = context.double(area);
    let mut y = context.mul(&uniform(context, source, v), &context.div(&area, &context.double(widths[layer]))?);
    for &width in &widths[..layer] {
        y = y.add(&context.div(&area, &context.double(width))?);
    }
    Some(y)
}

/// 1 + c x.
fn base<B: Bits>(context: &Context, source: &LazyBits<B>, shape: &Shape, normal: &Normal) -> Option<Interval> {
    let x = normal_value(context, source, normal)?;
    Some(context.integer(1).add(&context.mul(&x, &context.double(shape.c))))
}

/// The shape, or the shape + 1 where the draw is boosted.
fn concentration(context: &Context, shape: &Shape) -> Interval {
    let product = context.mul(&context.double(shape.scale), &context.double(shape.count));
    let sum = product.add(&context.double(shape.prior));
    if shape.boost { sum.add(&context.integer(1)) } else { sum }
}

/// Whether 1 + c x > 0.
pub(super) fn is_inside<B: Bits>(source: &LazyBits<B>, shape: &Shape, normal: &Normal, t: f64, path: Path) -> bool {
    if path == Path::Fast && t < -1e-6 {
        return false;
    }
    decide(|context| base(context, source, shape, normal)?.is_positive()).unwrap_or(false)
}

/// Whether Y + V area/width < exp(-x^2/2), Y the sum of area/width over the rectangles below.
pub(super) fn under_curve<B: Bits>(source: &LazyBits<B>, normal: &Normal, v: (u64, Id)) -> bool {
    decide(|context| {
        let y = height(context, source, (AREA, &WIDTH), normal.layer as usize, v)?;
        let x = normal_value(context, source, normal)?;
        let curve = context.exp(&context.mul(&x, &x).halve(1).neg())?;
        y.compare(&curve).map(Ordering::is_lt)
    })
    .unwrap_or(false)
}

/// Whether V area r U < exp(-x^2/2).
pub(super) fn tail_accepts<B: Bits>(source: &LazyBits<B>, normal: &Normal, v: (u64, Id)) -> bool {
    decide(|context| {
        let scale = context.mul(&context.double(AREA), &context.double(WIDTH[0]));
        let u = uniform(context, source, (normal.word, normal.id));
        let left = context.mul(&context.mul(&scale, &u), &uniform(context, source, v));
        let x = normal_value(context, source, normal)?;
        let curve = context.exp(&context.mul(&x, &x).halve(1).neg())?;
        left.compare(&curve).map(Ordering::is_lt)
    })
    .unwrap_or(false)
}

/// Whether ln U < x^2/2 + (3a - 1) ln t - delta (t^3 - 1) - excess, t = 1 + c x.
pub(super) fn accepts<B: Bits>(source: &LazyBits<B>, shape: &Shape, normal: &Normal, (u, id): (u32, Id)) -> bool {
    decide(|context| {
        let x = normal_value(context, source, normal)?;
        let t = base(context, source, shape, normal)?;
        let one = context.integer(1);
        let exponent = concentration(context, shape).times(3).sub(&one);
        let cube = context.mul(&context.mul(&t, &t), &t);
        let right = context
            .mul(&x, &x)
            .halve(1)
            .add(&context.mul(&exponent, &context.ln(&t)?))
            .sub(&context.mul(&context.double(shape.delta), &cube.sub(&one)))
            .sub(&one.halve(LOG_EXCESS_BITS));
        let left = context.ln(&extended(context, source, BigInt::from(u), id, -32))?;
        left.compare(&right).map(Ordering::is_lt)
    })
    .unwrap_or(false)
}

/// ln(U)/a, the logarithm of the factor of a boosted draw.
pub(super) fn log_power<B: Bits>(
    context: &Context,
    source: &LazyBits<B>,
    shape: &Shape,
    power: (u64, Id),
) -> Option<Interval> {
    let a = concentration(context, shape).sub(&context.integer(1));
    context.div(&context.ln(&uniform(context, source, power))?, &a)
}

/// delta t^3, or the exponential variate where the shape is one.
pub(super) fn variate<B: Bits>(
    context: &Context,
    source: &LazyBits<B>,
    shape: &Shape,
    normal: &Normal,
) -> Option<Interval> {
    if shape.exponential {
        return Some(exponential(context, source, normal));
    }
    let t = base(context, source, shape, normal)?;
    let cube = context.mul(&context.mul(&t, &t), &t);
    Some(context.mul(&context.double(shape.delta), &cube))
}
