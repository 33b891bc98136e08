//! Contingency tables: one fused pass over integer codes, from cell index to count; and the distinct values of a
//! column, of which codes are made.

mod column;
mod crowded;
mod distinct;
mod md5;
mod persons;
mod radix;
mod tally;
mod texts;

pub use crowded::{Crowded, Word, crowded_rows, rows_of_each};
pub use distinct::{Distinct, coded, distinct};
pub use persons::{Counted, MODULUS, Rows, kept_rows, keyed_number, keyed_numbers_of_integers, values_of_rows};
use radix::Columns;
pub use texts::{Offsets, Texts, distinct_texts};

use crate::{Error, Result, interrupt, memory};

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

use for_every_type;

impl Codes<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        for_every_type!(self, values => values.len())
    }

    /// Bytes of one code.
    fn width(&self) -> usize {
        match self {
            Codes::I8(_) | Codes::U8(_) => 1,
            Codes::I16(_) | Codes::U16(_) => 2,
            Codes::I32(_) | Codes::U32(_) => 4,
            Codes::I64(_) | Codes::U64(_) => 8,
        }
    }

    /// The codes of the rows from `start` on, in 16 bits; what has no place in them, as 65,535.
    pub(crate) fn read_small(&self, start: usize, codes: &mut [u16]) {
        for_every_type!(self, values => {
            for (small, code) in codes.iter_mut().zip(&values[start..]) {
                *small = u16::try_from(code.bits()).unwrap_or(u16::MAX);
            }
        });
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Counts how often each combination of codes occurs: a table of shape `cardinalities`, last axis fastest.
///
/// # Errors
/// [`Error::InvalidData`] when a code is outside `0..cardinality` of its column, [`Error::InvalidParameter`] when the
/// columns do not fit together, [`Error::NotAffordable`] for more than 2^31 cells, [`Error::OutOfMemory`] where there is
/// no memory for as many as there are, [`Error::Interrupted`].
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
    memory::check::<i64>("a table of counts", n_cells)?;
    match *columns {
        [codes] => column::count(codes, n_cells),
        _ => Columns { codes: columns, cardinalities, n_rows }.count(n_cells),
    }
    // A request to stop ends the count as a code out of range does.
    .ok_or_else(|| if interrupt::requested() { Error::Interrupted } else { out_of_domain() })
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

/// An integer type that holds codes.
trait Code: Copy {
    /// The values of a column of this type, nothing for a column of another type.
    fn values<'a>(codes: &Codes<'a>) -> Option<&'a [Self]>;
    /// The code with its sign extended to 64 bits, so that a negative one exceeds every cardinality.
    fn bits(self) -> u64;
    /// The code as a position; a negative one is beyond every table.
    fn position(self) -> usize;
}

macro_rules! implement_code {
    ($($variant:ident $code:ty),*) => {$(
        impl Code for $code {
            fn values<'a>(codes: &Codes<'a>) -> Option<&'a [Self]> {
                match *codes {
                    Codes::$variant(values) => Some(values),
                    _ => None,
                }
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                self as u64
            }
            fn position(self) -> usize {
                usize::try_from(self as u64).unwrap_or(usize::MAX)
            }
        }
    )*};
}

