//! Two categories and a public total: the exact curve, over all data sets that the total allows.
//!
//! The total forces both counts, so the neighbours are the n pairs with counts (k, n - k) and (k - 1, n - k + 1),
//! Beta(A + r, B) against Beta(A, B + r) with A = a + r (k - 1), B = b + r (n - k). delta is the largest of them, in both
//! orientations. It is found by branch and bound: a range of k is dominated, as in the proof for any number of
//! categories, by the pair with the smallest A and the smallest B in the range, so a range whose bound is
//! below a pair that was already seen needs no closer look. That the largest is at an end of the range has been
//! seen in every case that was tried, but has no proof; nothing here relies on it.

use std::sync::{Arc, Mutex};

use super::{BetaPair, Profile, parameter};
use crate::tables::Map;
use crate::{Error, Result};

/// Ranges that one evaluation may look at; what is left then counts with its bound.
const MAX_RANGES: usize = 4096;

/// Ranges kept for later evaluations.
const MAX_KEPT: usize = 16384;

/// The largest total: beyond it the counts are no longer exact doubles.
const LARGEST_TOTAL: u64 = 1 << 53;

/// The profile of a draw from Beta(r x + a, r (n - x) + b) with public n under replacement, x from `low` to `high`.
pub struct TwoCategories {
    a: f64,
    b: f64,
    r: f64,
    /// Values of k whose neighbour k - 1 is also allowed.
    ks: (u64, u64),
    total: u64,
    /// Bounds of ranges of k, by orientation.
    kept: Mutex<Map<Range, Arc<BetaPair>>>,
}

/// k from the first to the second number; the flag swaps the categories.
type Range = (u64, u64, bool);

impl TwoCategories {
    /// The profile for these priors, this scale and total; every count is publicly known to be at least `floor`.
    ///
    /// # Errors
    ///
    /// If a parameter lies outside 1e-9 .. 1e12, or no two data sets differ at this total.
    pub fn new(a: f64, b: f64, r: f64, total: u64, floor: u64) -> Result<Self> {
        let (a, b, r) = (parameter::shape("prior", a)?, parameter::shape("prior", b)?, parameter::shape("scale", r)?);
        if total > LARGEST_TOTAL || total < floor.saturating_mul(2).saturating_add(1) {
            return Err(Error::parameter("total", "exceed the floors of both categories and be at most 2^53", total));
        }
        let profile = Self { a, b, r, ks: (floor + 1, total - floor), total, kept: Mutex::new(Map::default()) };
        // What the range of the pairs does not hold is refused here, not later.
        profile.pair((profile.ks.0, profile.ks.0, false))?;
        profile.pair((profile.ks.1, profile.ks.1, false))?;
        Ok(profile)
    }

    /// The pair that dominates a range; the pair itself for a single k.
    fn pair(&self, range: Range) -> Result<Arc<BetaPair>> {
        let (first, last, swapped) = range;
        if let Some(pair) = self.kept.lock().ok().and_then(|kept| kept.get(&range).cloned()) {
            return Ok(pair);
        }
        // Rounded down, and cut off where the pairs end: a smaller parameter is on the safe side, by the same argument.
        let down = |prior: f64, count: u64| {
            let sum = prior + self.r * count as f64;
            if count > 0 { sum.next_down().next_down().min(parameter::LARGEST) } else { sum }
        };
        let (x, y) = (down(self.a, first - 1), down(self.b, self.total - last));
        let (x, y) = if swapped { (y, x) } else { (x, y) };
        let pair = Arc::new(BetaPair::new(x, y, self.r)?);
        if let Ok(mut kept) = self.kept.lock()
            && kept.len() < MAX_KEPT
        {
            kept.insert(range, Arc::clone(&pair));
        }
        Ok(pair)
    }

    /// Whether some parameter is beyond what the pairs are accurate for, so that a smaller one stands for it.
    fn is_cut_off(&self) -> bool {
        self.a.max(self.b) + self.r * self.total as f64 > parameter::LARGEST
    }

