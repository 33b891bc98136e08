//! Parameters of the Dirichlet mechanism for a wanted (epsilon, delta): the largest scale at a prior, the smallest prior at
//! a scale, and the prior with the smallest expected loss.
//!
//! A guide in plain doubles (`guide`) says where to look; the last step solves on the exact profiles, and what it
//! returns was checked there: the guarantee does not depend on the guide. Nothing here sees data.

use super::dirichlet::{floor_parameter, worst_profiles};
use super::expected_loss::{Group, Loss, expected_loss};
use super::guide;
use crate::accounting::{Profile, TwoCategories};
use crate::guarantee::{Adjacency, ONE_PART_PRIOR, sampling_error};
use crate::rounding::multiple_up;
use crate::sensitivity::Person;
use crate::{Error, Result};

/// ln(delta) is solved for to this width, from below, and not closer than the margin: the curve that is read backwards
/// must not land above epsilon for the sake of a last bit.
const WIDTH: f64 = 2e-9;
const MARGIN: f64 = 1e-11;
/// Evaluations of the exact profiles after which a search gives up; five are usual.
const MAX_EVALUATIONS: u32 = 60;
/// Scales and smallest parameters are searched here, where the pairs are accurate.
const PARAMETER_RANGE: (f64, f64) = (1e-8, 1e11);
/// Priors are searched here, on a grid with this many points and then around the best of them.
const PRIOR_RANGE: (f64, f64) = (1e-2, 1e6);
const N_PRIORS: u32 = 13;
const N_REFINEMENTS: u32 = 9;

/// The budget, and who is hidden from whom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Wanted epsilon.
    pub epsilon: f64,
    /// Wanted delta.
    pub delta: f64,
    /// Who is hidden, with all rows.
    pub person: Person,
    /// Public lower bound of every count.
    pub floor: f64,
    /// Public total of two categories, which fixes both counts. Priors are then those of the two, in any order.
    pub pair_total: Option<u64>,
}

/// What is to be small on average: a loss at a public total, about public histograms.
#[derive(Debug, Clone)]
pub struct Objective {
    /// The loss.
    pub loss: Loss,
    /// Number of categories.
    pub dimension: usize,
    /// Public total, or a public guess of it.
    pub total: f64,
    /// Flat rows of `dimension` probabilities, to be averaged over; nothing stands for the worst case over histograms
    /// spread evenly over 1, 2, 4, ... and all categories.
    pub reference: Option<Vec<f64>>,
}

impl Budget {
    /// The largest scale whose guarantee is within the budget, for smallest priors `a` <= `b`.
    ///
    /// # Errors
    /// When a parameter is out of range, or no scale meets the budget.
    pub fn largest_scale(&self, a: f64, b: f64) -> Result<f64> {
        self.check()?;
        let (a, b) = self.worst_priors(a, b)?;
        let start = self.rough_scale(a, b, None)?;
        self.solve("scale", 1.0, start, |scale| self.rough_excess(a, b, scale), |scale| self.excess(a, b, scale))
    }

    /// The smallest prior, the same for all categories, whose guarantee at `scale` is within the budget.
    ///
    /// # Errors
    /// As [`Budget::largest_scale`].
    pub fn smallest_prior(&self, scale: f64) -> Result<f64> {
        self.check()?;
        let target = self.log_target()?;
        let rough = |prior: f64| self.rough_excess(prior, prior, scale);
        // The loss has variance of about scale^2 l2^2 / prior.
        let start = (scale * scale * self.l2_squared()? * self.gaussian_precision()).max(1e-3);
        let start = secant(|log_prior| rough(log_prior.exp()) - target, start.ln(), -1.0).exp();
        let prior = self.solve("prior", -1.0, start, rough, |prior| self.excess(prior, prior, scale))?;
        Ok(prior.max(self.least_prior()))
    }

