//! Which counts a Dirichlet release does not reject.

use crate::monotone::{Between, last};
use crate::rounding::{quotient_down, quotient_up, sum_down, sum_up};
use crate::sampling::dirichlet::TOTAL_VARIATION_BOUND;
use crate::special::{beta_inc, beta_inc_c, gamma_q_inverse};
use crate::{Error, Result, interrupt};

/// Rejection needs this much more: far above the error of the incomplete functions.
const SLACK: f64 = 1.0 - 1e-9;

/// The public parameters of a release of Dirichlet draws.
#[derive(Debug, Clone, Copy)]
pub struct DirichletDraws<'a> {
    /// Of each record, and one for every category.
    pub scale: f64,
    /// What every category has beforehand.
    pub prior: &'a [f64],
    /// Counts are raised to this first.
    pub floor: f64,
    /// The step of the grid: a power of two.
    pub step: f64,
    /// Whether counts are integers.
    pub whole: bool,
}

impl DirichletDraws<'_> {
    /// The least and the largest count of every entry that tests of size `alpha` do not reject, half of it for either side.
    ///
    /// For a true count k the ideal entry is Beta(scale k + a_i, scale (total - k) + A - a_i), A the sum of the prior. It
    /// grows with k in the stochastic order, so that both tests are monotone in k and a search finds their ends.
    ///
    /// # Errors
    /// If the grid is too coarse for so many categories, a total is below what the floor leaves, or the caller wants it to
    /// stop.
    pub fn counts(&self, y: &[f64], totals: &[f64], alpha: f64) -> Result<Vec<[f64; 2]>> {
        if !(0.0 < alpha && alpha < 1.0) {
            return Err(Error::parameter("alpha", "lie strictly between 0 and 1", alpha));
        }
        let d = self.prior.len();
        if d as f64 * self.step > 0.25 {
            return Err(Error::parameter("resolution", "be at most 1 / (4 d) for d categories", self.step));
        }
        let others = sums_of_the_others(self.prior);
        let low = if self.whole { self.floor.ceil() } else { self.floor };
        // Less than half of alpha by what the sampler may be off.
        let tail = alpha / 2.0 * SLACK - TOTAL_VARIATION_BOUND;
        let z = (2.0 * gamma_q_inverse(0.5, alpha)?).sqrt();
        let mut ends = Vec::with_capacity(y.len());
        for (row, &total) in y.chunks_exact(d).zip(totals) {
            let high = total - (d - 1) as f64 * low;
            if !(high >= low) {
                return Err(Error::parameter("total", "be at least the dimension times the floor", total));
            }
            interrupt::check()?;
            for ((&y, &own), &rest) in row.iter().zip(self.prior).zip(&others) {
                ends.push(self.ends(y, total, (own, rest), (low, high), tail, z));
            }
        }
        Ok(ends)
    }

    fn ends(&self, y: f64, total: f64, prior: (f64, f64), (low, high): (f64, f64), tail: f64, z: f64) -> [f64; 2] {
        let (own, rest) = prior;
        let scale = self.scale;
        let (least_ideal, largest_ideal) = ideal_share(y, self.prior.len() as u64, self.step);
        let shapes = |k: f64| (scale * k + own, scale * (total - k) + rest);
        let small_enough = |k: f64| {
            let (a, b) = shapes(k);
            beta_inc(a, b, largest_ideal) >= tail
        };
        let large_enough = |k: f64| {
            let (a, b) = shapes(k);
            beta_inc_c(a, b, least_ideal) >= tail
        };
        // Wilson's ends for the mean of an entry, of which the true ends are about one unit of the parameters away.
        let weight = scale * total + own + rest;
        let shrink = 1.0 + z * z / (weight + 1.0);
        let centre = (y + 0.5 * z * z / (weight + 1.0)) / shrink;
        let reach = z * (y * (1.0 - y) / (weight + 1.0) + (0.5 * z / (weight + 1.0)).powi(2)).sqrt() / shrink;
        let guess = |share: f64| (share * weight - own) / scale;
        let between = |low, high, guess| Between { low, high, guess, step: 0.5 / scale, whole: self.whole };
        let upper = last(between(low, high, guess(centre + reach)), small_enough);
        // Mirrored: the least k is minus the last of -k.
        let lower = -last(between(-high, -low, -guess(centre - reach)), |k| large_enough(-k));
        // The tests can only reject every count where the release was less likely than alpha at each.
        [lower.min(upper), upper]
    }
}

