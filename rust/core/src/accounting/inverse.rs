//! From delta back to epsilon, on the safe side: the epsilon returned has been checked.

/// Epsilons above this are as good as no guarantee.
const LARGEST: f64 = 1e300;
/// The bracket of the root is closed to this relative width.
const WIDTH: f64 = 1e-13;

/// An epsilon >= 0 with `delta_upper(epsilon) <= target`, within 1e-13 relative of the smallest one.
///
/// Infinite if there is none below 1e300.
pub(super) fn epsilon_upper(delta_upper: &impl Fn(f64) -> f64, target: f64) -> f64 {
    if target >= 0.0 { crossing(delta_upper, target).1 } else { f64::INFINITY }
}

/// An epsilon >= 0 below which `delta_lower(epsilon) > target`, or zero; within 1e-13 relative of the largest one.
///
/// Infinite if delta stays above the target up to 1e300.
pub(super) fn epsilon_lower(delta_lower: &impl Fn(f64) -> f64, target: f64) -> f64 {
    if target >= 0.0 { crossing(delta_lower, target).0 } else { f64::INFINITY }
}

/// Two epsilons next to each other between which a falling delta comes down to the target: above it at the first, not
/// above it at the second. Both are zero where it never is above, infinite where it always is.
fn crossing(delta: &impl Fn(f64) -> f64, target: f64) -> (f64, f64) {
    // With a target of zero there is nothing to interpolate.
    let height = |epsilon: f64| {
        if target > 0.0 { (delta(epsilon) / target).ln() } else { if delta(epsilon) > 0.0 { 1.0 } else { 0.0 } }
    };
    let mut at_low = height(0.0);
    if at_low <= 0.0 {
        return (0.0, 0.0);
    }
    let (mut low, mut high) = (0.0, 1.0);
    let mut at_high = height(high);
    while at_high > 0.0 {
        (low, at_low) = (high, at_high);
        high *= 2.0;
        if high > LARGEST {
            return (f64::INFINITY, f64::INFINITY);
        }
        at_high = height(high);
    }
    // False position on ln(delta), halving whenever it stalls.
    let mut halve = target == 0.0;
    for _ in 0..400 {
        if high - low <= WIDTH * high {
            break;
        }
        let slope_point = low + (high - low) * at_low / (at_low - at_high);
        let mut middle = slope_point.clamp(low + 0.25 * WIDTH * high, high - 0.25 * WIDTH * high);
        if halve || !middle.is_finite() {
            middle = 0.5 * (low + high);
        }
        let before = high - low;
        let at_middle = height(middle);
        if at_middle <= 0.0 {
            (high, at_high) = (middle, at_middle);
        } else {
            (low, at_low) = (middle, at_middle);
        }
        halve = target == 0.0 || high - low > 0.5 * before;
    }
    (low, high)
}

/// The first of a few slightly larger epsilons at which the bound holds; a search if the candidate was far off.
pub(super) fn settle(delta_upper: &impl Fn(f64) -> f64, candidate: f64, target: f64) -> f64 {
    let mut nudge = 4.0 * f64::EPSILON;
    let mut epsilon = candidate;
    for _ in 0..16 {
        if !epsilon.is_finite() {
            break;
        }
        if delta_upper(epsilon) <= target {
            return epsilon;
        }
        epsilon = candidate * (1.0 + nudge) + f64::MIN_POSITIVE;
        nudge *= 2.0;
    }
    epsilon_upper(delta_upper, target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epsilons_are_on_the_side_that_was_asked_for_and_next_to_each_other() {
        let curves: [(&str, &dyn Fn(f64) -> f64); 5] = [
            ("exponential", &|epsilon| (-epsilon).exp()),
            ("slow", &|epsilon| 1.0 / (1.0 + epsilon)),
            ("normal", &|epsilon| (-0.5 * epsilon * epsilon).exp()),
            ("ending", &|epsilon| (1.0 - epsilon / 1000.0).max(0.0)),
            ("step", &|epsilon| if epsilon < 0.7 { 0.9 } else { 1e-30 }),
        ];
        for (name, curve) in curves {
            for target in [0.5, 1e-2, 1e-6, 1e-20] {
                let (above, below) = (epsilon_lower(&curve, target), epsilon_upper(&curve, target));
                assert!(curve(below) <= target && (above == 0.0 || curve(above) > target), "{name} {target}");
                assert!(above <= below && below - above <= 1.1e-13 * below, "{name} {target}: {above} {below}");
            }
        }
        // The ratio to the least doubles is beyond all of them, and that of nothing has no logarithm.
        let curves: [&dyn Fn(f64) -> f64; 2] =
            [&|epsilon| (-epsilon).exp(), &|epsilon| if epsilon < 0.7 { 0.9 } else { 0.0 }];
        for (curve, target) in curves.into_iter().flat_map(|curve| [(curve, 5e-324), (curve, 1e-310)]) {
            let (above, below) = (epsilon_lower(&curve, target), epsilon_upper(&curve, target));
            assert!(curve(below) <= target && curve(above) > target && below - above <= 1.1e-13 * below, "{target:e}");
        }
        // Where the curve ends, a target of zero is met from there on.
        let ending = |epsilon: f64| (1.0 - epsilon / 1000.0).max(0.0);
        let (above, below) = (epsilon_lower(&ending, 0.0), epsilon_upper(&ending, 0.0));
        assert!((1000.0 - 1e-9..1000.0).contains(&above) && (1000.0..1000.0 + 1e-9).contains(&below));
    }

    #[test]
    fn what_is_never_met_is_infinite_and_what_always_is_zero() {
        assert!(epsilon_upper(&|_| 0.5, 0.4).is_infinite() && epsilon_lower(&|_| 0.5, 0.4).is_infinite());
        assert!(epsilon_upper(&|_| 0.5, -0.1).is_infinite() && epsilon_lower(&|_| 0.5, f64::NAN).is_infinite());
        assert!(epsilon_upper(&|_| 0.5, 0.0).is_infinite());
        assert_eq!((epsilon_upper(&|_| 0.5, 0.5), epsilon_lower(&|_| 0.5, 0.6)), (0.0, 0.0));
        assert_eq!((epsilon_upper(&|_| 0.0, 0.0), epsilon_lower(&|_| 0.0, 0.0)), (0.0, 0.0));
    }

    #[test]
    fn a_candidate_is_moved_until_the_bound_holds() {
        let curve = |epsilon: f64| (-epsilon).exp();
        for candidate in [1.0, 1.0 - 1e-15, 1.0 - 1e-12, 0.9, 0.0, f64::INFINITY, f64::NAN] {
            let found = settle(&curve, candidate, (-1.0_f64).exp());
            assert!(curve(found) <= (-1.0_f64).exp() && (found - 1.0).abs() < 3e-12, "{candidate}: {found}");
        }
        assert_eq!(settle(&curve, 1.5, (-1.0_f64).exp()), 1.5);
    }
}
