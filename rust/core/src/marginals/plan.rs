//! What the measurement of all tables costs, and how its budget is split.
//!
//! Gaussian noise composes exactly: all tables together cost no more than one normal law moved by mu standard deviations,
//! mu^2 the sum of the tables' parts, whatever their noise is. So the noise of tables may depend on the noisy number of
//! records: mu is fixed beforehand, and so is the part of it that the tables get (theory B2). What is drawn is not
//! Gaussian but discrete; by Theorem S the difference is a total variation distance of less than 10^-120, which the
//! profile adds to delta.
//!
//! A person with k rows is k steps from a neighbour, each of one record added, removed or replaced, and the vectors by which
//! the normal laws move add up: mu is k times that of a record. All k rows alike attain it. So a plan for persons is one for
//! records at mu / k; whatever the noisy total shows, each part of mu^2 is k^2 times that of a record.

use std::sync::Arc;

use super::Layout;
use super::change::replaced;
use super::noise::{Shape, TableNoise};
use super::shares::{shares, total_share};
use crate::accounting::{GaussianPair, Profile, WithSamplingError};
use crate::rounding::{product_down, quotient_down, sqrt_up, sum_down, sum_up, total_up};
use crate::sensitivity::MOST;
use crate::{Error, Result};

/// Share of the budget for the number of records, where it is private, before anything else is known.
const TOTAL_SHARE: f64 = 0.01;

/// Far below and above what any budget in range leads to.
const LEAST_MU: f64 = 1e-6;
const MOST_MU: f64 = 1e4;

/// Which data sets are neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbours {
    /// One record is replaced; the number of records is public.
    Replace,
    /// One record is added or removed.
    AddRemove,
    /// A person's records are replaced, whose number is private.
    ReplacePerson,
}

/// The measurement of the tables of a layout at a fixed cost.
#[derive(Debug, Clone)]
pub struct Plan {
    layout: Layout,
    neighbours: Neighbours,
    weights: Vec<f64>,
    max_rows: u64,
    mu: f64,
    error: f64,
}

impl Plan {
    /// The plan that spends (epsilon, delta), as nearly as doubles do.
    ///
    /// `weights` are shares of the pairs among each other, times what their sizes ask for. A person has at most `max_rows`
    /// rows; where it is more than one, their number is private.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a budget out of range or weights that do not fit; [`Error::Numerical`] if no mu
    /// keeps the budget.
    ///
    /// # Examples
    /// ```
    /// use simplexdp_core::marginals::{Layout, Neighbours, Plan};
    ///
    /// let layout = Layout::new(&[2, 3], &[(0, 1)])?;
    /// let plan = Plan::calibrated(layout, &[1.0], Neighbours::AddRemove, 1, 1.0, 1e-6)?;
    /// assert!(plan.mu() > 0.23 && plan.mu() < 0.24);
    /// # Ok::<(), simplexdp_core::Error>(())
    /// ```
    pub fn calibrated(
        layout: Layout,
        weights: &[f64],
        neighbours: Neighbours,
        max_rows: u64,
        epsilon: f64,
        delta: f64,
    ) -> Result<Self> {
        if !(epsilon > 0.0 && epsilon < 700.0) {
            return Err(Error::parameter("epsilon", "be positive and below 700", format!("{epsilon:?}")));
        }
        if !(delta > 0.0 && delta < 1.0) {
            return Err(Error::parameter("delta", "lie strictly between 0 and 1", format!("{delta:?}")));
        }
        let mut plan = Self::new(layout, weights, neighbours, max_rows, LEAST_MU)?;
        let keeps = |plan: &Self| -> Result<bool> { Ok(plan.profile()?.delta_upper(epsilon) <= delta) };
        if !keeps(&plan)? {
            let rule = "leave something to measure at this delta";
            return Err(Error::parameter("epsilon", rule, format!("{epsilon:?}")));
        }
        // Bisection on the logarithm of mu; the plan always keeps the budget.
        let mut log_step = 8.0;
        while log_step > 1e-12 {
            let next = Self { mu: plan.mu * f64::exp(log_step), ..plan.clone() };
            if next.mu < MOST_MU && keeps(&next)? {
                plan = next;
            } else {
                log_step /= 2.0;
            }
        }
        // What is reported is an epsilon at delta, which is found by a search of its own: it must keep the budget too.
        for _ in 0..40 {
            if plan.profile()?.epsilon_upper(delta) <= epsilon {
                return Ok(plan);
            }
            plan.mu *= 1.0 - 1e-10;
        }
        Err(Error::numerical("plan", format!("epsilon {epsilon:?} at delta {delta:?} cannot be kept")))
    }

