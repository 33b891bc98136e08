//! Records whose tables are closer to those of a mixture than independent draws would be.
//!
//! Components get whole numbers of records by systematic rounding, and in each column the levels of a component get
//! whole numbers too, what rounding leaves over being carried to the next component; inside of a component columns are
//! shuffled. Then single values are changed as long as that brings the two-way tables closer to those of the mixture.

use super::mixture::Mixture;
use crate::random::{Bits, StreamKey};
use crate::wide::widest;
use crate::{Error, Result, interrupt};

/// Values are changed in so many records, evenly among more: what is to be mended grows with the root of their number only.
const ENOUGH: usize = 1 << 17;

/// Records between two questions whether to stop.
const ASK_EVERY: usize = 1 << 10;

impl Mixture {
    /// Draws records: one column of codes for each column of the mixture. With `polish`, values are changed afterwards
    /// where that brings pairs closer.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Interrupted`].
    pub fn sample(&self, n_records: usize, polish: bool, key: &StreamKey) -> Result<Vec<Vec<u16>>> {
        let n_columns = self.sizes().len();
        let out_of_memory = |bytes: usize| Error::OutOfMemory { what: "records", bytes: bytes as u128 };
        let values = n_records.checked_mul(n_columns).ok_or_else(|| out_of_memory(usize::MAX))?;
        let mut records: Vec<u16> = Vec::new();
        records.try_reserve_exact(values).map_err(|_| out_of_memory(2 * values))?;
        records.resize(values, 0);
        let mut bits = key.stream(0);
        self.stratified(&mut records, n_records, &mut bits)?;
        if polish && n_columns > 1 {
            self.polish(&mut records)?;
        }
        shuffle_rows(&mut records, n_columns, n_records, &mut bits)?;
        let offsets: Vec<usize> = (0..n_columns).map(|column| self.first_level(column)).collect();
        let mut columns = vec![Vec::with_capacity(n_records); n_columns];
        for record in records.chunks_exact(n_columns) {
            for ((column, &level), &offset) in columns.iter_mut().zip(record).zip(&offsets) {
                column.push(level - offset as u16);
            }
        }
        Ok(columns)
    }

    /// Fills records with positions of levels among all levels; components one after the other.
    fn stratified(&self, records: &mut [u16], n_records: usize, bits: &mut impl Bits) -> Result<()> {
        let n_columns = self.sizes().len();
        let parts = systematic(self.weights(), n_records, uniform(bits));
        let mut drawn = Vec::new();
        for column in 0..n_columns {
            interrupt::check()?;
            let size = self.sizes()[column];
            let mut carried = vec![0.0; size];
            let mut start = 0;
            for (component, &part) in parts.iter().enumerate() {
                if part == 0 {
                    continue;
                }
                for (code, carried) in carried.iter_mut().enumerate() {
                    *carried += self.level(column, code)[component] * part as f64;
                }
                drawn.clear();
                for (code, count) in whole_parts(&mut carried, part).into_iter().enumerate() {
                    drawn.extend(std::iter::repeat_n((self.first_level(column) + code) as u16, count));
                }
                shuffle(&mut drawn, bits);
                for (record, &level) in records[start * n_columns..].chunks_exact_mut(n_columns).zip(&drawn) {
                    record[column] = level;
                }
                start += part;
            }
        }
        Ok(())
    }

    /// One value after the other goes to the level that brings the sum of squares of (table - expected table) over all
    /// pairs furthest down, if any does.
    fn polish(&self, records: &mut [u16]) -> Result<()> {
        let n_columns = self.sizes().len();
        let width = self.first_level(n_columns);
        let mut excess = self.excess(records, width)?;
        let mut sums: Vec<f32> = vec![0.0; width];
        let stride = (records.len() / n_columns).div_ceil(ENOUGH).max(1);
        for (number, record) in records.chunks_exact_mut(n_columns).step_by(stride).enumerate() {
            if number.is_multiple_of(ASK_EVERY) {
                interrupt::check()?;
            }
            for turn in 0..n_columns {
                // Not always the same column first.
                let column = (number + turn) % n_columns;
                let levels = self.first_level(column)..self.first_level(column + 1);
                let old = usize::from(record[column]);
                let new = widest(
                    #[inline(always)]
                    || better_level(&excess, width, record, column, levels, &mut sums),
                );
                if new == old {
                    continue;
                }
                record[column] = new as u16;
                for (other, &level) in record.iter().enumerate() {
                    if other != column {
                        let level = usize::from(level);
                        excess[level * width + old] -= 1.0;
                        excess[old * width + level] -= 1.0;
                        excess[level * width + new] += 1.0;
                        excess[new * width + level] += 1.0;
                    }
                }
            }
        }
        Ok(())
    }

