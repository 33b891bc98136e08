//! Renyi divergence, KL divergence and Hellinger distance between Dirichlet distributions, for parameters however
//! close or large.
//!
//! With w = u + (order - 1)(u - v), \[DM\] eq. 11-12 say that the divergence is the sum over the coordinates, minus
//! the same for the totals, of
//!
//! gap(u, v) = (lgamma(w) - lgamma(u)) / (order - 1) + lgamma(v) - lgamma(u) >= 0,
//!
//! a second difference of log-gamma: whatever is linear in the parameter cancels. It is written here so that it
//! cancels on paper (Stirling's formula with h(t) = (1+t) ln(1+t) - t and t - ln(1+t), and divided differences of
//! the remainder's powers). What remains, gaps of the coordinates against the gap of the total, still cancels to
//! a fraction of about (smallest / largest parameter)^2, so that the gaps are formed with twice the digits.
//! The limit order -> 1 is the KL divergence, and order 1/2 gives the Hellinger distance: one routine serves all.

use crate::double_double::DoubleDouble;
use crate::{Error, Result};

/// Stirling's series is used from here on; 14 terms leave less than 1e-32.
const STIRLING_FROM: f64 = 24.0;

/// B_2k / (2k (2k-1)) for k = 1..14 as numerator and denominator (DLMF 5.11.1), the coefficient of x^(1-2k).
const STIRLING_COEFFICIENTS: [(f64, f64); 14] = [
    (1.0, 12.0),
    (-1.0, 360.0),
    (1.0, 1260.0),
    (-1.0, 1680.0),
    (1.0, 1188.0),
    (-691.0, 360360.0),
    (1.0, 156.0),
    (-3617.0, 122400.0),
    (43867.0, 244188.0),
    (-174611.0, 125400.0),
    (77683.0, 5796.0),
    (-236364091.0, 1506960.0),
    (657931.0, 300.0),
    (-3392780147.0, 93960.0),
];

/// Below this relative step a sum of logarithms loses digits and every term is formed for itself.
const CLOSE: f64 = 1e-4;

/// Concentrations are accepted in this range, so that no intermediate quantity over- or underflows.
const CONCENTRATION_RANGE: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// Renyi divergence of `order` > 1 between Dirichlet(u) and Dirichlet(v) (\[DM\] eq. 11-12); infinite when some
/// u_i + (order - 1)(u_i - v_i) <= 0.
///
/// # Errors
/// When the order is not a finite number above 1, when lengths differ, or when a concentration is not in
/// [1e-100, 1e100].
pub fn renyi_dirichlet(u: &[f64], v: &[f64], order: f64) -> Result<f64> {
    if !(order > 1.0 && order.is_finite()) {
        return Err(Error::parameter("order", "be finite and greater than 1 (kl_dirichlet is the limit at 1)", order));
    }
    divergence(u, v, order)
}

/// KL divergence of Dirichlet(u) from Dirichlet(v), the expectation being taken under u (\[DPS\] eq. 20).
///
/// # Errors
/// As [`renyi_dirichlet`].
pub fn kl_dirichlet(u: &[f64], v: &[f64]) -> Result<f64> {
    divergence(u, v, 1.0)
}

/// Hellinger distance of Dirichlet(u) and Dirichlet(v), in [0, 1]: sqrt(1 - B((u+v)/2) / sqrt(B(u) B(v))) (\[HP\]).
///
/// # Errors
/// As [`renyi_dirichlet`].
pub fn hellinger_dirichlet(u: &[f64], v: &[f64]) -> Result<f64> {
    // The Bhattacharyya coefficient is exp(-D/2) for the divergence D of order 1/2.
    Ok((-(-0.5 * divergence(u, v, 0.5)?).exp_m1()).sqrt())
}

