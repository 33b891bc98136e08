//! What a mechanism guarantees: for which neighbours, the profile of each direction, what its sampler is off by, and what
//! all of that was made from.
//!
//! Every guarantee of the library is formed here, once, and serves calibration, reports, composition and ledgers alike.

mod combine;
mod dirichlet;
mod discovery;
mod least_noise;
mod meaning;
mod noise;
mod recipe;
mod standard;
mod tables;
mod text;
mod tradeoff;
mod unit;

use std::sync::Arc;

pub(crate) use dirichlet::ONE_PART_PRIOR;
pub use dirichlet::{DirichletDraw, DirichletFunction, sampling_error};
pub use discovery::{Discovery, least_threshold};
pub use least_noise::{NoiseBudget, default_step, gaussian_on_grid, least_size};
pub use meaning::{Meaning, belief};
pub use noise::{Grid, Noise, NoiseMechanism};
pub use recipe::{Function, Leaf, Node, Real, Recipe};
pub use tables::{choices_epsilon, choices_rho, parts_of};
pub use tradeoff::pair_within;
pub use unit::Unit;

use crate::accounting::{Profile, WithSamplingError};
use crate::rounding::{exp_up, product_up, sum_down, sum_up};
use crate::{Error, Result};

/// Which data sets are neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Adjacency {
    /// One record differs.
    Replace,
    /// One record is added or removed.
    AddRemove,
}

impl Adjacency {
    /// The squared Euclidean distance of the counts of neighbours that differ in one record.
    pub fn l2_squared(self) -> f64 {
        match self {
            Self::Replace => 2.0,
            Self::AddRemove => 1.0,
        }
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::AddRemove => "add_remove",
        }
    }

    /// The adjacency of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Replace, Self::AddRemove].into_iter().find(|adjacency| adjacency.name() == name)
    }

    /// Ordered pairs of neighbours that are told apart: one under replacement, where every pair is met in both orders;
    /// record removed and record added otherwise.
    pub fn directions(self) -> usize {
        match self {
            Self::Replace => 1,
            Self::AddRemove => 2,
        }
    }
}

/// A guarantee; immutable. Equal where adjacency, recipes and sampling error are.
#[derive(Clone)]
pub struct Guarantee {
    adjacency: Adjacency,
    unit: Unit,
    /// Of the ideal mechanism: one under replacement, else record removed and record added.
    directions: Vec<Arc<Node>>,
    /// The same with the sampling error.
    reported: Vec<Arc<dyn Profile>>,
    sampling_error: f64,
    exact: bool,
    /// The direction that is known to be the worse one at every epsilon >= 0.
    worse: Option<usize>,
}

/// Of a record removed and a record added, the second where both are one pair of gamma laws: its profile is the larger at
/// every epsilon >= 0 (docs/privacy-curves.md, "Which order is worse"). Below 0 it is the smaller.
fn worse(directions: &[Arc<Node>]) -> Option<usize> {
    let [removed, added] = directions else { return None };
    match (removed.recipe(), added.recipe()) {
        (
            Recipe::Leaf(Leaf::Gamma { a, r, add: false }),
            Recipe::Leaf(Leaf::Gamma { a: same_a, r: same_r, add: true }),
        ) if a == same_a && r == same_r => Some(1),
        _ => None,
    }
}

impl PartialEq for Guarantee {
    fn eq(&self, other: &Self) -> bool {
        self.adjacency == other.adjacency
            && self.unit == other.unit
            && self.sampling_error.to_bits() == other.sampling_error.to_bits()
            && self.directions == other.directions
    }
}

impl Eq for Guarantee {}

impl std::hash::Hash for Guarantee {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.adjacency.hash(state);
        self.unit.hash(state);
        self.sampling_error.to_bits().hash(state);
        self.directions.hash(state);
    }
}

impl std::fmt::Debug for Guarantee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}({:?}, {}, {:?})", self.adjacency, self.unit, self.sampling_error, self.directions)
    }
}

