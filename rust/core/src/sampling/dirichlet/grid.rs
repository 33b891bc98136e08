//! The public grid and the rule that rounds a point of the simplex to it.

use super::elementary::{ROUND, small};
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

    /// From `floor(M y_i)` to the units of the row, each converted.
    ///
    /// # Errors
    /// [`Error::Numerical`] when the floors cannot be those of a point of the simplex.
    #[inline(always)]
    pub(super) fn complete<T>(&self, floors: &[u64], convert: impl Fn(u64) -> T, row: &mut [T]) -> Result<()> {
        let missing = self.shared().wrapping_sub(floors.iter().sum());
        if missing >= self.dimension as u64 {
            return Err(Error::numerical("dirichlet", "the shares of a row do not sum to one"));
        }
        let spread = Spread::new(missing, self.dimension);
        for (i, (&floor, unit)) in floors.iter().zip(row).enumerate() {
            *unit = convert(floor + 1 + spread.before(i + 1) - spread.before(i));
        }
        Ok(())
    }
}

/// floor(missing i / d), without a branch.
#[derive(Clone, Copy)]
struct Spread {
    missing: f64,
    per_entry: f64,
}

impl Spread {
    #[inline(always)]
    fn new(missing: u64, dimension: usize) -> Self {
        Self { missing: small(missing), per_entry: 1.0 / dimension as f64 }
    }

    /// How many of the missing units go to the first i entries.
    ///
    /// A product of two numbers up to 10^6 is exact, and (product + 1/2)/d is at least 1/(2d) > 10^-7 away from every integer,
    /// while its roundings are below 10^-9.
    #[inline(always)]
    fn before(&self, i: usize) -> u64 {
        let nearest_below = (self.missing * small(i as u64) + 0.5) * self.per_entry - 0.5;
        (nearest_below + ROUND).to_bits().wrapping_sub(ROUND.to_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_sums_to_the_total_and_has_no_entry_below_one() {
        let grid = Grid::new(8, 5).unwrap();
        let mut row = [0; 5];
        grid.complete(&[0, 100, 0, 148, 0], |units| units, &mut row).unwrap();
        assert_eq!(row.iter().sum::<u64>(), 256);
        assert_eq!(row, [1, 102, 1, 150, 2]);
    }

    #[test]
    fn missing_units_are_spread_as_integers_are_divided() {
        let check = |missing: u64, d: u64, i: u64| {
            let found = Spread::new(missing, d as usize).before(i as usize);
            assert_eq!(found, missing * i / d, "{missing} {d} {i}");
        };
        for d in 1..60 {
            (0..d).for_each(|missing| (0..=d).for_each(|i| check(missing, d, i)));
        }
        for d in [999_983, 999_999, 1_000_000] {
            for missing in [0, 1, 2, 3, d / 3, d / 2, d - 2, d - 1] {
                (0..=d).step_by(7).chain([1, d - 1, d]).for_each(|i| check(missing, d, i));
            }
        }
    }

    #[test]
    fn shares_of_no_point_are_refused() {
        let grid = Grid::new(8, 2).unwrap();
        for floors in [[200, 200], [0, 0]] {
            assert!(grid.complete(&floors, |units| units, &mut [0; 2]).is_err());
        }
    }

    #[test]
    fn limits_are_named() {
        assert!(Grid::new(7, 2).unwrap_err().to_string().contains("2^-7"));
        assert!(Grid::new(8, 65).is_err() && Grid::new(8, 64).is_ok() && Grid::new(8, 0).is_err());
    }
}