    /// The prior, the same for all categories, with the smallest expected loss when each prior gets its largest
    /// scale; and that scale.
    ///
    /// # Errors
    /// As [`Budget::largest_scale`], and for an objective whose total or reference is not valid.
    pub fn best_prior(&self, objective: &Objective) -> Result<(f64, f64)> {
        self.check()?;
        let histograms = objective.histograms(self.floor)?;
        let mut failure = None;
        let mut last = None;
        let mut loss_at = |log_prior: f64| {
            let prior = log_prior.exp();
            // The scale grows between linearly and as the root of the prior.
            let start = last.map(|(x, log_scale)| log_scale + 0.75 * (log_prior - x));
            match self.rough_scale(prior, prior, start) {
                // The exact search must find the scale again.
                Ok(scale) if !(1.1 * PARAMETER_RANGE.0..0.9 * PARAMETER_RANGE.1).contains(&scale) => f64::INFINITY,
                Ok(scale) => {
                    last = Some((log_prior, scale.ln()));
                    objective.evaluate(&histograms, prior, scale)
                }
                Err(error) => {
                    failure = Some(error);
                    f64::INFINITY
                }
            }
        };
        let (low, high) = (PRIOR_RANGE.0.ln(), PRIOR_RANGE.1.ln());
        let step = (high - low) / f64::from(N_PRIORS - 1);
        let grid = (0..N_PRIORS).map(|k| low + f64::from(k) * step);
        let best = grid.map(|x| (loss_at(x), x)).min_by(|x, y| x.0.total_cmp(&y.0));
        let Some((_, best)) = best.filter(|(loss, _)| loss.is_finite()) else {
            return Err(failure.unwrap_or_else(|| self.out_of_range("scale")));
        };
        let prior = golden_section(loss_at, (best - step).max(low), (best + step).min(high)).exp();
        let prior = prior.max(self.least_prior());
        Ok((prior, self.largest_scale(prior, prior)?))
    }

