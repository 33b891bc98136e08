//! From Renyi divergences to (epsilon, delta): the conversion of \[CKS20\] and the optimal one for each order.
//!
//! Let R >= E_Q[(dP/dQ)^l] = exp((l - 1) D). For any a > b >= 0 the tangents of t^l at a (on an event S) and at b (off S)
//! give R >= l a^(l-1) p - (l-1) a^l q + l b^(l-1) (1-p) - (l-1) b^l (1-q), p = P(S), q = Q(S), so that
//!
//!   p - s q <= (R - l b^(l-1) + (l-1) b^l) / (l (a^(l-1) - b^(l-1))),   s = (1 - 1/l) (a^l - b^l)/(a^(l-1) - b^(l-1)).
//!
//! With s = exp(eps) the right side bounds delta(eps). b = 0 is \[CKS20\] Prop. 12; the minimum over b is the support
//! function of the set of binary pairs (p, q) within the divergence, so it is the best that one order can give
//! [ALCKS21]. Every (l, b) is valid: searches that stop early cost sharpness only.

use std::sync::Arc;

use super::linear_pair::MARGIN;
use super::search::golden_minimum;
use super::{Profile, parameter};
use crate::rounding::{multiple_up, total_up};
use crate::{Error, Result};

/// Orders l are searched with ln(l - 1) in this range.
const LOG_EXCESS: (f64, f64) = (-9.0, 21.0);
/// Points of the first scan over orders.
const SCAN: usize = 61;

/// Upper bounds of D(P || Q) for real orders above 1; infinite where there is none.
pub type RenyiBound = Arc<dyn Fn(f64) -> f64 + Send + Sync>;

/// Which conversion to use at each order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// \[CKS20\] Prop. 12, as \[DM\] eq. 10.
    Tangent,
    /// The best for each order.
    Optimal,
}

/// delta(eps) from Renyi divergences of a continuous range of orders: for each eps the best order.
#[derive(Clone)]
pub struct RenyiProfile {
    bound: RenyiBound,
    conversion: Conversion,
    /// An order to try besides those of the scan: where the bound ends.
    last_order: Option<f64>,
    /// An upper bound of D/l below omega, as a function of omega, where one is known without a search.
    rho: Option<RenyiBound>,
}

impl RenyiProfile {
    /// The profile of everything that satisfies this bound.
    pub fn new(bound: RenyiBound, conversion: Conversion) -> Self {
        Self { bound, conversion, last_order: None, rho: None }
    }

    /// The same for a bound that ends at `order`, and holds there.
    ///
    /// # Errors
    ///
    /// If the order is not above 1 and finite, or the bound there is negative or infinite.
    pub fn at_order(bound: RenyiBound, conversion: Conversion, order: f64) -> Result<Self> {
        if !(order > 1.0 && order.is_finite()) {
            return Err(Error::parameter("order", "be above 1 and finite", order));
        }
        parameter::non_negative("epsilon", bound(order))?;
        Ok(Self { bound, conversion, last_order: Some(order), rho: None })
    }

    /// The same with an upper bound of D/l over l in (1, omega), as a function of omega.
    pub fn with_rho(self, rho: RenyiBound) -> Self {
        Self { rho: Some(rho), ..self }
    }

    /// Independent releases: the divergences add up. Each profile is taken so many times.
    pub fn composed(parts: Vec<(Arc<dyn Profile>, u64)>, conversion: Conversion) -> Self {
        let parts = Arc::new(parts);
        let again = Arc::clone(&parts);
        // What is released zero times costs nothing, even where its divergence is infinite.
        let sum = |parts: &[(Arc<dyn Profile>, u64)], cost: &dyn Fn(&dyn Profile) -> f64| {
            total_up(parts.iter().map(|(profile, times)| multiple_up(*times, cost(&**profile))))
        };
        let divergence = move |order: f64| sum(&parts, &|profile| profile.renyi_upper(order));
        let rho = move |omega: f64| sum(&again, &|profile| profile.tcdp_upper(omega));
        Self::new(Arc::new(divergence), conversion).with_rho(Arc::new(rho))
    }

