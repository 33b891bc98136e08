//! What a release says of one count: its log-likelihood as a function of that count.
//!
//! Every factor is concave in the count (on a grid coarser than one, below a concave function next to it), which is what
//! bounds the mass beyond a window. Besides the logarithm there is its increment from x to x + 1, free of the cancellation
//! that a difference of two logarithms of large arguments has.

use crate::sampling::half_up;
use crate::special::{log_gamma, log_gamma_ratio};
use crate::{Error, Result};

/// The likelihood of one released number, or of the share of one cell, given the count (theory E1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor(Kind);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// `value` is the count, rounded to the grid, plus noise of density exp(`log_top` - `rate` |z|).
    Laplace { value: f64, rate: f64, step: f64, log_top: f64 },
    /// The same with density exp(`log_top` - `precision` z^2 / 2).
    Gaussian { value: f64, precision: f64, step: f64, log_top: f64 },
    /// The share lies in an interval that ends at exp(`log_upper`), of log-length `decay`; a gamma variable's share.
    Share { scale: f64, prior: f64, log_upper: f64, decay: f64, log_width: f64 },
    /// `drawn` of the synthetic records fell into the cell.
    Urn { scale: f64, prior: f64, drawn: f64 },
}

/// Noise on the integers, or on the multiples of `step`: which multiple a count is rounded to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Mass proportional to exp(-|z| / scale).
    Laplace {
        /// The scale.
        scale: f64,
        /// The grid; 1 for integers.
        step: f64,
    },
    /// Mass proportional to exp(-z^2 / (2 sigma^2)).
    Gaussian {
        /// The parameter sigma.
        sigma: f64,
        /// The grid; 1 for integers.
        step: f64,
    },
}

impl Noise {
    fn checked(self) -> Result<Self> {
        let (name, size, step) = match self {
            Self::Laplace { scale, step } => ("scale", scale, step),
            Self::Gaussian { sigma, step } => ("sigma", sigma, step),
        };
        if !(size > 0.0 && size < 1e300) {
            return Err(Error::parameter(name, "be positive and finite", size));
        }
        if !(step > 0.0 && step < 1e300) {
            return Err(Error::parameter("step", "be positive and finite", step));
        }
        Ok(self)
    }

    /// The logarithm of the mass at zero.
    pub(super) fn log_top(self) -> f64 {
        match self {
            // (1 - p) / (1 + p) with p = exp(-step / scale).
            Self::Laplace { scale, step } => (0.5 * step / scale).tanh().ln(),
            Self::Gaussian { sigma, step } => -gaussian_log_sum(sigma / step),
        }
    }
}

/// The logarithm of the sum over all integers of exp(-z^2 / (2 sigma^2)), by Poisson summation where sigma is large.
fn gaussian_log_sum(sigma: f64) -> f64 {
    let (rate, front) = if sigma < 0.4 {
        (0.5 / (sigma * sigma), 0.0)
    } else {
        let pi = std::f64::consts::PI;
        (2.0 * (pi * sigma).powi(2), sigma.ln() + 0.5 * (2.0 * pi).ln())
    };
    // The terms fall at least as fast as exp(-3.1 z^2).
    let terms: f64 = (1..5).map(|z| (-rate * f64::from(z * z)).exp()).sum();
    front + (2.0 * terms).ln_1p()
}

impl Factor {
    /// `value` is the count plus noise.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless the value is finite, and scale and step are positive and finite.
    pub fn noisy(value: f64, noise: Noise) -> Result<Self> {
        if !value.is_finite() {
            return Err(Error::parameter("release", "be finite", value));
        }
        let log_top = noise.checked()?.log_top();
        Ok(Self(match noise {
            Noise::Laplace { scale, step } => Kind::Laplace { value, rate: 1.0 / scale, step, log_top },
            Noise::Gaussian { sigma, step } => {
                Kind::Gaussian { value, precision: 1.0 / (sigma * sigma), step, log_top }
            }
        }))
    }

    /// The noise of a cell of zero-sum Laplace noise, whose normaliser does not depend on the counts and belongs to no
    /// single cell.
    ///
    /// # Errors
    /// As for [`Self::noisy`].
    pub fn zero_sum(value: f64, scale: f64) -> Result<Self> {
        Self::noisy(value, Noise::Laplace { scale, step: 1.0 })
    }

