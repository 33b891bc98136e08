//! The lattice points of the simplex: all ways to write a total as an ordered sum of non-negative parts.
//!
//! Points are ranked in lexicographic order, so that a range of ranks can be walked without holding the rest.

use std::ops::Range;

use crate::{Error, Result, interrupt};

/// Points between two questions whether to stop.
const ASK_EVERY: u128 = 1 << 12;

/// The points (k_1, ..., k_parts) of non-negative integers with the given sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lattice {
    total: u64,
    parts: usize,
}

impl Lattice {
    /// The compositions of `total` into `parts` parts.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when there is no part.
    pub fn new(total: u64, parts: usize) -> Result<Self> {
        if parts == 0 {
            return Err(Error::parameter("parts", "be at least 1", parts));
        }
        Ok(Self { total, parts })
    }

    /// The sum of every point.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The number of coordinates.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// How many points there are, binom(total + parts - 1, parts - 1), when that fits in 128 bits.
    pub fn count(&self) -> Option<u128> {
        compositions(u128::from(self.total), self.parts as u128)
    }

    /// The logarithm of the number of points, of any size, to about 1e-13 relative.
    pub fn log_count(&self) -> f64 {
        let (larger, smaller) = ordered(self.total as f64, (self.parts - 1) as f64);
        (1..=smaller as u64).map(|j| (larger / j as f64).ln_1p()).sum()
    }

    /// The number of points as an index type, when it is at most `limit`.
    ///
    /// # Errors
    /// [`Error::NotAffordable`] with the count and the limit.
    pub fn affordable(&self, limit: usize, instead: &'static str) -> Result<usize> {
        match self.count() {
            Some(count) if count <= limit as u128 => Ok(count as usize),
            count => Err(Error::NotAffordable {
                asked: match count {
                    Some(count) => format!("an enumeration of {count} candidates"),
                    None => format!("an enumeration of about 10^{:.0} candidates", self.log_count() / 10f64.ln()),
                },
                limit: limit.to_string(),
                instead,
            }),
        }
    }

    /// The number of points that come before `point` in lexicographic order.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when the point is not of this lattice, or its rank does not fit in 128 bits.
    pub fn rank(&self, point: &[u64]) -> Result<u128> {
        let sum = point.iter().try_fold(0_u64, |sum, &k| sum.checked_add(k));
        if point.len() != self.parts || sum != Some(self.total) {
            return Err(Error::parameter("point", "have the lattice's parts and total", format!("{point:?}")));
        }
        self.countable()?;
        let mut rest = u128::from(self.total);
        let mut rank = 0;
        for (i, &k) in point.iter().take(self.parts - 1).enumerate() {
            let parts = (self.parts - i) as u128;
            // Points whose coordinate here is below k: all, less those where it is at least k.
            rank += fitting(rest, parts) - fitting(rest - u128::from(k), parts);
            rest -= u128::from(k);
        }
        Ok(rank)
    }

