//! Contingency tables: one fused pass over integer codes, from cell index to count.

use std::ops::BitOr;

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
const CHUNK: usize = 4096;

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
    if n_rows > 0 && n_cells == 0 {
        return Err(out_of_domain());
    }
    if let [codes] = *columns {
        return for_every_type!(codes, values => count_column(values, n_cells));
    }
    // Sixteen-bit indices are multiplied and added eight at a time on any x86-64.
    if n_cells <= 1 << 16 {
        count_by_index::<u16>(columns, cardinalities, n_rows, n_cells)
    } else {
        count_by_index::<u64>(columns, cardinalities, n_rows, n_cells)
    }
}

/// Counts one column, whose codes are indices as they stand: to narrow them first would take longer.
fn count_column<C: Code>(codes: &[C], n_cells: usize) -> Result<Vec<i64>> {
    let n_turns = turns_for(n_cells);
    let mut turns = vec![0_i64; n_turns * n_cells];
    let valid = if n_turns == 1 {
        codes.iter().all(|code| turns.get_mut(code.position()).map(|cell| *cell += 1).is_some())
    } else {
        let (first, rest) = turns.split_at_mut(n_cells);
        let (second, rest) = rest.split_at_mut(n_cells);
        let (third, fourth) = rest.split_at_mut(n_cells);
        let mut quads = codes.chunks_exact(4);
        let all = quads.all(|quad| {
            let [a, b, c, d] = [quad[0].position(), quad[1].position(), quad[2].position(), quad[3].position()];
            let valid = (a < n_cells) & (b < n_cells) & (c < n_cells) & (d < n_cells);
            if valid {
                first[a] += 1;
                second[b] += 1;
                third[c] += 1;
                fourth[d] += 1;
            }
            valid
        });
        all && quads.remainder().iter().all(|code| first.get_mut(code.position()).map(|cell| *cell += 1).is_some())
    };
    if valid { Ok(added(turns, n_cells)) } else { Err(out_of_domain()) }
}

/// Small tables take turns, so that runs of one cell do not wait for each other's store.
fn turns_for(n_cells: usize) -> usize {
    if n_cells <= 4096 { 4 } else { 1 }
}

/// The sum of the tables of all turns.
fn added(mut turns: Vec<i64>, n_cells: usize) -> Vec<i64> {
    let (table, others) = turns.split_at_mut(n_cells);
    for turn in others.chunks_exact(n_cells.max(1)) {
        table.iter_mut().zip(turn).for_each(|(total, part)| *total += part);
    }
    turns.truncate(n_cells);
    turns
}