    /// The two-way tables of records less what the mixture expects of so many.
    fn excess(&self, records: &[u16], width: usize) -> Result<Vec<f32>> {
        let n_columns = self.sizes().len();
        let n_records = records.len() / n_columns;
        let mut counts = vec![0_u32; width * width];
        for (number, record) in records.chunks_exact(n_columns).enumerate() {
            if number.is_multiple_of(ASK_EVERY) {
                interrupt::check()?;
            }
            for (at, &a) in record.iter().enumerate() {
                let row = &mut counts[usize::from(a) * width..][..width];
                record[at + 1..].iter().for_each(|&b| row[usize::from(b)] += 1);
            }
        }
        let mut excess = vec![0.0; width * width];
        for i in 0..n_columns {
            for j in i + 1..n_columns {
                interrupt::check()?;
                let expected = self.pair(i, j);
                let (rows, columns) = (self.first_level(i), self.first_level(j));
                for (cell, p) in expected.into_iter().enumerate() {
                    let (a, b) = (rows + cell / self.sizes()[j], columns + cell % self.sizes()[j]);
                    let off = (f64::from(counts[a * width + b]) - n_records as f64 * p) as f32;
                    excess[a * width + b] = off;
                    excess[b * width + a] = off;
                }
            }
        }
        Ok(excess)
    }

    /// Where the levels of a column begin among all levels.
    fn first_level(&self, column: usize) -> usize {
        self.sizes()[..column].iter().sum()
    }
}

/// The level that a value should have. To move a record from level a to b changes half the sum of squares by the sum over
/// the other columns' levels o of excess(o, b) - excess(o, a), plus 1 for each.
#[inline(always)]
fn better_level(
    excess: &[f32],
    width: usize,
    record: &[u16],
    column: usize,
    levels: std::ops::Range<usize>,
    sums: &mut [f32],
) -> usize {
    let old = usize::from(record[column]);
    let sums = &mut sums[..levels.len()];
    sums.fill(0.0);
    for (other, &level) in record.iter().enumerate() {
        if other != column {
            let row = &excess[usize::from(level) * width..][levels.clone()];
            sums.iter_mut().zip(row).for_each(|(sum, off)| *sum += off);
        }
    }
    let here = sums[old - levels.start] - (record.len() - 1) as f32;
    let (mut best, mut least) = (old, here);
    for (code, &sum) in sums.iter().enumerate() {
        if sum < least {
            (best, least) = (levels.start + code, sum);
        }
    }
    best
}

/// Whole numbers that sum to n, each next to its share of n: one random start for all.
fn systematic(weights: &[f64], n: usize, start: f64) -> Vec<usize> {
    let (mut sum, mut before) = (0.0, 0_usize);
    let mut parts: Vec<usize> = weights
        .iter()
        .map(|weight| {
            sum += weight;
            let upto = ((sum * n as f64 + start).floor() as usize).clamp(before, n);
            upto - std::mem::replace(&mut before, upto)
        })
        .collect();
    if let Some(largest) = (0..parts.len()).max_by_key(|&at| parts[at]) {
        parts[largest] += n - before;
    }
    parts
}

/// Whole numbers that sum to `n`, next to `wanted`, which keeps what is left over.
fn whole_parts(wanted: &mut [f64], n: usize) -> Vec<usize> {
    let mut parts: Vec<usize> = wanted.iter().map(|want| want.max(0.0).floor() as usize).collect();
    let mut sum: usize = parts.iter().sum();
    let left = |parts: &[usize], at: usize| wanted[at] - parts[at] as f64;
    while sum < n {
        let at = (0..parts.len()).max_by(|&a, &b| left(&parts, a).total_cmp(&left(&parts, b))).unwrap_or(0);
        parts[at] += 1;
        sum += 1;
    }
    while sum > n {
        let positive = (0..parts.len()).filter(|&at| parts[at] > 0);
        let at = positive.min_by(|&a, &b| left(&parts, a).total_cmp(&left(&parts, b))).unwrap_or(0);
        parts[at] -= 1;
        sum -= 1;
    }
    wanted.iter_mut().zip(&parts).for_each(|(want, &part)| *want -= part as f64);
    parts
}

/// A number in [0, 1).
fn uniform(bits: &mut impl Bits) -> f64 {
    (bits.next_u64() >> 11) as f64 / 2f64.powi(53)
}

/// A number below `n`, off from uniform by less than 2^-32 times n: records are post-processing.
fn below(bits: &mut impl Bits, n: usize) -> usize {
    ((u128::from(bits.next_u64()) * n as u128) >> 64) as usize
}

fn shuffle(values: &mut [u16], bits: &mut impl Bits) {
    for last in (1..values.len()).rev() {
        values.swap(last, below(bits, last + 1));
    }
}