/// The divergence for any order > 0, the KL divergence at 1.
fn divergence(u: &[f64], v: &[f64], order: f64) -> Result<f64> {
    check(u, v)?;
    let above_one = order - 1.0; // exact for order >= 1/2
    let (mut sum, mut total_u, mut total_step) = (DoubleDouble::ZERO, DoubleDouble::ZERO, DoubleDouble::ZERO);
    for (&u, &v) in u.iter().zip(v) {
        let step = DoubleDouble::difference(v, u);
        match gap(DoubleDouble::from(u), step, above_one) {
            Some(gap) => sum = sum + gap,
            None => return Ok(f64::INFINITY),
        }
        total_u = total_u + DoubleDouble::from(u);
        total_step = total_step + step;
    }
    let total = gap(total_u, total_step, above_one).unwrap_or(DoubleDouble::ZERO);
    Ok((sum - total).to_f64().max(0.0))
}

fn check(u: &[f64], v: &[f64]) -> Result<()> {
    if u.len() != v.len() {
        return Err(Error::parameter("v", "have as many entries as u", v.len()));
    }
    for (name, concentrations) in [("u", u), ("v", v)] {
        if !concentrations.iter().all(|x| CONCENTRATION_RANGE.contains(x)) {
            return Err(Error::data(name, "be positive and finite, between 1e-100 and 1e100"));
        }
    }
    Ok(())
}

/// (lgamma(u - m step) - lgamma(u)) / m + lgamma(u + step) - lgamma(u) with m = `above_one`, or its limit at m = 0;
/// nothing when u - m step <= 0, where it is infinite.
fn gap(u: DoubleDouble, step: DoubleDouble, above_one: f64) -> Option<DoubleDouble> {
    let m = DoubleDouble::from(above_one);
    let back = -(m * step);
    let smallest = (u + back).to_f64().min((u + step).to_f64()).min(u.to_f64());
    if !(smallest > 0.0) {
        return None;
    }
    if step.is_zero() {
        return Some(DoubleDouble::ZERO);
    }
    let n_shifts = if smallest < STIRLING_FROM { (STIRLING_FROM - smallest).ceil() as u32 } else { 0 };
    let shifted = u + DoubleDouble::from(f64::from(n_shifts));
    Some(shift_gap(u, step, back, m, n_shifts) + stirling_gap(shifted, step, back, m))
}

/// The gap of -ln(x) - ln(x+1) - ... - ln(x+n-1), which is lgamma(x) - lgamma(x+n).
fn shift_gap(u: DoubleDouble, step: DoubleDouble, back: DoubleDouble, m: DoubleDouble, n: u32) -> DoubleDouble {
    if n == 0 {
        return DoubleDouble::ZERO;
    }
    let (step_ratio, back_ratio) = (relative(step, u), relative(back, u));
    if step_ratio.abs() > 0.5 && back_ratio.abs() > 0.5 {
        // The linear parts cancel and would dwarf the logarithms.
        return -(log_ratio_sum(u, back, n) / m) - log_ratio_sum(u, step, n);
    }
    divide(log_gap_sum(u, back, n), m) + log_gap_sum(u, step, n)
}

/// Sum over k < n of t - ln(1+t) at t = step / (u+k).
fn log_gap_sum(u: DoubleDouble, step: DoubleDouble, n: u32) -> DoubleDouble {
    let terms = (0..n).map(|k| step / (u + DoubleDouble::from(f64::from(k))));
    if relative(step, u).abs() < CLOSE {
        terms.fold(DoubleDouble::ZERO, |sum, t| sum + t.log1p_gap())
    } else {
        terms.fold(DoubleDouble::ZERO, |sum, t| sum + t) - log_ratio_sum(u, step, n)
    }
}

/// Sum over k < n of ln((u+k+step) / (u+k)).
fn log_ratio_sum(u: DoubleDouble, step: DoubleDouble, n: u32) -> DoubleDouble {
    let (mut sum, mut product) = (DoubleDouble::ZERO, DoubleDouble::ONE);
    for k in 0..n {
        let x = u + DoubleDouble::from(f64::from(k));
        let ratio = (x + step) / x;
        if !(1e-140..1e140).contains(&(product * ratio).to_f64()) {
            sum = sum + product.ln();
            product = DoubleDouble::ONE;
        }
        product = product * ratio;
    }
    sum + product.ln()
}

