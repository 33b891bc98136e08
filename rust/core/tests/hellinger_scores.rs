//! Scores of the Hellinger mechanism against values of 25 digits.

use simplexdp_core::hellinger::scores::{coordinate_score, g, h};

fn relative_error(value: f64, expected: f64) -> f64 {
    if expected == 0.0 { value.abs() } else { (value / expected - 1.0).abs() }
}

#[test]
fn scores_keep_fourteen_digits_from_tiny_priors_to_counts_of_a_million_million() {
    let (mut worst_g, mut worst_h) = (0.0_f64, 0.0_f64);
    for line in include_str!("../../../tests/golden/data/hellinger_scores.csv").lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (prior, x, k): (f64, u64, u64) =
            (fields[0].parse().unwrap(), fields[1].parse().unwrap(), fields[2].parse().unwrap());
        let (expected_g, expected_h): (f64, f64) = (fields[3].parse().unwrap(), fields[4].parse().unwrap());
        let score = coordinate_score(prior, x, k);
        assert!(score <= 0.0 && score == coordinate_score(prior, k, x), "{line}");
        assert_eq!(g(prior + x as f64, prior + k as f64), g(prior + k as f64, prior + x as f64));
        worst_g = worst_g.max(relative_error(score, expected_g));
        // h takes the rounded sum of prior and count: its argument is off by 2^-53, and so is it, relatively.
        worst_h = worst_h.max(relative_error(h(prior + x as f64), expected_h));
    }
    println!("largest relative errors: g {worst_g:.1e}, h {worst_h:.1e}");
    assert!(worst_g < 1e-14 && worst_h < 1e-14, "{worst_g:e} {worst_h:e}");
}
