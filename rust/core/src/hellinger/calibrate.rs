//! From a wanted (epsilon, delta) to an exponent: what Theorems P and A allow, what the papers take, what to certify.
//!
//! Parameters depend on n, the prior, epsilon and delta only. Where a theorem leaves a choice, the exponents are compared
//! by their mean error over a fixed sample of data sets spread over the lattice: exactly where the candidates are few, by
//! 1/(1 + beta) elsewhere.

use super::exponent::Shape;
use super::law::mean_distance;
use super::{Enumeration, Family, Goal};
use crate::random::{Bits, StreamKey};
use crate::{Error, Result};

/// Which sensitivity the exponent follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensitivity {
    /// Lifted or Lipschitz, whichever is better: Theorem P.
    Adaptive,
    /// The global one.
    Global,
    /// The smooth one: Theorem A.
    Smooth,
    /// The local one, which the papers call not private; certification decides.
    Local,
}

/// An exponent with what is proved of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// The inverse sensitivity that the exponent follows.
    pub shape: Shape,
    /// Its factor.
    pub factor: f64,
    /// The proved guarantee, rounding of the release included; none is proved for the papers' local sensitivity.
    pub proved: Option<Goal>,
}

/// The least epsilon that makes sense beside the rounding of a release.
const LEAST_EPSILON: f64 = 1e-9;

/// Slopes of the Lipschitz shape to choose from.
const SLOPES: [f64; 10] = [0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.6, 1.0];

/// Smoothnesses to certify, and to solve Theorem A for from the first one downwards.
const CERTIFIED_SMOOTHNESSES: [f64; 10] = [0.01, 0.02, 0.03, 0.046, 0.07, 0.1, 0.15, 0.22, 0.33, 0.5];
const SOLVED_SMOOTHNESSES: usize = 60;

/// Candidates up to which the error is computed and not estimated, on so many data sets that this many pairs are.
const EXACT_UP_TO: u128 = 2_000;
const EXACT_PAIRS: u128 = 20_000;

/// Numbers that the sample of data sets may hold in all: milliseconds.
const SAMPLE_SIZE: usize = 2000;
const SAMPLE_SETS: usize = 64;

impl Sensitivity {
    /// The shapes among which a certified search chooses.
    pub fn shapes(self) -> Vec<Shape> {
        match self {
            Self::Adaptive => std::iter::once(Shape::Lifted).chain(SLOPES.map(Shape::Lipschitz)).collect(),
            Self::Global => vec![Shape::Global],
            Self::Smooth => CERTIFIED_SMOOTHNESSES.map(Shape::Smooth).to_vec(),
            Self::Local => vec![Shape::Local],
        }
    }
}

impl Goal {
    /// The goal, checked.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an epsilon outside [1e-9, 1e5], a delta outside [0, 1).
    pub fn new(epsilon: f64, delta: f64) -> Result<Self> {
        if !(LEAST_EPSILON..=1e5).contains(&epsilon) {
            return Err(Error::parameter("epsilon", "lie in [1e-9, 1e5]", epsilon));
        }
        if !(0.0..1.0).contains(&delta) {
            return Err(Error::parameter("delta", "lie in [0, 1)", delta));
        }
        Ok(Self { epsilon, delta })
    }
}

impl Family {
    /// The best exponent that Theorem P (adaptive), Theorem A (smooth) or the exponential mechanism's own bound (global)
    /// proves to reach the goal.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for the local sensitivity, of which nothing is proved, and for a smooth one with
    /// delta = 0 or without a smoothness that reaches the goal.
    pub fn proved(&self, sensitivity: Sensitivity, goal: Goal) -> Result<Calibration> {
        let best = match sensitivity {
            Sensitivity::Adaptive => {
                let lifted = (Shape::Lifted, self.pure_factor(Shape::Lifted, self.theorem_p_constant(), goal));
                let lipschitz = SLOPES.map(|slope| {
                    (Shape::Lipschitz(slope), self.pure_factor(Shape::Lipschitz(slope), 1.0 + slope, goal))
                });
                self.sharpest(std::iter::once(lifted).chain(lipschitz))
            }
            Sensitivity::Global => Some((Shape::Global, self.pure_factor(Shape::Global, 1.0, goal))),
            Sensitivity::Smooth => return self.proved_smooth(goal),
            Sensitivity::Local => None,
        };
        let Some((shape, factor)) = best else {
            return Err(Error::parameter(
                "sensitivity",
                "be other than \"local\" for calibration=\"proved\"",
                "\"local\"",
            ));
        };
        Ok(Calibration { shape, factor, proved: Some(Goal { epsilon: goal.epsilon, delta: 0.0 }) })
    }

