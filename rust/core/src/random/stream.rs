//! ChaCha20 streams under one key: one key a call, one stream a chunk of rows.
//!
//! There is no generator that outlives a call and no process-wide buffer, so a fork has nothing to copy.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{Bits, chacha};
use crate::{Error, Result};

/// How many 32-bit words a stream under a system key gives before [`Bits::refresh`] takes a new key: 1 MiB of
/// output, so that the system call (about a microsecond) disappears beside it.
const WORDS_PER_KEY: u64 = 1 << 18;

/// How many 64-bit words a stream gives one block after the other before it computes many blocks at a time: whole blocks.
const FIRST_WORDS: u64 = 64;

/// The key of one call. Streams of one key with different indices are independent.
#[derive(Clone)]
pub struct StreamKey {
    key: [u8; 32],
    /// Whether the key came from the operating system, so that a stream may replace it by a newer one.
    renewable: bool,
}

impl StreamKey {
    /// A fresh key from the operating system.
    ///
    /// # Errors
    /// [`Error::Entropy`] when the operating system gives none; there is no fallback.
    pub fn from_os() -> Result<Self> {
        Ok(Self { key: system_key()?, renewable: true })
    }

    /// A known key: reproducible, and therefore not private.
    pub fn from_bytes(key: [u8; 32]) -> Self {
        Self { key, renewable: false }
    }

    /// The stream with the given index.
    pub fn stream(&self, index: u64) -> Stream {
        Stream::new(self.key, index, self.renewable)
    }
}

/// 32 bytes of entropy from the operating system.
fn system_key() -> Result<[u8; 32]> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| Error::Entropy(error.to_string()))?;
    Ok(key)
}

/// One ChaCha20 stream.
///
/// A stream under a system key takes a fresh key from the operating system at the first [`Bits::refresh`] after
/// 1 MiB of output; a stream under a known key never does.
pub struct Stream {
    key: [u8; 32],
    index: u64,
    renewable: bool,
    /// Gives the first words.
    generator: ChaCha20Rng,
    /// Words taken from the generator and, later, of the blocks in and before the buffer.
    words: u64,
    /// The later words, many blocks at a time, and how many of them are given. Empty at first.
    buffer: Vec<u64>,
    given: usize,
}

impl Stream {
    fn new(key: [u8; 32], index: u64, renewable: bool) -> Self {
        let mut generator = ChaCha20Rng::from_seed(key);
        generator.set_stream(index);
        Self { key, index, renewable, generator, words: 0, buffer: Vec::new(), given: 0 }
    }

    /// Fills the buffer with the next blocks.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        self.buffer.resize(chacha::WORDS, 0);
        if let Some(words) = self.buffer.first_chunk_mut() {
            chacha::blocks(&self.key, self.index, self.words / 8, words);
        }
        self.words += chacha::WORDS as u64;
        self.given = 0;
    }

    /// The next word where the buffer has none.
    #[inline(always)]
    fn word_of_new_blocks(&mut self) -> u64 {
        if self.words < FIRST_WORDS {
            self.words += 1;
            return self.generator.next_u64();
        }
        self.refill();
        self.given = 1;
        self.buffer[0]
    }
}

