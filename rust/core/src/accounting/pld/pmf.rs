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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_tilted_masses_are_those_of_powers_of_two() {
        // Losses 0 and ln 2 times 3, with tilt one: weights 1/2 and 8/4.
        let step = std::f64::consts::LN_2;
        let law = Pmf { step, atoms: vec![(-9, 0.0), (0, 0.5), (3, 0.25)], infinite: 0.25, inflation: 1.0 };
        let moments = law.tilted(1.0);
        let (share, at) = (2.0 / 2.5, 3.0 * step);
        assert!((moments.log_mass - 2.5_f64.ln()).abs() < 1e-14 && (moments.mean - share * at).abs() < 1e-14);
        assert!((moments.variance - share * (1.0 - share) * at * at).abs() < 1e-14);
        assert_eq!((law.support(), law.finite()), ((-9, 3), 0.75));
        let kept = law.without_empty();
        assert_eq!((kept.support(), kept.atoms.len()), ((0, 3), 2));
        // Far out nothing overflows.
        let far = Pmf { step: 1.0, atoms: vec![(-1_000, 0.5), (1_000, 1e-300)], infinite: 0.0, inflation: 1.0 };
        let moments = far.tilted(2.0);
        assert!((moments.mean - 1_000.0).abs() < 1e-9 && (moments.log_mass - (2_000.0 + 1e-300_f64.ln())).abs() < 1e-9);
        let nothing = Pmf { step: 1.0, atoms: vec![(0, 0.0)], infinite: 1.0, inflation: 1.0 };
        assert!(nothing.tilted(0.0).log_mass == f64::NEG_INFINITY && nothing.tilted(0.0).mean == 0.0);
    }

    #[test]
    fn an_atom_of_no_mass_changes_nothing_however_far_out_it_lies() {
        for (tilt, far) in [(1.0, 2_000), (-1.0, -2_000), (3.0, 300)] {
            let law = Pmf { step: 1.0, atoms: vec![(0, 0.5), (1, 0.25)], infinite: 0.25, inflation: 1.0 };
            let mut more = law.clone();
            more.atoms.insert(if far > 0 { 2 } else { 0 }, (far, 0.0));
            let (with, without) = (more.tilted(tilt), law.tilted(tilt));
            assert_eq!((with.log_mass, with.mean, with.variance), (without.log_mass, without.mean, without.variance));
        }
    }
}
