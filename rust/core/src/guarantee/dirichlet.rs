//! What one Dirichlet draw from counts guarantees (theory B1; docs/privacy-curves.md has the proofs).

use std::sync::Arc;

use super::{Adjacency, Guarantee, Leaf, Node, Real, Recipe};
use crate::mechanisms::floor_parameter;
use crate::rounding::multiple_up;
use crate::sampling::dirichlet::TOTAL_VARIATION_BOUND;
use crate::sensitivity::{Person, partitions};
use crate::{Error, Result};

/// What the samplers of so many tables are off by in total variation between neighbours, rounded up.
///
/// Rows that a person does not touch have the same law for both neighbours: only the others count.
///
/// # Errors
/// If a number is out of its range.
pub fn sampling_error(person: Person, tables: u64) -> Result<f64> {
    Ok(multiple_up(person.moves(None, tables)?.cells, TOTAL_VARIATION_BOUND))
}

/// The parameters of y ~ Dirichlet(scale * counts + prior), in one or several rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DirichletDraw<'a> {
    /// Factor of the counts.
    pub scale: f64,
    /// The prior of every category, or one number for all of them.
    pub prior: &'a [f64],
    /// Number of categories.
    pub dimension: u64,
    /// A public lower bound of every count.
    pub floor: f64,
    /// The public total, under replacement.
    pub total: Option<u64>,
    /// How many rows of data a person has, at most.
    pub max_rows: u64,
}

/// From here on all rows of a person in one category are the worst there is (Theorem G, docs/persons.md).
pub(crate) const ONE_PART_PRIOR: f64 = 0.5;
/// Below, every way to spread so many rows over categories is composed; there are 3 of them, 9 under replacement.
const MOST_SPREAD_ROWS: u64 = 3;

