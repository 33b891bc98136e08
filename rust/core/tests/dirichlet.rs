//! Exact Dirichlet rows: both paths agree, the grid's rule holds, hostile arguments end in errors.

use simplexdp_core::random::StreamKey;
use simplexdp_core::sampling::dirichlet::{ExactDirichlet, Path, Sampler};

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
fn results_do_not_depend_on_the_number_of_threads() {
    let law = ExactDirichlet::new(1.0, &[0.5; 100], 32).unwrap();
    let counts: Vec<f64> = (0..50_000).map(|i| f64::from(i % 7)).collect();
    let key = StreamKey::from_bytes([5; 32]);
    let one = law.release(&counts, &key, 1).unwrap();
    assert_eq!(one, law.release(&counts, &key, 3).unwrap());
    let values = law.release_values(&counts, &key, 2).unwrap();
    assert!(one.iter().zip(&values).all(|(&n, &y)| y * 2f64.powi(32) == n as f64));
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
    assert!(law.release(&[1.0], &key, 1).is_err());
    assert!(law.release(&[], &key, 1).unwrap().is_empty());
}

#[test]
fn a_single_category_gets_everything() {
    let law = ExactDirichlet::new(1.0, &[1.0], 32).unwrap();
    assert_eq!(law.release(&[3.0, 0.0], &StreamKey::from_bytes([5; 32]), 1).unwrap(), [1 << 32, 1 << 32]);
}
