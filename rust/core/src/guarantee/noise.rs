//! What added noise guarantees, from the parameters of the mechanisms, which are exact rationals: discrete noise on
//! integers, and on the public grid that real values are rounded to (docs/randomness.md has the proofs).

use num_bigint::BigUint;

use super::{Adjacency, Guarantee, Leaf, Node, Real, Recipe};
use crate::rounding::{product_up, sqrt_up};
use crate::sampling::Rational;
use crate::{Error, Result};

/// In this range the curve of integer Gaussian noise is exact; beyond, the tables of losses would be too large.
const EXACT_SIGMAS: (f64, f64) = (1e-3, 5000.0);
/// The proof for Gaussian noise on a grid needs so many steps in one standard deviation.
const LEAST_STEPS: u32 = 16;
/// r^2: what the proof for Gaussian noise on integers takes of the variance.
const INTEGER_ROUNDING: u32 = 3;
/// That proof is for a variance of at least so many times r^2; below, little is gained.
const LEAST_VARIANCE: u32 = 12;
/// An upper bound of 3 exp(-2 pi^2 r^2), which is 5.7e-26.
const INTEGER_ERROR: f64 = 6e-26;
/// Distances in standard deviations that the curve of normal laws covers; a smaller one costs no more.
const MU_RANGE: (f64, f64) = (1e-9, 5e11);
/// Where the error of the grid, times e^epsilon at a loss that is exceeded with a chance of 1e-23, is below this, it
/// stays a sampling error of the normal law, which composes best.
const NEGLIGIBLE_LOG_ERROR: f64 = -27.6; // 1e-12

/// Noise on integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// P(z) ~ exp(-|z| / size).
    Laplace,
    /// P(z) ~ exp(-z^2 / (2 size^2)).
    Gaussian,
}

/// A mechanism that adds noise to all values of a release.
#[derive(Debug, Clone)]
pub struct NoiseMechanism {
    /// The law of the noise.
    pub noise: Noise,
    /// Its scale or sigma, above zero.
    pub size: Rational,
    /// How far neighbours are apart: in l1 for Laplace noise, Euclidean for Gaussian noise.
    pub sensitivity: Rational,
    /// The grid of real values; none for integers.
    pub grid: Option<Grid>,
}

/// The public grid that real values are rounded to before noise is added in steps of it.
#[derive(Debug, Clone)]
pub struct Grid {
    /// Its step.
    pub step: Rational,
    /// In how many values neighbours can differ.
    pub changed: u64,
}

impl Grid {
    /// The largest l1 distance after rounding. Two numbers at distance t steps are rounded to integers at distance
    /// ceil(t) at most; for k numbers with distances t_i that sum to T, the sum of ceil(t_i) is below T + k, and an integer.
    fn l1(&self, sensitivity: &Rational) -> Rational {
        let steps = sensitivity.over(&self.step).ceil() + self.changed - 1u8;
        Rational::whole(steps).times(&self.step)
    }

    /// A bound of the Euclidean distance after rounding: each of the k differences grows by less than one step.
    fn l2(&self, sensitivity: &Rational) -> Rational {
        let root = (BigUint::from(self.changed) << 60u8).sqrt() + 1u8;
        sensitivity.plus(&Rational::whole(root).times(&Rational::power_of_two(-30)).times(&self.step))
    }
}

/// Normal laws in the place of Gaussian noise on a grid, or on integers.
pub(super) struct Normal {
    /// The square of how many deviations neighbours are apart, at most.
    pub(super) square: Rational,
    /// What the law of the noise is off by in total variation, for all values that change.
    pub(super) error: f64,
}

impl NoiseMechanism {
    /// The distance of neighbours once they are on the grid, where there is one.
    pub fn widened(&self) -> Rational {
        match (&self.grid, self.noise) {
            (None, _) => self.sensitivity.clone(),
            (Some(grid), Noise::Laplace) => grid.l1(&self.sensitivity),
            (Some(grid), Noise::Gaussian) => grid.l2(&self.sensitivity),
        }
    }

    /// The distance of neighbours in units of the noise.
    fn ratio(&self) -> Rational {
        self.widened().over(&self.size)
    }

