//! What one Dirichlet draw from counts guarantees (theory B1; docs/privacy-curves.md has the proofs).

use super::{Adjacency, Guarantee, Leaf, Node, Real, Recipe};
use crate::rounding::{multiple_up, product_down, sum_down};
use crate::{Error, Result};

/// Total variation distance between the sampler's law and the ideal one for each row; the proof, in docs/randomness.md,
/// gives less than 2^-800.
pub const SAMPLING_ERROR_PER_ROW: f64 = f64::from_bits((1023 - 256) << 52);

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
}

impl DirichletDraw<'_> {
    /// The two smallest priors.
    fn smallest(&self) -> Result<(f64, f64)> {
        if self.prior.is_empty() || !self.prior.iter().all(|&prior| prior > 0.0) {
            return Err(Error::parameter("prior", "be positive", format!("{:?}", self.prior)));
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
        sum_down(prior, product_down(self.scale, self.floor))
    }

    /// Whether some neighbours at this total are the worst pair (at any total if none is stated), for three categories on.
    fn is_attained(&self) -> bool {
        let least = self.floor.ceil();
        let needed = 1.0 + self.dimension as f64 * least;
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

    /// What one released row guarantees, the sampler's error included.
    ///
    /// # Errors
    /// As for [`DirichletDraw::guarantee`].
    pub fn released(&self, adjacency: Adjacency, rows: u64) -> Result<Guarantee> {
        self.guarantee(adjacency)?.with_sampling_error(multiple_up(rows, SAMPLING_ERROR_PER_ROW))
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
        Real(sum_down(self.prior, product_down(self.scale, self.floor)))
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
        DirichletDraw { scale: 0.5, prior, dimension, floor, total }
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
    fn the_worst_pair_needs_enough_records() {
        let exact = |floor, total| draw(&[1.0], 3, floor, total).guarantee(Adjacency::Replace).unwrap().exact();
        assert!(exact(0.0, None) && exact(2.0, Some(7)) && !exact(2.0, Some(6)) && !exact(0.5, Some(100)));
    }

    #[test]
    fn a_release_counts_the_rows_that_it_samples() {
        let two_rows = draw(&[1.0], 3, 0.0, None).released(Adjacency::Replace, 2).unwrap();
        assert_eq!(two_rows.sampling_error(), 2.0_f64.powi(-255));
        assert!(draw(&[1.0], 3, 0.0, Some(5)).guarantee(Adjacency::AddRemove).is_err());
        assert!(draw(&[0.0], 3, 0.0, None).guarantee(Adjacency::Replace).is_err());
        assert!(draw(&[1.0], 1, 0.0, None).guarantee(Adjacency::Replace).is_err());
    }
}
