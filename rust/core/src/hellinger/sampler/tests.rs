//! The sampler against enumeration, through all of its paths.

use std::collections::HashMap;

use super::testing::{chi_square_limit, pearson};
use super::{HellingerSampler, Settings};
use crate::hellinger::scores::coordinate_score;
use crate::lattice::Lattice;
use crate::random::StreamKey;
use crate::special::log_gamma;

type Setting = (&'static [u64], &'static [f64], f64);

/// The unnormalised probability of a candidate by plain log-gamma differences.
fn weight((counts, prior, exponent): Setting, candidate: &[u64]) -> f64 {
    let of = |((&k, &x), &prior): ((&u64, &u64), &f64)| {
        let (a, b) = (prior + x as f64, prior + k as f64);
        log_gamma(0.5 * (a + b)) - 0.5 * (log_gamma(a) + log_gamma(b))
    };
    let score: f64 = candidate.iter().zip(counts).zip(prior).map(of).sum();
    (-exponent * (-score.min(0.0).exp_m1()).sqrt()).exp()
}

fn probabilities(setting: Setting) -> HashMap<Vec<u64>, f64> {
    let lattice = Lattice::new(setting.0.iter().sum(), setting.0.len()).unwrap();
    let mut weights = HashMap::new();
    lattice
        .for_each(0..lattice.count().unwrap(), |candidate| {
            weights.insert(candidate.to_vec(), weight(setting, candidate));
        })
        .unwrap();
    let total: f64 = weights.values().sum();
    weights.values_mut().for_each(|weight| *weight /= total);
    weights
}

/// The test fails when the draws deviate from enumeration as they should in one of 1e8 runs.
fn check(setting: Setting, settings: Settings, n_draws: usize) {
    let sampler = HellingerSampler::with_settings(setting.0, setting.1, setting.2, settings).unwrap();
    let mut stream = StreamKey::from_bytes([21; 32]).stream(setting.2.to_bits());
    let mut seen: HashMap<Vec<u64>, f64> = HashMap::new();
    for _ in 0..n_draws {
        *seen.entry(sampler.sample(&mut stream).unwrap()).or_default() += 1.0;
    }
    let expected = probabilities(setting);
    assert!(seen.keys().all(|candidate| expected.contains_key(candidate)));
    let pairs = expected.iter().map(|(candidate, p)| (p * n_draws as f64, seen.get(candidate).copied().unwrap_or(0.0)));
    let (statistic, degrees) = pearson(pairs);
    println!("{setting:?}: {statistic:.1} with {degrees} degrees, acceptance {:.3}", sampler.acceptance_rate());
    assert!(statistic < chi_square_limit(degrees, 1e-8), "{setting:?} {settings:?}: {statistic} with {degrees}");
}

const SETTINGS: &[Setting] = &[
    (&[3, 4, 5], &[1.0, 1.0, 1.0], 4.0),
    (&[12, 0, 30], &[1.0, 1.0, 1.0], 9.0),
    (&[30, 10], &[1.0, 1.0], 60.0),
    (&[30, 10], &[1.0, 1.0], 0.1),
    (&[0, 6], &[0.5, 0.5], 2.0),
    (&[5, 0, 0, 0, 0], &[0.01; 5], 6.0),
    (&[2, 1, 0, 0, 0, 0, 0], &[1.0; 7], 1.0),
    (&[2, 1, 0, 0, 0, 0, 0], &[1.0; 7], 8.0),
    (&[1, 1, 1, 0, 0, 0, 0], &[50.0; 7], 30.0),
    (&[60, 40], &[1.0, 1.0], 70.0),
    (&[60, 40], &[1e-9, 1e9], 20.0),
    (&[4, 0, 3, 1], &[1e-4, 300.0, 2.0, 0.5], 5.0),
    (&[4, 0, 3, 1], &[1e-4, 300.0, 2.0, 0.5], 50.0),
    (&[60, 60, 60], &[30.0, 30.0, 30.0], 60.0),
    (&[7, 7, 7, 7], &[7.0, 4.0, 5.0, 0.3], 12.0),
    (&[1, 0], &[1e-3, 1e3], 3.0),
    (&[1, 0, 2], &[1e-30, 1.0, 1.0], 3.0),
    (&[20, 0, 1], &[0.5, 0.5, 0.5], 0.0),
    (&[400, 0], &[0.2, 0.2], 15.0),
];

// 19 settings of 20000 draws; false alarms 2e-7 in all.
#[test]
fn draws_agree_with_enumeration() {
    for &setting in SETTINGS {
        check(setting, Settings::default(), 20_000);
    }
}

// The same with tables of 2^5 units, where one draw in a few dozen visits a tail; false alarms 2e-7 in all.
#[test]
fn draws_agree_with_enumeration_through_the_tails_of_tables() {
    for &setting in SETTINGS {
        check(setting, Settings { unit_bits: 5, ..Settings::default() }, 10_000);
    }
}

