//! A release: one candidate, drawn exactly, by enumeration where that is quick and by rejection elsewhere.

use super::{Enumeration, Family};
use crate::random::Bits;
use crate::sampling::Selection;
use crate::{Error, Result};

/// The mechanism at one data set, ready to draw.
///
/// The logarithm of every probability is within `rounding_of_log_probability` of the ideal law's.
pub struct Release {
    family: Family,
    route: Route,
}

enum Route {
    Table(Selection),
}

impl Release {
    /// The mechanism with the given exponent, the factor of -H, at the counts x.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an exponent that is negative or not finite; [`Error::Numerical`] and
    /// [`Error::NotAffordable`] where no sampler can work.
    pub fn new(family: &Family, x: &[u64], exponent: f64) -> Result<Self> {
        if !(exponent >= 0.0 && exponent.is_finite()) {
            return Err(Error::parameter("exponent", "be finite and not negative", exponent));
        }
        let mut log_weights = Vec::new();
        Enumeration::new(family)?.distances_into(x, &mut log_weights);
        log_weights.iter_mut().for_each(|distance| *distance *= -exponent);
        Ok(Self { family: family.clone(), route: Route::Table(Selection::new(&log_weights)?) })
    }

    /// The counts of one candidate.
    ///
    /// # Errors
    /// [`Error::Numerical`] when the sampler gives up.
    pub fn sample<B: Bits>(&self, bits: &mut B) -> Result<Vec<u64>> {
        match &self.route {
            Route::Table(selection) => self.family.lattice().unrank(selection.sample(bits) as u128),
        }
    }

    /// The chance that a proposal is accepted; 1 for enumeration. It depends on the data.
    pub fn acceptance_rate(&self) -> f64 {
        match &self.route {
            Route::Table(_) => 1.0,
        }
    }
}