    /// The point with the given rank.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when the rank is not below the count, or the count does not fit in 128 bits.
    pub fn unrank(&self, rank: u128) -> Result<Vec<u64>> {
        if rank >= self.countable()? {
            return Err(Error::parameter("rank", "be below the number of points", rank));
        }
        let mut point = Vec::with_capacity(self.parts);
        let (mut rest, mut rank) = (self.total, rank);
        for i in 0..self.parts - 1 {
            let parts = (self.parts - i) as u128;
            let all = fitting(u128::from(rest), parts);
            // The largest k with before(k) <= rank, before(k) = points whose coordinate here is below k.
            let before = |k: u64| all - fitting(u128::from(rest - k), parts);
            let (mut low, mut high) = (0, rest);
            while low < high {
                let middle = high - (high - low) / 2;
                if before(middle) <= rank {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            rank -= before(low);
            point.push(low);
            rest -= low;
        }
        point.push(rest);
        Ok(point)
    }

    /// Calls `f` with the points whose rank lies in `ranks`, in order, without holding them.
    ///
    /// # Errors
    /// As for [`Self::unrank`]; [`Error::Interrupted`].
    pub fn for_each(&self, ranks: Range<u128>, mut f: impl FnMut(&[u64])) -> Result<()> {
        let end = ranks.end.min(self.countable()?);
        if ranks.start >= end {
            return Ok(());
        }
        let mut point = self.unrank(ranks.start)?;
        f(&point);
        for rank in ranks.start + 1..end {
            if rank.is_multiple_of(ASK_EVERY) {
                interrupt::check()?;
            }
            step(&mut point);
            f(&point);
        }
        Ok(())
    }

    /// Splits all ranks in at most `pieces` ranges of nearly equal length.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when the count does not fit in 128 bits.
    pub fn split(&self, pieces: usize) -> Result<Vec<Range<u128>>> {
        let count = self.countable()?;
        let pieces = (pieces.max(1) as u128).min(count);
        let (length, extra) = (count / pieces, count % pieces);
        let edge = |piece: u128| piece * length + piece.min(extra);
        Ok((0..pieces).map(|piece| edge(piece)..edge(piece + 1)).collect())
    }

    fn countable(&self) -> Result<u128> {
        self.count().ok_or_else(|| Error::NotAffordable {
            asked: format!("a rank among about 10^{:.0} candidates", self.log_count() / 10f64.ln()),
            limit: "2^128".to_owned(),
            instead: "draw candidates instead of ranking them",
        })
    }
}

/// Moves a point that is not the last to its lexicographic successor.
fn step(point: &mut [u64]) {
    let last = point.len() - 1;
    let mut i = last;
    let mut rest = point[last];
    while rest == 0 && i > 0 {
        i -= 1;
        rest = point[i];
        point[i] = 0;
    }
    if i > 0 {
        point[i - 1] += 1;
        point[last] = rest - 1;
    }
}

/// binom(total + parts - 1, parts - 1), or nothing when it does not fit.
fn compositions(total: u128, parts: u128) -> Option<u128> {
    let (larger, smaller) = if total < parts - 1 { (parts - 1, total) } else { (total, parts - 1) };
    let mut count: u128 = 1;
    for j in 1..=smaller {
        // binom(larger + j, j) = binom(larger + j - 1, j - 1) (larger + j) / j; divide before the product overflows.
        let common = gcd(count, j);
        let (count_reduced, j_reduced) = (count / common, j / common);
        count = count_reduced.checked_mul((larger + j) / j_reduced)?;
    }
    Some(count)
}

/// [`compositions`] inside a lattice whose own count fits, so that every smaller one does.
fn fitting(total: u128, parts: u128) -> u128 {
    compositions(total, parts).unwrap_or_else(|| unreachable!("a part of a lattice that was counted"))
}

/// The greatest common divisor.
pub(crate) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn ordered(a: f64, b: f64) -> (f64, f64) {
    if a < b { (b, a) } else { (a, b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(lattice: Lattice, ranks: Range<u128>) -> Vec<Vec<u64>> {
        let mut points = Vec::new();
        lattice.for_each(ranks, |point| points.push(point.to_vec())).unwrap();
        points
    }

    #[test]
    fn walks_are_complete_and_ordered() {
        for (total, parts) in [(0, 1), (5, 1), (0, 4), (7, 2), (6, 3), (4, 5)] {
            let lattice = Lattice::new(total, parts).unwrap();
            let count = lattice.count().unwrap();
            let all = points(lattice, 0..count);
            assert_eq!(all.len() as u128, count);
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(all.iter().all(|point| point.iter().sum::<u64>() == total));
            for (rank, point) in all.iter().enumerate() {
                assert_eq!(lattice.rank(point).unwrap(), rank as u128);
                assert_eq!(&lattice.unrank(rank as u128).unwrap(), point);
            }
            let ranges = lattice.split(3).unwrap();
            assert_eq!((ranges.len() as u128, ranges[ranges.len() - 1].end), (count.min(3), count));
            assert!(ranges.iter().all(|range| (range.end - range.start).abs_diff(count / ranges.len() as u128) <= 1));
            let pieces: Vec<_> = ranges.into_iter().flat_map(|ranks| points(lattice, ranks)).collect();
            assert_eq!(pieces, all);
        }
    }

    #[test]
    fn points_of_other_lattices_have_no_rank() {
        let lattice = Lattice::new(5, 3).unwrap();
        assert_eq!((lattice.total(), lattice.parts()), (5, 3));
        for wrong in [&[5, 0][..], &[5, 1, 0], &[5, 0, 0, 0], &[u64::MAX, 1, 5]] {
            assert!(lattice.rank(wrong).is_err(), "{wrong:?}");
        }
        assert!(lattice.unrank(21).is_err() && lattice.unrank(20).unwrap() == [5, 0, 0]);
    }

    #[test]
    fn counts_are_binomial() {
        let count = |total, parts| Lattice::new(total, parts).unwrap().count();
        assert_eq!(count(10, 3), Some(66));
        assert_eq!(count(100_000_000, 2), Some(100_000_001));
        // binom(10^9 + 3, 3), by integer arithmetic elsewhere.
        assert_eq!(count(1_000_000_000, 4), Some(166_666_667_666_666_668_500_000_001));
        assert_eq!(count(1_000_000_000, 100), None);
        let log = Lattice::new(1_000_000_000, 4).unwrap().log_count();
        assert!((log - 166_666_667_666_666_668_500_000_001_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_affordable_says_how_much_and_the_limit() {
        let error = Lattice::new(1000, 6).unwrap().affordable(1_000_000, "use the sampler").unwrap_err();
        assert_eq!(
            error.to_string(),
            "an enumeration of 8459043543951 candidates is more than the limit of 1000000; use the sampler"
        );
        let lattice = Lattice::new(10, 3).unwrap();
        assert!(lattice.affordable(66, "").unwrap() == 66 && lattice.affordable(65, "").is_err());
        assert!(Lattice::new(1_000_000_000, 500).unwrap().affordable(10, "sample").is_err());
    }
}
