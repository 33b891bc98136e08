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