    fn log_delta(&self, epsilon: f64) -> f64 {
        let bound = |v: f64| {
            let excess = v.exp();
            match self.last_order {
                // The end itself must not be lost to rounding.
                Some(last) if excess >= (last - 1.0) * (1.0 - 1e-12) => (last - 1.0, (self.bound)(last)),
                _ => (excess, (self.bound)(1.0 + excess)),
            }
        };
        let tangent = |v: f64| {
            let (excess, divergence) = bound(v);
            log_delta_tangent(excess, divergence, epsilon)
        };
        let (v, best) = scan_minimum(tangent);
        if self.conversion == Conversion::Tangent || !(best < f64::INFINITY) {
            return best.min(0.0);
        }
        // Coordinate descent over b and the order, from b of the tangent's optimum.
        let (mut v, mut best) = (v, best);
        for width in [1.0, 0.3] {
            let (excess, divergence) = bound(v);
            let in_b = |logit: f64| log_delta_binary(excess, divergence, epsilon, logit);
            let (logit, at_logit) = golden_minimum(in_b, -30.0, 30.0, 36);
            let in_order = |v: f64| {
                let (excess, divergence) = bound(v);
                log_delta_binary(excess, divergence, epsilon, logit)
            };
            let (next, at_next) = golden_minimum(in_order, v - width, v + width, 24);
            best = best.min(at_logit);
            if at_next < best {
                (v, best) = (next, at_next);
            }
        }
        best.min(0.0)
    }
}

impl Profile for RenyiProfile {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        if epsilon.is_nan() {
            return 1.0;
        }
        // exp amplifies the rounding of its argument.
        let log_delta = self.log_delta(epsilon);
        (log_delta * (1.0 - 1e-14)).exp().mul_add(MARGIN, log_delta.exp()).clamp(f64::MIN_POSITIVE, 1.0)
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        // Of this and nothing more is known about the mechanism.
        if epsilon < 0.0 { -epsilon.exp_m1() } else { 0.0 }
    }

    fn renyi_upper(&self, order: f64) -> f64 {
        (self.bound)(order)
    }

    fn tcdp_upper(&self, omega: f64) -> f64 {
        match &self.rho {
            Some(rho) => rho(omega),
            None => super::concentrated::least_rho(&*self.bound, omega),
        }
    }

    fn is_pair(&self) -> bool {
        false
    }
}

/// ln of \[CKS20\] Prop. 12, for order 1 + excess: exp((l-1)(D - eps)) (1 - 1/l)^l / (l - 1).
pub fn log_delta_tangent(excess: f64, divergence: f64, epsilon: f64) -> f64 {
    let order = 1.0 + excess;
    if divergence == f64::INFINITY {
        return f64::INFINITY;
    }
    // l ln(1 - 1/l) = -l ln(1 + 1/(l-1))
    excess * (divergence - epsilon) - order * (1.0 / excess).ln_1p() - excess.ln()
}

/// The epsilon of \[CKS20\] Prop. 12 at this order and delta, \[DM\] eq. 10, rounded up; it may be negative.
pub fn epsilon_tangent(order: f64, divergence: f64, delta: f64) -> f64 {
    let excess = order - 1.0;
    let rest = (order * (1.0 / excess).ln_1p() + excess.ln() + delta.ln()) / excess;
    let epsilon = divergence - rest;
    epsilon + MARGIN * (epsilon.abs() + divergence.abs() + rest.abs()) * 1e-2
}

/// ln of the bound at the top of this file, b = 1/(1 + exp(-logit)).
fn log_delta_binary(excess: f64, divergence: f64, epsilon: f64, logit: f64) -> f64 {
    let order = 1.0 + excess;
    let log_b = -(-logit).exp().ln_1p();
    if divergence == f64::INFINITY || log_b >= epsilon {
        return f64::INFINITY;
    }
    let Some(log_a) = solve_a(order, excess, epsilon, log_b) else { return f64::INFINITY };
    // R - l b^(l-1) + (l-1) b^l = (R - 1) + (1 - b^(l-1) (l - (l-1) b)), both terms positive.
    let moment = excess * divergence;
    let power = (excess * log_b).exp();
    let one_minus_b = 1.0 / (1.0 + logit.exp());
    let gap = -(excess * log_b).exp_m1() - power * excess * one_minus_b;
    let log_numerator = if moment > 1.0 {
        moment + ((gap.max(0.0) - 1.0) * (-moment).exp()).ln_1p()
    } else {
        (moment.exp_m1() + gap.max(0.0) + 4.0 * f64::EPSILON * power).ln()
    };
    let kappa = (excess * (log_b - log_a)).exp_m1();
    log_numerator - order.ln() - excess * log_a - (-kappa).ln()
}

