//! Counts as they lie in the caller's memory, doubles or integers, which are read once, a row at a time.
//!
//! A copy of all of them would be memory that the system hands out and takes back with every call: for a table of many rows
//! that took as long as a third of its draws, on one thread.

use crate::wide::widest;
use crate::{Error, Result};

/// Up to here doubles hold every integer.
const LARGEST_INTEGER: u64 = 1 << 53;

/// A type of counts: `f64` or `i64`.
pub trait Count: Copy + Sync + sealed::Sealed {
    /// Writes the counts of a row as doubles, which are the same numbers.
    ///
    /// # Errors
    /// [`Error::InvalidData`] for an integer beyond 2^53.
    #[doc(hidden)]
    fn read(row: &[Self], doubles: &mut Vec<f64>) -> Result<()>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for i64 {}
}

impl Count for f64 {
    #[inline]
    fn read(row: &[Self], doubles: &mut Vec<f64>) -> Result<()> {
        doubles.clear();
        doubles.extend_from_slice(row);
        Ok(())
    }
}

impl Count for i64 {
    fn read(row: &[Self], doubles: &mut Vec<f64>) -> Result<()> {
        doubles.resize(row.len(), 0.0);
        let exact = widest(
            #[inline(always)]
            || {
                let mut exact = true;
                for (double, &count) in doubles.iter_mut().zip(row) {
                    exact &= count.unsigned_abs() <= LARGEST_INTEGER;
                    *double = count as f64;
                }
                exact
            },
        );
        if exact { Ok(()) } else { Err(Error::data("counts", "be at most 2^53 as integers")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_the_doubles_that_they_equal_or_are_refused() {
        let mut doubles = vec![7.0; 9];
        i64::read(&[0, 3, -1, 1 << 53, -(1 << 53)], &mut doubles).unwrap();
        assert_eq!(doubles, [0.0, 3.0, -1.0, 9_007_199_254_740_992.0, -9_007_199_254_740_992.0]);
        for beyond in [(1 << 53) + 1, -(1 << 53) - 1, i64::MAX, i64::MIN] {
            let error = i64::read(&[1, beyond, 2], &mut doubles).unwrap_err();
            assert_eq!(error, Error::data("counts", "be at most 2^53 as integers"));
        }
        f64::read(&[0.5, f64::INFINITY], &mut doubles).unwrap();
        assert_eq!(doubles, [0.5, f64::INFINITY]);
    }
}
