//! The profile of several releases together, as bounds from both sides.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::convolve::{Side, Tail, compose};
use super::discretise::{optimistic, pessimistic};
use super::outcomes::Outcomes;
use super::plan::{Aim, Part, Sketch, few_digits, short_step};
use super::pmf::Pmf;
use crate::accounting::renyi::{Conversion, RenyiProfile};
use crate::accounting::{Profile, inverse};
use crate::once::kept;
use crate::rounding::{any_of_down, any_of_up, count_up, exp_m1_up, multiple_up, quotient_down, total_up};
use crate::{Error, Result, interrupt};

/// Largest grid that is used without being asked for a tolerance.
const USUAL_POINTS: usize = 1 << 20;
/// Largest grid ever.
const MOST_POINTS: usize = 1 << 23;
/// Tails that are remembered for further questions.
const REMEMBERED: usize = 12;
/// Bounds that are no profiles of pairs are looked at in every so many knots.
const THINNING: usize = 8;
/// Tilts, in units of one over the deviation, and means, in units of the deviation, that are as good as the same.
const SAME_TILT: f64 = 0.05;
const SAME_MEAN: f64 = 0.3;
/// From so many releases on what the steps of a grid add may be more than what Renyi divergences lose.
const MANY: u64 = 1 << 24;
/// Share of a bound that may be convolution error before another tilt is tried.
const NOISE: f64 = 1e-7;

/// Profiles composed with each other, each as often as its number says; itself a profile.
///
/// All of them must be profiles of pairs in the same direction: of x against x' for one ordered pair of neighbours.
/// Where the outcomes are few every answer is a sum over them, else it is found on a grid that is chosen for the question;
/// both hold in floating point. A step of the grid is added for each part: of very many parts the sum of their Renyi
/// divergences is asked too, and the better bound counts.
pub struct Composition {
    parts: Vec<(Arc<dyn Profile>, u64)>,
    tails: Mutex<Vec<Tail>>,
    sketches: Mutex<Vec<(i64, Arc<Sketch>)>>,
    tops: OnceLock<Vec<f64>>,
    /// The composition outcome by outcome, if they are few.
    outcomes: OnceLock<Option<Outcomes>>,
    /// The sum of the Renyi divergences, where the parts are [`MANY`].
    divergences: Option<RenyiProfile>,
}

/// What is asked.
#[derive(Clone, Copy)]
enum Question {
    Epsilon { delta: f64 },
    Delta { epsilon: f64 },
}

impl Side {
    /// What holds without looking.
    fn nothing_known(self, question: Question) -> f64 {
        match (self, question) {
            (Self::Upper, Question::Epsilon { .. }) => f64::INFINITY,
            (Self::Upper, Question::Delta { .. }) => 1.0,
            (Self::Lower, _) => 0.0,
        }
    }

    /// The tighter of two bounds.
    fn better(self, a: f64, b: f64) -> f64 {
        if self == Self::Upper { a.min(b) } else { a.max(b) }
    }
}

impl Composition {
    /// Composes `parts`; the same profile given several times counts as often.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if there are no parts, or more than 2^40 releases in all.
    pub fn new(parts: impl IntoIterator<Item = (Arc<dyn Profile>, u64)>) -> Result<Self> {
        let mut merged: Vec<(Arc<dyn Profile>, u64)> = Vec::new();
        let mut count = 0_u64;
        for (profile, times) in parts.into_iter().filter(|part| part.1 > 0) {
            count = count.saturating_add(times);
            match merged.iter_mut().find(|known| Arc::ptr_eq(&known.0, &profile)) {
                Some(known) => known.1 = known.1.saturating_add(times),
                None => merged.push((profile, times)),
            }
        }
        if merged.is_empty() || count > 1 << 40 {
            return Err(Error::parameter("count", "be between 1 and 2^40 releases in all", count));
        }
        let divergences = (count >= MANY).then(|| RenyiProfile::composed(merged.clone(), Conversion::Optimal));
        Ok(Self {
            parts: merged,
            divergences,
            tails: Mutex::default(),
            sketches: Mutex::default(),
            tops: OnceLock::new(),
            outcomes: OnceLock::new(),
        })
    }

