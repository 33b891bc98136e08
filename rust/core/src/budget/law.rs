//! A curve as a discrete law of losses that is worse, in both directions: from its profiles alone.
//!
//! Domination at every real eps needs the profile below zero too. For the pair (P, Q) and x < 1 it is
//! D_(P,Q)(x) = 1 - x + x D_(Q,P)(1/x): what the profile of the other direction says above one. So both directions are
//! sampled at eps >= 0 only, joined with straight lines in x = exp(eps) (which are above the convex profiles) and
//! reflected. A polyline is the profile of masses at its kinks, and masses below zero are those of the other direction
//! times exp(loss).

use super::leaky::ROUNDING;
use crate::accounting::Profile;
use crate::rounding::{sum_up, total_down, total_up};
use crate::{Error, Result, interrupt};

/// Knots per scale of the curve around zero; what the straight lines add to a variance is 1/(6 FINE^2) of it at most.
const FINE: f64 = 20.0;
/// Knots per factor e further out.
const COARSE: f64 = 40.0;
/// Powers of two among which the end of the losses is looked for where the curve does not tell.
const ENDS: std::ops::RangeInclusive<i32> = -20..=9;
/// More than enough for any curve that a book can afford.
const MOST_KNOTS: usize = 4000;

/// One direction: masses of P at losses, and where Q has none.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pub(super) atoms: Vec<(f64, f64)>,
    pub(super) infinite: f64,
}

impl Side {
    /// The second, third and fourth cumulant of the finite losses.
    pub(super) fn cumulants(&self) -> [f64; 3] {
        let total: f64 = self.atoms.iter().map(|atom| atom.1).sum();
        let mean = self.atoms.iter().map(|(loss, mass)| loss * mass).sum::<f64>() / total;
        let moment = |k: i32| self.atoms.iter().map(|(loss, mass)| (loss - mean).powi(k) * mass).sum::<f64>() / total;
        let second = moment(2);
        [second, moment(3), moment(4) - 3.0 * second * second]
    }
}

/// Both directions; one where they are the same.
#[derive(Debug, Clone)]
pub(super) struct Law {
    pub(super) sides: Vec<Side>,
}

/// The size of a curve's losses: the mu of the Gaussian pair with the same delta(0), for small ones.
pub(super) fn scale(profiles: &[&dyn Profile]) -> f64 {
    let at_zero = profiles.iter().map(|profile| profile.delta_upper(0.0)).fold(0.0, f64::max);
    at_zero.min(0.8) * (2.0 * std::f64::consts::PI).sqrt()
}

impl Law {
    /// The law of one profile (of neighbours that may be exchanged) or of two, one for each direction. At most `tail` of
    /// the mass is moved to infinity besides what is there.
    ///
    /// # Errors
    /// [`Error::Numerical`] if the losses are spread so far that no table of a sensible size holds them;
    /// [`Error::Interrupted`].
    pub(super) fn new(profiles: &[&dyn Profile], tail: f64) -> Result<Self> {
        let knots = knots(profiles, tail)?;
        let mut polylines = Vec::with_capacity(profiles.len());
        // Total variation is the same in both directions; what is reported need not be.
        let at_zero = profiles.iter().map(|profile| profile.delta_upper(0.0)).fold(0.0, f64::max).min(1.0);
        for profile in profiles {
            polylines.push(Polyline::above(*profile, &knots, at_zero)?);
        }
        let (first, last) = (&polylines[0], &polylines[polylines.len() - 1]);
        let both = if polylines.len() == 1 { vec![(first, first)] } else { vec![(first, last), (last, first)] };
        Ok(Self { sides: both.into_iter().map(|(to, back)| joined(to, back)).collect() })
    }
}

/// Losses from zero to where little enough is left.
fn knots(profiles: &[&dyn Profile], tail: f64) -> Result<Vec<f64>> {
    let end = profiles.iter().map(|profile| end(*profile, tail)).fold(0.0, f64::max);
    let fine = scale(profiles) / FINE;
    if end == 0.0 {
        // All that there is counts as mass at infinity.
        return Ok(vec![0.0]);
    }
    if !(end.is_finite() && fine > 0.0) {
        return Err(Error::numerical("budget", "the losses have no end"));
    }
    let mut knots = vec![0.0];
    let mut at = 0.0;
    loop {
        interrupt::check()?;
        at += fine.max(at / COARSE);
        if at >= end {
            break;
        }
        knots.push(at);
        if knots.len() > MOST_KNOTS {
            return Err(Error::numerical("budget", "the losses are spread too far"));
        }
    }
    knots.push(end);
    // Where the profile bends, straight lines from there lose nothing.
    let kinks = profiles.iter().flat_map(|profile| profile.kinks()).map(f64::abs);
    knots.extend(kinks.filter(|loss| *loss > 0.0 && *loss < end).take(MOST_KNOTS));
    knots.sort_by(f64::total_cmp);
    // Closer ones than this would leave nothing of the differences between them.
    knots.dedup_by(|next, before| *next - *before < 1e-6 * fine);
    Ok(knots)
}