impl Guarantee {
    /// The guarantee of these profiles, by direction, whose sampler is within `sampling_error` of each ideal law.
    ///
    /// # Errors
    /// If there are not as many profiles as directions, or the error lies outside [0, 1).
    pub fn new(adjacency: Adjacency, directions: Vec<Arc<Node>>, sampling_error: f64) -> Result<Self> {
        if directions.len() != adjacency.directions() {
            let rule = match adjacency {
                Adjacency::Replace => "have length 1 for 'replace'",
                Adjacency::AddRemove => "have length 2 for 'add_remove'",
            };
            return Err(Error::parameter("profiles", rule, directions.len()));
        }
        let reported = directions
            .iter()
            .map(|node| {
                let with_error = WithSamplingError::new(node.shared(), sampling_error)?;
                Ok(if sampling_error > 0.0 { Arc::new(with_error) as Arc<dyn Profile> } else { node.shared() })
            })
            .collect::<Result<_>>()?;
        let worse = worse(&directions);
        Ok(Self { adjacency, unit: Unit::default(), directions, reported, sampling_error, exact: false, worse })
    }

    /// The guarantee of a mechanism whose neighbours may be exchanged: the same profile in every direction.
    ///
    /// # Errors
    /// As for [`Guarantee::new`].
    pub fn symmetric(adjacency: Adjacency, node: Arc<Node>) -> Result<Self> {
        Self::new(adjacency, vec![node; adjacency.directions()], 0.0)
    }

    /// The same, attained (or approached) by some neighbours.
    pub fn attained(self, exact: bool) -> Self {
        Self { exact, ..self }
    }

