//! The law of one probability theta_k given the releases: a mixture of Beta laws over the marginal law of its count.
//!
//! Given x and the total n it is Beta(a_k + x, A + n - a_k - x). One incomplete beta function and the recurrence
//! I_t(p + 1, q - 1) = I_t(p, q) - t^p (1 - t)^(q - 1) / (p B(p, q)) give the distribution functions of a whole window.

use super::segment::Segment;
use super::sums::in_lanes;
use crate::Result;
use crate::roots::{Search, Side, Space, Trend};
use crate::special::{beta_inc, beta_inc_inverse, log_beta_weight};

/// Relative accuracy of quantiles.
const TOLERANCE: f64 = 1e-11;

/// Below, a quantile is zero.
const SMALLEST: f64 = 1e-290;

/// Masses below this share of the whole are left out of distribution functions.
const NEGLIGIBLE: f64 = 1e-15;

/// Halvings by three eighths of the search for a shortest interval.
const GOLDEN_STEPS: usize = 32;

/// A mixture of Beta laws.
#[derive(Debug, Clone)]
pub struct ShareLaw {
    parts: Vec<Part>,
    mean: f64,
    variance: f64,
}

/// Counts that share a prior and a total.
#[derive(Debug, Clone)]
struct Part {
    /// Masses of the counts.
    counts: Segment,
    /// Parameter of the prior for this cell.
    prior: f64,
    /// Sum of the prior and the total.
    mass: f64,
}

impl ShareLaw {
    /// The law for counts with these masses, each with the prior's parameter and the sum of the prior and the total.
    pub(super) fn new(parts: impl IntoIterator<Item = (Segment, f64, f64)>) -> Self {
        let mut parts: Vec<Part> =
            parts.into_iter().map(|(counts, prior, mass)| Part { counts, prior, mass }).collect();
        let total: f64 = parts.iter().map(|part| part.counts.sum()).sum();
        for part in &mut parts {
            part.counts.trim(NEGLIGIBLE * total);
            part.counts.values.iter_mut().for_each(|p| *p /= total);
        }
        parts.retain(|part| !part.counts.values.is_empty());
        let average = |f: &dyn Fn(&Part) -> f64| parts.iter().map(f).sum::<f64>();
        let mean = average(&|part| part.mean_of(|share| share));
        let variance = average(&|part| {
            part.mean_of(
                #[inline(always)]
                |share| (share - mean) * (share - mean) + share * (1.0 - share) / (part.mass + 1.0),
            )
        });
        Self { parts, mean, variance }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The variance.
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// The distribution function and the density at `t` in (0, 1).
    pub fn at(&self, t: f64) -> (f64, f64) {
        self.parts.iter().map(|part| part.at(t)).fold((0.0, 0.0), |sum, at| (sum.0 + at.0, sum.1 + at.1))
    }

    /// The value that is exceeded with probability 1 - `level`.
    ///
    /// # Errors
    /// [`crate::Error::Numerical`] if the search does not end; no case is known.
    pub fn quantile(&self, level: f64) -> Result<f64> {
        if !(level > 0.0 && level < 1.0) {
            return Ok(if level >= 1.0 { 1.0 } else { 0.0 });
        }
        let top = 1.0 - f64::EPSILON / 2.0;
        if self.at(SMALLEST).0 >= level || self.at(top).0 <= level {
            return Ok(if self.at(SMALLEST).0 >= level { 0.0 } else { 1.0 });
        }
        let search = Search {
            routine: "quantile",
            trend: Trend::Increasing,
            side: Side::Left,
            space: Space::Log,
            tolerance: TOLERANCE,
        };
        let equation = |t: f64| {
            let (below, density) = self.at(t);
            [below - level, density, f64::NAN]
        };
        Ok(search.solve(equation, self.guess(level).clamp(1e-280, top), (SMALLEST, top))?.x)
    }

    /// The quantile of the Beta law with this mean and variance.
    fn guess(&self, level: f64) -> f64 {
        let mass = (self.mean * (1.0 - self.mean) / self.variance - 1.0).clamp(1e-3, 1e12);
        beta_inc_inverse(self.mean * mass, (1.0 - self.mean) * mass, level).unwrap_or(self.mean)
    }

    /// The interval between the quantiles of (1 - level) / 2 and (1 + level) / 2.
    ///
    /// # Errors
    /// As for [`Self::quantile`].
    pub fn central(&self, level: f64) -> Result<(f64, f64)> {
        let tail = 0.5 * (1.0 - level);
        Ok((self.quantile(tail)?, self.quantile(1.0 - tail)?))
    }

    /// The shortest of the intervals between two quantiles that are `level` apart; of a law with several modes a local
    /// minimum, which holds its level all the same.
    ///
    /// # Errors
    /// As for [`Self::quantile`].
    pub fn shortest(&self, level: f64) -> Result<(f64, f64)> {
        let length = |low: f64| -> Result<f64> { Ok(self.quantile(low + level)? - self.quantile(low)?) };
        let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut a, mut b) = (0.0, 1.0 - level);
        let (mut left, mut right) = (b - ratio * (b - a), a + ratio * (b - a));
        let (mut at_left, mut at_right) = (length(left)?, length(right)?);
        for _ in 0..GOLDEN_STEPS {
            if at_left <= at_right {
                (b, right, at_right) = (right, left, at_left);
                left = b - ratio * (b - a);
                at_left = length(left)?;
            } else {
                (a, left, at_left) = (left, right, at_right);
                right = a + ratio * (b - a);
                at_right = length(right)?;
            }
        }
        // An end of the range may be better than what is inside: a law that falls from zero on.
        let mut best = (if at_left <= at_right { left } else { right }, at_left.min(at_right));
        for end in [0.0, 1.0 - level] {
            let at = length(end)?;
            if at < best.1 {
                best = (end, at);
            }
        }
        Ok((self.quantile(best.0)?, self.quantile(best.0 + level)?))
    }
}

