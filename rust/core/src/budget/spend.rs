//! What one debit is about: a curve in each direction, the error of its sampler, and all that is found out about them.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::law::{self, Law};
use crate::accounting::Profile;
use crate::once::kept;
use crate::rounding::ln_1p_down;
use crate::{Error, Result};

/// Prices and laws that are remembered.
const REMEMBERED: usize = 4096;

/// The key of a remembered price: the bits of five numbers.
pub(super) type PriceKey = [u64; 5];

/// One spend: the profiles of the ideal mechanism, and how far the sampler may be from it in total variation.
///
/// Make it once for equal spends: what is found out about the curve is kept.
pub struct Spend {
    profiles: Vec<Arc<dyn Profile>>,
    error: f64,
    infinite: f64,
    gaussian: Option<f64>,
    scale: OnceLock<f64>,
    largest: OnceLock<f64>,
    laws: Mutex<Vec<(u64, Arc<Law>)>>,
    prices: Mutex<Vec<(PriceKey, Option<f64>)>>,
}

impl Spend {
    /// The spend of a curve, given by one profile where neighbours may be exchanged or else by two, one for each direction.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for another number of profiles, or an error outside [0, 1).
    pub fn new(profiles: Vec<Arc<dyn Profile>>, sampling_error: f64) -> Result<Self> {
        if !(1..=2).contains(&profiles.len()) {
            return Err(Error::parameter("profiles", "be one, or one for each direction", profiles.len()));
        }
        if !(0.0..1.0).contains(&sampling_error) {
            return Err(Error::parameter("sampling_error", "be in [0, 1)", sampling_error));
        }
        let infinite = profiles.iter().map(|profile| profile.delta_upper(f64::INFINITY)).fold(0.0, f64::max);
        let squares: Option<Vec<f64>> = profiles.iter().map(|profile| profile.gaussian_square()).collect();
        let gaussian = squares.map(|squares| squares.into_iter().fold(0.0, f64::max));
        Ok(Self {
            profiles,
            error: sampling_error,
            infinite,
            gaussian,
            scale: OnceLock::new(),
            largest: OnceLock::new(),
            laws: Mutex::default(),
            prices: Mutex::default(),
        })
    }

    /// How many directions are told apart.
    pub fn directions(&self) -> usize {
        self.profiles.len()
    }

    pub(super) fn error(&self) -> f64 {
        self.error
    }

    /// -ln(1 - p), p the mass at infinity: the leak that the curve is at least; rounded up.
    pub(super) fn leak(&self) -> f64 {
        -ln_1p_down(-self.infinite)
    }

    /// The square of the mu of the Gaussian pair that this is.
    pub(super) fn gaussian(&self) -> Option<f64> {
        self.gaussian
    }

    pub(super) fn borrowed(&self) -> Vec<&dyn Profile> {
        self.profiles.iter().map(|profile| &**profile).collect()
    }

    /// An upper bound of delta at this epsilon, in both directions.
    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        // What is no number bounds nothing.
        self.profiles
            .iter()
            .map(|p| p.delta_upper(epsilon))
            .map(|d| if d.is_nan() { 1.0 } else { d })
            .fold(0.0, f64::max)
    }

    /// The least epsilon for which delta is at most this, in both directions.
    pub(super) fn epsilon(&self, delta: f64) -> f64 {
        self.profiles
            .iter()
            .map(|p| p.epsilon_upper(delta))
            .map(|e| if e.is_nan() { f64::INFINITY } else { e })
            .fold(0.0, f64::max)
    }

    /// The largest finite loss, if it is at most `most`: the curve is then dominated by randomised response at that loss,
    /// behind the leak.
    pub(super) fn largest_loss(&self, most: f64) -> Option<f64> {
        if self.largest.get().is_none() {
            // Looked for where it matters only: a search for the end of a long tail takes its time. A little further right, for
            // a composition does not say what it knows at its last loss.
            if !(self.delta(most * (1.0 + 1e-9)) <= self.infinite) {
                return None;
            }
            let loss = self.epsilon(self.infinite);
            let loss = if self.delta(most) <= self.infinite { loss.min(most) } else { loss };
            self.largest.get_or_init(|| loss);
        }
        self.largest.get().copied().filter(|loss| *loss <= most)
    }

    pub(super) fn renyi(&self, direction: usize, order: f64) -> f64 {
        let value = self.profiles[direction].renyi_upper(order);
        if value.is_nan() { f64::INFINITY } else { value.max(0.0) }
    }

    /// See [`law::scale`].
    pub(super) fn scale(&self) -> f64 {
        *kept(&self.scale, || law::scale(&self.borrowed()))
    }

    /// The discrete law that puts at most about `tail` at infinity.
    pub(super) fn law(&self, tail: f64) -> Result<Arc<Law>> {
        // One law for each factor of 16.
        let level = (tail.log2() / 4.0).floor();
        let find = |laws: &[(u64, Arc<Law>)]| laws.iter().find(|law| law.0 == level.to_bits()).map(|law| law.1.clone());
        if let Some(known) = find(&self.laws.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(known);
        }
        let law = Arc::new(Law::new(&self.borrowed(), (4.0 * level).exp2())?);
        remember(&self.laws, (level.to_bits(), law.clone()));
        Ok(law)
    }

    /// A price that is found once for each key.
    pub(super) fn price(&self, key: PriceKey, find: impl FnOnce() -> Result<Option<f64>>) -> Result<Option<f64>> {
        let known =
            |prices: &[(PriceKey, Option<f64>)]| prices.iter().rev().find(|price| price.0 == key).map(|price| price.1);
        if let Some(known) = known(&self.prices.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(known);
        }
        // Not under the lock: it takes a while, and a question whether to stop may be asked meanwhile.
        let price = find()?;
        remember(&self.prices, (key, price));
        Ok(price)
    }
}

fn remember<T>(known: &Mutex<Vec<T>>, value: T) {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known.push(value);
}
