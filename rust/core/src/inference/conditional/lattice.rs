//! What is known of a total, on every step-th integer of a range.

use crate::inference::segment::Segment;
use crate::lattice::gcd;

/// Ranges of up to so many totals are looked at one by one.
pub(super) const FEW: u64 = 512;

/// Logarithms of weights of `start`, `start + step`, ...
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lattice {
    pub(super) start: i64,
    pub(super) step: i64,
    pub(super) logs: Vec<f64>,
}

/// A mean and a precision, added up over independent observations.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Information {
    /// Precision times mean.
    weighted: f64,
    pub(super) precision: f64,
}

impl Information {
    pub(super) fn new(mean: f64, variance: f64) -> Self {
        Self { weighted: mean / variance, precision: 1.0 / variance }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { weighted: self.weighted + other.weighted, precision: self.precision + other.precision }
    }

    /// What is left without one of the observations.
    pub(super) fn without(self, other: Self) -> Self {
        let precision = self.precision - other.precision;
        // Rounding may leave a trace of nothing.
        if precision > 1e-9 * self.precision {
            Self { weighted: self.weighted - other.weighted, precision }
        } else {
            Self::default()
        }
    }

    /// None without any observation.
    pub(super) fn mean(self) -> Option<f64> {
        (self.precision > 0.0).then(|| self.weighted / self.precision)
    }

    fn log_at(self, n: f64) -> f64 {
        self.mean().map_or(0.0, |mean| -0.5 * self.precision * (n - mean).powi(2))
    }
}

impl Lattice {
    /// A public total.
    pub(super) fn known(n: u64) -> Self {
        Self { start: n as i64, step: 1, logs: vec![0.0] }
    }

    /// Totals from `low` to `high`, all alike.
    pub(super) fn flat(low: i64, high: i64, step: i64) -> Self {
        let start = low.div_euclid(step) * step;
        let length = ((high - start).max(0) as u64).div_ceil(step as u64) as usize + 1;
        Self { start, step, logs: vec![0.0; length] }
    }

    /// Totals up to `cap` that are likely given what was observed, with their weights.
    pub(super) fn of(observed: Information, cap: u64) -> Self {
        let sd = observed.precision.sqrt().recip().min(cap as f64);
        let (low, high) = match observed.mean() {
            Some(mean) if cap > FEW => range_around(mean, 6.0 * sd, cap),
            _ => (0, cap as i64),
        };
        let step = if cap > FEW { ((sd / 6.0).min((high - low) as f64 / 64.0) as i64).max(1) } else { 1 };
        Self::flat(low, high, step).weighed(observed)
    }

    /// The same totals with other weights.
    pub(super) fn weighed(&self, observed: Information) -> Self {
        let logs = self.totals().map(|n| observed.log_at(n as f64)).collect();
        Self { logs, ..*self }
    }

    /// The totals.
    pub(super) fn totals(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.logs.len() as i64).map(|i| self.start + i * self.step)
    }

    /// The last total.
    pub(super) fn last(&self) -> i64 {
        self.start + (self.logs.len() as i64 - 1) * self.step
    }

    /// Weights that sum to one.
    pub(super) fn masses(&self) -> Vec<f64> {
        let top = self.logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let masses: Vec<f64> = self.logs.iter().map(|log| (log - top).exp()).collect();
        let sum: f64 = masses.iter().sum();
        masses.into_iter().map(|mass| mass / sum).collect()
    }

    /// Mean and variance.
    pub(super) fn moments(&self) -> (f64, f64) {
        let masses = self.masses();
        let mean: f64 = self.totals().zip(&masses).map(|(n, p)| n as f64 * p).sum();
        let variance = self.totals().zip(&masses).map(|(n, p)| (n as f64 - mean).powi(2) * p).sum();
        (mean, variance)
    }

    /// The weight at any integer, as a logarithm: linear between the totals, minus infinity outside.
    pub(super) fn log_at(&self, n: i64) -> f64 {
        let (below, rest) = ((n - self.start).div_euclid(self.step), (n - self.start).rem_euclid(self.step));
        let at = |i: i64| usize::try_from(i).ok().and_then(|i| self.logs.get(i)).copied().unwrap_or(f64::NEG_INFINITY);
        let share = rest as f64 / self.step as f64;
        if rest == 0 { at(below) } else { at(below) * (1.0 - share) + at(below + 1) * share }
    }

    /// Totals with masses that sum to one, no further apart than `h` where the law is wider than that.
    pub(super) fn points(&self, h: i64) -> Vec<(i64, f64)> {
        self.points_within(h, (self.start, self.last() + 1))
    }

    /// Those of [`Self::points`] in a range: of all of them, between totals that are far apart, there may be more than
    /// memory holds.
    pub(super) fn points_within(&self, h: i64, (low, high): (i64, i64)) -> Vec<(i64, f64)> {
        let masses = self.masses();
        if self.step <= h || masses.len() == 1 {
            return self.totals().zip(masses).filter(|(n, _)| (low..high).contains(n)).collect();
        }
        // Between its own totals the law is taken as linear.
        let parts = self.step.div_euclid(h) + 1;
        let (step, many) = (i128::from(self.step), i128::from(parts));
        let mut points = Vec::new();
        for (n, pair) in self.totals().zip(masses.windows(2)) {
            let place = |at: i64| (i128::from(at) - i128::from(n)) * many / step;
            for i in place(low).clamp(0, many)..(place(high) + 1).clamp(0, many) {
                let at = n + (i * step / many) as i64;
                let share = (at - n) as f64 / self.step as f64;
                if (low..high).contains(&at) {
                    points.push((at, (pair[0] * (1.0 - share) + pair[1] * share) / parts as f64));
                }
            }
        }
        if (low..high).contains(&self.last()) {
            points.push((self.last(), masses[masses.len() - 1] / parts as f64));
        }
        // The sum over all of them. The shares in a pair are floor(i step / parts) / step for i below `parts`, and the sum of
        // these floors is ((step - 1) (parts - 1) + gcd(step, parts) - 1) / 2.
        let (first, last) = (masses[0], masses[masses.len() - 1]);
        let floors = ((step - 1) * (many - 1) + gcd(step.unsigned_abs(), many.unsigned_abs()) as i128 - 1) / 2;
        let upper = floors as f64 / (step * many) as f64;
        let sum = 1.0 - last + (last - first) * upper + last / parts as f64;
        points.iter_mut().for_each(|point| point.1 /= sum);
        points
    }

    /// Masses on the multiples of `h`, which keep sum and mean; the start counts multiples.
    pub(super) fn on_multiples(&self, h: i64) -> Segment {
        on_multiples(&self.points(h), h)
    }
}

