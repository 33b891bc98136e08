//! A discrete privacy loss distribution on a grid, with the factor by which its masses may be off.

/// Masses of P at the losses `step * index`; Q has `mass * exp(-loss)` there.
///
/// The masses are non-negative but need not sum to one: what counts is that `inflation` times the profile that they
/// define lies above (or, divided by it, below) the profile that was discretised, everywhere.
#[derive(Debug, Clone)]
pub(super) struct Pmf {
    /// Distance of neighbouring grid points; its products with all indices in use are exact.
    pub(super) step: f64,
    /// Grid indices in increasing order, with their masses.
    pub(super) atoms: Vec<(i64, f64)>,
    /// Mass of P where Q has none.
    pub(super) infinite: f64,
    /// Factor, at least one, that makes the masses a bound in spite of rounding.
    pub(super) inflation: f64,
}

/// First three moments of a tilted distribution: logarithm of the mass, mean and variance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    pub(super) log_mass: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl Pmf {
    /// Moments of the finite part under the weights exp(tilt * loss).
    pub(super) fn tilted(&self, tilt: f64) -> Moments {
        let exponents = || self.atoms.iter().filter(|atom| atom.1 > 0.0).map(|&(k, p)| (k as f64 * self.step, p));
        // exp(x) at a far loss may overflow, a mass may underflow: the largest term sets the scale.
        let top = exponents().map(|(loss, p)| tilt * loss + p.ln()).fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            return Moments { log_mass: f64::NEG_INFINITY, mean: 0.0, variance: 0.0 };
        }
        let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
        for (loss, p) in exponents() {
            let weight = p * (tilt * loss - top).exp();
            total += weight;
            first += weight * loss;
            second += weight * loss * loss;
        }
        let mean = first / total;
        Moments { log_mass: top + total.ln(), mean, variance: (second / total - mean * mean).max(0.0) }
    }

    /// The same without atoms of no mass: far out they would meet factors that overflow.
    pub(super) fn without_empty(mut self) -> Self {
        self.atoms.retain(|atom| atom.1 > 0.0);
        self
    }

    /// Smallest and largest index with a mass.
    pub(super) fn support(&self) -> (i64, i64) {
        let first = self.atoms.first().map_or(0, |atom| atom.0);
        (first, self.atoms.last().map_or(first, |atom| atom.0))
    }

    /// Sum of the finite masses.
    pub(super) fn finite(&self) -> f64 {
        self.atoms.iter().map(|atom| atom.1).sum()
    }
}