/// Counts with cell indices of type `I`, which holds every index below `n_cells`.
fn count_by_index<I: Index>(
    columns: &[Codes<'_>],
    cardinalities: &[usize],
    n_rows: usize,
    n_cells: usize,
) -> Result<Vec<i64>> {
    let n_turns = turns_for(n_cells);
    let mut turns = vec![0_i64; n_turns * n_cells];
    let mut cells = [I::default(); CHUNK];
    for start in (0..n_rows).step_by(CHUNK) {
        let cells = &mut cells[..CHUNK.min(n_rows - start)];
        cells.fill(I::default());
        let rows = start..start + cells.len();
        for (codes, &cardinality) in columns.iter().zip(cardinalities) {
            if !for_every_type!(codes, values => append(cells, &values[rows.clone()], cardinality)) {
                return Err(out_of_domain());
            }
        }
        tally(cells, &mut turns, n_turns, n_cells);
    }
    Ok(added(turns, n_cells))
}

/// Adds one to each cell of the chunk.
fn tally<I: Index>(cells: &[I], turns: &mut [i64], n_turns: usize, n_cells: usize) {
    if n_turns == 1 {
        cells.iter().for_each(|cell| turns[cell.position()] += 1);
        return;
    }
    let (first, rest) = turns.split_at_mut(n_cells);
    let (second, rest) = rest.split_at_mut(n_cells);
    let (third, fourth) = rest.split_at_mut(n_cells);
    let mut quads = cells.chunks_exact(4);
    for quad in &mut quads {
        first[quad[0].position()] += 1;
        second[quad[1].position()] += 1;
        third[quad[2].position()] += 1;
        fourth[quad[3].position()] += 1;
    }
    quads.remainder().iter().for_each(|cell| first[cell.position()] += 1);
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
fn append<I: Index, C: Code>(cells: &mut [I], codes: &[C], cardinality: usize) -> bool {
    // One loop without a branch, in the narrow type of the index, becomes vector instructions. What the narrow type
    // cuts off, the sign included, is seen in the bits of all codes together.
    let largest = I::narrow((cardinality - 1) as u64);
    let factor = I::narrow(cardinality as u64);
    let mut all_bits = C::default();
    let mut valid = true;
    for (cell, &code) in cells.iter_mut().zip(codes) {
        let digit = I::narrow(code.bits());
        all_bits = all_bits | code;
        valid &= digit <= largest;
        *cell = cell.append(factor, digit);
    }
    valid && I::narrow(all_bits.bits()).position() as u64 == all_bits.bits()
}

/// The type of a cell index.
trait Index: Copy + Default + PartialOrd {
    /// The low bits of `bits`.
    fn narrow(bits: u64) -> Self;
    /// The index with one digit more.
    fn append(self, factor: Self, digit: Self) -> Self;
    /// The index as a position in a slice.
    fn position(self) -> usize;
}

macro_rules! implement_index {
    ($($index:ty),*) => {$(
        impl Index for $index {
            fn narrow(bits: u64) -> Self {
                bits as $index
            }
            fn append(self, factor: Self, digit: Self) -> Self {
                self.wrapping_mul(factor).wrapping_add(digit)
            }
            fn position(self) -> usize {
                self as usize
            }
        }
    )*};
}

implement_index!(u16, u64);

/// An integer type that holds codes.
trait Code: Copy + Default + BitOr<Output = Self> {
    /// The code with its sign extended to 64 bits, so that a negative one exceeds every cardinality.
    fn bits(self) -> u64;
    /// The code as a position; a negative one is beyond every table.
    fn position(self) -> usize;
}

macro_rules! implement_code {
    ($($code:ty),*) => {$(
        impl Code for $code {
            fn bits(self) -> u64 {
                self as u64
            }
            fn position(self) -> usize {
                usize::try_from(self as u64).unwrap_or(usize::MAX)
            }
        }
    )*};
}

implement_code!(i8, u8, i16, u16, i32, u32, i64, u64);

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
    fn one_column_is_counted_as_several_are() {
        for n_cells in [3, 5000] {
            let codes: Vec<i64> = (0..1003).map(|i| (i * i) % 3).collect();
            let alone = count_table(&[Codes::I64(&codes)], &[n_cells]).unwrap();
            let unsigned: Vec<u64> = codes.iter().map(|&code| code as u64).collect();
            assert_eq!(alone, count_table(&[Codes::U64(&unsigned)], &[n_cells]).unwrap());
            let pair = count_table(&[Codes::I64(&codes), Codes::U8(&[0; 1003])], &[n_cells, 1]).unwrap();
            assert_eq!(alone, pair);
            for wrong in [-1, n_cells as i64, i64::MIN, i64::MAX] {
                for place in [0, 1000, 1002] {
                    let mut codes = codes.clone();
                    codes[place] = wrong;
                    assert!(count_table(&[Codes::I64(&codes)], &[n_cells]).is_err(), "{wrong} at {place}");
                }
            }
        }
    }

    #[test]
    fn a_domain_larger_than_the_type_admits_every_code_that_is_not_negative() {
        assert!(count_table(&[Codes::U8(&[255, 0])], &[300]).is_ok());
        assert!(count_table(&[Codes::I8(&[127])], &[200]).is_ok());
        assert!(count_table(&[Codes::I8(&[-100])], &[200]).is_err());
    }

    #[test]
    fn wide_tables_and_long_columns_agree_with_counting_by_hand() {
        let codes: Vec<i32> = (0..10_001).map(|i| (i * i) % 317).collect();
        let other: Vec<u8> = (0..10_001_u32).map(|i| (i % 251) as u8).collect();
        for cardinalities in [[317, 251], [317, 1000]] {
            let table = count_table(&[Codes::I32(&codes), Codes::U8(&other)], &cardinalities).unwrap();
            let mut expected = vec![0; cardinalities[0] * cardinalities[1]];
            for (&a, &b) in codes.iter().zip(&other) {
                expected[a as usize * cardinalities[1] + usize::from(b)] += 1;
            }
            assert_eq!(table, expected);
        }
    }

    #[test]
    fn a_table_that_cannot_be_held_is_refused() {
        let column = Codes::U8(&[]);
        assert!(matches!(count_table(&[column; 3], &[1 << 40, 1 << 20, 1 << 20]), Err(Error::NotAffordable { .. })));
    }
}
