//! Keys from a seed, one a call: a run that repeats, for tests and papers.

use std::sync::atomic::{AtomicU64, Ordering};

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::StreamKey;

/// A seeded sequence of keys: key number c is the first 32 bytes of stream c of ChaCha20 (20 rounds, 64-bit counter
/// from 0, stream number as the 64-bit nonce) under the seed, a little-endian integer of 256 bits.
///
/// The values are stable: changing them is a change that users notice, and the changelog says so. Threads may share
/// one sequence; each call gets its own key, in the order in which the calls come.
#[derive(Debug)]
pub struct SeededKeys {
    seed: [u8; 32],
    calls: AtomicU64,
}

impl SeededKeys {
    /// The sequence of `seed` from which `calls` keys have been taken.
    pub fn new(seed: [u8; 32], calls: u64) -> Self {
        Self { seed, calls: AtomicU64::new(calls) }
    }

    /// The seed.
    pub fn seed(&self) -> [u8; 32] {
        self.seed
    }

    /// How many keys have been taken.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The key of the next call.
    pub fn next_key(&self) -> StreamKey {
        StreamKey::from_bytes(self.next_bytes())
    }

    /// The seed of a new sequence, taken in place of a key.
    pub fn next_bytes(&self) -> [u8; 32] {
        let mut generator = ChaCha20Rng::from_seed(self.seed);
        generator.set_stream(self.calls.fetch_add(1, Ordering::Relaxed));
        let mut key = [0; 32];
        generator.fill_bytes(&mut key);
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_repeats_from_its_seed_and_from_any_position() {
        let keys = SeededKeys::new([9; 32], 0);
        let first: Vec<_> = (0..5).map(|_| keys.next_bytes()).collect();
        let later = SeededKeys::new([9; 32], 3);
        assert_eq!([later.next_bytes(), later.next_bytes()], first[3..]);
        assert_eq!((keys.seed(), keys.calls()), ([9; 32], 5));
        assert!((1..5).all(|i| first[..i].iter().all(|earlier| *earlier != first[i])));
    }
}
