//! Dirichlet draws that may be released: the ideal law on a public grid, decided bit by bit where doubles are not enough.
//!
//! Each row is a function of independent uniforms of infinitely many bits: gamma variates by exact rejection, their
//! shares of the sum, and the rounding rule of [`Grid`]. Doubles with error bounds evaluate it; where a bound does not
//! decide an acceptance or a grid point, interval arithmetic with more bits of the same uniforms does. The argument,
//! with the bound of every step, is docs/exactness.md.

mod chunks;
mod counts;
mod elementary;
mod exact;
mod exponential;
mod exponential_table;
mod first_tries;
mod gamma;
mod grid;
mod interval;
mod lazy;
mod normal_table;
mod powers;
mod row;
mod shapes;
mod shares;

pub use counts::Count;
pub use gamma::Path;
pub use grid::Grid;
pub use row::Sampler;
pub use shapes::MAX_DIMENSION;

use crate::random::StreamKey;
use crate::{Error, Result};
use shapes::Shapes;

/// Bound on the total variation distance between a released row of up to 10^6 entries and the ideal one: 2^-256.
///
/// Of two outcomes' probabilities one is at most e^epsilon times the other plus delta + (1 + e^epsilon) times this.
pub const TOTAL_VARIATION_BOUND: f64 = {
    let word = 1.0 / 18_446_744_073_709_551_616.0;
    word * word * word * word
};

/// The law of one row: Dirichlet(scale * counts + prior), rounded to a public grid.
///
/// `scale` and `prior` count as the exact rationals that their doubles are, and so does each shape.
#[derive(Clone, Debug)]
pub struct ExactDirichlet {
    shapes: Shapes,
    grid: Grid,
}

impl ExactDirichlet {
    /// A law with one prior weight per entry, on the grid of step `2^-resolution_bits`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 < scale <= 1e15`, every prior weight lies between 1e-6 and 1e15, there are at
    /// most [`MAX_DIMENSION`] of them, and [`Grid::new`] accepts the grid.
    pub fn new(scale: f64, prior: &[f64], resolution_bits: u32) -> Result<Self> {
        let shapes = Shapes::new(scale, prior)?;
        let grid = Grid::new(resolution_bits, prior.len())?;
        Ok(Self { shapes, grid })
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
    /// [`Error::InvalidData`] unless every count is finite, not negative and keeps its shape below 2^50, and an integer is at
    /// most 2^53; [`Error::InvalidParameter`] when the length is not a multiple of the dimension.
    pub fn release<C: Count>(&self, counts: &[C], key: &StreamKey, threads: usize) -> Result<Vec<u64>> {
        self.rows(counts, key, threads, |units| units)
    }

    /// The same rows as [`Self::release`], in multiples of the grid's step: exact, and with an exact sum of one.
    ///
    /// # Errors
    /// As [`Self::release`].
    pub fn release_values<C: Count>(&self, counts: &[C], key: &StreamKey, threads: usize) -> Result<Vec<f64>> {
        let step = self.grid.step();
        self.rows(counts, key, threads, |units| elementary::small(units) * step)
    }

    fn rows<C: Count, T: Copy + Default + Send>(
        &self,
        counts: &[C],
        key: &StreamKey,
        threads: usize,
        convert: impl Fn(u64) -> T + Sync,
    ) -> Result<Vec<T>> {
        chunks::rows(self.shapes.dimension(), counts, (key, threads), |sampler, counts, row| {
            sampler.draw_as(self, counts, &convert, row)
        })
    }
}

/// The law of independent Gamma(scale * count + prior) draws of unit rate, each rounded to a public grid:
/// `1 + min(floor(2^bits g), 2^63 - 1)` units of 2^-bits.
///
/// Shapes are exact rationals as in [`ExactDirichlet`], and the same bound on the total variation holds.
#[derive(Clone, Debug)]
pub struct ExactGamma {
    shapes: Shapes,
    resolution_bits: u32,
}

impl ExactGamma {
    /// A law with one prior weight per entry, on the grid of step `2^-resolution_bits`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for weights as in [`ExactDirichlet::new`], or a resolution finer than 2^-52.
    pub fn new(scale: f64, prior: &[f64], resolution_bits: u32) -> Result<Self> {
        if resolution_bits > 52 {
            let value = format!("2^-{resolution_bits}");
            return Err(Error::parameter("resolution", "be a power of two from 2^-52 to 1", value));
        }
        Ok(Self { shapes: Shapes::new(scale, prior)?, resolution_bits })
    }

    /// Units for each row of `counts` (flat), as [`ExactDirichlet::release`] draws its rows.
    ///
    /// # Errors
    /// As [`ExactDirichlet::release`].
    pub fn release<C: Count>(&self, counts: &[C], key: &StreamKey, threads: usize) -> Result<Vec<u64>> {
        let draw =
            |sampler: &mut Sampler<_>, counts: &[f64], units: &mut [u64]| sampler.draw_gammas(self, counts, units);
        chunks::rows(self.shapes.dimension(), counts, (key, threads), draw)
    }
}
