//! Exact noise and urns against their laws, at the ends of the parameter range and with hostile parameters.

mod fit;

use fit::assert_fits;
use num_bigint::BigUint;
use simplexdp_core::random::{Bits, StreamKey};
use simplexdp_core::sampling::{DiscreteNoise, PolyaUrn, Rational, SumPreservingLaplace, exp_neg_enclosed};
use simplexdp_core::special::log_gamma;

const DRAWS: usize = 300_000;

fn rational(value: f64) -> Rational {
    Rational::from_f64("value", value).unwrap()
}

/// Counts in `2 n + 1` cells of equal width around zero, the outer ones open.
fn histogram(noise: &DiscreteNoise, width: i64, n: i64, seed: u8) -> Vec<u64> {
    let mut stream = StreamKey::from_bytes([seed; 32]).stream(0);
    let mut counts = vec![0; (2 * n + 1) as usize];
    for _ in 0..DRAWS {
        let cell = (noise.sample(&mut stream) + width / 2).div_euclid(width).clamp(-n, n);
        counts[(cell + n) as usize] += 1;
    }
    counts
}

/// The probabilities of those cells, summed from unnormalised ones.
fn cells(weight: impl Fn(i64) -> f64, width: i64, n: i64) -> Vec<f64> {
    let sums: Vec<f64> =
        (-2 * n..=2 * n).map(|c| (0..width).map(|j| weight(c * width - width / 2 + j)).sum()).collect();
    let total: f64 = sums.iter().sum();
    let (n, outer) = (n as usize, 2 * n as usize);
    let mut inner: Vec<f64> = sums[n..=3 * n].iter().map(|s| s / total).collect();
    inner[0] += sums[..n].iter().sum::<f64>() / total;
    inner[outer] += sums[3 * n + 1..].iter().sum::<f64>() / total;
    inner
}

#[test]
fn discrete_laplace_has_its_law() {
    // From scales with one block of width 1 over the change of block width at 16 to wide blocks.
    for (seed, scale) in [0.05, 0.3, 1.0, 2.0 / 3.0, 10.0, 15.9, 16.0, 33.3, 1000.0].into_iter().enumerate() {
        let noise = DiscreteNoise::laplace(&rational(scale)).unwrap();
        let (width, n) = if scale < 40.0 { (1, 1000) } else { (101, 300) };
        let counts = histogram(&noise, width, n, seed as u8);
        assert_fits(&counts, &cells(|x| (-x.abs() as f64 / scale).exp(), width, n));
    }
}

#[test]
fn discrete_gaussian_has_its_law() {
    for (seed, sigma) in [0.05, 0.3, 1.0, 2.0 / 3.0, 10.0, 15.9, 16.0, 33.3, 1000.0].into_iter().enumerate() {
        let noise = DiscreteNoise::gaussian(&rational(sigma)).unwrap();
        let (width, n) = if sigma < 40.0 { (1, 300) } else { (101, 100) };
        let counts = histogram(&noise, width, n, seed as u8 + 50);
        assert_fits(&counts, &cells(|x| (-(x as f64 / sigma).powi(2) / 2.0).exp(), width, n));
    }
}

#[test]
fn the_largest_scales_have_the_continuous_law_and_no_overflow() {
    // One unit in 2^50 makes no difference at this sample size: equal cells of the continuous distribution function.
    let scale = (1u64 << 50) as f64;
    let laplace = DiscreteNoise::laplace(&rational(scale)).unwrap();
    let gaussian = DiscreteNoise::gaussian(&rational(scale)).unwrap();
    let mut stream = StreamKey::from_bytes([77; 32]).stream(0);
    let cell = |u: f64| ((u * 1000.0) as usize).min(999);
    let (mut laplace_counts, mut gaussian_counts) = (vec![0; 1000], vec![0; 1000]);
    for _ in 0..DRAWS {
        let x = laplace.sample(&mut stream) as f64 / scale;
        laplace_counts[cell(if x < 0.0 { x.exp() / 2.0 } else { 1.0 - (-x).exp() / 2.0 })] += 1;
        let x = gaussian.sample(&mut stream) as f64 / scale;
        gaussian_counts[cell(statrs::function::erf::erfc(-x / std::f64::consts::SQRT_2) / 2.0)] += 1;
    }
    assert_fits(&laplace_counts, &[1e-3; 1000]);
    assert_fits(&gaussian_counts, &[1e-3; 1000]);
}