    /// A share between `lower` and `upper` of a draw from Dirichlet(scale x + prior): the mean over the interval of
    /// y^(b - 1) / Gamma(b), b = scale x + prior.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless 0 <= lower < upper, and scale and prior are positive and finite.
    pub fn share(lower: f64, upper: f64, scale: f64, prior: f64) -> Result<Self> {
        if !(lower >= 0.0 && upper > lower && upper < f64::INFINITY) {
            return Err(Error::parameter("release", "be shares on the grid", upper));
        }
        let (scale, prior) = positive(scale, prior)?;
        let width = upper - lower;
        let decay = if lower > 0.0 { (width / lower).ln_1p() } else { f64::INFINITY };
        Ok(Self(Kind::Share { scale, prior, log_upper: upper.ln(), decay, log_width: width.ln() }))
    }

    /// An entry of `units` of the grid 2^-bits of a row of `dimension` entries (docs/exactness.md, section 7). With M = 2^bits - d
    /// it is one more, or two, than the whole part of M y, where which of the two depends on all entries.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless the units are from 1 to 2^bits; as for [`Self::share`].
    pub fn grid_share(units: i64, dimension: usize, bits: u32, scale: f64, prior: f64) -> Result<Self> {
        if bits > 52 || units < 1 || units > 1 << bits {
            return Err(Error::parameter("release", "be multiples of the resolution, none below one step", units));
        }
        let shared = 2f64.powi(bits as i32) - dimension as f64;
        Self::share(((units - 2).max(0) as f64 / shared).min(1.0), units as f64 / shared, scale, prior)
    }

    /// `drawn` records of a Dirichlet-multinomial draw with weights scale x + prior, the multinomial coefficient's part of
    /// the cell included.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless scale and prior are positive and finite.
    pub fn urn(drawn: u64, scale: f64, prior: f64) -> Result<Self> {
        let (scale, prior) = positive(scale, prior)?;
        Ok(Self(Kind::Urn { scale, prior, drawn: drawn as f64 }))
    }

    /// The log-likelihood at count `x`.
    pub fn log_at(&self, x: f64) -> f64 {
        match self.0 {
            Kind::Laplace { value, rate, step, log_top } => log_top - rate * (value - rounded(x, step)).abs(),
            Kind::Gaussian { value, precision, step, log_top } => {
                let z = value - rounded(x, step);
                log_top - 0.5 * precision * z * z
            }
            Kind::Share { scale, prior, log_upper, decay, log_width } => {
                let b = scale * x + prior;
                // (upper^b - lower^b) / (b Gamma(b) width)
                b * log_upper + log_one_minus_exp(b * decay) - log_gamma(b + 1.0) - log_width
            }
            Kind::Urn { scale, prior, drawn } => log_gamma_ratio(scale * x + prior, drawn) - log_gamma(drawn + 1.0),
        }
    }

    /// The log-likelihood at x + 1 minus that at x.
    pub(super) fn increment(&self, x: f64) -> f64 {
        match self.0 {
            Kind::Laplace { step, .. } | Kind::Gaussian { step, .. } if step > 1.0 => {
                self.log_at(x + 1.0) - self.log_at(x)
            }
            Kind::Laplace { value, rate, .. } => rate * ((value - x).abs() - (value - x - 1.0).abs()),
            Kind::Gaussian { value, precision, .. } => precision * (value - x - 0.5),
            Kind::Share { scale, prior, log_upper, decay, .. } => {
                let b = scale * x + prior;
                let interval = if decay < f64::INFINITY {
                    log_one_minus_exp((b + scale) * decay) - log_one_minus_exp(b * decay)
                } else {
                    0.0
                };
                scale * log_upper + interval - log_gamma_ratio(b + 1.0, scale)
            }
            Kind::Urn { scale, prior, drawn } => {
                let b = scale * x + prior;
                log_gamma_ratio(b + drawn, scale) - log_gamma_ratio(b, scale)
            }
        }
    }

    /// Whether the log-likelihood is concave in itself: on integers, and on grids that hold them.
    #[inline]
    pub(super) fn is_concave(&self) -> bool {
        !matches!(self.0, Kind::Laplace { step, .. } | Kind::Gaussian { step, .. } if step > 1.0)
    }

