//! What the tables of a model guarantee together, and the private choices beside them.

use super::{Adjacency, Guarantee, Leaf, Node, Noise, NoiseMechanism, Real};
use crate::rounding::{multiple_up, product_down, product_up, quotient_down, sqrt_up, total_up};
use crate::sampling::Rational;
use crate::{Error, Result};

impl Guarantee {
    /// Mechanisms that are rho-zCDP each, together: the sum of the rhos.
    ///
    /// # Errors
    /// If the sum is negative or infinite.
    pub fn concentrated(adjacency: Adjacency, rhos: &[f64]) -> Result<Self> {
        Self::tcdp_bound(adjacency, total_up(rhos.iter().copied()), f64::INFINITY, true)
    }

    /// Tables with Gaussian noise on fine grids or on integers: their normal laws compose to one, whose squared distance is
    /// the sum of theirs, and what the laws are off by adds up, for every value that changes.
    ///
    /// It is tighter than composing what each of the mechanisms reports, which at large losses is a bound of another kind.
    /// Where a table has no normal law, as its grid is coarse or its noise on integers small, they are rho-zCDP together.
    ///
    /// # Errors
    /// If there are no tables, one of them has other noise, or the errors come to 1 or more.
    pub fn gaussian_tables(adjacency: Adjacency, tables: &[NoiseMechanism]) -> Result<Self> {
        if tables.is_empty() || tables.iter().any(|table| table.noise != Noise::Gaussian) {
            return Err(Error::parameter("tables", "have Gaussian noise, and be at least one", "others"));
        }
        let Some(normals) = tables.iter().map(NoiseMechanism::normal).collect::<Option<Vec<_>>>() else {
            return Self::concentrated(adjacency, &tables.iter().map(NoiseMechanism::rho).collect::<Vec<_>>());
        };
        let square = normals.iter().fold(Rational::whole(0_u8), |sum, normal| sum.plus(&normal.square));
        let errors = normals.iter().map(|normal| normal.error);
        let mu = Real(sqrt_up(square.to_f64_up()));
        Self::symmetric(adjacency, Node::leaf(Leaf::Gaussian { mu })?)?.with_sampling_error(total_up(errors))
    }
}

/// Parts of a budget in the ratio of these shares, each rounded down: together they are not above it.
pub fn parts_of(budget: f64, shares: &[f64]) -> Vec<f64> {
    let total = total_up(shares.iter().copied());
    shares.iter().map(|&share| product_down(budget, quotient_down(share, total))).collect()
}

/// The parameter of zCDP of so many choices by an exponential mechanism whose losses lie in an interval of length
/// `epsilon`: epsilon^2/8 each \[CR21\].
pub fn choices_rho(epsilon: f64, choices: u64) -> f64 {
    multiple_up(choices, 0.125 * product_up(epsilon, epsilon))
}

/// What so many choices cost as pure differential privacy.
pub fn choices_epsilon(epsilon: f64, choices: u64) -> f64 {
    multiple_up(choices, epsilon)
}

#[cfg(test)]
mod tests {
    use super::super::Grid;
    use super::*;

    fn table(sigma: f64, log_step: i32) -> NoiseMechanism {
        let exact = |value| Rational::from_f64("value", value).unwrap();
        let grid = Some(Grid { step: Rational::power_of_two(log_step), changed: 2 });
        NoiseMechanism { noise: Noise::Gaussian, size: exact(sigma), sensitivity: exact(2_f64.sqrt()), grid }
    }

    #[test]
    fn tables_compose_to_one_normal_law_with_the_errors_of_their_grids() {
        let (a, b) = (table(3.0, -18), table(4.0, -18));
        let both = Guarantee::gaussian_tables(Adjacency::Replace, &[a.clone(), b.clone()]).unwrap();
        // Distances sqrt(2)/3 and sqrt(2)/4: together sqrt(2) * 5/12.
        let ideal = Guarantee::gaussian(Adjacency::Replace, 12.0, 5.0 * 2_f64.sqrt()).unwrap();
        for delta in [1e-3, 1e-9] {
            let (told, least) = (both.epsilon(delta), ideal.epsilon(delta));
            assert!(told >= least && told <= least * (1.0 + 1e-4), "{told} {least}");
        }
        let alone = a.guarantee(Adjacency::Replace).unwrap().sampling_error();
        assert!(both.sampling_error() >= alone + b.guarantee(Adjacency::Replace).unwrap().sampling_error());
        assert!(both.epsilon(1e-9) >= a.guarantee(Adjacency::Replace).unwrap().epsilon(1e-9));
    }

    #[test]
    fn other_noise_is_refused() {
        let laplace = NoiseMechanism { noise: Noise::Laplace, ..table(3.0, -18) };
        for tables in [vec![], vec![laplace.clone()], vec![table(3.0, -18), laplace]] {
            assert!(Guarantee::gaussian_tables(Adjacency::Replace, &tables).is_err());
        }
    }

    #[test]
    fn integers_have_a_normal_law_too_where_their_noise_is_not_small() {
        let integers = |sigma| NoiseMechanism { grid: None, ..table(sigma, 0) };
        let both = Guarantee::gaussian_tables(Adjacency::Replace, &[integers(40.0), integers(30.0)]).unwrap();
        // Squared distances 2/1597 and 2/897.
        let mu = (2.0_f64 / 1597.0 + 2.0 / 897.0).sqrt();
        let normal = Guarantee::gaussian(Adjacency::Replace, 1.0, mu).unwrap();
        for delta in [1e-3, 1e-9] {
            let (told, least) = (both.epsilon(delta), normal.epsilon(delta));
            assert!(told >= least * (1.0 - 1e-9) && told <= least * (1.0 + 1e-6), "{told} {least}");
        }
        let coarse = Guarantee::gaussian_tables(Adjacency::Replace, &[integers(3.0), integers(40.0)]).unwrap();
        let rho = 1.0 / 9.0 + 1.0 / 1600.0;
        assert!((coarse.tcdp(f64::INFINITY) / rho - 1.0).abs() < 1e-12);
    }

    #[test]
    fn parts_come_to_the_budget_at_most() {
        for (budget, shares) in [(0.1, vec![1.0; 3]), (0.7, vec![0.1, 0.2, 0.3, 1e-9]), (1e-300, vec![3.0, 1.0])] {
            let parts = parts_of(budget, &shares);
            let together = total_up(parts.iter().copied());
            assert!(together <= budget && together >= budget * (1.0 - 1e-14), "{budget}: {parts:?}");
        }
    }

    #[test]
    fn sums_are_rounded_up() {
        assert!(choices_rho(0.1, 3) >= 3.0 * 0.01 / 8.0 && choices_epsilon(0.1, 3) >= 0.3);
        assert!(choices_rho(0.1, 3) <= 0.00375 * (1.0 + 1e-14) && choices_epsilon(0.1, 3) <= 0.3 * (1.0 + 1e-14));
        let told = Guarantee::concentrated(Adjacency::Replace, &[0.1; 10]).unwrap();
        assert!(told.tcdp(f64::INFINITY) >= 1.0);
    }
}