/// A loss beyond which at most `tail` of delta is left, besides what is at infinity; the largest loss where there is one.
fn end(profile: &dyn Profile, tail: f64) -> f64 {
    let infinite = profile.delta_upper(f64::INFINITY);
    let wanted = infinite + tail;
    let end = profile.epsilon_upper(wanted);
    if !end.is_finite() {
        return coarse_end(profile, wanted);
    }
    let bounded = end.is_finite() && profile.delta_upper(2.0 * end) <= infinite;
    if bounded { profile.epsilon_upper(infinite).min(2.0 * end) } else { end }
}

/// The same where no epsilon is known for so little delta, as of compositions whose bounds end before: the profile is
/// constant beyond the last knot, so any place will do, and the first at which delta falls no further is the best.
fn coarse_end(profile: &dyn Profile, wanted: f64) -> f64 {
    let values: Vec<(f64, f64)> = ENDS.map(|k| 2.0_f64.powi(k)).map(|end| (end, profile.delta_upper(end))).collect();
    let least = values.iter().map(|value| value.1).fold(f64::INFINITY, f64::min);
    let enough = wanted.max(least * (1.0 + 1e-6));
    values.iter().find(|value| value.1 <= enough).map_or(f64::INFINITY, |value| value.0)
}

/// A convex, piecewise linear function of exp(eps) above a profile at eps >= 0, as masses.
struct Polyline {
    losses: Vec<f64>,
    /// At all losses but the first, which is zero and gets its mass when both directions are known.
    masses: Vec<f64>,
    infinite: f64,
    at_zero: f64,
}

impl Polyline {
    fn above(profile: &dyn Profile, knots: &[f64], at_zero: f64) -> Result<Self> {
        let mut values = vec![at_zero];
        let mut least = at_zero;
        for &loss in &knots[1..] {
            interrupt::check()?;
            let value = profile.delta_upper(loss);
            // A profile falls, so a bound from further left is one here too. What is no number bounds nothing.
            least = if value.is_nan() { least } else { least.min(value.max(0.0)) };
            values.push(least);
        }
        let (losses, values) = hull(knots, &values);
        let mut line =
            Self { masses: masses(&losses, &values), infinite: values[values.len() - 1], losses, at_zero: 0.0 };
        // The masses are rounded: what they say is compared with what was wanted.
        let worst = line
            .recomputed()
            .iter()
            .zip(&values)
            .fold(1.0, |worst: f64, (&got, &wanted)| if got < wanted { worst.max(wanted / got) } else { worst });
        let inflation = worst * (1.0 + ROUNDING);
        line.masses.iter_mut().for_each(|mass| *mass *= inflation);
        line.infinite *= inflation;
        line.at_zero = line.recomputed()[0];
        Ok(line)
    }

    /// The profile of the masses at the losses, from positive terms only.
    fn recomputed(&self) -> Vec<f64> {
        let mut values = vec![self.infinite; self.losses.len()];
        let mut beyond = 0.0;
        for i in (1..self.losses.len()).rev() {
            let gap = self.losses[i] - self.losses[i - 1];
            let here = self.masses[i - 1] + beyond;
            values[i - 1] = values[i] - (-gap).exp_m1() * here;
            beyond = (-gap).exp() * here;
        }
        values
    }

    /// Masses at minus the losses under P of the other direction: exp(-loss) times those here.
    fn mirrored(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.losses[1..].iter().zip(&self.masses).map(|(&loss, &mass)| (-loss, mass * (-loss).exp()))
    }

    fn atoms(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.losses[1..].iter().copied().zip(self.masses.iter().copied())
    }
}

/// The lower convex hull of the points, in exp(loss). Leaving a point out only raises what is above a convex function.
fn hull(losses: &[f64], values: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut xs, mut ys): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for (&x, &y) in losses.iter().zip(values) {
        while xs.len() >= 2 {
            let (i, j) = (xs.len() - 2, xs.len() - 1);
            let before = (ys[i] - ys[j]) / -(-(xs[j] - xs[i])).exp_m1();
            let after = (ys[j] - y) / (x - xs[j]).exp_m1();
            if before > after {
                break;
            }
            xs.pop();
            ys.pop();
        }
        xs.push(x);
        ys.push(y);
    }
    (xs, ys)
}

