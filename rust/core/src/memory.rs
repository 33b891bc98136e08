//! Memory for sizes that a user chooses: what is not to be had is an error, and no end of the process.

use crate::{Error, Result};

/// Sizes below are not asked for first: who has no mebibyte left is beyond help.
const SMALL: u128 = 1 << 20;

/// Says whether memory for `n` values is to be had.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn check<T>(what: &'static str, n: usize) -> Result<()> {
    if n as u128 * size_of::<T>() as u128 <= SMALL { Ok(()) } else { reserved::<T>(what, n).map(drop) }
}

/// An empty vector with room for `n` values.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn reserved<T>(what: &'static str, n: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let bytes = n as u128 * size_of::<T>() as u128;
    values.try_reserve_exact(n).map_err(|_| Error::OutOfMemory { what, bytes })?;
    Ok(values)
}

/// `n` zeros.
///
/// The memory is asked for, given back, and taken again: the system hands out zeros, which a vector that was reserved
/// would have to be filled with.
///
/// # Errors
/// [`Error::OutOfMemory`].
///
/// # Examples
/// ```
/// use simplexdp_core::memory::zeros;
///
/// assert_eq!(zeros::<i64>("three counts", 3)?, [0; 3]);
/// assert!(zeros::<i64>("too many counts", usize::MAX).is_err());
/// # Ok::<(), simplexdp_core::Error>(())
/// ```
pub fn zeros<T: Copy + Default>(what: &'static str, n: usize) -> Result<Vec<T>> {
    check::<T>(what, n)?;
    Ok(vec![T::default(); n])
}

/// The number of values in `rows` rows of `width`.
///
/// # Errors
/// [`Error::OutOfMemory`] for more than there are addresses.
pub fn size_of_rows<T>(what: &'static str, rows: usize, width: usize) -> Result<usize> {
    let bytes = rows as u128 * width as u128 * size_of::<T>() as u128;
    if bytes > isize::MAX as u128 { Err(Error::OutOfMemory { what, bytes }) } else { Ok(rows * width) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_to_be_had_is_an_error_with_its_size() {
        for found in [check::<u8>("much", usize::MAX), zeros::<u64>("much", 1 << 60).map(drop)] {
            assert!(matches!(found, Err(Error::OutOfMemory { what: "much", .. })), "{found:?}");
        }
        assert_eq!(size_of_rows::<u8>("rows", 3, 4), Ok(12));
        let error = size_of_rows::<u64>("rows", usize::MAX, 2).unwrap_err();
        assert!(error.to_string().starts_with("there is no memory for rows, which takes "), "{error}");
        assert_eq!(zeros::<u32>("few", 5).unwrap(), [0; 5]);
        assert!(reserved::<u32>("few", 5).unwrap().capacity() >= 5);
    }
}
