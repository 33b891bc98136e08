//! The scale of the Dirichlet mechanism for a wanted Renyi guarantee, Algorithm 1 of \[DM\].

use crate::accounting::MARGIN;
use crate::roots::{Search, Side, Space, Trend};
use crate::rounding::{product_down, product_up, sum_up, total_product_up};
use crate::special::trigamma;
use crate::{Error, Result};

/// Relative distance by which the scale is taken below the computed root. The computed guarantee carries an error
/// below 2.2e-15 (trigamma 4 ulp, eight roundings, the condition 2 of trigamma in its argument), and the relative
/// error of the scale is at most that of the guarantee.
const PRIVATE_MARGIN: f64 = 2.5e-15;

/// Less than asked by more than curves round their divergences up.
const REPORT_MARGIN: f64 = 4.0 * MARGIN;

/// The square of an l2-sensitivity, rounded up so that it holds also where the sensitivity itself is the nearest double to
/// the root that was meant.
pub fn squared(l2: f64) -> f64 {
    product_up(l2.next_up(), l2.next_up())
}

/// The range in which the scale is searched.
const SCALE_RANGE: (f64, f64) = (1e-150, 1e150);

/// The parameters of [DM Alg. 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlgorithmOne {
    /// Renyi order, lambda in the paper; above 1.
    pub order: f64,
    /// Renyi divergence allowed at that order.
    pub epsilon: f64,
    /// Squared l2-sensitivity, Delta_2^2 in the paper.
    pub l2_squared: f64,
    /// l-infinity sensitivity, Delta_inf in the paper.
    pub linf: f64,
    /// Public lower bound of the counts, b in [DM Remark 2].
    pub floor: f64,
    /// g(r) = slack (lambda-1) r Delta_inf in [DM Remark 1]: 3 is Algorithm 1, 0 has a closed form without floor.
    pub slack: f64,
}

impl AlgorithmOne {
    /// The largest scale r, rounded towards privacy, with
    /// (lambda/2) r^2 Delta_2^2 psi'(1 + b r + g(r)) <= epsilon. Within 1e-14 of the root, never above it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] for a value outside its range, [`Error::Numerical`] when the root lies outside
    /// 1e-150 .. 1e150.
    pub fn scale(&self) -> Result<f64> {
        self.check()?;
        // The equation is factor r^2 psi'(1 + growth r) = 1.
        let factor = 0.5 * self.order * self.l2_squared / self.epsilon;
        let growth = self.floor + self.slack * (self.order - 1.0) * self.linf;
        let closed = 1.0 / (factor * trigamma(1.0)).sqrt();
        if growth == 0.0 && closed.is_normal() {
            return Ok(closed * (1.0 - PRIVATE_MARGIN));
        }
        let search = Search {
            routine: "the scale of Algorithm 1",
            trend: Trend::Increasing,
            side: Side::Left,
            space: Space::Log,
            tolerance: 1e-15,
        };
        // r^2 psi'(1 + growth r) is below r^2 psi'(1) and behaves as r/growth for large r.
        let start = closed + growth / factor;
        let root = search.solve(|r| self::log_equation(factor, growth, r), start, SCALE_RANGE)?;
        Ok(root.x * (1.0 - PRIVATE_MARGIN))
    }

    /// The prior that goes with a scale: alpha = 1 + (slack + 1)(lambda - 1) r Delta_inf, rounded up, towards privacy.
    pub fn prior(&self, scale: f64) -> f64 {
        let factors = [sum_up(self.slack, 1.0), sum_up(self.order, -1.0), scale, self.linf];
        sum_up(1.0, total_product_up(factors))
    }

    /// Scale and prior for which what a curve reports at the order, margins included, is at most epsilon too.
    ///
    /// # Errors
    /// As [`AlgorithmOne::scale`].
    pub fn mechanism(&self) -> Result<(f64, f64)> {
        let scale = Self { epsilon: product_down(self.epsilon, 1.0 - REPORT_MARGIN), ..*self }.scale()?;
        Ok((scale, self.prior(scale)))
    }

    fn check(&self) -> Result<()> {
        let positive = "be positive and finite";
        let non_negative = "be non-negative and finite";
        for (name, rule, value, valid) in [
            ("order", "be above 1 and finite", self.order, self.order > 1.0),
            ("epsilon", positive, self.epsilon, self.epsilon > 0.0),
            ("l2_squared", positive, self.l2_squared, self.l2_squared > 0.0),
            ("linf", positive, self.linf, self.linf > 0.0),
            ("floor", non_negative, self.floor, self.floor >= 0.0),
            ("slack", non_negative, self.slack, self.slack >= 0.0),
        ] {
            if !(valid && value.is_finite()) {
                return Err(Error::parameter(name, rule, value));
            }
        }
        Ok(())
    }
}

/// ln(factor r^2 psi'(1 + growth r)) and its slope in r; nearly a straight line in ln r, of slope between 1 and 2.
fn log_equation(factor: f64, growth: f64, r: f64) -> [f64; 3] {
    let y = 1.0 + growth * r;
    let first = trigamma(y);
    // psi''(y) = psi''(y+1) - 2/y^3, with the asymptotic form one step up: 1e-3 is enough for a slope.
    let (u, v) = (1.0 / y, 1.0 / (y + 1.0));
    let second = -(v * v) * (1.0 + v + 0.5 * v * v) - 2.0 * u * u * u;
    let value = (factor * r * (r * first)).ln();
    [value, 2.0 / r + growth * second / first, f64::NAN]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_setting_gives_known_scales() {
        // Five digits from a root finder on scipy's polygamma.
        for (epsilon, scale) in [(0.001, 0.01216), (0.01, 0.04773), (0.1, 0.27757), (1.0, 2.44119), (10.0, 24.04162)] {
            let setting = AlgorithmOne { order: 5.0, epsilon, l2_squared: 2.0, linf: 1.0, floor: 0.0, slack: 3.0 };
            assert!((setting.scale().unwrap() - scale).abs() < 6e-6, "{:?}", setting.scale());
        }
    }

    #[test]
    fn the_achieved_guarantee_never_exceeds_the_target() {
        for order in [1.0 + 1e-9, 1.5, 5.0, 1e6] {
            for epsilon in [1e-12, 1e-3, 1.0, 1e12] {
                for (floor, slack) in [(0.0, 3.0), (0.0, 0.0), (7.0, 0.0), (2.0, 1.0)] {
                    let setting = AlgorithmOne { order, epsilon, l2_squared: 2.0, linf: 1.0, floor, slack };
                    let r = setting.scale().unwrap();
                    let y = 1.0 + floor * r + slack * (order - 1.0) * r;
                    let achieved = 0.5 * order * r * r * 2.0 * trigamma(y);
                    assert!(achieved <= epsilon && achieved >= epsilon * (1.0 - 1e-14), "{setting:?}: {achieved:e}");
                }
            }
        }
    }

    #[test]
    fn wrong_parameters_are_named() {
        let good = AlgorithmOne { order: 5.0, epsilon: 1.0, l2_squared: 2.0, linf: 1.0, floor: 0.0, slack: 3.0 };
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(AlgorithmOne { order: bad, ..good }.scale().is_err());
            assert!(AlgorithmOne { epsilon: bad, ..good }.scale().is_err());
            assert!(AlgorithmOne { floor: bad, ..good }.scale().is_err());
        }
        // Far outside any use: an error, not a hang.
        assert!(AlgorithmOne { epsilon: 1e-308, l2_squared: 1e308, ..good }.scale().is_err());
    }
}
