//! What one record that is replaced by another changes, in all tables at once.
//!
//! Which tables change, and how, depends on the columns in which the two records differ, and on nothing else. With s_i = 1
//! for those columns and 0 for others, and w the precision of a table, mu^2 is
//!
//!   f(s) = sum of h_i s_i - sum over pairs of k_ij s_i s_j,  k_ij = 2 w_ij,
//!
//! h_i what all tables with the column i cost if it alone changes: a pair of which both columns change costs by 2 w less than
//! the two changes do one by one. To add up the worst of each table would count changes of every pair that exclude each
//! other. The largest f is hard to find among 2^d, but easy to bound (Theorem R, docs/synthesis.md): for any matrix L and any
//! vector z, with G = L L',
//!
//!   f(s) <= sum of max(0, h_i + G_ii / 2 - (L z)_i) + |z|^2 / 2 + sum over i < j of max(0, G_ij - k_ij).
//!
//! How L and z were found is no part of the proof, so they are found in plain arithmetic; the bound is rounded up.

use super::Layout;
use super::noise::{Shape, TableNoise};
use crate::rounding::{multiple_down, product_up, sum_up};

/// With more columns the worst of each table is added up: the bound takes the third power of their number.
const MOST_COLUMNS: usize = 256;

/// Sweeps of the search for the worst s.
const SWEEPS: usize = 100;

/// Halvings of the search for the least diagonal.
const HALVINGS: usize = 16;

/// An upper bound of mu^2 over all tables, whatever record is replaced by whatever other. `noises` are those of the
/// one-way tables and then, if they are measured, of the pairs.
pub(super) fn replaced(layout: &Layout, noises: &[TableNoise]) -> f64 {
    let (sizes, d) = (layout.sizes(), layout.n_columns());
    let (columns, pairs) = noises.split_at(d);
    let mut one_by_one = vec![0.0; d];
    let mut worst_of_each = 0.0;
    for (column, noise) in columns.iter().enumerate() {
        let change = Shape::OneWay(sizes[column]).replaced();
        let [first, _, _] = change.map(|square| product_up(square, noise.precision_up()));
        one_by_one[column] = first;
        worst_of_each = sum_up(worst_of_each, first);
    }
    let together = d <= MOST_COLUMNS;
    let mut less = vec![0.0; if together { d * d } else { 0 }];
    for (&(i, j), noise) in layout.pairs().iter().zip(pairs) {
        let change = Shape::TwoWay(sizes[i], sizes[j]).replaced();
        let [first, second, both] = change.map(|square| product_up(square, noise.precision_up()));
        one_by_one[i] = sum_up(one_by_one[i], first);
        one_by_one[j] = sum_up(one_by_one[j], second);
        worst_of_each = sum_up(worst_of_each, first.max(second).max(both));
        if together && sizes[i] > 1 && sizes[j] > 1 {
            less[i * d + j] = multiple_down(2, noise.precision_down());
            less[j * d + i] = less[i * d + j];
        }
    }
    if pairs.is_empty() || !together {
        return worst_of_each;
    }
    let factor = factor(&less, d);
    let worst = worst_change(&one_by_one, &factor, d);
    worst_of_each.min(bound(&one_by_one, &less, &factor, &worst, d))
}

/// The bound of the module's documentation, rounded up.
fn bound(one_by_one: &[f64], less: &[f64], factor: &[f64], z: &[f64], d: usize) -> f64 {
    let dot_up = |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0.0, |sum, (&x, &y)| sum_up(sum, product_up(x, y)));
    let row = |i: usize| &factor[i * d..(i + 1) * d];
    let minus: Vec<f64> = z.iter().map(|z| -z).collect();
    let mut total = 0.5 * dot_up(z, z);
    for i in 0..d {
        let slope = sum_up(sum_up(one_by_one[i], 0.5 * dot_up(row(i), row(i))), dot_up(row(i), &minus));
        total = sum_up(total, positive(slope));
        for j in 0..i {
            // L is zero right of its diagonal.
            let product = dot_up(&row(i)[..=j], &row(j)[..=j]);
            total = sum_up(total, positive(sum_up(product, -less[i * d + j])));
        }
    }
    total
}

/// max(0, x); what is no number bounds nothing.
fn positive(x: f64) -> f64 {
    if x.is_nan() { f64::INFINITY } else { x.max(0.0) }
}

/// A lower triangle L, row by row, such that L L' is `less` beside its diagonal, and as small as that lets it be on the
/// diagonal: the least multiple of the squared sums of rows that leaves no eigenvalue negative.
fn factor(less: &[f64], d: usize) -> Vec<f64> {
    let sums: Vec<f64> = less.chunks_exact(d).map(|row| row.iter().sum()).collect();
    let scaled = |i: usize, j: usize| if sums[i] * sums[j] > 0.0 { less[i * d + j] / sums[i] / sums[j] } else { 0.0 };
    let matrix: Vec<f64> = (0..d * d).map(|at| scaled(at / d, at % d)).collect();
    // Rows that are dominated by their diagonal leave no pivot negative.
    let mut most = matrix.chunks_exact(d).map(|row| row.iter().sum::<f64>()).fold(0.0, f64::max) * (1.0 + 1e-9);
    // Zero is as valid as any other.
    let mut found = cholesky(&matrix, most, d).unwrap_or_else(|| vec![0.0; d * d]);
    let mut least = 0.0;
    for _ in 0..HALVINGS {
        let middle = 0.5 * (least + most);
        match cholesky(&matrix, middle, d) {
            Some(closer) => (most, found) = (middle, closer),
            None => least = middle,
        }
    }
    found.chunks_exact_mut(d).zip(&sums).for_each(|(row, sum)| row.iter_mut().for_each(|value| *value *= sum));
    found
}

/// The triangle of this matrix with `diagonal` on its diagonal, if no pivot is negative.
fn cholesky(matrix: &[f64], diagonal: f64, d: usize) -> Option<Vec<f64>> {
    let mut found = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| found[i * d + k] * found[j * d + k]).sum();
            let value = if i == j { diagonal } else { matrix[i * d + j] } - dot;
            if i == j {
                if value < 1e-12 * diagonal {
                    return None;
                }
                found[i * d + i] = value.sqrt();
            } else if found[j * d + j] > 0.0 {
                found[i * d + j] = value / found[j * d + j];
            }
        }
    }
    Some(found)
}

/// z = L's at about the largest h s + sum of G_ii s_i / 2 - |L's|^2 / 2 with s between 0 and 1, one s_i after the other.
fn worst_change(one_by_one: &[f64], factor: &[f64], d: usize) -> Vec<f64> {
    let mut z = vec![0.0; d];
    let mut s = vec![0.0; d];
    for _ in 0..SWEEPS {
        for i in 0..d {
            let row = &factor[i * d..(i + 1) * d];
            let square: f64 = row.iter().map(|l| l * l).sum();
            let here: f64 = row.iter().zip(&z).map(|(l, z)| l * z).sum();
            let slope = one_by_one[i] + 0.5 * square - here;
            let next = if square > 0.0 { (s[i] + slope / square).clamp(0.0, 1.0) } else { 1.0 };
            z.iter_mut().zip(row).for_each(|(z, l)| *z += (next - s[i]) * l);
            s[i] = next;
        }
    }
    z
}
