//! MD5 of RFC 1321: the one digest that every database has. It mixes here, and keeps no secret.

use crate::wide::widest;

/// Shifts of the four rounds.
const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
const START: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
const BLOCK: usize = 64;

/// floor(2^32 |sin(i + 1)|), as the RFC lists them.
#[rustfmt::skip]
const SINES: [u32; 64] = [
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
];

/// The digest of a message.
pub(super) fn md5(message: &[u8]) -> [u8; 16] {
    let bits = (message.len() as u64).wrapping_mul(8);
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(BLOCK) - 8, 0);
    padded.extend_from_slice(&bits.to_le_bytes());
    let state = padded.chunks_exact(BLOCK).fold(START, digested);
    let mut digest = [0; 16];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    digest
}

fn digested(state: [u32; 4], block: &[u8]) -> [u32; 4] {
    let words =
        std::array::from_fn(|i| [0, 1, 2, 3].map(|byte| block[4 * i + byte])).map(|bytes| [u32::from_le_bytes(bytes)]);
    rounds(state.map(|word| [word]), &words).map(|[word]| word)
}

/// Messages that are digested side by side: a vector of 32 bytes.
pub(super) const LANES: usize = 8;
/// The longest message of one block.
pub(super) const SHORT: usize = BLOCK - 9;

/// The first two words of the digests of messages of at most [`SHORT`] bytes each.
pub(super) fn short_digests(messages: &[([u8; SHORT], usize); LANES]) -> [[u32; 2]; LANES] {
    let mut words = [[0; LANES]; 16];
    for (lane, (message, length)) in messages.iter().enumerate() {
        let mut block = [0; BLOCK];
        block[..*length].copy_from_slice(&message[..*length]);
        block[*length] = 0x80;
        block[BLOCK - 8] = (8 * length) as u8;
        block[BLOCK - 7] = (length >> 5) as u8;
        for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
            word[lane] = u32::from_le_bytes(*bytes);
        }
    }
    let [a, b, ..] = widest(
        #[inline(always)]
        || rounds(START.map(|word| [word; LANES]), &words),
    );
    std::array::from_fn(|lane| [a[lane], b[lane]])
}

/// One block of each of `N` messages.
#[inline(always)]
fn rounds<const N: usize>(before: [[u32; N]; 4], words: &[[u32; N]; 16]) -> [[u32; N]; 4] {
    let mut state = before;
    round(&mut state, words, 0, |i| i, |b, c, d| (b & c) | (!b & d));
    round(&mut state, words, 1, |i| 5 * i + 1, |b, c, d| (d & b) | (!d & c));
    round(&mut state, words, 2, |i| 3 * i + 5, |b, c, d| b ^ c ^ d);
    round(&mut state, words, 3, |i| 7 * i, |b, c, d| c ^ (b | !d));
    for (sum, start) in state.iter_mut().zip(before) {
        sum.iter_mut().zip(start).for_each(|(sum, start)| *sum = sum.wrapping_add(start));
    }
    state
}

/// A round takes the words in an order of its own, and mixes in its own way.
#[inline(always)]
fn round<const N: usize>(
    state: &mut [[u32; N]; 4],
    words: &[[u32; N]; 16],
    round: usize,
    place: impl Fn(usize) -> usize,
    mix: impl Fn(u32, u32, u32) -> u32,
) {
    let [mut a, mut b, mut c, mut d] = *state;
    for step in 16 * round..16 * round + 16 {
        let (word, shift) = (&words[place(step) % 16], SHIFTS[round][step % 4]);
        let mut next = [0; N];
        for lane in 0..N {
            let mixed = mix(b[lane], c[lane], d[lane]);
            let sum = a[lane].wrapping_add(mixed).wrapping_add(SINES[step]).wrapping_add(word[lane]);
            next[lane] = b[lane].wrapping_add(sum.rotate_left(shift));
        }
        (a, d, c, b) = (d, c, b, next);
    }
    *state = [a, b, c, d];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_suite_of_the_rfc() {
        let hex = |text: &str| md5(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        for (text, digest) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            assert_eq!(hex(text), digest);
        }
    }

    #[test]
    fn messages_side_by_side_have_their_own_digests() {
        for round in 0..SHORT {
            let messages = std::array::from_fn(|lane| {
                let (mut message, length) = ([0; SHORT], (round + 7 * lane) % (SHORT + 1));
                message[..length]
                    .iter_mut()
                    .enumerate()
                    .for_each(|(i, byte)| *byte = (31 * i + 17 * lane + round) as u8);
                (message, length)
            });
            for ((message, length), found) in messages.iter().zip(short_digests(&messages)) {
                let digest = md5(&message[..*length]);
                assert_eq!(found.map(u32::to_le_bytes).concat(), digest[..8]);
            }
        }
    }
}
