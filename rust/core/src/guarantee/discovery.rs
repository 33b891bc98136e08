//! What publishing the categories that many records have guarantees, with their noisy counts.
//!
//! Nobody lists the categories beforehand. Those that at least `least` rows have get discrete Laplace noise, and are
//! published with the noisy count where that is at least `threshold`; of the others nothing is said.
//!
//! **What a person does.** Rows of a person in a category that has at least `least` rows without them move its count:
//! noise hides them as it does in any table. In a category that has fewer, it is there with the person and not without:
//! at best least - 1 other rows and the person's l make it, and it is published with a chance of at most
//! p(l) = P(Z >= threshold - (least - 1) - l). Where it is published the person is known to be there, a loss without
//! bound; where it is not, nothing was seen. Parts are independent. So if j of the rows that leave are of the latter
//! kind, and j' of those that come, the pair is
//!
//! > q at an infinite loss, else P of the noise with a loss that is ln((1 - q)/(1 - q')) more,
//!
//! q the largest 1 - prod (1 - p(l_i)) over the partitions of j, and q' of j'. A larger q dominates: what is published too
//! often can be hidden again by a coin. delta(eps) = q + (1 - q) D(e^eps (1 - q')/(1 - q)), D the profile of the noise
//! that the other rows meet. With l of Laplace noise that is randomised response at l1/scale, or below it; for one row it
//! is equal to it, as the loss at a distance of one has two values. (j, j') = (0, 1) is not below the other cases: at
//! eps = 0.5, noise of eps 1 and q = 0.1 it is 0.332, and (1, 0) 0.315.

use std::sync::Arc;

use super::{Adjacency, Guarantee, Leaf, Node, Real, Recipe};
use crate::rounding::{
    count_down, count_up, exp_down, exp_m1_down, exp_up, ln_1p_down, ln_1p_up, product_up, quotient_down, quotient_up,
    sum_down, sum_up,
};
use crate::sampling::Rational;
use crate::sensitivity::Person;
use crate::{Error, Result};

/// Every split into rows that noise hides and rows that a threshold hides is kept apart for so many rows of a person.
/// Beyond, one pair stands for all of them: all rows do both.
const MOST_CASES: u64 = 8;
/// The search over partitions takes the square of it.
const MOST_ROWS: u64 = 4096;
/// A threshold that no count reaches.
const MOST_THRESHOLD: u64 = 1 << 60;

/// The parameters of publishing categories above a noisy threshold.
#[derive(Debug, Clone)]
pub struct Discovery {
    /// Of the discrete Laplace noise, P(z) ~ exp(-|z| / scale).
    pub scale: Rational,
    /// The least noisy count that is published.
    pub threshold: u64,
    /// The least count that is looked at.
    pub least: u64,
    /// How many rows of data a person has, at most.
    pub max_rows: u64,
}

/// (q, q', how many units of l1 the noise hides, whether in moves of one).
type Case = (f64, f64, u64);

impl Discovery {
    fn check(&self, adjacency: Adjacency) -> Result<()> {
        Person { adjacency, max_rows: self.max_rows }.moves(None, 1)?;
        if self.max_rows > MOST_ROWS {
            return Err(Error::parameter("max_rows", "be at most 4096 where categories are discovered", self.max_rows));
        }
        if self.scale == Rational::whole(0u8) {
            return Err(Error::parameter("scale", "be positive", 0));
        }
        if self.least < 1 {
            return Err(Error::parameter("least", "be at least 1: what nobody has is not known", self.least));
        }
        // So that a person alone is not above it without noise.
        let lowest = self.least.saturating_add(self.max_rows);
        if !(lowest..=MOST_THRESHOLD).contains(&self.threshold) {
            return Err(Error::parameter(
                "threshold",
                "be at least least + max_rows, and at most 2^60",
                self.threshold,
            ));
        }
        Ok(())
    }

    /// P(Z >= distance), rounded up: e^(-distance/scale) / (1 + e^(-1/scale)).
    fn tail(&self, distance: u64) -> f64 {
        let (low, high) = (self.scale.to_f64_down(), self.scale.to_f64_up());
        let top = exp_up(-quotient_down(count_down(distance), high));
        quotient_up(top, sum_down(1.0, exp_down(-quotient_up(1.0, low)))).min(1.0)
    }

