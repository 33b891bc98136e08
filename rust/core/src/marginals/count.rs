//! All one-way and two-way tables in one pass over the columns.

use super::Layout;
use crate::counting::Codes;
use crate::{Error, Result, interrupt, parallel};

/// Codes of a block of rows that are kept at a time: they stay in the second-level cache for all pairs.
const BLOCK_CODES: usize = 1 << 16;

/// Table increments that are worth a thread of their own: about a tenth of a second.
const PER_THREAD: usize = 1 << 26;

/// Counts the cells of every table of the layout.
///
/// # Errors
/// [`Error::InvalidParameter`] when the columns do not fit the layout, [`Error::InvalidData`] when a code is not one of
/// its column's, [`Error::Interrupted`].
pub fn count_marginals(layout: &Layout, columns: &[Codes<'_>]) -> Result<Vec<i64>> {
    if columns.len() != layout.n_columns() {
        return Err(Error::parameter("columns", "be as many as the layout has", columns.len()));
    }
    let n_rows = columns[0].len();
    if columns.iter().any(|column| column.len() != n_rows) {
        return Err(Error::parameter("columns", "have the same number of rows", "different lengths"));
    }
    let threads = parallel::threads_for(n_rows.saturating_mul(layout.n_tables()), PER_THREAD);
    let rows = n_rows.div_ceil(threads);
    let part = |number: usize| (number * rows).min(n_rows)..((number + 1) * rows).min(n_rows);
    let mut tables = parallel::map(0..threads, threads, |number| count_rows(layout, columns, part(number)))?;
    let mut total = tables.swap_remove(0);
    for table in tables {
        total.iter_mut().zip(table).for_each(|(sum, count)| *sum += count);
    }
    Ok(total)
}

fn count_rows(layout: &Layout, columns: &[Codes<'_>], rows: std::ops::Range<usize>) -> Result<Vec<i64>> {
    let block = (BLOCK_CODES / columns.len()).clamp(256, 1 << 14);
    let mut counts = vec![0_i64; layout.n_cells()];
    let mut codes = vec![0_u16; block * columns.len()];
    for start in rows.clone().step_by(block) {
        interrupt::check()?;
        let length = block.min(rows.end - start);
        for (column, codes) in columns.iter().zip(codes.chunks_exact_mut(block)) {
            column.read_small(start, &mut codes[..length]);
        }
        let of = |column: usize| &codes[column * block..column * block + length];
        let mut valid = true;
        for column in 0..columns.len() {
            valid &= add_one_way(of(column), &mut counts[layout.levels(column)]);
        }
        if !valid {
            return Err(Error::data("columns", "hold codes from 0 to cardinality - 1"));
        }
        for (number, &(i, j)) in layout.pairs().iter().enumerate() {
            add_two_way(of(i), of(j), layout.sizes()[j], &mut counts[layout.pair(number)]);
        }
    }
    Ok(counts)
}

/// Adds one for every code; false when one is out of range.
fn add_one_way(codes: &[u16], table: &mut [i64]) -> bool {
    codes.iter().all(|&code| table.get_mut(usize::from(code)).map(|cell| *cell += 1).is_some())
}

/// Adds one for every pair of codes, which were checked before.
fn add_two_way(first: &[u16], second: &[u16], size: usize, table: &mut [i64]) {
    for (&a, &b) in first.iter().zip(second) {
        table[usize::from(a) * size + usize::from(b)] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counting::count_table;

    #[test]
    fn every_table_is_that_of_the_columns_alone() {
        let sizes = [3, 5, 2, 300];
        let layout = Layout::new(&sizes, &[(0, 1), (3, 0), (1, 2), (2, 3)]).unwrap();
        let n = 40_000_u64;
        let column = |k: u64, size: usize| -> Vec<i64> {
            (0..n).map(|row| ((row * row * (k + 3) + row * 7 + k) % 1009 % size as u64) as i64).collect()
        };
        let wide: Vec<_> = sizes.iter().enumerate().map(|(k, &size)| column(k as u64, size)).collect();
        let small: Vec<u8> = wide[0].iter().map(|&code| code as u8).collect();
        let columns = [Codes::U8(&small), Codes::I64(&wide[1]), Codes::I64(&wide[2]), Codes::I64(&wide[3])];
        let counts = count_marginals(&layout, &columns).unwrap();
        for i in 0..4 {
            assert_eq!(counts[layout.levels(i)], count_table(&columns[i..=i], &sizes[i..=i]).unwrap());
        }
        for (number, &(i, j)) in layout.pairs().iter().enumerate() {
            let table = count_table(&[columns[i], columns[j]], &[sizes[i], sizes[j]]).unwrap();
            assert_eq!(counts[layout.pair(number)], table);
        }
    }

    #[test]
    fn codes_beyond_their_column_are_refused_without_being_shown() {
        let layout = Layout::new(&[2, 2], &[(0, 1)]).unwrap();
        for wrong in [[0, 2], [0, -1], [0, 65_536], [1 << 40, 0], [i64::MIN, 0]] {
            let error = count_marginals(&layout, &[Codes::I8(&[0, 1]), Codes::I64(&wrong)]).unwrap_err();
            assert!(matches!(error, Error::InvalidData { .. }), "{error}");
        }
        assert!(count_marginals(&layout, &[Codes::I8(&[0])]).is_err());
        assert!(count_marginals(&layout, &[Codes::I8(&[0]), Codes::I8(&[])]).is_err());
        assert_eq!(count_marginals(&layout, &[Codes::I8(&[]), Codes::I8(&[])]).unwrap(), [0; 8]);
    }
}
