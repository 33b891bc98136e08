//! Uniforms with as many bits as a decision needs.

use crate::random::{Bits, Stream, StreamKey};

/// Which uniform: the position of its first word in the main stream, and the half of that word.
///
/// A uniform is an infinite bit string. Its first 64 (or 32) bits come from the main stream; all later ones are the words
/// of a stream of its own, with this number, under the tail key. So its value does not depend on when, or whether,
/// later bits are looked at, and looking at them moves no other uniform.
pub(super) type Id = u64;

/// A source of lazily extended uniforms.
pub(super) struct LazyBits<B> {
    bits: B,
    tail: [u8; 32],
    position: u64,
    half: Option<(u32, Id)>,
}

impl<B: Bits> LazyBits<B> {
    /// Takes the tail key from the first four words.
    pub(super) fn new(mut bits: B) -> Self {
        let mut tail = [0; 32];
        for bytes in tail.chunks_exact_mut(8) {
            bytes.copy_from_slice(&bits.next_u64().to_le_bytes());
        }
        Self { bits, tail, position: 0, half: None }
    }

    /// A uniform's first 64 bits.
    #[inline]
    pub(super) fn word(&mut self) -> (u64, Id) {
        let id = 2 * self.position;
        self.position += 1;
        (self.bits.next_u64(), id)
    }

    /// The first 64 bits of as many uniforms as there is room for, as [`Self::word`] gives them one by one; the number of the
    /// first of them, and the others follow in steps of two.
    #[inline]
    pub(super) fn fill(&mut self, words: &mut [u64]) -> Id {
        let id = 2 * self.position;
        self.position += words.len() as u64;
        self.bits.fill(words);
        id
    }

    /// A uniform's first 32 bits; two of them share a word, the lower half first.
    #[inline]
    pub(super) fn half(&mut self) -> (u32, Id) {
        if let Some(half) = self.half.take() {
            return half;
        }
        let (word, id) = self.word();
        self.half = Some(((word >> 32) as u32, id + 1));
        (word as u32, id)
    }

    /// The later bits of a uniform.
    pub(super) fn tail(&self, id: Id) -> Stream {
        StreamKey::from_bytes(self.tail).stream(id)
    }

    /// Between rows: the main stream may take fresh entropy.
    pub(super) fn refresh(&mut self) -> crate::Result<()> {
        self.bits.refresh()
    }
}
