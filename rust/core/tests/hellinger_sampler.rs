//! The rejection sampler of the Hellinger mechanism against enumeration, and its acceptance over hostile data.

use std::collections::HashMap;

use simplexdp_core::hellinger::sampler::HellingerSampler;
use simplexdp_core::random::StreamKey;
use simplexdp_core::special::log_gamma;

/// All compositions of n into m parts.
fn compositions(n: u64, m: usize) -> Vec<Vec<u64>> {
    if m == 1 {
        return vec![vec![n]];
    }
    let with_first = |k: u64| {
        compositions(n - k, m - 1).into_iter().map(move |mut rest| {
            rest.insert(0, k);
            rest
        })
    };
    (0..=n).flat_map(with_first).collect()
}

/// The probabilities of all candidates by plain log-gamma differences.
fn probabilities(counts: &[u64], prior: &[f64], exponent: f64) -> HashMap<Vec<u64>, f64> {
    let score = |k: &[u64]| -> f64 {
        let of = |((&k, &x), &prior): ((&u64, &u64), &f64)| {
            let (a, b) = (prior + x as f64, prior + k as f64);
            log_gamma(0.5 * (a + b)) - 0.5 * (log_gamma(a) + log_gamma(b))
        };
        k.iter().zip(counts).zip(prior).map(of).sum()
    };
    let candidates = compositions(counts.iter().sum(), counts.len());
    let log_weights: Vec<f64> =
        candidates.iter().map(|k| -exponent * (-score(k).min(0.0).exp_m1()).max(0.0).sqrt()).collect();
    let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = log_weights.iter().map(|l| (l - largest).exp()).sum();
    candidates.into_iter().zip(log_weights.iter().map(|l| (l - largest).exp() / total)).collect()
}

/// Pearson's statistic of `n_draws` draws, small cells pooled, and its degrees of freedom.
fn chi_square(counts: &[u64], prior: &[f64], exponent: f64, n_draws: usize, index: u64) -> (f64, f64) {
    let sampler = HellingerSampler::new(counts, prior, exponent).unwrap();
    let mut stream = StreamKey::from_bytes([21; 32]).stream(index);
    let mut seen: HashMap<Vec<u64>, f64> = HashMap::new();
    for _ in 0..n_draws {
        *seen.entry(sampler.sample(&mut stream).unwrap()).or_default() += 1.0;
    }
    let (mut statistic, mut cells, mut rest) = (0.0, 0.0, (0.0, 0.0));
    for (candidate, probability) in probabilities(counts, prior, exponent) {
        let expected = probability * n_draws as f64;
        let count = seen.remove(&candidate).unwrap_or(0.0);
        if expected >= 8.0 {
            statistic += (count - expected).powi(2) / expected;
            cells += 1.0;
        } else {
            rest = (rest.0 + expected, rest.1 + count);
        }
    }
    assert!(seen.is_empty(), "not a candidate: {seen:?}");
    if rest.0 > 2.0 {
        statistic += (rest.1 - rest.0) * (rest.1 - rest.0) / rest.0;
        cells += 1.0;
    } else {
        // Next to nothing was expected there: 30 draws have a chance below 1e-20.
        assert!(rest.1 < 30.0, "{rest:?}");
    }
    println!(
        "{counts:?} c {exponent}: {statistic:.1} with {} degrees, acceptance {:.3}, {} evaluations",
        cells - 1.0,
        sampler.acceptance_rate(),
        sampler.envelope_evaluations()
    );
    (statistic, cells - 1.0)
}

/// A chi-square variable exceeds this with probability 1e-6 / 20 at most (Laurent and Massart 2000, lemma 1, at 16.9).
fn chi_square_limit(degrees: f64) -> f64 {
    degrees + 2.0 * (degrees * 16.9).sqrt() + 2.0 * 16.9
}

// 20 settings of 20000 draws; false alarms 1e-6 in all.
#[test]
fn draws_agree_with_enumeration() {
    let settings: &[(&[u64], &[f64], f64)] = &[
        (&[3, 4, 5], &[1.0, 1.0, 1.0], 4.0),
        (&[12, 0, 30], &[1.0, 1.0, 1.0], 9.0),
        (&[30, 10], &[1.0, 1.0], 60.0),
        (&[30, 10], &[1.0, 1.0], 0.1),
        (&[0, 6], &[0.5, 0.5], 2.0),
        (&[5, 0, 0, 0, 0], &[0.01; 5], 6.0),
        (&[2, 1, 0, 0, 0, 0, 0], &[1.0; 7], 1.0),
        (&[2, 1, 0, 0, 0, 0, 0], &[1.0; 7], 8.0),
        (&[1, 1, 1, 0, 0, 0, 0], &[50.0; 7], 30.0),
        (&[60, 40], &[1.0, 1.0], 800.0),
        (&[60, 40], &[1e-9, 1e9], 20.0),
        (&[4, 0, 3, 1], &[1e-4, 300.0, 2.0, 0.5], 5.0),
        (&[4, 0, 3, 1], &[1e-4, 300.0, 2.0, 0.5], 50.0),
        (&[200, 200, 200], &[30.0, 30.0, 30.0], 900.0),
        (&[200, 200, 200], &[30.0, 30.0, 30.0], 2e4),
        (&[7, 7, 7, 7], &[7.0, 4.0, 5.0, 0.3], 12.0),
        (&[1, 0], &[1e-3, 1e3], 3.0),
        (&[1, 0, 0], &[1e-30, 1e-30, 1.0], 40.0),
        (&[100, 0, 1], &[0.5, 0.5, 0.5], 0.0),
        (&[400, 0], &[0.2, 0.2], 15.0),
    ];
    for (index, &(counts, prior, exponent)) in settings.iter().enumerate() {
        let (statistic, degrees) = chi_square(counts, prior, exponent, 20_000, index as u64);
        assert!(statistic < chi_square_limit(degrees), "{counts:?} {prior:?} {exponent}: {statistic} with {degrees}");
    }
}
