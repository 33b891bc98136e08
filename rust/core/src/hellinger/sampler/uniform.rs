//! A candidate drawn uniformly: stars and bars.

use crate::random::Bits;
use crate::sampling::uniform_below;
use crate::tables::Set;

/// A composition of n into m parts, each with the same probability: n stars and m - 1 bars in a row, the rarer of the two
/// placed by Floyd's algorithm.
pub(super) fn uniform_composition<B: Bits>(bits: &mut B, n: u64, m: usize) -> Vec<u64> {
    let n_bars = m as u64 - 1;
    let length = n + n_bars;
    let mut parts = vec![0; m];
    if n_bars <= n {
        let mut before = 0;
        let bars = subset(bits, length, n_bars);
        for (part, &bar) in parts.iter_mut().zip(&bars) {
            *part = bar - before;
            before = bar + 1;
        }
        parts[m - 1] = length - before;
    } else {
        for (index, star) in subset(bits, length, n).into_iter().enumerate() {
            parts[(star - index as u64) as usize] += 1;
        }
    }
    parts
}

/// `size` distinct integers below `length`, in order.
fn subset<B: Bits>(bits: &mut B, length: u64, size: u64) -> Vec<u64> {
    let mut chosen = Set::with_capacity_and_hasher(size as usize, Default::default());
    for last in length - size..length {
        let candidate = uniform_below(bits, last + 1);
        if !chosen.insert(candidate) {
            chosen.insert(last);
        }
    }
    let mut chosen: Vec<_> = chosen.into_iter().collect();
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::random::StreamKey;

    // Both ways of placing; 10 cells of 20000/10 and 21 cells of 21000/21, six standard deviations each.
    #[test]
    fn compositions_are_uniform() {
        for (n, m, cells) in [(3, 3, 10), (2, 6, 21)] {
            let mut stream = StreamKey::from_bytes([8; 32]).stream(n);
            let mut seen: HashMap<Vec<u64>, f64> = HashMap::new();
            for _ in 0..cells * 1000 {
                *seen.entry(uniform_composition(&mut stream, n, m)).or_default() += 1.0;
            }
            assert_eq!(seen.len(), cells);
            assert!(seen.values().all(|count| (count - 1000.0).abs() < 190.0), "{seen:?}");
            assert!(seen.keys().all(|k| k.iter().sum::<u64>() == n));
        }
    }
}