    /// The parameter of zero-concentrated DP of Gaussian noise, rounded up: half the square of the distance \[CKS20\].
    pub fn rho(&self) -> f64 {
        let ratio = self.ratio();
        ratio.times(&ratio).times(&Rational::power_of_two(-1)).to_f64_up()
    }

    /// What one release guarantees.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when the noise is so small that the loss does not fit a double.
    pub fn guarantee(&self, adjacency: Adjacency) -> Result<Guarantee> {
        if self.size == Rational::whole(0u8) {
            return Err(Error::parameter("scale", "be positive", 0));
        }
        match (self.noise, &self.grid) {
            (Noise::Laplace, _) => Guarantee::budget(adjacency, finite(self.ratio().to_f64_up())?, 0.0),
            (Noise::Gaussian, None) => self.integer_gaussian(adjacency),
            (Noise::Gaussian, Some(_)) => self.rounded_gaussian(adjacency, true),
        }
    }

    /// Integer vectors of squared length below 3 are those with one or two entries of size one. Both signs cost the same,
    /// as the noise is symmetric, and two such entries cost more than one. Elsewhere the curve of normal laws that the noise
    /// is rounded from, or that of rho-zCDP \[CKS20, Thm 14\].
    fn integer_gaussian(&self, adjacency: Adjacency) -> Result<Guarantee> {
        let changed = self.sensitivity.times(&self.sensitivity).floor();
        // A smaller sigma costs more.
        let sigma = self.size.to_f64_down();
        if changed >= BigUint::from(1u8)
            && changed <= BigUint::from(2u8)
            && (EXACT_SIGMAS.0..=EXACT_SIGMAS.1).contains(&sigma)
        {
            return Guarantee::discrete_gaussian(adjacency, sigma, if changed == BigUint::from(1u8) { 1 } else { 2 });
        }
        self.rounded_gaussian(adjacency, false)
    }

    fn concentrated(&self, adjacency: Adjacency) -> Result<Guarantee> {
        Guarantee::tcdp_bound(adjacency, finite(self.rho())?, f64::INFINITY, true)
    }

    /// The normal law that stands for Gaussian noise on a grid of at least [`LEAST_STEPS`] steps to its deviation, or on
    /// integers.
    pub(super) fn normal(&self) -> Option<Normal> {
        let Some(grid) = self.grid.as_ref() else {
            return self.normal_of_integers();
        };
        let steps = self.size.over(&grid.step);
        if steps < Rational::whole(LEAST_STEPS) {
            return None;
        }
        let square = steps.times(&steps);
        // sqrt(1 - 1/(12 s^2)) is at least 1 - 1/(12 s^2): a smaller deviation is the safe side.
        let twelve = square.times(&Rational::whole(12u8));
        let less =
            Rational { numerator: &twelve.numerator - &twelve.denominator, denominator: twelve.numerator.clone() };
        let fifth = square.times(&square).times(&Rational::whole(5u8));
        let error = Rational::whole(grid.changed).over(&fifth).to_f64_up();
        let distance = self.ratio().over(&less);
        Some(Normal { square: distance.times(&distance), error })
    }

    /// Integer x with discrete Gaussian noise of parameter s is within total variation 3 q, q = exp(-2 pi^2 r^2), of an
    /// integer that is drawn around X, with weights exp(-(z - X)^2 / (2 r^2)), X normal with mean x and variance s^2 - r^2:
    /// that is post-processing, whatever x is (the proof of Theorem S in docs/synthesis.md, for one cell: both laws are that
    /// of density phi_s(y - x), divided by sums that are 1 up to 2.01 q). Integers that neighbours have in common
    /// have the same law for both, and no more of them differ than the squared distance says.
    fn normal_of_integers(&self) -> Option<Normal> {
        let (variance, square) = (self.size.times(&self.size), self.sensitivity.times(&self.sensitivity));
        let changed = square.floor();
        if changed == BigUint::from(0u8) || variance < Rational::whole(INTEGER_ROUNDING * LEAST_VARIANCE) {
            return None;
        }
        let taken = &variance.denominator * INTEGER_ROUNDING;
        let left = Rational { numerator: &variance.numerator - taken, denominator: variance.denominator.clone() };
        let error = product_up(Rational::whole(changed).to_f64_up(), INTEGER_ERROR);
        Some(Normal { square: square.over(&left), error })
    }