/// ln a with s(a, b) = exp(eps), from below, so that s <= exp(eps); s is a mean of the numbers between b and a.
fn solve_a(order: f64, excess: f64, epsilon: f64, log_b: f64) -> Option<f64> {
    // ln s - eps at ln a.
    let height = |log_a: f64| {
        let log_ratio = log_b - log_a;
        let quotient = (order * log_ratio).exp_m1() / (excess * log_ratio).exp_m1();
        log_a + (excess / order).ln() + quotient.ln() - epsilon
    };
    let (mut low, mut high) = (epsilon.max(log_b), epsilon + (1.0 / excess).ln_1p());
    let mut at_high = height(high);
    let mut at_low = if low > log_b { height(low) } else { log_b - epsilon };
    if !(at_low <= 0.0) {
        return None;
    }
    for _ in 0..60 {
        if high - low <= 1e-14 * (1.0 + high.abs()) || at_high <= 0.0 {
            break;
        }
        let cut = low + (high - low) * (at_low / (at_low - at_high)).clamp(1e-3, 1.0 - 1e-3);
        let at_cut = height(cut);
        if at_cut <= 0.0 {
            (low, at_low) = (cut, at_cut);
            at_high *= 0.5;
        } else {
            (high, at_high) = (cut, at_cut);
            at_low *= 0.5;
        }
    }
    // A little to the left: the rounding of `height` must not leave s above exp(eps).
    Some(low - 1e-14 * (1.0 + low.abs()))
}

