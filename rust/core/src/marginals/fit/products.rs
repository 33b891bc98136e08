//! The two matrix products of a gradient, as far as they are needed. Rows are levels, and hold one value for each component.

use std::ops::Range;

use super::lanes::{LANES, Lane, sum};

/// Rows are padded to a multiple of this: both products take their tiles whole.
pub(super) const ROWS: usize = 12;

/// The squares of [`ROWS`] by [`ROWS`] cells that hold a cell of some pair: others cost nothing, so that a column of
/// thousands of levels is as cheap as its pairs are, whatever its square is.
pub(super) struct Tiles(Vec<Vec<usize>>);

impl Tiles {
    /// Those of the pairs of these levels, and of the same on the other side of the diagonal.
    pub(super) fn of(width: usize, pairs: impl Iterator<Item = (Range<usize>, Range<usize>)>) -> Self {
        let n = width / ROWS;
        let covered = |levels: &Range<usize>| levels.start / ROWS..levels.end.div_ceil(ROWS);
        let mut needed = vec![false; n * n];
        for (first, second) in pairs {
            for i in covered(&first) {
                for j in covered(&second) {
                    needed[i * n + j] = true;
                    needed[j * n + i] = true;
                }
            }
        }
        let row = |row: &[bool]| (0..n).filter(|&tile| row[tile]).map(|tile| tile * ROWS).collect();
        Self(if n == 0 { vec![] } else { needed.chunks_exact(n).map(row).collect() })
    }

    /// The first row of each row of tiles, and the first columns of its tiles.
    fn rows(&self) -> impl Iterator<Item = (usize, &[usize])> {
        self.0.iter().enumerate().map(|(number, columns)| (number * ROWS, columns.as_slice()))
    }

    /// The same from the diagonal on.
    fn above(&self) -> impl Iterator<Item = (usize, usize)> {
        self.rows().flat_map(|(top, columns)| columns.iter().filter(move |&&left| left >= top).map(move |&l| (top, l)))
    }
}

/// P = A W A', W the diagonal of the weights: for levels i and j the sum over components of `weighted[i] a[j]`, in all
/// tiles that reach above the diagonal; the rest of `pairs` stays as it is.
#[inline(always)]
pub(super) fn pair_tables(weighted: &[Lane], a: &[Lane], width: usize, tiles: &Tiles, pairs: &mut [f32]) {
    const M: usize = 4;
    const N: usize = 3;
    let n = a.len() / width;
    for (top, left) in tiles.above() {
        for i in (top..top + ROWS).step_by(M) {
            for j in (left..left + ROWS).step_by(N) {
                let first: [&[Lane]; M] = std::array::from_fn(|r| &weighted[(i + r) * n..][..n]);
                let second: [&[Lane]; N] = std::array::from_fn(|c| &a[(j + c) * n..][..n]);
                let mut sums = [[[0.0_f32; LANES]; N]; M];
                for k in 0..n {
                    let b: [Lane; N] = std::array::from_fn(|c| second[c][k]);
                    for (sums, a) in sums.iter_mut().zip(first.map(|row| row[k])) {
                        for (sum, b) in sums.iter_mut().zip(b) {
                            for l in 0..LANES {
                                sum[l] += a[l] * b[l];
                            }
                        }
                    }
                }
                for (r, sums) in sums.iter().enumerate() {
                    pairs[(i + r) * width + j..][..N].copy_from_slice(&sums.map(sum));
                }
            }
        }
    }
}

/// B = R A for a symmetric R that is zero outside of the tiles.
#[inline(always)]
pub(super) fn times(r: &[f32], a: &[Lane], width: usize, tiles: &Tiles, product: &mut [Lane]) {
    const M: usize = 6;
    let n = a.len() / width;
    for (top, columns) in tiles.rows() {
        for i in (top..top + ROWS).step_by(M) {
            for k in (0..n).step_by(2) {
                let mut sums = [[[0.0_f32; LANES]; 2]; M];
                for j in columns.iter().flat_map(|&left| left..left + ROWS) {
                    let values: [Lane; 2] = [a[j * n + k], a[j * n + k + 1]];
                    let factors = &r[j * width + i..][..M];
                    for (sums, &factor) in sums.iter_mut().zip(factors) {
                        for (sum, value) in sums.iter_mut().zip(values) {
                            for l in 0..LANES {
                                sum[l] += factor * value[l];
                            }
                        }
                    }
                }
                for (r, sums) in sums.into_iter().enumerate() {
                    product[(i + r) * n + k..][..2].copy_from_slice(&sums);
                }
            }
        }
    }
}

/// Copies what is above the diagonal below it, tile by tile, as these stay in the cache.
#[inline(always)]
pub(super) fn mirror(square: &mut [f32], width: usize, tiles: &Tiles) {
    for (top, left) in tiles.above() {
        for i in top..top + ROWS {
            for j in left.max(i + 1)..left + ROWS {
                square[j * width + i] = square[i * width + j];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_definition() {
        let (width, n) = (60, 4);
        // Columns of 3, 31, 7 and 19 levels; the first and the last are no pair.
        let columns = [0..3, 3..34, 34..41, 41..60];
        let pairs = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)];
        let held = |i: usize, j: usize| {
            pairs.iter().any(|&(a, b)| columns[a].contains(&i.min(j)) && columns[b].contains(&i.max(j)))
        };
        let tiles = Tiles::of(width, pairs.iter().map(|&(a, b)| (columns[a].clone(), columns[b].clone())));
        assert!(tiles.above().count() < 15);
        let value = |i: usize| ((i * 7919 + 13) % 101) as f32 / 101.0 - 0.3;
        let a: Vec<Lane> = (0..width * n).map(|i| std::array::from_fn(|l| value(8 * i + l))).collect();
        let weighted: Vec<Lane> = (0..width * n).map(|i| std::array::from_fn(|l| value(3 * i + 5 * l))).collect();
        let mut found = vec![0.0; width * width];
        pair_tables(&weighted, &a, width, &tiles, &mut found);
        let flat = |of: &[Lane], i: usize| of[i * n..(i + 1) * n].concat();
        for i in 0..width {
            for j in (i..width).filter(|&j| held(i, j)) {
                let expected: f32 = flat(&weighted, i).iter().zip(flat(&a, j)).map(|(x, y)| x * y).sum();
                assert!((found[i * width + j] - expected).abs() < 1e-5);
            }
        }
        let mut r: Vec<f32> = (0..width * width).map(|c| value(c * (c / width))).collect();
        (0..width * width).filter(|c| !held(c / width, c % width)).for_each(|c| r[c] = 0.0);
        mirror(&mut r, width, &tiles);
        let mut product = vec![[7.0; LANES]; width * n];
        times(&r, &a, width, &tiles, &mut product);
        for i in 0..width {
            for k in 0..n * LANES {
                let upper = |j: usize| r[i.min(j) * width + i.max(j)];
                let expected: f32 = (0..width).map(|j| upper(j) * a[j * n + k / LANES][k % LANES]).sum();
                assert!((product[i * n + k / LANES][k % LANES] - expected).abs() < 1e-4);
            }
        }
    }
}