    /// The plan that costs `mu`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for mu or `max_rows` out of range or weights that do not fit.
    pub fn new(layout: Layout, weights: &[f64], neighbours: Neighbours, max_rows: u64, mu: f64) -> Result<Self> {
        if !(1..=MOST).contains(&max_rows) {
            return Err(Error::parameter("max_rows", "lie between 1 and 2^20", max_rows));
        }
        if max_rows > 1 && neighbours == Neighbours::Replace {
            return Err(Error::parameter("neighbours", "hide the number of rows of a person", "Replace"));
        }
        if !(LEAST_MU..=MOST_MU).contains(&mu) {
            return Err(Error::parameter("mu", "lie between 1e-6 and 1e4", mu));
        }
        if weights.len() != layout.pairs().len() || !weights.iter().all(|&w| w > 0.0 && w.is_finite()) {
            return Err(Error::parameter("weights", "be positive, one for each pair", format!("{weights:?}")));
        }
        let plan = Self { layout, neighbours, weights: weights.to_vec(), max_rows, mu, error: 0.0 };
        let error = total_up(plan.shapes().chain([Shape::Single; 2]).map(Shape::distance));
        Ok(Self { error, ..plan })
    }

    /// The tables.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Which data sets are neighbours.
    pub fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    /// How many standard deviations the normal law that dominates the measurement moves.
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// The part of it for each row of a person.
    fn row_mu(&self) -> f64 {
        quotient_down(self.mu, self.max_rows as f64)
    }

    /// An upper bound of the distance of the measurement from that, in total variation: it is added to delta as that of
    /// a sampler is.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The guarantee.
    ///
    /// # Errors
    /// Those of the profiles.
    pub fn profile(&self) -> Result<WithSamplingError> {
        WithSamplingError::new(Arc::new(GaussianPair::new(self.mu)?), self.error)
    }

    /// The shapes of all tables, one-way tables first.
    pub(super) fn shapes(&self) -> impl Iterator<Item = Shape> {
        shapes(&self.layout)
    }

    /// The noise of the total; none where it is public.
    pub(super) fn total_noise(&self) -> Option<TableNoise> {
        let cost = product_down(product_down(TOTAL_SHARE, self.row_mu()), self.row_mu());
        (self.neighbours != Neighbours::Replace).then(|| Shape::Single.noise(cost, self.neighbours))
    }

    /// The noise of all tables that are measured, one-way tables first, and of a second look at the number of records,
    /// given the first: few records are worth one. Without pairs where they would tell nothing.
    ///
    /// # Errors
    /// [`Error::Numerical`] if it costs more than the plan: a broken promise of this module.
    pub(super) fn later_noises(&self, total: f64) -> Result<(Vec<TableNoise>, Option<TableNoise>)> {
        let first = self.total_noise();
        let spent = first.map_or(0.0, |noise| noise.cost(Shape::Single, self.neighbours));
        // 1 - 1e-12: room for the rounding of shares and sums.
        let left = sum_down(product_down(self.row_mu(), self.row_mu()), -spent) * (1.0 - 1e-12);
        let signal = total * (left / 2.0).sqrt();
        let of_total = first.map_or(0.0, |_| total_share(signal));
        let again = (of_total > 0.0).then(|| Shape::Single.noise(of_total * left, self.neighbours));
        let of_tables = (1.0 - of_total) * left;
        let shares = shares(&self.layout, &self.weights, signal);
        let with = |budget: f64| -> Vec<TableNoise> {
            let table = |(shape, share): (Shape, f64)| shape.noise(share * budget, self.neighbours);
            self.shapes().zip(shares.iter().copied()).map(table).collect()
        };
        let mut noises = with(of_tables);
        // A record that is replaced does not change every table as far as it could change each.
        let spent = self.cost_of_tables(&noises);
        if spent < of_tables {
            let closer = with(of_tables * (of_tables / spent) * (1.0 - 1e-12));
            if self.cost(&closer, again) <= self.row_mu() {
                noises = closer;
            }
        }
        if self.cost(&noises, again) > self.row_mu() {
            return Err(Error::numerical("plan", "the tables cost more than was planned"));
        }
        Ok((noises, again))
    }

