//! Integers with discrete Gaussian noise, before and after one or two of them move by one.

use std::sync::OnceLock;

use super::linear_pair::MARGIN;
use super::{LossTable, Profile};
use crate::once::kept;
use crate::{Error, Result};

/// The profile of discrete Gaussian noise around neighbours that differ by one in one or two coordinates.
///
/// With noise P(z) proportional to exp(-c z^2), c = 1/(2 sigma^2), one coordinate that moves by one has the loss
/// c (2 z + 1) at z, drawn around its new place. Two coordinates have the loss c (2 s + 2) where s = z1 + z2. As
/// z1^2 + z2^2 = (s^2 + d^2)/2 with d = z1 - z2 of the parity of s, the law of s is exp(-c s^2/2) times one of two
/// constants. So delta(eps) is a finite sum but for a tail, with positive terms only (docs/privacy-curves.md).
pub struct DiscreteGaussianPair {
    sigma: f64,
    changed: u32,
    upper: LossTable,
    /// Made when it is asked for.
    lower: OnceLock<Option<LossTable>>,
    rho: f64,
}

/// Scales beyond have so many losses that the table would take more memory than it is worth.
const LARGEST_SIGMA: f64 = 5000.0;

/// Standard deviations to either side that the table covers: exp(-39^2/2) is below 10^-330.
const REACH: f64 = 39.0;

/// Relative error of a loss, that of sigma included: half a dozen roundings.
const LOSS_MARGIN: f64 = 1e-14;

/// More than the mass beyond the table, and more than nothing.
const TAIL: f64 = 1e-307;

impl DiscreteGaussianPair {
    /// The pair of noise `sigma` whose means differ by one in each of `changed` coordinates.
    ///
    /// # Errors
    ///
    /// If `sigma` lies outside 1e-3 .. 5000 or `changed` is neither one nor two.
    pub fn new(sigma: f64, changed: u32) -> Result<Self> {
        if !(1e-3..=LARGEST_SIGMA).contains(&sigma) {
            return Err(Error::parameter("sigma", "lie between 0.001 and 5000", sigma));
        }
        if !(1..=2).contains(&changed) {
            return Err(Error::parameter("changed", "be 1 or 2", changed));
        }
        let rho = f64::from(changed) / (2.0 * sigma * sigma) * (1.0 + MARGIN);
        let upper = table(sigma, changed, Side::Upper)?;
        Ok(Self { sigma, changed, upper, lower: OnceLock::new(), rho })
    }
}

/// Whether the profile of a table lies above or below the true one.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Upper,
    Lower,
}

/// The losses of one pair and their masses.
fn table(sigma: f64, changed: u32, side: Side) -> Result<LossTable> {
    let (c, changed) = (0.5 / (sigma * sigma), f64::from(changed));
    // The sum of the changed coordinates has this deviation, about its mean under P.
    let reach = (REACH * sigma * changed.sqrt()).ceil() + 3.0;
    let weights = [0.0, 1.0].map(|parity| if changed == 1.0 { 1.0 } else { weight(c, parity, reach) });
    let sums: Vec<f64> = (0..=2 * reach as usize).map(|i| i as f64 - reach).collect();
    let mass = |sum: f64| (-c * sum * sum / changed).exp() * weights[usize::from(sum.rem_euclid(2.0) == 1.0)];
    let mut masses: Vec<f64> = sums.iter().map(|&sum| mass(sum)).collect();
    // Exponents up to 39^2/2 that are off by a few units in the last place, sigma among them, and the sums: 1e-12.
    let (mass_margin, loss_margin, beyond) =
        if side == Side::Upper { (MARGIN, LOSS_MARGIN, TAIL) } else { (-MARGIN, -LOSS_MARGIN, 0.0) };
    let scale = (1.0 + mass_margin) / total(&masses);
    masses.iter_mut().for_each(|mass| *mass *= scale);
    let loss = |sum: f64| c * (2.0 * sum + changed);
    let losses = sums.iter().map(|&sum| loss(sum) + loss_margin * loss(sum).abs()).collect();
    LossTable::new(losses, &masses, beyond)
}

/// The sum of exp(-c d^2/2) over the integers d of one parity.
fn weight(c: f64, parity: f64, reach: f64) -> f64 {
    let terms: Vec<f64> =
        (0..=reach as usize).map(|i| 2.0 * i as f64 + parity).map(|d| (-0.5 * c * d * d).exp()).collect();
    // Each d > 0 counts for -d too.
    2.0 * total(&terms) - if parity == 0.0 { 1.0 } else { 0.0 }
}