/// The best of a scan over orders, refined by a golden section around it.
fn scan_minimum(f: impl Fn(f64) -> f64) -> (f64, f64) {
    let step = (LOG_EXCESS.1 - LOG_EXCESS.0) / (SCAN - 1) as f64;
    let mut best = (LOG_EXCESS.0, f64::INFINITY);
    for i in 0..SCAN {
        let v = LOG_EXCESS.0 + step * i as f64;
        let value = f(v);
        if value < best.1 {
            best = (v, value);
        }
    }
    let refined = golden_minimum(&f, best.0 - step, best.0 + step, 40);
    if refined.1 < best.1 { refined } else { best }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::GaussianPair;

    /// The largest p - exp(eps) q over pairs of coins (p, q) whose divergence of this order is within the bound: p for each
    /// q of a dense grid by bisection. No other event of any pair within the bound can do more.
    fn by_coins(order: f64, divergence: f64, epsilon: f64) -> f64 {
        let limit = ((order - 1.0) * divergence).exp();
        let power = |p: f64, q: f64| (order * p.ln() + (1.0 - order) * q.ln()).exp();
        let moment = |p: f64, q: f64| power(p, q) + power(1.0 - p, 1.0 - q);
        let largest = |q: f64| {
            let (mut low, mut high) = (q, 1.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if moment(middle, q) <= limit { low = middle } else { high = middle }
            }
            low - epsilon.exp() * q
        };
        (1..4_000).map(|i| largest((-0.01 * f64::from(i)).exp())).fold(0.0, f64::max)
    }

    fn at(order: f64, divergence: f64, conversion: Conversion) -> RenyiProfile {
        let bound = move |x: f64| if x <= order { divergence } else { f64::INFINITY };
        RenyiProfile::at_order(Arc::new(bound), conversion, order).unwrap()
    }

    #[test]
    fn one_order_gives_what_the_worst_pair_of_coins_has() {
        for (order, divergence) in [(2.0, 0.5), (8.0, 0.3), (1.5, 2.0), (40.0, 1.0)] {
            let profile = at(order, divergence, Conversion::Optimal);
            for epsilon in [0.0, 0.2, 0.8, 1.5, 4.0] {
                // Orders below the last one have the same bound, but it is weaker there.
                let (found, exact) = (profile.delta_upper(epsilon), by_coins(order, divergence, epsilon));
                let room = 1e-9 * exact + 1e-13;
                assert!(
                    found >= exact - room && found <= exact * 1.002 + room,
                    "{order} {epsilon}: {found:e} {exact:e}"
                );
                assert!(found <= at(order, divergence, Conversion::Tangent).delta_upper(epsilon) * (1.0 + 1e-9));
            }
        }
    }

    #[test]
    fn the_tangent_is_the_best_of_all_orders_by_the_formula_of_its_theorem() {
        // [CKS20] Proposition 12: exp((l - 1)(D - eps))/(l - 1) (1 - 1/l)^l.
        let (mu, e0) = (0.8_f64, 0.6_f64);
        let gaussian = move |l: f64| 0.5 * l * mu * mu;
        let response = move |l: f64| {
            ((l * e0).exp() / (1.0 + e0.exp()) + ((1.0 - l) * e0).exp() / (1.0 + e0.exp())).ln() / (l - 1.0)
        };
        // Above the largest loss the best order is as large as there are.
        let bounds: [(RenyiBound, f64); 2] = [(Arc::new(gaussian), 4.0), (Arc::new(response), 0.55)];
        for (bound, last) in bounds {
            let profile = RenyiProfile::new(bound.clone(), Conversion::Tangent);
            for epsilon in [-0.5, 0.0, 0.3, 0.55, 2.0, 4.0].into_iter().filter(|epsilon| *epsilon <= last) {
                let delta = |l: f64| ((l - 1.0) * (bound(l) - epsilon)).exp() / (l - 1.0) * (1.0 - 1.0 / l).powf(l);
                let orders = (0..60_000).map(|i| 1.0 + 59.0 * (-2e-4 * f64::from(i)).exp());
                let exact = orders.map(delta).fold(1.0, f64::min);
                let found = profile.delta_upper(epsilon);
                assert!(found >= exact * (1.0 - 1e-5), "{epsilon}: {found:e} {exact:e}");
                assert!(found <= exact * (1.0 + 1e-9), "{epsilon}: {found:e} {exact:e}");
            }
            assert_eq!(profile.delta_upper(f64::NAN), 1.0);
            assert_eq!(
                (profile.delta_lower(0.5), profile.delta_lower(-0.5), profile.is_pair()),
                (0.0, 1.0 - (-0.5_f64).exp(), false)
            );
        }
    }

    #[test]
    fn no_bound_is_below_the_curve_of_a_pair_that_has_the_divergences() {
        for mu in [0.1, 1.0, 4.0] {
            let pair = GaussianPair::new(mu).unwrap();
            let profile = RenyiProfile::new(Arc::new(move |l: f64| 0.5 * l * mu * mu), Conversion::Optimal);
            for epsilon in [0.0, 0.1, 0.5, 2.0, 9.0, 20.0] {
                let (found, exact) = (profile.delta_upper(epsilon), pair.delta_upper(epsilon));
                assert!(found >= exact * (1.0 - 1e-10), "{mu} {epsilon}: {found:e} {exact:e}");
                // A single order is off by a factor that grows like the root of the exponent.
                assert!(exact < 1e-250 || found <= 40.0 * exact, "{mu} {epsilon}: {found:e} {exact:e}");
            }
            assert!(profile.renyi_upper(3.0) == 1.5 * mu * mu && profile.tcdp_upper(9.0) >= 0.5 * mu * mu);
            assert!(profile.tcdp_upper(9.0) <= 0.5 * mu * mu * (1.0 + 1e-4));
        }
    }

    #[test]
    fn epsilon_of_an_order_gives_back_the_delta_of_its_formula() {
        for (order, divergence, delta) in [(1.5, 0.1, 1e-3), (4.0, 2.0, 1e-6), (64.0, 0.7, 1e-10), (300.0, 5.0, 0.1)] {
            let epsilon = epsilon_tangent(order, divergence, delta);
            let log = (order - 1.0) * (divergence - epsilon) - (order - 1.0).ln() + order * (1.0 - 1.0 / order).ln();
            let (log_delta, room) = (f64::ln(delta), 1e-9 * (order - 1.0) * (1.0 + epsilon.abs() + divergence));
            assert!(
                log <= log_delta + 1e-13 * (1.0 + log.abs()) && log >= log_delta - room,
                "{order}: {log} {log_delta}"
            );
            let again = log_delta_tangent(order - 1.0, divergence, epsilon);
            assert!((again - log).abs() <= 1e-12 * (1.0 + log.abs()), "{order}: {again} {log}");
        }
        assert!(log_delta_tangent(1.0, f64::INFINITY, f64::INFINITY).is_infinite());
    }

    #[test]
    fn divergences_of_independent_releases_add_up() {
        let first: Arc<dyn Profile> = Arc::new(at(9.0, 0.25, Conversion::Optimal));
        let second: Arc<dyn Profile> = Arc::new(GaussianPair::new(0.5).unwrap());
        let all = RenyiProfile::composed(vec![(first, 3), (second, 2)], Conversion::Optimal);
        let exact = |order: f64| 3.0 * 0.25 + order * 0.25;
        for order in [1.5, 4.0, 9.0] {
            let found = all.renyi_upper(order);
            assert!(found >= exact(order) && found <= exact(order) * (1.0 + 1e-10), "{order}: {found}");
        }
        assert!(all.renyi_upper(9.5).is_infinite());
        // The largest D/l is not above 3 times 0.25, at orders near 1, and 2 times 1/8.
        let rho = all.tcdp_upper(8.0);
        assert!((1.0 - 1e-9..1.0 + 1e-6).contains(&rho), "{rho}");
        let nothing: Arc<dyn Profile> = Arc::new(RenyiProfile::new(Arc::new(|_| f64::INFINITY), Conversion::Tangent));
        assert_eq!(RenyiProfile::composed(vec![(nothing, 0)], Conversion::Tangent).renyi_upper(2.0), 0.0);
    }

    #[test]
    fn what_is_no_order_or_no_divergence_is_refused() {
        let new = |divergence: f64, order: f64| {
            RenyiProfile::at_order(Arc::new(move |_| divergence), Conversion::Tangent, order)
        };
        for (divergence, order) in
            [(1.0, 1.0), (1.0, f64::INFINITY), (1.0, f64::NAN), (-0.1, 2.0), (f64::INFINITY, 2.0)]
        {
            assert!(new(divergence, order).is_err(), "{divergence} {order}");
        }
        assert!(new(0.0, 1.1).is_ok());
        // With no divergence at all there is no bound but the one that is always true.
        let unknown = RenyiProfile::new(Arc::new(|_| f64::INFINITY), Conversion::Optimal);
        assert_eq!(unknown.delta_upper(5.0), 1.0);
    }

    #[test]
    fn at_order_two_the_bound_is_a_quotient_without_a_search() {
        // s = (a + b)/2 and R = e^D: (R - 1 + (1 - b)^2) / (4 (e^eps - b)), each difference written without cancelling.
        for divergence in [1e-14, 1e-9, 1e-3, 0.5, 0.99, 1.01, 3.0, 50.0, 800.0] {
            for epsilon in [0.0, 1e-6, 0.1, 1.0, 5.0] {
                for logit in [-20.0, -3.0, 0.0, 2.0, 9.0, 20.0] {
                    let rest = 1.0 / (1.0 + f64::exp(logit));
                    let height = f64::exp_m1(epsilon) + rest;
                    let moment =
                        if divergence < 700.0 { (f64::exp_m1(divergence) + rest * rest).ln() } else { divergence };
                    let exact = moment - (4.0 * height).ln();
                    let found = log_delta_binary(1.0, divergence, epsilon, logit);
                    // The logarithm of b is kept, and not what is left to one; what R - 1 and the square are off by is covered.
                    let room = 3e-14 * (1.0 + epsilon + exact.abs()) + 4e-14 / height + 2e-15 * (-moment).exp();
                    assert!(
                        found >= exact - 1e-14 * (1.0 + exact.abs()) - 1e-15 / height,
                        "{divergence} {epsilon} {logit}: {found} {exact}"
                    );
                    assert!(found <= exact + room, "{divergence} {epsilon} {logit}: {found} {exact}");
                }
            }
        }
    }
}
