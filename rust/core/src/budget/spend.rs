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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{BudgetPair, GaussianPair, LaplacePair};

    fn spend(profiles: Vec<Arc<dyn Profile>>) -> Spend {
        Spend::new(profiles, 0.0).unwrap()
    }

    fn gaussian(mu: f64) -> Arc<dyn Profile> {
        Arc::new(GaussianPair::new(mu).unwrap())
    }

    fn response(epsilon: f64, delta: f64) -> Arc<dyn Profile> {
        Arc::new(BudgetPair::new(epsilon, delta).unwrap())
    }

    #[test]
    fn of_two_directions_the_dearer_one_counts() {
        for profiles in [vec![gaussian(0.5), gaussian(1.0)], vec![gaussian(1.0), gaussian(0.5)]] {
            let both = spend(profiles);
            assert_eq!(both.delta(0.7), gaussian(1.0).delta_upper(0.7));
            assert_eq!(both.epsilon(1e-5), gaussian(1.0).epsilon_upper(1e-5));
            assert!((1.0..1.0 + 1e-15).contains(&both.gaussian().unwrap()));
            assert_eq!((both.directions(), both.borrowed().len()), (2, 2));
        }
        let both = spend(vec![gaussian(0.5), gaussian(1.0)]);
        assert_eq!(both.renyi(0, 3.0), gaussian(0.5).renyi_upper(3.0));
        assert_eq!(both.renyi(1, 3.0), gaussian(1.0).renyi_upper(3.0));
        assert!(spend(vec![gaussian(0.5), response(1.0, 0.0)]).gaussian().is_none());
    }

    #[test]
    fn the_leak_is_that_of_the_mass_at_infinity() {
        for delta in [1e-12, 1e-3, 0.25] {
            // -ln(1 - p) = p + p^2/2 + p^3/3 + ...
            let series: f64 = (1..200).rev().map(|n| f64::powi(delta, n) / f64::from(n)).sum();
            for profiles in [vec![response(1.0, delta), gaussian(0.1)], vec![response(1.0, 0.0), response(2.0, delta)]]
            {
                let leak = spend(profiles).leak();
                assert!(
                    leak >= series * (1.0 - 1e-16) && leak <= series * (1.0 + 1e-14),
                    "{delta}: {leak:e} {series:e}"
                );
            }
        }
        assert_eq!(spend(vec![gaussian(1.0)]).leak(), 0.0);
    }

    #[test]
    fn the_largest_loss_is_told_where_it_is_within_what_was_asked() {
        let pure: Arc<dyn Profile> = Arc::new(LaplacePair::new(1.5).unwrap());
        let asked = |most: f64| spend(vec![response(1.0, 1e-3), pure.clone()]).largest_loss(most);
        // Beyond a mass of 1e-3 at infinity in one direction, the other one has less than it from here on.
        let least = 1.5 + 2.0 * (-1e-3_f64).ln_1p();
        let found = asked(2.0).unwrap();
        assert!(found >= least * (1.0 - 1e-12) && found <= 1.5, "{found}");
        assert_eq!(asked(0.9), None);
        assert_eq!(spend(vec![gaussian(1.0)]).largest_loss(5.0), None);
        let kept = spend(vec![pure]);
        assert_eq!((kept.largest_loss(1.0), kept.largest_loss(1.5), kept.largest_loss(1.4)), (None, Some(1.5), None));
        // A little below the largest loss it is not told as if it were that.
        for below in [1e-10, 5e-10, 2e-9] {
            assert_eq!(spend(vec![Arc::new(LaplacePair::new(1.5).unwrap())]).largest_loss(1.5 * (1.0 - below)), None);
        }
    }

    #[test]
    fn a_price_is_looked_for_once_for_each_key() {
        let one = spend(vec![gaussian(1.0)]);
        let ask = |key: u64, price: f64| one.price([key, 0, 0, 0, 0], || Ok(Some(price))).unwrap();
        assert_eq!(
            (ask(1, 0.5), ask(2, 0.75), ask(1, 9.0), ask(2, 9.0)),
            (Some(0.5), Some(0.75), Some(0.5), Some(0.75))
        );
        assert!(one.price([3, 0, 0, 0, 0], || Err(Error::parameter("a", "b", "c"))).is_err());
        assert_eq!(ask(3, 1.0), Some(1.0));
        // Full, it starts again.
        let known = Mutex::new(vec![0; REMEMBERED]);
        remember(&known, 7);
        assert_eq!(*known.lock().unwrap(), [7]);
    }

    #[test]
    fn what_is_no_number_bounds_nothing() {
        struct Silent;
        impl Profile for Silent {
            fn delta_upper(&self, _epsilon: f64) -> f64 {
                f64::NAN
            }

            fn delta_lower(&self, _epsilon: f64) -> f64 {
                0.0
            }

            fn epsilon_upper(&self, _delta: f64) -> f64 {
                f64::NAN
            }

            fn renyi_upper(&self, _order: f64) -> f64 {
                f64::NAN
            }
        }
        let silent = spend(vec![Arc::new(Silent), gaussian(1.0)]);
        assert_eq!((silent.delta(3.0), silent.epsilon(0.1), silent.renyi(0, 2.0)), (1.0, f64::INFINITY, f64::INFINITY));
        assert!(Spend::new(vec![], 0.0).is_err() && Spend::new(vec![gaussian(1.0); 3], 0.0).is_err());
        for error in [-1e-9, 1.0, f64::NAN] {
            assert!(Spend::new(vec![gaussian(1.0)], error).is_err());
        }
        assert_eq!(Spend::new(vec![gaussian(1.0)], 1e-9).unwrap().error(), 1e-9);
    }

    #[test]
    fn each_tail_has_a_law_of_its_own_that_is_made_once() {
        let one = spend(vec![gaussian(1.0)]);
        let tails = [1e-3, 1e-9, 1e-14];
        let laws = tails.map(|tail| one.law(tail).unwrap());
        for (tail, law) in tails.into_iter().zip(&laws) {
            assert!(Arc::ptr_eq(law, &one.law(tail).unwrap()));
            let (found, fresh) = (one.law(tail).unwrap(), spend(vec![gaussian(1.0)]).law(tail).unwrap());
            assert_eq!(format!("{found:?}"), format!("{fresh:?}"), "{tail}");
        }
        assert!(!Arc::ptr_eq(&laws[0], &laws[1]) && !Arc::ptr_eq(&laws[1], &laws[2]));
    }
}
