//! From a privacy profile to masses on a grid: a distribution that is worse than the pair, and one that is better.
//!
//! A profile is a convex function of x = exp(eps); masses p_j at losses l_j give sum_j p_j (1 - x exp(-l_j))^+ + p_inf,
//! which is piecewise linear with its kinks at the losses. So a convex, piecewise linear function above the profile is
//! a pessimistic distribution ([DGKKM22], connect the dots), one below it an optimistic one. Both start from values at
//! chosen grid points (knots) and take their greatest convex minorant: it stays above the profile if the values do,
//! because the profile is convex, and below whatever the interpolation of the values is below of. So noise in the last
//! digits of the values cannot produce negative masses. Finally the profile of the rounded masses is recomputed from
//! positive terms only and compared with the wanted values; the largest ratio becomes [`Pmf::inflation`].
//! Composition is increasing in each profile and multiplies the inflations (docs/composition.md).

use super::pmf::Pmf;
use crate::accounting::Profile;
use crate::fft::UNIT;
use crate::interrupt;

/// Room for the rounding of one interpolation or chord, relative to the values that enter it.
const ROUNDING: f64 = 64.0 * UNIT;

/// Values at grid points, linear in x = exp(eps) between them, from (x, value) = (0, 1) to the first, constant after
/// the last.
struct Polyline {
    step: f64,
    index: Vec<i64>,
    value: Vec<f64>,
}

/// Values below are raised to it: masses that carry them would have lost their digits to underflow.
const LEAST: f64 = 1e-306;

/// A profile can take microseconds: this often a request to stop is listened to.
const BETWEEN_CHECKS: usize = 64;

/// What a profile says at many points; `nothing`, once the caller wants it to stop, which who asks has to look at next.
fn asked<T>(points: &[T], nothing: f64, value: impl Fn(&T) -> f64) -> Vec<f64> {
    let mut stopped = false;
    let listening = points.iter().enumerate().map(|(i, point)| {
        stopped = stopped || (i % BETWEEN_CHECKS == 0 && interrupt::requested());
        if stopped { nothing } else { value(point) }
    });
    listening.collect()
}

/// A distribution whose profile lies above `profile` everywhere. `knots` are increasing grid indices.
pub(super) fn pessimistic(profile: &dyn Profile, step: f64, knots: &[i64]) -> Pmf {
    let value = |k: i64| probability(profile.delta_upper(k as f64 * step), 1.0);
    let raised = |value: f64| if value > 0.0 { value.max(LEAST) } else { value };
    let wanted = asked(knots, 1.0, |&k| raised(value(k)));
    let hull = Polyline::minorant(step, knots, &wanted);
    let mut pmf = hull.masses();
    let (achieved, total) = recomputed(&pmf);
    let mut worst = (1.0 / total).max(1.0);
    for (&wanted, &achieved) in hull.value.iter().zip(&achieved) {
        if wanted > achieved {
            worst = worst.max(wanted / achieved);
        }
    }
    pmf.inflation = worst * (1.0 + recomputation_error(hull.index.len()));
    if pmf.inflation < 2.0 {
        return pmf.without_empty();
    }
    // Values that the masses cannot carry (underflow): everything becomes mass at infinity.
    Pmf { step, atoms: Vec::new(), infinite: 1.0, inflation: 1.0 }
}

