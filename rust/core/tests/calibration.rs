//! Calibration through the public API: the budget is met, and nearly spent, over six decades.

use simplexdp_core::accounting::{Direction, GammaPair, Profile, TwoCategories};
use simplexdp_core::guarantee::{Adjacency, DirichletDraw};
use simplexdp_core::mechanisms::{Budget, Loss, Objective, worst_profiles};
use simplexdp_core::sensitivity::Person;

/// 2^-256, what one row of an exact release errs by.
const ERROR_OF_ROW: f64 = 8.636168555094445e-78;
const REPLACED: Person = Person { adjacency: Adjacency::Replace, max_rows: 1 };
const ADDED: Person = Person { adjacency: Adjacency::AddRemove, max_rows: 1 };

const ONE: Budget = Budget { epsilon: 1.0, delta: 1e-6, person: REPLACED, floor: 0.0, pair_total: None };

/// The smallest epsilon on the claimed curve, sampler included, from the profiles alone.
fn claimed_epsilon(budget: &Budget, a: f64, b: f64, scale: f64) -> f64 {
    let shift = scale * budget.floor;
    let profiles: Vec<Box<dyn Profile>> = match budget.pair_total {
        Some(total) => vec![Box::new(TwoCategories::new(a, b, scale, total, budget.floor as u64).unwrap())],
        None if budget.person == ADDED => {
            let pair = |direction| Box::new(GammaPair::new(a + shift, scale, direction).unwrap()) as Box<dyn Profile>;
            vec![pair(Direction::Remove), pair(Direction::Add)]
        }
        None => worst_profiles(budget.person.adjacency, a + shift, b + shift, scale).unwrap(),
    };
    let rows = if budget.person == REPLACED { 2.0 } else { 1.0 };
    let delta = |epsilon: f64| {
        let ideal = profiles.iter().map(|profile| profile.delta_upper(epsilon)).fold(0.0, f64::max);
        ideal + (1.0 + epsilon.exp()) * rows * ERROR_OF_ROW
    };
    let (mut low, mut high) = (0.0, 2.0 * budget.epsilon);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if delta(middle) <= budget.delta { high = middle } else { low = middle }
    }
    high
}

#[test]
fn every_budget_is_met_and_nearly_spent() {
    for person in [REPLACED, ADDED] {
        for epsilon in [2e-5, 1e-3, 0.1, 1.0, 4.0, 20.0] {
            for delta in [1e-3, 1e-6, 1e-10] {
                for floor in [0.0, 3.0] {
                    let budget = Budget { epsilon, delta, person, floor, ..ONE };
                    for (a, b) in [(0.5, 0.5), (2.0, 2.0), (1e3, 1e3), (1.0, 4.0)] {
                        let scale = budget.largest_scale(a, b).unwrap();
                        let share = claimed_epsilon(&budget, a, b, scale) / epsilon;
                        assert!((0.999..=1.0).contains(&share), "{budget:?} {a} {b}: scale {scale}, {share}");
                    }
                }
            }
        }
    }
}

#[test]
fn budgets_of_two_categories_with_a_public_total_are_met_and_nearly_spent() {
    for epsilon in [2e-5, 1e-2, 1.0, 20.0] {
        for delta in [1e-3, 1e-10] {
            for (floor, total) in [(0.0, 1), (0.0, 7), (3.0, 7), (0.0, 1000), (3.0, 1000), (0.0, 1 << 53)] {
                let budget = Budget { epsilon, delta, floor, pair_total: Some(total), ..ONE };
                for (a, b) in [(0.5, 0.5), (1e3, 1e3), (1.0, 4.0), (4.0, 1.0)] {
                    let scale = budget.largest_scale(a, b).unwrap();
                    let share = claimed_epsilon(&budget, a, b, scale) / epsilon;
                    assert!((0.999..=1.0).contains(&share), "{budget:?} {a} {b}: scale {scale}, {share}");
                    let unknown = Budget { pair_total: None, ..budget }.largest_scale(a.min(b), a.max(b)).unwrap();
                    assert!(scale >= unknown * (1.0 - 1e-8), "{budget:?} {a} {b}: {scale} below {unknown}");
                }
            }
        }
    }
}

#[test]
fn the_smallest_prior_undoes_the_largest_scale() {
    for (person, pair_total) in [(REPLACED, None), (ADDED, None), (REPLACED, Some(1000))] {
        for (epsilon, delta, prior) in [(0.1, 1e-6, 3.0), (1.0, 1e-9, 0.3), (5.0, 1e-5, 40.0), (1e-3, 1e-4, 1e4)] {
            let budget = Budget { epsilon, delta, person, pair_total, ..ONE };
            let scale = budget.largest_scale(prior, prior).unwrap();
            let found = budget.smallest_prior(scale).unwrap();
            assert!((found / prior - 1.0).abs() < 1e-5, "{budget:?}: {prior} became {found}");
            assert!(budget.admits(found, found, scale).unwrap());
        }
    }
}