    /// The largest value of `cost` over all pairs, which a range's dominating pair bounds.
    fn largest(&self, worst: f64, cost: impl Fn(&BetaPair) -> f64) -> f64 {
        let value = |range: Range| self.pair(range).map_or(worst, |pair| cost(&pair));
        let (first, last) = self.ks;
        let mut seen: f64 = 0.0;
        for swapped in [false, true] {
            seen = seen.max(value((first, first, swapped))).max(value((last, last, swapped)));
        }
        let mut open: Vec<Range> = Vec::new();
        if last - first >= 2 {
            let middle = first + (last - first) / 2;
            for swapped in [false, true] {
                open.push((first + 1, middle, swapped));
                if middle + 1 < last {
                    open.push((middle + 1, last - 1, swapped));
                }
            }
        }
        let mut looked_at = 0;
        while let Some(range) = open.pop() {
            let (low, high, swapped) = range;
            looked_at += 1;
            let bound = value(range);
            if bound <= seen {
                continue;
            }
            if low == high || looked_at > MAX_RANGES {
                seen = bound;
                continue;
            }
            // Near the ends of the line short ranges are needed, further in long ones will do.
            let from_left = low - first;
            let from_right = last - high;
            let cut = if from_left <= from_right {
                (low + from_left - 1).min(low + (high - low) / 2)
            } else {
                (high - from_right).max(low + (high - low) / 2)
            };
            let cut = cut.clamp(low, high - 1);
            open.push((low, cut, swapped));
            open.push((cut + 1, high, swapped));
        }
        seen
    }
}

