//! What the Dirichlet mechanism y ~ Dirichlet(scale counts + prior) guarantees.

use crate::accounting::{BetaPair, Direction, GammaPair, Profile};
use crate::guarantee::Adjacency;
use crate::rounding::{product_down, sum_down};
use crate::special::trigamma;
use crate::{Error, Result};

/// The parameter of a category at its public floor: prior + scale * floor, rounded down, which is towards more loss.
pub fn floor_parameter(prior: f64, scale: f64, floor: f64) -> f64 {
    sum_down(prior, product_down(scale, floor))
}

/// Upper bound on the relative error of `rho`: trigamma within 4 ulp, its argument's rounding, five roundings.
const RHO_MARGIN: f64 = 1e-14;

/// The profiles of which the largest is delta at every epsilon >= 0, at the worst neighbours (theory B1), for the two
/// smallest parameters a <= b, which are prior plus scale times floor. An added record is worse than a removed one there
/// (docs/privacy-curves.md, "Which order is worse").
///
/// # Errors
/// When a parameter is outside the range of the pairs.
pub fn worst_profiles(adjacency: Adjacency, a: f64, b: f64, scale: f64) -> Result<Vec<Box<dyn Profile>>> {
    Ok(match adjacency {
        Adjacency::Replace if a == b => vec![Box::new(BetaPair::new(a, a, scale)?)],
        Adjacency::Replace => vec![Box::new(BetaPair::new(a, b, scale)?), Box::new(BetaPair::new(b, a, scale)?)],
        Adjacency::AddRemove => vec![Box::new(GammaPair::new(a, scale, Direction::Add)?)],
    })
}

/// The truncated concentrated guarantee of [DPS Thm 1] with scale and floor: (rho, omega) for a `gamma` strictly
/// between 0 and `a`, the smallest prior plus scale times floor. rho is rounded up and omega down.
///
/// # Errors
/// When `gamma` lies outside that range.
pub fn tcdp(a: f64, scale: f64, gamma: f64, l2_squared: f64, linf: f64) -> Result<(f64, f64)> {
    if !(gamma > 0.0 && gamma < a) {
        return Err(Error::parameter(
            "gamma",
            "lie strictly between 0 and the smallest prior plus scale * floor",
            gamma,
        ));
    }
    // The difference in extended precision would change its last bit; nudging it down is enough.
    let left = (a - gamma).next_down();
    if !(left > 0.0) {
        return Err(Error::parameter("gamma", "leave a positive part of the prior", gamma));
    }
    let rho = 0.5 * scale * scale * l2_squared * trigamma(left) * (1.0 + RHO_MARGIN);
    let omega = (1.0 + gamma / (scale * linf)) * (1.0 - RHO_MARGIN);
    Ok((rho, omega.max(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truncated_guarantee_is_theorem_1() {
        // psi'(1) = pi^2/6; alpha 3, gamma 2, scale 1/2.
        let (rho, omega) = tcdp(3.0, 0.5, 2.0, 2.0, 1.0).unwrap();
        let expected = 0.25 * std::f64::consts::PI.powi(2) / 6.0;
        assert!(rho >= expected && rho < expected * (1.0 + 1e-13));
        assert!(omega <= 5.0 && omega > 5.0 - 1e-12);
        assert!(tcdp(3.0, 0.5, 3.0, 2.0, 1.0).is_err());
    }
}