/// The gap of lgamma where all three arguments are at least [`STIRLING_FROM`]:
/// lgamma(x) = x ln x - ln(x)/2 + sum c_k x^(1-2k) + (something linear).
fn stirling_gap(u: DoubleDouble, step: DoubleDouble, back: DoubleDouble, m: DoubleDouble) -> DoubleDouble {
    let (log_step, entropy_step) = log_and_entropy_gap(u, step);
    let (log_back, entropy_back) = log_and_entropy_gap(u, back);
    let entropy = u * (divide(entropy_back, m) + entropy_step);
    let log = DoubleDouble::from(0.5) * (divide(log_back, m) + log_step);
    let order = m + DoubleDouble::ONE;
    entropy + log + order * step.square() * series_curvature(u + back, u, u + step)
}

/// t - ln(1+t) and (1+t) ln(1+t) - t at t = step/u.
fn log_and_entropy_gap(u: DoubleDouble, step: DoubleDouble) -> (DoubleDouble, DoubleDouble) {
    let t = step / u;
    let ratio = (u + step) / u;
    let log_gap = if t.to_f64().abs() <= 0.5 { t.log1p_gap() } else { t - ratio.ln() };
    (log_gap, t.square() - ratio * log_gap)
}

/// The second divided difference at a, b, c of sum_k c_k x^(1-2k). That of x^-p is the complete homogeneous
/// polynomial of degree p-1 in 1/a, 1/b, 1/c, times 1/(abc): all terms positive, nothing cancels.
fn series_curvature(a: DoubleDouble, b: DoubleDouble, c: DoubleDouble) -> DoubleDouble {
    let inverse = |x| DoubleDouble::ONE / x;
    let (a, b, c) = (inverse(a), inverse(b), inverse(c));
    let (mut of_one, mut of_two, mut of_three) = (DoubleDouble::ONE, DoubleDouble::ONE, DoubleDouble::ONE);
    let mut sum = DoubleDouble::ZERO;
    for (k, (numerator, denominator)) in STIRLING_COEFFICIENTS.into_iter().enumerate() {
        if k > 0 {
            for _ in 0..2 {
                of_one = of_one * a;
                of_two = of_one + b * of_two;
                of_three = of_two + c * of_three;
            }
        }
        let term = DoubleDouble::from(numerator) / DoubleDouble::from(denominator) * of_three;
        sum = sum + term;
        if term.to_f64().abs() < 1e-34 * sum.to_f64().abs() {
            break;
        }
    }
    a * b * c * sum
}

/// x / m, where x vanishes to second order with m.
fn divide(x: DoubleDouble, m: DoubleDouble) -> DoubleDouble {
    if m.is_zero() { DoubleDouble::ZERO } else { x / m }
}

fn relative(step: DoubleDouble, u: DoubleDouble) -> f64 {
    step.to_f64() / u.to_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_parameters_are_at_distance_zero() {
        let u = [0.3, 1e12, 7.0];
        assert_eq!(renyi_dirichlet(&u, &u, 2.0), Ok(0.0));
        assert_eq!(kl_dirichlet(&u, &u), Ok(0.0));
        assert_eq!(hellinger_dirichlet(&u, &u), Ok(0.0));
    }

    #[test]
    fn an_order_past_the_pole_is_infinite() {
        assert_eq!(renyi_dirichlet(&[1.0, 2.0], &[2.0, 1.0], 2.0), Ok(f64::INFINITY));
        assert!(renyi_dirichlet(&[1.0, 2.0], &[2.0, 1.0], 1.99).unwrap().is_finite());
    }

    #[test]
    fn messages_do_not_quote_concentrations() {
        let error = kl_dirichlet(&[-3.25], &[1.0]).unwrap_err();
        assert!(!error.to_string().contains("3.25"));
    }
}
