//! The rejection sampler of the Hellinger mechanism over hostile data: acceptance, extremes, repeatability.

use simplexdp_core::hellinger::sampler::HellingerSampler;
use simplexdp_core::hellinger::{Family, Shape};
use simplexdp_core::lattice::Lattice;
use simplexdp_core::random::StreamKey;

/// Counts that add up to n: balanced, Zipf with exponent 1.2, one cell, half empty.
fn shapes(n: u64, m: usize) -> [Vec<u64>; 4] {
    let spread = |n: u64, parts: u64| (0..parts).map(move |i| n / parts + u64::from(i < n % parts));
    let powers: Vec<f64> = (1..=m).map(|i| (i as f64).powf(-1.2)).collect();
    let sum: f64 = powers.iter().sum();
    let mut zipf: Vec<u64> = powers.iter().map(|power| (n as f64 * power / sum) as u64).collect();
    zipf[0] += n - zipf.iter().sum::<u64>();
    let mut one = vec![0; m];
    one[0] = n;
    let mut half: Vec<u64> = spread(n, m as u64 / 2).collect();
    half.resize(m, 0);
    [spread(n, m as u64).collect(), zipf, one, half]
}

/// The exponent of the adaptive mechanism at this epsilon, near enough.
fn exponent(prior: &[f64], x: &[u64], epsilon: f64) -> f64 {
    let family = Family::new(prior, x.iter().sum()).unwrap();
    epsilon / 1.3 * family.inverse_sensitivity(x, Shape::Lifted)
}

// 144 cases a number of categories, those of more than 10^6 candidates with 60 draws each. The measured rate is within 6 standard deviations, 1e-9,
// of the true one when that is 0.55/sqrt(m) or more; the smallest of 5880 cases was 0.53/sqrt(m), with as few draws.
#[test]
fn acceptance_stays_above_its_bound_over_hostile_data() {
    for (m, n) in [2usize, 30, 300].into_iter().flat_map(|m| [5, 100, 10_000, 1_000_000_000].map(|n| (m, n))) {
        if Lattice::new(n, m).unwrap().log_count() < 1e6f64.ln() {
            continue;
        }
        let mixed: Vec<f64> = (0..m).map(|i| [0.01, 1.0, 50.0, 0.3][(i * 7 + i / 4) % 4]).collect();
        for prior in [vec![0.01; m], vec![1.0; m], vec![50.0; m], mixed] {
            for x in shapes(n, m) {
                for epsilon in [0.1, 3.0, 30.0] {
                    let sampler = HellingerSampler::new(&x, &prior, exponent(&prior, &x, epsilon)).unwrap();
                    let mut stream = StreamKey::from_bytes([5; 32]).stream(n);
                    for _ in 0..60 {
                        assert_eq!(sampler.sample(&mut stream).unwrap().iter().sum::<u64>(), n);
                    }
                    let rate = sampler.acceptance_rate();
                    assert!(rate >= 0.3 / (m as f64).sqrt(), "{rate}: n {n}, m {m}, {} {epsilon}", prior[0]);
                }
            }
        }
    }
}

#[test]
fn extreme_arguments_give_a_draw() {
    let draw = |counts: &[u64], prior: &[f64], exponent: f64| {
        let sampler = HellingerSampler::new(counts, prior, exponent).unwrap();
        let counts_out = sampler.sample(&mut StreamKey::from_bytes([6; 32]).stream(0)).unwrap();
        assert_eq!(counts_out.iter().sum::<u64>(), counts.iter().sum::<u64>());
        counts_out
    };
    for exponent in [1e-300, 1e-3, 1.0, 1e4, 1e12] {
        for prior in [1e-100, 1e-12, 0.5, 1.0] {
            draw(&[1, 0], &[prior; 2], exponent);
            draw(&[5, 1000, 0, 0], &[prior; 4], exponent);
            draw(&[1 << 42, 1 << 42], &[prior; 2], exponent);
            draw(&[1 << 43, 0, 0], &[prior; 3], exponent);
        }
        draw(&[1000, 0, 0, 1 << 30], &[1e-100, 1e6, 1e-5, 1.0], exponent);
    }
    assert_eq!(draw(&[1 << 42, 3, 0], &[1.0; 3], 1e12), [1 << 42, 3, 0]);
}

#[test]
fn many_distinct_categories_are_affordable() {
    let x: Vec<u64> = (0..1200).map(|i| 20_000 + 37 * i).collect();
    let prior = vec![1.0; x.len()];
    let sampler = HellingerSampler::new(&x, &prior, 3000.0).unwrap();
    let draw = sampler.sample(&mut StreamKey::from_bytes([7; 32]).stream(0)).unwrap();
    assert_eq!(draw.iter().sum::<u64>(), x.iter().sum::<u64>());
    assert!(sampler.envelope_evaluations() < 200 && sampler.acceptance_rate() > 0.3 / 1200f64.sqrt() / 20.0);
}

#[test]
fn a_stream_repeats_its_draws() {
    let sampler = HellingerSampler::new(&[50, 3, 0, 12], &[1.0; 4], 20.0).unwrap();
    let draws = || {
        let mut stream = StreamKey::from_bytes([8; 32]).stream(1);
        (0..20).map(|_| sampler.sample(&mut stream).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(draws(), draws());
}

#[test]
fn the_reported_error_is_far_below_any_epsilon() {
    assert!(HellingerSampler::new(&[3, 4], &[1.0; 2], 1.0).unwrap().log_error() < 1e-20);
}