impl Profile for TwoCategories {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        self.largest(1.0, |pair| pair.delta_upper(epsilon))
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        if self.is_cut_off() {
            return 0.0;
        }
        // The ends of the line are pairs of neighbours.
        let ends = [self.ks.0, self.ks.1].into_iter().flat_map(|k| [(k, k, false), (k, k, true)]);
        ends.filter_map(|range| self.pair(range).ok()).map(|pair| pair.delta_lower(epsilon)).fold(0.0, f64::max)
    }

    fn epsilon_upper(&self, delta: f64) -> f64 {
        self.largest(f64::INFINITY, |pair| pair.epsilon_upper(delta))
    }

    /// Of each pair on its own, the largest.
    fn renyi_upper(&self, order: f64) -> f64 {
        self.largest(f64::INFINITY, |pair| pair.renyi_upper(order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_the_largest_over_all_pairs_of_neighbours() {
        for (a, b, r, total, floor) in [
            (0.5, 0.5, 1.0, 1, 0),
            (0.5, 0.5, 1.0, 9, 0),
            (1.0, 6.0, 0.7, 40, 0),
            (0.5, 2.0, 1.5, 3, 0),
            (3.0, 0.2, 2.0, 25, 4),
            (8.0, 8.0, 0.1, 130, 1),
        ] {
            let profile = TwoCategories::new(a, b, r, total, floor).unwrap();
            // Counts (k, n - k) against (k - 1, n - k + 1), and the categories exchanged.
            let pairs: Vec<BetaPair> = (floor + 1..=total - floor)
                .map(|k| (a + r * (k - 1) as f64, b + r * (total - k) as f64))
                .flat_map(|(x, y)| [(x, y), (y, x)])
                .map(|(x, y)| BetaPair::new(x, y, r).unwrap())
                .collect();
            let largest = |value: &dyn Fn(&BetaPair) -> f64| pairs.iter().map(value).fold(0.0, f64::max);
            for epsilon in [-0.5, 0.0, 0.4, 1.3, 3.0] {
                let (found, exact) = (profile.delta_upper(epsilon), largest(&|pair| pair.delta_upper(epsilon)));
                assert!(
                    found >= exact * (1.0 - 1e-13) && found <= exact * (1.0 + 1e-12),
                    "{total} {epsilon}: {found} {exact}"
                );
                let (lower, true_lower) = (profile.delta_lower(epsilon), largest(&|pair| pair.delta_lower(epsilon)));
                // The worst pair is at an end.
                assert!(lower <= true_lower * (1.0 + 1e-12) && lower >= true_lower * (1.0 - 1e-9), "{total} {epsilon}");
            }
            for delta in [0.1, 1e-5] {
                let (found, exact) = (profile.epsilon_upper(delta), largest(&|pair| pair.epsilon_upper(delta)));
                assert!(
                    found >= exact * (1.0 - 1e-13) && found <= exact * (1.0 + 1e-10),
                    "{total} {delta}: {found} {exact}"
                );
            }
            let (found, exact) = (profile.renyi_upper(1.05), largest(&|pair| pair.renyi_upper(1.05)));
            assert!(found >= exact * (1.0 - 1e-13) && found <= exact * (1.0 + 1e-10), "{total}: {found} {exact}");
        }
    }

    #[test]
    fn totals_that_no_two_data_sets_share_are_refused() {
        assert!(TwoCategories::new(1.0, 1.0, 1.0, 0, 0).is_err() && TwoCategories::new(1.0, 1.0, 1.0, 6, 3).is_err());
        assert!(TwoCategories::new(1.0, 1.0, 1.0, 7, 3).is_ok());
        assert!(TwoCategories::new(1.0, 1.0, 1e-9, 1 << 53, 0).is_ok());
        assert!(TwoCategories::new(1.0, 1.0, 1e-9, (1 << 53) + 1, 0).is_err());
        assert!(TwoCategories::new(0.0, 1.0, 1.0, 5, 0).is_err() && TwoCategories::new(1.0, 1.0, 0.0, 5, 0).is_err());
    }

    #[test]
    fn parameters_beyond_the_range_of_the_pairs_leave_the_lower_bound_at_nothing() {
        let cut = TwoCategories::new(1.0, 1.0, 1e9, 5_000, 0).unwrap();
        assert!(cut.is_cut_off() && cut.delta_lower(0.1) == 0.0 && cut.delta_upper(0.1) > 0.99);
        assert!(!TwoCategories::new(1.0, 1.0, 1e8, 5_000, 0).unwrap().is_cut_off());
    }

    #[test]
    fn the_largest_is_found_where_it_lies_inside() {
        for (a, b, r, total, floor) in [
            (0.5, 0.5, 1.0, 3, 0),
            (0.5, 0.5, 1.0, 9, 0),
            (1.0, 6.0, 0.7, 40, 0),
            (2.0, 2.0, 1.0, 21, 7),
            (3.0, 0.2, 2.0, 99, 4),
        ] {
            let profile = TwoCategories::new(a, b, r, total, floor).unwrap();
            // Costs that fall as either parameter grows, as a curve's do, and are largest in the middle or beside it.
            for weight in [1.0, 0.2, 7.0] {
                let cost = |x: f64, y: f64| 1.0 / (x * x + weight * y * y);
                let places = (floor + 1..=total - floor).map(|k| (a + r * (k - 1) as f64, b + r * (total - k) as f64));
                let exact = places.map(|(x, y)| cost(x, y).max(cost(y, x))).fold(0.0, f64::max);
                let found = profile.largest(1e9, |pair| cost(pair.a, pair.b));
                assert!(found >= exact && found <= exact * (1.0 + 1e-12), "{total} {weight}: {found} {exact}");
            }
        }
    }

    #[test]
    fn parameters_are_cut_off_by_the_sum_of_the_prior_and_all_records() {
        // 0.5 + 1.5e12, 0.9e12 + 0.2e12 and 1.5 + 0.9e12, where up to 1e12 is accurate.
        for (prior, scale, total, cut) in [(0.5, 3e8, 5_000, true), (9e11, 1e8, 2_000, true), (1.5, 3e8, 3_000, false)]
        {
            for (a, b) in [(prior, 0.5), (0.5, prior)] {
                assert_eq!(TwoCategories::new(a, b, scale, total, 0).unwrap().is_cut_off(), cut, "{prior}");
            }
        }
    }

    #[test]
    fn every_pair_of_the_line_is_looked_at() {
        // One pair alone costs something, wherever it is; a range costs as much as the dearest of its pairs.
        for (total, floor) in [(1, 0), (2, 0), (3, 0), (4, 0), (5, 1), (9, 3), (12, 0), (31, 9), (64, 0)] {
            let (a, b, r) = (1.0, 2.0, 0.5);
            let profile = TwoCategories::new(a, b, r, total, floor).unwrap();
            for k in floor + 1..=total - floor {
                let (x, y) = (a + r * (k - 1) as f64, b + r * (total - k) as f64);
                for swapped in [false, true] {
                    let (x, y) = if swapped { (y, x) } else { (x, y) };
                    let found = profile.largest(9.0, |pair| if pair.a <= x && pair.b <= y { 1.0 } else { 0.0 });
                    assert_eq!(found, 1.0, "{total} {floor} {k} {swapped}");
                }
            }
        }
    }
}
