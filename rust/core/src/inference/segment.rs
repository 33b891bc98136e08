//! A function on consecutive integers that vanishes elsewhere.

use super::sums::in_lanes;

/// Sums of masses that reach a level but for rounding count as reaching it.
const ROUNDING_UP: f64 = 1.0 + 1e-12;

/// Values at `start`, `start + 1`, ...
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Segment {
    /// The integer of the first value.
    pub start: i64,
    /// The values.
    pub values: Vec<f64>,
}

impl Segment {
    /// The integer after the last value.
    pub fn end(&self) -> i64 {
        self.start + self.values.len() as i64
    }

    /// The value at an integer.
    pub fn at(&self, x: i64) -> f64 {
        usize::try_from(x - self.start).ok().and_then(|i| self.values.get(i)).copied().unwrap_or(0.0)
    }

    /// The integers with their values.
    pub fn iter(&self) -> impl Iterator<Item = (i64, f64)> + '_ {
        self.values.iter().enumerate().map(|(i, &value)| (self.start + i as i64, value))
    }

    /// The sum of the values.
    pub fn sum(&self) -> f64 {
        let values = &self.values;
        in_lanes(
            values.len(),
            #[inline(always)]
            |i| values[i],
        )
    }

    /// The mean and the variance of the law that is proportional to the values.
    pub fn moments(&self) -> (f64, f64) {
        let values = &self.values;
        let sum = self.sum();
        let first = in_lanes(
            values.len(),
            #[inline(always)]
            |i| values[i] * i as f64,
        );
        let mean = first / sum;
        let second = in_lanes(
            values.len(),
            #[inline(always)]
            |i| values[i] * (i as f64 - mean) * (i as f64 - mean),
        );
        (self.start as f64 + mean, second / sum)
    }

    /// The values at the integers of another function.
    pub(super) fn aligned(&self, other: &Self) -> Vec<f64> {
        (other.start..other.end()).map(|x| self.at(x)).collect()
    }

    /// The function times a number.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self { start: self.start, values: self.values.iter().map(|value| factor * value).collect() }
    }

    /// The sum of several functions.
    pub(super) fn sum_of(parts: &[Self]) -> Self {
        let filled = || parts.iter().filter(|part| !part.values.is_empty());
        let start = filled().map(|part| part.start).min().unwrap_or(0);
        let end = filled().map(Self::end).max().unwrap_or(start);
        let mut values = vec![0.0; (end - start) as usize];
        for part in filled() {
            let offset = (part.start - start) as usize;
            values[offset..].iter_mut().zip(&part.values).for_each(|(sum, value)| *sum += value);
        }
        Self { start, values }
    }

    /// The function of -x.
    pub(super) fn mirrored(&self) -> Self {
        Self { start: 1 - self.end(), values: self.values.iter().rev().copied().collect() }
    }

    /// Moves what lies above an integer onto it.
    pub(super) fn cap(&mut self, most: i64) {
        let kept = (most + 1 - self.start).max(1) as usize;
        if kept < self.values.len() {
            let above: f64 = self.values.drain(kept..).sum();
            self.values[kept - 1] += above;
        }
    }

    /// Cuts off ends of at most `tail` mass each; returns what was cut.
    pub(super) fn trim(&mut self, tail: f64) -> f64 {
        let cut = |values: &mut dyn Iterator<Item = &f64>| {
            let (mut lost, mut n) = (0.0, 0);
            for &p in values {
                if lost + p > tail {
                    break;
                }
                lost += p;
                n += 1;
            }
            (lost, n)
        };
        let (above, right) = cut(&mut self.values.iter().rev());
        let (below, left) = cut(&mut self.values.iter().take(self.values.len() - right));
        self.values.truncate(self.values.len() - right);
        self.values.drain(..left);
        self.start += left as i64;
        above + below
    }

    /// The smallest contiguous set around the mass that leaves at most `tail` out on each side, as first and last integer.
    pub fn central(&self, tail: f64) -> (i64, i64) {
        let end = |values: &mut dyn Iterator<Item = &f64>| {
            let mut lost = 0.0;
            values
                .take_while(|&&p| {
                    lost += p;
                    lost <= tail * ROUNDING_UP
                })
                .count() as i64
        };
        let left = end(&mut self.values.iter());
        let right = end(&mut self.values.iter().rev());
        let (low, high) = (self.start + left, self.end() - 1 - right);
        // Rounding can only cross where all mass is tails.
        (low.min(high), low.max(high))
    }

    /// The shortest run of integers that holds at least `level` of the mass; of several the one that holds most.
    pub fn shortest(&self, level: f64) -> (i64, i64) {
        let total = self.sum();
        let wanted = level * total / ROUNDING_UP;
        let mut best = (self.values.len(), 0.0, 0);
        let (mut mass, mut first) = (0.0, 0);
        for (last, &p) in self.values.iter().enumerate() {
            mass += p;
            while first < last && mass - self.values[first] >= wanted {
                mass -= self.values[first];
                first += 1;
            }
            let length = last + 1 - first;
            if mass >= wanted && (length < best.0 || (length == best.0 && mass > best.1)) {
                best = (length, mass, first);
            }
        }
        let low = self.start + best.2 as i64;
        (low, low + best.0 as i64 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment() -> Segment {
        Segment { start: -2, values: vec![0.05, 0.2, 0.5, 0.2, 0.05] }
    }

    #[test]
    fn moments_and_mirror_image() {
        let (mean, variance) = segment().moments();
        assert!(mean.abs() < 1e-15 && (variance - 0.8).abs() < 1e-15);
        let skew = Segment { start: 3, values: vec![1.0, 2.0] };
        assert_eq!(skew.mirrored(), Segment { start: -4, values: vec![2.0, 1.0] });
        assert_eq!((skew.at(3), skew.at(4), skew.at(5), skew.at(2)), (1.0, 2.0, 0.0, 0.0));
    }

    #[test]
    fn intervals_hold_their_mass() {
        assert_eq!(segment().central(0.025), (-2, 2));
        assert_eq!(segment().central(0.1), (-1, 1));
        assert_eq!(segment().central(0.2), (-1, 1));
        assert_eq!(segment().central(0.4), (0, 0));
        assert_eq!(segment().shortest(0.5), (0, 0));
        assert_eq!(segment().shortest(0.6), (-1, 0));
        assert_eq!(segment().shortest(1.0), (-2, 2));
        let skew = Segment { start: 0, values: vec![0.6, 0.3, 0.1] };
        assert_eq!(skew.shortest(0.9), (0, 1));
    }

    #[test]
    fn what_lies_above_a_cap_is_moved_onto_it() {
        let mut law = segment();
        law.cap(1);
        assert_eq!(law, Segment { start: -2, values: vec![0.05, 0.2, 0.5, 0.25] });
        law.cap(9);
        assert_eq!(law.values.len(), 4);
    }

    #[test]
    fn trimming_tells_what_it_cut() {
        let mut tails = segment();
        assert!((tails.trim(0.06) - 0.1).abs() < 1e-15);
        assert_eq!(tails, Segment { start: -1, values: vec![0.2, 0.5, 0.2] });
    }
}
