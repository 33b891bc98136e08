//! The profile of a pair whose privacy loss is linear in a variable with a log-concave density.
//!
//! Loss L = r W - c under P and Q. At the threshold w* = (eps + c)/r both sides of the hockey-stick divergence meet,
//! p(w*) = exp(eps) q(w*), so
//!
//!   delta(eps) = integral over u > 0 of p(w* + u) (1 - exp(-r u)),
//!
//! an integral of a positive function: nothing cancels. Cut at a knot x_k at distance h right of the threshold,
//!
//!   delta = integral over 0 < u < h  +  P[W > x_k] (1 - exp(-r h)) + exp(-r h) delta_k,
//!
//! so that one partial panel per epsilon is enough once P and delta are known at the knots.

use std::sync::OnceLock;

use super::Profile;
use super::lanes::{self, each};
use super::quadrature::nodes_32;
use super::shape::{Shape, exp_m1};
use super::tail::Tail;
use crate::double_double::DoubleDouble;
use crate::once::kept;
use crate::wide::wide;

/// Reported bounds are the computed value times (1 +- MARGIN); the computed one errs by less (docs/privacy-curves.md).
pub const MARGIN: f64 = 1e-11;

/// Over longer panels, r h > SHORT, 1 - exp(-r u) is no longer smooth; there the two tails differ enough to subtract.
const SHORT: f64 = 2.5;
/// The same for the panel that holds a whole tail.
const LONG: f64 = 16.0;

/// P, Q and the slope of the loss.
#[derive(Debug, Clone)]
pub(super) struct LinearPair {
    p: Tail,
    q: Shape,
    /// The tail of Q, made when it is needed: where P and Q overlap little.
    q_tail: OnceLock<Tail>,
    r: f64,
    /// 1/r: a product costs each epsilon a quarter of a quotient.
    inverse_r: DoubleDouble,
    /// The threshold is (eps + c)/r; seen from the mode of P it is eps/r + offset_p.
    offset_p: DoubleDouble,
    offset_q: DoubleDouble,
    /// delta at the knots of P.
    delta: Vec<f64>,
}

/// delta(eps) and exp(eps) Q[L > eps], the negative of its derivative.
#[derive(Debug, Clone, Copy)]
pub(super) struct Excess {
    pub(super) delta: f64,
    pub(super) slope: f64,
}

impl LinearPair {
    /// The pair of laws P and Q of W with loss r W - c.
    pub(super) fn new(p: Shape, q: Shape, r: f64, c: DoubleDouble) -> Self {
        let inverse_r = DoubleDouble::ONE / r;
        let shift = c / r;
        let p = Tail::unfilled(p);
        let n = p.knots.len();
        let (offset_p, offset_q) = (shift - p.shape.mode, shift - q.mode);
        let mut pair = Self { p, q, q_tail: OnceLock::new(), r, inverse_r, offset_p, offset_q, delta: vec![0.0; n] };
        for k in (0..n).rev() {
            // delta at a knot is used by the panel to its left, unless that one takes the difference of the tails.
            if k > 0 && pair.is_long(k - 1) {
                pair.p.knots[k].mass = pair.p.mass_above(pair.p.knots[k].x);
                continue;
            }
            let at = pair.excess_at(pair.p.knots[k].x, None, k);
            pair.p.knots[k].mass = at.delta + at.slope;
            pair.delta[k] = at.delta;
        }
        pair
    }