fn shuffle_rows(records: &mut [u16], n_columns: usize, n_records: usize, bits: &mut impl Bits) -> Result<()> {
    for last in (1..n_records).rev() {
        if last.is_multiple_of(ASK_EVERY) {
            interrupt::check()?;
        }
        let other = below(bits, last + 1);
        if other != last {
            let (before, after) = records.split_at_mut(last * n_columns);
            before[other * n_columns..][..n_columns].swap_with_slice(&mut after[..n_columns]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::StreamKey;

    /// Three columns whose pairs are far from independent.
    fn mixture() -> Mixture {
        let levels = [0.9, 0.2, 0.1, 0.8, 0.5, 0.0, 0.3, 0.1, 0.2, 0.9, 0.7, 0.25, 0.1, 0.25, 0.1, 0.25, 0.1, 0.25];
        Mixture::new(&[2, 3, 4], vec![0.3, 0.7], levels.to_vec()).unwrap()
    }

    fn table(columns: &[Vec<u16>], i: usize, j: usize, sizes: &[usize]) -> Vec<f64> {
        let mut table = vec![0.0; sizes[i] * sizes[j]];
        for (&a, &b) in columns[i].iter().zip(&columns[j]) {
            table[usize::from(a) * sizes[j] + usize::from(b)] += 1.0;
        }
        table
    }

    /// The sum of squares over all cells of all pairs.
    fn squares(mixture: &Mixture, columns: &[Vec<u16>], n: usize) -> f64 {
        let pairs = [(0, 1), (0, 2), (1, 2)];
        let of = |(i, j)| {
            let expected = mixture.pair(i, j);
            let found = table(columns, i, j, mixture.sizes());
            found.iter().zip(expected).map(|(x, p)| (x - n as f64 * p).powi(2)).sum::<f64>()
        };
        pairs.map(of).iter().sum()
    }

    #[test]
    fn tables_of_records_are_within_a_few_of_what_the_mixture_says() {
        let (mixture, n) = (mixture(), 20_000);
        let key = StreamKey::from_bytes([4; 32]);
        let rough = mixture.sample(n, false, &key).unwrap();
        let polished = mixture.sample(n, true, &key).unwrap();
        for (column, size) in [2_u16, 3, 4].into_iter().enumerate() {
            let expected = mixture.marginal(&[column]).unwrap();
            for code in 0..size {
                let found = rough[column].iter().filter(|&&other| other == code).count() as f64;
                assert!((found - n as f64 * expected[usize::from(code)]).abs() < 3.0);
            }
        }
        // Independent draws would have n (1 - sum of squares), some 50,000; a polished cell is within one of its place.
        assert!(squares(&mixture, &rough, n) < 30_000.0);
        assert!(squares(&mixture, &polished, n) < 26.0, "{}", squares(&mixture, &polished, n));
    }

    #[test]
    fn impossible_levels_are_not_drawn_and_sizes_are_kept() {
        let mixture = Mixture::new(&[3, 1], vec![1.0], vec![0.5, 0.0, 0.5, 1.0]).unwrap();
        for n in [0, 1, 2, 1001] {
            let columns = mixture.sample(n, true, &StreamKey::from_bytes([4; 32])).unwrap();
            assert!(columns.iter().all(|column| column.len() == n));
            assert!(columns[0].iter().all(|&code| code != 1) && columns[1].iter().all(|&code| code == 0));
        }
    }

    #[test]
    fn the_order_of_records_says_nothing() {
        let (mixture, n) = (mixture(), 20_000);
        let columns = mixture.sample(n, false, &StreamKey::from_bytes([4; 32])).unwrap();
        let first = columns[0][..n / 2].iter().filter(|&&code| code == 0).count() as f64;
        let second = columns[0][n / 2..].iter().filter(|&&code| code == 0).count() as f64;
        // Two draws of half of the records: deviations below 71, six of them are passed with a chance below 1e-8.
        assert!((first - second).abs() < 6.0 * 71.0);
    }

    #[test]
    fn whole_parts_sum_to_the_whole_and_keep_what_is_left() {
        let mut wanted = vec![1.4, 0.3, 2.3];
        assert_eq!(whole_parts(&mut wanted, 4), [2, 0, 2]);
        assert!((wanted.iter().sum::<f64>()).abs() < 1e-12 && wanted[0] < 0.0);
        assert_eq!(whole_parts(&mut [-0.5, 3.5], 2), [0, 2]);
        assert_eq!(systematic(&[0.25, 0.5, 0.25], 8, 0.3), [2, 4, 2]);
        assert_eq!(systematic(&[0.3, 0.3, 0.4], 1, 0.5).iter().sum::<usize>(), 1);
    }
}
