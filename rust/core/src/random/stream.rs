//! ChaCha20 streams under one key: one key a call, one stream a chunk of rows.
//!
//! There is no generator that outlives a call and no process-wide buffer, so a fork has nothing to copy.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::Bits;
use crate::{Error, Result};

/// The key of one call. Streams of one key with different indices are independent.
#[derive(Clone)]
pub struct StreamKey([u8; 32]);

impl StreamKey {
    /// A fresh key from the operating system.
    ///
    /// # Errors
    /// [`Error::Entropy`] when the operating system gives none; there is no fallback.
    pub fn from_os() -> Result<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| Error::Entropy(error.to_string()))?;
        Ok(Self(key))
    }

    /// A known key: reproducible, and therefore not private.
    pub fn from_bytes(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// The stream with the given index.
    pub fn stream(&self, index: u64) -> Stream {
        let mut generator = ChaCha20Rng::from_seed(self.0);
        generator.set_stream(index);
        Stream(generator)
    }
}

/// One ChaCha20 stream.
pub struct Stream(ChaCha20Rng);

impl Bits for Stream {
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
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
}