    /// The computed delta(eps), before any margin.
    pub(super) fn excess(&self, epsilon: f64) -> Excess {
        if epsilon == f64::INFINITY {
            return Excess { delta: 0.0, slope: 0.0 };
        }
        if epsilon == f64::NEG_INFINITY || epsilon.is_nan() {
            return Excess { delta: 1.0, slope: 0.0 };
        }
        let t = self.inverse_r * epsilon;
        let x = (t + self.offset_p).to_f64();
        if !x.is_finite() {
            // r is at most 1e12, so that the quotient is beyond 1e280, also where its low part overflowed to NaN.
            return self.excess(f64::INFINITY.copysign(epsilon));
        }
        match self.p.locate(x) {
            Some(k) => self.excess_at(x, Some(epsilon), k),
            None => {
                let (knot, delta) = (self.p.knots[0], self.delta[0]);
                let lost = -(-self.r * (knot.x - x)).exp_m1();
                let total = knot.mass * lost + (1.0 - lost) * delta;
                Excess { delta: total, slope: knot.mass - total }
            }
        }
    }

    /// Whether 1 - exp(-r u) is not smooth on panel k, a closed one.
    fn is_long(&self, k: usize) -> bool {
        self.r * (self.p.knots[k + 1].x - self.p.knots[k].x) > SHORT
    }

    /// The epsilon of a point seen from the mode of P.
    fn epsilon_at(&self, x: f64) -> f64 {
        ((DoubleDouble::from(x) - self.offset_p) * self.r).to_f64()
    }

    /// `excess` for a point of panel k.
    fn excess_at(&self, x: f64, epsilon: Option<f64>, k: usize) -> Excess {
        if self.p.is_open(k) {
            return self.excess_beyond(x, epsilon);
        }
        let next = self.p.knots[k + 1];
        let h = next.x - x;
        if self.is_long(k) {
            return self.difference(self.p.mass_above(x), x, epsilon);
        }
        let (mass, kept) = wide(
            #[inline(always)]
            || {
                let (nodes, pieces) = self.p.pieces(x, h);
                let (mut mass, mut kept) = (0.0, 0.0);
                for (piece, lost) in pieces.iter().zip(each(&nodes, |u| lanes::exp_m1(-self.r * u))) {
                    mass += piece;
                    kept -= piece * lost;
                }
                (mass, kept)
            },
        );
        let lost = -(-self.r * h).exp_m1();
        let delta = kept + next.mass * lost + (1.0 - lost) * self.delta[k + 1];
        Excess { delta, slope: mass + next.mass - delta }
    }

    /// `excess` right of the table: one panel holds the whole tail.
    fn excess_beyond(&self, x: f64, epsilon: Option<f64>) -> Excess {
        let density = self.p.density(x);
        if density == 0.0 {
            // Less than 5e-324, times a width of at most 1e9 (tails fall with the smallest parameter): below what is
            // reported at least. Such points are far out, where steps of D are lost to rounding and panels do not end.
            return Excess { delta: 0.0, slope: 0.0 };
        }
        let at_x = self.p.shape.deviance(x);
        let fall = |u: f64| self.p.shape.deviance(x + u) - at_x;
        let h = self.p.long_step(x, 0.0, 0.0, &fall);
        if self.r * h > LONG || fall(h) < 30.0 {
            return self.difference(density * self.p.mills(x, 0.0), x, epsilon);
        }
        let (mut mass, mut kept) = (0.0, 0.0);
        nodes_32(0.0, h, |u, weight| {
            let piece = weight * (-fall(u)).exp();
            mass += piece;
            kept -= piece * exp_m1(-self.r * u);
        });
        // Beyond the cut an exponential: 1/s - exp(-r h)/(s + r), written without a difference.
        let slope = self.p.shape.slope(x + h);
        let rest = (-fall(h)).exp() / slope;
        let decay = (-self.r * h).exp();
        kept += rest * (-(-self.r * h).exp_m1() + decay * self.r / (slope + self.r));
        let delta = density * kept;
        Excess { delta, slope: density * (mass + rest) - delta }
    }

