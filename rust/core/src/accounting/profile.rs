//! The privacy profile of one ordered pair of output distributions.

use super::{concentrated, inverse};
use crate::{Error, Result};

/// The profile delta(eps) = sup over events E of P(E) - exp(eps) Q(E) of an ordered pair (P, Q), for every real eps.
///
/// It is a convex, non-increasing function of exp(eps) that lies between max(0, 1 - exp(eps)) and 1. A mechanism
/// whose neighbours are not exchangeable has one profile for each direction.
pub trait Profile: Send + Sync {
    /// An upper bound of delta(epsilon) that holds in floating point.
    fn delta_upper(&self, epsilon: f64) -> f64;

    /// A lower bound of delta(epsilon) that holds in floating point.
    fn delta_lower(&self, epsilon: f64) -> f64;

    /// An epsilon >= 0 with `delta_upper(epsilon) <= delta`, next to the smallest one; infinite if there is none.
    fn epsilon_upper(&self, delta: f64) -> f64 {
        inverse::epsilon_upper(&|epsilon| self.delta_upper(epsilon), delta)
    }

    /// A value that the smallest epsilon for `delta` is not below.
    fn epsilon_lower(&self, delta: f64) -> f64 {
        inverse::epsilon_lower(&|epsilon| self.delta_lower(epsilon), delta)
    }

    /// Both bounds of the smallest epsilon for `delta`, at most `tolerance` apart.
    ///
    /// # Errors
    /// [`Error::Numerical`] if the profile is not known that well; [`Error::InvalidParameter`] for a tolerance that is
    /// not positive.
    fn epsilon_within(&self, delta: f64, tolerance: f64) -> Result<(f64, f64)> {
        if !(tolerance > 0.0) {
            return Err(Error::parameter("tolerance", "be positive", tolerance));
        }
        let (lower, upper) = (self.epsilon_lower(delta), self.epsilon_upper(delta));
        // Infinite on both sides is an answer too.
        if upper - lower <= tolerance || (lower.is_infinite() && upper.is_infinite()) {
            Ok((lower, upper))
        } else {
            Err(Error::numerical("epsilon", format!("the bounds stay more than the tolerance of {tolerance} apart")))
        }
    }

    /// An upper bound of the Renyi divergence D(P || Q) of this order > 1; infinite where none is known.
    fn renyi_upper(&self, _order: f64) -> f64 {
        f64::INFINITY
    }

    /// An upper bound of the largest D(P || Q)/order over orders in (1, omega): the rho of (rho, omega)-tCDP.
    fn tcdp_upper(&self, omega: f64) -> f64 {
        concentrated::least_rho(&|order| self.renyi_upper(order), omega)
    }

    /// Losses at which the profile bends, where it does and they are few: a grid that holds them loses nothing there.
    fn kinks(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Epsilon and delta if this is the profile of that budget, randomised response that sometimes tells the truth: a pair
    /// whose outcomes can be counted.
    fn response(&self) -> Option<(f64, f64)> {
        None
    }

    /// The squared distance mu^2 of N(mu, 1) and N(0, 1) if this is their profile, rounded up; none for any other pair.
    fn gaussian_square(&self) -> Option<f64> {
        None
    }

    /// Whether this is the profile of a pair of distributions, so that it may be composed as such.
    ///
    /// Bounds that hold for each epsilon on its own, such as those from Renyi divergences, are not.
    fn is_pair(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known to one part in a thousand: 1/(1 + eps).
    struct Rough;

    impl Profile for Rough {
        fn delta_upper(&self, epsilon: f64) -> f64 {
            1.001 / (1.0 + epsilon)
        }

        fn delta_lower(&self, epsilon: f64) -> f64 {
            0.999 / (1.0 + epsilon)
        }
    }

    /// Nothing is known of it, from either side.
    struct Open;

    impl Profile for Open {
        fn delta_upper(&self, _epsilon: f64) -> f64 {
            1.0
        }

        fn delta_lower(&self, _epsilon: f64) -> f64 {
            1.0
        }
    }

    #[test]
    fn bounds_of_epsilon_are_as_far_apart_as_those_of_delta() {
        // 1/(1 + eps) = 0.1 at 9; the bounds are at 8.99 and 9.01.
        let (lower, upper) = (Rough.epsilon_lower(0.1), Rough.epsilon_upper(0.1));
        assert!((lower - 8.99).abs() < 1e-9 && (upper - 9.01).abs() < 1e-9, "{lower} {upper}");
        assert_eq!(Rough.epsilon_within(0.1, 0.03).unwrap(), (lower, upper));
        assert!(Rough.epsilon_within(0.1, 0.019).is_err() && Rough.epsilon_within(0.1, 0.0).is_err());
        assert!(Rough.epsilon_within(0.1, f64::NAN).is_err());
        assert_eq!(Open.epsilon_within(0.5, 1.0).unwrap(), (f64::INFINITY, f64::INFINITY));
        // Above at both ends by nothing, an answer; infinite at one end alone, none.
        struct Half;
        impl Profile for Half {
            fn delta_upper(&self, _epsilon: f64) -> f64 {
                1.0
            }

            fn delta_lower(&self, _epsilon: f64) -> f64 {
                0.0
            }
        }
        assert!(Half.epsilon_within(0.5, 1.0).is_err());
    }

    #[test]
    fn of_a_profile_that_tells_no_more_nothing_more_is_taken_to_be_known() {
        assert!(Rough.renyi_upper(2.0).is_infinite() && Rough.tcdp_upper(2.0).is_infinite());
        assert_eq!(
            (Rough.kinks(), Rough.response(), Rough.gaussian_square(), Rough.is_pair()),
            (vec![], None, None, true)
        );
    }
}
