//! The noise of a table, and what it costs.
//!
//! A table of a x b cells gets independent discrete Gaussian noise of parameter s in every cell, and on top of it noise
//! that all cells of a row share and noise that all cells of a column share, each of parameter [`SPREAD`] s; a one-way
//! table gets noise of its own in every cell and noise that all share. What is common to a row or a column is so drowned:
//! one-way tables say it better. In exchange a record, which is one in one cell, shows through only by its part that
//! is in no row and no column total: (1 - 1/a)(1 - 1/b) of the squared length, and a thousandth of the rest.
//!
//! Everything is drawn as integers, exactly, in units of 1/m of a record. With all scales well above one unit the law of a
//! table is that of Gaussian noise of the same covariance, less r^2 in each cell, rounded: drawn from a discrete Gaussian
//! of parameter r around each value (Theorem S, docs/synthesis.md). By Poisson's formula the two laws differ by a factor
//! within 1 +- 4 q for each number drawn, q = exp(-2 pi^2 r^2): below 10^-130, whatever the data.

use super::plan::Neighbours;
use crate::rounding::{
    count_up, exp_up, multiple_up, product_down, product_up, quotient_down, quotient_up, sqrt_up, sum_down, sum_up,
};

/// r^2 of the module's documentation, in squared units.
const ROUNDING: f64 = 16.0;

/// 2 pi^2, rounded down.
const TWO_PI_SQUARED: f64 = 19.739_208_802_178_7;

/// Least parameter of cells in units: rounding takes a part in 4000 of the variance.
const LEAST_UNITS: f64 = 256.0;

/// Parameters of what rows and columns share, over that of cells; a power of two, so that products are exact.
const SPREAD: f64 = 32.0;
/// Its square.
const SPREAD_2: u64 = 1024;

/// The shape of what gets noise together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// One number: the number of records.
    Single,
    /// The one-way table of a column with so many levels.
    OneWay(usize),
    /// The two-way table of two columns.
    TwoWay(usize, usize),
}

/// The noise of one table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TableNoise {
    /// The parameter of every cell, in units.
    pub(super) cell_units: f64,
    /// Units to a record: a power of two.
    pub(super) units: i64,
}

/// 1 / (1 + 1024 k): what is left of a direction that all of k cells share.
fn shared(k: usize) -> f64 {
    quotient_up(1.0, count_up(1 + SPREAD_2 * k as u64))
}

impl Shape {
    /// An upper bound of the squared length of the change that neighbours make, each part of it divided by the variance
    /// of the noise in its direction, where cells have the variance 1.
    pub(super) fn sensitivity(self, neighbours: Neighbours) -> f64 {
        use Neighbours::{AddRemove, Replace, ReplacePerson};
        let share = |k: usize| quotient_up(1.0, k as f64);
        let left = |k: usize| quotient_up((k - 1) as f64, k as f64);
        let total = |terms: [f64; 4]| terms.into_iter().fold(0.0, sum_up);
        match (self, neighbours) {
            // Each row of theirs is added, removed or replaced.
            (_, ReplacePerson) => self.sensitivity(Replace).max(self.sensitivity(AddRemove)),
            (Self::Single, AddRemove) => 1.0,
            // The number of records is public.
            (_, Replace) => self.replaced().into_iter().fold(0.0, f64::max),
            (Self::OneWay(a), AddRemove) => sum_up(left(a), product_up(share(a), shared(a))),
            (Self::TwoWay(a, b), AddRemove) => total([
                product_up(left(a), left(b)),
                product_up(product_up(left(a), share(b)), shared(b)),
                product_up(product_up(left(b), share(a)), shared(a)),
                product_up(product_up(share(a), share(b)), shared(a + b)),
            ]),
        }
    }

    /// The same of a record that is replaced by one that differs in the first column's value, in the second's, and in
    /// both. Of a pair the third is by 2 less than the sum of the others.
    pub(super) fn replaced(self) -> [f64; 3] {
        let share = |k: usize| quotient_up(1.0, k as f64);
        let rest = |k: usize| multiple_up(2, product_up(share(k), shared(k)));
        let one = |k: usize| sum_up(multiple_up(2, quotient_up((k - 1) as f64, k as f64)), rest(k));
        match self {
            Self::Single => [0.0; 3],
            Self::OneWay(a) => [if a > 1 { 2.0 } else { 0.0 }, 0.0, 0.0],
            Self::TwoWay(a, b) => {
                let product = a * b;
                let both = || {
                    let beside = quotient_up((product - a - b) as f64, product as f64);
                    sum_up(multiple_up(2, beside), sum_up(rest(a), rest(b)))
                };
                match (a > 1, b > 1) {
                    (false, false) => [0.0; 3],
                    (false, true) => [0.0, one(a), one(a)],
                    (true, false) => [one(b), 0.0, one(b)],
                    (true, true) => [one(b), one(a), both()],
                }
            }
        }
    }