    /// The same, of neighbours that differ in all records of one such unit. It is a statement of the caller about the
    /// mechanism: nothing of the profiles depends on it.
    pub fn of_unit(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// The guarantee of a sampler that is another `error` off in total variation.
    ///
    /// # Errors
    /// If the errors come to 1 or more.
    pub fn with_sampling_error(&self, error: f64) -> Result<Self> {
        let moved = Self::new(self.adjacency, self.directions.clone(), sum_up(self.sampling_error, error))?;
        Ok(moved.attained(self.exact).of_unit(self.unit.clone()))
    }

    /// Which data sets are neighbours.
    pub fn adjacency(&self) -> Adjacency {
        self.adjacency
    }

    /// Whose records change together.
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// The profiles of the ideal mechanism, by direction.
    pub fn directions(&self) -> &[Arc<Node>] {
        &self.directions
    }

    /// Total variation distance between the ideal output laws and the sampler's.
    pub fn sampling_error(&self) -> f64 {
        self.sampling_error
    }

    /// Whether some neighbours attain it, or approach it.
    pub fn exact(&self) -> bool {
        self.exact
    }

    fn largest(&self, value: impl Fn(&dyn Profile) -> f64) -> f64 {
        self.reported.iter().map(|profile| value(&**profile)).fold(f64::NEG_INFINITY, f64::max)
    }

    fn largest_ideal(&self, value: impl Fn(&dyn Profile) -> f64) -> f64 {
        self.directions.iter().map(|node| value(node.profile())).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The directions that decide at epsilons >= 0, without the sampling error.
    fn deciding(&self) -> &[Arc<Node>] {
        self.worse.map_or(&self.directions, |worse| std::slice::from_ref(&self.directions[worse]))
    }

    /// Whether the sampling error at this epsilon is far below this delta. A reported bound of that size is then the sum
    /// of both at this very epsilon, never one of a smaller epsilon that holds here too: what is said of the ideal
    /// profiles carries over.
    fn error_is_small(&self, epsilon: f64, delta: f64) -> bool {
        self.sampling_error == 0.0 || self.sampling_error * (1.0 + epsilon.exp()) < 0.2 * delta
    }

    /// An upper bound of delta at any real epsilon.
    pub fn delta(&self, epsilon: f64) -> f64 {
        if let (Some(worse), true) = (self.worse, epsilon >= 0.0) {
            let delta = self.reported[worse].delta_upper(epsilon);
            if self.error_is_small(epsilon, delta) {
                return delta;
            }
        }
        self.largest(|profile| profile.delta_upper(epsilon))
    }

    /// An epsilon >= 0 with at most this delta, next to the smallest one; infinite if there is none.
    pub fn epsilon(&self, delta: f64) -> f64 {
        if let Some(worse) = self.worse {
            let epsilon = self.reported[worse].epsilon_upper(delta);
            if self.error_is_small(epsilon, delta) {
                return epsilon;
            }
        }
        self.largest(|profile| profile.epsilon_upper(delta))
    }

    /// A value that the smallest epsilon of the ideal mechanism is not below.
    pub fn epsilon_lower(&self, delta: f64) -> f64 {
        self.deciding().iter().map(|node| node.profile().epsilon_lower(delta)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Both bounds of the smallest epsilon at `delta`: at most `tolerance` apart for the ideal mechanism, the upper one with
    /// what the sampler is off by.
    ///
    /// # Errors
    /// If they are not known that well, a grid for it is not affordable, or the sampling error leaves nothing of `delta`.
    pub fn epsilon_within(&self, delta: f64, tolerance: f64) -> Result<(f64, f64)> {
        if 0.0 < delta && delta <= 2.0 * self.sampling_error {
            let reason = format!(
                "the bounds stay more than the tolerance of {tolerance} apart, because the sampling error of {:e} leaves \
                 nothing of a delta of {delta:e}",
                self.sampling_error
            );
            return Err(Error::numerical("epsilon", reason));
        }
        let (lower, ideal) = self.each_within(delta, tolerance)?;
        if self.sampling_error == 0.0 {
            return Ok((lower, ideal));
        }
        // The error counts at the epsilon that is reported; a little above the ideal one is enough.
        let guess = ideal + 0.01 * tolerance;
        let left = sum_down(delta, -product_up(self.sampling_error, sum_up(1.0, exp_up(guess))));
        let refined = if left > 0.0 { self.each_within(left, tolerance)?.1 } else { f64::INFINITY };
        Ok((lower, if refined <= guess { refined } else { self.epsilon(delta) }))
    }

    fn each_within(&self, delta: f64, tolerance: f64) -> Result<(f64, f64)> {
        self.deciding().iter().try_fold((0.0_f64, 0.0_f64), |(lower, upper), node| {
            let both = node.profile().epsilon_within(delta, tolerance)?;
            Ok((lower.max(both.0), upper.max(both.1)))
        })
    }

    /// An upper bound of the Renyi divergence of this order > 1 of the ideal mechanism; infinite where none is known.
    pub fn renyi(&self, order: f64) -> f64 {
        self.largest_ideal(|profile| profile.renyi_upper(order))
    }

    /// An upper bound of rho such that the ideal mechanism is (rho, omega)-tCDP.
    pub fn tcdp(&self, omega: f64) -> f64 {
        self.largest_ideal(|profile| profile.tcdp_upper(omega))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{Direction, GammaPair};

    fn gammas(a: f64, r: f64) -> Guarantee {
        let node = |add| Node::leaf(Leaf::Gamma { a: Real(a), r: Real(r), add }).unwrap();
        Guarantee::new(Adjacency::AddRemove, vec![node(false), node(true)], 0.0).unwrap()
    }

    #[test]
    fn the_added_record_is_the_worse_one_from_zero_on() {
        for a in [1e-9, 1e-3, 0.1, 0.5, 1.0, 1.5, 7.0, 1e3, 1e9] {
            for r in [1e-6, 0.01, 0.3, 1.0, 2.5, 40.0, 1e4] {
                let pair = |direction| GammaPair::new(a, r, direction).unwrap();
                let (removed, added) = (pair(Direction::Remove), pair(Direction::Add));
                let both = gammas(a, r);
                for step in 0..60 {
                    let epsilon = if step == 0 { 0.0 } else { r / (a + r).sqrt() * 1e-3 * 1.25_f64.powi(step) };
                    assert!(
                        removed.delta_lower(epsilon) <= added.delta_upper(epsilon),
                        "{a} {r}: {:e} {:e} at {epsilon}",
                        removed.delta_lower(epsilon),
                        added.delta_upper(epsilon)
                    );
                    assert!(added.delta_lower(-epsilon) <= removed.delta_upper(-epsilon), "{a} {r} -{epsilon}");
                    for epsilon in [epsilon, -epsilon] {
                        let larger = removed.delta_upper(epsilon).max(added.delta_upper(epsilon));
                        let got = both.delta(epsilon);
                        assert!((got / larger - 1.0).abs() <= 3e-11, "{a} {r} {epsilon}: {got:e} {larger:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn of_two_different_pairs_neither_is_known_to_be_the_worse() {
        // A record removed costs much, one that is added little, though both are gamma laws.
        let leaf = |a, r, add| Node::leaf(Leaf::Gamma { a: Real(a), r: Real(r), add }).unwrap();
        for (a, r) in [(0.1, 1.0), (40.0, 10.0)] {
            let directions = vec![leaf(a, r, false), leaf(40.0, 1.0, true)];
            let [removed, added] = [0, 1].map(|i| directions[i].shared());
            let both = Guarantee::new(Adjacency::AddRemove, directions, 0.0).unwrap();
            for epsilon in [0.0, 0.5, 1.0] {
                assert!(removed.delta_upper(epsilon) > added.delta_upper(epsilon));
                assert_eq!(both.delta(epsilon), removed.delta_upper(epsilon));
            }
            assert_eq!(both.epsilon(1e-6), removed.epsilon_upper(1e-6));
        }
    }

    #[test]
    fn both_bounds_of_epsilon_are_near_and_the_error_of_the_sampler_is_in_the_upper_one() {
        let normal = Guarantee::gaussian(Adjacency::Replace, 1.0, 1.0).unwrap();
        for ideal in [gammas(1.5, 1.0), gammas(0.1, 0.3), normal] {
            for delta in [1e-9, 1e-3] {
                let told = ideal.epsilon(delta);
                let (lower, upper) = ideal.epsilon_within(delta, 1e-6).unwrap();
                assert!(lower <= told && lower <= upper && upper - lower <= 1e-6, "{lower} {told} {upper}");
                assert!((told - upper).abs() <= 2e-6 && ideal.epsilon_lower(delta) >= told - 2e-6);
                for share in [1e-12, 1e-3, 0.01] {
                    let off = ideal.with_sampling_error(share * delta).unwrap();
                    let told = off.epsilon(delta);
                    let (same, upper) = off.epsilon_within(delta, 1e-6).unwrap();
                    // What is left of delta, at the epsilon that is told.
                    let left = delta - share * delta * (1.0 + told.exp());
                    assert!(
                        same == lower && (upper == told || (upper - told).abs() <= 2e-6),
                        "{delta} {share}: {told} {upper}"
                    );
                    assert!(left <= 0.0 || upper >= ideal.epsilon_lower(left) - 1e-9);
                }
                let off = ideal.with_sampling_error(0.5 * delta).unwrap();
                assert!(off.epsilon_within(delta, 1e-6).is_err());
            }
        }
    }

    #[test]
    fn a_normal_law_has_the_divergence_of_its_distance() {
        // alpha mu^2/2, from sqrt(2) counts under replacement and one under add/remove.
        for (adjacency, square) in [(Adjacency::Replace, 2.0), (Adjacency::AddRemove, 1.0)] {
            assert_eq!(adjacency.l2_squared(), square);
            let normal = Guarantee::gaussian(adjacency, 4.0, adjacency.l2_squared().sqrt()).unwrap();
            for order in [1.5, 2.0, 30.0] {
                let exact = order * square / 32.0;
                let told = normal.renyi(order);
                assert!(told >= exact * (1.0 - 1e-15) && told <= exact * (1.0 + 1e-10), "{order}: {told} {exact}");
            }
        }
    }

    #[test]
    fn epsilons_of_added_and_removed_records_are_those_of_both() {
        for (a, r) in [(0.01, 1.0), (1.5, 1.0), (20.0, 0.3)] {
            for error in [0.0, 2.0_f64.powi(-256), 1e-9, 0.01, 0.3] {
                let both = gammas(a, r).with_sampling_error(error).unwrap();
                for delta in [1e-12, 1e-5, 0.02, 0.05, 0.4, 0.9] {
                    let largest = both.largest(|profile| profile.epsilon_upper(delta));
                    let got = both.epsilon(delta);
                    assert!(
                        got == largest || (got / largest - 1.0).abs() < 1e-9,
                        "{a} {r} {error} {delta}: {got} {largest}"
                    );
                    assert!(both.epsilon_lower(delta) <= got);
                }
                for epsilon in [0.0, 1e-3, 0.5, 3.0, 30.0, 200.0, 800.0] {
                    let largest = both.largest(|profile| profile.delta_upper(epsilon));
                    let got = both.delta(epsilon);
                    assert!((got - largest).abs() <= 3e-11 * largest, "{a} {r} {error} {epsilon}: {got:e} {largest:e}");
                }
            }
        }
    }
}
