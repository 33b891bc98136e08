//! Counters for cell indices that arrive in chunks.

/// A table that counts in short integers and adds them up before they can overflow.
///
/// While columns stream through the cache, what is left of it decides the speed: a counter of two bytes is a quarter of
/// what the table takes in the end.
pub(super) struct Tally<N> {
    n_cells: usize,
    /// What was added up so far; empty before the first sum.
    table: Vec<i64>,
    /// As many tables as there are turns, one after another.
    turns: Vec<N>,
    /// Rows that were counted since the last sum.
    n_pending: usize,
}

/// Small tables take turns, so that runs of one cell do not wait for each other's store.
const TURNS: usize = 4;

/// The largest table that takes turns.
const SMALL: usize = 2048;

impl<N: Counter> Tally<N> {
    pub(super) fn new(n_cells: usize) -> Self {
        let n_turns = if n_cells <= SMALL { TURNS } else { 1 };
        Self { n_cells, table: Vec::new(), turns: vec![N::default(); n_turns * n_cells], n_pending: 0 }
    }

    /// Adds one to each of these cells.
    pub(super) fn add<I>(&mut self, cells: &[I], position: impl Fn(&I) -> usize) {
        if self.n_pending + cells.len() > N::LIMIT {
            self.sum();
        }
        self.n_pending += cells.len();
        let n_cells = self.n_cells;
        if self.turns.len() == n_cells {
            cells.iter().for_each(|cell| self.turns[position(cell)].increment());
            return;
        }
        let (first, rest) = self.turns.split_at_mut(n_cells);
        let (second, rest) = rest.split_at_mut(n_cells);
        let (third, fourth) = rest.split_at_mut(n_cells);
        let (quads, rest) = cells.as_chunks::<TURNS>();
        for [a, b, c, d] in quads {
            first[position(a)].increment();
            second[position(b)].increment();
            third[position(c)].increment();
            fourth[position(d)].increment();
        }
        rest.iter().for_each(|cell| first[position(cell)].increment());
    }

    fn sum(&mut self) {
        self.table.resize(self.n_cells, 0);
        for turn in self.turns.chunks_exact_mut(self.n_cells.max(1)) {
            for (total, part) in self.table.iter_mut().zip(turn) {
                *total += std::mem::take(part).count();
            }
        }
        self.n_pending = 0;
    }

    /// The counts of all cells.
    pub(super) fn finish(mut self) -> Vec<i64> {
        if self.table.is_empty() && self.turns.len() == self.n_cells {
            return self.turns.into_iter().map(N::count).collect();
        }
        self.sum();
        self.table
    }
}

/// An integer that counts rows.
pub(super) trait Counter: Copy + Default {
    /// The largest count.
    const LIMIT: usize;
    fn increment(&mut self);
    fn count(self) -> i64;
}

macro_rules! implement_counter {
    ($($counter:ty),*) => {$(
        impl Counter for $counter {
            const LIMIT: usize = <$counter>::MAX as usize;
            fn increment(&mut self) {
                *self += 1;
            }
            fn count(self) -> i64 {
                i64::from(self)
            }
        }
    )*};
}

implement_counter!(u16, u32, i64);