    /// P[W > w*] - exp(eps) Q[W > w*], where the second is well below the first.
    fn difference(&self, mass: f64, x: f64, epsilon: Option<f64>) -> Excess {
        let epsilon = epsilon.unwrap_or_else(|| self.epsilon_at(x));
        let x_q = (self.inverse_r * epsilon + self.offset_q).to_f64();
        let q = kept(&self.q_tail, || Tail::new(self.q));
        let slope = match q.locate(x_q) {
            Some(k) if q.is_open(k) => {
                let density = self.p.density(x);
                if density > 0.0 { density * self.p.mills(x, self.r) } else { 0.0 }
            }
            _ => epsilon.exp() * q.mass_above(x_q),
        };
        Excess { delta: mass - slope, slope }
    }

    /// An epsilon >= 0, next to the smallest, at which `delta_upper` is at most `target`; Newton's method.
    ///
    /// ln delta is concave in eps (the exponential and the survival function of L are log-concave, and so is their
    /// convolution), so that from the first step on every iterate lies on the safe side of the root.
    pub(super) fn epsilon_upper(&self, target: f64) -> f64 {
        if !(target > 0.0) {
            return f64::INFINITY;
        }
        if self.delta_upper(0.0) <= target {
            return 0.0;
        }
        // Aim below the target by more than the margin, so that the last step need not be undone.
        let aim = target * (1.0 - 4.0 * MARGIN);
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut epsilon = (-self.offset_p * self.r).to_f64().max(0.0);
        for _ in 0..200 {
            let at = self.excess(epsilon);
            if at.delta > aim {
                low = epsilon;
            } else {
                high = epsilon;
            }
            let step = (at.delta / aim).ln() * at.delta / at.slope;
            let mut next = epsilon + step;
            if !(next >= low && next <= high) {
                // An underflow, or the first step from a point where delta is flat.
                next = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * low + 1.0 };
            }
            let done = (next - epsilon).abs() <= 4.0 * f64::EPSILON * epsilon;
            epsilon = next;
            if done || !epsilon.is_finite() {
                break;
            }
        }
        super::inverse::settle(&|epsilon| self.delta_upper(epsilon), epsilon, target)
    }
}

impl LinearPair {
    /// An upper bound of delta(eps).
    pub(super) fn delta_upper(&self, epsilon: f64) -> f64 {
        if epsilon.is_nan() {
            return 1.0;
        }
        if epsilon == f64::INFINITY {
            return 0.0;
        }
        (self.excess(epsilon).delta * (1.0 + MARGIN)).clamp(f64::MIN_POSITIVE, 1.0)
    }

    /// A lower bound of delta(eps).
    pub(super) fn delta_lower(&self, epsilon: f64) -> f64 {
        if epsilon.is_nan() {
            return 0.0;
        }
        (self.excess(epsilon).delta * (1.0 - MARGIN)).clamp(0.0, 1.0)
    }
}

/// A pair of laws that has a linear loss, and a closed form of its Renyi divergence.
pub(super) trait Linear {
    /// The numerical side of the pair.
    fn pair(&self) -> &LinearPair;

    /// An upper bound of the Renyi divergence of this order > 1.
    fn renyi(&self, order: f64) -> f64;

    /// The largest D/order below omega, where it is known without a search.
    fn tcdp(&self, _omega: f64) -> Option<f64> {
        None
    }

    /// See [`Profile::gaussian_square`].
    fn gaussian_square(&self) -> Option<f64> {
        None
    }
}

