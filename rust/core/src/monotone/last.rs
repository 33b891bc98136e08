//! The last point up to which a property holds.

/// How many probes a search of doubles may take: far more than growing steps and bisection need.
const MOST_PROBES: u32 = 256;
/// Reals are searched up to this share of the width.
const FINE: f64 = 1e-14;

/// Where the search looks, and where it begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Between {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// A guess of the answer, and by how much it may be off.
    pub(crate) guess: f64,
    pub(crate) step: f64,
    /// Whether only integers count; `low` and `high` are integers then.
    pub(crate) whole: bool,
}

/// The last point for which `holds`, or slightly more: it is true up to there, then false.
///
/// Where it fails everywhere this is `low`. The search moves away from the guess in growing steps until it has seen both
/// answers, then bisects: integers to the end, reals to the last bits.
pub(crate) fn last(between: Between, mut holds: impl FnMut(f64) -> bool) -> f64 {
    let Between { mut low, mut high, guess, step, whole } = between;
    let fine = if whole { 0.0 } else { FINE * (high - low) };
    let mut step = if whole { step.max(1.0) } else { step };
    let (mut point, mut passed_once, mut failed_once) = (guess, false, false);
    if !whole && holds(high) {
        return high;
    }
    for _ in 0..MOST_PROBES {
        let gap = high - low;
        if !(gap > fine) {
            break;
        }
        let middle = low + gap / 2.0;
        let probe = if passed_once && failed_once { middle } else { point };
        let probe = if whole {
            probe.ceil().clamp(low + 1.0, high)
        } else if probe > low && probe < high {
            probe
        } else {
            middle
        };
        if holds(probe) {
            (low, point, passed_once) = (probe, probe + step, true);
        } else {
            (high, point, failed_once) = (if whole { probe - 1.0 } else { probe }, probe - step, true);
        }
        step *= 2.0;
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_found_to_the_end_from_any_guess() {
        for truth in [-3.0, 0.0, 1.0, 17.0, 999.0, 1000.0] {
            for guess in [f64::NEG_INFINITY, -5.0, 0.0, 16.5, 500.0, 1e9] {
                let between = Between { low: 0.0, high: 1000.0, guess, step: 0.3, whole: true };
                assert_eq!(last(between, |k| k <= truth), truth.clamp(0.0, 1000.0), "{truth} {guess}");
            }
        }
    }

    #[test]
    fn reals_are_found_from_above() {
        for truth in [-1.0, 0.0, 0.3, 7.77, 10.0, 20.0] {
            let between = Between { low: 0.0, high: 10.0, guess: 4.0, step: 0.01, whole: false };
            let found = last(between, |k| k <= truth);
            let clamped = f64::clamp(truth, 0.0, 10.0);
            assert!(found >= clamped && found <= clamped + 2e-13, "{truth}: {found}");
        }
    }

    #[test]
    fn what_is_no_number_ends_the_search() {
        let between = Between { low: 0.0, high: f64::NAN, guess: 0.0, step: 1.0, whole: false };
        assert!(last(between, |_| false).is_nan());
    }
}