impl Part {
    /// The sum over counts of their masses times f(share).
    #[inline(always)]
    fn mean_of(&self, f: impl Fn(f64) -> f64) -> f64 {
        let (values, first) = (&self.counts.values, self.counts.start as f64 + self.prior);
        in_lanes(
            values.len(),
            #[inline(always)]
            |i| values[i] * f((first + i as f64) / self.mass),
        )
    }

    /// The distribution function and the density, times the mass of the part.
    fn at(&self, t: f64) -> (f64, f64) {
        let shapes = |x: i64| {
            let a = self.prior + x as f64;
            (a, self.mass - a)
        };
        let last = self.counts.end() - 1;
        let anchor = ((t * self.mass - self.prior).round() as i64).clamp(self.counts.start, last);
        let (a, b) = shapes(anchor);
        let (below, step) = (beta_inc(a, b, t), (log_beta_weight(a, b, t).exp()) / (a * (1.0 - t)));
        let odds = t / (1.0 - t);
        let (mut sum, mut density) = (0.0, 0.0);
        // Upwards from the anchor: `step` is what the distribution function loses from x to x + 1.
        let (mut value, mut g) = (below, step);
        for x in anchor..=last {
            let (a, b) = shapes(x);
            let p = self.counts.values[(x - self.counts.start) as usize];
            sum += p * value;
            density += p * g * a;
            value = (value - g).max(0.0);
            g *= odds * (b - 1.0).max(0.0) / (a + 1.0);
        }
        let (mut value, mut g) = (below, step);
        for x in (self.counts.start..anchor).rev() {
            let (a, b) = shapes(x);
            // The step from x to x + 1.
            g *= (a + 1.0) / (odds * (b - 1.0));
            value = (value + g).min(1.0);
            let p = self.counts.values[(x - self.counts.start) as usize];
            sum += p * value;
            density += p * g * a;
        }
        (sum, density / t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(start: i64, weights: &[f64], prior: f64, mass: f64) -> ShareLaw {
        ShareLaw::new([(Segment { start, values: weights.to_vec() }, prior, mass)])
    }

    fn laws() -> Vec<ShareLaw> {
        let wide: Vec<f64> = (0..200).map(|i| (-0.5 * (f64::from(i - 90) / 20.0).powi(2)).exp()).collect();
        vec![
            law(0, &[1.0], 1.0, 2.0),
            law(0, &[0.9, 0.05, 0.05], 0.02, 2.5),
            law(3, &[0.2, 0.5, 0.3], 1.5, 12.0),
            law(900, &wide, 0.3, 1_000_000.0),
            law(0, &wide, 0.5, 200.0),
            ShareLaw::new([
                (Segment { start: 2, values: vec![0.3, 0.1] }, 0.5, 9.0),
                (Segment { start: 1, values: vec![0.2, 0.4] }, 0.7, 15.5),
            ]),
        ]
    }

    #[test]
    fn the_distribution_function_is_the_sum_of_its_parts() {
        for law in laws() {
            for t in [1e-12, 1e-4, 9.6e-4, 1e-3, 0.1, 0.45, 0.5, 0.93, 1.0 - 1e-9] {
                let mut exact = 0.0;
                for part in &law.parts {
                    for (x, p) in part.counts.iter() {
                        let a = part.prior + x as f64;
                        exact += p * beta_inc(a, part.mass - a, t);
                    }
                }
                let found = law.at(t);
                assert!((found.0 - exact).abs() < 1e-12, "{t}: {} {exact}", found.0);
                let h = 1e-5 * t.min(1.0 - t);
                let slope = (law.at(t + h).0 - law.at(t - h).0) / (2.0 * h);
                assert!((found.1 - slope).abs() < 1e-4 * (1.0 + slope) + 1e-10 / h, "{t}: {} {slope}", found.1);
            }
        }
    }

    #[test]
    fn quantiles_invert_and_shortest_intervals_are_shortest() {
        for law in laws() {
            for level in [1e-3, 0.025, 0.4, 0.975] {
                let t = law.quantile(level).unwrap();
                assert!(t == 0.0 || (law.at(t).0 - level).abs() < 1e-8, "{level}: {t}");
            }
            let (central, shortest) = (law.central(0.9).unwrap(), law.shortest(0.9).unwrap());
            assert!(shortest.1 - shortest.0 <= (central.1 - central.0) * (1.0 + 1e-9));
            let below = if shortest.0 > 0.0 { law.at(shortest.0).0 } else { 0.0 };
            assert!((law.at(shortest.1).0 - below - 0.9).abs() < 1e-7, "{shortest:?}");
        }
    }

    #[test]
    fn moments_are_those_of_the_density() {
        for law in laws() {
            let n = 10_000;
            let grid = |f: &dyn Fn(f64) -> f64| {
                // E f(theta) by parts over the distribution function, f(0) = 0.
                let steps = (0..n).map(|i| (f64::from(i) / f64::from(n), f64::from(i + 1) / f64::from(n)));
                steps.map(|(a, b)| (f(b) - f(a)) * (1.0 - law.at(0.5 * (a + b)).0)).sum::<f64>()
            };
            if law.variance > 1e-6 {
                let (mean, second) = (grid(&|t| t), grid(&|t| t * t));
                assert!((mean - law.mean()).abs() < 1e-5 && (second - mean * mean - law.variance()).abs() < 1e-5);
            }
        }
    }
}
