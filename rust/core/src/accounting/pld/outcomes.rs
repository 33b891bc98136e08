//! Compositions with few outcomes beside at most one other law, added up outcome by outcome.
//!
//! An (epsilon, delta) guarantee is a pair with the losses +-epsilon, and delta at infinity \[KOV15\]; n of them have n + 1
//! finite losses. With masses p_i at the losses l_i of all such parts together, and the profile D of what else there is,
//!
//!   delta(eps) = p_infinity + sum over i of p_i D(eps - l_i),        D(eps) = (1 - exp(eps))^+ if there is nothing else.
//!
//! All terms are positive, so every rounding goes the same way; losses have twice the digits of a double, so that delta
//! is sharp next to the largest loss too. Gaussians among the parts are one, whose squared distance is the sum of theirs.

use std::sync::Arc;

use crate::accounting::{GaussianPair, Profile, inverse};
use crate::double_double::DoubleDouble;
use crate::fft::UNIT;
use crate::rounding::{
    any_of_down, any_of_up, exp_down, exp_m1_down, exp_m1_up, exp_up, multiple_up, power_down, power_up, product_down,
    product_up, quotient_down, quotient_up, sqrt_down, sqrt_up, sum_down, sum_up, total_up,
};

/// Outcomes that are told apart where there is no other law.
const MOST: usize = 1024;
/// The same beside another law, whose profile is asked once for each.
const MOST_BESIDE: usize = 64;
/// Equal parts whose likelier answers are counted.
const MOST_EQUAL: u64 = 128;
/// Relative error of a sum of losses, and of its difference to an epsilon: an operation errs by less than 2^-102 of what
/// goes in, and there are at most ten parts of two outcomes or more.
const LOSS_ERROR: f64 = f64::from_bits((1023 - 98) << 52);
/// What more it may be off by where numbers underflow.
const LOSS_UNDERFLOW: f64 = 1e-322;

/// A loss, and its mass under P from above and from below.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    loss: DoubleDouble,
    up: f64,
    down: f64,
}

/// A law beside the outcomes: a profile for bounds from above, and one for bounds from below.
struct Beside {
    upper: Arc<dyn Profile>,
    lower: Arc<dyn Profile>,
}

/// A composition that needs no grid.
pub(super) struct Outcomes {
    /// The largest loss first.
    outcomes: Vec<Outcome>,
    infinite: (f64, f64),
    beside: Option<Beside>,
    /// The sum of all losses, not below it.
    size: f64,
}