    /// Cells, rows and columns: the numbers that are drawn.
    fn n_draws(self) -> u64 {
        match self {
            Self::Single => 1,
            Self::OneWay(a) => a as u64 + 1,
            Self::TwoWay(a, b) => (a as u64) * (b as u64) + a as u64 + b as u64,
        }
    }

    /// An upper bound of the total variation distance of a table with noise from rounded Gaussian noise.
    pub(super) fn distance(self) -> f64 {
        multiple_up(4 * self.n_draws(), exp_up(-product_down(TWO_PI_SQUARED, ROUNDING)))
    }

    /// The noise that costs no more than this part of mu^2, or as little as noise can.
    pub(super) fn noise(self, cost: f64, neighbours: Neighbours) -> TableNoise {
        let sensitivity = self.sensitivity(neighbours);
        let sigma = sqrt_up(quotient_up(sensitivity.max(f64::MIN_POSITIVE), cost)).clamp(LEAST_SIGMA, MOST_SIGMA);
        // Sums over what a row or a column shares must be as smooth as rounding: their width is s^2 over twice the cells
        // of a row, and a little.
        let longest = match self {
            Self::Single => 1,
            Self::OneWay(a) => a,
            Self::TwoWay(a, b) => a.max(b),
        };
        let least = LEAST_UNITS.max((ROUNDING * (2 * longest + 1) as f64).sqrt() + 1.0);
        let units = 2f64.powi((least / sigma).log2().ceil().max(0.0) as i32);
        // (s^2 - r^2)/m^2 = sensitivity / cost, a hair above.
        let variance = sum_up(product_up(product_up(sigma, units), product_up(sigma, units)), ROUNDING);
        TableNoise { cell_units: sqrt_up(variance), units: units as i64 }
    }
}

impl TableNoise {
    /// The noise of which `sigma` is told, in so fine units that what rounding took of it counts no more.
    pub(super) fn of_sigma(sigma: f64) -> Self {
        Self { cell_units: sigma * FINEST as f64, units: FINEST }
    }

    /// The parameter of a cell's noise, in records.
    pub(super) fn sigma(self) -> f64 {
        self.cell_units / self.units as f64
    }

    /// The parameter of what a row or a column shares, in units.
    pub(super) fn shared_units(self) -> f64 {
        SPREAD * self.cell_units
    }

    /// One over the variance of a cell beside what is shared, in records, less what rounding takes; rounded up.
    pub(super) fn precision_up(self) -> f64 {
        let units = self.units as f64;
        let left = sum_down(product_down(self.cell_units, self.cell_units), -ROUNDING);
        if left > 0.0 { quotient_up(product_up(units, units), left) } else { f64::INFINITY }
    }

    /// The same, rounded down.
    pub(super) fn precision_down(self) -> f64 {
        let units = self.units as f64;
        let left = sum_up(product_up(self.cell_units, self.cell_units), -ROUNDING);
        quotient_down(product_down(units, units), left)
    }

    /// An upper bound of the part of mu^2 that a table of this shape costs with this noise.
    pub(super) fn cost(self, shape: Shape, neighbours: Neighbours) -> f64 {
        product_up(shape.sensitivity(neighbours), self.precision_up())
    }
}

/// Units to a record in which a sigma is read again.
const FINEST: i64 = 1 << 20;

