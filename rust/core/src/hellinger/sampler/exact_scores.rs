//! Scores in double-double arithmetic: the second opinion where doubles leave a decision open.
//!
//! With M = (a+b)/2 and d = (b-a)/2, M^2 = a b + d^2, so that shifting the arguments is a sum of one sign,
//! g(a, b) = g(a+N, b+N) - sum_(j<N) log1p(d^2 / ((a+j)(b+j)))/2, and for large arguments Stirling's series gives
//! g(a, b) = -((a-1/2) f(d/a) + (b-1/2) f(-d/b) + d^2/(a b))/2 + R(M) - (R(a) + R(b))/2, f(t) = t - log1p(t) >= 0,
//! where R(x) = sum_k B_2k / (2k (2k-1) x^(2k-1)) moves g by less than a quarter of itself.

use crate::double_double::DoubleDouble;

/// Stirling's series is used from here on; with [`STIRLING`] its relative error is below 1e-34.
const ASYMPTOTIC_FROM: f64 = 32.0;

/// B_2k / (2k (2k-1)) as numerators and denominators.
const STIRLING: [(f64, f64); 14] = [
    (1.0, 12.0),
    (-1.0, 360.0),
    (1.0, 1260.0),
    (-1.0, 1680.0),
    (1.0, 1188.0),
    (-691.0, 360_360.0),
    (1.0, 156.0),
    (-3617.0, 122_400.0),
    (43_867.0, 244_188.0),
    (-174_611.0, 125_400.0),
    (77_683.0, 5796.0),
    (-236_364_091.0, 1_506_960.0),
    (657_931.0, 300.0),
    (-3_392_780_147.0, 93_960.0),
];

/// g(alpha + x, alpha + k), with a relative error below 2^-92; alpha is the real number that the double is.
pub(super) fn exact_score(prior: f64, x: u64, k: u64) -> DoubleDouble {
    if x == k {
        return DoubleDouble::from(0.0);
    }
    let d = DoubleDouble::from(0.5 * (k as f64 - x as f64));
    let mut a = DoubleDouble::sum(x as f64, prior);
    let mut b = DoubleDouble::sum(k as f64, prior);
    let (one, square) = (DoubleDouble::from(1.0), d * d);
    let mut shifted = DoubleDouble::from(0.0);
    while a.to_f64().min(b.to_f64()) < ASYMPTOTIC_FROM {
        shifted = shifted + (square / (a * b)).ln_1p();
        a = a + one;
        b = b + one;
    }
    let half = DoubleDouble::from(0.5);
    let bend = (a - half) * (d / a).log1p_gap() + (b - half) * (-d / b).log1p_gap() + square / (a * b);
    let remainder = stirling_remainder(a + d) - (stirling_remainder(a) + stirling_remainder(b)) * 0.5;
    remainder - (bend + shifted) * 0.5
}

/// R(x).
fn stirling_remainder(x: DoubleDouble) -> DoubleDouble {
    let inverse = DoubleDouble::from(1.0) / x;
    let square = inverse * inverse;
    let series = STIRLING.iter().rev().fold(DoubleDouble::from(0.0), |sum, &(numerator, denominator)| {
        sum * square + DoubleDouble::from(numerator) / DoubleDouble::from(denominator)
    });
    series * inverse
}

/// ln binom(n + m - 1, m - 1), the logarithm of the number of candidates, to an absolute error below 2^-75.
pub(super) fn log_n_candidates(n: u64, m: usize) -> DoubleDouble {
    let (fewer, more) = (n.min(m as u64 - 1), n.max(m as u64 - 1));
    // sum of log1p(more / j): all of one sign.
    let mut sum = DoubleDouble::from(0.0);
    let mut product = DoubleDouble::from(1.0);
    for j in 1..=fewer {
        product = product * (DoubleDouble::from(more + j) / DoubleDouble::from(j));
        if product.to_f64() > 1e200 {
            sum = sum + product.ln();
            product = DoubleDouble::from(1.0);
        }
    }
    sum + product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hellinger::scores::coordinate_score;

    #[test]
    fn doubles_agree_to_their_last_digits() {
        let mut worst: f64 = 0.0;
        for prior in [1e-6, 0.01, 0.5, 1.0, 7.25, 50.0, 1e5] {
            for x in [0u64, 1, 2, 9, 40, 1000, 123_456, 1_000_000_000, 1_000_000_000_000] {
                for k in [0, 1, x / 2, x.saturating_sub(30), x.saturating_sub(1), x + 1, x + 7, x + x / 9, 3 * x + 5] {
                    let exact = exact_score(prior, x, k).to_f64();
                    let double = coordinate_score(prior, x, k);
                    if exact != 0.0 {
                        worst = worst.max((double / exact - 1.0).abs());
                    }
                }
            }
        }
        assert!(worst < super::super::SCORE_ERROR / 4.0, "{worst:e}");
    }

    #[test]
    fn scores_have_twenty_seven_digits() {
        for &(prior, x, k, high, low) in CASES {
            let expected = DoubleDouble::sum(high, low);
            let error = ((exact_score(prior, x, k) - expected).to_f64() / high).abs();
            assert!(error < 2f64.powi(-92), "{prior} {x} {k}: {error:e}");
        }
    }

    #[test]
    fn candidates_are_counted() {
        assert!((log_n_candidates(10, 3).to_f64() - 66f64.ln()).abs() < 1e-15);
        assert!((log_n_candidates(2, 30).to_f64() - 465f64.ln()).abs() < 1e-15);
        assert_eq!(log_n_candidates(0, 5).to_f64(), 0.0);
    }

    // mpmath, 120 digits: prior, x, k and the score as the sum of two doubles.
    const CASES: &[(f64, u64, u64, f64, f64)] = &[
        (0.01, 0, 3, -2.771308046844017, -1.2521381864769815e-16),
        (1.0, 5, 0, -1.1927722690439488, 6.835324493246578e-17),
        (1.0, 1000000000, 1000000001, -1.24999999875e-10, -1.0986002926193759e-26),
        (0.01, 1000000000, 999960000, -0.20000400019133965, 1.1231616245341003e-19),
        (1e-06, 0, 7, -8.996406827268093, 3.572482716501445e-16),
        (2.5, 1000000000000, 1000000000003, -1.1249999999960626e-12, 6.433522742526964e-29),
        (50.0, 0, 100, -13.15340188126076, 8.718073180098128e-16),
        (0.3, 7, 1000000, -346532.01939594885, -2.84508636440194e-12),
        (7.25, 123456, 100000, -616.6374635112304, 1.0126551618310065e-14),
        (0.5, 40, 41, -0.003086341364235352, -1.9910339403058804e-20),
    ];
}