    /// For j = 0 ... `max_rows` the largest chance that one of the categories that exist by j rows alone is published.
    fn leaks(&self) -> Vec<f64> {
        let rows = self.max_rows as usize;
        let fresh = self.threshold - (self.least - 1);
        let alone: Vec<f64> = (1..=self.max_rows).map(|part| -ln_1p_down(-self.tail(fresh - part).min(1.0))).collect();
        let mut most = vec![0.0_f64; rows + 1];
        for j in 1..=rows {
            most[j] = (1..=j).map(|part| sum_up(most[j - part], alone[part - 1])).fold(0.0, f64::max);
        }
        most.into_iter().map(|loss| (-exp_m1_down(-loss)).clamp(0.0, 1.0)).collect()
    }

    /// The chance that a person is seen to be there, at most.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn leak(&self, adjacency: Adjacency) -> Result<f64> {
        self.check(adjacency)?;
        Ok(self.leaks()[self.max_rows as usize])
    }

    /// What one release guarantees.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn guarantee(&self, adjacency: Adjacency) -> Result<Guarantee> {
        self.check(adjacency)?;
        let (leaks, k) = (self.leaks(), self.max_rows as usize);
        let whole = leaks[k];
        let many = self.max_rows > MOST_CASES;
        let splits: Vec<(usize, usize)> = match adjacency {
            _ if many => vec![],
            Adjacency::AddRemove => (0..=k).map(|j| (j, 0)).collect(),
            Adjacency::Replace => (0..=k).flat_map(|j| (0..=k).map(move |into| (j, into))).collect(),
        };
        let replaced: Vec<Case> = if many {
            vec![(whole, whole, 2 * self.max_rows)]
        } else {
            splits.iter().map(|&(j, into)| (leaks[j], leaks[into], (2 * k - j - into) as u64)).collect()
        };
        let directions: Vec<Vec<Case>> = match adjacency {
            Adjacency::Replace => vec![replaced],
            Adjacency::AddRemove if many => {
                vec![vec![(whole, 0.0, self.max_rows)], vec![(0.0, whole, self.max_rows)]]
            }
            Adjacency::AddRemove => {
                let noisy = |j: usize| (k - j) as u64;
                vec![
                    splits.iter().map(|&(j, _)| (leaks[j], 0.0, noisy(j))).collect(),
                    splits.iter().map(|&(j, _)| (0.0, leaks[j], noisy(j))).collect(),
                ]
            }
        };
        let directions = directions
            .into_iter()
            .map(|cases| {
                Node::new(Recipe::Maximum(cases.into_iter().map(|case| self.pair(case)).collect::<Result<_>>()?))
            })
            .collect::<Result<_>>()?;
        // One row moves cells by one, where randomised response is what the noise does.
        Ok(Guarantee::new(adjacency, directions, 0.0)?.attained(self.max_rows == 1))
    }

    /// The losses of one case and their masses, each rounded up: a profile increases with both.
    fn pair(&self, (leak, other, moved): Case) -> Result<Arc<Node>> {
        let shift = sum_up(ln_1p_up(-leak), -ln_1p_down(-other));
        if !shift.is_finite() {
            return Err(Error::parameter(
                "threshold",
                "be so high that a category of one person may stay hidden",
                leak,
            ));
        }
        let rest = sum_up(1.0, -leak);
        // Two cells that move by one each have losses that add up; several rows have the sum as their worst.
        let (steps, unit) = if self.max_rows == 1 { (moved, 1) } else { (u64::from(moved > 0), moved) };
        let low = self.scale.to_f64_down();
        let epsilon = quotient_up(count_up(unit), low);
        if !(epsilon < 700.0) {
            return Err(Error::parameter("scale", "be so large that the privacy loss fits a double", low));
        }
        let up = quotient_up(1.0, sum_down(1.0, exp_down(-epsilon)));
        let down = product_up(up, exp_up(-epsilon));
        let mut losses = Vec::new();
        let mut masses = Vec::new();
        for ups in 0..=steps {
            let share = (0..steps).fold(1.0, |mass, i| product_up(mass, if i < ups { up } else { down }));
            // Of two steps one goes up in two ways.
            let ways = if steps == 2 && ups == 1 { 2.0 } else { 1.0 };
            losses.push(Real(sum_up((2.0 * ups as f64 - steps as f64) * epsilon, shift)));
            masses.push(Real(product_up(rest, ways * share)));
        }
        Node::leaf(Leaf::LossTable { losses: losses.into(), masses: masses.into(), infinite: Real(leak) })
    }
}