    /// The exponent of the papers for (epsilon, delta), with what is proved of it, which is less than they claim for
    /// the smooth sensitivity (\[HP\] Lemma 4.7; theory C6).
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for the adaptive sensitivity, which the papers do not have, and for a smooth one
    /// with delta = 0.
    pub fn paper(&self, sensitivity: Sensitivity, goal: Goal) -> Result<Calibration> {
        let factor = goal.epsilon;
        match sensitivity {
            Sensitivity::Adaptive => Err(Error::parameter(
                "sensitivity",
                "be \"global\", \"local\" or \"smooth\" for calibration=\"paper\"",
                "\"adaptive\"",
            )),
            Sensitivity::Global => {
                let rounding = self.rounding(Shape::Global, factor);
                let proved = Goal { epsilon: goal.epsilon + 2.0 * rounding, delta: 0.0 };
                Ok(Calibration { shape: Shape::Global, factor, proved: Some(proved) })
            }
            Sensitivity::Local => Ok(Calibration { shape: Shape::Local, factor, proved: None }),
            Sensitivity::Smooth => {
                require_delta(goal)?;
                let gamma = self.paper_smoothness(goal.epsilon, goal.delta);
                let shape = Shape::Smooth(gamma);
                let rounding = self.rounding(shape, factor);
                let delta = goal.delta * (-rounding).exp() * (1.0 - 1e-12);
                let epsilon = self.theorem_a_epsilon(factor, gamma, delta) + 2.0 * rounding;
                Ok(Calibration { shape, factor, proved: Some(Goal { epsilon, delta: goal.delta }) })
            }
        }
    }

    /// The factor at which a shape of the given constant is epsilon-DP, rounding of the release included.
    fn pure_factor(&self, shape: Shape, constant: f64, goal: Goal) -> f64 {
        // loss <= constant factor + 2 rounding(factor), and the rounding is linear in the factor.
        let fixed = 2.0 * self.rounding_at(0.0);
        let slope = 2.0 * (self.rounding(shape, 1.0) - self.rounding_at(0.0));
        (goal.epsilon - fixed) / (constant + slope) * (1.0 - 1e-15)
    }

    fn proved_smooth(&self, goal: Goal) -> Result<Calibration> {
        require_delta(goal)?;
        if self.n() == 0 {
            return Ok(Calibration { shape: Shape::Smooth(1.0), factor: goal.epsilon, proved: Some(goal) });
        }
        let candidates = (0..SOLVED_SMOOTHNESSES).filter_map(|step| {
            let gamma = 0.7_f64.powi(step as i32);
            let rounding = self.rounding(Shape::Smooth(gamma), goal.epsilon);
            let delta = goal.delta * (-rounding).exp() * (1.0 - 1e-12);
            let factor = self.theorem_a_exponent(goal.epsilon - 2.0 * rounding, gamma, delta)?;
            Some((Shape::Smooth(gamma), factor))
        });
        match self.sharpest(candidates) {
            Some((shape, factor)) => Ok(Calibration { shape, factor, proved: Some(goal) }),
            None => Err(Error::parameter("epsilon", "be large enough for Theorem A", goal.epsilon)),
        }
    }

    /// Bound of the error of the logarithm of a released probability at the largest exponent.
    fn rounding(&self, shape: Shape, factor: f64) -> f64 {
        self.rounding_at(factor * self.largest_inverse_of(shape))
    }

