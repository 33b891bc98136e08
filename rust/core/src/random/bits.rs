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

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts, from the last refresh on.
    struct Counter(u64);

    impl Bits for Counter {
        fn next_u64(&mut self) -> u64 {
            self.0 += 1;
            self.0
        }

        fn refresh(&mut self) -> Result<()> {
            self.0 = 1000;
            Ok(())
        }
    }

    fn taken<B: Bits>(mut bits: B) -> [u64; 5] {
        let mut words = [0; 5];
        words[0] = bits.next_u64();
        bits.fill(&mut words[1..3]);
        bits.refresh().unwrap();
        bits.fill(&mut words[3..]);
        words
    }

    #[test]
    fn a_source_that_is_lent_gives_its_own_words_and_is_refreshed() {
        let mut source = Counter(0);
        assert_eq!(taken(&mut source), [1, 2, 3, 1001, 1002]);
        assert_eq!(source.0, 1002);
    }
}
