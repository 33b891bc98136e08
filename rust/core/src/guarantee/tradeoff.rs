//! What an attacker can do who guesses whether a record is in the data: the errors of every test, and its best odds.

use super::Guarantee;
use crate::accounting::golden_minimum;
use crate::rounding::{exp_up, product_down, product_up, sum_up};

impl Guarantee {
    /// A lower bound of the false negative rate of every test whose false positive rate is at most `fpr`.
    ///
    /// For an event E with Q(E) <= fpr, P(E) <= delta(eps) + e^eps fpr at every real eps, so the false negative rate is at
    /// least 1 - delta(eps) - e^eps fpr \[DRS22\]. Any eps gives a bound; the best is found by a search, since the expression
    /// is concave in e^eps. Either neighbour may be the null hypothesis: the smaller bound counts.
    pub fn tradeoff(&self, fpr: f64) -> f64 {
        if !(fpr >= 0.0) {
            return 0.0;
        }
        let directions = (0..self.reported.len()).map(|i| self.one_tradeoff(i, fpr));
        directions.fold(1.0, f64::min)
    }

    fn one_tradeoff(&self, direction: usize, fpr: f64) -> f64 {
        let profile = &self.reported[direction];
        let power = |epsilon: f64| sum_up(profile.delta_upper(epsilon), product_up(exp_up(epsilon), fpr));
        // No event is likelier than one; at minus infinity the bound is 1 - 1 = 0.
        let least_power = if fpr == 0.0 {
            profile.delta_upper(f64::INFINITY)
        } else {
            // Beyond -ln fpr the second term alone exceeds one.
            let high = (-fpr.ln()).max(0.0) + 1.0;
            let (_, coarse) = golden_minimum(power, -high - 40.0, high, 90);
            let (_, fine) = golden_minimum(power, -1.0, high.min(4.0), 60);
            coarse.min(fine)
        };
        (1.0 - least_power).next_down().clamp(0.0, (1.0 - fpr).max(0.0))
    }

    /// An upper bound of the advantage of every attacker: true positive rate minus false positive rate.
    pub fn advantage(&self) -> f64 {
        self.delta(0.0)
    }
}

/// An (epsilon, delta) that gives no attacker more than this advantage: delta(0) <= delta(e) + exp(e) - 1, and
/// exp(e) - 1 < 2 e for e < 1.
pub fn pair_within(advantage: f64) -> (f64, f64) {
    let power = |log: u64| f64::from_bits((1023 - log) << 52);
    (advantage * power(40), product_down(advantage, 1.0 - power(38)))
}

#[cfg(test)]
mod tests {
    use super::super::{Adjacency, Guarantee};

    #[test]
    fn randomised_response_has_two_straight_pieces() {
        let epsilon = 1.3_f64;
        let guarantee = Guarantee::budget(Adjacency::Replace, epsilon, 0.0).unwrap();
        for fpr in [0.0, 0.01, 0.1, 0.2, 0.3, 0.6, 0.9, 1.0] {
            let exact = (1.0 - epsilon.exp() * fpr).max((-epsilon).exp() * (1.0 - fpr)).max(0.0);
            let bound = guarantee.tradeoff(fpr);
            assert!(bound <= exact && bound >= exact - 1e-6, "{fpr}: {bound} {exact}");
        }
        let advantage = (epsilon.exp() - 1.0) / (epsilon.exp() + 1.0);
        assert!((guarantee.advantage() - advantage).abs() < 1e-10 && guarantee.advantage() >= advantage);
    }

    #[test]
    fn gaussian_noise_has_the_tradeoff_of_two_normal_laws() {
        let guarantee = Guarantee::gaussian(Adjacency::AddRemove, 1.0, 1.0).unwrap();
        // Phi(Phi^-1(1 - fpr) - 1) at fpr = 1 - Phi(z): Phi(z - 1).
        for (fpr, exact) in [(0.158_655_253_931_457_05, 0.5), (0.5, 0.158_655_253_931_457_05)] {
            let bound = guarantee.tradeoff(fpr);
            assert!(bound <= exact && bound >= exact - 1e-6, "{fpr}: {bound} {exact}");
        }
    }

    #[test]
    fn a_pair_within_an_advantage_gives_no_more_and_hardly_less() {
        for advantage in [1e-12_f64, 1e-3, 0.3, 0.999] {
            let (epsilon, delta) = super::pair_within(advantage);
            // Randomised response at the pair has delta + (1 - delta) tanh(epsilon/2), below delta + e^epsilon - 1.
            assert!(epsilon > 0.0 && delta + epsilon.exp_m1() <= advantage);
            assert!(delta >= advantage * (1.0 - 1e-11));
            assert!((epsilon / advantage).log2() == -40.0);
        }
    }
}
