//! Log-concave densities on the line, written around their mode: density(mode + x) = peak exp(-D(x)).
//!
//! The deviance D is convex, D(0) = D'(0) = 0. All losses of this library are linear in a variable of one of these
//! laws: the logit of a beta variable, the logarithm of a gamma variable, a normal variable.

use super::lanes::{self, each};
use crate::double_double::DoubleDouble;
use crate::log_gamma_extended::stirling_remainder;

/// ln(2 pi) / 2.
const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_74;

/// Past this argument exp overflows soon.
const LARGE: f64 = 600.0;

/// A family and its parameters.
#[derive(Debug, Clone, Copy)]
pub(super) enum Family {
    /// The logit of Beta(p, q).
    Logit { p: f64, q: f64, n: f64 },
    /// The logarithm of Gamma(s), or its negative.
    LogGamma { s: f64, reversed: bool },
    /// A normal variable with unit variance.
    Normal,
}

/// A family, the place of its mode and the logarithm of its density there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    family: Family,
    /// Where the mode lies, in the variable whose origin the family's singularities are placed around.
    pub(super) mode: DoubleDouble,
    /// The logarithm of the density at the mode.
    pub(super) log_peak: f64,
}

impl Shape {
    /// The logit of Beta(p, q): mode ln(p/q), D(x) = (p+q) ln((q + p e^x)/(p+q)) - p x.
    pub(super) fn logit_beta(p: DoubleDouble, q: DoubleDouble) -> Self {
        let n = p + q;
        // Stirling: everything but the remainders and half a logarithm cancels at the mode.
        let remainders = stirling_remainder(n) - stirling_remainder(p) - stirling_remainder(q);
        let log_peak = 0.5 * (p.to_f64() / n.to_f64() * q.to_f64()).ln() - HALF_LN_TWO_PI + remainders.to_f64();
        // ln(p/q) = ln((q + (p - q))/q), relative to p - q.
        let family = Family::Logit { p: p.to_f64(), q: q.to_f64(), n: n.to_f64() };
        Self { family, mode: q.ln_ratio(p - q), log_peak }
    }

    /// The logarithm of Gamma(s), or its negative: mode ln s, D(x) = s (e^x - 1 - x).
    pub(super) fn log_gamma(s: DoubleDouble, reversed: bool) -> Self {
        let log_peak = 0.5 * s.to_f64().ln() - HALF_LN_TWO_PI - stirling_remainder(s).to_f64();
        let mode = if reversed { -s.ln() } else { s.ln() };
        Self { family: Family::LogGamma { s: s.to_f64(), reversed }, mode, log_peak }
    }

    /// A normal variable with unit variance and this mean.
    pub(super) fn normal(mean: DoubleDouble) -> Self {
        Self { family: Family::Normal, mode: mean, log_peak: -HALF_LN_TWO_PI }
    }

    /// The law of the negative of the variable.
    pub(super) fn mirrored(self) -> Self {
        let family = match self.family {
            Family::Logit { p, q, n } => Family::Logit { p: q, q: p, n },
            Family::LogGamma { s, reversed } => Family::LogGamma { s, reversed: !reversed },
            Family::Normal => Family::Normal,
        };
        Self { family, mode: -self.mode, log_peak: self.log_peak }
    }

    /// D(x), relative to D to a few units in the last place.
    pub(super) fn deviance(&self, x: f64) -> f64 {
        match self.family {
            Family::Logit { p, q, n } => {
                let (small, big, y) = oriented(p, q, x);
                if y > LARGE {
                    return big * y + n * (small / n).ln();
                }
                if y.abs() < 1.0 {
                    // The two terms have opposite signs, the first at most (1 + rho)/2 of the second, rho <= 1/2.
                    let bend = exp_m1_minus(y);
                    n * ln_1p_minus(small / n * (y + bend)) + small * bend
                } else {
                    n * ln_1p(small / n * exp_m1(y)) - small * y
                }
            }
            Family::LogGamma { s, reversed } => s * exp_m1_minus(if reversed { -x } else { x }),
            Family::Normal => 0.5 * x * x,
        }
    }