    /// The law of the noise in steps s is within 1/(5 s^4) of a rounded normal law of deviation sqrt(s^2 - 1/12), for every
    /// value that changes. Where that times e^epsilon is no longer small, beside it the bound of rho-zCDP, which has no
    /// such error: the better of the two at each epsilon.
    ///
    /// Of noise on integers the same, with the error of [`Self::normal_of_integers`].
    fn rounded_gaussian(&self, adjacency: Adjacency, attained: bool) -> Result<Guarantee> {
        let Some(normal) = self.normal() else {
            return self.concentrated(adjacency);
        };
        let mu = sqrt_up(normal.square.to_f64_up()).max(MU_RANGE.0);
        if !(mu <= MU_RANGE.1) {
            return self.concentrated(adjacency);
        }
        let error = normal.error;
        let gaussian = Leaf::Gaussian { mu: Real(mu) };
        let matters = error.ln() + 0.5 * mu * mu + 10.0 * mu > NEGLIGIBLE_LOG_ERROR;
        if !matters || error >= 1.0 {
            return Guarantee::symmetric(adjacency, Node::leaf(gaussian)?)?
                .attained(attained)
                .with_sampling_error(error);
        }
        let concentrated = Leaf::Truncated { rho: Real(self.rho()), omega: Real(f64::INFINITY), optimal: true };
        let on_grid = Leaf::GridGaussian { mu: Real(mu), error: Real(error) };
        let best = Recipe::Minimum(Node::leaf(concentrated)?, Node::leaf(on_grid)?);
        Guarantee::symmetric(adjacency, Node::new(best)?)
    }
}