    /// The exponent with the least mean error over the sample of data sets.
    fn sharpest(&self, candidates: impl Iterator<Item = (Shape, f64)>) -> Option<(Shape, f64)> {
        let sample = self.sample_of_data_sets();
        let exact = self.lattice().count().is_some_and(|count| count <= EXACT_UP_TO);
        let distances: Vec<Vec<f64>> = match Enumeration::new(self) {
            Ok(enumeration) if exact => sample.iter().map(|x| enumeration.distances(x)).collect(),
            _ => Vec::new(),
        };
        let error = |(shape, factor): &(Shape, f64)| -> f64 {
            let exponents = sample.iter().map(|x| factor * self.inverse_sensitivity(x, *shape));
            if distances.is_empty() {
                exponents.map(|exponent| 1.0 / (1.0 + exponent)).sum()
            } else {
                exponents.zip(&distances).map(|(exponent, distances)| mean_distance(distances, exponent)).sum()
            }
        };
        let scored = candidates.map(|candidate| (error(&candidate), candidate));
        scored.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, candidate)| candidate)
    }

    /// Data sets spread over the lattice: always the same ones.
    fn sample_of_data_sets(&self) -> Vec<Vec<u64>> {
        let sets = (SAMPLE_SIZE / self.categories()).clamp(2, SAMPLE_SETS);
        let Some(count) = self.lattice().count() else {
            return self.random_data_sets(sets);
        };
        let sets = (sets as u128).min(count);
        let sets = if count <= EXACT_UP_TO { sets.min(EXACT_PAIRS / count) } else { sets };
        let middle = |set: u128| count / sets * set + count / sets / 2;
        (0..sets).filter_map(|set| self.lattice().unrank(middle(set)).ok()).collect()
    }

    /// Uniform data sets, up to rounding, from a fixed seed.
    fn random_data_sets(&self, sets: usize) -> Vec<Vec<u64>> {
        let m = self.categories();
        let mut stream = StreamKey::from_bytes([0; 32]).stream(m as u64);
        let mut exponential = || 53.0 * std::f64::consts::LN_2 - ((stream.next_u64() >> 11) as f64 + 0.5).ln();
        let mut set = || {
            let weights: Vec<f64> = (0..m).map(|_| exponential()).collect();
            let total: f64 = weights.iter().sum();
            let share = |weight: &f64| (weight / total * self.n() as f64 * (1.0 - 1e-12)) as u64;
            let mut x: Vec<u64> = weights.iter().map(share).collect();
            let rest = self.n().saturating_sub(x.iter().sum());
            for (index, k) in x.iter_mut().enumerate() {
                *k += rest / m as u64 + u64::from((index as u64) < rest % m as u64);
            }
            x
        };
        (0..sets).map(|_| set()).collect()
    }
}

fn require_delta(goal: Goal) -> Result<()> {
    if goal.delta > 0.0 {
        return Ok(());
    }
    Err(Error::parameter("delta", "be positive for sensitivity=\"smooth\"", goal.delta))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_consists_of_data_sets() {
        for (m, n) in [(2, 60), (3, 0), (7, 1_000_000), (5000, 10)] {
            let family = Family::new(&vec![1.0; m], n).unwrap();
            for x in family.sample_of_data_sets().into_iter().chain(family.random_data_sets(5)) {
                assert_eq!(x.iter().sum::<u64>(), n);
            }
        }
    }

    #[test]
    fn proved_goals_are_met_by_the_constants() {
        let goal = Goal::new(0.8, 1e-8).unwrap();
        let family = Family::new(&[1.0, 1.0], 600).unwrap();
        let adaptive = family.proved(Sensitivity::Adaptive, goal).unwrap();
        let constant = match adaptive.shape {
            Shape::Lipschitz(slope) => 1.0 + slope,
            _ => family.theorem_p_constant(),
        };
        assert!(constant * adaptive.factor <= 0.8 && constant * adaptive.factor > 0.8 - 1e-9);
        let smooth = family.proved(Sensitivity::Smooth, goal).unwrap();
        let Shape::Smooth(gamma) = smooth.shape else { panic!("{smooth:?}") };
        assert!(family.theorem_a_epsilon(smooth.factor, gamma, 1e-8) <= 0.8);
        assert!(family.proved(Sensitivity::Local, goal).is_err());
        assert!(family.paper(Sensitivity::Adaptive, goal).is_err());
        assert!(family.paper(Sensitivity::Local, goal).unwrap().proved.is_none());
    }

    #[test]
    fn the_papers_smooth_calibration_is_proved_at_about_one_and_a_half_times_its_claim() {
        let family = Family::new(&[1.0, 1.0], 600).unwrap();
        let paper = family.paper(Sensitivity::Smooth, Goal::new(0.8, 1e-8).unwrap()).unwrap();
        let proved = paper.proved.unwrap();
        assert!(proved.epsilon > 0.8 && proved.epsilon < 1.3, "{proved:?}");
    }

    #[test]
    fn hopeless_goals_are_refused() {
        for (epsilon, delta) in
            [(0.0, 0.1), (-1.0, 0.1), (f64::NAN, 0.1), (f64::INFINITY, 0.1), (1.0, 1.0), (1.0, -0.1)]
        {
            assert!(Goal::new(epsilon, delta).is_err());
        }
    }
}