/// Points with masses on the multiples of `h` next to them, which keeps sums and means.
pub(super) fn on_multiples(points: &[(i64, f64)], h: i64) -> Segment {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Segment::default() };
    let start = first.0.div_euclid(h);
    let mut values = vec![0.0; (last.0.div_euclid(h) + 2 - start) as usize];
    for &(n, mass) in points {
        let (i, rest) = ((n.div_euclid(h) - start) as usize, n.rem_euclid(h));
        let upper = mass * rest as f64 / h as f64;
        values[i] += mass - upper;
        values[i + 1] += upper;
    }
    Segment { start, values }
}

/// Integers within a distance, from zero to `cap`.
pub(super) fn range_around(mean: f64, reach: f64, cap: u64) -> (i64, i64) {
    let clamp = |n: f64| n.clamp(0.0, cap as f64) as i64;
    (clamp((mean - reach).floor()), clamp((mean + reach).ceil()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_keep_sum_and_mean_on_any_grid() {
        let observed = Information::new(5000.3, 90.0 * 90.0);
        for step in [1, 7, 60] {
            let law = Lattice::flat(4000, 6000, step).weighed(observed);
            let (mean, _) = law.moments();
            for h in [1, 5, 13, 100] {
                let grid = law.on_multiples(h);
                let moments = grid.moments();
                assert!((grid.sum() - 1.0).abs() < 1e-12);
                assert!((moments.0 * h as f64 - mean).abs() < 0.02, "{step} {h}: {} {mean}", moments.0 * h as f64);
            }
        }
        let known = Lattice::known(1003).on_multiples(10);
        assert!((known.moments().0 - 100.3).abs() < 1e-12 && known.start == 100);
    }

    #[test]
    fn a_part_of_a_wide_law_takes_the_memory_of_the_part() {
        // Cut off at its mode on one side, so that its ends have different masses.
        let law = Lattice::flat(0, 6000, 100).weighed(Information::new(10.3, 900.0 * 900.0));
        for h in [1, 7, 30] {
            let all = law.points(h);
            assert!((all.iter().map(|point| point.1).sum::<f64>() - 1.0).abs() < 1e-13, "{h}");
            for (low, high) in [(0, 6001), (2950, 3120), (-50, 10), (5999, 9000), (7000, 8000), (100, 100)] {
                let part: Vec<_> = all.iter().copied().filter(|point| (low..high).contains(&point.0)).collect();
                assert_eq!(law.points_within(h, (low, high)), part, "{h} {low} {high}");
            }
        }
        // Of 2^53 totals.
        let wide = Lattice::flat(0, 1 << 53, 1 << 47).weighed(Information::default());
        let part = wide.points_within(1, ((1 << 50) - 20, (1 << 50) + 21));
        // Points are never further apart than asked, so that one may be there twice.
        assert!((41..=42).contains(&part.len()), "{}", part.len());
        assert!(part.iter().all(|point| (point.1 * (1_u64 << 53) as f64 - 1.0).abs() < 0.02), "{part:?}");
    }

    #[test]
    fn observations_add_up_and_are_taken_away_again() {
        let (a, b) = (Information::new(3.0, 4.0), Information::new(7.0, 1.0));
        let both = a.plus(b);
        assert!((both.mean().unwrap() - 6.2).abs() < 1e-12);
        assert!((both.without(b).mean().unwrap() - 3.0).abs() < 1e-12);
        assert_eq!(a.without(a), Information::default());
        assert_eq!(Information::default().mean(), None);
    }
}
