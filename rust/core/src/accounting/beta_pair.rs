//! Beta(a + r, b) against Beta(a, b + r): what one replaced record does to a Dirichlet draw.

use super::linear_pair::{Linear, LinearPair, MARGIN};
use super::parameter;
use super::shape::Shape;
use crate::Result;
use crate::double_double::DoubleDouble;
use crate::log_gamma_extended::log_gamma_ratio;

/// The profile of P = Beta(a + r, b) against Q = Beta(a, b + r).
///
/// With y ~ P the loss is r logit(y) - c, c = ln B(a + r, b) - ln B(a, b + r), which is 0 for a = b. With a = b this is
/// the pair that dominates all neighbours of a Dirichlet mechanism whose smallest prior is a (theory B1).
#[derive(Debug, Clone)]
pub struct BetaPair {
    pub(super) a: f64,
    pub(super) b: f64,
    r: f64,
    pair: LinearPair,
}

impl BetaPair {
    /// The pair with these parameters.
    ///
    /// # Errors
    ///
    /// If one of them lies outside 1e-9 .. 1e12.
    pub fn new(a: f64, b: f64, r: f64) -> Result<Self> {
        let (a, b, r) = (parameter::shape("a", a)?, parameter::shape("b", b)?, parameter::shape("r", r)?);
        let p = Shape::logit_beta(DoubleDouble::sum(a, r), b.into());
        let q = if a == b { p.mirrored() } else { Shape::logit_beta(a.into(), DoubleDouble::sum(b, r)) };
        let c = if a == b {
            DoubleDouble::from(0.0)
        } else {
            log_gamma_ratio(a.into(), r.into()) - log_gamma_ratio(b.into(), r.into())
        };
        Ok(Self { a, b, r, pair: LinearPair::new(p, q, r, c) })
    }
}

impl Linear for BetaPair {
    fn pair(&self) -> &LinearPair {
        &self.pair
    }

    fn renyi(&self, order: f64) -> f64 {
        // [DM] eq. 11-12; the sums of the parameters agree, so that their terms cancel.
        match falling_term(self.b, self.r, order) {
            Some(falling) => divergence(rising_term(self.a, self.r, order) + falling, order),
            None => f64::INFINITY,
        }
    }
}

/// The Renyi divergence whose moment has this logarithm, rounded up.
pub(super) fn divergence(log_moment: DoubleDouble, order: f64) -> f64 {
    let value = (log_moment / (DoubleDouble::from(order) - DoubleDouble::ONE)).to_f64();
    // NaN: the order is infinite, or so large that the sums overflow.
    if value.is_nan() { f64::INFINITY } else { value.max(0.0) * (1.0 + MARGIN) }
}

/// ln of the integral of p^order q^(1-order) for one coordinate whose parameter is a + r under P and a under Q.
pub(super) fn rising_term(a: f64, r: f64, order: f64) -> DoubleDouble {
    // lgamma(a + order r) - lgamma(a + r) - (order - 1) (lgamma(a + r) - lgamma(a))
    let excess = DoubleDouble::from(order) - DoubleDouble::ONE;
    log_gamma_ratio(DoubleDouble::sum(a, r), excess * r) - excess * log_gamma_ratio(a.into(), r.into())
}

/// The same for a coordinate with a under P and a + r under Q; None where it is infinite.
pub(super) fn falling_term(a: f64, r: f64, order: f64) -> Option<DoubleDouble> {
    // lgamma(a - (order - 1) r) - lgamma(a) + (order - 1) (lgamma(a + r) - lgamma(a))
    let excess = DoubleDouble::from(order) - DoubleDouble::ONE;
    let low = DoubleDouble::from(a) - excess * r;
    (low.to_f64() > 0.0).then(|| excess * log_gamma_ratio(a.into(), r.into()) - log_gamma_ratio(low, excess * r))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{Direction, GammaPair};

    #[test]
    fn renyi_divergences_are_the_integrals_of_powers_of_densities() {
        // ln of the integral of p^l q^(1-l), over l - 1: mpmath, quadrature of the densities with 30 digits.
        for (a, b, r, order, expected) in [
            (1.5, 1.5, 1.0, 1.7, 1.247_948_389_595_817_95),
            (3.0, 3.0, 0.5, 4.0, 0.387_716_936_601_893_621),
            (2.5, 7.0, 1.0, 2.5, 0.600_048_072_920_816_036),
            (7.0, 2.5, 1.0, 2.2, 0.734_584_098_764_144_427),
            (40.0, 40.0, 2.0, 15.0, 1.644_777_437_678_308_34),
        ] {
            let found = BetaPair::new(a, b, r).unwrap().renyi(order);
            assert!(found >= expected && found <= expected * (1.0 + 2.0 * MARGIN), "{a} {b} {r} {order}: {found}");
        }
        // From b = (l - 1) r on the integral is infinite.
        let pair = BetaPair::new(3.0, 3.0, 0.5).unwrap();
        assert!(
            pair.renyi(6.999).is_finite() && pair.renyi(7.0).is_infinite() && pair.renyi(f64::INFINITY).is_infinite()
        );
    }

    #[test]
    fn renyi_divergences_of_gamma_laws_are_integrals_in_both_directions() {
        // As above, with the densities of Gamma(a + r) and Gamma(a).
        for (a, r, order, remove, add) in [
            (1.5, 1.0, 2.2, 0.547_359_438_718_892_952, 1.419_281_968_473_980_41),
            (4.0, 0.5, 6.0, 0.163_125_826_619_144_535, 0.279_468_760_241_727_175),
            (30.0, 2.0, 10.0, 0.550_762_124_189_317_865, 0.862_436_683_781_287_936),
            (2.0, 1.0, 1.5, 0.322_505_663_014_312_521, 0.451_582_705_289_454_865),
        ] {
            for (direction, expected) in [(Direction::Remove, remove), (Direction::Add, add)] {
                let found = GammaPair::new(a, r, direction).unwrap().renyi(order);
                assert!(
                    found >= expected && found <= expected * (1.0 + 2.0 * MARGIN),
                    "{a} {r} {direction:?}: {found}"
                );
            }
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for (a, b, r) in [(0.0, 1.0, 1.0), (1.0, 1e-10, 1.0), (1.0, 1.0, 1e13), (f64::NAN, 1.0, 1.0)] {
            assert!(BetaPair::new(a, b, r).is_err());
        }
        assert!(BetaPair::new(1e-9, 1e12, 1.0).is_ok());
    }
}
