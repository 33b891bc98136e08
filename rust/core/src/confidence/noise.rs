//! What the error of added noise exceeds with a given probability at most.

use crate::guarantee::{Noise, NoiseMechanism};
use crate::rounding::{count_up, exp_down, ln_up, product_down, product_up, quotient_up, sqrt_up, sum_down, sum_up};
use crate::sampling::Rational;
use crate::special::gamma_q_inverse;
use crate::{Error, Result};

/// A normal quantile is known to some 1e-14 relative (its tests measure it); this is far more.
const QUANTILE_MARGIN: f64 = 1e-12;
/// Sums of at most a few ten thousand tail masses, each off by some units in its last place, err by far less.
const TAIL_MARGIN: f64 = 1e-9;
/// Up to here tails of the discrete Gaussian are summed; above, a bound is off by one step in a thousand or less.
const LARGEST_SUMMED: f64 = 1024.0;
/// Standard deviations to either side that are summed: what lies beyond is below every double beside the rest.
const REACH: f64 = 15.0;

/// What the error of a value exceeds with a probability of at most alpha.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Radius {
    /// Of an integer.
    Whole(u64),
    /// Of a multiple of the step of a grid: that of the noise, and half a step for the rounding before it.
    Real(f64),
}

impl NoiseMechanism {
    /// The radius around a released value that misses the true one with a probability of at most alpha, or slightly more.
    ///
    /// # Errors
    /// If alpha does not lie strictly between 0 and 1.
    pub fn radius(&self, alpha: f64) -> Result<Radius> {
        let Some(grid) = &self.grid else {
            return Ok(Radius::Whole(radius(self.noise, &self.size, alpha)?));
        };
        let steps = radius(self.noise, &self.size.over(&grid.step), alpha)?;
        Ok(Radius::Real(product_up(sum_up(count_up(steps), 0.5), grid.step.to_f64_up())))
    }
}

/// The least t with P(|z| > t) <= alpha for noise on integers, or slightly more.
fn radius(noise: Noise, size: &Rational, alpha: f64) -> Result<u64> {
    if !(0.0 < alpha && alpha < 1.0) {
        return Err(Error::parameter("alpha", "lie strictly between 0 and 1", alpha));
    }
    Ok(match noise {
        Noise::Laplace => laplace(size.to_f64_down(), size.to_f64_up(), alpha),
        Noise::Gaussian if size.to_f64_up() > LARGEST_SUMMED => {
            // [CKS20] Proposition 25: P(z >= t + 1) is at most the continuous tail beyond t.
            let quantile = sqrt_up(product_up(2.0, gamma_q_inverse(0.5, alpha)?));
            product_up(product_up(size.to_f64_up(), quantile), 1.0 + QUANTILE_MARGIN).ceil() as u64
        }
        Noise::Gaussian => gaussian(size.to_f64_up(), alpha),
    })
}

/// P(|z| > t) = 2 p^(t+1)/(1 + p) with p = exp(-1/scale).
fn laplace(down: f64, up: f64, alpha: f64) -> u64 {
    let p = exp_down(-quotient_up(1.0, down));
    let exponent = ln_up(quotient_up(2.0, product_down(alpha, sum_down(1.0, p))));
    (product_up(up, exponent).ceil() - 1.0).max(0.0) as u64
}

fn gaussian(sigma: f64, alpha: f64) -> u64 {
    let last = (REACH * sigma).ceil() as u64 + 1;
    let weight = |z: u64| (-0.5 * (z as f64 / sigma).powi(2)).exp();
    let total: f64 = 1.0 + 2.0 * (1..=last).rev().map(weight).sum::<f64>();
    let allowed = 0.5 * alpha * (1.0 - TAIL_MARGIN) * total;
    let mut beyond = 0.0;
    // From far out inwards: the first t whose tail is too heavy with its own mass.
    for t in (1..=last).rev() {
        beyond += weight(t);
        if beyond > allowed {
            return t;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(size: f64) -> Rational {
        Rational::from_f64("size", size).unwrap()
    }

    #[test]
    fn laplace_tails_are_within_alpha_and_one_less_is_not() {
        for size in [1e-3, 0.3, 1.0, 7.5, 1e4] {
            for alpha in [0.9, 0.05, 1e-6, 1e-100] {
                let t = radius(Noise::Laplace, &exact(size), alpha).unwrap() as f64;
                let tail = |t: f64| 2.0 * (-(t + 1.0) / size).exp() / (1.0 + (-1.0 / size).exp());
                assert!(tail(t) <= alpha * (1.0 + 1e-12), "{size} {alpha:e}: {t}");
                assert!(t == 0.0 || tail(t - 1.0) > alpha * (1.0 - 1e-12), "{size} {alpha:e}: {t}");
            }
        }
    }

    #[test]
    fn gaussian_tails_are_within_alpha_and_meet_the_bound_for_large_sigma() {
        for size in [0.05, 0.5, 3.0, 200.0] {
            for alpha in [0.9, 0.05, 1e-9] {
                let t = radius(Noise::Gaussian, &exact(size), alpha).unwrap() as i64;
                let mass = |z: i64| (-0.5 * (z as f64 / size).powi(2)).exp();
                let reach = (40.0 * size) as i64 + 2;
                let total: f64 = (-reach..=reach).map(mass).sum();
                let tail = |t: i64| 2.0 * (t + 1..=reach).map(mass).sum::<f64>() / total;
                assert!(tail(t) <= alpha, "{size} {alpha}: {t}");
                assert!(t == 0 || tail(t - 1) > alpha * (1.0 - 1e-8), "{size} {alpha}: {t}");
            }
        }
        let (summed, bound) = (gaussian(1024.0, 0.05), radius(Noise::Gaussian, &exact(1024.5), 0.05).unwrap());
        assert!(bound >= summed && bound <= summed + 4);
        assert!(radius(Noise::Gaussian, &exact(1.0), 1.0).is_err());
    }
}
