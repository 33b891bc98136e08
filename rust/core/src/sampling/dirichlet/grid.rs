//! The public grid and the rule that rounds a point of the simplex to it.

use crate::{Error, Result};

/// Grids from 2^-8 to 2^-52: every multiple of the unit up to 1 is a double.
const RESOLUTION_BITS: std::ops::RangeInclusive<u32> = 8..=52;

/// Rows of `dimension` positive integers that sum to `2^resolution_bits`.
///
/// With M = 2^bits - d a point y of the simplex becomes `1 + floor(M y_i)` units, and the R < d units that are then missing
/// go to R coordinates spread evenly over the positions: i gets one if `floor(R (i+1)/d) > floor(R i/d)`. The rule
/// looks at y, d and the grid only. Each coordinate moves by less than `max(1, d y_i)` + 1 units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    resolution_bits: u32,
    dimension: usize,
}

impl Grid {
    /// The grid of step `2^-resolution_bits` for rows of `dimension` entries.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `8 <= resolution_bits <= 52`, `dimension >= 1` and
    /// `4 dimension <= 2^resolution_bits`: beyond that the entries' minimum of one unit is most of the row.
    pub fn new(resolution_bits: u32, dimension: usize) -> Result<Self> {
        if !RESOLUTION_BITS.contains(&resolution_bits) {
            return Err(Error::parameter(
                "resolution",
                "be a power of two from 2^-52 to 2^-8",
                format!("2^-{resolution_bits}"),
            ));
        }
        if dimension == 0 || dimension as u64 > (1 << resolution_bits) / 4 {
            return Err(Error::parameter("dimension", "be from 1 to a quarter of 1/resolution", dimension));
        }
        Ok(Self { resolution_bits, dimension })
    }

    /// The number of entries of a row.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// What a row sums to.
    pub fn total(&self) -> u64 {
        1 << self.resolution_bits
    }

    /// One unit as a double, exact.
    pub fn step(&self) -> f64 {
        1.0 / self.total() as f64
    }

    /// M: the units that are shared in proportion.
    pub(super) fn shared(&self) -> u64 {
        self.total() - self.dimension as u64
    }

    /// From `floor(M y_i)` to the units of the row.
    ///
    /// # Errors
    /// [`Error::Numerical`] when the floors cannot be those of a point of the simplex.
    pub(super) fn complete(&self, floors: &mut [u64]) -> Result<()> {
        let d = self.dimension as u64;
        let missing = self.shared().wrapping_sub(floors.iter().sum());
        if missing >= d {
            return Err(Error::numerical("dirichlet", "the shares of a row do not sum to one"));
        }
        let mut spread = 0;
        for floor in floors.iter_mut() {
            spread += missing;
            let extra = u64::from(spread >= d);
            spread -= d * extra;
            *floor += 1 + extra;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_sums_to_the_total_and_has_no_entry_below_one() {
        let grid = Grid::new(8, 5).unwrap();
        let mut floors = [0, 100, 0, 148, 0];
        grid.complete(&mut floors).unwrap();
        assert_eq!(floors.iter().sum::<u64>(), 256);
        assert_eq!(floors, [1, 102, 1, 150, 2]);
    }

    #[test]
    fn shares_of_no_point_are_refused() {
        let grid = Grid::new(8, 2).unwrap();
        assert!(grid.complete(&mut [200, 200]).is_err());
        assert!(grid.complete(&mut [0, 0]).is_err());
    }

    #[test]
    fn limits_are_named() {
        assert!(Grid::new(7, 2).unwrap_err().to_string().contains("2^-7"));
        assert!(Grid::new(8, 65).is_err() && Grid::new(8, 64).is_ok() && Grid::new(8, 0).is_err());
    }
}
