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

#[cfg(test)]
mod tests {
    use super::super::oracle;
    use super::*;

    #[test]
    fn masses_are_those_of_poisson_laws_on_the_side_that_was_asked_for() {
        for (often, height, square) in [(0.5, 0.3, 0.2), (40.0, 0.05, 1.0), (300.0, 0.9, 1.5), (1e-6, 0.5, 0.1)] {
            for rising in 0..2 {
                let jumps = Jumps { often, height, rising };
                for direction in 0..2 {
                    let exact = oracle::jumps(often * square, height, direction == rising);
                    let (low, high) = (jumps.law(square, direction, false), jumps.law(square, direction, true));
                    assert_eq!(low.infinite, 0.0);
                    let total = |side: &Side| side.atoms.iter().map(|atom| atom.1).sum::<f64>();
                    assert!(total(&low) <= 1.0 && total(&low) > 1.0 - 3e-12, "{}", total(&low));
                    assert!(total(&high) >= 1.0 && total(&high) < 1.0 + 3e-12, "{}", total(&high));
                    assert!(low.atoms.len() == high.atoms.len());
                    // What is left out is at infinity.
                    let mut left_out: f64 = exact.atoms.iter().map(|atom| atom.1).filter(|mass| *mass < LEAST).sum();
                    left_out += LEAST * 1e-3;
                    assert!(high.infinite >= left_out && high.infinite < 1e-15, "{} {left_out}", high.infinite);
                    let mut expected = exact.atoms.iter().filter(|atom| atom.1 >= LEAST * (1.0 - 1e-9)).peekable();
                    for (below, above) in low.atoms.iter().zip(&high.atoms) {
                        let (loss, mass) = *expected.next().unwrap();
                        assert_eq!(below.0, above.0);
                        assert!((below.0 - loss).abs() < 1e-12 * (1.0 + loss.abs()), "{} {loss}", below.0);
                        // Logarithms of factorials are right to parts in 10^13; the ends of the bracket are apart.
                        assert!((below.1 / mass - 1.0).abs() < 2e-11 && below.1 < above.1);
                        assert!((above.1 / below.1 - 1.0) >= 1.9e-12);
                    }
                    assert!(expected.peek().is_none());
                    // Both directions are one pair: exp(-loss) P is Q, where nothing of Q was left out with P.
                    let turned: f64 = low.atoms.iter().map(|(loss, mass)| mass * (-loss).exp()).sum();
                    assert!(often > 100.0 || (turned - 1.0).abs() < 1e-11, "{turned}");
                }
            }
        }
        let none = Jumps::NONE.law(3.0, 1, true);
        assert!(Jumps::NONE.is_none() && none.atoms == [(0.0, 1.0)] && none.infinite == 0.0);
        assert!(!Jumps { often: 1e-9, height: 0.1, rising: 0 }.is_none());
    }

    #[test]
    fn jumps_have_the_cumulants_they_were_made_for() {
        // Beside a Gaussian part of one, jumps c times as often and h high have cumulants c h^k.
        for (often, height) in [(0.5_f64, 0.3_f64), (20.0, 0.15), (3.0, 0.6)] {
            let cumulants = [1.0 + often * height.powi(2), often * height.powi(3), often * height.powi(4)];
            for rising in 0..2 {
                for size in [1.0, 0.01] {
                    let found = Jumps::like(cumulants.map(|c| c * size), rising, 1.0 / size);
                    assert_eq!(found.rising, rising);
                    assert!((found.height / height - 1.0).abs() < 1e-12 && (found.often / often - 1.0).abs() < 1e-12);
                    assert!((found.gaussian_share() * cumulants[0] - 1.0).abs() < 1e-12);
                }
            }
        }
        // A fourth cumulant that is too small for the third: jumps take the most of the variance that they may.
        let found = Jumps::like([1.0, 0.2, 1e-3], 0, 1.0);
        assert!((found.height - 0.2 / MOST_SHARE).abs() < 1e-15);
        assert!((found.gaussian_share() - (1.0 - MOST_SHARE)).abs() < 1e-15);
        assert!((found.often * found.height.powi(3) * found.gaussian_share() - 0.2).abs() < 1e-15);
    }

    #[test]
    fn what_is_hardly_skewed_or_skewed_too_far_has_no_jumps() {
        let none = |cumulants: [f64; 3], times: f64| Jumps::like(cumulants, 0, times).is_none();
        // The skewness over the whole book is third/second^1.5/sqrt(times).
        assert!(none([4.0, 0.0799, 0.01], 1.0) && !none([4.0, 0.0801, 0.01], 1.0));
        assert!(none([4.0, 0.801, 0.4], 101.0) && !none([4.0, 0.801, 0.4], 100.0));
        assert!(none([1.0, 0.0, 0.1], 1.0) && none([1.0, -0.3, 0.1], 1.0) && none([0.0, 0.1, 0.1], 1.0));
        assert!(none([1.0, f64::NAN, 0.1], 1.0) && none([f64::NAN, 0.1, 0.1], 1.0));
        // Jumps of one or more are too high.
        assert!(none([1.0, 0.1, 0.1], 1.0) && !none([1.0, 0.1, 0.099], 1.0) && none([1.0, 0.6, 0.0], 1.0));
        assert!(none([f64::INFINITY, 0.1, 0.1], 1.0));
    }
}