    /// Whether these parameters are within the budget, by the exact profiles.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn admits(&self, a: f64, b: f64, scale: f64) -> Result<bool> {
        self.check()?;
        let (a, b) = self.worst_priors(a, b)?;
        Ok(self.excess(a, b, scale)? <= 0.0)
    }

    /// From which prior on a person's rows are the worst where they are all in one category: what is searched below is
    /// the law of one row at a multiple of the scale.
    fn least_prior(&self) -> f64 {
        if self.person.max_rows > 1 { ONE_PART_PRIOR } else { 0.0 }
    }

    /// The two smallest priors as the guarantee takes them: of persons with several rows it knows the smallest only.
    fn worst_priors(&self, a: f64, b: f64) -> Result<(f64, f64)> {
        if self.person.max_rows == 1 {
            return Ok((a, b));
        }
        if !(a >= self.least_prior()) {
            return Err(Error::parameter("prior", "be at least 1/2 to calibrate for persons with several rows", a));
        }
        Ok((a, a))
    }

    /// How far a person moves the parameter of a category.
    fn step(&self, scale: f64) -> f64 {
        multiple_up(self.person.max_rows, scale)
    }

    fn check(&self) -> Result<()> {
        if !(self.epsilon > 0.0 && self.epsilon.is_finite()) {
            return Err(Error::parameter("epsilon", "be positive and finite", self.epsilon));
        }
        if !(self.delta > 0.0 && self.delta < 1.0) {
            return Err(Error::parameter("delta", "lie strictly between 0 and 1", self.delta));
        }
        if !(self.floor >= 0.0 && self.floor.is_finite()) {
            return Err(Error::parameter("floor", "be non-negative and finite", self.floor));
        }
        if self.pair_total.is_some() && self.person.adjacency != Adjacency::Replace {
            return Err(Error::parameter(
                "adjacency",
                "be 'replace' for a total that all data sets share",
                "add_remove",
            ));
        }
        if self.pair_total.is_some() && self.person.max_rows > 1 {
            let rule = "be 1 for a total that all data sets share";
            return Err(Error::parameter("max_rows", rule, self.person.max_rows));
        }
        self.sampling_error().map(drop)
    }

    /// What a release is off by: delta grows by (1 + e^epsilon) times it (theory B7).
    fn sampling_error(&self) -> Result<f64> {
        sampling_error(self.person, 1)
    }

    /// The epsilon to solve at: smaller than asked where (1 + e^epsilon) times the sampler's error would eat delta.
    fn effective_epsilon(&self) -> Result<f64> {
        let largest = (0.5 * self.delta / self.sampling_error()? - 1.0).ln();
        if largest.is_nan() || largest <= 0.0 {
            return Err(self.sampler_takes_all());
        }
        Ok(self.epsilon.min(largest))
    }

    /// What is left of delta for the ideal draw, and the epsilon to go with it.
    fn target(&self) -> Result<(f64, f64)> {
        let epsilon = self.effective_epsilon()?;
        let left = self.delta - (1.0 + epsilon.exp()) * self.sampling_error()?;
        if !(left > 0.0) {
            return Err(self.sampler_takes_all());
        }
        Ok((epsilon, left))
    }

    fn sampler_takes_all(&self) -> Error {
        let rule = "exceed (1 + e^epsilon) times the total variation bound of the sampler";
        Error::parameter("delta", rule, format!("{:e}", self.delta))
    }

    fn log_target(&self) -> Result<f64> {
        Ok(self.target()?.1.ln())
    }

    /// ln(delta of the ideal draw / what is left for it), from above.
    fn excess(&self, a: f64, b: f64, scale: f64) -> Result<f64> {
        let (epsilon, target) = self.target()?;
        let profiles: Vec<Box<dyn Profile>> = match self.pair_total {
            Some(total) => vec![Box::new(TwoCategories::new(a, b, scale, total, self.whole_floor())?)],
            None => {
                let [a, b] = [a, b].map(|prior| floor_parameter(prior, scale, self.floor));
                worst_profiles(self.person.adjacency, a, b, self.step(scale))?
            }
        };
        let delta = profiles.iter().map(|profile| profile.delta_upper(epsilon)).fold(0.0, f64::max);
        Ok((delta / target).ln())
    }

    fn rough_excess(&self, a: f64, b: f64, scale: f64) -> f64 {
        let epsilon = self.effective_epsilon().unwrap_or(self.epsilon);
        let log_delta = |x: f64, y: f64| {
            guide::log_delta(self.person.adjacency, a + scale * x, b + scale * y, self.step(scale), epsilon)
        };
        match self.pair_total {
            // One record moves, and all others are in one category or, but for the floor, in the other.
            Some(total) => {
                let few = self.whole_floor() as f64;
                let many = total as f64 - few - 1.0;
                log_delta(few, many).max(log_delta(many, few))
            }
            None => log_delta(self.floor, self.floor),
        }
    }

    /// The smallest count that is a whole number.
    fn whole_floor(&self) -> u64 {
        self.floor.ceil() as u64
    }

    /// How far a person moves the counts, for a start of the searches.
    fn l2_squared(&self) -> Result<f64> {
        Ok(self.person.moves(None, 1)?.l2_squared as f64)
    }

    /// z^2 / mu^2 ~ 1/mu^2 for the Gaussian of the same budget, where mu solves mu^2/2 + z mu = epsilon.
    fn gaussian_precision(&self) -> f64 {
        let z = (2.0 * -self.delta.ln()).sqrt();
        let mu = (z * z + 2.0 * self.epsilon).sqrt() - z;
        1.0 / (mu * mu)
    }

    fn rough_scale(&self, a: f64, b: f64, log_start: Option<f64>) -> Result<f64> {
        let target = self.log_target()?;
        let l2_squared = self.l2_squared()?;
        let log_start = log_start.unwrap_or_else(|| {
            let start = (a / (l2_squared * self.gaussian_precision())).sqrt();
            start.clamp(1e-12, 1e6 * a.max(1e-12)).ln()
        });
        Ok(secant(|log_scale| self.rough_excess(a, b, log_scale.exp()) - target, log_start, 1.0).exp())
    }

    /// A point next to the root of `excess`, on the private side: there it lies between -WIDTH and -MARGIN.
    ///
    /// `trend` is 1 when `excess` rises and -1 when it falls. `rough` is its shape, which gives the first slope; from
    /// the second point on it is a secant method, held inside the bracket once there is one.
    fn solve(
        &self,
        name: &'static str,
        trend: f64,
        start: f64,
        rough: impl Fn(f64) -> f64,
        excess: impl Fn(f64) -> Result<f64>,
    ) -> Result<f64> {
        const STEP: f64 = 0.02;
        let (smallest, largest) = PARAMETER_RANGE;
        // The guide may fail; then the search is long, not wrong.
        let mut x = if start.is_nan() { 1.0 } else { start.clamp(smallest, largest) };
        let mut elasticity = (rough(x * STEP.exp()) - rough(x)) / STEP * trend;
        if !(elasticity > 0.1) {
            elasticity = 0.1;
        }
        let (mut private, mut exposed, mut last): (Option<f64>, Option<f64>, Option<(f64, f64)>) = (None, None, None);
        for _ in 0..MAX_EVALUATIONS {
            let value = excess(x)?;
            if (-WIDTH..=-MARGIN).contains(&value) {
                return Ok(x);
            }
            if value < 0.0 {
                private = Some(x)
            } else {
                exposed = Some(x)
            }
            if let Some((old, old_value)) = last {
                let slope = (value - old_value) / (x / old).ln() * trend;
                if slope.is_finite() && slope > 0.0 {
                    elasticity = slope;
                }
            }
            last = Some((x, value));
            let aim = value + 0.5 * WIDTH;
            let mut next = x * (-trend * aim / elasticity).clamp(-2.0, 2.0).exp();
            if let (Some(private), Some(exposed)) = (private, exposed) {
                if (private / exposed - 1.0).abs() < 4.0 * f64::EPSILON {
                    return Ok(private);
                }
                if !(next > private.min(exposed) && next < private.max(exposed)) {
                    next = (private * exposed).sqrt();
                }
            }
            let clamped = next.clamp(smallest, largest);
            if clamped == x {
                break;
            }
            x = clamped;
        }
        Err(self.out_of_range(name))
    }

    fn out_of_range(&self, name: &'static str) -> Error {
        let rule = match name {
            "scale" => "allow a scale between 1e-8 and 1e11; change the prior, or epsilon and delta",
            _ => "allow a prior between 1e-8 and 1e11 at this scale; change the scale, or epsilon and delta",
        };
        Error::parameter("epsilon", rule, self.epsilon)
    }
}

