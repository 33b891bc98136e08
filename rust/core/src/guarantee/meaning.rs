//! What a guarantee means for one person, in odds and beliefs.

use super::Guarantee;
use crate::rounding::{exp_up, ln_1p_down, product_down, product_up, quotient_down, quotient_up, sum_down, sum_up};

/// Losses beyond have no factor that a double holds.
const LARGEST_LOSS: f64 = 700.0;

/// Bounds for an attacker who knows everything but one record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Meaning {
    /// The guarantee's own epsilon at delta.
    pub epsilon: f64,
    /// The odds of what is true against anything else grow by at most this, except with probability `exception`.
    pub factor: f64,
    /// delta, or twice that where no factor holds with delta itself; zero for delta zero.
    pub exception: f64,
    /// The chance of telling two equally likely records apart.
    pub guess: f64,
}

/// Parts of delta that may go to the loss itself; the rest pays for the slope beyond it.
fn fractions() -> impl Iterator<Item = f64> {
    let small = (0..60).map(|i| 1e-4 * 5000_f64.powf(f64::from(i) / 59.0));
    small.chain((1..60).map(|i| 0.5 + 0.499 * f64::from(i) / 59.0))
}

impl Guarantee {
    /// The bounds at delta.
    ///
    /// The factor: let P and Q be the laws of a release for two neighbours, and S_t the outputs with P > e^t Q, those that
    /// move the odds by more than e^t. For every s < t, P(S_t) - e^s Q(S_t) <= delta(s) while Q(S_t) <= e^-t P(S_t), so
    ///
    ///   P(S_t) <= delta(s) / (1 - e^(s-t)).
    ///
    /// This is delta itself when delta(s) = f delta and t = s - ln(1 - f). The best f is taken. Mixtures of neighbours obey
    /// the same bound, since the divergence is convex: "anything else" may be many records.
    ///
    /// The guess: two equally likely laws are told apart with probability (1 + delta(0))/2 at most.
    pub fn meaning(&self, delta: f64) -> Meaning {
        let epsilon = self.epsilon(delta);
        let (mut loss, mut exception) = if delta == 0.0 { (epsilon, 0.0) } else { (self.loss(delta), delta) };
        if 0.0 < delta && delta < 0.5 && !loss.is_finite() {
            (loss, exception) = (self.loss(2.0 * delta), 2.0 * delta);
        }
        let factor = if loss < LARGEST_LOSS { exp_up(loss) } else { f64::INFINITY };
        Meaning { epsilon, factor, exception, guess: (0.5 * sum_up(1.0, self.advantage())).min(1.0) }
    }

    /// What the logarithm of the odds exceeds with a probability of at most `exception`.
    fn loss(&self, exception: f64) -> f64 {
        let bound = |f: f64| sum_up(self.epsilon(product_down(exception, f)), -ln_1p_down(-f));
        fractions().map(bound).fold(f64::INFINITY, f64::min)
    }
}

/// The largest belief after odds that were `before` to one minus that have grown by this factor, rounded up.
pub fn belief(before: f64, factor: f64) -> f64 {
    if !factor.is_finite() {
        return 1.0;
    }
    // b F/(1 - b + b F) = 1/(1 + (1 - b)/(b F)).
    let against = quotient_down(sum_down(1.0, -before), product_up(before, factor));
    quotient_up(1.0, sum_down(1.0, against)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::Adjacency;
    use super::*;

    #[test]
    fn odds_of_a_pure_guarantee_grow_by_the_exponential_of_epsilon() {
        let meaning = Guarantee::budget(Adjacency::Replace, 1.0, 0.0).unwrap().meaning(0.0);
        let e = std::f64::consts::E;
        assert!(meaning.factor >= e && meaning.factor < e * (1.0 + 1e-14) && meaning.exception == 0.0);
        assert!(meaning.guess >= e / (1.0 + e) && meaning.guess < e / (1.0 + e) * (1.0 + 1e-10));
    }

    #[test]
    fn beliefs_follow_bayes_and_stay_probabilities() {
        for (before, factor, exact) in [(0.5, 3.0, 0.75), (0.25, 1.0, 0.25), (0.0, 5.0, 0.0), (1.0, 5.0, 1.0)] {
            let after = belief(before, factor);
            assert!(after >= exact && after <= exact + 1e-15, "{before} {factor}: {after}");
        }
        assert_eq!((belief(0.1, f64::INFINITY), belief(0.0, f64::INFINITY)), (1.0, 1.0));
    }

    #[test]
    fn odds_of_a_normal_law_grow_by_more_than_the_factor_hardly_ever() {
        for (mu, delta) in [(0.5_f64, 1e-6), (1.0, 1e-3), (2.0, 1e-9), (0.1, 0.01)] {
            let told = Guarantee::gaussian(Adjacency::Replace, 1.0, mu).unwrap().meaning(delta);
            assert_eq!(told.exception, delta);
            // The loss is normal with mean mu^2/2 and deviation mu.
            let exceeded = |loss: f64| 0.5 * libm::erfc((loss - 0.5 * mu * mu) / mu / std::f64::consts::SQRT_2);
            let loss = told.factor.ln();
            assert!(exceeded(loss) <= delta && exceeded(0.75 * loss) > delta, "{mu} {delta}: {loss}");
            // The best part of delta for the loss itself, from the curve alone.
            let curve = Guarantee::gaussian(Adjacency::Replace, 1.0, mu).unwrap();
            let best = (1..1000)
                .map(|k| f64::from(k) / 1000.0)
                .map(|f| curve.epsilon(f * delta) - (1.0 - f).ln())
                .fold(f64::INFINITY, f64::min);
            assert!((loss - best).abs() < 1e-3 * best, "{mu} {delta}: {loss} {best}");
        }
    }

    #[test]
    fn what_may_tell_everything_has_a_factor_at_twice_that_chance() {
        let told = Guarantee::budget(Adjacency::Replace, 1.0, 1e-6).unwrap().meaning(1e-6);
        assert_eq!(told.exception, 2e-6);
        // Half of it goes to what tells everything, the other half doubles the factor.
        let exact = 2.0 * std::f64::consts::E;
        assert!(told.factor >= exact * (1.0 - 1e-9) && told.factor < 1.03 * exact, "{}", told.factor);
        for (delta, exception) in [(0.49, 0.98), (0.5, 0.5), (0.7, 0.7)] {
            let told = Guarantee::budget(Adjacency::Replace, 1.0, delta).unwrap().meaning(delta);
            assert_eq!((told.exception, told.factor.is_finite()), (exception, exception > delta));
        }
        let none = Guarantee::budget(Adjacency::Replace, 1.0, 1e-6).unwrap().meaning(0.0);
        assert_eq!((none.exception, none.factor), (0.0, f64::INFINITY));
        assert_eq!(Guarantee::budget(Adjacency::Replace, 800.0, 0.0).unwrap().meaning(0.0).factor, f64::INFINITY);
        assert!(Guarantee::budget(Adjacency::Replace, 690.0, 0.0).unwrap().meaning(0.0).factor.is_finite());
    }
}
