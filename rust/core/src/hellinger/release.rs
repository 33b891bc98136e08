//! A release: one candidate, drawn exactly, by enumeration where that is quick and by rejection elsewhere.

use super::sampler::HellingerSampler;
use super::{Enumeration, Family};
use crate::random::Bits;
use crate::sampling::Selection;
use crate::{Error, Result};

/// Candidates up to which a release enumerates: a millisecond.
const ENUMERATE_UP_TO: u128 = 1 << 15;
/// Candidates up to which it enumerates where few proposals would be accepted: a tenth of a second.
const ENUMERATE_RATHER_UP_TO: u128 = 1 << 22;
/// Acceptance below which that is the better route.
const LOW_ACCEPTANCE: f64 = 1e-3;

/// The mechanism at one data set, ready to draw.
///
/// The logarithm of every probability is within [`Family::rounding_at`] of the ideal law's. Which route is taken,
/// and so the time of a release, depends on the data.
pub struct Release {
    family: Family,
    route: Route,
}

enum Route {
    Table(Selection),
    Rejection(Box<HellingerSampler>),
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
        let at_most = |limit| family.lattice().count().is_some_and(|count| count <= limit);
        let route = if at_most(ENUMERATE_UP_TO) {
            table(family, x, exponent)?
        } else {
            match HellingerSampler::new(x, family.prior(), exponent) {
                Ok(sampler) if sampler.acceptance_rate() >= LOW_ACCEPTANCE || !at_most(ENUMERATE_RATHER_UP_TO) => {
                    Route::Rejection(Box::new(sampler))
                }
                Err(error) if !at_most(ENUMERATE_RATHER_UP_TO) => return Err(error),
                _ => table(family, x, exponent)?,
            }
        };
        Ok(Self { family: family.clone(), route })
    }

    /// The counts of one candidate.
    ///
    /// # Errors
    /// [`Error::Numerical`] when the sampler gives up.
    pub fn sample<B: Bits>(&self, bits: &mut B) -> Result<Vec<u64>> {
        match &self.route {
            Route::Table(selection) => self.family.lattice().unrank(selection.sample(bits) as u128),
            Route::Rejection(sampler) => sampler.sample(bits),
        }
    }

    /// The part of the proposals that is accepted, estimated before the first draw; 1 for enumeration. It depends on
    /// the data.
    pub fn acceptance_rate(&self) -> f64 {
        match &self.route {
            Route::Table(_) => 1.0,
            Route::Rejection(sampler) => sampler.acceptance_rate(),
        }
    }
}

fn table(family: &Family, x: &[u64], exponent: f64) -> Result<Route> {
    let mut log_weights = Enumeration::new(family)?.distances(x);
    log_weights.iter_mut().for_each(|distance| *distance *= -exponent);
    Ok(Route::Table(Selection::new(&log_weights)?))
}