    /// The largest finite loss of each part; infinite where there is none.
    fn tops(&self) -> &[f64] {
        kept::<Vec<f64>>(&self.tops, || {
            let top = |profile: &dyn Profile| profile.epsilon_upper(profile.delta_upper(f64::INFINITY));
            self.parts
                .iter()
                .map(|(profile, _)| top(&**profile))
                .map(|t| if t >= 0.0 { t } else { f64::INFINITY })
                .collect()
        })
    }

    /// Basic composition: the sum of the largest finite losses, rounded up.
    fn largest_loss(&self) -> f64 {
        total_up(self.parts.iter().zip(self.tops()).map(|((_, times), &top)| multiple_up(*times, top)))
    }

    /// Basic composition at this delta: the sum of what the parts cost when each of them gets an equal share of it.
    fn basic(&self, delta: f64) -> f64 {
        let count: u64 = self.parts.iter().map(|part| part.1).sum();
        let share = quotient_down(delta, count_up(count));
        total_up(self.parts.iter().map(|(profile, times)| multiple_up(*times, profile.epsilon_upper(share))))
    }

    /// What no composition is below: the largest value of any part that is the profile of a pair.
    fn largest_part(&self, value: impl Fn(&dyn Profile) -> f64) -> f64 {
        let pairs = self.parts.iter().filter(|(profile, _)| profile.is_pair());
        pairs.map(|(profile, _)| value(&**profile)).fold(0.0, f64::max)
    }

    /// A step of few digits near `step`, in which the largest loss of the most frequent part is whole if it has one:
    /// where a profile has kinks it pays to have grid points there.
    fn grid_step(&self, step: f64) -> f64 {
        let step = short_step(step);
        let kinked = self.parts.iter().zip(self.tops()).filter(|(_, top)| top.is_finite() && **top >= step);
        match kinked.max_by_key(|((_, times), _)| *times) {
            Some((_, &top)) if top / step < 4e6 => few_digits(top / (top / step).ceil()),
            _ => step,
        }
    }

    /// The largest finite loss, if `delta` covers the mass at infinity.
    fn beyond(&self, delta: f64) -> f64 {
        if delta >= self.infinite(Side::Upper) { self.largest_loss() } else { f64::INFINITY }
    }

    fn delta(&self, epsilon: f64, side: Side) -> Result<f64> {
        if epsilon == f64::INFINITY {
            return Ok(self.infinite(side));
        }
        self.answer(Question::Delta { epsilon }, side, None)
    }

    /// The composed mass at infinity.
    fn infinite(&self, side: Side) -> f64 {
        match side {
            Side::Upper => any_of_up(self.parts.iter().map(|(p, times)| (p.delta_upper(f64::INFINITY), *times))),
            Side::Lower => any_of_down(self.parts.iter().map(|(p, times)| (p.delta_lower(f64::INFINITY), *times))),
        }
    }

