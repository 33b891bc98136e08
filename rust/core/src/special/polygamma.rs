//! Derivatives of digamma of any order up to 20.

use super::{digamma, is_pole, sin_cos_pi, trigamma};

/// The largest order that [`polygamma`] knows.
pub const MAX_ORDER: u32 = 20;

/// B_2k/(2k)!, k = 1, 2, ...: the coefficients of Euler and Maclaurin.
const EULER_MACLAURIN: [f64; 14] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30_240.0,
    -1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    -5.284_190_138_687_493_2e-10,
    1.338_253_653_068_467_9e-11,
    -3.389_680_296_322_582_9e-13,
    8.586_062_056_277_844_6e-15,
    -2.174_868_698_558_061_9e-16,
    5.509_002_828_360_229_5e-18,
    -1.395_446_468_581_252_3e-19,
    3.534_707_039_629_467_5e-21,
    -8.953_517_427_037_546_9e-23,
];

/// The derivative of `order` of digamma; order 0 is digamma. NaN for an order above [`MAX_ORDER`].
///
/// At 0, the negative integers and -infinity: +inf for odd orders, -inf for even ones (digamma has its own rule).
pub fn polygamma(order: u32, x: f64) -> f64 {
    match order {
        0 => digamma(x),
        1 => trigamma(x),
        2..=MAX_ORDER => {
            let sign = if order % 2 == 1 { 1.0 } else { -1.0 };
            if x > 0.0 {
                sign * magnitude(order, x)
            } else if is_pole(x) {
                sign * f64::INFINITY
            } else if x < 0.0 {
                // psi_n(x) = (-1)^n psi_n(1-x) - pi d^n/dx^n cot(pi x); (-1)^n psi_n(y) = -magnitude.
                -magnitude(order, 1.0 - x) - cotangent_derivative(order, x)
            } else {
                f64::NAN
            }
        }
        _ => f64::NAN,
    }
}

/// |psi_n(x)| = n! sum over k >= 0 of (x+k)^-(n+1), for x > 0 and n >= 2. [DLMF 5.15.1]
fn magnitude(order: u32, x: f64) -> f64 {
    if x == f64::INFINITY {
        return 0.0;
    }
    let n = f64::from(order);
    let factorial: f64 = (1..=order).map(f64::from).product();
    // Sum directly to x + k >= n + 8, from where ten terms of Euler and Maclaurin reach the last bit.
    let steps = (n + 8.0 - x).ceil().max(0.0) as u32;
    let end = x + f64::from(steps);
    let mut sum = factorial * euler_maclaurin(order, end);
    for k in (0..steps).rev() {
        sum += factorial * (x + f64::from(k)).powf(-(n + 1.0));
    }
    sum
}

/// sum over k >= 0 of (x+k)^-(n+1), for large x.
fn euler_maclaurin(order: u32, x: f64) -> f64 {
    let n = f64::from(order);
    let u = 1.0 / x;
    let z = u * u;
    // term = (n+1)(n+2)...(n+2k-1) u^(2k-1), next to u^n (1/n + u/2 + sum B_2k/(2k)! term u).
    let (mut sum, mut term) = (0.0, u);
    for (k, c) in EULER_MACLAURIN.iter().enumerate() {
        let rising = n + 2.0 * k as f64 + 1.0;
        term *= rising;
        sum += c * term;
        term *= (rising + 1.0) * z;
    }
    let bracket = 1.0 / n + u * (0.5 + sum);
    // u^n in two factors: the first does not underflow unless the result does.
    let half = order / 2;
    (bracket * x.powf(-f64::from(half))) * x.powf(-f64::from(order - half))
}

/// pi d^n/dx^n cot(pi x).
fn cotangent_derivative(order: u32, x: f64) -> f64 {
    // With c = cot(pi x): the n-th derivative is pi^n P_n(c), P_0 = c, P_(n+1) = -(1 + c^2) P_n'.
    let mut p = [0.0; MAX_ORDER as usize + 2];
    p[1] = 1.0;
    for _ in 0..order {
        let mut next = [0.0; MAX_ORDER as usize + 2];
        for k in 1..p.len() {
            let slope = k as f64 * p[k];
            next[k - 1] -= slope;
            if k + 1 < next.len() {
                next[k + 1] -= slope;
            }
        }
        p = next;
    }
    let (sin, cos) = sin_cos_pi(x);
    let c = cos / sin;
    let value = p.iter().rev().fold(0.0, |sum, p| sum * c + p);
    std::f64::consts::PI.powi(order as i32 + 1) * value
}
