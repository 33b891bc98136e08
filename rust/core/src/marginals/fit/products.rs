//! The two matrix products of a gradient. Rows are levels, and hold one value for each component.

use super::lanes::{LANES, Lane, sum};

/// Rows are padded to a multiple of this: both products take their tiles whole.
pub(super) const ROWS: usize = 12;

/// P = A W A', W the diagonal of the weights: for levels i and j the sum over components of `weighted[i] a[j]`. Only what
/// lies on and above the diagonal is needed, and filled; a few entries below are too.
#[inline(always)]
pub(super) fn pair_tables(weighted: &[Lane], a: &[Lane], width: usize, pairs: &mut [f32]) {
    const M: usize = 4;
    const N: usize = 3;
    let n = a.len() / width;
    for i in (0..width).step_by(M) {
        for j in (i / N * N..width).step_by(N) {
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

/// B = R A for a symmetric R.
#[inline(always)]
pub(super) fn times(r: &[f32], a: &[Lane], width: usize, product: &mut [Lane]) {
    const M: usize = 6;
    let n = a.len() / width;
    for i in (0..width).step_by(M) {
        for k in (0..n).step_by(2) {
            let mut sums = [[[0.0_f32; LANES]; 2]; M];
            for j in 0..width {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_definition() {
        let (width, n) = (24, 4);
        let value = |i: usize| ((i * 7919 + 13) % 101) as f32 / 101.0 - 0.3;
        let a: Vec<Lane> = (0..width * n).map(|i| std::array::from_fn(|l| value(8 * i + l))).collect();
        let weighted: Vec<Lane> = (0..width * n).map(|i| std::array::from_fn(|l| value(3 * i + 5 * l))).collect();
        let mut pairs = vec![0.0; width * width];
        pair_tables(&weighted, &a, width, &mut pairs);
        let flat = |of: &[Lane], i: usize| of[i * n..(i + 1) * n].concat();
        for i in 0..width {
            for j in i..width {
                let expected: f32 = flat(&weighted, i).iter().zip(flat(&a, j)).map(|(x, y)| x * y).sum();
                assert!((pairs[i * width + j] - expected).abs() < 1e-5);
            }
        }
        let r: Vec<f32> =
            (0..width * width).map(|c| value((c / width) * (c % width) + c / width + c % width)).collect();
        let mut product = vec![[0.0; LANES]; width * n];
        times(&r, &a, width, &mut product);
        for i in 0..width {
            for k in 0..n * LANES {
                let expected: f32 = (0..width).map(|j| r[i * width + j] * a[j * n + k / LANES][k % LANES]).sum();
                assert!((product[i * n + k / LANES][k % LANES] - expected).abs() < 1e-5);
            }
        }
    }
}
