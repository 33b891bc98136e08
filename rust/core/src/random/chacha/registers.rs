//! ChaCha20 with one register for each word of the state, a block in each lane: no word waits for the memory.
//!
//! A compiler does not find this by itself: it keeps the state of many blocks in memory and takes three times the time. All
//! is safe but the call of a function that was compiled for other processors, which is in [`crate::wide`].

use std::arch::x86_64::*;

use super::NUMBER;

/// The 64-bit words of as many blocks as a vector of the type has 32-bit lanes, from number `counter` on.
macro_rules! blocks {
    (
        $(#[$about:meta])* $name:ident, $features:literal, $vector:ty, $lanes:literal, [$($lane:literal)*],
        $splat:ident, $all:ident, $add:ident, $xor:ident, $low:ident, $high:ident, $words:ident, $turns:ident
    ) => {
        $(#[$about])*
        #[target_feature(enable = $features)]
        pub(crate) fn $name(start: &[u32; 16], counter: u64, words: &mut [u64; 8 * $lanes]) {
            let number = |lane: u64| counter.wrapping_add(lane);
            let mut first = start.map(|word| $splat(word as i32));
            first[NUMBER] = $all($(number($lane) as i32),*);
            first[NUMBER + 1] = $all($((number($lane) >> 32) as i32),*);
            let mut state = first;
            macro_rules! quarter {
                ($a:literal, $b:literal, $c:literal, $d:literal) => {
                    for (x, y, z, turn) in [($a, $b, $d, 0), ($c, $d, $b, 1), ($a, $b, $d, 2), ($c, $d, $b, 3)] {
                        state[x] = $add(state[x], state[y]);
                        state[z] = $turns($xor(state[z], state[x]), turn);
                    }
                };
            }
            for _ in 0..10 {
                quarter!(0, 4, 8, 12);
                quarter!(1, 5, 9, 13);
                quarter!(2, 6, 10, 14);
                quarter!(3, 7, 11, 15);
                quarter!(0, 5, 10, 15);
                quarter!(1, 6, 11, 12);
                quarter!(2, 7, 8, 13);
                quarter!(3, 4, 9, 14);
            }
            for (word, first) in state.iter_mut().zip(first) {
                *word = $add(*word, first);
            }
            // Of each four lanes the lower two of a pair of words are in the one half of what is interleaved, the upper two in
            // the other.
            let blocks = words.as_chunks_mut::<8>().0;
            for (i, &[even, odd]) in state.as_chunks::<2>().0.iter().enumerate() {
                let halves = [$words($low(even, odd)), $words($high(even, odd))];
                for (half, words) in halves.iter().enumerate() {
                    for (four, pair) in words.as_chunks::<2>().0.iter().enumerate() {
                        blocks[4 * four + 2 * half][i] = pair[0];
                        blocks[4 * four + 2 * half + 1][i] = pair[1];
                    }
                }
            }
        }
    };
}

blocks!(
    /// Sixteen blocks.
    sixteen, "avx512f,avx2", __m512i, 16, [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15],
    _mm512_set1_epi32, _mm512_setr_epi32, _mm512_add_epi32, _mm512_xor_si512, _mm512_unpacklo_epi32,
    _mm512_unpackhi_epi32, words_of_512, turned_512
);
blocks!(
    /// Eight blocks.
    eight, "avx2", __m256i, 8, [0 1 2 3 4 5 6 7],
    _mm256_set1_epi32, _mm256_setr_epi32, _mm256_add_epi32, _mm256_xor_si256, _mm256_unpacklo_epi32,
    _mm256_unpackhi_epi32, words_of_256, turned_256
);

/// Every lane turned to the left: by 16, 12, 8 or 7 bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn turned_512(words: __m512i, which: usize) -> __m512i {
    match which {
        0 => _mm512_rol_epi32::<16>(words),
        1 => _mm512_rol_epi32::<12>(words),
        2 => _mm512_rol_epi32::<8>(words),
        _ => _mm512_rol_epi32::<7>(words),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn turned_256(words: __m256i, which: usize) -> __m256i {
    match which {
        // Whole bytes are moved by one instruction.
        0 => _mm256_shuffle_epi8(
            words,
            _mm256_broadcastsi128_si256(_mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)),
        ),
        1 => _mm256_or_si256(_mm256_slli_epi32::<12>(words), _mm256_srli_epi32::<20>(words)),
        2 => _mm256_shuffle_epi8(
            words,
            _mm256_broadcastsi128_si256(_mm_setr_epi8(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14)),
        ),
        _ => _mm256_or_si256(_mm256_slli_epi32::<7>(words), _mm256_srli_epi32::<25>(words)),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx2")]
fn words_of_512(vector: __m512i) -> [u64; 8] {
    let [a, b, c, d] = words_of_256(_mm512_extracti64x4_epi64::<0>(vector));
    let [e, f, g, h] = words_of_256(_mm512_extracti64x4_epi64::<1>(vector));
    [a, b, c, d, e, f, g, h]
}

#[inline]
#[target_feature(enable = "avx2")]
fn words_of_256(vector: __m256i) -> [u64; 4] {
    [
        _mm256_extract_epi64::<0>(vector) as u64,
        _mm256_extract_epi64::<1>(vector) as u64,
        _mm256_extract_epi64::<2>(vector) as u64,
        _mm256_extract_epi64::<3>(vector) as u64,
    ]
}