    /// D at neighbouring points of one panel, where it is at most about 60.
    #[inline(always)]
    pub(super) fn deviances<const N: usize>(&self, x: &[f64; N]) -> [f64; N] {
        match self.family {
            Family::LogGamma { s, reversed } => {
                let sign = if reversed { -1.0 } else { 1.0 };
                let widest = x.iter().fold(0.0, |widest: f64, x| widest.max(x.abs()));
                // Where a panel reaches beyond 0.3 the bound of D has s below 1500: what cancels near 0 is below 1e-13.
                if widest < 0.06 {
                    each(x, |x| s * bend::<8>(sign * x))
                } else if widest < 0.3 {
                    each(x, |x| s * bend::<12>(sign * x))
                } else {
                    each(x, |x| s * (lanes::exp_m1(sign * x) - sign * x))
                }
            }
            Family::Normal | Family::Logit { .. } => each(x, |x| self.deviance(x)),
        }
    }

    /// D'(x).
    pub(super) fn slope(&self, x: f64) -> f64 {
        match self.family {
            Family::Logit { p, q, .. } => {
                if x > 0.0 {
                    -(p * q) * (-x).exp_m1() / (p + q * (-x).exp())
                } else {
                    (p * q) * x.exp_m1() / (q + p * x.exp())
                }
            }
            Family::LogGamma { s, reversed: false } => s * x.exp_m1(),
            Family::LogGamma { s, reversed: true } => -s * (-x).exp_m1(),
            Family::Normal => x,
        }
    }

    /// D''(x).
    pub(super) fn curvature(&self, x: f64) -> f64 {
        match self.family {
            Family::Logit { p, q, n } => {
                let e = (-x.abs()).exp();
                let (near, far) = if x > 0.0 { (p, q) } else { (q, p) };
                let t = far / near * e;
                n * t / ((1.0 + t) * (1.0 + t))
            }
            Family::LogGamma { s, reversed } => s * (if reversed { -x } else { x }).exp(),
            Family::Normal => 1.0,
        }
    }

    /// The scale on which the density near x is analytic, which bounds the panels that a polynomial rule integrates.
    ///
    /// In the plane the density explodes at imaginary distance pi from a stretch of the line, where a factor
    /// (1 + e^w)^-p, (1 + e^-w)^-q or exp(-e^w) is neither near 1 nor a plain exponential. Where such a factor is
    /// small anyway the curvature limits the panels first.
    pub(super) fn distance(&self, x: f64) -> f64 {
        let (low, high) = match self.family {
            Family::Normal => return f64::INFINITY,
            Family::Logit { p, q, .. } => (-q.max(1.0).ln(), p.max(1.0).ln()),
            Family::LogGamma { reversed: false, .. } => (0.0, f64::INFINITY),
            Family::LogGamma { reversed: true, .. } => (f64::NEG_INFINITY, 0.0),
        };
        let w = x + self.mode.to_f64();
        (low - w).max(w - high).max(0.0).hypot(std::f64::consts::PI)
    }
}

/// The parameters with the smaller first, and x turned so that the law stays the same.
fn oriented(p: f64, q: f64, x: f64) -> (f64, f64, f64) {
    if p <= q { (p, q, x) } else { (q, p, -x) }
}

/// exp(x) - 1 - x without cancellation.
pub(super) fn exp_m1_minus(x: f64) -> f64 {
    if x.abs() >= 1.0 {
        return x.exp() - 1.0 - x;
    }
    // x^2 (1/2! + x/3! + ...), as many terms as reach 1e-16 of the sum.
    if x.abs() < 0.06 {
        bend::<8>(x)
    } else if x.abs() < 0.3 {
        bend::<12>(x)
    } else {
        bend::<18>(x)
    }
}

/// exp(x) - 1 - x by N terms of its series.
#[inline(always)]
fn bend<const N: usize>(x: f64) -> f64 {
    x * x * polynomial::<N>(&INVERSE_FACTORIALS, x)
}

/// exp(x) - 1 to a few units in the last place; several times faster than the library's, whose exp is fast.
pub(super) fn exp_m1(x: f64) -> f64 {
    if x.abs() < 0.3 { x + exp_m1_minus(x) } else { x.exp() - 1.0 }
}