/// The sum of all entries but each, without cancellation.
fn sums_of_the_others(prior: &[f64]) -> Vec<f64> {
    let mut others = vec![0.0; prior.len()];
    let (mut before, mut after) = (0.0, 0.0);
    for (other, own) in others.iter_mut().zip(prior) {
        *other = before;
        before += own;
    }
    for (other, own) in others.iter_mut().zip(prior).rev() {
        *other += after;
        after += own;
    }
    others
}

/// The ends between which the ideal share lies that was released as `y`, of so many categories on a grid of this step
/// (docs/exactness.md, section 7).
pub fn ideal_share(y: f64, dimension: u64, step: f64) -> (f64, f64) {
    // Steps are powers of two above 2^-53 and the product is at most 1/4: exact.
    let rest = 1.0 - dimension as f64 * step;
    let low = quotient_down(sum_down(y, -2.0 * step), rest);
    (low.clamp(0.0, 1.0), quotient_up(sum_up(y, 0.0), rest).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ideal_shares_hold_what_was_rounded() {
        // Section 7: a share x is released between (1 - d step) x and that plus two steps.
        let step = 2.0_f64.powi(-10);
        for x in [0.0, 1e-9, 0.1, 0.3, 0.999, 1.0] {
            for shift in [0.0, 1.0, 2.0] {
                let y = (1.0 - 6.0 * step) * x + shift * step;
                let (low, high) = ideal_share(y, 6, step);
                assert!(low <= x + 1e-15 && x - 1e-15 <= high && high - low <= 2.1 * step, "{x} {shift}: {low} {high}");
            }
        }
    }

    #[test]
    fn the_ends_are_the_last_counts_that_are_not_rejected() {
        let prior = [0.5, 2.0, 1.0];
        let draws = DirichletDraws { scale: 0.5, prior: &prior, floor: 0.0, step: 2.0_f64.powi(-32), whole: true };
        let (y, total, alpha) = ([0.25, 0.5, 0.25], 60.0, 0.05);
        let ends = draws.counts(&y, &[total], alpha).unwrap();
        for ((&[lower, upper], y), own) in ends.iter().zip(y).zip(prior) {
            // Every count in turn, by the test itself.
            let kept: Vec<f64> = (0..=60)
                .map(f64::from)
                .filter(|k| {
                    let below = beta_inc(0.5 * k + own, 0.5 * (total - k) + 3.5 - own, y);
                    below >= alpha / 2.0 * (1.0 - 1e-6) && 1.0 - below >= alpha / 2.0 * (1.0 - 1e-6)
                })
                .collect();
            assert_eq!((kept[0], kept[kept.len() - 1]), (lower, upper));
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let prior = [1.0; 4];
        let draws = DirichletDraws { scale: 1.0, prior: &prior, floor: 3.0, step: 0.125, whole: true };
        assert!(draws.counts(&[0.25; 4], &[100.0], 0.05).is_err());
        let draws = DirichletDraws { step: 2.0_f64.powi(-32), ..draws };
        assert!(draws.counts(&[0.25; 4], &[11.0], 0.05).is_err());
        assert!(draws.counts(&[0.25; 4], &[f64::NAN], 0.05).is_err());
        assert!(draws.counts(&[0.25; 4], &[12.0], 1.5).is_err());
        assert_eq!(draws.counts(&[0.25; 4], &[12.0], 0.05).unwrap(), vec![[3.0, 3.0]; 4]);
    }
}