#[test]
fn tiny_scales_give_zeros_and_bad_ones_are_refused() {
    let mut stream = StreamKey::from_bytes([78; 32]).stream(0);
    for scale in [5e-324, 1e-300, 1e-3] {
        let (laplace, gaussian) = (DiscreteNoise::laplace(&rational(scale)), DiscreteNoise::gaussian(&rational(scale)));
        let (laplace, gaussian) = (laplace.unwrap(), gaussian.unwrap());
        assert!((0..1000).all(|_| laplace.sample(&mut stream) == 0 && gaussian.sample(&mut stream) == 0));
    }
    for scale in [0.0, 2f64.powi(50) * 1.001, f64::MAX] {
        assert!(
            DiscreteNoise::laplace(&rational(scale)).is_err() && DiscreteNoise::gaussian(&rational(scale)).is_err()
        );
        assert!(SumPreservingLaplace::new(&rational(scale), 3).is_err());
    }
    assert!(SumPreservingLaplace::new(&rational(1.0), 0).is_err());
}

/// The law of one coordinate of sum-preserving noise: its own weight times the chance that m - 1 others sum to minus it.
fn coordinate_law(scale: f64, m: usize, n: usize) -> Vec<f64> {
    let one: Vec<f64> = (0..=2 * n).map(|i| (-(i as f64 - n as f64).abs() / scale).exp()).collect();
    let total: f64 = one.iter().sum();
    let one: Vec<f64> = one.iter().map(|w| w / total).collect();
    let mut sum = one.clone();
    for _ in 2..m {
        // Convolution, with sums beyond n dropped: they would have to come back by as much.
        sum = (0..=2 * n)
            .map(|i| {
                let range = (i + n).saturating_sub(2 * n)..=(i + n).min(2 * n);
                range.map(|j| sum[j] * one[i + n - j]).sum()
            })
            .collect();
    }
    let joint: Vec<f64> = one.iter().zip(sum.iter().rev()).map(|(a, b)| a * b).collect();
    let total: f64 = joint.iter().sum();
    joint.iter().map(|p| p / total).collect()
}

#[test]
fn coordinates_of_sum_preserving_noise_have_their_law() {
    // m = 30 and 100 go by compositions, m = 10 by closing the sum. First, middle and last coordinate.
    for (seed, (scale, m)) in [(2.0, 10), (0.2, 30), (2.0, 30), (4.0, 100)].into_iter().enumerate() {
        let noise = SumPreservingLaplace::new(&rational(scale), m).unwrap();
        let n = 400;
        let law = coordinate_law(scale, m, n);
        let mut stream = StreamKey::from_bytes([seed as u8 + 90; 32]).stream(0);
        let mut counts = [0, m / 2, m - 1].map(|place| (place, vec![0; 2 * n + 1]));
        let mut z = vec![0; m];
        for _ in 0..50_000 {
            noise.sample(&mut stream, &mut z).unwrap();
            assert_eq!(z.iter().sum::<i64>(), 0);
            for (place, counts) in &mut counts {
                counts[(z[*place] + n as i64) as usize] += 1;
            }
        }
        counts.iter().for_each(|(_, counts)| assert_fits(counts, &law));
    }
}

#[test]
fn sum_preserving_noise_of_every_shape_sums_to_zero() {
    let mut stream = StreamKey::from_bytes([79; 32]).stream(0);
    for m in [1, 2, 3, 24, 25, 1000] {
        for scale in [1e-300, 0.01, 1.0, 1e6, 2f64.powi(50)] {
            let noise = SumPreservingLaplace::new(&rational(scale), m).unwrap();
            let mut z = vec![1; m];
            noise.sample(&mut stream, &mut z).unwrap();
            assert_eq!(z.iter().map(|&z| i128::from(z)).sum::<i128>(), 0);
        }
    }
}

#[test]
fn urns_have_the_dirichlet_multinomial_law() {
    // Two categories: beta-binomial. Weights from sparse (copies prevail) to large (fresh draws prevail).
    for (seed, (a, b)) in [(0.01, 0.02), (0.5, 3.25), (1.0, 1.0), (1e6, 3e6), (1e-9, 1.0)].into_iter().enumerate() {
        let urn = PolyaUrn::new(1.0, &[0.0, b], &[a, 0.0]).unwrap();
        let size = 40;
        let mut stream = StreamKey::from_bytes([seed as u8 + 20; 32]).stream(0);
        let mut counts = vec![0; size + 1];
        for _ in 0..100_000 {
            counts[urn.sample_counts(&mut stream, size).unwrap()[0] as usize] += 1;
        }
        let log_rising = |x: f64, k: usize| (0..k).map(|i| (x + i as f64).ln()).sum::<f64>();
        let log_binomial = |k: usize| log_gamma(41.0) - log_gamma(k as f64 + 1.0) - log_gamma(41.0 - k as f64);
        let p =
            |k: usize| (log_binomial(k) + log_rising(a, k) + log_rising(b, size - k) - log_rising(a + b, size)).exp();
        assert_fits(&counts, &(0..=size).map(p).collect::<Vec<_>>());
    }
}