impl DirichletDraw<'_> {
    /// The two smallest priors.
    fn smallest(&self) -> Result<(f64, f64)> {
        if self.prior.is_empty() || !self.prior.iter().all(|&prior| prior > 0.0 && prior.is_finite()) {
            return Err(Error::parameter("prior", "be positive and finite", format!("{:?}", self.prior)));
        }
        if self.prior.len() == 1 {
            return Ok((self.prior[0], self.prior[0]));
        }
        Ok(self.prior.iter().fold((f64::INFINITY, f64::INFINITY), |(first, second), &prior| {
            if prior < first { (prior, first) } else { (first, second.min(prior)) }
        }))
    }

    /// A prior with the scaled floor, rounded down: a smaller one is less private.
    fn lifted(&self, prior: f64) -> f64 {
        floor_parameter(prior, self.scale, self.floor)
    }

    /// Whether some neighbours at this total are the worst pair (at any total if none is stated), for three categories on.
    fn is_attained(&self) -> bool {
        let least = self.floor.ceil();
        let needed = self.max_rows as f64 + self.dimension as f64 * least;
        self.total.is_none_or(|total| total as f64 >= needed && self.floor == least)
    }

    /// What a draw of one row guarantees, sampled exactly.
    ///
    /// Replacement: Beta(a + r, a) against Beta(a, a + r) dominates every pair of neighbours; with two different smallest
    /// priors the larger of both orientations. Two categories with a public total force both counts, and the exact maximum
    /// over them is taken. Add/remove: Gamma(a + r) against Gamma(a), both ways.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn guarantee(&self, adjacency: Adjacency) -> Result<Guarantee> {
        if self.dimension < 2 {
            return Err(Error::parameter("dimension", "be at least 2", self.dimension));
        }
        let (first, second) = self.smallest()?;
        if self.max_rows != 1 {
            return self.of_person(adjacency, self.lifted(first), first == second);
        }
        let (a, b, r) = (Real(self.lifted(first)), Real(self.lifted(second)), Real(self.scale));
        if adjacency == Adjacency::AddRemove {
            if let Some(total) = self.total {
                return Err(Error::parameter("total", "be None under 'add_remove', where totals differ", total));
            }
            let directions = [false, true].map(|add| Node::leaf(Leaf::Gamma { a, r, add }));
            return Ok(Guarantee::new(adjacency, directions.into_iter().collect::<Result<_>>()?, 0.0)?.attained(true));
        }
        if let (2, Some(total)) = (self.dimension, self.total) {
            // Order and raw priors matter; the floor enters through the counts.
            let (a, b) = (Real(self.prior[0]), Real(*self.prior.last().unwrap_or(&self.prior[0])));
            let floor = self.floor.ceil() as u64;
            let node = Node::leaf(Leaf::TwoCategories { a, b, r, total, floor })?;
            return Ok(Guarantee::symmetric(adjacency, node)?.attained(true));
        }
        let mut node = Node::leaf(Leaf::Beta { a, b, r })?;
        if a != b {
            node = Node::new(Recipe::Maximum(vec![node, Node::leaf(Leaf::Beta { a: b, b: a, r })?]))?;
        }
        Ok(Guarantee::symmetric(adjacency, node)?.attained(self.is_attained()))
    }

    /// The same for a person whose rows, at most `max_rows`, change together.
    ///
    /// With independent gammas in place of their normalised values a person with `n_i` rows in category i moves
    /// Gamma(a + c) to Gamma(a + c + n_i r); the c only helps (theory B1). **Theorem G**: for a >= 1/2 all rows in one
    /// category dominate every way to spread them (docs/persons.md has the proof), so that Beta(a + k r, a) against
    /// Beta(a, a + k r), or Gamma(a + k r) against Gamma(a), is the worst pair, in one row of a table or in several.
    /// Below 1/2 that is false, and the maximum over all partitions of exactly k is taken: fewer rows are covered, as
    /// one more part is one more independent pair.
    fn of_person(&self, adjacency: Adjacency, a: f64, equal: bool) -> Result<Guarantee> {
        Person { adjacency, max_rows: self.max_rows }.moves(None, 1)?;
        if let Some(total) = self.total {
            return Err(Error::parameter(
                "total",
                "be None where a person has several rows, whose number is private",
                total,
            ));
        }
        let part = |rows: u64, add| Node::leaf(Leaf::Gamma { a: Real(a), r: Real(multiple_up(rows, self.scale)), add });
        if a >= ONE_PART_PRIOR {
            let directions = match adjacency {
                Adjacency::AddRemove => vec![part(self.max_rows, false)?, part(self.max_rows, true)?],
                Adjacency::Replace => {
                    let (a, r) = (Real(a), Real(multiple_up(self.max_rows, self.scale)));
                    vec![Node::leaf(Leaf::Beta { a, b: a, r })?]
                }
            };
            return Ok(Guarantee::new(adjacency, directions, 0.0)?.attained(equal && self.is_attained()));
        }
        if self.max_rows > MOST_SPREAD_ROWS {
            let rule = "be at least 1/2, with the scaled floor, where a person has more than 3 rows";
            return Err(Error::parameter("prior", rule, a));
        }
        let spread = partitions(self.max_rows);
        let parts = |rows: &[u64], add| rows.iter().map(|&rows| Ok((part(rows, add)?, 1))).collect::<Result<Vec<_>>>();
        let composed = |parts: Vec<(Arc<Node>, u64)>| match &parts[..] {
            [(only, 1)] => Ok(Arc::clone(only)),
            _ => Node::new(Recipe::Composition(parts)),
        };
        let maximum = |nodes: Result<Vec<Arc<Node>>>| Node::new(Recipe::Maximum(nodes?));
        let directions = match adjacency {
            Adjacency::AddRemove => [false, true]
                .into_iter()
                .map(|add| maximum(spread.iter().map(|rows| composed(parts(rows, add)?)).collect()))
                .collect::<Result<_>>()?,
            Adjacency::Replace => {
                let both = |out: &[u64], into: &[u64]| composed([parts(out, false)?, parts(into, true)?].concat());
                let pairs = spread.iter().flat_map(|out| spread.iter().map(move |into| both(out, into)));
                vec![maximum(pairs.collect())?]
            }
        };
        Guarantee::new(adjacency, directions, 0.0)
    }

    /// What a release guarantees, of one row or of a table, the sampler's error included.
    ///
    /// # Errors
    /// As for [`DirichletDraw::guarantee`].
    pub fn released(&self, adjacency: Adjacency) -> Result<Guarantee> {
        let error = sampling_error(Person { adjacency, max_rows: self.max_rows }, 1)?;
        self.guarantee(adjacency)?.with_sampling_error(error)
    }
}

