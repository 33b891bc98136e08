//! Many ChaCha20 blocks at once, for streams that give more than a few: lanes side by side, compiled for wide vectors.
//!
//! The words are those of `rand_chacha`, which gives the first ones of each stream: it is faster for a few blocks, and takes
//! almost twice the time for many.

use crate::wide::widest;

/// Blocks that are computed side by side.
const LANES: usize = 32;

/// 64-bit words of so many blocks.
pub(super) const WORDS: usize = 8 * LANES;

/// One 32-bit word of the state in every lane.
type Row = [u32; LANES];

/// "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

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

/// The blocks of this key and nonce from number `counter` on: 64-bit counter and nonce, as in Bernstein's paper.
pub(super) fn blocks(key: &[u8; 32], nonce: u64, counter: u64, words: &mut [u64; WORDS]) {
    let mut start = [[0; LANES]; 16];
    for (row, constant) in start.iter_mut().zip(CONSTANTS) {
        *row = [constant; LANES];
    }
    for (row, bytes) in start[4..].iter_mut().zip(key.as_chunks().0) {
        *row = [u32::from_le_bytes(*bytes); LANES];
    }
    let numbers: [u64; LANES] = std::array::from_fn(|lane| counter.wrapping_add(lane as u64));
    start[12] = numbers.map(|number| number as u32);
    start[13] = numbers.map(|number| (number >> 32) as u32);
    start[14] = [nonce as u32; LANES];
    start[15] = [(nonce >> 32) as u32; LANES];
    widest(
        #[inline(always)]
        || {
            let mut state = start;
            for _ in 0..10 {
                for i in 0..4 {
                    quarter(&mut state, i, 4 + i, 8 + i, 12 + i);
                }
                for i in 0..4 {
                    quarter(&mut state, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
                }
            }
            for (row, first) in state.iter_mut().zip(&start) {
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