/// The change of slope at each loss but the first, times exp(loss).
fn masses(losses: &[f64], values: &[f64]) -> Vec<f64> {
    let fall = |i: usize| values[i] - values[i + 1];
    let gap = |i: usize| losses[i + 1] - losses[i];
    let into = |i: usize| fall(i - 1) / -(-gap(i - 1)).exp_m1();
    let out = |i: usize| if i + 1 < losses.len() { fall(i) / gap(i).exp_m1() } else { 0.0 };
    (1..losses.len()).map(|i| (into(i) - out(i)).max(0.0)).collect()
}

/// The law whose profile is `to` at eps >= 0, and the reflection of `back` below.
fn joined(to: &Polyline, back: &Polyline) -> Side {
    let mut atoms: Vec<(f64, f64)> = back.mirrored().collect();
    atoms.reverse();
    // Both laws are filled up to one with mass at loss zero.
    let without = |to: &Polyline, back: &Polyline| {
        let masses = || to.masses.iter().copied().chain(back.mirrored().map(|(_, mass)| mass)).chain([to.infinite]);
        (total_down(masses()), total_up(masses()))
    };
    let ((here_low, here_high), (other_low, other_high)) = (without(to, back), without(back, to));
    let at_zero = (1.0 - here_low).max(1.0 - other_low).max(0.0);
    atoms.push((0.0, at_zero));
    atoms.extend(to.atoms());
    // With totals T_P and T_Q of both laws the profile below zero is T_P - x T_Q + x D(1/x) in place of 1 - x + ...: at
    // most (T_Q - T_P)^+ too low, where a profile is not below its value at zero.
    let lacking = sum_up(other_high, -here_low).max(sum_up(here_high, -other_low)).max(0.0);
    let least = to.at_zero.min(back.at_zero);
    let inflation = 1.0 + ROUNDING + if least > 0.0 { 2.0 * lacking / least } else { 0.0 };
    Side {
        atoms: atoms.into_iter().map(|(loss, mass)| (loss, mass * inflation)).collect(),
        infinite: to.infinite * inflation,
    }
}

#[cfg(test)]
mod tests {
    use super::super::oracle;
    use super::*;
    use crate::accounting::{BetaPair, BudgetPair, Direction, GammaPair, GaussianPair, LossTable};

    fn normal(mu: f64) -> Box<dyn Profile> {
        Box::new(GaussianPair::new(mu).unwrap())
    }

    fn gamma(a: f64, r: f64, add: bool) -> Box<dyn Profile> {
        let direction = if add { Direction::Add } else { Direction::Remove };
        Box::new(GammaPair::new(a, r, direction).unwrap())
    }

    fn table(losses: &[f64], masses: &[f64], infinite: f64) -> Box<dyn Profile> {
        Box::new(LossTable::new(losses.to_vec(), masses, infinite).unwrap())
    }

    fn cases() -> Vec<Vec<Box<dyn Profile>>> {
        let (l, m) = ((0.3_f64 / 0.2).ln(), (0.5_f64 / 0.6).ln());
        vec![
            vec![normal(0.05)],
            vec![normal(1.3)],
            // So near that the rounding of a sum to one shows.
            vec![normal(1e-9)],
            vec![Box::new(BudgetPair::new(0.3, 1e-5).unwrap())],
            vec![Box::new(BudgetPair::new(0.01, 0.0).unwrap())],
            vec![Box::new(BetaPair::new(1.3, 2.0, 0.4).unwrap()), Box::new(BetaPair::new(2.0, 1.3, 0.4).unwrap())],
            vec![gamma(1.5, 0.2, false), gamma(1.5, 0.2, true)],
            vec![gamma(0.3, 0.05, true), gamma(0.3, 0.05, false)],
            // (3, 2, 5)/10 against (2, 2, 6)/10, and the other way round, with a little that only one of them has.
            vec![table(&[m, 0.0, l], &[0.5, 0.1999, 0.3], 1e-4), table(&[-l, 0.0, -m], &[0.2, 0.1999, 0.6], 1e-4)],
        ]
    }

    fn law(profiles: &[Box<dyn Profile>], tail: f64) -> Law {
        Law::new(&profiles.iter().map(|profile| &**profile).collect::<Vec<_>>(), tail).unwrap()
    }

