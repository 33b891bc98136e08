//! What a Gaussian book holds before and after a spend, compared with sums over every outcome.

use std::sync::Arc;

use super::law::{Law, Side};
use super::{Decision, GaussianRule, Rule, Spend, oracle};
use crate::accounting::{GaussianPair, LossTable, Profile};

const EPSILON: f64 = 1.0;
const DELTA: f64 = 1e-6;

fn rule() -> GaussianRule {
    GaussianRule::new(EPSILON, DELTA, None).unwrap()
}

fn spend_of(law: &Law) -> Spend {
    let table = |side: &Side| -> Arc<dyn Profile> {
        let mut atoms = side.atoms.clone();
        atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (losses, masses): (Vec<f64>, Vec<f64>) = atoms.into_iter().unzip();
        Arc::new(LossTable::new(losses, &masses, side.infinite).unwrap())
    };
    Spend::new(law.sides.iter().map(table).collect(), 0.0).unwrap()
}

fn normal(mu: f64) -> Spend {
    Spend::new(vec![Arc::new(GaussianPair::new(mu).unwrap())], 0.0).unwrap()
}

fn response(epsilon: f64) -> Law {
    let p = 1.0 / (1.0 + (-epsilon).exp());
    oracle::law(&[p, 1.0 - p], &[1.0 - p, p])
}

/// Skewed, of three atoms, and not all of it finite.
fn three() -> Law {
    oracle::law(&[0.2, 0.3, 0.499_999_9], &[0.21, 0.31, 0.479_999_9])
}

/// A pair behind a leak: Gaussian, with or without jumps, or of finite losses.
struct Held {
    square: f64,
    leak: f64,
    beside: [Side; 2],
}

fn held(state: &[f64]) -> Held {
    let one = || Side { atoms: vec![(0.0, 1.0)], infinite: 0.0 };
    match *state {
        [0.0, high, low, leak, leak_low, ..] => {
            // Randomised response at what is left of epsilon, and what is left of the leak.
            let law = response(EPSILON - high - low);
            Held { square: 0.0, leak: -(-DELTA).ln_1p() - leak - leak_low, beside: law.sides.try_into().unwrap() }
        }
        [1.0, square, leak, ..] => Held { square, leak, beside: [one(), one()] },
        [2.0, square, leak, _, _, _, _, often, height, rising] => {
            let jumps = |direction: f64| oracle::jumps(often * square, height, direction == rising);
            Held { square, leak, beside: [jumps(0.0), jumps(1.0)] }
        }
        _ => panic!("{state:?}"),
    }
}

impl Held {
    /// The profile, after a spend.
    fn with(&self, spend: &Law, direction: usize, eps: f64) -> f64 {
        let spend = &spend.sides[direction.min(spend.sides.len() - 1)];
        let mut sum = spend.infinite;
        for (loss, mass) in &spend.atoms {
            for (jump, chance) in &self.beside[direction].atoms {
                let y = eps - loss - jump;
                let value = if self.square > 0.0 { oracle::gaussian(self.square, y) } else { (1.0 - y.exp()).max(0.0) };
                sum += mass * chance * value;
            }
        }
        let told = -(-self.leak).exp_m1();
        told + (1.0 - told) * sum
    }
}

fn nothing() -> Law {
    Law { sides: vec![Side { atoms: vec![(0.0, 1.0)], infinite: 0.0 }] }
}

/// The largest C x V'/V at eps from zero to where hardly anything is left, in both directions.
fn worst(before: &[f64], spend: &Law, after: &[f64]) -> f64 {
    let (whole, left) = (held(before), held(after));
    let mut worst = 0.0_f64;
    for direction in 0..2 {
        for k in 0..=40 {
            let eps = f64::from(k) / 8.0 * before[1].sqrt();
            worst = worst.max(left.with(spend, direction, eps) / whole.with(&nothing(), direction, eps));
        }
    }
    worst
}

fn paid(decision: Decision) -> Option<Vec<f64>> {
    match decision {
        Decision::Paid(state) => Some(state),
        Decision::Refused { .. } => None,
    }
}

