//! Walker's alias method in integers: one 64-bit word a draw, and probabilities that are exact multiples of 2^-64.

use crate::random::Bits;

/// A table of at most 2^32 outcomes whose weights sum to 2^64.
#[derive(Debug, Clone)]
pub(crate) struct AliasTable {
    cells: Vec<Cell>,
    /// A word's top bits name the cell; this many bits below are compared with the cell's threshold.
    low_bits: u32,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    threshold: u64,
    alias: u32,
}

impl AliasTable {
    /// The table of outcome i with probability weights[i] / 2^64; the weights must sum to 2^64, and there must be at
    /// least two.
    pub(crate) fn new(weights: &[u64]) -> Self {
        debug_assert_eq!(weights.iter().map(|&w| u128::from(w)).sum::<u128>(), 1 << 64);
        let log_size = weights.len().next_power_of_two().trailing_zeros().max(1);
        let (size, low_bits) = (1usize << log_size, 64 - log_size);
        let capacity = 1u64 << low_bits;
        // Each cell starts with its own weight; those below the capacity are filled from those above it.
        let mut rest: Vec<u64> = (0..size).map(|i| weights.get(i).copied().unwrap_or(0)).collect();
        let mut cells: Vec<_> = (0..size as u32).map(|i| Cell { threshold: capacity, alias: i }).collect();
        let (mut below, mut above): (Vec<_>, Vec<_>) = (0..size).partition(|&i| rest[i] < capacity);
        while let (Some(&giver), Some(taker)) = (above.last(), below.pop()) {
            cells[taker] = Cell { threshold: rest[taker], alias: giver as u32 };
            rest[giver] -= capacity - rest[taker];
            if rest[giver] < capacity {
                above.pop();
                below.push(giver);
            }
        }
        Self { cells, low_bits }
    }

    /// An outcome.
    #[inline]
    pub(crate) fn sample<B: Bits>(&self, bits: &mut B) -> usize {
        let word = bits.next_u64();
        let index = (word >> self.low_bits) as usize;
        let cell = self.cells[index];
        if word & ((1 << self.low_bits) - 1) < cell.threshold { index } else { cell.alias as usize }
    }
}

/// A uniform integer below `bound`, which is not zero.
pub(crate) fn uniform_below<B: Bits>(bits: &mut B, bound: u64) -> u64 {
    // The high half of word times bound, with the few words refused that would make it uneven: those whose low half is
    // below 2^64 mod bound (Lemire). The remainder is only computed where it can matter.
    loop {
        let product = u128::from(bits.next_u64()) * u128::from(bound);
        let low = product as u64;
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::StreamKey;

    #[test]
    fn cells_give_every_outcome_its_exact_weight() {
        let mut stream = StreamKey::from_bytes([2; 32]).stream(0);
        for n in [2usize, 3, 7, 64, 65, 1000] {
            for skew in [0u32, 8, 40] {
                let mut weights: Vec<u64> = (0..n).map(|_| ((stream.next_u64() >> 12) / n as u64) >> skew).collect();
                weights[1] |= 1;
                let sum: u128 = weights[1..].iter().map(|&w| u128::from(w)).sum();
                weights[0] = ((1u128 << 64) - sum) as u64;
                let table = AliasTable::new(&weights);
                let mut mass = vec![0u128; table.cells.len()];
                for (i, cell) in table.cells.iter().enumerate() {
                    mass[i] += u128::from(cell.threshold);
                    mass[cell.alias as usize] += (1u128 << table.low_bits) - u128::from(cell.threshold);
                }
                assert!(
                    mass.iter().zip(weights.iter().chain(std::iter::repeat(&0))).all(|(m, &w)| *m == u128::from(w))
                );
            }
        }
    }

    #[test]
    fn uniform_integers_stay_below_their_bound() {
        let mut stream = StreamKey::from_bytes([3; 32]).stream(0);
        for bound in [1, 2, 3, 1 << 63, (1 << 63) + 1, u64::MAX] {
            assert!((0..1000).all(|_| uniform_below(&mut stream, bound) < bound));
        }
    }
}