#[test]
fn draws_of_an_urn_can_be_exchanged() {
    // Three categories, three draws: the ten ordered patterns up to exchange, each order as likely.
    let urn = PolyaUrn::new(2.0, &[1.0, 0.25, 0.0], &[0.5, 0.5, 0.5]).unwrap();
    let w = [2.5, 1.0, 0.5];
    let mut stream = StreamKey::from_bytes([40; 32]).stream(0);
    let mut counts = vec![0; 27];
    for _ in 0..DRAWS {
        counts[urn.sample(&mut stream, 3).unwrap().iter().fold(0, |code, &i| 3 * code + i as usize)] += 1;
    }
    let p = |code: usize| {
        let mut urn = w;
        [code / 9, code / 3 % 3, code % 3].iter().fold(1.0, |p, &i| {
            let p = p * urn[i] / urn.iter().sum::<f64>();
            urn[i] += 1.0;
            p
        })
    };
    assert_fits(&counts, &(0..27).map(p).collect::<Vec<_>>());
}

#[test]
fn hostile_urns_are_refused_or_drawn_from() {
    let mut stream = StreamKey::from_bytes([41; 32]).stream(0);
    let values = [0.0, 5e-324, 1e-308, 1e-9, 1.0, 1e15, 1e308, f64::MAX, f64::NAN, f64::INFINITY, -1.0];
    for scale in values {
        for count in values {
            for prior in values {
                let valid = [scale, count, prior].iter().all(|x| x.is_finite() && *x >= 0.0);
                let zero = scale * count == 0.0 && prior == 0.0 && (scale == 0.0 || count == 0.0);
                match PolyaUrn::new(scale, &[count, 0.0], &[0.0, prior]) {
                    Ok(urn) => {
                        assert!(valid && !zero);
                        assert_eq!(urn.sample_counts(&mut stream, 50).unwrap().iter().sum::<i64>(), 50);
                    }
                    Err(_) => assert!(!valid || zero, "{scale} {count} {prior}"),
                }
            }
        }
    }
    assert!(PolyaUrn::new(1.0, &[], &[]).is_err() && PolyaUrn::new(1.0, &[1.0], &[]).is_err());
    let sole = PolyaUrn::new(1.0, &[7.0], &[1.0]).unwrap();
    assert_eq!(sole.sample_counts(&mut stream, 9).unwrap(), [9]);
    assert!(sole.sample(&mut stream, (1 << 30) + 1).is_err());
}

#[test]
fn enclosures_of_the_exponential_hold_the_golden_values() {
    for line in include_str!("../../../tests/golden/data/exp_neg.csv").lines().skip(1) {
        let fields: Vec<_> = line.split(',').collect();
        let big = |i: usize| BigUint::parse_bytes(fields[i].as_bytes(), 10).unwrap();
        let (low, high) = exp_neg_enclosed(&Rational::new("x", big(0), big(1)).unwrap(), fields[2].parse().unwrap());
        // The golden value is rounded down.
        assert!(low <= big(3) && (big(3) < high || low == high), "{line}");
    }
}

#[test]
fn a_draw_takes_a_bounded_number_of_words_nearly_always() {
    struct Counting<B>(B, usize);
    impl<B: Bits> Bits for Counting<B> {
        fn next_u64(&mut self) -> u64 {
            self.1 += 1;
            self.0.next_u64()
        }
    }
    for (scale, most) in [(10.0, 1.01), (1e9, 3.5)] {
        for noise in [DiscreteNoise::laplace(&rational(scale)), DiscreteNoise::gaussian(&rational(scale))] {
            let mut stream = Counting(StreamKey::from_bytes([42; 32]).stream(0), 0);
            let noise = noise.unwrap();
            assert!((0..10_000).all(|_| noise.sample(&mut stream).abs() < 1 << 40));
            assert!(stream.1 as f64 <= most * 1e4, "{}", stream.1);
        }
    }
}