implement_code!(I8 i8, U8 u8, I16 i16, U16 u16, I32 i32, U32 u32, I64 i64, U64 u64);

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

    /// Codes that look random, `n_rows` of them below `cardinality`.
    fn scattered(n_rows: usize, cardinality: usize, seed: u64) -> Vec<u64> {
        (0..n_rows as u64)
            .map(|row| ((row ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % cardinality as u64)
            .collect()
    }

    fn by_hand(columns: &[Vec<u64>], cardinalities: &[usize]) -> Vec<i64> {
        let mut table = vec![0; cardinalities.iter().product()];
        for row in 0..columns[0].len() {
            let digits = columns.iter().zip(cardinalities);
            table[digits.fold(0, |cell, (column, k)| cell * k + column[row] as usize)] += 1;
        }
        table
    }

    #[test]
    fn every_type_and_number_of_columns_agrees_with_counting_by_hand() {
        // Lengths around a chunk, and enough rows in few cells that short counters are added up in between.
        for (n_rows, cardinalities) in [
            (1, vec![2, 3]),
            (255, vec![2, 3]),
            (257, vec![1, 5, 1, 2]),
            (150_000, vec![1, 1]),
            (150_000, vec![2, 1, 1]),
            (70_001, vec![7, 5, 3, 2]),
            (5_000, vec![8, 8, 8, 8, 8]),
            (5_000, vec![8, 8, 8, 8, 9, 2]),
            (3_000, vec![2; 11]),
            (20_000, vec![127, 100, 3]),
            (70_000, vec![127, 100, 5]),
            (70_000, vec![127, 127, 4]),
        ] {
            let columns: Vec<_> = (0..).zip(&cardinalities).map(|(seed, &k)| scattered(n_rows, k, seed)).collect();
            let expected = by_hand(&columns, &cardinalities);
            macro_rules! check {
                ($($variant:ident $code:ty),*) => {$(
                    let typed: Vec<Vec<$code>> =
                        columns.iter().map(|column| column.iter().map(|&code| code as $code).collect()).collect();
                    let codes: Vec<_> = typed.iter().map(|column| Codes::$variant(column)).collect();
                    assert_eq!(count_table(&codes, &cardinalities).unwrap(), expected, "{}", stringify!($code));
                )*};
            }
            check!(I8 i8, U8 u8, I16 i16, U16 u16, I32 i32, U32 u32, I64 i64, U64 u64);
        }
    }

    #[test]
    fn columns_of_different_types_are_counted_together() {
        let cardinalities = [3, 4, 2, 5, 3];
        let columns: Vec<_> = (0..).zip(cardinalities).map(|(seed, k)| scattered(1_000, k, seed)).collect();
        let narrow: Vec<i8> = columns[0].iter().map(|&code| code as i8).collect();
        let middle: Vec<u16> = columns[1].iter().map(|&code| code as u16).collect();
        let wide: Vec<i64> = columns[2].iter().map(|&code| code as i64).collect();
        let usual: Vec<i32> = columns[3].iter().map(|&code| code as i32).collect();
        let codes =
            [Codes::I8(&narrow), Codes::U16(&middle), Codes::I64(&wide), Codes::I32(&usual), Codes::U64(&columns[4])];
        assert_eq!(count_table(&codes, &cardinalities).unwrap(), by_hand(&columns, &cardinalities));
        assert_eq!(count_table(&codes[..2], &[3, 4]).unwrap(), by_hand(&columns[..2], &[3, 4]));
    }

    #[test]
    fn one_wrong_code_is_found_wherever_it_is() {
        for n_rows in [1, 256, 700] {
            for cardinalities in [[3, 5, 2, 4], [300, 20, 30, 1]] {
                let columns: Vec<_> = (0..).zip(cardinalities).map(|(seed, k)| scattered(n_rows, k, seed)).collect();
                for column in 0..4 {
                    for row in [0, n_rows / 2, n_rows - 1] {
                        let k = cardinalities[column] as i64;
                        for wrong in
                            [k, k + 1, -1, 1 << 15, 1 << 16, 1 << 31, 1 << 32, (1 << 32) + 1, i64::MIN, i64::MAX]
                        {
                            let mut columns = columns.clone();
                            columns[column][row] = wrong as u64;
                            let typed: Vec<Vec<i64>> =
                                columns.iter().map(|codes| codes.iter().map(|&code| code as i64).collect()).collect();
                            let unsigned: Vec<_> = columns.iter().map(|codes| Codes::U64(codes)).collect();
                            let signed: Vec<_> = typed.iter().map(|codes| Codes::I64(codes)).collect();
                            assert!(count_table(&unsigned, &cardinalities).is_err(), "{wrong} in {column}, {row}");
                            assert!(count_table(&signed, &cardinalities).is_err(), "{wrong} in {column}, {row}");
                            // A type that cuts the code off may turn it into one that is allowed.
                            let small: Vec<Vec<i32>> =
                                columns.iter().map(|codes| codes.iter().map(|&code| code as i32).collect()).collect();
                            let small_codes: Vec<_> = small.iter().map(|codes| Codes::I32(codes)).collect();
                            let allowed = (0..k).contains(&i64::from(wrong as i32));
                            assert_eq!(count_table(&small_codes, &cardinalities).is_ok(), allowed, "{wrong}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_table_that_cannot_be_held_is_refused() {
        let column = Codes::U8(&[]);
        assert!(matches!(count_table(&[column; 3], &[1 << 40, 1 << 20, 1 << 20]), Err(Error::NotAffordable { .. })));
    }
}