impl Bits for Stream {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        match self.buffer.get(self.given) {
            Some(&word) => {
                self.given += 1;
                word
            }
            None => self.word_of_new_blocks(),
        }
    }

    fn fill(&mut self, words: &mut [u64]) {
        let mut rest = words;
        while !rest.is_empty() {
            let ready = &self.buffer[self.given..];
            if ready.is_empty() {
                if self.words < FIRST_WORDS {
                    rest[0] = self.word_of_new_blocks();
                    rest = &mut rest[1..];
                } else {
                    self.refill();
                }
                continue;
            }
            let n = ready.len().min(rest.len());
            let (now, later) = rest.split_at_mut(n);
            now.copy_from_slice(&ready[..n]);
            self.given += n;
            rest = later;
        }
    }

    #[inline]
    fn refresh(&mut self) -> Result<()> {
        let taken = self.words - (self.buffer.len() - self.given) as u64;
        if self.renewable && 2 * taken >= WORDS_PER_KEY {
            *self = Self::new(system_key()?, 0, true);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_key_differ_and_repeat() {
        let key = StreamKey::from_bytes([7; 32]);
        let draw = |index| {
            let mut stream = key.stream(index);
            [stream.next_u64(), stream.next_u64()]
        };
        assert_eq!(draw(0), draw(0));
        assert_ne!(draw(0), draw(1));
    }

    #[test]
    fn words_are_those_of_the_generator_however_they_are_taken() {
        for (key, index) in [([0; 32], 0), ([7; 32], 5), (std::array::from_fn(|i| i as u8), u64::MAX)] {
            let mut generator = ChaCha20Rng::from_seed(key);
            generator.set_stream(index);
            let expected: Vec<u64> = (0..3000).map(|_| generator.next_u64()).collect();
            let (mut one_by_one, mut in_parts) = (Stream::new(key, index, false), Stream::new(key, index, false));
            assert!(expected.iter().all(|&word| one_by_one.next_u64() == word));
            let (mut parts, mut at) = (vec![0; 3000], 0);
            for n in [0, 1, 60, 2, 3, 1, 255, 1, 256, 700, 7, 1, 513, 1200] {
                in_parts.fill(&mut parts[at..at + n]);
                at += n;
            }
            assert_eq!((parts, at), (expected.clone(), 3000));
            // A single word, and so no whole block, before the first part.
            for singly in [1, 3, 63, 64, 65] {
                let mut stream = Stream::new(key, index, false);
                let mut words: Vec<u64> = (0..singly).map(|_| stream.next_u64()).collect();
                words.resize(400, 0);
                stream.fill(&mut words[singly..]);
                assert_eq!(words, expected[..400], "{singly}");
            }
        }
    }

    #[test]
    fn blocks_go_on_where_the_low_half_of_the_counter_ends() {
        let counter = (1 << 32) - 3;
        let mut generator = ChaCha20Rng::from_seed([9; 32]);
        generator.set_stream(77);
        generator.set_word_pos(16 * counter as u128);
        let mut words = [0; chacha::WORDS];
        chacha::blocks(&[9; 32], 77, counter, &mut words);
        assert!(words.iter().all(|&word| word == generator.next_u64()));
    }

    #[test]
    fn no_two_keys_of_the_system_are_one() {
        // By chance two are with 2^-256.
        let [mut a, mut b] = [0; 2].map(|_| StreamKey::from_os().unwrap().stream(0));
        assert_ne!([a.next_u64(), a.next_u64()], [b.next_u64(), b.next_u64()]);
        // Streams of one key have keys of their own from the first renewal on.
        let key = StreamKey::from_os().unwrap();
        let [first, second] = [1, 2].map(|index| {
            let mut stream = key.stream(index);
            stream.fill(&mut vec![0; WORDS_PER_KEY as usize / 2]);
            stream.refresh().unwrap();
            [stream.next_u64(), stream.next_u64()]
        });
        assert_ne!(first, second);
    }

    #[test]
    fn a_system_stream_takes_a_new_key_after_a_mebibyte_and_a_known_one_does_not() {
        let key = StreamKey::from_os().unwrap();
        for (renewable, key) in [(true, key.clone()), (false, StreamKey { renewable: false, ..key })] {
            let (mut refreshed, mut plain) = (key.stream(3), key.stream(3));
            refreshed.refresh().unwrap();
            for _ in 1..WORDS_PER_KEY / 2 {
                assert_eq!(refreshed.next_u64(), plain.next_u64());
            }
            refreshed.refresh().unwrap();
            assert_eq!(refreshed.next_u64(), plain.next_u64());
            refreshed.refresh().unwrap();
            assert_eq!(refreshed.next_u64() != plain.next_u64(), renewable);
        }
    }
}
