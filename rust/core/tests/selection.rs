//! Selection from a table: the weights are the stated ones, and the law is that of the weights.

mod fit;

use fit::assert_fits;
use simplexdp_core::random::{Bits, StreamKey};
use simplexdp_core::sampling::{LOG_ERROR, MAX_LOG_SPAN, Selection};
use simplexdp_core::{Error, Result};

#[test]
fn weights_are_within_the_stated_error_of_the_golden_ones() {
    let data = include_str!("../../../tests/golden/data/selection_weights.csv");
    let mut worst = 0.0f64;
    for line in data.lines().skip(1) {
        let fields: Vec<_> = line.split(',').collect();
        let log: f64 = fields[0].parse().unwrap();
        let exponent: i64 = fields[1].parse().unwrap();
        let exact: f64 = fields[2].parse::<i64>().unwrap() as f64;
        // A shift of both log-weights changes nothing.
        let (m, e) = Selection::new(&[0.0, log]).unwrap().weight(1);
        // Rounding may carry into the next exponent.
        let m = m as f64 * 2f64.powi((12 + exponent - i64::from(e)) as i32);
        worst = worst.max((m / exact - 1.0).abs());
    }
    // The quotient of two doubles adds 2^-52.
    assert!(worst <= LOG_ERROR, "{worst:e} {LOG_ERROR:e}");
    assert!(worst > LOG_ERROR / 8.0, "the bound would be too wide: {worst:e}");
}

#[test]
fn gaps_are_exact_however_large_the_common_level_is() {
    // 1e16 + 2 and 1e16 are doubles with the gap 2; -0.1 - 0.3 is not a double, its rounding error counts.
    let level = Selection::new(&[1e16, 1e16 + 2.0]).unwrap();
    assert_eq!(level.weight(0), Selection::new(&[-2.0, 0.0]).unwrap().weight(0));
    let far = Selection::new(&[-1e300, 1e300, f64::MAX, -f64::MAX]).unwrap();
    assert_eq!(far.weight(0), Selection::new(&[0.0, -MAX_LOG_SPAN]).unwrap().weight(1));
}

#[test]
fn frequencies_fit_the_weights() {
    let mut stream = StreamKey::from_bytes([3; 32]).stream(0);
    let tables: [Vec<f64>; 5] = [
        vec![0.0],
        vec![-700.0, -701.0, -699.0],
        (0..1000).map(|i| -f64::from(i % 37) / 7.0).collect(),
        (0..64).map(|i| -1e-3 * f64::from(i)).collect(),
        (0..5000).map(|i| -0.01 * f64::from(i)).collect(),
    ];
    for log_weights in tables {
        let table = Selection::new(&log_weights).unwrap();
        let mut counts = vec![0; log_weights.len()];
        for _ in 0..300_000 {
            counts[table.sample(&mut stream)] += 1;
        }
        let largest = log_weights.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<_> = log_weights.iter().map(|l| (l - largest).exp()).collect();
        let total: f64 = weights.iter().sum();
        assert_fits(&counts, &weights.iter().map(|w| w / total).collect::<Vec<_>>());
    }
}

#[test]
fn bad_tables_are_refused_without_quoting_them() -> Result<()> {
    assert!(matches!(Selection::new(&[]), Err(Error::InvalidParameter { name: "log_weights", .. })));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(Selection::new(&[0.0, bad]), Err(Error::InvalidData { name: "log_weights", .. })));
    }
    Ok(())
}

/// Counts what a draw takes.
struct Counting<B>(B, u64);

impl<B: Bits> Bits for Counting<B> {
    fn next_u64(&mut self) -> u64 {
        self.1 += 1;
        self.0.next_u64()
    }
}

#[test]
fn every_draw_takes_two_words_whatever_the_gaps() {
    for gap in [0.0, 1e-9, 1.0, 1e3, 1e6] {
        let log_weights: Vec<_> = (0..500).map(|i| -gap * f64::from(i)).collect();
        let mut counting = Counting(StreamKey::from_bytes([4; 32]).stream(0), 0);
        let table = Selection::new(&log_weights).unwrap();
        (0..1000).for_each(|_| assert!(table.sample(&mut counting) < 500));
        assert_eq!(counting.1, 2000);
    }
}