impl Outcomes {
    /// These parts, if their outcomes are few and at most one of them is of another kind.
    pub(super) fn of(parts: &[(Arc<dyn Profile>, u64)]) -> Option<Self> {
        let (mut responses, mut gaussians, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (profile, times) in parts {
            match (profile.response(), profile.gaussian_square()) {
                (Some((epsilon, delta)), _) => responses.push((epsilon, delta, *times)),
                (None, Some(square)) => gaussians.push((profile, *times, square)),
                (None, None) => others.push((profile, *times)),
            }
        }
        let beside = match (&gaussians[..], &others[..]) {
            ([], []) => None,
            ([(only, 1, _)], []) => Some(Beside { upper: Arc::clone(only), lower: Arc::clone(only) }),
            (_, []) => Some(one_gaussian(gaussians.iter().map(|&(_, times, square)| (times, square)))?),
            ([], [(only, 1)]) if only.is_pair() => Some(Beside { upper: Arc::clone(only), lower: Arc::clone(only) }),
            _ => return None,
        };
        let most = if beside.is_some() { MOST_BESIDE } else { MOST };
        let distinct =
            |&(epsilon, _, times): &(f64, f64, u64)| if epsilon == 0.0 { 1 } else { times.saturating_add(1) };
        let count = responses.iter().map(distinct).fold(1, u64::saturating_mul);
        if count > most as u64 || responses.iter().any(|part| part.0 > 0.0 && part.2 > MOST_EQUAL) {
            return None;
        }
        let size = total_up(responses.iter().map(|&(epsilon, _, times)| multiple_up(times, epsilon)));
        if !size.is_finite() {
            return None;
        }
        let mut outcomes = vec![Outcome { loss: DoubleDouble::ZERO, up: 1.0, down: 1.0 }];
        for &(epsilon, delta, times) in &responses {
            let law = answers(epsilon, delta, times);
            let product = |a: &Outcome, b: &Outcome| Outcome {
                loss: a.loss + b.loss,
                up: product_up(a.up, b.up),
                down: product_down(a.down, b.down),
            };
            outcomes = outcomes.iter().flat_map(|a| law.iter().map(move |b| product(a, b))).collect();
        }
        outcomes.sort_by(|a, b| (b.loss - a.loss).to_f64().total_cmp(&0.0));
        let chances = || responses.iter().map(|&(_, delta, times)| (delta, times));
        Some(Self { outcomes, infinite: (any_of_up(chances()), any_of_down(chances())), beside, size })
    }

    /// An upper bound of delta at any epsilon.
    pub(super) fn delta_upper(&self, epsilon: f64) -> f64 {
        if !epsilon.is_finite() {
            return if epsilon > 0.0 { self.beyond_upper() } else { 1.0 };
        }
        let error = self.loss_error(epsilon);
        let mut total = self.infinite.0;
        for outcome in &self.outcomes {
            let gap = sum_up((outcome.loss - epsilon.into()).above(), error);
            total = match &self.beside {
                Some(beside) => sum_up(total, product_up(outcome.up, beside.upper.delta_upper(-gap))),
                // Losses fall from here on.
                None if gap <= 0.0 => break,
                None => sum_up(total, product_up(outcome.up, -exp_m1_down(-gap))),
            };
        }
        total.min(1.0)
    }

    /// A lower bound of delta at any epsilon.
    pub(super) fn delta_lower(&self, epsilon: f64) -> f64 {
        if !epsilon.is_finite() {
            return if epsilon > 0.0 { self.infinite.1 } else { 0.0 };
        }
        let error = self.loss_error(epsilon);
        let mut total = self.infinite.1;
        for outcome in &self.outcomes {
            let gap = sum_down((outcome.loss - epsilon.into()).below(), -error);
            total = match &self.beside {
                Some(beside) => sum_down(total, product_down(outcome.down, beside.lower.delta_lower(-gap).max(0.0))),
                None if gap <= 0.0 => break,
                None => sum_down(total, product_down(outcome.down, -exp_m1_up(-gap))),
            };
        }
        total.clamp(0.0, 1.0)
    }

    /// An epsilon with at most this delta, next to the smallest one; infinite if there is none.
    pub(super) fn epsilon_upper(&self, delta: f64) -> f64 {
        inverse::epsilon_upper(&|epsilon| self.delta_upper(epsilon), delta)
    }

    /// A value that the smallest epsilon for delta is not below.
    pub(super) fn epsilon_lower(&self, delta: f64) -> f64 {
        inverse::epsilon_lower(&|epsilon| self.delta_lower(epsilon), delta)
    }

    fn beyond_upper(&self) -> f64 {
        match &self.beside {
            Some(beside) => any_of_up([(self.infinite.0, 1), (beside.upper.delta_upper(f64::INFINITY), 1)]),
            None => self.infinite.0,
        }
    }

    /// What the difference of a loss and epsilon may be off by.
    fn loss_error(&self, epsilon: f64) -> f64 {
        product_up(LOSS_ERROR, sum_up(self.size, epsilon.abs())).max(LOSS_UNDERFLOW)
    }
}

/// Gaussians together, by how often and at which squared distance each; none where that is out of range.
fn one_gaussian(parts: impl Iterator<Item = (u64, f64)>) -> Option<Beside> {
    let square = total_up(parts.map(|(times, square)| multiple_up(times, square)));
    // Of positive numbers, each rounded up at most four times on the way: the square, its count, their product, the sum.
    let below = product_down(square, 1.0 - 16.0 * UNIT);
    let pair = |mu: f64| GaussianPair::new(mu).ok().map(|pair| Arc::new(pair) as Arc<dyn Profile>);
    Some(Beside { upper: pair(sqrt_up(square))?, lower: pair(sqrt_down(below))? })
}

/// The finite losses of `times` randomised responses, by the number of likelier answers.
fn answers(epsilon: f64, delta: f64, times: u64) -> Vec<Outcome> {
    let finite = (power_up(sum_up(1.0, -delta), times), power_down(sum_down(1.0, -delta), times));
    if epsilon == 0.0 {
        return vec![Outcome { loss: DoubleDouble::ZERO, up: finite.0, down: finite.1 }];
    }
    // The likelier answer has the chance 1/(1 + e^-epsilon), the other one 1/(1 + e^epsilon).
    let chance_up = |x: f64| quotient_up(1.0, sum_down(1.0, exp_down(x)));
    let chance_down = |x: f64| quotient_down(1.0, sum_up(1.0, exp_up(x)));
    (0..=times)
        .map(|likelier| {
            let mass = |start: f64, chances: [f64; 2], times_: fn(f64, f64) -> f64, over: fn(f64, f64) -> f64| {
                binomial(times, likelier, start, chances, times_, over)
            };
            Outcome {
                loss: DoubleDouble::product(2.0 * likelier as f64 - times as f64, epsilon),
                up: mass(finite.0, [chance_up(-epsilon), chance_up(epsilon)], product_up, quotient_up).min(1.0),
                down: mass(finite.1, [chance_down(-epsilon), chance_down(epsilon)], product_down, quotient_down),
            }
        })
        .collect()
}

/// `start` times the chance of so many successes among `times`, every step rounded by the given product and quotient.
///
/// Factors above one come when the product has fallen below one: nothing overflows, and what underflows is not blown up.
fn binomial(
    times: u64,
    successes: u64,
    start: f64,
    [success, failure]: [f64; 2],
    product: fn(f64, f64) -> f64,
    quotient: fn(f64, f64) -> f64,
) -> f64 {
    let fewer = successes.min(times - successes);
    let ways = (0..fewer).map(|k| quotient((times - k) as f64, (k + 1) as f64));
    let chances = (0..times).map(|i| if i < successes { success } else { failure });
    let (mut value, mut chances) = (start, chances);
    for way in ways {
        while value >= 1.0 {
            match chances.next() {
                Some(chance) => value = product(value, chance),
                None => break,
            }
        }
        value = product(value, way);
    }
    chances.fold(value, product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{BudgetPair, LaplacePair};

    fn responses(parts: &[(f64, f64, u64)]) -> Vec<(Arc<dyn Profile>, u64)> {
        let pair = |e, d| Arc::new(BudgetPair::new(e, d).unwrap()) as Arc<dyn Profile>;
        parts.iter().map(|&(epsilon, delta, times)| (pair(epsilon, delta), times)).collect()
    }

    #[test]
    fn repeated_responses_are_the_optimal_composition() {
        // [KOV15, Theorem 3.3], which sums differences instead of outcomes.
        let (epsilon, delta, count) = (0.3_f64, 1e-4, 9_i32);
        let all = Outcomes::of(&responses(&[(epsilon, delta, 9)])).unwrap();
        let choose = |n: i32, k: i32| (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
        for i in 0..=4 {
            let level = f64::from(count - 2 * i) * epsilon;
            let sum: f64 = (0..i)
                .map(|l| {
                    let gain = (f64::from(count - l) * epsilon).exp() - (f64::from(count - 2 * i + l) * epsilon).exp();
                    choose(count, l) * gain
                })
                .sum();
            let exact = 1.0 - (1.0 - delta).powi(count) * (1.0 - sum / (1.0 + epsilon.exp()).powi(count));
            let (lower, upper) = (all.delta_lower(level), all.delta_upper(level));
            assert!(lower <= upper && upper <= lower * (1.0 + 1e-11), "{lower} {upper}");
            assert!((upper - exact).abs() < 1e-12 && (lower - exact).abs() < 1e-12, "{i}: {lower} {exact} {upper}");
        }
    }

    #[test]
    fn delta_next_to_the_largest_loss_is_what_one_outcome_leaves() {
        let parts = responses(&[(8.0, 0.0, 1), (2.0_f64.powi(-20), 0.0, 1)]);
        let all = Outcomes::of(&parts).unwrap();
        let largest = 8.0 + 2.0_f64.powi(-20);
        let gap = 2.0_f64.powi(-49);
        let mass = 1.0 / (1.0 + (-8.0_f64).exp()) / (1.0 + (-(2.0_f64.powi(-20))).exp());
        let (lower, upper) = (all.delta_lower(largest - gap), all.delta_upper(largest - gap));
        assert!((upper / (mass * gap) - 1.0).abs() < 1e-12 && (lower / (mass * gap) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn far_tails_of_many_responses_keep_their_digits() {
        // All answers are the unlikelier ones with chance (1 + e^5)^-128 = e^-640.9, far below that of the rest.
        let law = answers(5.0, 0.0, 128);
        let exact = -128.0 * (1.0 + 5.0_f64.exp()).ln();
        assert!((law[0].up.ln() / exact - 1.0).abs() < 1e-13 && (law[0].down.ln() / exact - 1.0).abs() < 1e-13);
        let total: f64 = law.iter().map(|outcome| outcome.up).sum();
        assert!((total - 1.0).abs() < 1e-12);
        assert!(law.iter().all(|outcome| outcome.down <= outcome.up));
    }

    #[test]
    fn gaussians_are_one_and_other_laws_enter_as_they_are() {
        let gaussian = |mu| Arc::new(GaussianPair::new(mu).unwrap()) as Arc<dyn Profile>;
        let both = Outcomes::of(&[(gaussian(0.3), 16), (gaussian(0.5), 1)]).unwrap();
        let exact = GaussianPair::new(0.3_f64.mul_add(4.8, 0.25).sqrt()).unwrap();
        for epsilon in [-1.0, 0.0, 2.0, 9.0] {
            assert!((both.delta_upper(epsilon) / exact.delta_upper(epsilon) - 1.0).abs() < 1e-10);
            assert!(both.delta_lower(epsilon) <= both.delta_upper(epsilon));
        }
        let mut parts = responses(&[(0.7, 0.0, 2)]);
        parts.push((Arc::new(LaplacePair::new(1.5).unwrap()), 1));
        let beside = Outcomes::of(&parts).unwrap();
        // Losses 1.4, 0, -1.4 with masses s^2, 2 s t, t^2.
        let s = 1.0 / (1.0 + (-0.7_f64).exp());
        let laplace = |epsilon: f64| match epsilon {
            e if e >= 1.5 => 0.0,
            e if e <= -1.5 => -e.exp_m1(),
            e => -((e - 1.5) / 2.0).exp_m1(),
        };
        for at in [0.0, 0.5, 2.0, 2.8999] {
            let exact =
                s * s * laplace(at - 1.4) + 2.0 * s * (1.0 - s) * laplace(at) + (1.0 - s).powi(2) * laplace(at + 1.4);
            let (lower, upper) = (beside.delta_lower(at), beside.delta_upper(at));
            assert!((upper / exact - 1.0).abs() < 1e-9 && (lower / exact - 1.0).abs() < 1e-9, "{at}");
        }
    }

    #[test]
    fn what_has_many_outcomes_or_two_other_laws_is_left_to_the_grid() {
        assert!(Outcomes::of(&responses(&[(0.1, 0.0, 129)])).is_none());
        assert!(Outcomes::of(&responses(&[(0.1, 0.0, 40), (0.2, 0.0, 40)])).is_none());
        assert!(Outcomes::of(&responses(&[(0.0, 1e-9, 1 << 30), (0.2, 0.0, 40)])).is_some());
        let laplace = |e| (Arc::new(LaplacePair::new(e).unwrap()) as Arc<dyn Profile>, 1);
        assert!(Outcomes::of(&[laplace(1.0), laplace(2.0)]).is_none());
    }

    #[test]
    fn every_sequence_of_answers_counts_beside_a_law_with_a_mass_at_infinity_and_without_one() {
        use crate::accounting::LossTable;
        let kinds = [(0.7_f64, 0.01_f64, 3_u64), (0.2, 0.0, 2), (0.0, 0.03, 2)];
        let told = 1.0 - 0.99_f64.powi(3) * 0.97_f64.powi(2);
        // Loss and mass of each of 32 sequences of answers.
        let sequences: Vec<(f64, f64)> = (0..32_u32)
            .map(|answers| {
                (0..5).fold((0.0, 1.0 - told), |(loss, mass), i| {
                    let size = if i < 3 { 0.7_f64 } else { 0.2 };
                    let signed = if answers >> i & 1 == 1 { size } else { -size };
                    (loss + signed, mass / (1.0 + (-signed).exp()))
                })
            })
            .collect();
        let table = [(-0.4_f64, 0.38_f64), (0.5, 0.6)];
        for beside in [false, true] {
            let mut parts = responses(&kinds);
            let mut all = sequences.clone();
            let mut infinite = told;
            if beside {
                let law = LossTable::new(vec![-0.4, 0.5], &[0.38, 0.6], 0.02).unwrap();
                parts.push((Arc::new(law), 1));
                all = all.iter().flat_map(|&(l, p)| table.map(|(m, q)| (l + m, p * q))).collect();
                infinite = 1.0 - (1.0 - told) * 0.98;
            }
            let outcomes = Outcomes::of(&parts).unwrap();
            let delta =
                |eps: f64| infinite + all.iter().map(|&(l, p)| p * (1.0 - (eps - l).exp()).max(0.0)).sum::<f64>();
            for i in -40..=40 {
                let eps = 0.0937 * f64::from(i);
                let (lower, upper, truth) = (outcomes.delta_lower(eps), outcomes.delta_upper(eps), delta(eps));
                assert!(lower <= truth * (1.0 + 1e-14) && upper >= truth * (1.0 - 1e-14), "{beside} {eps}: {truth}");
                assert!(upper <= truth * (1.0 + 1e-9) && lower >= truth * (1.0 - 1e-9), "{beside} {eps}: {truth}");
                if eps > 0.0 && eps < 2.0 {
                    let (least, most) = (outcomes.epsilon_lower(truth), outcomes.epsilon_upper(truth));
                    assert!(least <= eps + 1e-12 && most >= eps - 1e-12 && most - least < 1e-6, "{least} {eps} {most}");
                }
            }
            let ends = (outcomes.delta_lower(f64::INFINITY), outcomes.delta_upper(f64::INFINITY));
            assert!(ends.1 >= infinite * (1.0 - 1e-14) && ends.1 <= infinite * (1.0 + 1e-13), "{ends:?} {infinite}");
            assert!(ends.0 <= infinite * (1.0 + 1e-14) && ends.0 >= told * (1.0 - 1e-13));
            assert_eq!(outcomes.delta_upper(f64::NEG_INFINITY), 1.0);
            assert_eq!(outcomes.epsilon_upper(0.9 * infinite), f64::INFINITY);
        }
    }

    #[test]
    fn bounds_that_are_no_pair_are_not_added_up_as_one() {
        use crate::accounting::{Conversion, RenyiProfile};
        let bound = RenyiProfile::new(Arc::new(|order: f64| 0.1 * order), Conversion::Tangent);
        let mut parts = responses(&[(0.5, 0.0, 2)]);
        parts.push((Arc::new(bound), 1));
        assert!(Outcomes::of(&parts).is_none() && Outcomes::of(&parts[1..]).is_none());
    }

    #[test]
    fn next_to_a_loss_both_bounds_leave_room_for_the_rounding_of_its_sum() {
        // Losses 1 + 2^-52 and 2^-70: their sum lies 2^-70 above the double next to it.
        let (one, other) = (1.0 + 2.0_f64.powi(-52), 2.0_f64.powi(-70));
        let all = Outcomes::of(&responses(&[(one, 0.0, 1), (other, 0.0, 1)])).unwrap();
        let mass = 1.0 / (1.0 + (-one).exp()) / (1.0 + (-other).exp());
        // 1 - exp(-2^-70) is 2^-70 less a part in 2^71; the loss and epsilon may be off by 2^-98, a part in 2^27.
        let (exact, room) = (mass * other, 2.0_f64.powi(-27));
        let (lower, upper) = (all.delta_lower(one), all.delta_upper(one));
        assert!(lower <= exact * (1.0 - 0.9 * room) && lower >= exact * (1.0 - 1.2 * room), "{}", lower / exact - 1.0);
        assert!(upper >= exact * (1.0 + 0.9 * room) && upper <= exact * (1.0 + 1.2 * room), "{}", upper / exact - 1.0);
    }
}