#[test]
fn what_is_left_with_the_spend_is_never_more_than_what_was_held() {
    let mut count = 0;
    for law in [response(0.1), three(), oracle::bells(0.1, 0.2)] {
        let spend = spend_of(&law);
        let own = spend.scale().powi(2);
        for leak in [2e-7, 1e-5] {
            for jumps in [&[][..], &[30.0, 0.05, 0.0], &[30.0, 0.05, 1.0]] {
                let mut closest = 0.0_f64;
                for times in [1.02, 1.2, 1.5, 1.8, 2.2, 3.0, 5.0, 40.0] {
                    // Plain books, and books whose first spend was skewed.
                    let kind = if jumps.is_empty() { 1.0 } else { 2.0 };
                    let mut before = vec![kind, times * own, leak, 1e-7 / own, 0.5 / own, 0.0, 0.0];
                    before.extend(jumps);
                    let Some(after) = paid(rule().debit(&before, &spend).unwrap()) else { continue };
                    assert!(after[1] < before[1] && after[2] <= before[2] && after[3..] == before[3..]);
                    let worst = worst(&before, &law, &after);
                    assert!(worst <= 1.0 + 1e-9, "{before:?} {after:?}: {worst}");
                    closest = closest.max(worst);
                    count += 1;
                }
                assert!(closest > 0.99, "{closest}");
            }
        }
    }
    assert!(count > 70, "{count}");
}

#[test]
fn a_whole_book_that_is_left_keeps_delta_and_uses_it() {
    for before in [vec![], vec![0.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0], vec![0.0, 0.1, 0.0, 5e-7, 0.0, 0.0, 0.0]] {
        for (law, spend) in [
            (None, normal(0.05)),
            (Some(oracle::bells(0.02, 0.0)), spend_of(&oracle::bells(0.02, 0.0))),
            // One so skewed that the book is skewed too.
            (Some(oracle::bells(0.02, 0.3)), spend_of(&oracle::bells(0.02, 0.3))),
        ] {
            let before = if before.is_empty() { rule().start() } else { before.clone() };
            let after = paid(rule().debit(&before, &spend).unwrap()).unwrap();
            assert!(after[0] > 0.0);
            let (epsilon, delta) = (EPSILON - before[1], DELTA - before[3]);
            let mut left = held(&after);
            if law.is_none() {
                left.square += 0.05 * 0.05;
            }
            let law = law.unwrap_or_else(nothing);
            let both = [0, 1].map(|direction| left.with(&law, direction, epsilon) / delta);
            let most = both[0].max(both[1]);
            assert!(most <= 1.0 && most > 0.98, "{before:?} {after:?} {most}");
        }
    }
    // The last of them, turned, is skewed the other way.
    let kind = |law: &Law| paid(rule().debit(&rule().start(), &spend_of(law)).unwrap()).unwrap();
    let skewed = oracle::bells(0.02, 0.3);
    let turned = Law { sides: skewed.sides.iter().rev().cloned().collect() };
    let (state, other) = (kind(&skewed), kind(&turned));
    assert!(state[0] == 2.0 && other[0] == 2.0 && state[9] + other[9] == 1.0);
    assert!((state[1] / other[1] - 1.0).abs() < 1e-9);
    // It took as much of the leak as of the square.
    assert!((state[2] / (state[3] * state[1]) - 1.0).abs() < 1e-9, "{state:?}");
}

