//! The family of pairs that a Gaussian book holds: two normal laws, and a chance to tell everything.
//!
//! D_(M,S) is N(sqrt M, 1) against N(0, 1), after which the data set is told with probability 1 - e^-S. Its profile is
//! 1 - e^-S (1 - G_M), and D_(M,S) x D_(m,s) = D_(M+m,S+s). It is symmetric: exchanging both laws changes nothing.

use super::normal::{density, tail};
use crate::rounding::{exp_m1_down, product_up, sum_up};

/// Relative error of a tail, and of sums of some thousand of them: [`super::normal`] is right to a few units, exp to
/// less than one unit and the rounding of its argument, at most 1e3, to 1e-13.
pub(super) const ROUNDING: f64 = 3e-13;

/// G_M(eps) for M > 0, and the tail that its rounding error is relative to.
pub(super) fn profile(square: f64, epsilon: f64) -> (f64, f64) {
    let mu = square.sqrt();
    let t = epsilon / mu - 0.5 * mu;
    let phi = density(t);
    let upper = tail(t, phi);
    (upper - other_tail(t, mu, epsilon, phi), upper)
}

/// exp(eps) Q(t + mu), where exp(eps) phi(t + mu) = phi(t).
pub(super) fn other_tail(t: f64, mu: f64, epsilon: f64, phi: f64) -> f64 {
    if t + mu >= 0.0 {
        phi * super::normal::mills(t + mu)
    } else {
        let scale = epsilon.exp();
        scale - phi * super::normal::mills(-(t + mu))
    }
}

/// An upper bound of the profile of D_(M,S) composed with a pair whose profile is at most `value`.
pub(super) fn leaked_up(value: f64, leak: f64) -> f64 {
    // 1 - (1 - v) e^-s = v + (1 - v)(1 - e^-s)
    let value = value.clamp(0.0, 1.0);
    sum_up(value, product_up(sum_up(1.0, -value), -exp_m1_down(-leak)).max(0.0)).min(1.0)
}

/// An upper bound of the profile of D_(M,S).
pub(super) fn profile_up(square: f64, leak: f64, epsilon: f64) -> f64 {
    if square <= 0.0 {
        return leaked_up(0.0, leak);
    }
    let (value, scale) = profile(square, epsilon);
    leaked_up(value + ROUNDING * scale, leak)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{GaussianPair, Profile};

    #[test]
    fn the_profile_is_that_of_the_accounting() {
        for mu in [0.01, 0.1, 0.7, 3.0, 12.0] {
            let pair = GaussianPair::new(mu).unwrap();
            for eps in [0.0, 0.05, 0.3, 1.0, 4.0, 20.0] {
                let upper = profile_up(mu * mu, 0.0, eps);
                let (low, high) = (pair.delta_lower(eps), pair.delta_upper(eps));
                let scale = profile(mu * mu, eps).1;
                assert!(upper >= low && upper <= high + 3.0 * ROUNDING * scale, "{mu} {eps}: {upper:e} {low:e}");
            }
        }
    }

    #[test]
    fn a_leak_adds_what_is_not_told_yet() {
        let p: f64 = 1e-3;
        let upper = leaked_up(0.25, -(-p).ln_1p());
        assert!(upper >= 0.25 + 0.75 * p && upper < 0.25 + 0.75 * p + 1e-15);
        assert_eq!((leaked_up(0.25, 0.0), leaked_up(0.0, f64::INFINITY)), (0.25, 1.0));
    }
}
