//! One column, whose codes are cell indices as they stand.

use super::{Code, Codes, for_every_type};
use crate::interrupt;

/// Codes, or fours of them, between two questions whether to stop.
const ASK_EVERY: usize = 1 << 16;

/// Up to this size a table is kept four times, so that runs of one cell do not wait for each other's store.
const SMALL: usize = 4096;

/// The counts of one column, or nothing when a code is out of range.
pub(super) fn count(codes: Codes<'_>, n_cells: usize) -> Option<Vec<i64>> {
    for_every_type!(codes, values => if n_cells <= SMALL { count_in_turns(values, n_cells) } else { count_plain(values, n_cells) })
}

fn count_plain<C: Code>(codes: &[C], n_cells: usize) -> Option<Vec<i64>> {
    let mut table = vec![0; n_cells];
    codes.chunks(ASK_EVERY).all(|codes| !interrupt::requested() && add(codes, &mut table)).then_some(table)
}

/// Adds one for every code; false when one is out of range.
fn add<C: Code>(codes: &[C], table: &mut [i64]) -> bool {
    codes.iter().all(|code| table.get_mut(code.position()).map(|cell| *cell += 1).is_some())
}

fn count_in_turns<C: Code>(codes: &[C], n_cells: usize) -> Option<Vec<i64>> {
    let mut turns = [0; 4].map(|zero: i64| vec![zero; n_cells]);
    let [first, second, third, fourth] = turns.each_mut().map(Vec::as_mut_slice);
    let (quads, rest) = codes.as_chunks::<4>();
    let mut add_all = |quads: &[[C; 4]]| {
        quads.iter().all(|quad| {
            let [a, b, c, d] = quad.map(Code::position);
            let valid = (a < n_cells) & (b < n_cells) & (c < n_cells) & (d < n_cells);
            if valid {
                first[a] += 1;
                second[b] += 1;
                third[c] += 1;
                fourth[d] += 1;
            }
            valid
        })
    };
    let valid = quads.chunks(ASK_EVERY).all(|quads| !interrupt::requested() && add_all(quads));
    (valid && add(rest, first)).then(|| (0..n_cells).map(|cell| turns.iter().map(|turn| turn[cell]).sum()).collect())
}
