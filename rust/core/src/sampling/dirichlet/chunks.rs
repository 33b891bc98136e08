//! Many rows: chunks with a stream each, so that results do not depend on the number of threads.

use super::counts::Count;
use super::gamma::Path;
use super::row::Sampler;
use crate::random::{Stream, StreamKey};
use crate::{Error, Result, memory, parallel};

/// Values in a chunk of rows, unless one row has more.
const CHUNK_VALUES: usize = 1 << 13;

/// Fills rows of `dimension` values; chunk i draws from `key.stream(i)`, on up to `threads` threads.
pub(super) fn rows<C: Count, T: Copy + Default + Send>(
    dimension: usize,
    counts: &[C],
    (key, threads): (&StreamKey, usize),
    draw: impl Fn(&mut Sampler<Stream>, &[f64], &mut [T]) -> Result<()> + Sync,
) -> Result<Vec<T>> {
    if !counts.len().is_multiple_of(dimension) {
        return Err(Error::parameter("counts", "be whole rows of the prior's length", counts.len()));
    }
    let mut values = memory::zeros("the release", counts.len())?;
    let chunk = dimension * (CHUNK_VALUES / dimension).max(1);
    let work = |(index, (counts, values)): (usize, (&[C], &mut [T]))| -> Result<()> {
        let mut sampler = Sampler::new(key.stream(index as u64), Path::Fast);
        let mut doubles = Vec::new();
        for (counts, values) in counts.chunks(dimension).zip(values.chunks_mut(dimension)) {
            C::read(counts, &mut doubles)?;
            draw(&mut sampler, &doubles, values)?;
        }
        Ok(())
    };
    parallel::map(counts.chunks(chunk).zip(values.chunks_mut(chunk)).enumerate(), threads, work)?;
    Ok(values)
}