    /// [`Self::increment`] of a concave function that is not below this one, and equal to it up to a grid coarser than one.
    pub(super) fn concave_increment(&self, x: f64) -> f64 {
        let nearest = |z: f64, step: f64| (z.abs() - 0.5 * step).max(0.0);
        match self.0 {
            Kind::Laplace { value, rate, step, .. } if step > 1.0 => {
                rate * (nearest(value - x, step) - nearest(value - x - 1.0, step))
            }
            Kind::Gaussian { value, precision, step, .. } if step > 1.0 => {
                0.5 * precision * (nearest(value - x, step).powi(2) - nearest(value - x - 1.0, step).powi(2))
            }
            _ => self.increment(x),
        }
    }

    /// By how much the concave function may exceed the likelihood, as a logarithm: half a step of a coarse grid.
    pub(super) fn concave_excess(&self, x: f64) -> f64 {
        let excess = |z: f64, step: f64, at: &dyn Fn(f64) -> f64| {
            if step > 1.0 { at(z.abs() + 0.5 * step) - at((z.abs() - 0.5 * step).max(0.0)) } else { 0.0 }
        };
        match self.0 {
            Kind::Laplace { value, rate, step, .. } => excess(value - x, step, &|z| rate * z),
            Kind::Gaussian { value, precision, step, .. } => excess(value - x, step, &|z| 0.5 * precision * z * z),
            _ => 0.0,
        }
    }

    /// Whether the likelihood falls to nothing for large counts whatever the total.
    pub(super) fn locates(&self) -> bool {
        matches!(self.0, Kind::Laplace { .. } | Kind::Gaussian { .. })
    }

    /// The released number with the variance of its noise, where it is a count with noise.
    pub(super) fn noisy_count(&self) -> Option<(f64, f64)> {
        match self.0 {
            Kind::Laplace { value, rate, step, .. } => Some((value, 2.0 / (rate * rate) + step * step / 12.0)),
            Kind::Gaussian { value, precision, step, .. } => Some((value, 1.0 / precision + step * step / 12.0)),
            Kind::Share { .. } | Kind::Urn { .. } => None,
        }
    }

    /// The counts outside of which the likelihood of a noisy count is exp(-depth) or less of its largest value there is.
    pub(super) fn window(&self, depth: f64) -> (f64, f64) {
        let (value, reach) = match self.0 {
            Kind::Laplace { value, rate, step, .. } => (value, depth / rate + 0.5 * step),
            Kind::Gaussian { value, precision, step, .. } => (value, (2.0 * depth / precision).sqrt() + 0.5 * step),
            Kind::Share { .. } | Kind::Urn { .. } => return (0.0, f64::INFINITY),
        };
        // Below zero there is no count: of a value there zero is the likeliest.
        ((value - reach).floor(), (value.max(0.0) + reach).ceil())
    }

    /// The variance of counts near `x` that the likelihood alone leaves, roughly.
    pub(super) fn variance_near(&self, x: f64) -> f64 {
        match self.0 {
            Kind::Laplace { rate, .. } => 2.0 / (rate * rate),
            Kind::Gaussian { precision, .. } => 1.0 / precision,
            Kind::Share { scale, prior, .. } | Kind::Urn { scale, prior, .. } => (scale * x + prior) / (scale * scale),
        }
    }

    /// A count from which the search for the likely ones may start.
    pub(super) fn guess(&self) -> f64 {
        match self.0 {
            Kind::Laplace { value, .. } | Kind::Gaussian { value, .. } => value.max(0.0),
            Kind::Share { .. } | Kind::Urn { .. } => 0.0,
        }
    }
}

fn positive(scale: f64, prior: f64) -> Result<(f64, f64)> {
    for (name, value) in [("scale", scale), ("prior", prior)] {
        if !(value > 0.0 && value < 1e300) {
            return Err(Error::parameter(name, "be positive and finite", value));
        }
    }
    Ok((scale, prior))
}

/// The multiple of `step` that the release started from; integers lie on every grid of step 1, 1/2, 1/4, ...
fn rounded(x: f64, step: f64) -> f64 {
    if step > 1.0 { half_up(x / step) * step } else { x }
}

