//! Quantiles of a mixture of many narrow laws on (0, 1), each known by mass, mean and variance: taken as Beta laws.

use crate::special::beta_inc;

/// Groups that neighbours are put into, at least.
const GROUPS: f64 = 64.0;

/// Quantiles below are zero.
const SMALLEST: f64 = 1e-300;

/// Means in a group differ at most by this ratio.
const RATIO: f64 = 1.15;

/// A mixture of Beta laws.
pub(super) struct BetaMixture {
    /// Mass and parameters.
    parts: Vec<(f64, f64, f64)>,
}

impl BetaMixture {
    /// Of nodes of mass, mean and variance, in any order; neighbours are put together with their joint mean and variance.
    pub(super) fn new(mut nodes: Vec<(f64, f64, f64)>) -> Self {
        nodes.sort_by(|a, b| a.1.total_cmp(&b.1));
        let total: f64 = nodes.iter().map(|node| node.0).sum();
        let mut parts = Vec::new();
        let (mut mass, mut first, mut second, mut least) = (0.0, 0.0, 0.0, 0.0);
        let mut close = |mass: f64, first: f64, second: f64| {
            let mean: f64 = first / mass;
            let variance = (second / mass - mean * mean).max(1e-15 * mean * mean);
            if !(mean > 0.0 && mean < 1.0) {
                return;
            }
            let sum = (mean * (1.0 - mean) / variance - 1.0).clamp(1e-9, 1e15);
            parts.push((mass / total, mean * sum, (1.0 - mean) * sum));
        };
        for (p, mean, variance) in nodes {
            if mass > 0.0 && (mass >= total / GROUPS || mean > RATIO * least) {
                close(mass, first, second);
                (mass, first, second) = (0.0, 0.0, 0.0);
            }
            if mass == 0.0 {
                least = mean;
            }
            mass += p;
            first += p * mean;
            second += p * (variance + mean * mean);
        }
        if mass > 0.0 {
            close(mass, first, second);
        }
        Self { parts }
    }

    fn below(&self, t: f64) -> f64 {
        self.parts.iter().map(|&(mass, a, b)| mass * beta_inc(a, b, t)).sum()
    }

    /// The value that is exceeded with probability 1 - `level`, to nine digits; zero where it is below 1e-300.
    pub(super) fn quantile(&self, level: f64) -> f64 {
        if self.parts.is_empty() {
            return 1.0;
        }
        let all: f64 = self.parts.iter().map(|part| part.0).sum();
        let wanted = level * all;
        // Of logarithms: a share of which nothing is known but that it is rare may be as small as one likes.
        let (mut low, mut high) = (SMALLEST.ln(), 0.0);
        let (mut below, mut above) = (self.below(SMALLEST) - wanted, all - wanted);
        if below >= 0.0 {
            return 0.0;
        }
        // Regula falsi, which halves the weight of an end that stays (the Illinois rule), with halvings of the interval.
        for i in 0..400 {
            if high - low < 1e-10 {
                break;
            }
            let mut t = if i % 3 == 2 { 0.5 * (low + high) } else { low - below * (high - low) / (above - below) };
            if !(t > low && t < high) {
                t = 0.5 * (low + high);
            }
            let at = self.below(t.exp()) - wanted;
            if at < 0.0 {
                (low, below) = (t, at);
                above *= 0.5;
            } else {
                (high, above) = (t, at);
                below *= 0.5;
            }
        }
        (0.5 * (low + high)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::beta_inc_inverse;

    #[test]
    fn quantiles_of_one_law_and_of_many() {
        let (a, b) = (3.0, 9.0);
        let (mean, sum): (f64, f64) = (a / (a + b), a + b);
        let one = BetaMixture::new(vec![(0.7, mean, mean * (1.0 - mean) / (sum + 1.0))]);
        for level in [0.025, 0.5, 0.975] {
            assert!((one.quantile(level) - beta_inc_inverse(a, b, level).unwrap()).abs() < 1e-8);
        }
        // Beta(2, 5) is the mixture of Beta(2 + x, 5 + 300 - x) over its beta-binomial counts.
        let node = |x: usize| {
            let x = x as f64;
            let log = |n: f64| crate::special::log_gamma(n);
            let mass = (log(301.0) - log(x + 1.0) - log(301.0 - x) + log(2.0 + x) + log(305.0 - x) - log(307.0)).exp();
            let mean = (2.0 + x) / 307.0;
            (mass, mean, mean * (1.0 - mean) / 308.0)
        };
        let many = BetaMixture::new((0..=300).map(node).collect());
        for level in [0.005, 0.025, 0.3, 0.975] {
            let exact = beta_inc_inverse(2.0, 5.0, level).unwrap();
            assert!((many.quantile(level) / exact - 1.0).abs() < 3e-3, "{level}: {} {exact}", many.quantile(level));
        }
    }
}
