//! Several columns with a mixed-radix cell index, the last column fastest.

use std::ops::{BitAnd, BitOr};

use super::tally::{Counter, Tally};
use super::{Code, Codes, for_every_type};
use crate::interrupt;
use crate::wide::{prefetch, wide};

/// Rows that are handled at a time: few enough that the processor counts one chunk while it fetches the next, enough
/// that vector loops pay.
const CHUNK: usize = 256;

/// Rows between two questions whether to stop.
const ASK_EVERY: usize = 256 * CHUNK;

/// How far ahead of the count columns are fetched that come from memory: when several of them stream at once, and the
/// counting interrupts them, the processor's own foresight does not keep up.
const AHEAD: usize = 8 * CHUNK;

/// Columns of fewer bytes in all are taken to be in the cache, where fetching ahead costs more than it saves.
const CACHED: usize = 8 << 20;

/// The largest table that is counted in two bytes: larger ones take longer to add up than they gain.
const SHORT: usize = 1 << 15;

/// Columns of the same length whose combinations are counted.
pub(super) struct Columns<'a> {
    pub(super) codes: &'a [Codes<'a>],
    pub(super) cardinalities: &'a [usize],
    pub(super) n_rows: usize,
}

impl Columns<'_> {
    /// The counts of all `n_cells` combinations, or nothing when a code is out of range.
    pub(super) fn count(&self, n_cells: usize) -> Option<Vec<i64>> {
        // An index as wide as the codes spares the vector loops to repack them. One of 16 bits tells every code that is
        // out of range from the others while these take 15.
        let fits_15_bits = self.cardinalities.iter().all(|&cardinality| cardinality <= 1 << 15);
        match self.codes.iter().map(Codes::width).max() {
            None | Some(1 | 2) if n_cells <= 1 << 16 && fits_15_bits => self.count_with_index::<u16>(n_cells),
            None | Some(1 | 2 | 4) => self.count_with_index::<u32>(n_cells),
            _ => self.count_with_index::<u64>(n_cells),
        }
    }

    /// Counts with cell indices of type `I`, at least as wide as every code, whose top bit no code in range has.
    fn count_with_index<I: Index>(&self, n_cells: usize) -> Option<Vec<i64>> {
        if self.n_rows < 4 * n_cells {
            // A second table would cost more than what its cells save.
            self.count_into::<I, i64>(Tally::new(n_cells))
        } else if n_cells <= SHORT {
            self.count_into::<I, u16>(Tally::new(n_cells))
        } else {
            self.count_into::<I, u32>(Tally::new(n_cells))
        }
    }

    fn count_into<I: Index, N: Counter>(&self, mut tally: Tally<N>) -> Option<Vec<i64>> {
        let from_memory = self.codes.iter().map(|codes| codes.width() * self.n_rows).sum::<usize>() > CACHED;
        let mut cells = [I::default(); CHUNK];
        for start in (0..self.n_rows).step_by(CHUNK) {
            if start.is_multiple_of(ASK_EVERY) && interrupt::requested() {
                return None;
            }
            let cells = &mut cells[..CHUNK.min(self.n_rows - start)];
            // In two parts: all at once, the requests wait for each other.
            if from_memory {
                self.fetch(start + AHEAD);
            }
            let mut done = 0;
            while done < self.codes.len() {
                done += for_every_type!(self.codes[done], values => self.append_run(cells, values, done, start))?;
            }
            if from_memory {
                self.fetch(start + AHEAD + CHUNK / 2);
            }
            tally.add(cells, |cell| cell.position());
        }
        Some(tally.finish())
    }

    /// Asks for half a chunk that begins with this row, as far as there are rows.
    fn fetch(&self, start: usize) {
        let rows = start.min(self.n_rows)..(start + CHUNK / 2).min(self.n_rows);
        for codes in self.codes {
            for_every_type!(codes, values => prefetch(&values[rows.clone()]));
        }
    }

    /// Appends the column at `place`, whose values are given, and those of its type that follow it, three at most; how
    /// many, or nothing when a code is out of range.
    fn append_run<I: Index, C: Code>(
        &self,
        cells: &mut [I],
        values: &[C],
        place: usize,
        start: usize,
    ) -> Option<usize> {
        let column = |place: usize| self.codes.get(place).and_then(C::values);
        match (column(place + 1), column(place + 2)) {
            (Some(second), Some(third)) => self.append(cells, [values, second, third], place, start),
            (Some(second), None) => self.append(cells, [values, second], place, start),
            _ => self.append(cells, [values], place, start),
        }
    }

    /// Appends the `N` columns from `place`, or begins with them when they are the first.
    fn append<I: Index, C: Code, const N: usize>(
        &self,
        cells: &mut [I],
        columns: [&[C]; N],
        place: usize,
        start: usize,
    ) -> Option<usize> {
        let columns = columns.map(|values| &values[start..start + cells.len()]);
        let factors: [I; N] = std::array::from_fn(|column| I::narrow(self.cardinalities[place + column] as u64));
        let largest: [I; N] = std::array::from_fn(|column| I::narrow(self.cardinalities[place + column] as u64 - 1));
        let kept = I::narrow(if place == 0 { 0 } else { u64::MAX });
        let outside = wide(
            #[inline(always)]
            || extend(cells, kept, columns, factors, largest),
        );
        (!outside.has_top_bit()).then_some(N)
    }
}

/// Extends what is `kept` of the cell indices by `N` digits each; the top bit of the result says that one exceeds the largest of its column.
#[inline(always)]
fn extend<I: Index, C: Code, const N: usize>(
    cells: &mut [I],
    kept: I,
    columns: [&[C]; N],
    factors: [I; N],
    largest: [I; N],
) -> I {
    let mut outside = I::default();
    for (row, cell) in cells.iter_mut().enumerate() {
        let mut index = *cell & kept;
        for place in 0..N {
            let digit = I::narrow(columns[place][row].bits());
            outside = outside | digit.outside(largest[place]);
            index = index.append(factors[place], digit);
        }
        *cell = index;
    }
    outside
}

/// The type of a cell index.
trait Index: Copy + Default + BitAnd<Output = Self> + BitOr<Output = Self> {
    /// The low bits of `bits`.
    fn narrow(bits: u64) -> Self;
    /// The index with one digit more.
    fn append(self, factor: Self, digit: Self) -> Self;
    /// A value whose top bit is set when this digit exceeds `largest`, which has no top bit itself.
    fn outside(self, largest: Self) -> Self;
    /// Whether the top bit is set.
    fn has_top_bit(self) -> bool;
    /// The index as a position in a slice.
    fn position(self) -> usize;
}

macro_rules! implement_index {
    ($($index:ty, $mask:expr);*) => {$(
        impl Index for $index {
            #[inline(always)]
            fn narrow(bits: u64) -> Self {
                bits as $index
            }
            #[inline(always)]
            fn append(self, factor: Self, digit: Self) -> Self {
                // Without the mask a product of 64 bits takes three instructions: vectors multiply 32.
                (self & $mask).wrapping_mul(factor & $mask).wrapping_add(digit)
            }
            #[inline(always)]
            fn outside(self, largest: Self) -> Self {
                self | largest.wrapping_sub(self)
            }
            #[inline(always)]
            fn has_top_bit(self) -> bool {
                self >> (<$index>::BITS - 1) != 0
            }
            #[inline(always)]
            fn position(self) -> usize {
                self as usize
            }
        }
    )*};
}

// No table has more than 2^31 cells: the 64-bit index is never longer than its mask.
implement_index!(u16, u16::MAX; u32, u32::MAX; u64, u64::from(u32::MAX));