fn finite(loss: f64) -> Result<f64> {
    if loss.is_finite() {
        return Ok(loss);
    }
    Err(Error::parameter("scale", "be so large that the privacy loss fits a double", "less"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(noise: Noise, size: f64, sensitivity: f64, grid: Option<(i32, u64)>) -> NoiseMechanism {
        let exact = |value| Rational::from_f64("value", value).unwrap();
        let grid = grid.map(|(log, changed)| Grid { step: Rational::power_of_two(log), changed });
        NoiseMechanism { noise, size: exact(size), sensitivity: exact(sensitivity), grid }
    }

    #[test]
    fn pure_losses_are_the_quotient_rounded_up() {
        for (scale, sensitivity) in [(3.0, 1.0), (0.1, 0.3), (7.0, 1e-9), (2.0, 1.0)] {
            let loss = of(Noise::Laplace, scale, sensitivity, None).guarantee(Adjacency::Replace).unwrap().epsilon(0.0);
            // loss * scale >= sensitivity exactly, and the next double below is not.
            assert!(loss.mul_add(scale, -sensitivity) >= 0.0 && loss.next_down().mul_add(scale, -sensitivity) < 0.0);
        }
    }

    #[test]
    fn rounding_to_a_grid_widens_the_distance() {
        // ceil(0.3 / 0.25) + 4 - 1 = 5 steps of 1/4.
        let laplace = of(Noise::Laplace, 1.25, 0.3, Some((-2, 4)));
        assert_eq!(laplace.widened().to_f64_up(), 1.25);
        assert_eq!(laplace.guarantee(Adjacency::AddRemove).unwrap().epsilon(0.0), 1.0);
        let gaussian = of(Noise::Gaussian, 1.0, 1.0, Some((-2, 4)));
        let widened = gaussian.widened().to_f64_up();
        assert!((1.5..1.5 + 1e-8).contains(&widened));
    }

    #[test]
    fn small_integer_moves_are_exact_and_others_concentrated() {
        let exact = |sigma, sensitivity| {
            of(Noise::Gaussian, sigma, sensitivity, None).guarantee(Adjacency::Replace).unwrap().exact()
        };
        assert!(exact(7.0, 1.0) && exact(7.0, 2f64.sqrt()) && exact(5000.0, 1.7));
        assert!(!exact(7.0, 1.8) && !exact(7.0, 0.5) && !exact(5001.0, 1.0));
    }

    /// The largest delta over everything that whole numbers of this squared length can be, by sums over integers.
    fn enumerated(sigma: f64, square: i64, epsilon: f64) -> f64 {
        fn moves(square: i64, most: i64) -> Vec<Vec<i64>> {
            let with = |first: i64| {
                moves(square - first * first, first).into_iter().map(move |rest| [vec![first], rest].concat())
            };
            let parts = (1..=most).filter(|first| first * first <= square).flat_map(with);
            parts.chain([vec![]]).collect()
        }
        let reach = (12.0 * sigma) as i64;
        let mass: Vec<f64> = (-reach..=reach).map(|z| (-(z * z) as f64 / (2.0 * sigma * sigma)).exp()).collect();
        let sum: f64 = mass.iter().sum();
        let delta = |parts: &Vec<i64>| {
            // The loss of a part l at z is l (2 z - l) / (2 sigma^2): by the integer l (2 z - l).
            let mut law = std::collections::BTreeMap::from([(0_i64, 1.0_f64)]);
            for &part in parts {
                let mut next = std::collections::BTreeMap::new();
                for (&loss, &weight) in &law {
                    for (place, &p) in mass.iter().enumerate() {
                        let z = place as i64 - reach;
                        *next.entry(loss + part * (2 * z - part)).or_insert(0.0) += weight * p / sum;
                    }
                }
                law = next;
            }
            law.iter()
                // By symmetry: losses of the first law are the negative of those of the second.
                .map(|(&loss, &p)| (p, -loss as f64 / (2.0 * sigma * sigma)))
                .map(|(p, loss)| p * (1.0 - (epsilon - loss).exp()).max(0.0))
                .sum::<f64>()
        };
        moves(square, square).iter().map(delta).fold(0.0, f64::max)
    }

    #[test]
    fn larger_integer_moves_are_those_of_a_normal_law_hardly_above_the_worst_that_there_is() {
        // l2 of a person with 2 rows under add/remove and replace, with 3 under add/remove.
        for (square, sigma) in [(4_i64, 7.0), (8, 9.0), (9, 12.0), (8, 20.0)] {
            let sensitivity = (square as f64).sqrt().next_up();
            let told = of(Noise::Gaussian, sigma, sensitivity, None).guarantee(Adjacency::Replace).unwrap();
            for epsilon in [0.1, 0.5, 1.0, 2.0] {
                let (bound, truth) = (told.delta(epsilon), enumerated(sigma, square, epsilon));
                // A part 3/sigma^2 of the variance, in delta the more the farther out.
                let slack = 1.0 + 3.0 / (sigma * sigma) * (2.0 + 2.0 * (epsilon * sigma).powi(2) / square as f64);
                assert!(
                    bound >= truth && bound <= slack * truth + 1e-20,
                    "{sigma} {square} {epsilon}: {bound} {truth}"
                );
            }
        }
        // Next to no noise, where the proof does not reach: that of rho-zCDP.
        let small = of(Noise::Gaussian, 3.0, 2.0, None).guarantee(Adjacency::Replace).unwrap();
        assert!((small.tcdp(f64::INFINITY) / (2.0 / 9.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_third_of_sigma_is_rounded_to_the_costlier_side() {
        let third = Rational::whole(20u8).over(&Rational::whole(3u8));
        let mechanism = NoiseMechanism { size: third, ..of(Noise::Gaussian, 1.0, 1.0, None) };
        let nearest = 20.0_f64 / 3.0;
        let below = if nearest.mul_add(3.0, -20.0) > 0.0 { nearest.next_down() } else { nearest };
        let expected = Guarantee::discrete_gaussian(Adjacency::Replace, below, 1).unwrap();
        assert!(mechanism.guarantee(Adjacency::Replace).unwrap() == expected);
    }

    #[test]
    fn large_losses_are_told_though_the_grid_has_an_error() {
        // Sensitivity 12 deviations: a loss of 72 + 12 z. The exact curve of normal laws is a lower bound of what can be said.
        for (sigma, log) in [(1.0 / 12.0, -24), (1.0 / 12.0, -46), (0.05, -48), (0.01, -50)] {
            let noise = of(Noise::Gaussian, sigma, 1.0, Some((log, 1)));
            let told = noise.guarantee(Adjacency::Replace).unwrap().epsilon(1e-6);
            let ideal = Guarantee::gaussian(Adjacency::Replace, sigma, 1.0).unwrap().epsilon(1e-6);
            assert!(told >= ideal && told <= 1.07 * ideal, "{sigma}: {told} against {ideal}");
        }
        // Ordinary noise keeps the profile of a pair, which composes best.
        let usual = of(Noise::Gaussian, 1.0, 1.0, Some((-20, 2))).guarantee(Adjacency::Replace).unwrap();
        assert!(usual.directions()[0].profile().is_pair() && usual.sampling_error() < 1e-24);
    }

    #[test]
    fn a_normal_law_stands_for_a_grid_only_where_its_proof_does() {
        let normal = |size: f64, changed: u64| of(Noise::Gaussian, size, 1.0, Some((-4, changed))).normal();
        assert!(normal(1.0, 1).is_some() && normal(1.0_f64.next_down(), 1).is_none() && normal(0.5, 1).is_none());
        for (size, changed) in [(1.0_f64, 1_u64), (1.5, 3), (40.0, 1000)] {
            let found = normal(size, changed).unwrap();
            // The variance is s^2 - 1/12 steps, the distance that of k values which grew by a step each.
            let steps = size * 16.0;
            let distance = 1.0 + (changed as f64).sqrt() / 16.0;
            let exact = (16.0 * distance).powi(2) / (steps * steps - 1.0 / 12.0);
            let square = found.square.to_f64_up();
            assert!(square >= exact * (1.0 - 1e-14) && square <= exact * (1.0 + 0.1 / (steps * steps)), "{size}");
            let error = changed as f64 / (5.0 * steps.powi(4));
            assert!(found.error >= error * (1.0 - 1e-15) && found.error <= error * (1.0 + 1e-15), "{size}");
        }
    }

    #[test]
    fn a_normal_law_stands_for_integers_only_where_its_proof_does() {
        let normal = |variance: u32, square: u32| {
            let of_square = |x: u32| Rational { numerator: BigUint::from(x), denominator: BigUint::from(1u8) };
            let mechanism = NoiseMechanism {
                size: of_square(variance),
                sensitivity: of_square(square),
                ..of(Noise::Gaussian, 1.0, 1.0, None)
            };
            mechanism.normal()
        };
        // A variance of twelve times three, and squares of whole numbers: at sigma 6, and not at 5.
        assert!(normal(6, 2).is_some() && normal(5, 2).is_none() && normal(6, 0).is_none());
        for (sigma, distance) in [(6_u32, 2_u32), (9, 3), (100, 40)] {
            let found = normal(sigma, distance).unwrap();
            let (variance, square) = (f64::from(sigma * sigma), f64::from(distance * distance));
            let exact = square / (variance - 3.0);
            assert!((found.square.to_f64_up() / exact - 1.0).abs() < 1e-15);
            let error = square * 3.0 * (-2.0 * std::f64::consts::PI.powi(2) * 3.0).exp();
            assert!(found.error >= error && found.error < 1.1 * error, "{} {error}", found.error);
        }
    }

    #[test]
    fn distances_on_a_grid_grow_by_a_step_in_every_value() {
        for changed in [1_u64, 2, 3, 4, 1000, 1 << 40] {
            let grid = Grid { step: Rational::power_of_two(-3), changed };
            let grown = grid.l2(&Rational::whole(0u8)).times(&Rational::whole(8u8));
            // Its square is at least the number of values, exactly, and hardly more.
            let square = grown.times(&grown);
            assert!(square >= Rational::whole(changed), "{changed}");
            assert!(square.to_f64_up() <= changed as f64 * (1.0 + 3e-9), "{changed}");
        }
    }
}
