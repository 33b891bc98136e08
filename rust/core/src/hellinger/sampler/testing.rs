//! Pearson's chi-square test, for the tests of this module.

/// Cells of smaller expectation are pooled.
const LEAST_EXPECTED: f64 = 8.0;

/// Pearson's statistic of pairs (expected, observed) and its degrees of freedom.
pub(super) fn pearson(pairs: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let (mut statistic, mut cells, mut rest) = (0.0, 0.0, (0.0, 0.0));
    for (expected, observed) in pairs {
        if expected >= LEAST_EXPECTED {
            statistic += (observed - expected).powi(2) / expected;
            cells += 1.0;
        } else {
            rest = (rest.0 + expected, rest.1 + observed);
        }
    }
    if rest.0 > 2.0 {
        statistic += (rest.1 - rest.0).powi(2) / rest.0;
        cells += 1.0;
    } else {
        // Next to nothing was expected there: 30 draws have a chance below 1e-20.
        assert!(rest.1 < 30.0, "{rest:?}");
    }
    (statistic, cells - 1.0)
}

/// A chi-square variable exceeds this with at most this probability (Laurent and Massart 2000, lemma 1).
pub(super) fn chi_square_limit(degrees: f64, false_alarm: f64) -> f64 {
    let x = -false_alarm.ln();
    degrees + 2.0 * (degrees * x).sqrt() + 2.0 * x
}
