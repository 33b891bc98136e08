//! What is known of the number of records: public, private with a prior, or seen with noise.

use super::cell::LARGEST_COUNT;
use super::factor::Factor;
use crate::special::{log_gamma, log_gamma_ratio};
use crate::{Error, Result};

/// The prior of a private number of records.
#[derive(Debug, Clone, PartialEq)]
pub enum TotalPrior {
    /// It is public: this number.
    Known(u64),
    /// Every number has weight one: improper, so that noise on the counts must locate the number.
    Flat,
    /// Every number from the first to the second has the same probability.
    Between(u64, u64),
    /// A negative binomial law: a Poisson number whose rate is Gamma(size) with this mean.
    NegativeBinomial {
        /// The expected number.
        mean: f64,
        /// Large for a law near Poisson's.
        size: f64,
    },
    /// Logarithms of weights from the first number on.
    Weights(u64, Vec<f64>),
}

/// A release as a function of the total: what its cells' factors leave out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TotalTerm {
    /// A Dirichlet draw with weights scale x + prior: Gamma(scale n + sum of the prior).
    Shares {
        /// Factor of the counts.
        scale: f64,
        /// Sum of the prior.
        prior: f64,
    },
    /// `size` records of an urn: size! Gamma(scale n + prior) / Gamma(scale n + prior + size).
    Urn {
        /// Factor of the counts.
        scale: f64,
        /// Sum of the prior.
        prior: f64,
        /// Number of synthetic records.
        size: u64,
    },
    /// A factor that does not depend on the counts, as a logarithm.
    Constant(f64),
    /// The total itself, released with noise.
    Noisy(Factor),
}

/// The number of records: its prior and all that a release says of it beyond the cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    prior: TotalPrior,
    terms: Vec<TotalTerm>,
}

impl Total {
    /// # Errors
    /// [`Error::InvalidParameter`] for a number above 2^53, an empty range, a negative binomial law without positive
    /// parameters, or weights that are NaN or all minus infinity.
    pub fn new(prior: TotalPrior, terms: Vec<TotalTerm>) -> Result<Self> {
        let most = match &prior {
            TotalPrior::Known(n) => *n,
            TotalPrior::Flat => 0,
            TotalPrior::Between(low, high) => {
                if low > high {
                    return Err(Error::parameter("total", "be a range that is not empty", format!("{low} to {high}")));
                }
                *high
            }
            TotalPrior::NegativeBinomial { mean, size } => {
                for (name, value) in [("mean", *mean), ("size", *size)] {
                    if !(value > 0.0 && value < 1e15) {
                        return Err(Error::parameter(name, "be positive and below 1e15", value));
                    }
                }
                0
            }
            TotalPrior::Weights(low, weights) => {
                if weights.iter().any(|w| w.is_nan() || *w == f64::INFINITY) || !weights.iter().any(|w| w.is_finite()) {
                    return Err(Error::parameter("weights", "be logarithms, not all of zero", "others"));
                }
                low.saturating_add(weights.len() as u64)
            }
        };
        if most > LARGEST_COUNT {
            return Err(Error::parameter("total", "be at most 2^53", most));
        }
        Ok(Self { prior, terms })
    }

    /// The same prior without what the releases say: for the probability of the prior alone.
    pub(super) fn alone(&self) -> Self {
        Self { prior: self.prior.clone(), terms: Vec::new() }
    }

    /// The public number, if it is.
    pub fn known(&self) -> Option<u64> {
        if let TotalPrior::Known(n) = self.prior { Some(n) } else { None }
    }

    /// Whether every cell must be located by its own releases for the posterior of the total to exist.
    pub(super) fn needs_location(&self) -> bool {
        self.prior == TotalPrior::Flat && !self.terms.iter().any(|term| matches!(term, TotalTerm::Noisy(_)))
    }

    /// A number from which the search for the likely ones may start.
    pub(super) fn guess(&self) -> Option<f64> {
        let noisy =
            self.terms.iter().find_map(|term| if let TotalTerm::Noisy(f) = term { Some(f.guess()) } else { None });
        let prior = match &self.prior {
            TotalPrior::Known(n) => Some(*n as f64),
            TotalPrior::Flat => None,
            TotalPrior::Between(low, high) => Some((*low as f64 + 1.0).sqrt() * (*high as f64 + 1.0).sqrt() - 1.0),
            TotalPrior::NegativeBinomial { mean, .. } => Some(*mean),
            TotalPrior::Weights(low, weights) => {
                (0..weights.len()).max_by(|&i, &j| weights[i].total_cmp(&weights[j])).map(|i| (*low + i as u64) as f64)
            }
        };
        noisy.or(prior)
    }

    /// The numbers that are possible, from the first to the last.
    pub(super) fn range(&self) -> (u64, u64) {
        match &self.prior {
            TotalPrior::Known(n) => (*n, *n),
            TotalPrior::Flat | TotalPrior::NegativeBinomial { .. } => (0, LARGEST_COUNT),
            TotalPrior::Between(low, high) => (*low, *high),
            TotalPrior::Weights(low, weights) => (*low, low + weights.len() as u64 - 1),
        }
    }

