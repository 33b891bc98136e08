//! Tails of the normal law, fast and to a few units in the last place: a table of the Mills ratio.
//!
//! R(t) = Q(t)/phi(t), Q the upper tail. With i_n(t) = integral over u > 0 of u^n exp(-u^2/2 - t u) it is i_0, and its
//! derivatives are (-1)^n i_n, so Taylor's series about a near node of a table gives it everywhere.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, FRAC_PI_2};
use std::sync::OnceLock;

use crate::once::kept;

/// Nodes per unit.
const DENSITY: f64 = 16.0;
/// The table ends here; beyond, a short continued fraction is as good.
const END: usize = 12;
/// Terms of Taylor's series: at distance 1/32 the next one is below 1e-17 of the sum.
const TERMS: usize = 10;
/// From here on the continued fraction of the nodes has converged after [`DEPTH`] steps: to exp(-2 t sqrt(DEPTH)).
const CONVERGENT: f64 = 0.5;
const DEPTH: usize = 2500;

static TABLE: OnceLock<Vec<[f64; TERMS]>> = OnceLock::new();

fn table() -> &'static Vec<[f64; TERMS]> {
    kept(&TABLE, || (0..=END * DENSITY as usize).map(|i| coefficients(i as f64 / DENSITY)).collect())
}

/// The density of the standard normal law at t.
pub(super) fn density(t: f64) -> f64 {
    INVERSE_SQRT_2PI * (-0.5 * t * t).exp()
}

const INVERSE_SQRT_2PI: f64 = 0.5 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2;

/// The Mills ratio of t >= 0.
pub(super) fn mills(t: f64) -> f64 {
    if t > END as f64 {
        return continued_fraction(t, 12);
    }
    let node = (t * DENSITY).round();
    let step = t - node / DENSITY;
    table()[node as usize].iter().rev().fold(0.0, |sum, c| sum * step + c)
}

/// The upper tail Q(t), told its density.
pub(super) fn tail(t: f64, density: f64) -> f64 {
    if t >= 0.0 { density * mills(t) } else { 1.0 - density * mills(-t) }
}

/// (-1)^n i_n(t)/n!.
fn coefficients(t: f64) -> [f64; TERMS] {
    let moments = if t < CONVERGENT { moments_near_zero(t) } else { moments_far(t) };
    let mut factorial = 1.0;
    let mut coefficients = [0.0; TERMS];
    for (n, moment) in moments.into_iter().enumerate() {
        factorial *= if n > 0 { -(n as f64) } else { 1.0 };
        coefficients[n] = moment / factorial;
    }
    coefficients
}

/// i_n(t) through the ratios i_n/i_(n-1) = n/(t + i_(n+1)/i_n), from far out: every term is positive.
fn moments_far(t: f64) -> [f64; TERMS] {
    let mut ratios = [0.0; TERMS + 1];
    let mut ratio = 0.0;
    for n in (1..=DEPTH).rev() {
        ratio = n as f64 / (t + ratio);
        if n <= TERMS {
            ratios[n] = ratio;
        }
    }
    let mut moments = [1.0 / (t + ratios[1]); TERMS];
    for n in 1..TERMS {
        moments[n] = moments[n - 1] * ratios[n];
    }
    moments
}

/// i_n(t) by the series about zero, where i_0 = sqrt(pi/2), i_1 = 1, i_(n+1) = n i_(n-1).
fn moments_near_zero(t: f64) -> [f64; TERMS] {
    const ORDERS: usize = 60;
    let mut at_zero = [FRAC_PI_2.sqrt(), 1.0].into_iter().chain([0.0; ORDERS - 2]).collect::<Vec<f64>>();
    for n in 1..ORDERS - 1 {
        at_zero[n + 1] = n as f64 * at_zero[n - 1];
    }
    std::array::from_fn(|n| {
        let (mut term, mut sum) = (1.0, 0.0);
        for (k, value) in at_zero[n..].iter().enumerate() {
            sum += term * value;
            term *= -t / (k + 1) as f64;
        }
        sum
    })
}

/// 1/(t + 1/(t + 2/(t + 3/...))).
fn continued_fraction(t: f64, depth: usize) -> f64 {
    1.0 / (t + (1..=depth).rev().fold(0.0, |rest, n| n as f64 / (t + rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// t and R(t), by quadrature with 30 digits (mpmath).
    const MILLS: [(f64, f64); 18] = [
        (0.0, 1.2533141373155002512),
        (0.01, 1.2433764712490347135),
        (0.03125, 1.2226660820269793236),
        (0.2, 1.0759446399152136826),
        (0.46, 0.89932249022635247872),
        (0.4999, 0.87642064120828516577),
        (0.5, 0.87636445645369234673),
        (0.51, 0.87077591443327838662),
        (1.0, 0.65567954241879847154),
        (1.7, 0.47385326896885909606),
        (3.33, 0.27844134269891302203),
        (7.9, 0.12464449448509557204),
        (11.99, 0.08283438774347813148),
        (12.0, 0.082766286501369177252),
        (12.5, 0.079497529161117212313),
        (20.0, 0.049875925981836783658),
        (37.0, 0.027007327965128336063),
        (100.0, 0.0099990002998501049056),
    ];

    #[test]
    fn mills_ratios_are_right_to_a_few_units() {
        for (t, expected) in MILLS {
            assert!((mills(t) / expected - 1.0).abs() < 8e-16, "{t}: {} {expected}", mills(t));
        }
    }

    #[test]
    fn both_tails_sum_to_one() {
        for t in [0.0, 0.3, 1.0, 4.0] {
            let density = density(t);
            assert!((tail(t, density) + tail(-t, density) - 1.0).abs() < 4e-16, "{t}");
        }
        assert!((density(0.0) - 0.398_942_280_401_432_7).abs() < 1e-16);
    }

    #[test]
    fn densities_and_tails_are_right_on_both_sides() {
        // t, the density and the upper tail, with 20 digits (mpmath).
        const VALUES: [(f64, f64, f64); 8] = [
            (-6.5, 2.6695566147628519167e-10, 0.99999999995983999416),
            (-1.5, 0.12951759566589172761, 0.933192798731141934),
            (-0.015625, 0.39889358436482528447, 0.50623321949988968283),
            (0.015625, 0.39889358436482528447, 0.49376678050011031717),
            (1.5, 0.12951759566589172761, 0.066807201268858066004),
            (6.5, 2.6695566147628519167e-10, 4.0160005838591178083e-11),
            (13.0, 7.9988277570068114977e-38, 6.1171643995498796823e-39),
            (30.0, 1.473646134878547519e-196, 4.9067139271481870595e-198),
        ];
        for (t, exact, upper) in VALUES {
            let found = density(t);
            assert!((found / exact - 1.0).abs() < 1e-15 * (1.0 + t * t), "{t}: {found:e} {exact:e}");
            let found = tail(t, found);
            assert!((found / upper - 1.0).abs() < 1e-15 * (2.0 + t * t), "{t}: {found:e} {upper:e}");
        }
    }
}
