//! ChaCha20 streams under one key: one key a call, one stream a chunk of rows.
//!
//! There is no generator that outlives a call and no process-wide buffer, so a fork has nothing to copy.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::Bits;
use crate::{Error, Result};

/// How many 32-bit words a stream under a system key gives before [`Bits::refresh`] takes a new key: 1 MiB of
/// output, so that the system call (about a microsecond) disappears beside it.
const WORDS_PER_KEY: u128 = 1 << 18;

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
        let mut generator = ChaCha20Rng::from_seed(self.key);
        generator.set_stream(index);
        Stream { generator, renewable: self.renewable }
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
    generator: ChaCha20Rng,
    renewable: bool,
}

impl Bits for Stream {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    #[inline]
    fn refresh(&mut self) -> Result<()> {
        if self.renewable && self.generator.get_word_pos() >= WORDS_PER_KEY {
            self.generator = ChaCha20Rng::from_seed(system_key()?);
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
    fn a_system_stream_takes_a_new_key_after_a_mebibyte_and_a_known_one_does_not() {
        let key = StreamKey::from_os().unwrap();
        for (renewable, key) in [(true, key.clone()), (false, StreamKey { renewable: false, ..key })] {
            let (mut refreshed, mut plain) = (key.stream(3), key.stream(3));
            refreshed.refresh().unwrap();
            for _ in 0..WORDS_PER_KEY / 2 {
                assert_eq!(refreshed.next_u64(), plain.next_u64());
            }
            refreshed.refresh().unwrap();
            assert_eq!(refreshed.next_u64() != plain.next_u64(), renewable);
        }
    }
}
