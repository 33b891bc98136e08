//! Exact Dirichlet rows: both paths agree, the grid's rule holds, hostile arguments end in errors.

use simplexdp_core::random::{Bits, StreamKey};
use simplexdp_core::sampling::dirichlet::{ExactDirichlet, ExactGamma, Path, Sampler};

fn rows(law: &ExactDirichlet, counts: &[f64], n_rows: usize, path: Path, key: u8) -> Vec<u64> {
    let mut sampler = Sampler::new(StreamKey::from_bytes([key; 32]).stream(0), path);
    let mut units = vec![0; counts.len() * n_rows];
    for row in units.chunks_mut(counts.len()) {
        sampler.draw(law, counts, row).unwrap();
    }
    units
}

/// Counts and priors from one end of the range of shapes to the other.
fn hostile() -> Vec<(f64, Vec<f64>, Vec<f64>)> {
    vec![
        (1.0, vec![3.0, 0.0, 5.0], vec![1.0, 0.5, 2.0]),
        (0.1, vec![0.0, 7.0, 1e9, 3.0], vec![0.3, 0.7, 1e-6, 1e-3]),
        (1.0, vec![0.0; 20], vec![1e-6; 20]),
        (1e-3, vec![0.0, 1.0, 2.0, 3.0, 1e12], vec![1e-2; 5]),
        (1.0, vec![1e12, 1e12, 1e12], vec![1.0 / 3.0; 3]),
        (0.3, vec![0.0, 1.0, 2.0, 3.0], vec![0.7, 0.7, 0.4, 0.1]),
        (1.0, vec![2.0; 50], vec![0.1; 50]),
        (7.0, vec![0.0, 1e14], vec![1e-6, 1.0]),
        // Shapes of exactly one: alone, between neighbours of one, and among all others.
        (0.5, vec![1.0; 40], vec![0.5; 40]),
        (1.0, vec![0.0; 4], vec![1.0, 1.0 + f64::EPSILON, 1.0 - f64::EPSILON / 2.0, 1.0]),
        (0.25, vec![3.0, 1.0, 0.0, 2.0, 4.0], vec![0.25, 0.75, 1.0, 0.25, 1e-3]),
    ]
}

#[test]
fn the_exact_path_gives_the_rows_of_the_fast_path() {
    for (case, (scale, counts, prior)) in hostile().into_iter().enumerate() {
        for bits in [8, 20, 32, 44, 52] {
            let law = ExactDirichlet::new(scale, &prior, bits).unwrap();
            let n_rows = 400 / counts.len();
            let fast = rows(&law, &counts, n_rows, Path::Fast, 1);
            assert_eq!(fast, rows(&law, &counts, n_rows, Path::Exact, 1), "case {case}, {bits} bits");
            for row in fast.chunks(counts.len()) {
                assert_eq!(row.iter().sum::<u64>(), 1 << bits);
                assert!(row.iter().all(|&units| units >= 1));
            }
        }
    }
}

#[test]
fn the_exact_path_gives_the_gammas_of_the_fast_path() {
    for (case, (scale, counts, prior)) in hostile().into_iter().enumerate() {
        for bits in [0, 20, 32, 52] {
            let law = ExactGamma::new(scale, &prior, bits).unwrap();
            let draw = |path| {
                let mut sampler = Sampler::new(StreamKey::from_bytes([3; 32]).stream(0), path);
                let mut units = vec![0; counts.len() * 20];
                for row in units.chunks_mut(counts.len()) {
                    sampler.draw_gammas(&law, &counts, row).unwrap();
                }
                units
            };
            assert_eq!(draw(Path::Fast), draw(Path::Exact), "case {case}, {bits} bits");
        }
    }
    assert!(ExactGamma::new(1.0, &[1.0], 53).is_err());
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let law = ExactDirichlet::new(1.0, &[0.5; 100], 32).unwrap();
    let counts: Vec<f64> = (0..50_000).map(|i| f64::from(i % 7)).collect();
    let key = StreamKey::from_bytes([5; 32]);
    let one = law.release(&counts, &key, 1).unwrap();
    assert_eq!(one, law.release(&counts, &key, 3).unwrap());
    let values = law.release_values(&counts, &key, 2).unwrap();
    assert!(one.iter().zip(&values).all(|(&n, &y)| y * 2f64.powi(32) == n as f64));
    let integers: Vec<i64> = counts.iter().map(|&count| count as i64).collect();
    assert_eq!(law.release_values(&integers, &key, 3).unwrap(), values);
    assert_eq!(law.release(&integers, &key, 1).unwrap(), one);
}