    /// An upper bound of what a record costs of mu with this noise of tables, of the total and of a second look at it.
    fn cost(&self, noises: &[TableNoise], again: Option<TableNoise>) -> f64 {
        let totals = [self.total_noise(), again].into_iter().flatten();
        let totals = total_up(totals.map(|noise| noise.cost(Shape::Single, self.neighbours)));
        sqrt_up(sum_up(self.cost_of_tables(noises), totals))
    }

    /// The same of tables alone, squared.
    fn cost_of_tables(&self, noises: &[TableNoise]) -> f64 {
        cost_of_tables(&self.layout, self.neighbours, noises)
    }
}

/// An upper bound of the part of mu^2 that a record costs with this noise of tables.
fn cost_of_tables(layout: &Layout, neighbours: Neighbours, noises: &[TableNoise]) -> f64 {
    let added = || {
        let of_each = |(noise, shape): (&TableNoise, Shape)| noise.cost(shape, Neighbours::AddRemove);
        total_up(noises.iter().zip(shapes(layout)).map(of_each))
    };
    match neighbours {
        Neighbours::AddRemove => added(),
        Neighbours::Replace => replaced(layout, noises),
        Neighbours::ReplacePerson => replaced(layout, noises).max(added()),
    }
}

/// The shapes of all tables, one-way tables first.
fn shapes(layout: &Layout) -> impl Iterator<Item = Shape> {
    let sizes = layout.sizes();
    let pair = |&(i, j): &(usize, usize)| Shape::TwoWay(sizes[i], sizes[j]);
    sizes.iter().map(|&a| Shape::OneWay(a)).chain(layout.pairs().iter().map(pair))
}