/// A distribution whose profile lies below `profile` everywhere.
///
/// Inside a cell the profile lies above the extensions of the chords next to it (taken on a grid twice as fine); the
/// values are lowered until the interpolation is below those.
pub(super) fn optimistic(profile: &dyn Profile, step: f64, knots: &[i64]) -> Pmf {
    let nothing = Pmf { step, atoms: Vec::new(), infinite: 0.0, inflation: 1.0 };
    let Some(last) = knots.len().checked_sub(1).filter(|&last| last >= 2) else {
        return nothing;
    };
    let fine = Fine::new(profile, step, knots);
    let infinite = probability(profile.delta_lower(f64::INFINITY), 0.0).min(fine.lower[2 * last]);
    // To the left of the first knot the line 1 - x, which is below every profile; at the last one what is left at infinity.
    let mut start: Vec<f64> = fine.lower.iter().step_by(2).copied().collect();
    start[0] = (-(knots[0] as f64 * step).exp_m1()).clamp(infinite, 1.0) * (1.0 - ROUNDING);
    start[last] = infinite;
    // What exceeds the mass at infinity is scaled down: both ends of a cell by the same factor keep the line straight.
    // Where the profile still is the line 1 - x the left end stays, or the whole line would have to go down with it;
    // unless the right end does not have that much to give.
    let excess: Vec<Excess> = (0..last).map(|i| fine.excess(2 * i, start[i], start[i + 1], infinite)).collect();
    let trivial = |i: usize| start[i] + (knots[i] as f64 * step).exp_m1() <= 1e-10;
    let stays = |i: usize| trivial(i) && excess[i].at_right <= start[i + 1] - infinite;
    let share = |i: usize| if stays(i) { 0.0 } else { excess[i].share };
    let wanted: Vec<f64> = (0..=last)
        .map(|i| {
            let factor = 1.0 - share(i.saturating_sub(1)).max(share(i.min(last - 1)));
            let drop = if i > 0 && stays(i - 1) { excess[i - 1].at_right } else { 0.0 };
            infinite + ((start[i] - infinite) * factor - drop - ROUNDING * start[i]).max(0.0)
        })
        .collect();
    let end = 1 + wanted.iter().position(|&value| value <= infinite).unwrap_or(last);
    if end < 2 {
        return Pmf { infinite, ..nothing };
    }
    let hull = Polyline::minorant(step, &knots[..end], &wanted[..end]);
    let mut pmf = hull.masses();
    let (achieved, total) = recomputed(&pmf);
    let mut worst = total.max(1.0);
    for (&wanted, &achieved) in hull.value.iter().zip(&achieved) {
        if achieved > wanted {
            worst = worst.max(achieved / wanted);
        }
    }
    // The hull is the minorant up to rounding in the decisions which points to leave out.
    let slack = hull.worst_excess(&knots[..end], &wanted[..end]);
    pmf.inflation = worst * slack * (1.0 + recomputation_error(end));
    if pmf.inflation < 2.0 { pmf.without_empty() } else { Pmf { infinite, ..nothing } }
}

/// A reported value as a probability; what is no number counts as `worst`.
fn probability(value: f64, worst: f64) -> f64 {
    if value.is_nan() { worst } else { value.clamp(0.0, 1.0) }
}

/// Relative error of [`recomputed`]: every term passes through at most four roundings per cell.
fn recomputation_error(cells: usize) -> f64 {
    (4 * cells + 16) as f64 * UNIT
}

/// The profile of the rounded masses at their own losses, and the sum of all masses; no cancellation anywhere.
fn recomputed(pmf: &Pmf) -> (Vec<f64>, f64) {
    let mut values = vec![pmf.infinite; pmf.atoms.len()];
    // Mass of Q to the right, in units of exp(-loss) at the current atom.
    let mut beyond = 0.0;
    for i in (1..pmf.atoms.len()).rev() {
        let gap = (pmf.atoms[i].0 - pmf.atoms[i - 1].0) as f64 * pmf.step;
        let here = pmf.atoms[i].1 + beyond;
        values[i - 1] = values[i] - (-gap).exp_m1() * here;
        beyond = (-gap).exp() * here;
    }
    (values, pmf.finite() + pmf.infinite)
}

impl Polyline {
    /// The greatest convex minorant of the points and of (0, 1), by a scan from left to right.
    fn minorant(step: f64, knots: &[i64], values: &[f64]) -> Self {
        let mut line = Self { step, index: Vec::with_capacity(knots.len()), value: Vec::with_capacity(knots.len()) };
        for (&k, &value) in knots.iter().zip(values) {
            while let (Some(&middle), Some(&at)) = (line.index.last(), line.value.last()) {
                let fall_before = line.fall_into_last();
                let fall_after = (at - value) / ((k - middle) as f64 * step).exp_m1();
                if fall_before > fall_after {
                    break;
                }
                line.index.pop();
                line.value.pop();
            }
            line.index.push(k);
            line.value.push(value);
        }
        line
    }

    /// Minus the slope of the piece that ends at the last point, times x there.
    fn fall_into_last(&self) -> f64 {
        self.fall_into(self.index.len() - 1)
    }

