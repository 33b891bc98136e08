//! Log-gamma ratios with about 30 digits, for the constants of privacy losses, whose terms cancel.

use crate::double_double::DoubleDouble;

/// B(2k) / (2k (2k - 1)) for k = 1, 2, ...: the coefficients of Stirling's series [DLMF 5.11.1].
const STIRLING: [DoubleDouble; 13] = [
    DoubleDouble::constant(0.08333333333333333, 4.625929269271485e-18),
    DoubleDouble::constant(-0.002777777777777778, 1.0601087908747154e-19),
    DoubleDouble::constant(0.0007936507936507937, 6.883823317368282e-22),
    DoubleDouble::constant(-0.0005952380952380953, 5.36938218754726e-20),
    DoubleDouble::constant(0.0008417508417508417, 3.6870174889237694e-20),
    DoubleDouble::constant(-0.0019175269175269176, 1.0675702776872475e-19),
    DoubleDouble::constant(0.00641025641025641, 2.2240044563805217e-19),
    DoubleDouble::constant(-0.029550653594771242, 4.861760957508855e-19),
    DoubleDouble::constant(0.17964437236883057, -6.401600482710946e-19),
    DoubleDouble::constant(-1.3924322169059011, 1.5837056989230303e-17),
    DoubleDouble::constant(13.402864044168393, -6.154114101993966e-16),
    DoubleDouble::constant(-156.84828462600203, 9.391823141715389e-15),
    DoubleDouble::constant(2193.1033333333335, -1.3339255626002948e-13),
];

/// From here on Stirling's series with 13 terms is exact to 1e-36.
const STIRLING_FROM: f64 = 40.0;

/// The remainder of Stirling's formula, lgamma(x) - ((x - 1/2) ln x - x + ln(2 pi)/2), for x > 0.
pub(crate) fn stirling_remainder(x: DoubleDouble) -> DoubleDouble {
    if x.to_f64() >= STIRLING_FROM {
        return stirling_series(x);
    }
    // lgamma(x) = lgamma(x + n) - ln(x (x + 1) ... (x + n - 1)).
    let mut product = x;
    let mut shifted = x + DoubleDouble::ONE;
    while shifted.to_f64() < STIRLING_FROM {
        product = product * shifted;
        shifted = shifted + DoubleDouble::ONE;
    }
    let half = DoubleDouble::from(0.5);
    stirling_series(shifted) + ((shifted - half) * shifted.ln() - shifted) - product.ln() - ((x - half) * x.ln() - x)
}

/// Stirling's asymptotic series for x >= 40.
fn stirling_series(x: DoubleDouble) -> DoubleDouble {
    let inverse = DoubleDouble::ONE / x;
    let square = inverse * inverse;
    let mut sum = DoubleDouble::ZERO;
    for &coefficient in STIRLING.iter().rev() {
        sum = sum * square + coefficient;
    }
    sum * inverse
}

/// lgamma(a + r) - lgamma(a) for a, a + r > 0, without cancellation when r is far below a.
pub(crate) fn log_gamma_ratio(a: DoubleDouble, r: DoubleDouble) -> DoubleDouble {
    let sum = a + r;
    (a - DoubleDouble::from(0.5)) * a.ln_ratio(r) + r * sum.ln() - r + (stirling_remainder(sum) - stirling_remainder(a))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(computed: DoubleDouble, hi: f64, lo: f64) {
        let error = (computed - DoubleDouble::constant(hi, lo)).to_f64().abs();
        assert!(error <= 1e-29 * hi.abs(), "{computed:?} against {hi} + {lo}: {error:e}");
    }

    // Expected values: mpmath with 60 digits, split into two doubles.
    #[test]
    fn logarithms_have_thirty_digits() {
        assert_close(DoubleDouble::from(10.0).ln(), std::f64::consts::LN_10, -2.1707562233822494e-16);
        assert_close(DoubleDouble::from(1e9).ln_ratio(1e-3.into()), LN_RATIO.0, LN_RATIO.1);
    }

    #[test]
    fn log_gamma_ratio_does_not_cancel() {
        assert_close(log_gamma_ratio(1e9.into(), 1e-3.into()), RATIO_LARGE.0, RATIO_LARGE.1);
        assert_close(log_gamma_ratio(1e-3.into(), 1e9.into()), RATIO_SMALL.0, RATIO_SMALL.1);
    }
    const LN_RATIO: (f64, f64) = (9.999999999995e-13, 6.514797418543752e-29);
    const RATIO_LARGE: (f64, f64) = (0.020723265836446913, -1.2756539807296032e-18);
    const RATIO_SMALL: (f64, f64) = (19723265820.61726, 1.1721812699640958e-06);
}
