//! Minimum of a unimodal function; used where any point gives a valid bound and the best one only a sharper one.

/// (sqrt(5) - 1)/2.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The best of the points that a golden-section search over [low, high] visits, and its value.
///
/// The result is a value of `f` at a point of the interval, so that an upper bound stays one even if `f` should not be
/// unimodal.
pub(crate) fn golden_minimum(f: impl Fn(f64) -> f64, low: f64, high: f64, steps: usize) -> (f64, f64) {
    let (mut low, mut high) = (low, high);
    let mut left = high - GOLDEN * (high - low);
    let mut right = low + GOLDEN * (high - low);
    let (mut at_left, mut at_right) = (f(left), f(right));
    let mut best = if at_left <= at_right { (left, at_left) } else { (right, at_right) };
    for _ in 0..steps {
        if at_left <= at_right {
            high = right;
            (right, at_right) = (left, at_left);
            left = high - GOLDEN * (high - low);
            at_left = f(left);
            if at_left < best.1 {
                best = (left, at_left);
            }
        } else {
            low = left;
            (left, at_left) = (right, at_right);
            right = low + GOLDEN * (high - low);
            at_right = f(right);
            if at_right < best.1 {
                best = (right, at_right);
            }
        }
        if !(high - low > 1e-12 * (1.0 + low.abs())) {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_of_a_parabola_is_found() {
        let (at, value) = golden_minimum(|x| (x - 0.3) * (x - 0.3), -1.0, 4.0, 80);
        assert!((at - 0.3).abs() < 1e-6 && value < 1e-12);
    }
}