/// The mu of tables that were measured with this noise, told in records, whatever else was released beside them: what a
/// plan says of them that is lower by more than a thousandth is not true.
///
/// `sigmas` are those of a [`Measurement`](super::Measurement), of one-way tables alone where pairs were not measured.
///
/// # Errors
/// [`Error::InvalidParameter`] for sigmas or `max_rows` out of range.
///
/// # Examples
/// ```
/// use simplexdp_core::marginals::{Layout, Neighbours, measured_mu};
///
/// let layout = Layout::new(&[2, 3], &[(0, 1)])?;
/// let mu = measured_mu(&layout, &[10.0, 10.0, 10.0], Neighbours::AddRemove, 1)?;
/// assert!(mu > 0.122 && mu < 0.123);
/// # Ok::<(), simplexdp_core::Error>(())
/// ```
pub fn measured_mu(layout: &Layout, sigmas: &[f64], neighbours: Neighbours, max_rows: u64) -> Result<f64> {
    if !(1..=MOST).contains(&max_rows) {
        return Err(Error::parameter("max_rows", "lie between 1 and 2^20", max_rows));
    }
    let tables = [layout.n_columns(), layout.n_columns() + layout.pairs().len()];
    if !tables.contains(&sigmas.len()) || !sigmas.iter().all(|&sigma| sigma > 0.0 && sigma.is_finite()) {
        return Err(Error::parameter("sigmas", "be positive, one for each table", format!("{sigmas:?}")));
    }
    let noises: Vec<TableNoise> = sigmas.iter().map(|&sigma| TableNoise::of_sigma(sigma)).collect();
    Ok(cost_of_tables(layout, neighbours, &noises).sqrt() * max_rows as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Neighbours; 3] = [Neighbours::Replace, Neighbours::AddRemove, Neighbours::ReplacePerson];

    fn rows(neighbours: Neighbours) -> u64 {
        if neighbours == Neighbours::ReplacePerson { 3 } else { 1 }
    }

    fn layout() -> Layout {
        Layout::new(&[2, 9, 16, 1], &[(0, 1), (0, 2), (1, 2), (2, 3)]).unwrap()
    }

    #[test]
    fn a_plan_spends_its_budget_and_no_more() {
        for neighbours in BOTH {
            for (epsilon, delta) in [(0.01, 1e-9), (0.1, 1e-6), (1.0, 1e-6), (3.0, 1e-3), (20.0, 1e-12)] {
                let plan = Plan::calibrated(layout(), &[1.0; 4], neighbours, rows(neighbours), epsilon, delta).unwrap();
                let reported = plan.profile().unwrap().epsilon_upper(delta);
                assert!(reported <= epsilon && reported > epsilon * (1.0 - 1e-6), "{epsilon} {delta} {reported}");
            }
        }
    }

    #[test]
    fn whatever_the_total_shows_the_tables_cost_what_was_planned() {
        for neighbours in BOTH {
            for epsilon in [0.01, 1.0, 50.0] {
                let plan =
                    Plan::calibrated(layout(), &[1.0, 2.0, 5.0, 1.0], neighbours, rows(neighbours), epsilon, 1e-6)
                        .unwrap();
                for total in [-1e9, 0.0, 1.0, 50.0, 1e3, 1e6, 1e15] {
                    let (noises, again) = plan.later_noises(total).unwrap();
                    let spent = plan.cost(&noises, again);
                    // A column of one level cannot change when a record is replaced, so its share is not spent.
                    let least = if neighbours == Neighbours::Replace { 0.95 } else { 1.0 - 1e-9 };
                    let spent = spent * plan.max_rows as f64;
                    assert!(spent <= plan.mu() * (1.0 + 1e-12) && spent > least * plan.mu(), "{spent} {}", plan.mu());
                }
            }
        }
    }

    #[test]
    fn a_person_with_k_rows_costs_k_times_a_record() {
        let plan = |rows, mu| Plan::new(layout(), &[1.0; 4], Neighbours::AddRemove, rows, mu).unwrap();
        let (person, record) = (plan(3, 0.75), plan(1, 0.25));
        let (theirs, own) = (person.later_noises(1e4).unwrap(), record.later_noises(1e4).unwrap());
        assert_eq!(theirs.0, own.0);
        assert!(Plan::new(layout(), &[1.0; 4], Neighbours::Replace, 2, 1.0).is_err());
        assert!(Plan::new(layout(), &[1.0; 4], Neighbours::AddRemove, 0, 1.0).is_err());
    }

    #[test]
    fn what_tables_cost_is_told_by_their_noise() {
        for neighbours in BOTH {
            for epsilon in [0.01, 1.0, 50.0] {
                let plan = Plan::calibrated(layout(), &[1.0; 4], neighbours, rows(neighbours), epsilon, 1e-6).unwrap();
                for total in [1.0, 50.0, 1e3, 1e6, 1e15] {
                    let (noises, _) = plan.later_noises(total).unwrap();
                    let sigmas: Vec<f64> = noises.iter().map(|noise| noise.sigma()).collect();
                    let told = measured_mu(&layout(), &sigmas, neighbours, rows(neighbours)).unwrap();
                    let least = if neighbours == Neighbours::Replace { 0.95 } else { 0.5 };
                    assert!(told <= plan.mu() * (1.0 + 1e-3) && told > least * plan.mu(), "{told} {}", plan.mu());
                    // Half the noise shows at least nearly twice as much.
                    let half: Vec<f64> = sigmas.iter().map(|sigma| sigma / 2.0).collect();
                    assert!(measured_mu(&layout(), &half, neighbours, rows(neighbours)).unwrap() > 1.99 * told);
                }
            }
        }
        for sigmas in [&[][..], &[1.0; 3], &[1.0; 5], &[1.0, 1.0, 1.0, 0.0], &[1.0, 1.0, 1.0, f64::NAN]] {
            assert!(measured_mu(&layout(), sigmas, Neighbours::Replace, 1).is_err());
        }
        assert!(measured_mu(&layout(), &[1.0; 4], Neighbours::AddRemove, 0).is_err());
    }

    #[test]
    fn broken_budgets_are_refused() {
        for (epsilon, delta) in [(0.0, 1e-6), (f64::NAN, 1e-6), (1.0, 0.0), (1.0, 1.0), (1e3, 1e-6)] {
            assert!(Plan::calibrated(layout(), &[1.0; 4], Neighbours::Replace, 1, epsilon, delta).is_err());
        }
        for weights in [&[1.0; 3][..], &[1.0, 1.0, 1.0, 0.0], &[1.0, 1.0, 1.0, f64::NAN]] {
            assert!(Plan::calibrated(layout(), weights, Neighbours::Replace, 1, 1.0, 1e-6).is_err());
        }
    }
}