#[test]
fn what_is_used_grows_with_equal_spends_from_nothing_to_all() {
    for (kind, law) in [(1.0, None), (1.0, Some(oracle::bells(0.05, 0.0))), (2.0, Some(oracle::bells(0.02, 0.3)))] {
        let spend = law.map_or_else(|| normal(0.05), |law| spend_of(&law));
        for first in [0.0, 0.3] {
            let mut state = rule().start();
            if first > 0.0 {
                state = paid(rule().debit(&state, &spend_of(&response(first))).unwrap()).unwrap();
            }
            let mut used = vec![rule().used(&state).unwrap()];
            assert!((used[0] - first).abs() < 1e-9, "{used:?}");
            while let Some(next) = paid(rule().debit(&state, &spend).unwrap()) {
                state = next;
                used.push(rule().used(&state).unwrap());
            }
            let count = used.len() - 1;
            assert_eq!(state[0], kind);
            assert!(count > 5, "{count}");
            for (k, pair) in used.windows(2).enumerate() {
                let share = (pair[1] - pair[0]) / (1.0 - first) * count as f64;
                assert!(share > 0.7 && share < 1.4, "{k}: {share} of {count}");
            }
            assert!(used[count] <= 1.0 && used[count] > 1.0 - 2.5 / count as f64, "{used:?}");
        }
    }
    assert_eq!(rule().used(&[1.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0]).unwrap(), 1.0);
    assert_eq!(rule().used(&[1.0, 0.25, 0.0, 0.0, 2.0, 0.0, 0.0]).unwrap(), 0.5);
}

#[test]
fn only_an_untouched_book_pays_what_takes_it_all() {
    // Pure at the whole epsilon, and the Gaussian pair with just this budget.
    let all = spend_of(&response(EPSILON));
    let pair = spend_of(&oracle::bells(0.2, 0.0));
    let fits = pair.delta(EPSILON) <= DELTA * 0.999;
    assert!(fits);
    for spend in [&all, &pair] {
        assert!(paid(rule().debit(&rule().start(), spend).unwrap()).is_some());
    }
    let state = paid(rule().debit(&rule().start(), &spend_of(&response(0.5))).unwrap()).unwrap();
    assert_eq!(paid(rule().debit(&state, &all).unwrap()), None);
    assert_eq!(paid(rule().debit(&state, &spend_of(&response(0.51))).unwrap()), None);
    assert!(paid(rule().debit(&state, &spend_of(&response(0.49))).unwrap()).is_some());
    // At half of epsilon it has far more than delta.
    let dear = spend_of(&oracle::bells(0.2, 0.0));
    assert!(dear.delta(0.5) > 10.0 * DELTA);
    assert_eq!(paid(rule().debit(&state, &dear).unwrap()), None);
}

#[test]
fn what_costs_nothing_fits_for_ever() {
    let free = spend_of(&nothing());
    for state in [vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], vec![1.0, 0.1, 1e-8, 1e-6, 1.0, 0.0, 0.0]] {
        assert_eq!(paid(rule().debit(&state, &free).unwrap()).unwrap(), state);
    }
    // What tells everything with any chance does not.
    let telling = Law { sides: vec![Side { atoms: vec![(0.0, 1.0 - 1e-9)], infinite: 1e-9 }] };
    let spend = spend_of(&telling);
    assert_eq!(paid(rule().debit(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], &spend).unwrap()), None);
    assert_eq!(paid(rule().debit(&[1.0, 0.1, 0.9e-9, 1e-9, 1.0, 0.0, 0.0], &spend).unwrap()), None);
    let after = paid(rule().debit(&[1.0, 0.1, 1e-8, 1e-9, 1.0, 0.0, 0.0], &spend).unwrap()).unwrap();
    assert!(after[2] <= 9e-9, "{after:?}");
}

#[test]
fn a_book_short_of_leak_pays_with_more_of_the_rest() {
    let spend = spend_of(&oracle::bells(0.05, 0.0));
    let own = 0.0025;
    for (rate, most) in [(1e-6, 1.1), (1e-3, 1.3)] {
        let before = [1.0, 100.0 * own, 1e-9, rate, 1.0, 0.0, 0.0];
        let after = paid(rule().debit(&before, &spend).unwrap()).unwrap();
        assert!(after[1] > (100.0 - most) * own, "{after:?}");
        assert!(after[2] < before[2]);
    }
}

#[test]
fn books_with_more_jumps_than_are_held_are_refused() {
    let state = |square: f64, often: f64| [2.0, square, 1e-9, 1e-9, 1.0, 0.0, 0.0, often, 0.5, 1.0];
    for (square, often, valid) in [(1.0, 300.0, true), (2.0, 300.0, false), (0.5, 900.0, true), (0.5, 1100.0, false)] {
        assert_eq!(rule().used(&state(square, often)).is_ok(), valid);
    }
}