/// ln(1 + t) likewise, for t >= -1/2.
fn ln_1p(t: f64) -> f64 {
    if t.abs() < 0.3 { t + ln_1p_minus(t) } else { (1.0 + t).ln() }
}

/// The first N coefficients as a polynomial in x, even and odd powers apart: two chains are faster than one.
#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f64], x: f64) -> f64 {
    let square = x * x;
    let (mut even, mut odd) = (0.0, 0.0);
    for pair in coefficients[..N].chunks_exact(2).rev() {
        even = even * square + pair[0];
        odd = odd * square + pair[1];
    }
    even + x * odd
}

/// 1/k! for k = 2, 3, ...
const INVERSE_FACTORIALS: [f64; 18] = {
    let mut table = [0.0; 18];
    let mut factorial = 1.0;
    let mut k = 0;
    while k < 18 {
        factorial *= (k + 2) as f64;
        table[k] = 1.0 / factorial;
        k += 1;
    }
    table
};

/// 1/(2j + 3) for j = 0, 1, ...
const INVERSE_ODD: [f64; 16] = {
    let mut table = [0.0; 16];
    let mut j = 0;
    while j < 16 {
        table[j] = 1.0 / (2 * j + 3) as f64;
        j += 1;
    }
    table
};

/// ln(1 + t) - t without cancellation, for -1/2 <= t <= 1.
pub(super) fn ln_1p_minus(t: f64) -> f64 {
    // With s = t/(2 + t): ln(1 + t) = 2 atanh s and 2 s - t = -t s.
    let s = t / (2.0 + t);
    let square = s * s;
    let sum = if square < 2.5e-3 {
        polynomial::<6>(&INVERSE_ODD, square)
    } else if square < 1e-2 {
        polynomial::<8>(&INVERSE_ODD, square)
    } else {
        polynomial::<16>(&INVERSE_ODD, square)
    };
    s * (2.0 * square * sum - t)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beta(p: f64, q: f64) -> Shape {
        Shape::logit_beta(p.into(), q.into())
    }

    const BETAS: [(f64, f64); 6] = [(1.0, 1.0), (0.3, 7.0), (7.0, 0.3), (40.0, 41.0), (1e6, 2.0), (1e-4, 1e-4)];

    #[test]
    fn slopes_and_curvatures_of_logits_are_those_of_the_logistic_curve() {
        for (p, q) in BETAS {
            let (shape, n) = (beta(p, q), p + q);
            for i in -120..=120 {
                let x = 0.25 * f64::from(i);
                // D = n ln(q + p e^x) - p x + ..., so that D' = n s - p and D'' = n s (1 - s), s the share of p e^x.
                let (share, rest) = (1.0 / (1.0 + q / p * (-x).exp()), 1.0 / (1.0 + p / q * x.exp()));
                let (slope, curvature) = (n * share - p, n * share * rest);
                assert!(
                    (shape.slope(x) - slope).abs() <= 1e-13 * n.max(slope.abs()),
                    "{p} {q} {x}: {}",
                    shape.slope(x)
                );
                assert!((shape.curvature(x) / curvature - 1.0).abs() < 1e-13, "{p} {q} {x}: {}", shape.curvature(x));
            }
        }
        for (reversed, sign) in [(false, 1.0), (true, -1.0)] {
            let shape = Shape::log_gamma(3.5.into(), reversed);
            for x in [-4.0, -0.5, 0.0, 0.1, 2.0] {
                let power = f64::exp(sign * x);
                assert!((shape.slope(x) - sign * 3.5 * (power - 1.0)).abs() < 1e-13 * (1.0 + power), "{x}");
                assert!((shape.curvature(x) / (3.5 * power) - 1.0).abs() < 1e-15, "{x}");
            }
        }
    }

    #[test]
    fn what_is_left_of_exponentials_and_logarithms_keeps_its_digits_in_each_range() {
        let sum = |terms: &dyn Fn(i32) -> f64, x: f64| (2..60).rev().fold(0.0, |sum, k| sum * x + terms(k)) * x * x;
        let factorial = |k: i32| (1..=k).map(f64::from).product::<f64>();
        for i in -500..=1_000 {
            let t = 1e-3 * f64::from(i);
            // By sixty terms where they fall fast, by the library's functions where nothing cancels.
            let (power, logarithm) = if t.abs() < 0.2 {
                (sum(&|k| 1.0 / factorial(k), t), sum(&|k| if k % 2 == 0 { -1.0 } else { 1.0 } / f64::from(k), t))
            } else {
                (t.exp_m1() - t, t.ln_1p() - t)
            };
            let near = |found: f64, exact: f64, room: f64| (found - exact).abs() <= room * exact.abs();
            assert!(near(exp_m1_minus(t), power, 1e-14), "{t}: {:e} {power:e}", exp_m1_minus(t));
            assert!(near(ln_1p_minus(t), logarithm, 1e-14), "{t}: {:e} {logarithm:e}", ln_1p_minus(t));
            assert!(near(exp_m1(t), t.exp_m1(), 1e-15) && near(ln_1p(t), t.ln_1p(), 1e-15), "{t}");
            for sign in [1.0, -1.0] {
                let shape = Shape::log_gamma(1.0.into(), sign < 0.0);
                let (one, panel) = (shape.deviance(sign * t), shape.deviances(&[sign * t, 0.5 * sign * t]));
                assert!(near(one, power, 1e-14) && near(panel[0], power, 1e-13), "{t}: {one:e} {:e}", panel[0]);
            }
        }
    }

    #[test]
    fn far_from_the_mode_the_deviance_is_a_line_at_any_distance() {
        for (p, q) in BETAS {
            let (shape, n) = (beta(p, q), p + q);
            for x in [30.0, 45.0, 300.0, 599.9, 600.1, 650.0, 3e3, 1e7] {
                // Of q + p e^x one term is left; the other one adds its share.
                let right = q * x + n * ((p / n).ln() + (q / p * f64::exp(-x)).ln_1p());
                let left = p * x + n * ((q / n).ln() + (p / q * f64::exp(-x)).ln_1p());
                for (at, exact) in [(x, right), (-x, left)] {
                    let (found, turned) = (shape.deviance(at), shape.mirrored().deviance(-at));
                    assert!(
                        (found - exact).abs() <= 1e-13 * (exact.abs() + n + x * p.max(q)),
                        "{p} {q} {at}: {found} {exact}"
                    );
                    assert!((turned - found).abs() <= 1e-15 * found, "{p} {q} {at}: {turned}");
                }
            }
        }
        let shape = Shape::log_gamma(2.0.into(), false);
        assert_eq!(
            (shape.mirrored().deviance(-1.5), shape.mirrored().slope(-1.5)),
            (shape.deviance(1.5), -shape.slope(1.5))
        );
    }

    #[test]
    fn the_distance_is_that_of_the_nearest_singularity() {
        let pi = std::f64::consts::PI;
        // Singularities lie at height pi over the stretch from -ln q to ln p, or over half a line.
        let (low, high) = (-(5.0_f64.ln()), 8.0_f64.ln());
        let mode = 1.6_f64.ln();
        let logit = beta(8.0, 5.0);
        for (w, exact) in [(low, pi), (0.5, pi), (high, pi), (high + 2.0, pi.hypot(2.0)), (low - 7.0, pi.hypot(7.0))] {
            assert!((logit.distance(w - mode) - exact).abs() < 1e-12, "{w}");
        }
        // Small parameters have their stretch at zero.
        let small = beta(0.5, 0.25);
        assert!((small.distance(3.0 - 2.0_f64.ln()) - pi.hypot(3.0)).abs() < 1e-12);
        assert!((small.distance(-3.0 - 2.0_f64.ln()) - pi.hypot(3.0)).abs() < 1e-12);
        for (reversed, sign) in [(false, 1.0), (true, -1.0)] {
            let shape = Shape::log_gamma(4.0.into(), reversed);
            let mode = sign * 4.0_f64.ln();
            assert!((shape.distance(sign * 3.0 - mode) - pi).abs() < 1e-12);
            assert!((shape.distance(-sign * 3.0 - mode) - pi.hypot(3.0)).abs() < 1e-12);
        }
        assert_eq!(Shape::normal(0.0.into()).distance(9.0), f64::INFINITY);
    }
}