// The same with interpolated nodes; false alarms 2e-7 in all.
#[test]
fn draws_agree_with_enumeration_through_interpolated_nodes() {
    for &setting in SETTINGS {
        check(setting, Settings { interpolate_from: 0, ..Settings::default() }, 10_000);
    }
}

// The same with every decision taken to thirty digits; false alarms 2e-7 in all.
#[test]
fn draws_agree_with_enumeration_when_thirty_digits_decide() {
    for &setting in SETTINGS {
        check(setting, Settings { least_error: 1e9, ..Settings::default() }, 2000);
    }
}

// One setting of 40000 draws at n = 5 10^9, where doubles still tell neighbours apart; false alarm 1e-8.
#[test]
fn draws_agree_with_enumeration_for_a_large_exponent_and_total() {
    const REACH: u64 = 400;
    let (x, exponent, n_draws) = ([3_000_000_000u64, 2_000_000_000], 2e4, 40_000);
    let sampler = HellingerSampler::new(&x, &[0.5, 7.0], exponent).unwrap();
    let mut stream = StreamKey::from_bytes([22; 32]).stream(0);
    let mut seen = vec![0.0; 2 * REACH as usize + 1];
    for _ in 0..n_draws {
        let counts = sampler.sample(&mut stream).unwrap();
        assert_eq!(counts[0] + counts[1], 5_000_000_000);
        seen[(counts[0] + REACH - x[0]) as usize] += 1.0;
    }
    let weights: Vec<f64> = (0..=2 * REACH)
        .map(|i| {
            let score = coordinate_score(0.5, x[0], x[0] + i - REACH) + coordinate_score(7.0, x[1], x[1] + REACH - i);
            (-exponent * (-score.exp_m1()).sqrt()).exp()
        })
        .collect();
    let total: f64 = weights.iter().sum();
    let (statistic, degrees) =
        pearson(weights.iter().zip(&seen).map(|(weight, &count)| (weight / total * f64::from(n_draws), count)));
    assert!(degrees > 20.0 && statistic < chi_square_limit(degrees, 1e-8), "{statistic} with {degrees}");
}

#[test]
fn the_two_precisions_agree_on_the_probability_of_acceptance() {
    let cases: [Setting; 4] = [
        (&[30, 10, 0], &[1.0, 0.1, 1.0], 20.0),
        (&[1_000_000, 0, 70_000], &[1.0, 0.01, 50.0], 900.0),
        (&[1_000_000_000, 30_000_000_000], &[1.0, 0.3], 1e4),
        (&[5, 0, 0, 0, 0, 0], &[50.0; 6], 30.0),
    ];
    for (counts, prior, exponent) in cases {
        let sampler = HellingerSampler::new(counts, prior, exponent).unwrap();
        let mut stream = StreamKey::from_bytes([23; 32]).stream(0);
        for component in 0..sampler.components.len() {
            let proposal = match component {
                0 => Some(sampler.propose_uniform(&mut stream)),
                _ => sampler.propose_product(component, &mut stream).unwrap(),
            };
            let Some(proposal) = proposal else { continue };
            let (log_ratio, error) = sampler.log_ratio(&proposal);
            let (exact, exact_error) = sampler.exact_log_ratio(&proposal).unwrap();
            // A quarter of the bound: the bound is meant to be generous.
            assert!((exact.to_f64() - log_ratio).abs() <= 0.25 * error, "{counts:?}: {log_ratio} {exact:?} {error}");
            assert!(
                log_ratio < error && error < 1e-4 && exact_error < 1e-19,
                "{counts:?}: {log_ratio} {error} {exact_error}"
            );
        }
    }
}

#[test]
fn bad_arguments_are_named() {
    let message = |counts: &[u64], prior: &[f64], exponent| {
        HellingerSampler::new(counts, prior, exponent).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(message(&[3], &[1.0], 1.0), "counts must have at least two categories, got 1");
    assert_eq!(message(&[3, 4], &[1.0], 1.0), "prior must have one value for each category, got 1");
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200] {
        assert!(message(&[3, 4], &[1.0, value], 1.0).starts_with("prior must lie between 1e-100 and 1e12"), "{value}");
    }
    for value in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(message(&[3, 4], &[1.0, 1.0], value).starts_with("exponent must lie between 0 and 1e12"), "{value}");
    }
    for counts in [[1 << 43, 1], [u64::MAX, u64::MAX]] {
        assert!(message(&counts, &[1.0, 1.0], 1.0).starts_with("counts must add up to at most 2^43"));
    }
}

#[test]
fn no_observations_leave_one_candidate() {
    let sampler = HellingerSampler::new(&[0, 0, 0], &[1.0; 3], 5.0).unwrap();
    assert_eq!(sampler.sample(&mut StreamKey::from_bytes([1; 32]).stream(0)).unwrap(), [0, 0, 0]);
}