impl<T: Linear + Send + Sync> Profile for T {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        self.pair().delta_upper(epsilon)
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        self.pair().delta_lower(epsilon)
    }

    fn epsilon_upper(&self, delta: f64) -> f64 {
        self.pair().epsilon_upper(delta)
    }

    fn renyi_upper(&self, order: f64) -> f64 {
        self.renyi(order)
    }

    fn gaussian_square(&self) -> Option<f64> {
        Linear::gaussian_square(self)
    }

    fn tcdp_upper(&self, omega: f64) -> f64 {
        self.tcdp(omega).unwrap_or_else(|| super::concentrated::least_rho(&|order| self.renyi(order), omega))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{BetaPair, Direction, GammaPair, GaussianPair};

    /// A double written in hexadecimal as Python does.
    fn hexadecimal(text: &str) -> f64 {
        let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
        let (digits, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
        let whole = u64::from_str_radix(&digits.replace('.', ""), 16).unwrap() as f64;
        let scale = exponent.parse::<i32>().unwrap() - 4 * (digits.len() as i32 - 2).max(0);
        // In two steps: a power of two below 2^-1022 alone would have lost digits.
        sign * whole * 2.0_f64.powi(scale / 2) * 2.0_f64.powi(scale - scale / 2)
    }

    fn golden() -> impl Iterator<Item = (String, LinearPair, f64, f64)> {
        let data = include_str!("../../../../tests/golden/data/privacy_profiles.csv");
        data.lines().skip(1).map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let [epsilon, a, b, r] = [1, 2, 3, 4].map(|i| hexadecimal(fields[i]));
            let pair = match fields[0] {
                "beta" => BetaPair::new(a, b, r).unwrap().pair().clone(),
                "remove" => GammaPair::new(a, r, Direction::Remove).unwrap().pair().clone(),
                "add" => GammaPair::new(a, r, Direction::Add).unwrap().pair().clone(),
                _ => GaussianPair::new(r).unwrap().pair().clone(),
            };
            (line.to_owned(), pair, epsilon, fields[5].parse().unwrap())
        })
    }

    #[test]
    fn hexadecimal_digits_are_read_as_they_are_meant() {
        assert_eq!(["0x1.8000000000000p+1", "-0x1.0p-2", "0x0.0p+0"].map(hexadecimal), [3.0, -0.25, 0.0]);
    }

    #[test]
    fn deltas_of_ninety_digits_lie_between_both_bounds() {
        let mut seen = 0;
        for (case, pair, epsilon, delta) in golden() {
            let (lower, upper) = (pair.delta_lower(epsilon), pair.delta_upper(epsilon));
            assert!(lower <= delta && delta <= upper, "{case}: {lower:e} {upper:e}");
            assert!(upper <= delta * (1.0 + 2.0 * MARGIN) || upper == f64::MIN_POSITIVE, "{case}: {upper:e}");
            assert!(lower >= delta * (1.0 - 2.0 * MARGIN) || delta < 1e-307, "{case}: {lower:e}");
            seen += 1;
        }
        assert_eq!(seen, 400);
    }

    #[test]
    fn epsilons_are_those_at_which_delta_of_ninety_digits_was_taken() {
        let mut seen = 0;
        for (case, pair, epsilon, delta) in golden().filter(|case| case.2 > 0.0 && case.3 > 1e-290 && case.3 < 0.5) {
            let found = pair.epsilon_upper(delta);
            // delta as a double may be off by half a unit, and the margin moves epsilon by less than its share of delta.
            let room = 4.0 * MARGIN * delta / pair.excess(epsilon).slope;
            assert!(found >= epsilon * (1.0 - 1e-15) - 0.01 * room, "{case}: {found:e}");
            assert!(found <= epsilon * (1.0 + 1e-14) + 2.0 * room, "{case}: {found:e}");
            seen += 1;
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn slopes_are_those_of_chords() {
        // delta is convex in x = exp(eps): minus its slope times x lies between the chords to both sides.
        let pairs = [
            BetaPair::new(1.5, 4.0, 1.0).unwrap().pair().clone(),
            GammaPair::new(3.0, 2.0, Direction::Add).unwrap().pair().clone(),
            GaussianPair::new(0.7).unwrap().pair().clone(),
            GaussianPair::new(30.0).unwrap().pair().clone(),
        ];
        for pair in &pairs {
            for epsilon in [0.0, 0.3, 0.9] {
                let (step, delta) = (1e-3, |epsilon: f64| pair.excess(epsilon).delta);
                let after = (delta(epsilon) - delta(epsilon + step)) / step.exp_m1();
                let before = (delta(epsilon - step) - delta(epsilon)) / -(-step).exp_m1();
                let slope = pair.excess(epsilon).slope;
                assert!(after * (1.0 - 1e-9) <= slope && slope <= before * (1.0 + 1e-9), "{after} {slope} {before}");
            }
        }
    }

    #[test]
    fn what_is_no_number_or_infinite_has_the_bounds_that_are_always_true() {
        let pair = GaussianPair::new(1.0).unwrap().pair().clone();
        assert_eq!((pair.delta_upper(f64::NAN), pair.delta_lower(f64::NAN)), (1.0, 0.0));
        assert_eq!((pair.delta_upper(f64::INFINITY), pair.delta_lower(f64::INFINITY)), (0.0, 0.0));
        assert_eq!((pair.delta_upper(f64::NEG_INFINITY), pair.delta_upper(f64::MAX)), (1.0, f64::MIN_POSITIVE));
        assert_eq!((pair.epsilon_upper(0.0), pair.epsilon_upper(f64::NAN)), (f64::INFINITY, f64::INFINITY));
        assert_eq!(pair.epsilon_upper(0.9), 0.0);
    }

    #[test]
    fn far_tails_of_large_and_of_small_parameters_keep_their_digits() {
        // The integral of p(w* + u) (1 - exp(-r u)) with 70 digits (mpmath).
        let gamma = |a, r| GammaPair::new(a, r, Direction::Remove).unwrap().pair().clone();
        let beta = |a, b, r| BetaPair::new(a, b, r).unwrap().pair().clone();
        for (pair, epsilon, delta) in [
            (gamma(1e12, 17.0), 2e-4, 4.226_224_227_826_546e-38),
            (gamma(1e12, 1e3), 0.015, 2.442_895_541_980_290e-55),
            (gamma(1e12, 1e-3), 1.2e-8, 1.460_090_910_852_664_9e-43),
            (gamma(1e9, 1e-4), 4e-8, 1.382_104_808_897_223e-46),
            (gamma(1e12, 1e-9), 1.2e-14, 1.460_090_902_092_200_8e-49),
            (gamma(1e10, 40.0), 5e-3, 1.178_635_776_570_259_7e-40),
            (beta(2.0, 10.0, 10.0), 60.0, 1.154_658_892_833_245_5e-17),
            (beta(2.0, 10.0, 10.0), 80.0, 2.631_271_109_985_775e-26),
            (beta(0.5, 3.0, 5.0), 90.0, 1.421_789_127_596_512_3e-21),
            (beta(5.0, 4.0, 4.0), 100.0, 4.603_594_019_828_782e-42),
        ] {
            let (lower, upper) = (pair.delta_lower(epsilon), pair.delta_upper(epsilon));
            assert!(lower <= delta && delta <= upper, "{epsilon}: {lower:e} {delta:e} {upper:e}");
        }
    }

    #[test]
    fn no_order_below_omega_costs_more_for_each_order_than_is_told() {
        let pairs: [(&str, Box<dyn Profile>); 3] = [
            ("beta", Box::new(BetaPair::new(1.5, 4.0, 0.5).unwrap())),
            ("remove", Box::new(GammaPair::new(3.0, 2.0, Direction::Remove).unwrap())),
            ("add", Box::new(GammaPair::new(9.0, 0.5, Direction::Add).unwrap())),
        ];
        for (name, pair) in &pairs {
            for omega in [1.5, 2.0, 4.0] {
                let orders = (1..=2_000).map(|i| 1.0 + (omega - 1.0) * f64::from(i) / 2_001.0);
                let exact = orders.map(|order| pair.renyi_upper(order) / order).fold(0.0, f64::max);
                let found = pair.tcdp_upper(omega);
                assert!(found >= exact && found <= exact * 1.01, "{name} {omega}: {found} {exact}");
            }
        }
    }
}