/// ln(1 - exp(-t)) for t > 0.
fn log_one_minus_exp(t: f64) -> f64 {
    if t < std::f64::consts::LN_2 { (-(-t).exp_m1()).ln() } else { (-(-t).exp()).ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Factor> {
        let laplace = |step| Noise::Laplace { scale: 2.5, step };
        let gaussian = |step| Noise::Gaussian { sigma: 3.5, step };
        vec![
            Factor::noisy(7.0, laplace(1.0)).unwrap(),
            Factor::noisy(6.75, laplace(0.25)).unwrap(),
            Factor::noisy(-3.0, gaussian(1.0)).unwrap(),
            Factor::noisy(20.5, gaussian(0.5)).unwrap(),
            Factor::noisy(8.0, laplace(4.0)).unwrap(),
            Factor::noisy(12.0, gaussian(4.0)).unwrap(),
            Factor::share(0.1, 0.1 + 2f64.powi(-31), 0.7, 1.5).unwrap(),
            Factor::share(0.0, 2f64.powi(-32), 0.7, 1.5).unwrap(),
            Factor::share(0.3, 0.5, 3.0, 0.01).unwrap(),
            Factor::urn(17, 0.7, 1.5).unwrap(),
            Factor::urn(0, 2.0, 0.1).unwrap(),
        ]
    }

    #[test]
    fn increments_are_differences_of_logarithms() {
        for (i, factor) in all().iter().enumerate() {
            for x in [0.0, 1.0, 2.0, 6.0, 7.0, 30.0, 1000.0] {
                let (direct, wanted) = (factor.increment(x), factor.log_at(x + 1.0) - factor.log_at(x));
                assert!(
                    (direct - wanted).abs() < 1e-9 * (1.0 + factor.log_at(x).abs()),
                    "{i} at {x}: {direct} {wanted}"
                );
            }
        }
    }

    #[test]
    fn the_concave_functions_are_concave_and_not_below() {
        for (i, factor) in all().iter().enumerate() {
            let increments: Vec<f64> = (0..60).map(|x| factor.concave_increment(f64::from(x))).collect();
            assert!(increments.windows(2).all(|w| w[1] <= w[0] + 1e-12), "{i}: {increments:?}");
            // From any x and y: log f(y) <= log f(x) + excess(x) + concave(y) - concave(x).
            for x in 0..60_u32 {
                let mut bound = factor.log_at(f64::from(x)) + factor.concave_excess(f64::from(x));
                for y in x..60 {
                    assert!(factor.log_at(f64::from(y)) <= bound + 1e-9, "{i}: {x} {y}");
                    bound += increments[y as usize];
                }
            }
        }
    }

    #[test]
    fn noise_masses_sum_to_one() {
        for noise in [
            Noise::Laplace { scale: 0.1, step: 1.0 },
            Noise::Laplace { scale: 7.0, step: 1.0 },
            Noise::Gaussian { sigma: 0.05, step: 1.0 },
            Noise::Gaussian { sigma: 0.39, step: 1.0 },
            Noise::Gaussian { sigma: 0.41, step: 1.0 },
            Noise::Gaussian { sigma: 9.0, step: 1.0 },
        ] {
            let factor = |z: i32| Factor::noisy(f64::from(z), noise).unwrap().log_at(0.0).exp();
            let sum: f64 = (-400..=400).map(factor).sum();
            assert!((sum - 1.0).abs() < 1e-13, "{noise:?}: {sum}");
        }
    }

    #[test]
    fn wrong_parameters_are_refused() {
        assert!(Factor::noisy(f64::NAN, Noise::Laplace { scale: 1.0, step: 1.0 }).is_err());
        assert!(Factor::noisy(0.0, Noise::Laplace { scale: 0.0, step: 1.0 }).is_err());
        assert!(Factor::noisy(0.0, Noise::Gaussian { sigma: 1.0, step: f64::NAN }).is_err());
        assert!(Factor::share(0.2, 0.2, 1.0, 1.0).is_err() && Factor::share(-0.1, 0.2, 1.0, 1.0).is_err());
        assert!(Factor::urn(1, f64::INFINITY, 1.0).is_err());
    }
}