    /// The logarithm of n! Gamma(A) / Gamma(n + A) (theory E1), times the prior and all terms; A is the sum of the cells'
    /// priors.
    pub(super) fn log_weight(&self, n: u64, prior_sum: f64) -> f64 {
        let x = n as f64;
        let prior = match &self.prior {
            TotalPrior::Known(known) if n != *known => f64::NEG_INFINITY,
            TotalPrior::Known(_) | TotalPrior::Flat => 0.0,
            TotalPrior::Between(low, high) if n < *low || n > *high => f64::NEG_INFINITY,
            TotalPrior::Between(low, high) => -((high - low + 1) as f64).ln(),
            TotalPrior::NegativeBinomial { mean, size } => {
                let rest = size * (mean / size).ln_1p() + x * (size / mean).ln_1p();
                log_gamma_ratio(*size, x) - log_gamma(x + 1.0) - rest
            }
            TotalPrior::Weights(low, weights) => {
                let index = n.checked_sub(*low).and_then(|i| usize::try_from(i).ok());
                index.and_then(|i| weights.get(i)).copied().unwrap_or(f64::NEG_INFINITY)
            }
        };
        let multinomial = if prior_sum < x + 1.0 {
            log_gamma(prior_sum) - log_gamma_ratio(x + 1.0, prior_sum - 1.0)
        } else {
            log_gamma(x + 1.0) - log_gamma_ratio(prior_sum, x)
        };
        prior + multinomial + self.log_weight_of_terms(n)
    }

    /// What the releases say of a total beyond their cells.
    pub fn log_weight_of_terms(&self, n: u64) -> f64 {
        self.terms.iter().map(|term| term.log_at(n as f64)).sum()
    }
}

impl TotalTerm {
    fn log_at(&self, n: f64) -> f64 {
        match *self {
            Self::Shares { scale, prior } => log_gamma(scale * n + prior),
            Self::Urn { scale, prior, size } => {
                log_gamma(size as f64 + 1.0) - log_gamma_ratio(scale * n + prior, size as f64)
            }
            Self::Constant(value) => value,
            Self::Noisy(factor) => factor.log_at(n),
        }
    }
}

/// ln P(the sum of `dimension` independent draws of integer Laplace noise is zero): the normaliser of zero-sum noise is the
/// product of the single ones over this.
///
/// A draw is the difference of two geometric variables, so the sum is that of two negative binomial ones of size d.
pub fn log_zero_sum_probability(scale: f64, dimension: usize) -> f64 {
    let d = dimension as f64;
    let log_p = -1.0 / scale;
    // (1 - p)^d binom(k + d - 1, k) p^k, squared and summed; terms rise to a mode and fall.
    let log_front = d * (-log_p.exp_m1()).ln();
    let log_mass = |k: f64| log_front + log_gamma_ratio(d, k) - log_gamma(k + 1.0) + k * log_p;
    let (mean, spread) = {
        let p = log_p.exp();
        let q = -log_p.exp_m1();
        (d * p / q, (d * p).sqrt() / q)
    };
    let low = (mean - 20.0 * spread - 50.0).max(0.0).floor();
    let high = (mean + 20.0 * spread + 50.0 * scale.max(1.0)).ceil();
    // A spread beyond a thousand is summed in strides: the sum of a smooth function of that width is its integral.
    let stride = (spread / 1000.0).max(1.0).floor();
    let steps = ((high - low) / stride) as usize;
    let sum: f64 = (0..=steps).map(|i| (2.0 * log_mass(low + i as f64 * stride)).exp()).sum();
    (sum * stride).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priors_sum_to_one() {
        let total = |prior| Total::new(prior, vec![]).unwrap();
        let laws = [
            total(TotalPrior::Known(7)),
            total(TotalPrior::Between(3, 12)),
            total(TotalPrior::NegativeBinomial { mean: 9.0, size: 2.5 }),
            total(TotalPrior::Weights(2, vec![0.25_f64.ln(), 0.75_f64.ln()])),
        ];
        for law in laws {
            // With A = 1 the multinomial part is n! / Gamma(n + 1) = 1.
            let sum: f64 = (0..400).map(|n| law.log_weight(n, 1.0).exp()).sum();
            assert!((sum - 1.0).abs() < 1e-13, "{law:?}: {sum}");
        }
    }

    #[test]
    fn wrong_priors_are_refused() {
        for prior in [
            TotalPrior::Between(5, 4),
            TotalPrior::Known(u64::MAX),
            TotalPrior::NegativeBinomial { mean: 0.0, size: 1.0 },
            TotalPrior::Weights(0, vec![f64::NAN]),
            TotalPrior::Weights(0, vec![]),
        ] {
            assert!(Total::new(prior, vec![]).is_err());
        }
    }

    #[test]
    fn zero_sum_probabilities_agree_with_convolution() {
        for (scale, d) in [(0.3, 2), (1.0, 3), (2.5, 5), (8.0, 4)] {
            let p: f64 = (-1.0_f64 / scale).exp();
            let single: Vec<f64> = (-400_i32..=400).map(|z| (1.0 - p) / (1.0 + p) * p.powi(z.abs())).collect();
            let mut sum = vec![0.0; 801];
            sum[400] = 1.0;
            for _ in 0..d {
                let fold =
                    |s: usize| (0..801).filter_map(|i| Some(single[i] * sum.get((s + 400).checked_sub(i)?)?)).sum();
                sum = (0..801).map(fold).collect();
            }
            let found = log_zero_sum_probability(scale, d);
            assert!((found - sum[400].ln()).abs() < 1e-10, "{scale} {d}: {found}");
        }
        assert!(log_zero_sum_probability(1e6, 1000).is_finite());
    }
}
