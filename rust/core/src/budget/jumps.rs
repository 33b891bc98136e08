//! What makes a Gaussian pair lopsided: jumps of one height, as often as a Poisson law says.
//!
//! Where records are added or removed the losses of a release may be skewed: to the right in one direction, to the left in
//! the other. A Gaussian pair is not, and pays for the heavier side everywhere. So a book may hold
//! D_M = N(sqrt M, 1) against N(0, 1), times T_(c M): Poisson(t) against Poisson(t e^-h), of which the loss is
//! h N - t (1 - e^-h), t = c M. Both families add up, so D_M x D_m = D_(M+m).

use super::law::Side;

/// Jumps beside a Gaussian pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Jumps {
    /// How many are expected for each unit of M, in the direction in which they add to losses.
    pub(super) often: f64,
    /// Their height h.
    pub(super) height: f64,
    /// The direction in which they add to losses: 0 or 1.
    pub(super) rising: usize,
}

/// More jumps than this are not held.
pub(super) const MOST: f64 = 500.0;
/// How far masses may be off: their recurrence rounds up to three times for each of some 700 jumps, 2^-53 each.
const ROUNDING: f64 = 1e-12;
/// Masses below this part of all are left out.
const LEAST: f64 = 1e-19;
/// The share of the variance that jumps have at most: what is left smooths everything.
const MOST_SHARE: f64 = 0.6;
/// Less than this skewness, over the width of all that a book may hold, is not worth it.
const WORTH: f64 = 0.01;

impl Jumps {
    /// No jumps: a Gaussian pair.
    pub(super) const NONE: Self = Self { often: 0.0, height: 0.0, rising: 0 };

    pub(super) fn is_none(&self) -> bool {
        self.often == 0.0
    }

    /// Those with the third cumulant, and where that is possible the fourth, of losses with these cumulants, beside a Gaussian
    /// pair with the rest of the variance; none where a book of so many times the variance is symmetrical enough.
    pub(super) fn like(cumulants: [f64; 3], rising: usize, times: f64) -> Self {
        let [second, third, fourth] = cumulants;
        if !(third > 0.0 && second > 0.0 && third / (second * (second * times).sqrt()) > WORTH) {
            return Self::NONE;
        }
        let height = (fourth / third).max(third / (MOST_SHARE * second));
        let share = third / (height * second);
        let often = share / ((1.0 - share) * height * height);
        let fits = often.is_finite() && often > 0.0 && height < 1.0;
        if fits { Self { often, height, rising } } else { Self::NONE }
    }

    /// The part of the variance of all losses that is Gaussian.
    pub(super) fn gaussian_share(&self) -> f64 {
        1.0 / (1.0 + self.often * self.height * self.height)
    }

    /// The law of the losses of T_(c M) in this direction: masses from below, or else from above, all that was left out at
    /// infinity.
    pub(super) fn law(&self, square: f64, direction: usize, above: bool) -> Side {
        if self.is_none() {
            return Side { atoms: vec![(0.0, 1.0)], infinite: 0.0 };
        }
        let expected = self.often * square;
        let drift = -expected * (-self.height).exp_m1();
        let (mean, sign) = if direction == self.rising { (expected, 1.0) } else { (expected - drift, -1.0) };
        let factor = if above { 1.0 + ROUNDING } else { 1.0 - ROUNDING };
        let mut atoms = Vec::new();
        let (mut mass, mut count) = ((-mean).exp(), 0.0);
        loop {
            if mass >= LEAST {
                atoms.push((sign * (self.height * count - drift), mass * factor));
            }
            count += 1.0;
            mass *= mean / count;
            if count > mean && mass < LEAST {
                break;
            }
        }
        // Beyond the last one masses fall by at least the factor mean/(mean + 1) each, and before the first by more.
        let infinite = if above { 4.0 * LEAST * (mean + 2.0) } else { 0.0 };
        Side { atoms, infinite }
    }
}