    fn borrowed(&self) -> Vec<Part<'_>> {
        self.parts.iter().map(|(profile, times)| (&**profile, *times)).collect()
    }

    fn sketch(&self, log_delta: f64) -> Result<Arc<Sketch>> {
        // One sketch for each factor of about 400 in delta.
        let level = (log_delta / 6.0).floor() as i64;
        let known = || self.sketches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = known().iter().find(|entry| entry.0 == level) {
            return Ok(entry.1.clone());
        }
        // Not under the lock, which a child that is forked meanwhile would wait for; perhaps twice, to the same end.
        let sketch = Arc::new(Sketch::new(&self.borrowed(), level as f64 * 6.0)?);
        known().push((level, sketch.clone()));
        Ok(sketch)
    }

    fn aim(&self, question: Question) -> Result<(Arc<Sketch>, Aim)> {
        Ok(match question {
            Question::Epsilon { delta } => {
                let sketch = self.sketch(delta.ln())?;
                let aim = sketch.aim_delta(delta.ln());
                (sketch, aim)
            }
            Question::Delta { epsilon } => {
                let first = self.sketch(-35.0)?.aim_epsilon(epsilon);
                let sketch = self.sketch(first.log_delta.clamp(-700.0, -1.0))?;
                let aim = sketch.aim_epsilon(epsilon);
                (sketch, aim)
            }
        })
    }

    fn answer(&self, question: Question, side: Side, tolerance: Option<f64>) -> Result<f64> {
        match question {
            Question::Epsilon { delta } if !(delta > self.infinite(side)) => {
                return Ok(if side == Side::Upper || delta < self.infinite(side) { f64::INFINITY } else { 0.0 });
            }
            Question::Epsilon { delta } if delta >= 1.0 => return Ok(0.0),
            _ => {}
        }
        if let Some(outcomes) = kept(&self.outcomes, || Outcomes::of(&self.parts)) {
            return Ok(match (question, side) {
                (Question::Delta { epsilon }, Side::Upper) => outcomes.delta_upper(epsilon),
                (Question::Delta { epsilon }, Side::Lower) => outcomes.delta_lower(epsilon),
                (Question::Epsilon { delta }, Side::Upper) => outcomes.epsilon_upper(delta),
                (Question::Epsilon { delta }, Side::Lower) => outcomes.epsilon_lower(delta),
            });
        }
        let (mut best, aimed) = self.remembered(question, side);
        if tolerance.is_none() && aimed {
            return Ok(best);
        }
        let (sketch, mut aim) = self.aim(question)?;
        let size = match question {
            Question::Epsilon { .. } => aim.epsilon.abs(),
            Question::Delta { epsilon } => epsilon.abs().max(aim.deviation),
        };
        let wish = tolerance.unwrap_or((6e-7 * (size / 8.0).max(1.0)).min(6e-8 * size.max(0.1 * aim.deviation)));
        let most = if tolerance.is_some() { MOST_POINTS } else { USUAL_POINTS };
        let mut step = sketch.step(&aim, wish);
        if tolerance.is_none() {
            step = step.max(36.0 * aim.deviation / most as f64);
        }
        step = self.grid_step(step);
        for _ in 0..4 {
            let tail = match self.tail(&sketch, &aim, step, side, most) {
                Ok(tail) => tail,
                Err(Error::NotAffordable { .. }) if tolerance.is_none() => {
                    step = self.grid_step(2.0 * step);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let (value, at, good) = read(&tail, question);
            best = side.better(best, value);
            // A grid for a tolerance of its own would answer other questions worse, or at needless cost.
            interrupt::check()?;
            if tolerance.is_none() {
                let mut tails = self.tails.lock().unwrap_or_else(PoisonError::into_inner);
                if tails.len() >= REMEMBERED {
                    tails.remove(0);
                }
                tails.push(tail);
            }
            let next = sketch.aim_epsilon(at);
            // Nearly the same tilt would give the same again: what noise is left is that of so many parts.
            if good || (next.tilt - aim.tilt).abs() * aim.deviation <= SAME_TILT {
                break;
            }
            aim = next;
        }
        Ok(best)
    }

    /// The best answer of all tails that are known, and whether one of them was made for questions like this one.
    ///
    /// All of them hold, so the answers to a question and to its inverse, from the same tails, fit together.
    fn remembered(&self, question: Question, side: Side) -> (f64, bool) {
        let tails = self.tails.lock().unwrap_or_else(PoisonError::into_inner);
        let start = (side.nothing_known(question), false);
        tails.iter().filter(|tail| tail.side == side).fold(start, |(best, aimed), tail| {
            let (value, at, good) = read(tail, question);
            // The untilted tail is the one for everything on its left.
            let left = tail.tilt == 0.0 && at < tail.mean;
            let near = (at - tail.mean).abs() <= 1.5 * tail.deviation || left;
            // At the middle of a tail no other one has less noise.
            let middle = (at - tail.mean).abs() <= SAME_MEAN * tail.deviation || left;
            let asked = matches!(question, Question::Delta { .. });
            (side.better(best, value), aimed || (good && near) || (asked && middle))
        })
    }

    fn tail(&self, sketch: &Sketch, aim: &Aim, step: f64, side: Side, most: usize) -> Result<Tail> {
        let discretise = if side == Side::Upper { pessimistic } else { optimistic };
        let pmfs = self
            .parts
            .iter()
            .enumerate()
            .map(|(i, (profile, times))| {
                let mut knots = sketch.knots(i, aim, step);
                if !profile.is_pair() {
                    // Bounds from Renyi divergences are slow, and not sharp enough to deserve a fine grid.
                    knots = knots.chunks(THINNING).map(|chunk| chunk[0]).chain(knots.last().copied()).collect();
                    knots.dedup();
                }
                let part = (discretise(&**profile, step, &knots), *times);
                interrupt::check()?;
                Ok(part)
            })
            .collect::<Result<Vec<_>>>()?;
        let parts: Vec<(&Pmf, u64)> = pmfs.iter().map(|(pmf, times)| (pmf, *times)).collect();
        compose(&parts, aim.tilt, side, most)
    }
}

/// Answer of one tail, the loss at which it was read, and whether another tilt could do better.
fn read(tail: &Tail, question: Question) -> (f64, f64, bool) {
    let (low, high) = tail.range();
    match question {
        Question::Delta { epsilon } => {
            let value = tail.delta(epsilon);
            let good = epsilon <= low || epsilon < high && tail.noise_share(epsilon) < NOISE;
            (value.max(if tail.side == Side::Lower { -epsilon.exp_m1() } else { 0.0 }), epsilon, good)
        }
        Question::Epsilon { delta } => match tail.epsilon(delta) {
            Some(epsilon) => (epsilon.max(0.0), epsilon, tail.noise_share(epsilon) < NOISE),
            None if tail.delta(low) <= delta => {
                let value = if tail.side == Side::Upper { low.max(0.0) } else { 0.0 };
                (value, low, value == 0.0)
            }
            None => (if tail.side == Side::Upper { f64::INFINITY } else { high.max(0.0) }, high, false),
        },
    }
}

impl Profile for Composition {
    /// Not below any part; at and beyond the largest loss the mass at infinity.
    fn delta_upper(&self, epsilon: f64) -> f64 {
        if epsilon.is_nan() {
            return 1.0;
        }
        if epsilon >= self.largest_loss() {
            return self.infinite(Side::Upper);
        }
        let value = self.delta(epsilon, Side::Upper).unwrap_or(1.0);
        let value = self.divergences.as_ref().map_or(value, |sum| value.min(sum.delta_upper(epsilon)));
        value.max(self.largest_part(|profile| profile.delta_upper(epsilon))).min(1.0)
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        if epsilon.is_nan() {
            return 0.0;
        }
        self.delta(epsilon, Side::Lower).unwrap_or(0.0).max(-exp_m1_up(epsilon)).max(0.0)
    }

    /// Not below any part, not above the sum of the parts, and such that [`Self::delta_upper`] there is at most `delta`,
    /// which is looked at before it is returned.
    fn epsilon_upper(&self, delta: f64) -> f64 {
        if !(0.0..=1.0).contains(&delta) {
            return f64::INFINITY;
        }
        let found = self.answer(Question::Epsilon { delta }, Side::Upper, None).unwrap_or(f64::INFINITY);
        let least = self.largest_part(|profile| profile.epsilon_upper(delta));
        let found = self.divergences.as_ref().map_or(found, |sum| found.min(sum.epsilon_upper(delta)));
        let epsilon = found.min(self.beyond(delta)).max(least);
        if epsilon.is_infinite() {
            // No grid has an answer: what each part costs alone still adds up.
            return self.basic(delta).max(least);
        }
        inverse::settle(&|epsilon| self.delta_upper(epsilon), epsilon, delta)
    }

    fn epsilon_lower(&self, delta: f64) -> f64 {
        self.answer(Question::Epsilon { delta }, Side::Lower, None).unwrap_or(0.0)
    }

    /// Both bounds of epsilon at `delta`, on grids refined until they are at most `tolerance` apart.
    ///
    /// # Errors
    /// [`Error::NotAffordable`] if that takes a grid of more than 2^23 points; [`Error::Numerical`] if refinement does
    /// not bring the bounds together, because the profiles themselves are only known that well.
    fn epsilon_within(&self, delta: f64, tolerance: f64) -> Result<(f64, f64)> {
        if !(tolerance > 0.0) {
            return Err(Error::parameter("tolerance", "be positive", tolerance));
        }
        let question = Question::Epsilon { delta };
        let (mut upper_goal, mut lower_goal) = (0.25 * tolerance, 0.25 * tolerance);
        let mut upper = self.answer(question, Side::Upper, Some(upper_goal))?.min(self.beyond(delta));
        let mut before = f64::INFINITY;
        for _ in 0..10 {
            let lower = self.answer(question, Side::Lower, Some(lower_goal))?;
            let gap = upper - lower;
            if gap <= tolerance || (upper.is_infinite() && lower.is_infinite()) {
                return Ok((lower, upper));
            }
            if upper.is_infinite() {
                // Mass that no finite grid holds: a finer one helps once or never.
                if before.is_nan() {
                    break;
                }
                before = f64::NAN;
                upper = self.answer(question, Side::Upper, Some(0.25 * upper_goal))?.min(self.beyond(delta));
                continue;
            }
            // The lower bound converges more slowly where the profile has kinks; if it does not help, the upper one is due.
            lower_goal *= (0.7 * tolerance / gap).clamp(0.05, 0.5);
            if gap > 0.8 * before {
                upper_goal *= 0.25;
                upper = self.answer(question, Side::Upper, Some(upper_goal))?.min(self.beyond(delta));
            }
            before = gap;
        }
        Err(Error::numerical("epsilon", format!("the bounds stay more than the tolerance of {tolerance} apart")))
    }

    /// Renyi divergences of independent pairs add up.
    fn renyi_upper(&self, order: f64) -> f64 {
        total_up(self.parts.iter().map(|(profile, times)| multiple_up(*times, profile.renyi_upper(order))))
    }

    /// Squared distances add up.
    fn gaussian_square(&self) -> Option<f64> {
        let squares = self.parts.iter().map(|(profile, times)| Some(multiple_up(*times, profile.gaussian_square()?)));
        squares.collect::<Option<Vec<f64>>>().map(total_up)
    }

    fn is_pair(&self) -> bool {
        self.parts.iter().all(|(profile, _)| profile.is_pair())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{BudgetPair, GaussianPair, LaplacePair};

    fn part(profile: impl Profile + 'static, times: u64) -> (Arc<dyn Profile>, u64) {
        (Arc::new(profile), times)
    }

    #[test]
    fn a_part_of_which_only_a_bound_is_known_adds_nothing_from_below() {
        // It may be no release at all: the composition may be no more than what stands beside it.
        for (mu, scale, times) in
            [(0.5, 0.4, 2), (1.5, 0.7, 3), (0.05, 0.2, 9), (4.0, 0.01, 2), (20.0, 0.01, 2), (20.0, 1.0, 2)]
        {
            let bound = RenyiProfile::new(Arc::new(move |order: f64| 0.5 * order * mu * mu), Conversion::Tangent);
            let laplace: Arc<dyn Profile> = Arc::new(LaplacePair::new(scale).unwrap());
            let all = Composition::new([part(bound, 1), (laplace.clone(), times)]).unwrap();
            let known = Composition::new([(laplace, times)]).unwrap();
            for epsilon in [-1.0, -0.3, 0.0, 0.1, 0.5, 1.0, 1.5] {
                let (lower, most) = (all.delta_lower(epsilon), known.delta_upper(epsilon));
                assert!(lower <= most * (1.0 + 1e-12), "{mu} {scale} {times} {epsilon}: {lower:e} {most:e}");
            }
            for delta in [0.3, 1e-2, 1e-6] {
                let (lower, most) = (all.epsilon_lower(delta), known.epsilon_upper(delta));
                assert!(lower <= most * (1.0 + 1e-12), "{mu} {scale} {times} {delta}: {lower} {most}");
            }
        }
    }

    #[test]
    fn divergences_and_squared_distances_add_up() {
        let all =
            Composition::new([part(GaussianPair::new(0.5).unwrap(), 3), part(GaussianPair::new(2.0).unwrap(), 2)]);
        let all = all.unwrap();
        let square = 3.0 * 0.25 + 2.0 * 4.0;
        let found = all.gaussian_square().unwrap();
        assert!(found >= square && found <= square * (1.0 + 1e-14), "{found}");
        for order in [1.5, 3.0, 20.0] {
            let (found, exact) = (all.renyi_upper(order), 0.5 * order * square);
            assert!(found >= exact && found <= exact * (1.0 + 1e-10), "{order}: {found} {exact}");
        }
        let mixed = [part(GaussianPair::new(0.5).unwrap(), 1), part(LaplacePair::new(1.0).unwrap(), 1)];
        let mixed = Composition::new(mixed).unwrap();
        assert!(mixed.gaussian_square().is_none() && mixed.is_pair() && all.is_pair());
        let bound = RenyiProfile::new(Arc::new(|order: f64| order), Conversion::Tangent);
        assert!(!Composition::new([part(GaussianPair::new(0.5).unwrap(), 1), part(bound, 1)]).unwrap().is_pair());
    }

    #[test]
    fn what_was_asked_before_makes_no_answer_false() {
        // Tails that were made for other questions are read too, far from where they were aimed at.
        let parts = || {
            let gaussian: Arc<dyn Profile> = Arc::new(GaussianPair::new(0.3).unwrap());
            let laplace: Arc<dyn Profile> = Arc::new(LaplacePair::new(0.5).unwrap());
            Composition::new([(gaussian, 4), (laplace, 25)]).unwrap()
        };
        let deltas = [1e-40, 1e-12, 1e-3, 0.05, 0.3, 0.7];
        let fresh = deltas.map(|delta| (parts().epsilon_lower(delta), parts().epsilon_upper(delta)));
        for backwards in [false, true] {
            let all = parts();
            for i in (0..deltas.len()).map(|i| if backwards { deltas.len() - 1 - i } else { i }) {
                let (least, most) = fresh[i];
                let (lower, upper) = (all.epsilon_lower(deltas[i]), all.epsilon_upper(deltas[i]));
                let room = 1e-12 * (1.0 + most);
                assert!(lower <= most + room && upper >= least - room, "{}: {lower} {upper} {least} {most}", deltas[i]);
                let (below, above) = all.epsilon_within(deltas[i], 0.05).unwrap();
                assert!(below <= most + room && above >= least - room && above - below <= 0.05, "{below} {above}");
                for epsilon in [0.5 * least, least, 2.0 * most] {
                    let (below, above) = (all.delta_lower(epsilon), all.delta_upper(epsilon));
                    assert!(below <= above * (1.0 + 1e-12), "{epsilon}: {below:e} {above:e}");
                    assert!(epsilon < most || below <= deltas[i] * (1.0 + 1e-12), "{epsilon}: {below:e}");
                    assert!(epsilon > least || above >= deltas[i] * (1.0 - 1e-12), "{epsilon}: {above:e}");
                }
            }
        }
    }

    #[test]
    fn at_the_mass_at_infinity_the_largest_loss_is_enough_and_at_one_nothing_is_asked() {
        for (other, times) in [(None, 2), (Some(0.7), 2), (Some(0.7), 40)] {
            let mut parts = vec![part(BudgetPair::new(0.5, 0.01).unwrap(), times)];
            parts.extend(other.map(|scale| part(LaplacePair::new(scale).unwrap(), 3)));
            let all = Composition::new(parts).unwrap();
            let most = 0.5 * times as f64 + other.map_or(0.0, |scale| 3.0 * scale);
            let told = 1.0 - 0.99_f64.powi(times as i32);
            let (lower, upper) = (all.delta_lower(f64::INFINITY), all.delta_upper(f64::INFINITY));
            assert!(lower <= told * (1.0 + 1e-13) && upper >= told * (1.0 - 1e-13), "{lower:e} {told:e} {upper:e}");
            assert!(upper - lower < 1e-10 * told, "{lower:e} {upper:e}");
            for delta in [lower, upper, told] {
                assert!(all.epsilon_lower(delta) <= most * (1.0 + 1e-12) || delta < told * (1.0 - 1e-15), "{delta:e}");
            }
            assert!(all.epsilon_upper(upper) <= most * (1.0 + 1e-12) && all.epsilon_upper(0.99 * told).is_infinite());
            let (least, enough) = all.epsilon_within(upper, 0.1).unwrap();
            assert!(least <= enough && enough >= most * (1.0 - 1e-9), "{least} {enough}");
            assert_eq!((all.epsilon_upper(1.0), all.epsilon_lower(1.0)), (0.0, 0.0));
        }
        // Where nothing is told for certain, no delta at all is needed at the largest loss.
        for (profile, top) in [part(LaplacePair::new(0.7).unwrap(), 3), part(BudgetPair::new(0.5, 0.0).unwrap(), 2)]
            .into_iter()
            .zip([2.1, 1.0])
        {
            let all = Composition::new([profile]).unwrap();
            let (lower, upper) = (all.epsilon_lower(0.0), all.epsilon_upper(0.0));
            assert!(lower <= top * (1.0 + 1e-12) && upper >= top * (1.0 - 1e-12), "{lower} {upper}");
        }
    }
}
