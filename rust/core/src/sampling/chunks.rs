//! Long draws in chunks, each from a stream of its own.

use crate::random::{Stream, StreamKey};
use crate::{Result, parallel};

/// Values in a chunk: a tenth of a millisecond of work at the fastest.
const CHUNK_VALUES: usize = 1 << 14;

/// Calls `fill(stream, offset, chunk)` for the chunks of `values`, which are whole rows of `row` values; chunk i draws
/// from `key.stream(i)`, so that the result is the same for every number of threads.
///
/// # Errors
/// The first one of `fill`, or [`crate::Error::Interrupted`].
pub(crate) fn fill_chunks<T: Send>(
    values: &mut [T],
    row: usize,
    key: &StreamKey,
    threads: usize,
    fill: impl Fn(&mut Stream, usize, &mut [T]) -> Result<()> + Sync,
) -> Result<()> {
    let size = row.max(1) * (CHUNK_VALUES / row.max(1)).max(1);
    let work = |(index, chunk): (usize, &mut [T])| fill(&mut key.stream(index as u64), index * size, chunk);
    parallel::map(values.chunks_mut(size).enumerate(), threads, work)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Bits;

    #[test]
    fn every_number_of_threads_gives_the_same_values() {
        let key = StreamKey::from_bytes([1; 32]);
        let draw = |n: usize, row, threads| {
            let mut values = vec![0; n];
            fill_chunks(&mut values, row, &key, threads, |stream, offset, chunk| {
                assert!(offset.is_multiple_of(row) && chunk.len().is_multiple_of(row));
                chunk.iter_mut().for_each(|value| *value = stream.next_u64());
                Ok(())
            })
            .unwrap();
            values
        };
        for (n, row) in [(0, 1), (5, 1), (100_000, 1), (99_999, 3), (100_000, 50_000)] {
            let one = draw(n, row, 1);
            assert_eq!(one, draw(n, row, 2));
            assert_eq!(one, draw(n, row, 7));
            assert!(one.iter().all(|&value| value != 0));
            // No word comes twice, as it would from one stream for two chunks.
            let mut words = one;
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), n);
        }
    }
}
