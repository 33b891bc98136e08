//! What the tests of this folder compare with: profiles from tails of libm, sums over every outcome, searches on dense grids.

use super::law::{Law, Side};

fn upper_tail(t: f64) -> f64 {
    0.5 * libm::erfc(t * std::f64::consts::FRAC_1_SQRT_2)
}

/// The profile of N(mu, 1) against N(0, 1), mu^2 = square.
pub(super) fn gaussian(square: f64, eps: f64) -> f64 {
    let mu = square.sqrt();
    upper_tail(eps / mu - 0.5 * mu) - eps.exp() * upper_tail(eps / mu + 0.5 * mu)
}

/// What is subtracted from in that profile.
pub(super) fn first_tail(square: f64, eps: f64) -> f64 {
    upper_tail(eps / square.sqrt() - 0.5 * square.sqrt())
}

/// The profile of a side followed by a Gaussian pair.
pub(super) fn composed(side: &Side, square: f64, eps: f64) -> f64 {
    side.atoms.iter().map(|(loss, mass)| mass * gaussian(square, eps - loss)).sum::<f64>() + side.infinite
}

/// The profile of a side.
pub(super) fn alone(side: &Side, eps: f64) -> f64 {
    side.atoms.iter().map(|(loss, mass)| mass * (-(eps - loss).exp_m1()).max(0.0)).sum::<f64>() + side.infinite
}

/// Losses of Poisson(t) against Poisson(t e^-h), or of the second against the first, n by n.
pub(super) fn jumps(expected: f64, height: f64, rising: bool) -> Side {
    let mean = if rising { expected } else { expected * (-height).exp() };
    let atoms = (0..700).map(|n| {
        let n = f64::from(n);
        let loss = height * n - expected * (1.0 - (-height).exp());
        let mass = (n * mean.ln() - mean - libm::lgamma(n + 1.0)).exp();
        (if rising { loss } else { -loss }, mass)
    });
    Side { atoms: atoms.filter(|atom| atom.1 > 1e-30).collect(), infinite: 0.0 }
}

/// The law of P against Q, and of Q against P where that is another one; the rest of P is where Q has nothing, and the other
/// way round.
pub(super) fn law(p: &[f64], q: &[f64]) -> Law {
    let side = |p: &[f64], q: &[f64]| Side {
        atoms: p.iter().zip(q).map(|(p, q)| ((p / q).ln(), *p)).collect(),
        infinite: (1.0 - p.iter().sum::<f64>()).max(0.0),
    };
    Law { sides: vec![side(p, q), side(q, p)] }
}

/// Losses of about normal laws of this size on a lattice, which is skewed if told so, in both directions.
pub(super) fn bells(size: f64, skew: f64) -> Law {
    let raw: Vec<(f64, f64)> = (-40..=40)
        .map(|k| {
            let z = f64::from(k) / 8.0;
            (size * z, (-0.5 * z * z).exp() * (1.0 + (skew * (z * z * z - 3.0 * z)).tanh()))
        })
        .collect();
    // exp(-loss) P sums to one after a shift of the losses.
    let total: f64 = raw.iter().map(|atom| atom.1).sum();
    let shift = (raw.iter().map(|(loss, mass)| mass / total * (-loss).exp()).sum::<f64>()).ln();
    let forward: Vec<(f64, f64)> = raw.iter().map(|(loss, mass)| (loss + shift, mass / total)).collect();
    let back = forward.iter().map(|(loss, mass)| (-loss, mass * (-loss).exp())).collect();
    Law { sides: vec![Side { atoms: forward, infinite: 0.0 }, Side { atoms: back, infinite: 0.0 }] }
}

/// The least x in (low, high) from which on a condition holds, to one in 10^10.
pub(super) fn threshold(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    assert!(!holds(low) && holds(high));
    while high - low > 1e-10 * high {
        let middle = 0.5 * (low + high);
        if holds(middle) { high = middle } else { low = middle }
    }
    high
}
