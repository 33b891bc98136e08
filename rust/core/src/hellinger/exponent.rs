//! How sharply the mechanism may prefer near candidates: the exponent beta(x), a factor times an inverse sensitivity.

use super::Family;
use super::sampler;

/// The inverse sensitivity w(x) that an exponent follows. Every one is a public function of (n, prior) and of x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// w = 1/(2 GS), the same for all x.
    Global,
    /// w(x) = 1/(2 LS(x)).
    Local,
    /// w(x) = 1/(2 LS+(x)), Theorem P.
    Lifted,
    /// w(x) = 1/(2 S(x)), S smooth at this gamma.
    Smooth(f64),
    /// w(x) = min over x' of 1/(2 LS(x')) + slope d(x, x').
    Lipschitz(f64),
}

impl Family {
    /// The inverse sensitivity at x; 0 when n = 0, where one candidate is certain.
    pub fn inverse_sensitivity(&self, x: &[u64], shape: Shape) -> f64 {
        if self.n() == 0 {
            return 0.0;
        }
        match shape {
            Shape::Global => 0.5 / self.global_sensitivity(),
            Shape::Local => 0.5 / self.local_sensitivity(x),
            Shape::Lifted => 0.5 / self.lifted_sensitivity(x),
            Shape::Smooth(gamma) => 0.5 / self.smooth_sensitivity(x, gamma),
            Shape::Lipschitz(slope) => self.lipschitz_inverse(x, slope),
        }
    }

    /// Exponents that data sets can have at most, per unit of the factor.
    pub fn largest_inverse_of(&self, shape: Shape) -> f64 {
        if self.n() == 0 {
            return 0.0;
        }
        let bound = self.largest_inverse();
        match shape {
            Shape::Global => 0.5 / self.global_sensitivity(),
            // S(x) >= LS(x), and the least of several terms is at most the term of x itself.
            Shape::Local | Shape::Lifted | Shape::Smooth(_) | Shape::Lipschitz(_) => bound,
        }
    }
}

impl Family {
    /// How far the logarithm of a released probability can be from that of the ideal law, whichever way it is drawn.
    pub fn rounding_at(&self, largest_exponent: f64) -> f64 {
        rounding_of_log_probability(largest_exponent) + sampler::log_error(self.n(), self.categories())
    }
}

/// How far the logarithm of a probability that is drawn from a table can be from that of the ideal law, by rounding.
///
/// A logarithmic weight -beta H is off by 4e-14 beta at most (scores keep 1e-14 relative, sums of scores of one sign
/// too), the drawing of an index by 2^-48; the sum of the weights doubles both.
pub fn rounding_of_log_probability(largest_exponent: f64) -> f64 {
    2.0 * (crate::sampling::LOG_ERROR + 4e-14 * largest_exponent)
}