    fn fall_into(&self, i: usize) -> f64 {
        if i == 0 {
            return 1.0 - self.value[0];
        }
        let gap = (self.index[i] - self.index[i - 1]) as f64 * self.step;
        (self.value[i - 1] - self.value[i]) / -(-gap).exp_m1()
    }

    /// Minus the slope of the piece that begins at point `i`, times x there.
    fn fall_out_of(&self, i: usize) -> f64 {
        if i + 1 == self.index.len() {
            return 0.0;
        }
        let gap = (self.index[i + 1] - self.index[i]) as f64 * self.step;
        (self.value[i] - self.value[i + 1]) / gap.exp_m1()
    }

    /// Masses of P: the change of slope at each point, times x.
    fn masses(&self) -> Pmf {
        let mass = |i: usize| (self.fall_into(i) - self.fall_out_of(i)).max(0.0);
        Pmf {
            step: self.step,
            atoms: self.index.iter().enumerate().map(|(i, &k)| (k, mass(i))).collect(),
            infinite: self.value.last().copied().unwrap_or(1.0).max(0.0),
            inflation: 1.0,
        }
    }

    /// Largest ratio by which the polyline exceeds the values at the knots, at least one.
    fn worst_excess(&self, knots: &[i64], values: &[f64]) -> f64 {
        let mut worst = 1.0_f64;
        let mut piece = 0;
        for (&k, &value) in knots.iter().zip(values) {
            while piece < self.index.len() && self.index[piece] < k {
                piece += 1;
            }
            if piece == self.index.len() || self.index[piece] == k {
                continue;
            }
            let (right, top) = (self.index[piece], self.value[piece]);
            let at = if piece == 0 {
                // From (0, 1): the share of the way is x / x_right.
                top + (1.0 - top) * -((k - right) as f64 * self.step).exp_m1()
            } else {
                let left = self.index[piece - 1];
                let way = ((k - left) as f64 * self.step).exp_m1() / ((right - left) as f64 * self.step).exp_m1();
                self.value[piece - 1] + (top - self.value[piece - 1]) * way
            };
            if at > value {
                worst = worst.max(at / value);
            }
        }
        worst * (1.0 + ROUNDING)
    }
}

/// What keeps a line below the profile: either of two ways to lower its ends.
struct Excess {
    /// Taking this share off both ends, counted from the mass at infinity on.
    share: f64,
    /// Taking this off the right end alone.
    at_right: f64,
}

