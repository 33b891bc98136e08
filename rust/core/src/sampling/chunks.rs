//! Long draws in chunks, each from a stream of its own, on threads that end with the call.

use std::sync::Mutex;

use crate::random::{Stream, StreamKey};

/// Values in a chunk: a tenth of a millisecond of work at the fastest.
const CHUNK_VALUES: usize = 1 << 14;

/// Calls `fill(stream, offset, chunk)` for the chunks of `values`, which are whole rows of `row` values; chunk i draws
/// from `key.stream(i)`, so that the result is the same for every number of threads.
pub(crate) fn fill_chunks<T: Send>(
    values: &mut [T],
    row: usize,
    key: &StreamKey,
    threads: usize,
    fill: impl Fn(&mut Stream, usize, &mut [T]) + Sync,
) {
    let size = row.max(1) * (CHUNK_VALUES / row.max(1)).max(1);
    let n_chunks = values.len().div_ceil(size);
    let work = |(index, chunk): (usize, &mut [T])| fill(&mut key.stream(index as u64), index * size, chunk);
    let chunks = values.chunks_mut(size).enumerate();
    if threads.min(n_chunks) <= 1 {
        return chunks.for_each(work);
    }
    // A pool that outlived the call would not survive a fork.
    let queue = Mutex::new(chunks);
    // The lock is poisoned only if a thread panicked, and the scope passes that on.
    let run = || std::iter::from_fn(|| queue.lock().ok()?.next()).for_each(work);
    std::thread::scope(|scope| {
        (1..threads.min(n_chunks)).for_each(|_| drop(scope.spawn(run)));
        run();
    });
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
            });
            values
        };
        for (n, row) in [(0, 1), (5, 1), (100_000, 1), (99_999, 3), (100_000, 50_000)] {
            let one = draw(n, row, 1);
            assert_eq!(one, draw(n, row, 2));
            assert_eq!(one, draw(n, row, 7));
            assert!(one.iter().all(|&value| value != 0));
        }
    }
}
