//! Composition through the public API: bounds on both sides of values that are known exactly.

use std::sync::Arc;

use simplexdp_core::accounting::{BudgetPair, Composition, LaplacePair, LossTable, Profile};
use statrs::function::erf::erfc;

/// Gaussian noise: the pair N(mu, 1) against N(0, 1). n of them are one with mu sqrt(n).
struct Gaussian(f64);

/// What double precision makes of the difference of two tails, generously.
const GAUSSIAN_ERROR: f64 = 1e-11;

impl Gaussian {
    fn exact(&self, eps: f64) -> f64 {
        let normal_tail = |z: f64| 0.5 * erfc(z / std::f64::consts::SQRT_2);
        if eps == f64::INFINITY {
            return 0.0;
        }
        normal_tail(eps / self.0 - self.0 / 2.0) - eps.exp() * normal_tail(eps / self.0 + self.0 / 2.0)
    }

    fn exact_epsilon(&self, delta: f64) -> f64 {
        let (mut low, mut high) = (0.0, 200.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if self.exact(middle) > delta {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

impl Profile for Gaussian {
    fn delta_upper(&self, eps: f64) -> f64 {
        (self.exact(eps) * (1.0 + GAUSSIAN_ERROR)).min(1.0)
    }

    fn delta_lower(&self, eps: f64) -> f64 {
        (self.exact(eps) * (1.0 - GAUSSIAN_ERROR)).max(-eps.exp_m1()).max(0.0)
    }
}

/// Laplace noise of sensitivity 1 and the given scale.
struct Laplace(f64);

impl Profile for Laplace {
    fn delta_upper(&self, eps: f64) -> f64 {
        let top = 1.0 / self.0;
        match eps {
            eps if eps >= top => 0.0,
            eps if eps <= -top => -eps.exp_m1(),
            eps => -(0.5 * (eps - top)).exp_m1(),
        }
    }

    fn delta_lower(&self, eps: f64) -> f64 {
        self.delta_upper(eps) * (1.0 - 1e-15)
    }
}

/// The pair that dominates every (eps, delta)-private mechanism: losses +-eps, and delta of mass at infinity.
#[derive(Clone, Copy)]
struct Budget {
    eps: f64,
    delta: f64,
}

impl Budget {
    fn atoms(&self) -> [(f64, f64); 2] {
        let up = (1.0 - self.delta) / (1.0 + (-self.eps).exp());
        [(self.eps, up), (-self.eps, up * (-self.eps).exp())]
    }
}

impl Profile for Budget {
    fn delta_upper(&self, eps: f64) -> f64 {
        let finite: f64 = self.atoms().iter().map(|&(l, p)| p * -((eps - l).min(0.0)).exp_m1()).sum();
        (finite + self.delta) * (1.0 + 1e-15)
    }

    fn delta_lower(&self, eps: f64) -> f64 {
        self.delta_upper(eps) * (1.0 - 3e-15)
    }
}

/// The exact composed delta of a few discrete pairs, by going through all outcomes.
fn brute_force(parts: &[Budget], eps: f64) -> f64 {
    let mut outcomes = vec![(0.0, 1.0)];
    for part in parts {
        outcomes = outcomes.iter().flat_map(|&(l, p)| part.atoms().map(|(extra, q)| (l + extra, p * q))).collect();
    }
    let finite: f64 = parts.iter().map(|part| 1.0 - part.delta).product();
    1.0 - finite + outcomes.iter().map(|&(l, p)| p * -((eps - l).min(0.0)).exp_m1()).sum::<f64>()
}

fn composed<P: Profile + 'static>(parts: impl IntoIterator<Item = (P, u64)>) -> Composition {
    let parts = parts.into_iter().map(|(profile, times)| (Arc::new(profile) as Arc<dyn Profile>, times));
    Composition::new(parts).expect("test compositions are valid")
}

#[test]
fn a_thousand_gaussians_are_within_1e_5_and_never_below() {
    let c = composed([(Gaussian(0.05), 1000)]);
    let total = Gaussian(0.05 * 1000.0_f64.sqrt());
    assert!((total.exact_epsilon(1e-6) - 8.306225).abs() < 1e-6);
    for delta in [1e-2, 1e-6, 5e-15, 1e-30, 1e-100] {
        let exact = total.exact_epsilon(delta);
        let (lower, upper) = (c.epsilon_lower(delta), c.epsilon_upper(delta));
        assert!(lower <= exact && exact <= upper, "{delta:e}: {lower} {exact} {upper}");
        let room = 1e-5 * (exact / 8.0).max(1.0);
        assert!(upper - exact <= room && exact - lower <= room, "{delta:e}: {lower} {exact} {upper}");
    }
}

#[test]
fn more_than_half_a_million_gaussians_are_never_below() {
    let c = composed([(Gaussian(0.002), 625_000)]);
    let total = Gaussian(0.002 * 625_000.0_f64.sqrt());
    let exact = total.exact_epsilon(1e-10);
    let (lower, upper) = (c.epsilon_lower(1e-10), c.epsilon_upper(1e-10));
    assert!(lower <= exact && exact <= upper, "{lower} {exact} {upper}");
    assert!(upper - exact < 2e-3 && exact - lower < 2e-3, "{lower} {exact} {upper}");
}

#[test]
fn twenty_laplace_to_a_tolerance() {
    let c = composed((5..25).map(|scale| (Laplace(f64::from(scale)), 1)));
    assert!((c.epsilon_upper(1e-6) - 1.52912).abs() <= 1e-5);
    let (lower, upper) = c.epsilon_within(1e-6, 1e-5).unwrap();
    assert!(upper - lower <= 1e-5 && lower <= 1.52912 && 1.52911 <= upper, "{lower} {upper}");
}

#[test]
fn profiles_of_gaussians_are_bracketed_over_all_of_the_line() {
    for (mu, times) in [(0.3, 10), (2.0, 3), (6.0, 2), (1e-3, 100)] {
        let c = composed([(Gaussian(mu), times)]);
        let total = Gaussian(mu * (times as f64).sqrt());
        for z in [-6.0, -3.0, -1.0, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0] {
            let eps = total.0 * (total.0 / 2.0 + z);
            let exact = total.exact(eps);
            let (lower, upper) = (c.delta_lower(eps), c.delta_upper(eps));
            let room = 1.0 + GAUSSIAN_ERROR;
            assert!(lower <= exact * room && exact <= upper * room, "{mu} {times} {z}: {lower:e} {exact:e} {upper:e}");
            assert!(
                upper <= exact * 1.01 + 1e-12 && lower >= exact * 0.99 - 1e-12,
                "{mu} {z}: {lower:e} {exact:e} {upper:e}"
            );
        }
    }
}

#[test]
fn discrete_pairs_agree_with_going_through_all_outcomes() {
    let budget = |eps, delta| Budget { eps, delta };
    for parts in [
        vec![budget(1.0, 0.0)],
        vec![budget(1.0, 1e-6), budget(0.37, 1e-9)],
        vec![budget(0.1, 0.0), budget(0.2, 0.0), budget(0.35, 1e-5), budget(3.0, 1e-7)],
        vec![budget(0.5, 1e-3); 10],
    ] {
        let c = composed(parts.iter().map(|&part| (part, 1)));
        for eps in [-2.0, -0.5, 0.0, 0.3, 0.7, 1.2, 1.5, 2.9, 3.6, 4.9] {
            let exact = brute_force(&parts, eps);
            let (lower, upper) = (c.delta_lower(eps), c.delta_upper(eps));
            assert!(lower <= exact + 1e-14 && exact <= upper + 1e-14, "{eps}: {lower:e} {exact:e} {upper:e}");
            // At a kink the smoothing by the grid is of first order; the lower bound pays more for kinks between points.
            assert!(upper - exact <= 1e-3 && exact - lower <= 2e-2, "{eps}: {lower:e} {exact:e} {upper:e}");
        }
    }
}

#[test]
fn mass_at_infinity_is_a_floor_of_delta() {
    let c = composed([(Budget { eps: 0.5, delta: 1e-3 }, 10)]);
    let floor = 1.0 - 0.999_f64.powi(10);
    assert_eq!(c.epsilon_upper(0.99 * floor), f64::INFINITY);
    assert_eq!(c.epsilon_lower(0.99 * floor), f64::INFINITY);
    assert!(c.epsilon_upper(1.01 * floor) <= 5.0 + 1e-9);
    assert!((c.delta_upper(f64::INFINITY) - floor).abs() < 1e-13);
}

#[test]
fn epsilon_and_delta_are_inverse_up_to_the_grid() {
    let c = composed([(Gaussian(0.2), 30)]);
    for delta in [1e-3, 1e-8, 1e-12] {
        let back = c.delta_upper(c.epsilon_upper(delta));
        assert!((back / delta - 1.0).abs() < 1e-3, "{delta:e} {back:e}");
    }
}

#[test]
fn nothing_to_compose_is_refused() {
    assert!(Composition::new([]).is_err());
    assert!(Composition::new([(Arc::new(Gaussian(1.0)) as Arc<dyn Profile>, 0)]).is_err());
}

/// Whether epsilon(delta) is covered by delta(epsilon), no part is above the whole, and the whole not above their sum.
fn holds_together(parts: &[(Arc<dyn Profile>, u64)], delta: f64) {
    let c = Composition::new(parts.to_vec()).expect("test compositions are valid");
    let epsilon = c.epsilon_upper(delta);
    let alone: Vec<f64> = parts.iter().map(|(part, _)| part.epsilon_upper(delta)).collect();
    let largest = alone.iter().copied().fold(0.0, f64::max);
    assert!(c.delta_upper(epsilon) <= delta, "{epsilon} at {delta:e} has {:e}", c.delta_upper(epsilon));
    assert!(epsilon >= largest, "{epsilon} at {delta:e} is below {largest}");
}

#[test]
fn a_large_and_a_tiny_pure_part_cost_what_the_large_one_costs() {
    // A knot without mass beyond the largest loss met a factor that overflows: zero times infinity counted as no mass.
    for (large, tiny, delta) in [
        (8.031118864329512, 5.28e-5, 5.9e-13),
        (7.3, 1e-6, 1e-12),
        (17.0, 0.01, 1e-9),
        (39.0, 2.0, 1e-14),
        (33.0, 0.3, 0.2),
    ] {
        let parts: Vec<(Arc<dyn Profile>, u64)> =
            [large, tiny].map(|eps| (Arc::new(BudgetPair::new(eps, 0.0).unwrap()) as Arc<dyn Profile>, 1)).to_vec();
        holds_together(&parts, delta);
        let exact = brute_force(&[Budget { eps: large, delta: 0.0 }, Budget { eps: tiny, delta: 0.0 }], large - tiny);
        let c = Composition::new(parts).unwrap();
        assert!(c.delta_upper(large - tiny) >= exact * (1.0 - 1e-13), "{large} {tiny}");
        assert!(c.epsilon_upper(delta) <= large + tiny, "{large} {tiny}");
    }
}

#[test]
fn delta_before_the_largest_loss_is_not_none_where_it_underflows() {
    // 2^-5000 of all outcomes have a loss of 5: far less than a double holds, and not nothing.
    for (times, epsilon) in [(1100, 1.0995), (5000, 4.99), (1_000_000, 999.0)] {
        let c = composed([(BudgetPair::new(1e-3, 0.0).unwrap(), times)]);
        assert_eq!(c.delta_upper(epsilon), f64::MIN_POSITIVE, "{times}");
        assert_eq!(c.delta_lower(epsilon), 0.0);
        assert_eq!(c.delta_upper(1e-3 * times as f64 * (1.0 + 1e-9)), 0.0);
    }
}

#[test]
fn delta_at_and_beyond_the_largest_loss_is_the_mass_at_infinity() {
    let c = composed([(BudgetPair::new(1.0, 0.0).unwrap(), 1), (BudgetPair::new(2.0, 0.0).unwrap(), 1)]);
    assert_eq!((c.delta_upper(3.0), c.delta_upper(3.5)), (0.0, 0.0));
    let c = composed([(BudgetPair::new(0.0, 1e-3).unwrap(), 10)]);
    assert!((c.delta_upper(0.0) - 0.009955119790251765).abs() < 1e-16);
    let c = composed([(BudgetPair::new(0.0, 0.0).unwrap(), 3)]);
    assert_eq!(c.delta_upper(0.0), 0.0);
    let c = composed([(LossTable::new(vec![-2.0, -1.0], &[0.2, 0.3], 0.01).unwrap(), 3)]);
    let infinite = 1.0 - 0.99_f64.powi(3);
    assert!((c.delta_upper(0.0) - infinite).abs() < 1e-15);
    assert!(c.delta_upper(-0.5) >= infinite && c.delta_upper(-5.0) < 1.0);
}

#[test]
fn losses_on_a_lattice_cost_what_going_through_them_shows() {
    // P and Q mirror each other: P has e^(l/2) times the same weight at each loss l.
    let total = (-0.5_f64).exp() + 1.0 + 0.5_f64.exp();
    let masses = [(-0.5_f64).exp() / total, 1.0 / total, 0.5_f64.exp() / total];
    let c = composed([(LossTable::new(vec![-1.0, 0.0, 1.0], &masses, 0.0).unwrap(), 5)]);
    let mut law = vec![(0_i32, 1.0)];
    for _ in 0..5 {
        law = law.iter().flat_map(|&(l, p)| [-1, 0, 1].map(|k| (l + k, p * masses[(k + 1) as usize]))).collect();
    }
    for eps in 0..5 {
        let exact: f64 = law.iter().filter(|(l, _)| *l > eps).map(|&(l, p)| p * -f64::from(eps - l).exp_m1()).sum();
        let upper = c.delta_upper(f64::from(eps));
        assert!(upper >= exact * (1.0 - 1e-14) && upper <= exact * (1.0 + 1e-6), "{eps}: {exact} {upper}");
    }
}

#[test]
fn deltas_near_the_smallest_doubles_are_bounds_too() {
    let c = composed([(Gaussian(0.3), 4)]);
    for delta in [1e-270, 1e-285, 1e-300] {
        let epsilon = c.epsilon_upper(delta);
        // ln of the tail of a normal law, from below [Birnbaum], times 1 - e^-eps.../...: by the Mills ratio.
        let (mu, z) = (0.6, epsilon / 0.6 - 0.3);
        let log_tail =
            |z: f64| -0.5 * z * z - 0.5 * std::f64::consts::TAU.ln() - (0.5 * (z + (z * z + 4.0).sqrt())).ln();
        let log_upper_tail = |z: f64| -0.5 * z * z - 0.5 * std::f64::consts::TAU.ln() - z.ln();
        let log_delta = log_tail(z) + (-(epsilon + log_upper_tail(z + mu) - log_tail(z)).exp()).ln_1p();
        assert!(!(log_delta > f64::ln(delta) * (1.0 - 1e-6)), "{delta:e} {epsilon} {log_delta}");
    }
}

#[test]
fn very_many_releases_cost_no_more_than_their_divergences_say() {
    let (n, delta) = (1_u64 << 36, 1e-6);
    let c = composed([(LaplacePair::new((n as f64).sqrt().recip()).unwrap(), n)]);
    let (lower, upper) = (c.epsilon_lower(delta), c.epsilon_upper(delta));
    // Each release is (1/n)/2-zCDP [BS16].
    let by_zcdp = 0.5 + 2.0 * (0.5 * -f64::ln(delta)).sqrt();
    assert!(lower <= upper && upper <= by_zcdp, "{lower} {upper} {by_zcdp}");
    // They tend to the Gaussian pair of mu = 1, and are never below it by more than a part in the root of n.
    assert!(upper >= Gaussian(1.0).exact_epsilon(delta) * (1.0 - 1e-4), "{upper}");
    assert!(c.delta_upper(upper) <= delta && c.delta_lower(0.5 * upper) <= c.delta_upper(0.5 * upper));
}
