//! Dirichlet draws that may be released: the ideal law on a public grid, decided bit by bit where doubles are not enough.
//!
//! Each row is a function of independent uniforms of infinitely many bits: gamma variates by exact rejection, their
//! shares of the sum, and the rounding rule of [`Grid`]. Doubles with error bounds evaluate it; where a bound does not
//! decide an acceptance or a grid point, interval arithmetic with more bits of the same uniforms does. The argument,
//! with the bound of every step, is docs/exactness.md.

mod elementary;
mod exact;
mod gamma;
mod grid;
mod interval;
mod lazy;
mod normal_table;
mod row;

use std::sync::Mutex;

pub use gamma::Path;
pub use grid::Grid;
pub use row::Sampler;

use crate::random::StreamKey;
use crate::{Error, Result};

/// Bound on the total variation distance between a released row of up to 10^6 entries and the ideal one: 2^-64.
///
/// Of two outcomes' probabilities one is at most e^epsilon times the other plus delta + (1 + e^epsilon) times this.
pub const TOTAL_VARIATION_BOUND: f64 = 1.0 / 18_446_744_073_709_551_616.0;

/// The largest number of entries of a row.
pub const MAX_DIMENSION: usize = 1_000_000;

/// Smallest and largest prior weight.
const PRIOR_RANGE: std::ops::RangeInclusive<f64> = 1e-6..=1e15;

/// Largest shape: 2^50.
const MAX_SHAPE: f64 = (1u64 << 50) as f64;

/// Values in a chunk of rows. A chunk has a stream of its own, so results do not depend on the number of threads.
const CHUNK_VALUES: usize = 1 << 13;

/// The law of one row: Dirichlet(scale * counts + prior), rounded to a public grid.
///
/// `scale` and `prior` count as the exact rationals that their doubles are, and so does each shape.
#[derive(Clone, Debug)]
pub struct ExactDirichlet {
    scale: f64,
    prior: Vec<f64>,
    grid: Grid,
}

impl ExactDirichlet {
    /// A law with one prior weight per entry, on the grid of step `2^-resolution_bits`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 < scale <= 1e15`, every prior weight lies between 1e-6 and 1e15, there are at most
    /// [`MAX_DIMENSION`] of them, and [`Grid::new`] accepts the grid.
    pub fn new(scale: f64, prior: &[f64], resolution_bits: u32) -> Result<Self> {
        if !(scale > 0.0 && scale <= 1e15) {
            return Err(Error::parameter("scale", "be positive and at most 1e15", scale));
        }
        if let Some(weight) = prior.iter().find(|weight| !PRIOR_RANGE.contains(weight)) {
            return Err(Error::parameter("prior", "be between 1e-6 and 1e15 for an exact release", weight));
        }
        if prior.len() > MAX_DIMENSION {
            return Err(Error::parameter("dimension", "be at most 10^6 for an exact release", prior.len()));
        }
        let grid = Grid::new(resolution_bits, prior.len())?;
        Ok(Self { scale, prior: prior.to_vec(), grid })
    }

    /// The grid.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// One row of units for each row of `counts` (flat), by up to `threads` threads of its own.
    ///
    /// Chunk i of the rows draws from `key.stream(i)`; the result is the same for every number of threads.
    ///
    /// # Errors
    /// [`Error::InvalidData`] unless every count is finite, not negative and keeps its shape below 2^50, and
    /// [`Error::InvalidParameter`] when the length is not a multiple of the dimension.
    pub fn release(&self, counts: &[f64], key: &StreamKey, threads: usize) -> Result<Vec<u64>> {
        self.release_as(counts, key, threads, |units| units)
    }

    /// The same rows as [`Self::release`], in multiples of the grid's step: exact, and with an exact sum of one.
    ///
    /// # Errors
    /// As [`Self::release`].
    pub fn release_values(&self, counts: &[f64], key: &StreamKey, threads: usize) -> Result<Vec<f64>> {
        let step = self.grid.step();
        self.release_as(counts, key, threads, |units| units as f64 * step)
    }

    fn release_as<T: Copy + Default + Send>(
        &self,
        counts: &[f64],
        key: &StreamKey,
        threads: usize,
        convert: impl Fn(u64) -> T + Sync,
    ) -> Result<Vec<T>> {
        let dimension = self.grid.dimension();
        if !counts.len().is_multiple_of(dimension) {
            return Err(Error::parameter("counts", "be whole rows of the prior's length", counts.len()));
        }
        let mut values = vec![T::default(); counts.len()];
        let chunk = dimension * (CHUNK_VALUES / dimension).max(1);
        let chunks: Vec<_> = counts.chunks(chunk).zip(values.chunks_mut(chunk)).enumerate().collect();
        let work = |(index, (counts, values)): (usize, (&[f64], &mut [T]))| -> Result<()> {
            let mut sampler = Sampler::new(key.stream(index as u64), Path::Fast);
            let mut units = vec![0; dimension];
            for (counts, values) in counts.chunks(dimension).zip(values.chunks_mut(dimension)) {
                sampler.draw(self, counts, &mut units)?;
                for (value, &n) in values.iter_mut().zip(&units) {
                    *value = convert(n);
                }
            }
            Ok(())
        };
        let threads = threads.clamp(1, chunks.len().max(1));
        if threads == 1 {
            chunks.into_iter().try_for_each(work)?;
            return Ok(values);
        }
        // Threads that end with the call: a pool that outlived it would not survive a fork.
        let queue = Mutex::new(chunks.into_iter());
        let next = || queue.lock().ok().and_then(|mut chunks| chunks.next());
        let run = || std::iter::from_fn(next).try_for_each(work);
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
            let own = run();
            others.into_iter().fold(own, |result, other| {
                let failed = |_| Err(Error::numerical("dirichlet", "a thread stopped"));
                result.and(other.join().unwrap_or_else(failed))
            })
        })?;
        Ok(values)
    }
}
