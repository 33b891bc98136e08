//! The one thing that a sampler needs: independent uniform bits.

use crate::Result;

/// A source of independent, uniform bits.
pub trait Bits {
    /// The next 64 bits.
    fn next_u64(&mut self) -> u64;

    /// As many words as there is room for, the same as by [`Self::next_u64`].
    fn fill(&mut self, words: &mut [u64]) {
        words.iter_mut().for_each(|word| *word = self.next_u64());
    }

    /// Called between rows of a long release, where a source may take fresh entropy.
    ///
    /// # Errors
    /// [`crate::Error::Entropy`] when the operating system gives none.
    fn refresh(&mut self) -> Result<()> {
        Ok(())
    }
}

impl<B: Bits + ?Sized> Bits for &mut B {
    fn next_u64(&mut self) -> u64 {
        (**self).next_u64()
    }

    fn fill(&mut self, words: &mut [u64]) {
        (**self).fill(words);
    }

    fn refresh(&mut self) -> Result<()> {
        (**self).refresh()
    }
}
