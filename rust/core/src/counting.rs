//! Contingency tables: one fused pass over integer codes, from cell index to count.

use crate::{Error, Result};

/// A column of category codes, in any of the integer types that data frames use.
#[derive(Clone, Copy)]
pub enum Codes<'a> {
    /// Eight-bit codes.
    I8(&'a [i8]),
    /// Eight-bit unsigned codes.
    U8(&'a [u8]),
    /// Sixteen-bit codes.
    I16(&'a [i16]),
    /// Sixteen-bit unsigned codes.
    U16(&'a [u16]),
    /// Thirty-two-bit codes.
    I32(&'a [i32]),
    /// Thirty-two-bit unsigned codes.
    U32(&'a [u32]),
    /// Sixty-four-bit codes.
    I64(&'a [i64]),
    /// Sixty-four-bit unsigned codes.
    U64(&'a [u64]),
}

/// Expands to the same expression for every integer type of [`Codes`].
macro_rules! for_every_type {
    ($codes:expr, $values:ident => $body:expr) => {
        match $codes {
            Codes::I8($values) => $body,
            Codes::U8($values) => $body,
            Codes::I16($values) => $body,
            Codes::U16($values) => $body,
            Codes::I32($values) => $body,
            Codes::U32($values) => $body,
            Codes::I64($values) => $body,
            Codes::U64($values) => $body,
        }
    };
}

impl Codes<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        for_every_type!(self, values => values.len())
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Rows that are handled at a time: the indices of a chunk stay in the first-level cache.
const CHUNK: usize = 2048;

/// Counts how often each combination of codes occurs: a table of shape `cardinalities`, last axis fastest.
///
/// # Errors
/// [`Error::InvalidData`] when a code is outside `0..cardinality` of its column, [`Error::InvalidParameter`] when the
/// columns do not fit together or the table would not fit into memory.
pub fn count_table(columns: &[Codes<'_>], cardinalities: &[usize]) -> Result<Vec<i64>> {
    if columns.len() != cardinalities.len() {
        return Err(Error::parameter("cardinalities", "have one entry for each column", cardinalities.len()));
    }
    let n_rows = columns.first().map_or(0, Codes::len);
    if columns.iter().any(|column| column.len() != n_rows) {
        return Err(Error::parameter("columns", "have the same number of rows", "different lengths"));
    }
    let n_cells = n_cells(cardinalities)?;
    let mut table = vec![0_i64; n_cells];
    if let ([codes], [cardinality]) = (columns, cardinalities) {
        return count_column(*codes, *cardinality, table);
    }
    let mut cells = [0_usize; CHUNK];
    for start in (0..n_rows).step_by(CHUNK) {
        let cells = &mut cells[..CHUNK.min(n_rows - start)];
        cells.fill(0);
        let mut valid = true;
        for (codes, &cardinality) in columns.iter().zip(cardinalities) {
            valid &= for_every_type!(codes, values => append(cells, &values[start..start + cells.len()], cardinality));
        }
        if !valid {
            return Err(out_of_domain());
        }
        for &cell in &*cells {
            table[cell] += 1;
        }
    }
    Ok(table)
}

/// The number of cells, or an error when that many counts cannot be held.
fn n_cells(cardinalities: &[usize]) -> Result<usize> {
    // 2^31 cells are 16 GiB of counts: beyond that a dense table is the wrong tool.
    const LIMIT: usize = 1 << 31;
    cardinalities.iter().try_fold(1_usize, |product, &k| product.checked_mul(k)).filter(|&n| n <= LIMIT).ok_or_else(
        || Error::NotAffordable {
            asked: format!("a dense table with cardinalities {cardinalities:?}"),
            limit: format!("{LIMIT} cells"),
            instead: "count fewer columns at a time or merge rare values",
        },
    )
}

fn out_of_domain() -> Error {
    Error::data("columns", "hold codes from 0 to cardinality - 1")
}

/// Extends every mixed-radix cell index by one digit; false when a code is out of range.
fn append<T: Copy + TryInto<usize>>(cells: &mut [usize], codes: &[T], cardinality: usize) -> bool {
    let mut valid = true;
    for (cell, &code) in cells.iter_mut().zip(codes) {
        // A negative code becomes usize::MAX and fails the comparison with the rest.
        let digit = code.try_into().unwrap_or(usize::MAX);
        valid &= digit < cardinality;
        *cell = cell.wrapping_mul(cardinality).wrapping_add(digit);
    }
    valid
}

/// One column: no index to build. Two tables take turns, so that runs of one value do not wait for each other's store.
fn count_column(codes: Codes<'_>, cardinality: usize, mut table: Vec<i64>) -> Result<Vec<i64>> {
    fn count<T: Copy + TryInto<usize>>(codes: &[T], first: &mut [i64], second: &mut [i64]) -> Option<()> {
        let mut pairs = codes.chunks_exact(2);
        for pair in &mut pairs {
            *first.get_mut(pair[0].try_into().ok()?)? += 1;
            *second.get_mut(pair[1].try_into().ok()?)? += 1;
        }
        for &code in pairs.remainder() {
            *first.get_mut(code.try_into().ok()?)? += 1;
        }
        Some(())
    }
    let mut second = vec![0; cardinality];
    for_every_type!(codes, values => count(values, &mut table, &mut second)).ok_or_else(out_of_domain)?;
    for (total, part) in table.iter_mut().zip(second) {
        *total += part;
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_counts_every_combination() {
        let table = count_table(&[Codes::U8(&[0, 1, 1, 0]), Codes::I64(&[2, 0, 0, 2])], &[2, 3]).unwrap();
        assert_eq!(table, [0, 0, 2, 2, 0, 0]);
    }

    #[test]
    fn no_column_is_one_cell_without_rows() {
        assert_eq!(count_table(&[], &[]).unwrap(), [0]);
    }

    #[test]
    fn codes_outside_the_domain_are_refused_without_being_quoted() {
        for codes in [Codes::I8(&[0, -1]), Codes::I8(&[0, 7])] {
            let one = count_table(&[codes], &[2]).unwrap_err().to_string();
            let two = count_table(&[codes, Codes::U8(&[0, 0])], &[2, 2]).unwrap_err().to_string();
            assert!(!one.contains('7') && one == two, "{one}");
        }
    }

    #[test]
    fn a_table_that_cannot_be_held_is_refused() {
        let column = Codes::U8(&[]);
        assert!(matches!(count_table(&[column; 3], &[1 << 40, 1 << 20, 1 << 20]), Err(Error::NotAffordable { .. })));
    }
}
