//! Two Laplace laws with the same scale.

use super::linear_pair::MARGIN;
use super::{Profile, parameter};
use crate::Result;

/// The profile of two Laplace laws whose centres are `epsilon0` scales apart.
#[derive(Debug, Clone)]
pub struct LaplacePair {
    epsilon0: f64,
}

impl LaplacePair {
    /// The pair of a mechanism that is `epsilon0`-DP: sensitivity over scale.
    ///
    /// # Errors
    ///
    /// If `epsilon0` is not positive and finite.
    pub fn new(epsilon0: f64) -> Result<Self> {
        Ok(Self { epsilon0: parameter::positive("epsilon0", epsilon0)? })
    }

    fn delta(&self, epsilon: f64) -> f64 {
        if epsilon >= self.epsilon0 {
            0.0
        } else if epsilon <= -self.epsilon0 {
            -epsilon.exp_m1()
        } else {
            -(0.5 * (epsilon - self.epsilon0)).exp_m1()
        }
    }
}

impl Profile for LaplacePair {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        if epsilon.is_nan() {
            1.0
        } else if epsilon >= self.epsilon0 {
            0.0
        } else {
            // The margin is relative; the next double covers what underflows.
            (self.delta(epsilon) * (1.0 + MARGIN)).next_up().min(1.0)
        }
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        // Sensitivity over scale was rounded up: the laws may be closer by that.
        let least = Self { epsilon0: self.epsilon0.next_down() };
        if epsilon.is_nan() { 0.0 } else { least.delta(epsilon) * (1.0 - MARGIN) }
    }

    fn epsilon_upper(&self, delta: f64) -> f64 {
        if !(delta > 0.0) {
            return if delta == 0.0 { self.epsilon0 } else { f64::INFINITY };
        }
        // The inverse of 1 - exp((eps - eps0)/2), from the safe side.
        let epsilon = self.epsilon0 + 2.0 * (-delta.min(0.5)).ln_1p() * (1.0 - 2.0 * MARGIN);
        super::inverse::settle(
            &|epsilon| self.delta_upper(epsilon),
            if delta < 0.5 { epsilon.max(0.0) } else { 0.0 },
            delta,
        )
        .min(self.epsilon0)
    }

    fn kinks(&self) -> Vec<f64> {
        vec![-self.epsilon0, self.epsilon0]
    }

    fn renyi_upper(&self, order: f64) -> f64 {
        if order == f64::INFINITY {
            return self.epsilon0 * (1.0 + MARGIN);
        }
        // [Mir17] Table II: ln(l/(2l-1) e^((l-1) eps0) + (l-1)/(2l-1) e^(-l eps0))/(l-1), less its value at eps0 = 0,
        // where the weights sum to one.
        // Both sums are divided by l: 2l - 1 alone overflows at the largest orders, and would leave no divergence.
        let (excess, total) = (order - 1.0, 2.0 - 1.0 / order);
        let up = excess * self.epsilon0;
        let value = if up < 1.0 {
            // One expm1 against the other: e^((l-1)e) - 1 + (l-1)/l (e^(-l e) - 1), each less its linear part.
            let sum =
                super::shape::exp_m1_minus(up) + excess / order * super::shape::exp_m1_minus(-order * self.epsilon0);
            (sum / total).ln_1p() / excess
        } else {
            let down = excess / order * (-(total * order * self.epsilon0)).exp();
            (up - total.ln() + down.ln_1p()) / excess
        };
        value.clamp(0.0, self.epsilon0) * (1.0 + MARGIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The positive part of p - exp(eps) q over a fine grid of places, midpoints in cells that end at both centres.
    fn by_hand(epsilon0: f64, epsilon: f64) -> f64 {
        let density = |x: f64| 0.5 * (-x.abs()).exp();
        let pieces = [(-40.0, 0.0), (0.0, epsilon0), (epsilon0, epsilon0 + 40.0)];
        let mut sum = 0.0;
        for (low, high) in pieces {
            let width = (high - low) / 20_000.0;
            for i in 0..20_000 {
                let x = low + (f64::from(i) + 0.5) * width;
                sum += (density(x - epsilon0) - epsilon.exp() * density(x)).max(0.0) * width;
            }
        }
        sum
    }

    #[test]
    fn delta_is_the_integral_of_what_one_law_has_more() {
        for epsilon0 in [0.2, 1.0, 3.0] {
            let pair = LaplacePair::new(epsilon0).unwrap();
            for epsilon in [-4.0, -1.0, -0.1, 0.0, 0.15, 0.9, 2.5, 3.5] {
                let (lower, upper, exact) =
                    (pair.delta_lower(epsilon), pair.delta_upper(epsilon), by_hand(epsilon0, epsilon));
                assert!(lower <= upper && upper <= lower * (1.0 + 3.0 * MARGIN) + 1e-15, "{epsilon0} {epsilon}");
                assert!((upper - exact).abs() < 1e-6, "{epsilon0} {epsilon}: {upper} {exact}");
            }
        }
    }

    #[test]
    fn bounds_enclose_the_formula_and_epsilon_inverts_it() {
        for epsilon0 in [1e-6_f64, 0.2, 1.0, 3.0, 8.0] {
            let pair = LaplacePair::new(epsilon0).unwrap();
            for share in [0.0, 0.1, 0.5, 0.9, 0.999] {
                // One less the square root of the ratio of the largest likelihood ratio and exp(eps).
                let epsilon = share * epsilon0;
                let exact = 1.0 - (0.5 * (epsilon - epsilon0)).exp();
                let room = 2e-16;
                assert!(pair.delta_lower(epsilon) <= exact + room && exact - room <= pair.delta_upper(epsilon));
                let found = pair.epsilon_upper(pair.delta_upper(epsilon));
                assert!((found - epsilon).abs() <= 1e-9 * epsilon0, "{epsilon0} {share}: {found}");
                assert!(pair.delta_upper(found) <= pair.delta_upper(epsilon));
            }
            assert_eq!((pair.epsilon_upper(0.0), pair.epsilon_upper(1.0)), (epsilon0, 0.0));
            assert!(pair.epsilon_upper(-1e-9).is_infinite() && pair.epsilon_upper(f64::NAN).is_infinite());
            assert_eq!((pair.delta_upper(epsilon0), pair.delta_upper(f64::NAN)), (0.0, 1.0));
            assert_eq!(pair.delta_lower(f64::NAN), 0.0);
            assert_eq!(pair.kinks(), [-epsilon0, epsilon0]);
        }
    }

    #[test]
    fn renyi_divergences_are_the_integrals_of_powers_of_densities() {
        // ln of the integral of p^l q^(1-l), over l - 1: mpmath, quadrature of the densities with 30 digits.
        for (epsilon0, order, expected) in [
            (0.01, 1.5, 0.000_074_749_693_736_344_519),
            (0.01, 30.0, 0.001_473_921_438_481_687_51),
            (0.3, 2.0, 0.079_590_067_169_134_178_7),
            (0.5, 3.5, 0.298_379_183_557_472_357),
            (0.7, 2.5, 0.410_555_035_209_647_872),
            (1.5, 1.2, 0.830_266_220_520_873_884),
            (1.5, 3.0, 1.244_771_515_592_926_62),
            (4.0, 1.1, 3.137_365_021_017_100_79),
            (4.0, 9.0, 3.920_501_404_160_000_41),
            (20.0, 1.01, 19.014_770_357_066_790_1),
            (20.0, 40.0, 19.982_549_528_247_356_8),
        ] {
            let found = LaplacePair::new(epsilon0).unwrap().renyi_upper(order);
            assert!(found >= expected && found <= expected * (1.0 + 2.0 * MARGIN), "{epsilon0} {order}: {found}");
        }
        let pair = LaplacePair::new(2.0).unwrap();
        assert!(pair.renyi_upper(f64::INFINITY) >= 2.0 && pair.renyi_upper(1e300) >= 2.0 - 1e-12);
    }

    #[test]
    fn divergences_of_small_budgets_keep_their_digits() {
        // [Mir17] Table II with 60 digits (mpmath).
        for (epsilon0, order, exact) in [
            (1e-6, 1.5, 7.499_997_499_999_687e-13),
            (1e-6, 1000.0, 4.999_997_500_834_637e-10),
            (1e-3, 1.001, 5.003_332_082_832_264e-7),
            (0.01, 40.0, 1.943_805_199_485_099_3e-3),
            (0.25, 3.0, 0.081_985_175_831_923_768),
            (0.5, 2.5, 0.238_712_658_834_084_02),
            (2.0, 1.25, 1.310_346_433_962_509_8),
        ] {
            let found = LaplacePair::new(epsilon0).unwrap().renyi_upper(order);
            assert!(found >= exact && found <= exact * (1.0 + 2e-11), "{epsilon0} {order}: {found:e} {exact:e}");
        }
    }
}