/// Bounds of a profile at the knots and half way between them.
struct Fine {
    epsilon: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Fine {
    fn new(profile: &dyn Profile, step: f64, knots: &[i64]) -> Self {
        let epsilon: Vec<f64> = knots
            .windows(2)
            .flat_map(|pair| [pair[0] as f64 * step, 0.5 * (pair[0] + pair[1]) as f64 * step])
            .chain(knots.last().map(|&k| k as f64 * step))
            .collect();
        // No profile is below 1 - exp(eps); a margin in the reported value must not hide that.
        let trivial = |eps: f64| -eps.exp_m1() * (1.0 - 4.0 * UNIT);
        let lower = asked(&epsilon, 0.0, |&eps| probability(profile.delta_lower(eps), 0.0).max(trivial(eps)));
        let upper = asked(&epsilon, 1.0, |&eps| probability(profile.delta_upper(eps), 1.0));
        Self { epsilon, lower, upper }
    }

    /// How far the line from `start` at point j to `end` at point j + 2 can be above the profile, from above.
    fn excess(&self, j: usize, start: f64, end: f64, floor: f64) -> Excess {
        let way = |a: usize| (self.epsilon[a] - self.epsilon[j]).exp_m1();
        let line = |x: f64| start + (end - start) * (x / way(j + 2));
        let mut worst = Excess { share: 0.0, at_right: 0.0 };
        for a in [j, j + 1] {
            let (x0, x1) = (way(a), way(a + 1));
            // The chord from the point before, extended to the right; before the first point there is (0, 1).
            let (before, height) = match a.checked_sub(1) {
                Some(b) => (way(b), self.upper[b]),
                None => (-1.0, 1.0),
            };
            let falling = self.lower[a] - (height - self.lower[a]) * ((x1 - x0) / (x0 - before));
            // The chord to the point after, extended to the left.
            let rising = match self.upper.get(a + 2) {
                Some(after) => {
                    self.lower[a + 1] + (self.lower[a + 1] - after).max(0.0) * ((x1 - x0) / (way(a + 2) - x1))
                }
                None => self.lower[a + 1],
            };
            let (left, right) = (line(x0) - self.lower[a], line(x1) - self.lower[a + 1]);
            let (far_right, far_left) = (line(x1) - falling, line(x0) - rising);
            // Both differences are linear over the half cell and the smaller one counts: the share of it is largest at an
            // end or where they cross.
            let (down, up) = (far_left - left, far_right - right);
            let mut candidates = [(0.0, left.min(far_left)), (1.0, right.min(far_right)), (0.0, 0.0)];
            if down * up > 0.0 {
                let share = down / (down + up);
                candidates[2] = (share, left + share * (far_right - left));
            }
            for (share, difference) in candidates {
                let height = line(x0) + share * (line(x1) - line(x0)) - floor;
                if difference > 0.0 {
                    let way_along = (x0 + share * (x1 - x0)) / way(j + 2);
                    worst.share = worst.share.max(difference / height);
                    worst.at_right = worst.at_right.max(difference / way_along);
                }
            }
        }
        let room = 1.0 + ROUNDING;
        Excess { share: (worst.share * room).min(1.0), at_right: worst.at_right * room }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{BudgetPair, GaussianPair, LaplacePair};

    /// delta of masses at losses, at any epsilon: the sum of p (1 - exp(eps - loss)) over the losses above.
    fn delta(pmf: &Pmf, epsilon: f64) -> f64 {
        let term = |&(k, p): &(i64, f64)| p * (1.0 - (epsilon - k as f64 * pmf.step).exp()).max(0.0);
        pmf.infinite + pmf.atoms.iter().map(term).sum::<f64>()
    }

    fn laws() -> Vec<(&'static str, Box<dyn Profile>)> {
        vec![
            ("gaussian", Box::new(GaussianPair::new(1.3).unwrap())),
            ("narrow", Box::new(GaussianPair::new(0.05).unwrap())),
            ("laplace", Box::new(LaplacePair::new(1.1).unwrap())),
            ("response", Box::new(BudgetPair::new(0.8, 0.01).unwrap())),
        ]
    }

    /// Even knots, uneven ones, and few of them on one side.
    fn knots() -> Vec<(f64, Vec<i64>)> {
        let uneven = (-60..=60_i64).map(|i| i * i.abs() / 4 + i).collect();
        vec![(0.0625, (-80..=80).collect()), (0.01, uneven), (0.25, vec![-9, -2, 0, 1, 2, 3, 5, 8, 13, 30])]
    }

    #[test]
    fn the_pessimistic_masses_lie_above_the_curve_everywhere_and_meet_it_at_the_knots() {
        for (name, law) in laws() {
            for (step, knots) in knots() {
                let pmf = pessimistic(&*law, step, &knots);
                assert!(pmf.inflation >= 1.0 && pmf.inflation < 1.0 + 1e-9, "{name} {step}: {}", pmf.inflation);
                assert!(pmf.atoms.iter().all(|atom| atom.1 > 0.0 && knots.contains(&atom.0)));
                for i in -400..=400 {
                    let epsilon = 0.0173 * f64::from(i);
                    let (found, exact) = (pmf.inflation * delta(&pmf, epsilon), law.delta_lower(epsilon));
                    assert!(found >= exact * (1.0 - 1e-15), "{name} {step} {epsilon}: {found:e} {exact:e}");
                }
                for k in &knots {
                    let epsilon = *k as f64 * step;
                    let (found, exact) = (pmf.inflation * delta(&pmf, epsilon), law.delta_upper(epsilon));
                    // What is left at the last knot is at infinity.
                    assert!(
                        (found - exact).abs() <= 1e-9 * exact + 2.0 * LEAST,
                        "{name} {step} {k}: {found:e} {exact:e}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_optimistic_masses_lie_below_the_curve_everywhere_and_near_it_on_a_fine_grid() {
        for (name, law) in laws() {
            for (step, knots) in knots() {
                let pmf = optimistic(&*law, step, &knots);
                assert!(pmf.inflation >= 1.0 && pmf.inflation < 1.0 + 1e-9, "{name} {step}: {}", pmf.inflation);
                for i in -400..=400 {
                    let epsilon = 0.0173 * f64::from(i);
                    let (found, exact) = (delta(&pmf, epsilon) / pmf.inflation, law.delta_upper(epsilon));
                    assert!(found <= exact * (1.0 + 1e-15), "{name} {step} {epsilon}: {found:e} {exact:e}");
                }
            }
            let fine = optimistic(&*law, 0.015625, &(-700..=700).collect::<Vec<_>>());
            for epsilon in [-1.0, -0.3, 0.0, 0.2] {
                let (found, exact) = (delta(&fine, epsilon), law.delta_upper(epsilon));
                let room = if name == "narrow" { 0.05 } else { 5e-3 };
                assert!(
                    (found - exact).abs() <= room * exact + 1e-12 || exact < 1e-4,
                    "{name} {epsilon}: {found:e} {exact:e}"
                );
            }
        }
    }

    /// Says that nothing is known, or what is no number.
    struct Silent(f64);

    impl Profile for Silent {
        fn delta_upper(&self, _epsilon: f64) -> f64 {
            self.0
        }

        fn delta_lower(&self, _epsilon: f64) -> f64 {
            self.0
        }
    }

    #[test]
    fn what_is_no_number_counts_as_the_worst_on_either_side() {
        let knots: Vec<i64> = (-20..=20).collect();
        let (above, below) = (pessimistic(&Silent(f64::NAN), 0.1, &knots), optimistic(&Silent(f64::NAN), 0.1, &knots));
        for epsilon in [-1.0_f64, 0.0, 1.0] {
            assert!(above.inflation * delta(&above, epsilon) >= 1.0 - 1e-15);
            assert!(delta(&below, epsilon) <= (1.0 - epsilon.exp()).max(0.0) * (1.0 + 1e-12));
        }
        let few = optimistic(&GaussianPair::new(1.0).unwrap(), 0.1, &[0, 1]);
        assert!(few.atoms.is_empty() && few.infinite == 0.0);
    }

    #[test]
    fn cells_wider_than_a_bend_of_the_curve_are_lowered_below_it() {
        // The bend lies in either half of the first cell, of the next one, and of cells that end where nothing is left.
        let step = 0.015625;
        for (name, law) in laws() {
            for first in (-300..0_i64).step_by(7) {
                for width in [3, 10, 25, 40, 60, 100, 200] {
                    let knots = [0, 1, 2, 3, 9].map(|i| first + i * width);
                    let pmf = optimistic(&*law, step, &knots);
                    for i in 0..=150 {
                        let epsilon = step * (first as f64 + f64::from(i) / 50.0 * width as f64);
                        let (found, exact) = (delta(&pmf, epsilon) / pmf.inflation, law.delta_upper(epsilon));
                        assert!(
                            found <= exact * (1.0 + 1e-13),
                            "{name} {first} {width} {epsilon}: {found:e} {exact:e}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_a_line_exceeds_the_curve_by_is_the_most_of_a_dense_grid() {
        let narrow: Vec<i64> = (-12..=20).map(|i| 8 * i).collect();
        for (name, law) in laws() {
            for (step, knots) in [(0.015625, narrow.clone()), (0.25, vec![-9, -2, 0, 1, 2, 3, 5, 8, 13])] {
                let fine = Fine::new(&*law, step, &knots);
                let x: Vec<f64> = fine.epsilon.iter().map(|epsilon| epsilon.exp()).collect();
                let end = x.len() - 1;
                for j in (0..end).step_by(2) {
                    let (low, high) = (fine.lower[j], fine.lower[j + 2]);
                    for (start, stop, floor) in
                        [(low, high, 0.0), (1.1 * low, high, 0.5 * high), (low, 0.7 * high, 0.0)]
                    {
                        let found = fine.excess(j, start, stop, floor);
                        let (mut share, mut at_right) = (0.0_f64, 0.0_f64);
                        for i in 0..=4_000 {
                            let a = if i <= 2_000 { j } else { j + 1 };
                            let at = x[a] + (x[a + 1] - x[a]) * (f64::from(i) / 2_000.0 - (a - j) as f64);
                            // A convex curve lies above the chords to both sides, extended, whatever it does between.
                            let (before, height) = if a == 0 { (0.0, 1.0) } else { (x[a - 1], fine.upper[a - 1]) };
                            let falling = fine.lower[a] + (fine.lower[a] - height) * (at - x[a]) / (x[a] - before);
                            let rising = if a + 2 > end {
                                fine.lower[a + 1]
                            } else {
                                let fall = (fine.lower[a + 1] - fine.upper[a + 2]).max(0.0);
                                fine.lower[a + 1] + fall * (x[a + 1] - at) / (x[a + 2] - x[a + 1])
                            };
                            let way = (at - x[j]) / (x[j + 2] - x[j]);
                            let line = start + (stop - start) * way;
                            let excess = line - falling.max(rising);
                            if excess > 1e-9 && way > 0.0 {
                                share = share.max(excess / (line - floor));
                                at_right = at_right.max(excess / way);
                            }
                        }
                        let case =
                            format!("{name} {j} {start} {stop}: {} {} {share} {at_right}", found.share, found.at_right);
                        assert!(
                            found.share >= share.min(1.0) * (1.0 - 1e-6) && found.at_right >= at_right * (1.0 - 1e-6),
                            "{case}"
                        );
                        assert!(share == 0.0 || found.share <= share + 1e-3 * (share + 1e-4), "{case}");
                        assert!(
                            low < 1e-6
                                || share == 0.0
                                || start > low
                                || found.at_right <= at_right + 1e-2 * (at_right + 1e-4),
                            "{case}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_profile_of_masses_at_powers_of_two_is_their_sum() {
        // In units of ln 2: what lies k steps above counts with 1 - 2^-k.
        let atoms = vec![(-1, 0.25), (0, 0.125), (2, 0.5)];
        let pmf = Pmf { step: std::f64::consts::LN_2, atoms, infinite: 0.0625, inflation: 1.0 };
        let (values, total) = recomputed(&pmf);
        for (value, exact) in values.iter().zip([0.5625, 0.4375, 0.0625]) {
            assert!((value - exact).abs() <= 1e-15, "{value} {exact}");
        }
        assert_eq!((values.len(), total), (3, 0.9375));
        // Four roundings for each cell and a few for the sums, in units of 2^-53.
        assert_eq!(recomputation_error(1_000), 4_016.0 * 2.0_f64.powi(-53));
    }

    #[test]
    fn the_profile_of_masses_is_recomputed_also_where_they_are_not_those_of_the_line() {
        let line = Polyline { step: 0.5, index: vec![-2, 0, 3, 4], value: vec![0.8, 0.4, 0.1, 0.05] };
        for spoilt in 0..4 {
            let mut pmf = line.masses();
            for (&k, value) in line.index.iter().zip(&line.value) {
                assert!((delta(&pmf, 0.5 * k as f64) - value).abs() < 1e-15, "{k}: {value}");
            }
            pmf.atoms[spoilt].1 *= 0.75;
            let (values, _) = recomputed(&pmf);
            for (&k, value) in line.index.iter().zip(&values) {
                assert!((delta(&pmf, 0.5 * k as f64) - value).abs() < 1e-15, "{k}: {value}");
            }
        }
    }

    #[test]
    fn a_line_tells_by_which_factor_it_exceeds_values_that_it_left_out() {
        // Straight in x = 2^k from (0, 1) to (2, 1/2), to (8, 1/4), to (32, 1/8).
        let line = Polyline { step: std::f64::consts::LN_2, index: vec![1, 3, 5], value: vec![0.5, 0.25, 0.125] };
        let knots = [-1_i64, 0, 1, 2, 3, 4, 5, 6];
        let height = [0.875, 0.75, 0.5, 0.5 - 1.0 / 12.0, 0.25, 0.25 - 1.0 / 24.0, 0.125, 0.125];
        let least = line.worst_excess(&knots, &height);
        assert!((1.0..1.0 + 1e-13).contains(&least), "{least}");
        for (i, k) in knots.iter().enumerate() {
            let mut values = height;
            values[i] /= 1.25;
            let found = line.worst_excess(&knots, &values);
            // At its own points the line is what it is, and right of the last one nothing was left out.
            let exact = if [1, 3, 5, 6].contains(k) { 1.0 } else { 1.25 };
            assert!(found >= exact && found < exact * (1.0 + 1e-13), "{k}: {found}");
        }
    }
}
