//! The privacy profile of one ordered pair of output distributions.

/// The profile delta(eps) = sup over events E of P(E) - exp(eps) Q(E) of an ordered pair (P, Q), for every real eps.
///
/// It is a convex, non-increasing function of exp(eps) that lies between max(0, 1 - exp(eps)) and 1. A mechanism
/// whose neighbours are not exchangeable has one profile for each direction.
pub trait Profile: Send + Sync {
    /// An upper bound of delta(epsilon) that holds in floating point.
    fn delta_upper(&self, epsilon: f64) -> f64;

    /// A lower bound of delta(epsilon) that holds in floating point.
    fn delta_lower(&self, epsilon: f64) -> f64;
}