impl Objective {
    /// The objective at a prior that all categories share, and a scale.
    ///
    /// # Errors
    /// When the total is not valid.
    pub fn expected_loss(&self, prior: f64, scale: f64) -> Result<f64> {
        Ok(self.evaluate(&self.histograms(0.0)?, prior, scale))
    }

    /// The histograms as groups of categories (the prior is filled in later).
    fn histograms(&self, floor: f64) -> Result<Vec<Vec<(f64, f64)>>> {
        if !(self.total > 0.0 && self.total.is_finite()) {
            return Err(Error::parameter("total", "be positive and finite", self.total));
        }
        let d = self.dimension as f64;
        let certain = floor / self.total; // every category's share that is certain
        if !(certain * d <= 1.0) {
            return Err(Error::parameter("total", "be at least dimension * floor", self.total));
        }
        if let Some(reference) = &self.reference {
            return Ok(reference.chunks(self.dimension).map(|row| row.iter().map(|&p| (p, 1.0)).collect()).collect());
        }
        let free = 1.0 - certain * d;
        let spreads = std::iter::successors(Some(1.0), |k| Some(2.0 * k)).take_while(|&k| k < d).chain([d]);
        Ok(spreads.map(|k| vec![(certain + free / k, k), (certain, d - k)]).collect())
    }

    /// The average over a reference, or the worst case.
    fn evaluate(&self, histograms: &[Vec<(f64, f64)>], prior: f64, scale: f64) -> f64 {
        let losses = histograms.iter().map(|histogram| {
            let groups: Vec<Group> =
                histogram.iter().map(|&(probability, size)| Group { probability, prior, size }).collect();
            expected_loss(self.loss, &groups, scale * self.total)
        });
        if self.reference.is_some() {
            losses.sum::<f64>() / histograms.len() as f64
        } else {
            losses.fold(0.0, f64::max)
        }
    }
}

/// The root of a function whose slope has the sign of `trend`, roughly: good enough for a start.
fn secant(f: impl Fn(f64) -> f64, start: f64, trend: f64) -> f64 {
    let (mut x, mut value) = (start, f(start));
    let mut step = -0.1 * trend * value.signum();
    for _ in 0..40 {
        let next = x + step;
        let next_value = f(next);
        let slope = (next_value - value) / step;
        (x, value) = (next, next_value);
        // A slope of the wrong sign says that the function is flat here: walk on.
        step = if slope * trend > 0.0 { (-value / slope).clamp(-1.5, 1.5) } else { -1.5 * trend * value.signum() };
        if step.abs() < 3e-3 {
            break;
        }
    }
    x + step
}

/// The minimiser of a unimodal function between `low` and `high`.
fn golden_section(mut f: impl FnMut(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (f(left), f(right));
    for _ in 0..N_REFINEMENTS {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = f(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = f(right);
        }
    }
    0.5 * (low + high)
}
