//! Chi-square tests shared by the statistical tests.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// False alarm 1e-6; expected counts below 10 are pooled.
pub(crate) fn assert_fits(counts: &[u64], probabilities: &[f64]) {
    let n = counts.iter().sum::<u64>() as f64;
    let (mut statistic, mut cells, mut pool) = (0.0, 0, (0.0, 0.0));
    let mut add = |observed: f64, expected: f64| {
        statistic += (observed - expected).powi(2) / expected;
        cells += 1;
    };
    for (&observed, p) in counts.iter().zip(probabilities) {
        if n * p >= 10.0 {
            add(observed as f64, n * p);
        } else {
            pool = (pool.0 + observed as f64, pool.1 + n * p);
        }
    }
    if pool.1 >= 10.0 {
        add(pool.0, pool.1);
    } else {
        assert!(pool.0 <= 40.0, "{} draws where {} are expected", pool.0, pool.1);
    }
    let p_value = if cells > 1 { ChiSquared::new(f64::from(cells - 1)).unwrap().sf(statistic) } else { 1.0 };
    assert!(p_value > 1e-6, "chi-square {statistic} over {cells} cells, p = {p_value:e}");
}
