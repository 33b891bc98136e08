//! Many ChaCha20 blocks at once, for streams that give more than a few: lanes side by side, compiled for wide vectors.
//!
//! The words are those of `rand_chacha`, which gives the first ones of each stream: it is faster for a few blocks, and takes
//! twice the time for many, or five times. Where a processor's vectors hold the whole state of eight or sixteen blocks
//! [`registers`] computes them; elsewhere the state of 32 stays in memory.

#[cfg(target_arch = "x86_64")]
pub(crate) mod registers;

use crate::wide;

/// Blocks that are computed side by side where the state is in memory.
const LANES: usize = 32;

/// 64-bit words of so many blocks.
pub(super) const WORDS: usize = 8 * LANES;

/// One 32-bit word of the state in every lane.
type Row = [u32; LANES];

/// "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Where the number of the block stands in the state, its lower half first.
pub(crate) const NUMBER: usize = 12;

/// The blocks of this key and nonce from number `counter` on: 64-bit counter and nonce, as in Bernstein's paper.
pub(super) fn blocks(key: &[u8; 32], nonce: u64, counter: u64, words: &mut [u64; WORDS]) {
    let mut start = [0; 16];
    start[..4].copy_from_slice(&CONSTANTS);
    for (word, bytes) in start[4..].iter_mut().zip(key.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    (start[14], start[15]) = (nonce as u32, (nonce >> 32) as u32);
    if !wide::chacha_by_sixteen(&start, counter, words) && !wide::chacha_by_eight(&start, counter, words) {
        in_memory(&start, counter, words);
    }
}

/// The same for every processor; `start` is the state before the first round, but for the number.
fn in_memory(start: &[u32; 16], counter: u64, words: &mut [u64; WORDS]) {
    let mut rows = start.map(|word| [word; LANES]);
    let numbers: [u64; LANES] = std::array::from_fn(|lane| counter.wrapping_add(lane as u64));
    rows[NUMBER] = numbers.map(|number| number as u32);
    rows[NUMBER + 1] = numbers.map(|number| (number >> 32) as u32);
    wide::widest(
        #[inline(always)]
        || {
            let mut state = rows;
            for _ in 0..10 {
                for i in 0..4 {
                    quarter(&mut state, i, 4 + i, 8 + i, 12 + i);
                }
                for i in 0..4 {
                    quarter(&mut state, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
                }
            }
            for (row, first) in state.iter_mut().zip(&rows) {
                for (word, &first) in row.iter_mut().zip(first) {
                    *word = word.wrapping_add(first);
                }
            }
            for (lane, block) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                for (word, pair) in block.iter_mut().zip(state.as_chunks::<2>().0) {
                    *word = u64::from(pair[0][lane]) | u64::from(pair[1][lane]) << 32;
                }
            }
        },
    );
}

// Two rows of the state are in hand at a time, which no iterator gives.
#[allow(clippy::needless_range_loop)]
#[inline(always)]
fn quarter(state: &mut [Row; 16], a: usize, b: usize, c: usize, d: usize) {
    for (x, y, z, turn) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        for lane in 0..LANES {
            state[x][lane] = state[x][lane].wrapping_add(state[y][lane]);
            state[z][lane] = (state[z][lane] ^ state[x][lane]).rotate_left(turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `random::stream` compares what this processor takes with another library; this compares all three with each other, also
    /// where the lower half of the number ends, and where all of it does.
    #[test]
    fn blocks_in_registers_are_those_in_memory() {
        let start = std::array::from_fn(|i| 2_654_435_761_u32.wrapping_mul(i as u32 + 1).rotate_left(i as u32));
        for counter in [0, 5, (1 << 32) - 7, (1 << 32) - 17, u64::MAX - 20] {
            let mut memory = [0; WORDS];
            in_memory(&start, counter, &mut memory);
            // Where they are compiled in, as `make unsafe` does, they are tested for certain.
            let sixteen = cfg!(target_feature = "avx512vpopcntdq");
            let eight = cfg!(target_feature = "avx2");
            for (by, certain) in
                [(wide::chacha_by_sixteen as fn(&_, _, &mut _) -> _, sixteen), (wide::chacha_by_eight, eight)]
            {
                let mut registers = [0; WORDS];
                if by(&start, counter, &mut registers) {
                    assert_eq!(memory, registers, "{counter}");
                } else {
                    assert!(!certain);
                }
            }
        }
    }
}