#[test]
fn the_best_prior_beats_its_neighbours() {
    for loss in [Loss::Kl, Loss::L1, Loss::L2, Loss::Linf] {
        for (epsilon, dimension, total) in [(1.0, 6, 1e3), (0.1, 100, 1e5), (4.0, 2, 50.0)] {
            let budget = Budget { epsilon, ..ONE };
            let objective = Objective { loss, dimension, total, reference: None };
            let (prior, scale) = budget.best_prior(&objective).unwrap();
            let best = objective.expected_loss(prior, scale).unwrap();
            for factor in [0.5, 0.8, 1.25, 2.0] {
                let other = prior * factor;
                let loss_there = objective.expected_loss(other, budget.largest_scale(other, other).unwrap()).unwrap();
                assert!(best <= loss_there * (1.0 + 1e-3), "{loss:?} {epsilon}: {prior} {best}, {other} {loss_there}");
            }
        }
    }
}

/// What is searched on is one row at a multiple of the scale; what is claimed is the guarantee for the person, which
/// composes every way to spread the rows where that is not the worst.
#[test]
fn budgets_for_persons_are_met_by_the_guarantee_and_nearly_spent() {
    for adjacency in [Adjacency::Replace, Adjacency::AddRemove] {
        for (max_rows, floor) in [(2, 0.0), (3, 0.0), (7, 2.0), (40, 0.0)] {
            for (epsilon, delta) in [(0.1, 1e-6), (1.0, 1e-9), (8.0, 1e-4)] {
                let budget = Budget { epsilon, delta, person: Person { adjacency, max_rows }, floor, pair_total: None };
                let claimed = |prior: f64, scale: f64| {
                    let prior = [prior];
                    let draw = DirichletDraw { scale, prior: &prior, dimension: 3, floor, total: None, max_rows };
                    draw.released(adjacency).unwrap().epsilon(delta) / epsilon
                };
                for prior in [0.5, 2.0, 300.0] {
                    let scale = budget.largest_scale(prior, prior).unwrap();
                    let share = claimed(prior, scale);
                    assert!((0.999..=1.0).contains(&share), "{budget:?} {prior}: scale {scale}, {share}");
                    assert!(budget.admits(prior, prior, scale).unwrap());
                    // The second smallest prior is as good as any.
                    assert_eq!(budget.largest_scale(prior, 10.0 * prior).unwrap(), scale);
                    let back = budget.smallest_prior(scale).unwrap();
                    assert!((back / prior - 1.0).abs() < 1e-5, "{budget:?}: {prior} became {back}");
                }
                // However small the scale: below 1/2 another person would be the worst.
                assert_eq!(budget.smallest_prior(1e-7).unwrap(), 0.5);
                assert!(budget.largest_scale(0.4999, 1.0).is_err() && budget.admits(0.4999, 1.0, 1e-6).is_err());
                let objective = Objective { loss: Loss::Kl, dimension: 3, total: 1e4, reference: None };
                let (prior, scale) = budget.best_prior(&objective).unwrap();
                assert!(prior >= 0.5 && claimed(prior, scale) <= 1.0);
            }
        }
    }
}

#[test]
fn impossible_requests_are_errors() {
    for bad in [
        Budget { pair_total: Some(0), ..ONE },
        Budget { pair_total: Some(10), floor: 5.0, ..ONE },
        Budget { pair_total: Some(10), person: ADDED, ..ONE },
        Budget { pair_total: Some(10), person: Person { max_rows: 2, ..REPLACED }, ..ONE },
        Budget { person: Person { max_rows: 0, ..REPLACED }, ..ONE },
        Budget { epsilon: 0.0, ..ONE },
        Budget { epsilon: f64::NAN, ..ONE },
        Budget { delta: 0.0, ..ONE },
        Budget { delta: 1.0, ..ONE },
        Budget { delta: 1e-77, ..ONE },
        Budget { floor: -1.0, ..ONE },
        Budget { epsilon: 1e-12, delta: 1e-12, ..ONE },
    ] {
        assert!(bad.largest_scale(1.0, 1.0).is_err(), "{bad:?}");
    }
    assert!(ONE.largest_scale(-1.0, 1.0).is_err());
    assert!(ONE.smallest_prior(0.0).is_err());
    let objective = Objective { loss: Loss::Kl, dimension: 3, total: f64::NAN, reference: None };
    assert!(ONE.best_prior(&objective).is_err());
    assert!(Budget { floor: 5.0, ..ONE }.best_prior(&Objective { total: 14.0, ..objective }).is_err());
}
