//! Posteriors of counts by plain formulas, and all the counts that there are.

use simplexdp_core::lattice::Lattice;
use statrs::function::gamma::ln_gamma;

/// The distance of the posteriors of two counts, by plain log-gammas: enough digits at small counts.
pub(crate) fn distance(prior: &[f64], x: &[u64], y: &[u64]) -> f64 {
    let coordinate = |(a, (&x, &y)): (&f64, (&u64, &u64))| {
        let (u, v) = (a + x as f64, a + y as f64);
        ln_gamma((u + v) / 2.0) - (ln_gamma(u) + ln_gamma(v)) / 2.0
    };
    let s: f64 = prior.iter().zip(x.iter().zip(y)).map(coordinate).sum();
    (-s.min(0.0).exp_m1()).sqrt()
}

/// All counts of `n` records in `m` categories.
pub(crate) fn points(n: u64, m: usize) -> Vec<Vec<u64>> {
    let lattice = Lattice::new(n, m).unwrap();
    let mut points = Vec::new();
    lattice.for_each(0..lattice.count().unwrap(), |point| points.push(point.to_vec())).unwrap();
    points
}
