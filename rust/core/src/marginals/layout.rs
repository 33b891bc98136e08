//! Which tables are measured, and where their cells stand.

use crate::{Error, Result};

/// Levels of all columns together. The model works with squares of that size: 1 GiB of single precision each at the end.
pub const MOST_LEVELS: usize = 1 << 14;

/// Columns side by side, and the pairs of them whose two-way tables are counted.
///
/// Every column has a one-way table. A flat vector of cells holds the one-way tables of all columns, one after the other
/// (`width` cells), and then the two-way tables in the order of `pairs`, each with the second column fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    sizes: Vec<usize>,
    offsets: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    starts: Vec<usize>,
}

impl Layout {
    /// Lays out columns with these numbers of levels; `pairs` must name two different columns each, none twice.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no column, a column without levels, or pairs that break the rule;
    /// [`Error::NotAffordable`] for more than [`MOST_LEVELS`] levels in all.
    ///
    /// # Examples
    /// ```
    /// use simplexdp_core::marginals::Layout;
    ///
    /// let layout = Layout::new(&[2, 3], &[(0, 1)])?;
    /// assert_eq!((layout.width(), layout.n_cells()), (5, 11));
    /// # Ok::<(), simplexdp_core::Error>(())
    /// ```
    pub fn new(sizes: &[usize], pairs: &[(usize, usize)]) -> Result<Self> {
        if sizes.is_empty() || sizes.contains(&0) {
            return Err(Error::parameter("sizes", "name at least one column, each with a level", format!("{sizes:?}")));
        }
        let width = sizes.iter().fold(0_usize, |sum, &size| sum.saturating_add(size));
        if width > MOST_LEVELS {
            return Err(Error::NotAffordable {
                asked: format!("{width} levels of {} columns together", sizes.len()),
                limit: format!("{MOST_LEVELS} levels"),
                instead: "merge rare values, or give numeric columns bins",
            });
        }
        let pairs: Vec<_> = pairs.iter().map(|&(i, j)| (i.min(j), i.max(j))).collect();
        let mut sorted = pairs.clone();
        sorted.sort_unstable();
        if sorted.iter().any(|&(i, j)| i == j || j >= sizes.len()) || sorted.windows(2).any(|two| two[0] == two[1]) {
            return Err(Error::parameter("pairs", "be of two different columns each, none twice", pairs.len()));
        }
        let offsets = ends_after(0, sizes.iter().copied()).iter().zip(sizes).map(|(end, size)| end - size).collect();
        let starts =
            std::iter::once(width).chain(ends_after(width, pairs.iter().map(|&(i, j)| sizes[i] * sizes[j]))).collect();
        Ok(Self { sizes: sizes.to_vec(), offsets, pairs, starts })
    }

    /// The number of levels of each column.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The pairs, the smaller column first.
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.sizes.len()
    }

    /// The number of levels of all columns together.
    pub fn width(&self) -> usize {
        self.starts[0]
    }

    /// The number of tables, one-way and two-way.
    pub fn n_tables(&self) -> usize {
        self.sizes.len() + self.pairs.len()
    }

    /// The number of cells of all tables.
    pub fn n_cells(&self) -> usize {
        self.starts[self.pairs.len()]
    }

    /// Where the levels of a column stand among all levels; also its one-way table.
    pub fn levels(&self, column: usize) -> std::ops::Range<usize> {
        self.offsets[column]..self.offsets[column] + self.sizes[column]
    }

    /// Where the table of the pair with this number stands.
    pub fn pair(&self, number: usize) -> std::ops::Range<usize> {
        self.starts[number]..self.starts[number + 1]
    }

    /// Where a table stands: first the one-way tables, then the pairs.
    pub fn table(&self, number: usize) -> std::ops::Range<usize> {
        if number < self.sizes.len() { self.levels(number) } else { self.pair(number - self.sizes.len()) }
    }

    /// An error unless a flat vector has one value for each cell.
    pub(super) fn check_cells(&self, name: &'static str, length: usize) -> Result<()> {
        if length == self.n_cells() {
            return Ok(());
        }
        Err(Error::parameter(name, "have one value for each cell of the layout", length))
    }
}

/// Where each of these lengths ends when they stand one after the other from `start` on.
fn ends_after(start: usize, lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    lengths
        .scan(start, |end, length| {
            *end += length;
            Some(*end)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stand_one_after_the_other() {
        let layout = Layout::new(&[2, 3, 1], &[(2, 0), (0, 1)]).unwrap();
        assert_eq!(layout.pairs(), [(0, 2), (0, 1)]);
        let ranges: Vec<_> = (0..layout.n_tables()).map(|number| layout.table(number)).collect();
        assert_eq!(ranges, [0..2, 2..5, 5..6, 6..8, 8..14]);
        assert_eq!((layout.width(), layout.n_cells()), (6, 14));
        assert_eq!(Layout::new(&[4], &[]).unwrap().n_cells(), 4);
    }

    #[test]
    fn wrong_layouts_are_refused() {
        for (sizes, pairs) in [(&[][..], &[][..]), (&[2, 0], &[]), (&[2, 2], &[(0, 0)]), (&[2, 2], &[(0, 2)])] {
            assert!(matches!(Layout::new(sizes, pairs), Err(Error::InvalidParameter { .. })));
        }
        assert!(Layout::new(&[2, 2], &[(0, 1), (1, 0)]).is_err());
        assert!(matches!(Layout::new(&[100_000], &[]), Err(Error::NotAffordable { .. })));
    }
}