    #[test]
    fn a_law_is_above_its_curve_at_every_real_epsilon_and_hardly_so() {
        for (number, profiles) in cases().iter().enumerate() {
            for tail in [1e-12, 1e-6] {
                let law = law(profiles, tail);
                assert_eq!(law.sides.len(), profiles.len());
                let borrowed: Vec<&dyn Profile> = profiles.iter().map(|profile| &**profile).collect();
                let size = scale(&borrowed);
                for (side, profile) in law.sides.iter().zip(profiles) {
                    let infinite = profile.delta_upper(f64::INFINITY);
                    assert!(side.infinite >= infinite && side.infinite <= (infinite + 1.01 * tail) * (1.0 + 1e-9));
                    assert!(side.atoms.windows(2).all(|pair| pair[0].0 < pair[1].0));
                    assert!(oracle::alone(side, -800.0) >= 1.0);
                    for k in -600..=600 {
                        let eps = f64::from(k) / 100.0 * size;
                        let (got, least) = (oracle::alone(side, eps), profile.delta_lower(eps));
                        assert!(got >= least * (1.0 - 1e-12), "{number} {eps}: {got:e} {least:e}");
                        // Straight lines over a twentieth of the size, and the tail.
                        let room = 1.5e-3 * size + 2.0 * tail + 1e-11;
                        let most = profile.delta_upper(eps) + room;
                        assert!(got <= most, "{number} {eps}: {got:e} {most:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn directions_that_fit_each_other_badly_are_both_kept() {
        // Bounds of one mechanism, each valid where it is asked: below zero the other direction decides.
        let budget = |epsilon, delta| -> Box<dyn Profile> { Box::new(BudgetPair::new(epsilon, delta).unwrap()) };
        for profiles in [
            [budget(0.3, 1e-3), budget(0.1, 0.0)],
            [budget(0.01, 0.1), normal(0.5)],
            [normal(1e-3), budget(1.0, 1e-6)],
            [normal(0.3), gamma(1.5, 0.2, false)],
        ] {
            let law = law(&profiles, 1e-9);
            for direction in 0..2 {
                let (side, other) = (&law.sides[direction], &profiles[1 - direction]);
                for eps in (0..400).map(|k| f64::from(k) / 100.0) {
                    let (here, below) = (oracle::alone(side, eps), oracle::alone(side, -eps));
                    assert!(here >= profiles[direction].delta_lower(eps) * (1.0 - 1e-12));
                    let least = -(-eps).exp_m1() + (-eps).exp() * other.delta_lower(eps);
                    assert!(below >= least * (1.0 - 1e-12), "{direction} {eps}: {below} {least}");
                }
            }
        }
    }

    #[test]
    fn lines_through_masses_are_where_they_were_wanted_and_not_below() {
        for profiles in cases() {
            let borrowed: Vec<&dyn Profile> = profiles.iter().map(|profile| &**profile).collect();
            let knots = knots(&borrowed, 1e-9).unwrap();
            let at_zero = profiles[0].delta_upper(0.0);
            let line = Polyline::above(borrowed[0], &knots, at_zero).unwrap();
            let side = Side { atoms: line.atoms().collect(), infinite: line.infinite };
            for (loss, value) in line.losses.iter().zip(line.recomputed()) {
                let exact = oracle::alone(&side, *loss);
                assert!((value - exact).abs() <= 1e-11 * exact, "{value} {exact}");
                let wanted = if *loss == 0.0 { at_zero } else { borrowed[0].delta_upper(*loss) };
                assert!(value >= wanted && value <= wanted * (1.0 + 1e-8), "{loss} {value:e} {wanted:e}");
            }
            assert_eq!(line.at_zero, line.recomputed()[0]);
            let back: Vec<(f64, f64)> = line.mirrored().collect();
            assert!(back.iter().zip(line.atoms()).all(|(b, a)| b.0 == -a.0 && b.1 == a.1 * (-a.0).exp()));
        }
    }

    /// A curve that says too much here and there, or nothing.
    struct Careless(Box<dyn Profile>);

    impl Profile for Careless {
        fn delta_upper(&self, epsilon: f64) -> f64 {
            let exact = self.0.delta_upper(epsilon);
            match (epsilon * 1000.0) as u64 % 7 {
                0 if epsilon > 0.0 => f64::NAN,
                1 => (3.0 * exact).min(1.0),
                _ => exact,
            }
        }
        fn delta_lower(&self, epsilon: f64) -> f64 {
            self.0.delta_lower(epsilon)
        }
        fn epsilon_upper(&self, delta: f64) -> f64 {
            self.0.epsilon_upper(delta)
        }
    }

    #[test]
    fn what_a_curve_says_is_used_where_it_helps() {
        let (fine, careless) = (normal(0.3), Careless(normal(0.3)));
        let law = Law::new(&[&careless], 1e-9).unwrap();
        for k in -300..=300 {
            let eps = f64::from(k) / 100.0;
            let (got, least) = (oracle::alone(&law.sides[0], eps), fine.delta_lower(eps));
            assert!(got >= least * (1.0 - 1e-15), "{eps}: {got} {least}");
            assert!(got <= fine.delta_upper(eps) + 0.02, "{eps}: {got} {least}");
        }
    }

    #[test]
    fn the_size_is_that_of_a_normal_law() {
        for mu in [1e-6, 0.01, 0.1] {
            let (one, two) = (normal(mu), normal(0.5 * mu));
            for profiles in [vec![&*one], vec![&*two, &*one], vec![&*one, &*two]] {
                assert!((scale(&profiles) / mu - 1.0).abs() < mu * mu / 20.0 + 1e-9);
            }
        }
        assert_eq!(scale(&[&*normal(40.0)]), 0.8 * (2.0 * std::f64::consts::PI).sqrt());
    }

    #[test]
    fn cumulants_are_those_of_jumps_whatever_they_weigh() {
        for (expected, height) in [(0.3, 0.7), (4.0, 0.1)] {
            for weight in [1.0, 0.5] {
                let mut side = oracle::jumps(expected, height, true);
                side.atoms.iter_mut().for_each(|atom| atom.1 *= weight);
                for (got, power) in side.cumulants().into_iter().zip(2..) {
                    let exact = expected * f64::powi(height, power);
                    assert!((got / exact - 1.0).abs() < 1e-9, "{power}: {got} {exact}");
                }
            }
        }
    }

    #[test]
    fn losses_end_where_little_enough_is_left() {
        for (profile, exact) in [
            (Box::new(BudgetPair::new(0.3, 1e-5).unwrap()) as Box<dyn Profile>, 0.3),
            (Box::new(BudgetPair::new(2.0, 0.0).unwrap()), 2.0),
            (table(&[-0.2, 0.1], &[0.5, 0.5], 0.0), 0.1),
        ] {
            assert!((end(&*profile, 1e-9) / exact - 1.0).abs() < 1e-6, "{}", end(&*profile, 1e-9));
        }
        for (mu, tail) in [(0.1, 1e-12), (1.0, 1e-6)] {
            let end = end(&*normal(mu), tail);
            assert!(normal(mu).delta_upper(end) <= tail * (1.0 + 1e-9) && normal(mu).delta_lower(0.99 * end) > tail);
        }
        // Where no epsilon is told: the first power of two with so little, or with no more than there ever is.
        let rest = normal(0.5).delta_upper(2.0);
        assert_eq!(coarse_end(&*normal(0.5), rest * 1.01), 2.0);
        assert_eq!(coarse_end(&*normal(0.5), rest * 0.99), 4.0);
        assert_eq!(coarse_end(&*table(&[0.9], &[0.5], 0.01), 1e-9), 1.0);
        assert_eq!(coarse_end(&*table(&[0.3], &[0.5], 0.01), 1e-9), 0.5);
    }

    #[test]
    fn knots_are_as_close_as_the_size_asks_for() {
        for profiles in cases() {
            let borrowed: Vec<&dyn Profile> = profiles.iter().map(|profile| &**profile).collect();
            let knots = knots(&borrowed, 1e-9).unwrap();
            let (fine, last) = (scale(&borrowed) / FINE, *knots.last().unwrap());
            assert_eq!(knots[0], 0.0);
            for pair in knots.windows(2) {
                let gap = pair[1] - pair[0];
                assert!(gap >= 1e-6 * fine && gap <= fine.max(pair[0] / COARSE) * (1.0 + 1e-6));
            }
            for profile in &borrowed {
                let kinks = profile.kinks();
                let kinks = kinks.iter().map(|loss| loss.abs()).filter(|loss| *loss > 0.0 && *loss < last);
                for kink in kinks {
                    assert!(knots.iter().any(|knot| (knot - kink).abs() < 1e-6 * fine), "{kink}");
                }
            }
        }
        assert_eq!(knots(&[&*table(&[0.0], &[0.99], 0.01)], 1e-9).unwrap(), [0.0]);
        // A loss far out beside a size of nothing: no table of a sensible size holds both.
        let far = table(&[-1e-50, 500.0], &[1.0, 1e-50], 0.0);
        assert!(matches!(knots(&[&*far], 1e-60), Err(Error::Numerical { .. })));
    }
}
