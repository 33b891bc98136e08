//! The incomplete gamma functions of a large shape near its mean: Temme's uniform expansion.
//!
//! Q(a, x) = erfc(eta sqrt(a/2))/2 + exp(-a eta^2/2)/sqrt(2 pi a) (c_0(eta) + c_1(eta)/a + ...), where eta^2/2 =
//! x/a - 1 - ln(x/a) and eta has the sign of x - a; P is the same with both signs turned. [DLMF 8.12.3-8.12.10]

use super::coefficients::{SCALED_ERFC, TEMME};
use super::gaps::Tail;

/// From this shape on ten terms suffice; the error of each is below 1e-17 of the sum.
pub(super) const SMALLEST_SHAPE: f64 = 25.0;

/// x/a in this range has |eta| <= 0.48, where the polynomials hold: -0.471 and 0.473 at the ends.
pub(super) const NEAR: std::ops::RangeInclusive<f64> = 0.6..=1.55;

/// 1/(2 pi).
const INVERSE_2PI: f64 = 0.159_154_943_091_895_335_77;

/// The tail on x's side of the mean: P for x < a, Q for x >= a; `deviance` is a eta^2/2.
pub(super) fn outer_tail(a: f64, x: f64, deviance: f64) -> Tail {
    let deviance = deviance.max(0.0);
    let eta = (2.0 * deviance / a).sqrt();
    let (eta, sign) = if x < a { (-eta, -1.0) } else { (eta, 1.0) };
    // Terms that are left out are below 1e-17.
    let u = 1.0 / a;
    let sum = if a < 1e2 {
        expansion::<10>(eta, u)
    } else if a < 1e4 {
        expansion::<8>(eta, u)
    } else {
        expansion::<4>(eta, u)
    };
    Tail { exponent: -deviance, factor: 0.5 * scaled_erfc(deviance.sqrt()) + sign * (u * INVERSE_2PI).sqrt() * sum }
}

/// The first K terms.
fn expansion<const K: usize>(eta: f64, u: f64) -> f64 {
    // Side by side: the chains of K polynomials do not wait for one another.
    let mut terms = [0.0; K];
    for row in TEMME.iter().rev() {
        for (term, coefficient) in terms.iter_mut().zip(row) {
            *term = *term * eta + coefficient;
        }
    }
    terms.iter().rev().fold(0.0, |sum, term| sum * u + term)
}

/// exp(z^2) erfc(z) for z >= 0.
fn scaled_erfc(z: f64) -> f64 {
    let q = (z - 4.0) / (z + 4.0);
    let square = q * q;
    let (mut even, mut odd) = (0.0, 0.0);
    for pair in SCALED_ERFC.chunks_exact(2).rev() {
        even = even * square + pair[0];
        odd = odd * square + pair[1];
    }
    (even + q * odd) / (1.0 + 2.0 * z)
}