/// In records; nobody is protected by less noise, or finds anything below more. So there are at most 2^16 units to a record,
/// and what is drawn stays below 2^50 of them.
const LEAST_SIGMA: f64 = 1.0 / 64.0;
const MOST_SIGMA: f64 = (1u64 << 40) as f64;

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Neighbours; 2] = [Neighbours::AddRemove, Neighbours::Replace];

    /// The squared length of a change by the inverse of the covariance, which is solved for by conjugate gradients.
    fn by_solving(a: usize, b: usize, change: &[f64], spread: f64) -> f64 {
        let times = |x: &[f64]| -> Vec<f64> {
            let row = |i: usize| x[i * b..(i + 1) * b].iter().sum::<f64>();
            let column = |j: usize| (0..a).map(|i| x[i * b + j]).sum::<f64>();
            (0..a * b).map(|c| x[c] + spread * spread * (row(c / b) + column(c % b))).collect()
        };
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let (mut x, mut r) = (vec![0.0; a * b], change.to_vec());
        let mut p = r.clone();
        for _ in 0..50 {
            let q = times(&p);
            let rr = dot(&r, &r);
            if rr < 1e-26 {
                break;
            }
            let step = rr / dot(&p, &q);
            x.iter_mut().zip(&p).for_each(|(x, p)| *x += step * p);
            r.iter_mut().zip(&q).for_each(|(r, q)| *r -= step * q);
            let turn = dot(&r, &r) / rr;
            p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + turn * *p);
        }
        dot(&x, change)
    }

    #[test]
    fn the_sensitivity_is_that_of_the_covariance() {
        for (a, b) in [(2, 2), (2, 5), (7, 3), (1, 4), (1, 1), (16, 9)] {
            let unit = |cells: &[(usize, f64)]| {
                let mut change = vec![0.0; a * b];
                cells.iter().for_each(|&(cell, value)| change[cell] += value);
                by_solving(a, b, &change, SPREAD)
            };
            let added = unit(&[(0, 1.0)]);
            let claimed = Shape::TwoWay(a, b).sensitivity(Neighbours::AddRemove);
            assert!((claimed / added - 1.0).abs() < 1e-6, "{a} {b}: {claimed} {added}");
            // Every change of a record that there is, but for the names of levels.
            let last = a * b - 1;
            let worst = [b - 1, (a - 1) * b, last].map(|cell| unit(&[(0, 1.0), (cell, -1.0)]));
            let worst = worst.into_iter().fold(0.0, f64::max);
            let claimed = Shape::TwoWay(a, b).sensitivity(Neighbours::Replace);
            assert!((claimed - worst).abs() <= 1e-6 * worst, "{a} {b}: {claimed} {worst}");
        }
        for a in [1, 2, 9] {
            // The inverse of I + t^2 11' is I less 11' / (1/t^2 + a).
            let expected = 1.0 - 1.0 / (SPREAD.powi(-2) + a as f64);
            let claimed = Shape::OneWay(a).sensitivity(Neighbours::AddRemove);
            assert!((claimed - expected).abs() < 1e-9 * expected, "{a}: {claimed} {expected}");
        }
    }

    #[test]
    fn noise_costs_what_it_is_made_for() {
        for shape in [Shape::Single, Shape::OneWay(2), Shape::OneWay(5000), Shape::TwoWay(2, 3), Shape::TwoWay(41, 16)]
        {
            for neighbours in BOTH {
                if shape.sensitivity(neighbours) == 0.0 {
                    continue;
                }
                for cost in [1e-9, 1e-4, 0.1, 10.0, 1e3] {
                    let noise = shape.noise(cost, neighbours);
                    let spent = noise.cost(shape, neighbours);
                    assert!(spent <= cost && spent > cost * (1.0 - 1e-9), "{shape:?} {cost} {spent}");
                    assert!(noise.cell_units >= 256.0 && noise.shared_units() < 2f64.powi(50));
                }
            }
        }
    }

    #[test]
    fn sums_over_integers_are_integrals_as_poissons_formula_says() {
        // With smaller scales than are used, where the difference can be seen: kappa^2 = s^2 / (2 longest + s^2/t^2) and
        // 2 (a + b) exp(-2 pi^2 kappa^2) bounds the relative difference of the sum over what rows and columns share.
        let (s, t) = (1.3_f64, 6.0_f64);
        let density = |x: f64, s: f64| (-0.5 * (x / s).powi(2)).exp();
        let cell = |y: f64, shared: f64| density(y - shared, s);
        let kappa2 = s * s / (2.0 + s * s / (t * t));
        let bound = 2.0 * 2.0 * (-2.0 * std::f64::consts::PI.powi(2) * kappa2).exp();
        let sum = |y: f64, step: f64| -> f64 {
            let places = (40.0 / step) as i32;
            let at = |i: i32| f64::from(i) * step;
            let mut total = 0.0;
            for g in -places..=places {
                for h in -places..=places {
                    total += step * step * density(at(g), t) * density(at(h), t) * cell(y, at(g) + at(h));
                }
            }
            total
        };
        for y in [0.0, 1.0, 7.0] {
            let off = (sum(y, 1.0) / sum(y, 0.25) - 1.0).abs();
            assert!(off <= bound, "{y}: {off} {bound}");
        }
    }
}