#[test]
fn arguments_out_of_range_are_errors() {
    let prior = [1.0, 2.0];
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(ExactDirichlet::new(scale, &prior, 32).is_err());
    }
    for weight in [0.0, -1.0, 1e-7, f64::NAN, f64::INFINITY] {
        assert!(ExactDirichlet::new(1.0, &[1.0, weight], 32).is_err());
    }
    for bits in [0, 7, 53, 64, u32::MAX] {
        assert!(ExactDirichlet::new(1.0, &prior, bits).is_err());
    }
    assert!(ExactDirichlet::new(1.0, &[], 32).is_err());
    let law = ExactDirichlet::new(1.0, &prior, 32).unwrap();
    let key = StreamKey::from_bytes([5; 32]);
    for count in [-1.0, f64::NAN, f64::INFINITY, 1e300, -0.5] {
        let error = law.release(&[1.0, count], &key, 1).unwrap_err().to_string();
        assert!(error.contains("not shown"), "{error}");
    }
    for count in [-1, i64::MIN, (1 << 53) + 1] {
        let error = law.release(&[1, count], &key, 1).unwrap_err().to_string();
        assert!(error.contains("not shown"), "{error}");
    }
    assert!(law.release(&[1.0], &key, 1).is_err());
    assert!(law.release::<f64>(&[], &key, 1).unwrap().is_empty());
}

#[test]
fn a_single_category_gets_everything() {
    let law = ExactDirichlet::new(1.0, &[1.0], 32).unwrap();
    assert_eq!(law.release(&[3.0, 0.0], &StreamKey::from_bytes([5; 32]), 1).unwrap(), [1 << 32, 1 << 32]);
}

/// The same words for ever: what no generator gives, to see that every loop ends.
struct Cycle(Vec<u64>, usize);

impl Bits for Cycle {
    fn next_u64(&mut self) -> u64 {
        self.1 += 1;
        self.0[(self.1 - 1) % self.0.len()]
    }
}

#[test]
fn hostile_bits_end_in_rows_or_errors() {
    let (ones, top, far) = (u64::MAX, 0xfe, (1 << 63) | 0xff);
    for words in [[0, 0], [ones, ones], [0, ones], [top, ones], [far, 0]] {
        for (scale, counts, prior) in hostile() {
            let law = ExactDirichlet::new(scale, &prior, 32).unwrap();
            let mut units = vec![0; counts.len()];
            let mut sampler = Sampler::new(Cycle(words.to_vec(), 0), Path::Fast);
            if sampler.draw(&law, &counts, &mut units).is_ok() {
                assert_eq!(units.iter().sum::<u64>(), 1 << 32);
            }
        }
    }
}

/// The words that make the first entry of a row of two `delta (1 + c x)^3` and the second one `delta'`.
fn words_for(x: f64) -> Vec<u64> {
    // Rectangle 0 has the half-width of the tail's edge and lies under the curve altogether.
    const WIDTH: f64 = 2.913_255_542_120_772;
    // 52 bits above those of the layer, counted from -2^51 on.
    let word = |position: i64| ((position + (1 << 51)) as u64) << 12;
    // Tail key, both entries' normals, both acceptance uniforms (0: accept).
    vec![1, 2, 3, 4, word((x / WIDTH * 2f64.powi(51)) as i64), word(0), 0]
}

#[test]
fn every_grid_point_is_reached_from_both_neighbours() {
    // Theory B7: ordinary samplers cannot return 13 to 16 % of their outputs for shape a when the shape is a + 1. Here each
    // target is reached by construction, in both directions, on the grid of 2^-32.
    let bits = 32;
    let shared = (1u64 << bits) as f64 - 2.0;
    for (a, b) in [(1.5, 2.5), (5.0, 6.0), (2.0, 40.0), (100.0, 101.0)] {
        let other = b;
        let mut targets: Vec<u64> = Vec::new();
        for shape in [a, a + 1.0] {
            let law = ExactDirichlet::new(1.0, &[shape, other], bits).unwrap();
            let drawn = law.release(&vec![0.0; 8000], &StreamKey::from_bytes([6; 32]), 1).unwrap();
            targets.extend(drawn.chunks(2).map(|row| row[0]));
            // A run of neighbours, in the bulk.
            targets.extend((0..2000).map(|i| drawn[0] + i));
        }
        for shape in [a, a + 1.0] {
            let law = ExactDirichlet::new(1.0, &[shape, other], bits).unwrap();
            let delta = shape - 1.0 / 3.0;
            let c = 1.0 / (3.0 * delta.sqrt()) * (1.0 + 2f64.powi(-20));
            let mut n_reached = 0;
            for &target in &targets {
                let y = (target as f64 - 0.5) / shared;
                let ratio = y / (1.0 - y) * (other - 1.0 / 3.0) / delta;
                let x = (ratio.cbrt() - 1.0) / c;
                if x.abs() > 2.9 {
                    continue;
                }
                let mut units = [0; 2];
                Sampler::new(Cycle(words_for(x), 0), Path::Fast).draw(&law, &[0.0, 0.0], &mut units).unwrap();
                assert_eq!(units[0], target, "a hole at {target} for shape {shape}");
                n_reached += 1;
            }
            assert!(n_reached * 10 > targets.len() * 8, "{n_reached} of {}", targets.len());
        }
    }
}