/// The papers' bound for y ~ Dirichlet(scale * f(x) + prior), f any function of these sensitivities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DirichletFunction {
    /// Factor of f.
    pub scale: f64,
    /// Largest Euclidean distance between the values of f at neighbours.
    pub l2: f64,
    /// Largest distance in one coordinate.
    pub linf: f64,
    /// The smallest prior.
    pub prior: f64,
    /// A public lower bound of every coordinate of f.
    pub floor: f64,
}

impl DirichletFunction {
    fn lifted(&self) -> Real {
        Real(floor_parameter(self.prior, self.scale, self.floor))
    }

    fn of_leaf(adjacency: Adjacency, leaf: Leaf) -> Result<Guarantee> {
        Guarantee::symmetric(adjacency, Node::leaf(leaf)?)
    }

    /// Through the bound of all Renyi orders at once; whether converted in the best way.
    ///
    /// # Errors
    /// If a parameter is not positive.
    pub fn renyi(&self, adjacency: Adjacency, optimal: bool) -> Result<Guarantee> {
        let (scale, l2, linf) = (Real(self.scale), Real(self.l2), Real(self.linf));
        Self::of_leaf(adjacency, Leaf::DirichletRenyi { scale, l2, linf, prior: self.lifted(), optimal })
    }

    /// By \[DPS\] Thm 2, the closed form with the best truncation.
    ///
    /// # Errors
    /// If a parameter is not positive.
    pub fn theorem(&self, adjacency: Adjacency) -> Result<Guarantee> {
        let (scale, l2, linf) = (Real(self.scale), Real(self.l2), Real(self.linf));
        Self::of_leaf(adjacency, Leaf::DirichletTheorem { scale, l2, linf, prior: self.lifted() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(prior: &[f64], dimension: u64, floor: f64, total: Option<u64>) -> DirichletDraw<'_> {
        DirichletDraw { scale: 0.5, prior, dimension, floor, total, max_rows: 1 }
    }

    #[test]
    fn only_the_two_smallest_priors_count_and_a_floor_lifts_them() {
        let many = draw(&[4.0, 1.5, 9.0, 2.5], 4, 3.0, None).guarantee(Adjacency::Replace).unwrap();
        let two = draw(&[3.0, 4.0], 3, 0.0, None).guarantee(Adjacency::Replace).unwrap();
        for epsilon in [0.0, 0.3, 1.0] {
            // (1.5, 2.5) lifted by 0.5 * 3.
            assert_eq!(many.delta(epsilon), two.delta(epsilon));
        }
        assert!(many.epsilon(1e-6) >= two.epsilon(1e-6));
    }

    #[test]
    fn the_profile_is_of_the_two_smallest_lifted_priors_in_both_orders() {
        // All dyadic: 1/4 and 1/2 lifted by 3/2.
        let (a, b, r) = (Real(1.75), Real(2.0), Real(0.5));
        let beta = |a, b| Node::leaf(Leaf::Beta { a, b, r }).unwrap();
        let made = draw(&[4.0, 0.25, 0.5], 3, 3.0, None).guarantee(Adjacency::Replace).unwrap();
        let both = Node::new(Recipe::Maximum(vec![beta(a, b), beta(b, a)])).unwrap();
        assert_eq!(made, Guarantee::symmetric(Adjacency::Replace, both).unwrap());
        let equal = draw(&[0.25], 2, 3.0, None).guarantee(Adjacency::Replace).unwrap();
        assert_eq!(equal, Guarantee::symmetric(Adjacency::Replace, beta(a, a)).unwrap());
    }

    #[test]
    fn priors_that_are_missing_or_not_positive_are_refused() {
        for wrong in [&[][..], &[0.0], &[1.0, 0.0, 1.0], &[1.0, -1.0], &[1.0, f64::NAN], &[2.0, f64::INFINITY]] {
            for adjacency in [Adjacency::Replace, Adjacency::AddRemove] {
                assert!(draw(wrong, 3, 0.0, None).guarantee(adjacency).is_err(), "{wrong:?}");
            }
        }
    }

    #[test]
    fn the_worst_pair_needs_enough_records() {
        let exact = |floor, total| draw(&[1.0], 3, floor, total).guarantee(Adjacency::Replace).unwrap().exact();
        assert!(exact(0.0, None) && exact(2.0, Some(7)) && !exact(2.0, Some(6)) && !exact(0.5, Some(100)));
    }

    #[test]
    fn a_release_counts_the_rows_that_a_change_touches() {
        // A replaced record leaves one row and enters another; one that is added is in one.
        let one = draw(&[1.0], 3, 0.0, None);
        assert_eq!(one.released(Adjacency::Replace).unwrap().sampling_error(), 2.0_f64.powi(-255));
        assert_eq!(one.released(Adjacency::AddRemove).unwrap().sampling_error(), 2.0_f64.powi(-256));
        let person = Person { adjacency: Adjacency::Replace, max_rows: 4 };
        assert_eq!(sampling_error(person, 3).unwrap(), 24.0 * 2.0_f64.powi(-256));
        assert!(draw(&[1.0], 3, 0.0, Some(5)).guarantee(Adjacency::AddRemove).is_err());
        assert!(draw(&[0.0], 3, 0.0, None).guarantee(Adjacency::Replace).is_err());
        assert!(draw(&[1.0], 1, 0.0, None).guarantee(Adjacency::Replace).is_err());
    }

    #[test]
    fn all_rows_in_one_category_are_the_worst_from_a_prior_of_one_half_on() {
        for adjacency in [Adjacency::Replace, Adjacency::AddRemove] {
            let person = DirichletDraw { max_rows: 3, ..draw(&[0.5], 4, 0.0, None) }.guarantee(adjacency).unwrap();
            let one = DirichletDraw { scale: 1.5, ..draw(&[0.5], 4, 0.0, None) }.guarantee(adjacency).unwrap();
            assert!(person == one && person.exact());
            // Attained where the two smallest priors are one.
            let apart = DirichletDraw { max_rows: 3, ..draw(&[0.5, 0.75], 4, 0.0, None) }.guarantee(adjacency);
            assert!(!apart.unwrap().exact());
        }
    }

    #[test]
    fn below_one_half_the_rows_are_spread() {
        // One part at epsilon 8 has delta 0.7048, two parts 0.7707.
        let person = DirichletDraw { scale: 1.0, max_rows: 2, ..draw(&[0.1], 4, 0.0, None) };
        let delta = person.guarantee(Adjacency::Replace).unwrap().delta(8.0);
        assert!((0.7706..0.7709).contains(&delta), "{delta}");
        let beyond = DirichletDraw { max_rows: 4, ..person };
        assert!(DirichletDraw { max_rows: 3, ..person }.guarantee(Adjacency::AddRemove).is_ok());
        assert!(beyond.guarantee(Adjacency::AddRemove).is_err());
    }

    #[test]
    fn a_person_with_several_rows_has_no_public_total() {
        assert!(DirichletDraw { max_rows: 2, ..draw(&[1.0], 3, 0.0, Some(9)) }.guarantee(Adjacency::Replace).is_err());
        assert!(DirichletDraw { max_rows: 0, ..draw(&[1.0], 3, 0.0, None) }.guarantee(Adjacency::Replace).is_err());
    }
}