/// The least threshold, for categories that one row makes known, at which a person is seen with a chance of `delta` at
/// most.
///
/// # Errors
/// If a parameter is out of its range, or no threshold is high enough.
pub fn least_threshold(scale: &Rational, max_rows: u64, delta: f64, adjacency: Adjacency) -> Result<u64> {
    if !(delta > 0.0 && delta < 1.0) {
        return Err(Error::parameter("delta", "lie strictly between 0 and 1", delta));
    }
    let seen = |threshold| Discovery { scale: scale.clone(), threshold, least: 1, max_rows }.leak(adjacency);
    let (mut low, mut high) = (max_rows, max_rows.saturating_add(1));
    while seen(high)? > delta {
        if high > MOST_THRESHOLD / 2 {
            return Err(Error::parameter("epsilon", "be so large that a threshold exists", "less"));
        }
        (low, high) = (high, high * 2);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if seen(middle)? <= delta { high = middle } else { low = middle }
    }
    Ok(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounding::any_of_up;

    fn of(scale: f64, threshold: u64, least: u64, max_rows: u64) -> Discovery {
        Discovery { scale: Rational::from_f64("scale", scale).unwrap(), threshold, least, max_rows }
    }

    #[test]
    fn a_category_of_one_row_is_published_with_the_chance_of_the_tail() {
        let discovery = of(2.0, 10, 1, 1);
        let exact = (-9.0_f64 / 2.0).exp() / (1.0 + (-0.5_f64).exp());
        let leak = discovery.leak(Adjacency::AddRemove).unwrap();
        assert!(leak >= exact && leak <= exact * (1.0 + 1e-12), "{leak} {exact}");
        // At the epsilon of the noise nothing else is lost.
        let delta = discovery.guarantee(Adjacency::AddRemove).unwrap().delta(0.5);
        assert!((delta / exact - 1.0).abs() < 1e-9, "{delta} {exact}");
    }

    /// delta of one case, summed over the outcomes: seen in one law and not in the other, or not seen, with noise on what
    /// moves: so many answers of randomised response with this epsilon.
    fn delta_of(leak: f64, other: f64, answers: u32, answer: f64, epsilon: f64) -> f64 {
        let yes = 1.0 / (1.0 + (-answer).exp());
        let rest = (0..1_u32 << answers).map(|outcome| {
            let (ups, downs) = (outcome.count_ones() as i32, (answers - outcome.count_ones()) as i32);
            let (p, q) = (yes.powi(ups) * (1.0 - yes).powi(downs), yes.powi(downs) * (1.0 - yes).powi(ups));
            ((1.0 - leak) * p - epsilon.exp() * (1.0 - other) * q).max(0.0)
        });
        leak + rest.sum::<f64>()
    }

    #[test]
    fn deltas_are_those_of_the_worst_case_of_all() {
        for (scale, threshold, rows) in [(20.0, 2, 1), (2.0, 4, 1), (6.0, 4, 2), (9.0, 30, 8), (9.0, 30, 9)] {
            let discovery = of(scale, threshold, 1, rows);
            let (leaks, k) = (discovery.leaks(), rows as usize);
            let answers = |moved: usize| if rows == 1 { moved as u32 } else { u32::from(moved > 0) };
            let answer = |moved: usize| if rows == 1 { 1.0 / scale } else { moved as f64 / scale };
            for adjacency in [Adjacency::Replace, Adjacency::AddRemove] {
                let guarantee = discovery.guarantee(adjacency).unwrap();
                assert_eq!(guarantee.exact(), rows == 1);
                let mut cases = vec![];
                for (j, into) in (0..=k).flat_map(|j| (0..=k).map(move |into| (j, into))) {
                    match adjacency {
                        Adjacency::Replace if k <= 8 => cases.push((leaks[j], leaks[into], 2 * k - j - into)),
                        Adjacency::AddRemove if k <= 8 => {
                            cases.extend([(leaks[j], 0.0, k - j), (0.0, leaks[j], k - j)]);
                        }
                        Adjacency::Replace => cases.push((leaks[k], leaks[k], 2 * k)),
                        Adjacency::AddRemove => cases.extend([(leaks[k], 0.0, k), (0.0, leaks[k], k)]),
                    }
                }
                for epsilon in [0.0, 0.02, 0.1, 0.3, 1.0] {
                    let of_case =
                        |&(leak, other, n): &(f64, f64, usize)| delta_of(leak, other, answers(n), answer(n), epsilon);
                    let exact = cases.iter().map(of_case).fold(0.0, f64::max);
                    let told = guarantee.delta(epsilon);
                    assert!(
                        told >= exact * (1.0 - 1e-12) && told <= exact + 1e-9,
                        "{scale} {threshold} {rows} {adjacency:?} {epsilon}: {told} {exact}"
                    );
                }
            }
        }
    }

    #[test]
    fn several_rows_are_spread_or_not_whichever_shows_more() {
        // Little noise: one category with all rows; much noise: one category each.
        for (scale, spread) in [(0.5, false), (50.0, true)] {
            let discovery = of(scale, 300, 1, 3);
            let [one, all] = [297, 299].map(|distance| discovery.tail(distance));
            let expected = if spread { any_of_up([(all, 3)]) } else { one };
            let leak = discovery.leak(Adjacency::Replace).unwrap();
            assert!((leak / expected - 1.0).abs() < 1e-9, "{leak} {expected}");
        }
    }

    #[test]
    fn the_least_threshold_is_least() {
        for (scale, rows, delta) in [(1.0, 1, 1e-6), (20.0, 3, 1e-9), (0.1, 5, 0.01), (1e4, 1, 1e-12)] {
            let scale = Rational::from_f64("scale", scale).unwrap();
            let threshold = least_threshold(&scale, rows, delta, Adjacency::Replace).unwrap();
            let leak = |threshold| {
                Discovery { scale: scale.clone(), threshold, least: 1, max_rows: rows }.leak(Adjacency::Replace)
            };
            assert!(leak(threshold).unwrap() <= delta);
            assert!(threshold == rows + 1 || leak(threshold - 1).unwrap() > delta);
        }
    }

    #[test]
    fn what_is_looked_at_raises_the_threshold() {
        let (all, some) = (of(2.0, 20, 1, 2), of(2.0, 24, 5, 2));
        for adjacency in [Adjacency::Replace, Adjacency::AddRemove] {
            assert!(all.guarantee(adjacency).unwrap() == some.guarantee(adjacency).unwrap());
        }
    }

    #[test]
    fn one_pair_for_many_rows_is_not_below_the_cases_of_few() {
        let (few, many) = (of(8.0, 300, 1, 8), of(9.0, 300, 1, 9));
        let (few, many) = (few.guarantee(Adjacency::Replace).unwrap(), many.guarantee(Adjacency::Replace).unwrap());
        for epsilon in [0.0, 0.5, 1.0, 1.9] {
            assert!(few.delta(epsilon) <= many.delta(epsilon) + 1e-12);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(of(2.0, 5000, 1, 4096).leak(Adjacency::Replace).is_ok());
        assert!(of(2.0, 5000, 1, 4097).leak(Adjacency::Replace).is_err());
        for delta in [0.0, 1.0, f64::NAN] {
            assert!(least_threshold(&Rational::whole(2_u8), 1, delta, Adjacency::Replace).is_err(), "{delta}");
        }
        for wrong in [of(2.0, 1, 1, 1), of(2.0, 9, 0, 1), of(2.0, 9, 1, 0), of(2.0, 9, 8, 2), of(1e-4, 9, 1, 1)] {
            assert!(wrong.guarantee(Adjacency::Replace).is_err(), "{wrong:?}");
        }
    }
}