/// The sum in parts, so that its error does not grow with the number of terms.
fn total(terms: &[f64]) -> f64 {
    terms.chunks(1024).map(|chunk| chunk.iter().sum::<f64>()).sum()
}

impl Profile for DiscreteGaussianPair {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        self.upper.delta_upper(epsilon)
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        let lower = kept(&self.lower, || table(self.sigma, self.changed, Side::Lower).ok());
        let trivial = (-epsilon.exp_m1() * (1.0 - MARGIN)).max(0.0);
        lower.as_ref().map_or(trivial, |lower| lower.delta_lower(epsilon).max(trivial))
    }

    fn renyi_upper(&self, order: f64) -> f64 {
        // [CKS20, Theorem 14]: not more than that of the Gaussian.
        self.rho * order
    }

    fn tcdp_upper(&self, _omega: f64) -> f64 {
        self.rho
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// delta by summing over all places of one or two coordinates.
    fn by_hand(sigma: f64, changed: u32, epsilon: f64) -> f64 {
        let reach = (12.0 * sigma).ceil() as i64 + 3;
        let noise = |z: i64| (-0.5 * (z as f64 / sigma).powi(2)).exp();
        let total: f64 = (-reach..=reach).map(noise).sum();
        let mut delta = 0.0;
        for x in -reach..=reach {
            if changed == 1 {
                delta += (noise(x - 1) - epsilon.exp() * noise(x)).max(0.0) / total;
                continue;
            }
            for y in -reach..=reach {
                let excess = noise(x - 1) * noise(y + 1) - epsilon.exp() * noise(x) * noise(y);
                delta += excess.max(0.0) / (total * total);
            }
        }
        delta
    }

    #[test]
    fn delta_is_the_sum_over_all_outcomes() {
        for sigma in [0.05, 0.3, 0.7, 1.0, 2.5, 9.0, 31.0] {
            for changed in [1, 2] {
                let pair = DiscreteGaussianPair::new(sigma, changed).unwrap();
                for epsilon in [-1.0, -0.1, 0.0, 0.05, 0.3, 1.0, 2.5] {
                    let (expected, upper, lower) =
                        (by_hand(sigma, changed, epsilon), pair.delta_upper(epsilon), pair.delta_lower(epsilon));
                    assert!(
                        lower <= expected + 1e-14 && expected <= upper + 1e-14,
                        "{sigma} {changed} {epsilon}: {lower} {expected} {upper}"
                    );
                    assert!(upper - lower <= 1e-10 * upper + 1e-14, "{sigma} {changed} {epsilon}: {lower} {upper}");
                }
            }
        }
    }

    #[test]
    fn a_wide_scale_is_close_to_the_normal_law() {
        for changed in [1, 2] {
            let pair = DiscreteGaussianPair::new(500.0, changed).unwrap();
            let normal = super::super::GaussianPair::new(f64::from(changed).sqrt() / 500.0).unwrap();
            for epsilon in [0.0, 1e-3, 5e-3, 0.01] {
                let ratio = pair.delta_upper(epsilon) / normal.delta_upper(epsilon);
                assert!((ratio - 1.0).abs() < 1e-3, "{changed} {epsilon}: {ratio}");
            }
        }
    }

    #[test]
    fn the_curve_lies_below_that_of_concentrated_privacy() {
        for sigma in [0.4, 1.0, 3.0, 20.0] {
            for changed in [1, 2] {
                let pair = DiscreteGaussianPair::new(sigma, changed).unwrap();
                let rho = f64::from(changed) / (2.0 * sigma * sigma);
                for epsilon in [0.5_f64, 1.0, 3.0, 8.0] {
                    if epsilon > rho {
                        let bound = (-(epsilon - rho).powi(2) / (4.0 * rho)).exp();
                        assert!(pair.delta_upper(epsilon) <= bound.max(1e-300), "{sigma} {changed} {epsilon}");
                    }
                }
            }
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for (sigma, changed) in [(0.0, 1), (f64::NAN, 1), (1e4, 1), (1.0, 0), (1.0, 3)] {
            assert!(DiscreteGaussianPair::new(sigma, changed).is_err());
        }
    }

    #[test]
    fn divergences_are_those_of_the_normal_law_and_not_below_the_sum_over_all_outcomes() {
        for sigma in [0.5, 1.0, 3.0] {
            for changed in [1_u32, 2] {
                let pair = DiscreteGaussianPair::new(sigma, changed).unwrap();
                let normal = f64::from(changed) / (2.0 * sigma * sigma);
                for order in [1.1, 2.0, 5.0] {
                    // Each changed coordinate: the sum of P^l Q^(1 - l), Q moved by one.
                    let power = |x: f64, l: f64| -0.5 * l * (x / sigma).powi(2);
                    let sum = |f: &dyn Fn(f64) -> f64| (-80..=80).map(|z| f(f64::from(z)).exp()).sum::<f64>();
                    let moment = sum(&|z| power(z, order) + power(z - 1.0, 1.0 - order)) / sum(&|z| power(z, 1.0));
                    let exact = f64::from(changed) * moment.ln() / (order - 1.0);
                    let found = pair.renyi_upper(order);
                    assert!(found >= exact * (1.0 - 1e-12), "{sigma} {changed} {order}: {found} {exact}");
                    assert!(found >= normal * order && found <= normal * order * (1.0 + 1e-10), "{sigma} {order}");
                }
                let rho = pair.tcdp_upper(7.0);
                assert!(rho >= normal && rho <= normal * (1.0 + 1e-10), "{sigma} {changed}: {rho}");
            }
        }
    }

    #[test]
    fn far_tails_are_the_sums_over_all_places_until_they_are_below_what_is_reported() {
        for sigma in [0.5_f64, 1.0, 1.5] {
            for changed in [1_u32, 2] {
                let pair = DiscreteGaussianPair::new(sigma, changed).unwrap();
                let c = 0.5 / (sigma * sigma);
                // Places of all changed coordinates that together lie this far right of their means under P.
                let noise = |from: i32| -> Vec<(f64, f64)> {
                    let reach = (46.0 * sigma).ceil() as i32;
                    let places = -reach..=reach;
                    let sum: f64 = places.clone().map(|z| (-c * f64::from(z * z)).exp()).sum();
                    let mut far = Vec::new();
                    for z in -3 * reach..=3 * reach {
                        // e^600 in front: squares of far places are below all doubles.
                        let of = |square: f64| (600.0 - c * square - f64::from(changed) * sum.ln()).exp();
                        if changed == 1 && z >= from {
                            far.push((c * (2.0 * f64::from(z) + 1.0), of(f64::from(z * z))));
                        }
                        if changed == 2 {
                            for y in (from - z)..=3 * reach {
                                far.push((c * (2.0 * f64::from(z + y) + 2.0), of(f64::from(z * z + y * y))));
                            }
                        }
                    }
                    far
                };
                for deviations in [8.0, 15.0, 22.0, 29.0, 33.0, 36.0] {
                    let spread = sigma * f64::from(changed).sqrt();
                    let from = (deviations * spread).ceil() as i32;
                    // Half way between two losses.
                    let epsilon = c * (2.0 * f64::from(from) + f64::from(changed) - 1.0);
                    let scaled: f64 = noise(from).iter().map(|&(loss, p)| p * -(epsilon - loss).exp_m1()).sum();
                    let exact = scaled * (-600.0_f64).exp();
                    let (lower, upper) = (pair.delta_lower(epsilon), pair.delta_upper(epsilon));
                    let case = format!("{sigma} {changed} {deviations}: {lower:e} {exact:e} {upper:e}");
                    assert!(lower <= exact * (1.0 + 1e-12) && upper >= exact * (1.0 - 1e-12), "{case}");
                    assert!(lower >= exact * (1.0 - 1e-9) - 1e-300 && upper <= exact * (1.0 + 1e-9) + 1e-300, "{case}");
                }
            }
        }
    }

    #[test]
    fn at_a_loss_what_lies_there_counts_on_neither_side() {
        // 1/(2 sigma^2) is 128 or 8: losses are that times odd numbers, without rounding. At the loss of no noise delta is
        // (1 - exp(-2 c)) times the chance of noise one, and so on; what lies at the loss itself would be far more.
        for sigma in [0.0625_f64, 0.25] {
            let c = 0.5 / (sigma * sigma);
            let pair = DiscreteGaussianPair::new(sigma, 1).unwrap();
            let sum: f64 = (-9..=9).map(|z| (-c * f64::from(z * z)).exp()).sum();
            let terms = |z: i32| (-c * f64::from(z * z)).exp() * -(-2.0 * c * f64::from(z)).exp_m1();
            let exact = (1..9).rev().map(terms).sum::<f64>() / sum;
            let (lower, upper) = (pair.delta_lower(c), pair.delta_upper(c));
            assert!(lower <= exact && lower >= exact * (1.0 - 1e-10) && upper >= exact, "{sigma}: {lower:e} {exact:e}");
            // From above the loss itself may count by what it is off by, 1e-14 of it.
            assert!(upper <= exact * (1.0 + 1e-10) + 2e-14 * c, "{sigma}: {upper:e} {exact:e}");
        }
    }
}
