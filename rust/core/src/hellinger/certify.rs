//! Certification: the exact privacy profile by exhaustion, over every data set and every ordered pair of neighbours.
//!
//! Rows of the law are streamed, never held together. With equal priors one data set of each orbit under permutations
//! stands for all. Bounds hold in floating point: every probability is within exp(+-sigma) of what a release draws
//! from, so the true delta(epsilon) is at most exp(sigma) times the computed delta(epsilon - 2 sigma).

use std::rc::Rc;

use super::exponent::Shape;
use super::kernel::{exp_negative, sum};
use super::law::mean_distance;
use super::{Enumeration, Family};
use crate::accounting::Profile;
use crate::tables::Map;
use crate::{Error, Result, interrupt, parallel};

/// Probabilities compared at most: about a quarter of an hour on two cores.
pub const CERTIFICATION_LIMIT: u128 = 200_000_000_000;

/// Points of a certified profile.
const PROFILE_POINTS: usize = 64;
/// Pairs of data sets taken over from a pass to the search: the worst by delta, and as many by loss.
const WORST_KEPT: usize = 12;
/// Data sets whose mean error steers the choice of the shape.
const ERROR_SAMPLE: usize = 64;
/// Rows that a worker keeps, in doubles.
const CACHE_LIMIT: usize = 1 << 22;
/// Passes that a search may take.
const MAX_ROUNDS: usize = 12;
/// Data sets are shared out in at least this many chunks, where there are as many, and of at most this many data sets:
/// small enough for threads to end together, large enough for neighbours to be found in the cache.
const CHUNKS: usize = 32;
const LARGEST_CHUNK: usize = 256;
/// Probabilities that a thread compares in half a millisecond.
const COMPARED_PER_THREAD: usize = 1 << 18;
/// Rounds after which the shape stays and only the factor is searched.
const FREE_ROUNDS: usize = 3;

const INSTEAD: &str = "use calibration=\"proved\", which needs no exhaustion";

/// The privacy that is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// The epsilon.
    pub epsilon: f64,
    /// The delta; 0 for pure differential privacy.
    pub delta: f64,
}

/// What exhaustion found for one exponent.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The inverse sensitivity that the exponent follows.
    pub shape: Shape,
    /// The factor of the inverse sensitivity.
    pub factor: f64,
    /// An upper bound of the privacy loss of every output: the mechanism is loss-DP.
    pub loss: f64,
    /// The mean over all data sets of the expected Hellinger distance.
    pub mean_distance: f64,
    /// Upper bounds of delta(epsilon).
    pub profile: CertifiedProfile,
}

/// Upper bounds of delta at increasing epsilons from 0 on; the last is the pure loss, where delta is 0.
#[derive(Debug, Clone, PartialEq)]
pub struct CertifiedProfile {
    epsilons: Vec<f64>,
    deltas: Vec<f64>,
}

/// One data set that stands for its orbit.
#[derive(Debug, Clone)]
struct Representative {
    point: Vec<u64>,
    orbit: f64,
}

/// The law at one data set.
struct Row {
    /// exponent * distance, the negative logarithm of the weight.
    losses: Vec<f64>,
    probabilities: Vec<f64>,
    log_total: f64,
}

/// What one pass over all pairs found.
#[derive(Debug, Clone, Default)]
struct Audit {
    delta: f64,
    loss: f64,
    /// Sum over data sets of their expected distance.
    distance: f64,
    worst: Vec<WorstPair>,
}

#[derive(Debug, Clone)]
struct WorstPair {
    pair: [Vec<u64>; 2],
    delta: f64,
    loss: f64,
}

/// A pair whose distances are held, to be tried with many exponents.
struct Held {
    pair: [Vec<u64>; 2],
    distances: [Vec<f64>; 2],
}

/// Told how many passes have begun and which share of the current one is done; returns whether to go on.
pub type Progress<'a> = dyn FnMut(usize, f64) -> bool + 'a;

/// The data sets of a family, ready for exhaustion.
pub struct Certifier {
    enumeration: Enumeration,
    representatives: Vec<Representative>,
    data_sets: f64,
}

impl Certifier {
    /// How many probabilities one pass compares, when that fits in 128 bits.
    pub fn cost(family: &Family) -> Option<u128> {
        let m = family.categories() as u128;
        let count = family.lattice().count()?;
        let pairs = count.checked_mul(m * (m - 1))?;
        let orbit = if family.exchangeable() { (1..=m.min(20)).product() } else { 1 };
        Some(pairs.checked_mul(count)? / orbit)
    }

    /// Prepares the data sets of a family.
    ///
    /// # Errors
    /// [`Error::NotAffordable`] when a pass would compare more than [`CERTIFICATION_LIMIT`] probabilities.
    pub fn new(family: &Family) -> Result<Self> {
        if Self::cost(family).is_none_or(|cost| cost > CERTIFICATION_LIMIT) {
            let cost = Self::cost(family).map_or("more than 10^38".to_owned(), |cost| cost.to_string());
            return Err(Error::NotAffordable {
                asked: format!("a certification that compares {cost} probabilities"),
                limit: CERTIFICATION_LIMIT.to_string(),
                instead: INSTEAD,
            });
        }
        let enumeration = Enumeration::tabulated(family)?;
        let lattice = family.lattice();
        let mut representatives = Vec::new();
        lattice.for_each(0..enumeration.len() as u128, |point| {
            if !family.exchangeable() {
                representatives.push(Representative { point: point.to_vec(), orbit: 1.0 });
            } else if point.windows(2).all(|pair| pair[0] >= pair[1]) {
                representatives.push(Representative { point: point.to_vec(), orbit: orbit_size(point) });
            }
        })?;
        Ok(Self { data_sets: enumeration.len() as f64, enumeration, representatives })
    }

    /// Certifies the exponent factor * w(x) as it is.
    ///
    /// # Errors
    /// [`Error::Numerical`] when stopped by `progress`.
    pub fn certify(&self, shape: Shape, factor: f64, progress: &mut Progress<'_>) -> Result<Certificate> {
        let audit = self.audit(shape, factor, f64::INFINITY, &mut |share| progress(1, share))?;
        self.finish(shape, factor, audit, f64::INFINITY, &mut |share| progress(2, share))
    }

    /// The best exponent among the shapes that reaches the goal, by its mean error over all data sets.
    ///
    /// Shapes and factors are compared on the pairs of data sets that were worst so far; what is returned has passed
    /// the exhaustion itself. Everything depends on (n, prior, goal) only.
    ///
    /// # Errors
    /// [`Error::Numerical`] when stopped by `progress`, or when no factor reaches the goal.
    pub fn search(&self, shapes: &[Shape], goal: Goal, progress: &mut Progress<'_>) -> Result<Certificate> {
        let family = self.enumeration.family();
        let mut shapes = shapes.to_vec();
        let Some(&first) = shapes.first() else {
            return Err(Error::parameter("shapes", "not be empty", "none"));
        };
        if family.n() == 0 {
            return self.certify(first, 1.0, progress);
        }
        let sample = self.error_sample();
        let mut factor = goal.epsilon;
        let mut held = Vec::new();
        let audit = self.audit(first, factor, goal.epsilon, &mut |share| progress(1, share))?;
        self.hold(&mut held, audit.worst);
        for round in 2..MAX_ROUNDS + 2 {
            let mut best: Option<(f64, Shape, f64)> = None;
            for &shape in &shapes {
                let tried = self.solve(&mut held, shape, goal, factor)?;
                let error = self.sampled_error(&sample, shape, tried);
                if best.is_none_or(|(least, ..)| error < least) {
                    best = Some((error, shape, tried));
                }
            }
            let Some((_, shape, found)) = best else { break };
            // Pairs beyond the held ones may be a little worse; late rounds leave them room.
            factor =
                if round > MAX_ROUNDS / 2 { found * (1.0 - 1e-3 * (round - MAX_ROUNDS / 2) as f64) } else { found };
            let audit = self.audit(shape, factor, goal.epsilon, &mut |share| progress(round, share))?;
            if reaches(&audit, goal) {
                return self.finish(shape, factor, audit, goal.epsilon, &mut |share| progress(round + 1, share));
            }
            if round > FREE_ROUNDS {
                shapes = vec![shape];
            }
            self.hold(&mut held, audit.worst);
        }
        Err(Error::numerical("certification", "no exponent passed within the rounds that are allowed"))
    }

    /// Adds the profile to an audit of the same exponent, which knows delta at `epsilon`.
    fn finish(
        &self,
        shape: Shape,
        factor: f64,
        audit: Audit,
        epsilon: f64,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Certificate> {
        let mut profile = self.profile(shape, factor, audit.loss, progress)?;
        profile.insert(epsilon, audit.delta);
        let mean_distance = audit.distance / self.data_sets;
        Ok(Certificate { shape, factor, loss: audit.loss, mean_distance, profile })
    }

    /// One pass over all pairs: the largest delta at epsilon and the largest loss, both rounded up.
    fn audit(&self, shape: Shape, factor: f64, epsilon: f64, progress: &mut dyn FnMut(f64) -> bool) -> Result<Audit> {
        let sigma = self.sigma(shape, factor);
        let t = (epsilon - 2.0 * sigma).exp();
        let audits = self.pass(
            |chunk| {
                let mut audit = Audit::default();
                let mut rows = RowCache::new(self, shape, factor);
                for representative in chunk {
                    interrupt::check()?;
                    let own = rows.get(&representative.point);
                    audit.distance += representative.orbit * own.mean_distance(rows.exponent(&representative.point));
                    for neighbour in self.neighbours(&representative.point) {
                        let other = rows.get(&neighbour);
                        let pair = [representative.point.clone(), neighbour];
                        audit.add(compare(pair, &own, &other, t), sigma);
                    }
                }
                audit.trim();
                Ok(audit)
            },
            progress,
        )?;
        let mut total = audits.into_iter().fold(Audit::default(), Audit::join);
        total.trim();
        Ok(total)
    }

    /// Bounds of delta at equally spaced epsilons up to the pure loss.
    fn profile(
        &self,
        shape: Shape,
        factor: f64,
        loss: f64,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> Result<CertifiedProfile> {
        let sigma = self.sigma(shape, factor);
        if loss < 1e3 * sigma {
            // Nearly no loss at all: the total variation of a loss-DP mechanism is at most tanh(loss/2).
            let loss = loss.max(sigma);
            return Ok(CertifiedProfile { epsilons: vec![0.0, loss], deltas: vec![0.5 * loss, 0.0] });
        }
        let step = loss / PROFILE_POINTS as f64;
        let tables = self.pass(
            |chunk| {
                let mut deltas = vec![0.0_f64; PROFILE_POINTS];
                let mut rows = RowCache::new(self, shape, factor);
                for representative in chunk {
                    interrupt::check()?;
                    let own = rows.get(&representative.point);
                    for neighbour in self.neighbours(&representative.point) {
                        profile_of_pair(&own, &rows.get(&neighbour), step, sigma, &mut deltas);
                    }
                }
                Ok(deltas)
            },
            progress,
        )?;
        let mut deltas = tables.into_iter().fold(vec![0.0_f64; PROFILE_POINTS], |mut most, table| {
            most.iter_mut().zip(table).for_each(|(most, delta)| *most = most.max(delta));
            most
        });
        let mut epsilons: Vec<f64> = (0..PROFILE_POINTS).map(|point| point as f64 * step).collect();
        deltas.iter_mut().for_each(|delta| *delta = (*delta * sigma.exp() * (1.0 + 1e-12)).min(1.0));
        epsilons.push(loss);
        deltas.push(0.0);
        Ok(CertifiedProfile { epsilons, deltas })
    }

    /// Runs `work` on chunks of the data sets in parallel, and reports progress between them.
    fn pass<T: Send>(
        &self,
        work: impl Fn(&[Representative]) -> Result<T> + Sync,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Vec<T>> {
        let stopped = || Error::numerical("certification", "stopped by its progress callback");
        let mut tell = |share| if progress(share) { Ok(()) } else { Err(stopped()) };
        let chunk = (self.representatives.len() / CHUNKS).clamp(1, LARGEST_CHUNK);
        let chunks = self.representatives.chunks(chunk);
        let n_chunks = chunks.len() as f64;
        let compared = Self::cost(self.enumeration.family()).and_then(|cost| usize::try_from(cost).ok());
        let threads = parallel::threads_for(compared.unwrap_or(usize::MAX), COMPARED_PER_THREAD);
        tell(0.0)?;
        parallel::map_reporting(chunks, threads, work, |done| tell(done as f64 / n_chunks))
    }

    /// The neighbours of a data set, one of each pair that permutations and reversal make.
    fn neighbours(&self, x: &[u64]) -> Vec<Vec<u64>> {
        let exchangeable = self.enumeration.family().exchangeable();
        let mut neighbours = Vec::new();
        for i in 0..x.len() {
            let i_repeats = exchangeable && i > 0 && x[i] == x[i - 1];
            if x[i] == 0 || i_repeats {
                continue;
            }
            for j in 0..x.len() {
                // Of equal counts the first stands for all, or the second where the first is taken.
                let j_repeats = exchangeable && j > 0 && x[j] == x[j - 1] && j != i + 1;
                if j == i || j_repeats {
                    continue;
                }
                let mut y = x.to_vec();
                y[i] -= 1;
                y[j] += 1;
                let mut canonical = y.clone();
                if exchangeable {
                    canonical.sort_unstable_by(|a, b| b.cmp(a));
                }
                if canonical.as_slice() >= x {
                    neighbours.push(y);
                }
            }
        }
        neighbours
    }

    /// Bound of the error of every logarithm of a probability, of the release and of the computation here.
    fn sigma(&self, shape: Shape, factor: f64) -> f64 {
        let largest = factor * self.enumeration.family().largest_inverse_of(shape);
        self.enumeration.family().rounding_at(largest) + 1e-15 * (1.0 + largest) + 1e-16 * self.data_sets
    }

    fn hold(&self, held: &mut Vec<Held>, worst: Vec<WorstPair>) {
        for WorstPair { pair, .. } in worst {
            if held.iter().all(|old| old.pair != pair) {
                let distances = [0, 1].map(|side: usize| self.enumeration.distances(&pair[side]));
                held.push(Held { pair, distances });
            }
        }
    }

    /// The largest factor at which the held pairs reach the goal, to 1e-4, by bisection; the safe end of the bracket.
    fn solve(&self, held: &mut [Held], shape: Shape, goal: Goal, start: f64) -> Result<f64> {
        let family = self.enumeration.family();
        let inverses: Vec<[f64; 2]> = held
            .iter()
            .map(|held| [0, 1].map(|side: usize| family.inverse_sensitivity(&held.pair[side], shape)))
            .collect();
        let mut order: Vec<usize> = (0..held.len()).collect();
        let mut passes = |factor: f64| {
            let sigma = self.sigma(shape, factor);
            let t = (goal.epsilon - 2.0 * sigma).exp();
            let failing = order.iter().position(|&index| {
                let [p, q] = [0, 1]
                    .map(|side: usize| Row::new(held[index].distances[side].clone(), factor * inverses[index][side]));
                let mut audit = Audit::default();
                audit.add(compare([Vec::new(), Vec::new()], &p, &q, t), sigma);
                !reaches(&audit, goal)
            });
            // The pair that failed is asked first the next time.
            if let Some(at) = failing {
                order[..=at].rotate_right(1);
            }
            failing.is_none()
        };
        let (mut low, mut high) = (start, start);
        for _ in 0..60 {
            if passes(low) {
                break;
            }
            high = low;
            low *= 0.7;
        }
        if low == start {
            for _ in 0..60 {
                high = low * 1.4;
                if !passes(high) {
                    break;
                }
                low = high;
            }
        }
        if !(low > start * 1e-8) {
            return Err(Error::numerical("certification", "no factor reaches the goal"));
        }
        while high > low * (1.0 + 1e-4) {
            let middle = (low * high).sqrt();
            if passes(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Some data sets, evenly spaced among all, with their distances.
    fn error_sample(&self) -> Vec<(&Representative, Vec<f64>)> {
        let stride = self.representatives.len().div_ceil(ERROR_SAMPLE).max(1);
        let picked = self.representatives.iter().skip(stride / 2).step_by(stride);
        picked.map(|representative| (representative, self.enumeration.distances(&representative.point))).collect()
    }

    /// The mean error over the sample, each data set with the size of its orbit.
    fn sampled_error(&self, sample: &[(&Representative, Vec<f64>)], shape: Shape, factor: f64) -> f64 {
        let terms = sample.iter().map(|(representative, distances)| {
            let exponent = factor * self.enumeration.family().inverse_sensitivity(&representative.point, shape);
            [representative.orbit, representative.orbit * mean_distance(distances, exponent)]
        });
        let [weight, error] = terms.fold([0.0; 2], |sum, term| [sum[0] + term[0], sum[1] + term[1]]);
        error / weight
    }
}

impl Row {
    fn new(distances: Vec<f64>, exponent: f64) -> Self {
        let mut losses = distances;
        losses.iter_mut().for_each(|distance| *distance *= exponent);
        let mut probabilities: Vec<f64> = losses.iter().map(|&loss| exp_negative(loss)).collect();
        let total = sum(probabilities.iter().copied());
        let scale = 1.0 / total;
        probabilities.iter_mut().for_each(|p| *p *= scale);
        Self { losses, probabilities, log_total: total.ln() }
    }

    fn mean_distance(&self, exponent: f64) -> f64 {
        if exponent > 0.0 {
            sum(self.probabilities.iter().zip(&self.losses).map(|(p, loss)| p * loss)) / exponent
        } else {
            0.0
        }
    }
}

impl Audit {
    fn add(&mut self, (mut found, deltas): (WorstPair, [f64; 2]), sigma: f64) {
        found.delta = deltas[0].max(deltas[1]) * sigma.exp() * (1.0 + 1e-12);
        found.loss += 2.0 * sigma;
        self.delta = self.delta.max(found.delta);
        self.loss = self.loss.max(found.loss);
        self.worst.push(found);
        if self.worst.len() > 64 * WORST_KEPT {
            self.trim();
        }
    }

    /// Keeps the pairs with the largest deltas and those with the largest losses.
    fn trim(&mut self) {
        let mut rest = std::mem::take(&mut self.worst);
        rest.sort_by(|a, b| b.delta.total_cmp(&a.delta).then(b.loss.total_cmp(&a.loss)));
        let mut by_loss = rest.split_off(rest.len().min(WORST_KEPT));
        by_loss.sort_by(|a, b| b.loss.total_cmp(&a.loss));
        by_loss.truncate(WORST_KEPT);
        rest.append(&mut by_loss);
        self.worst = rest;
    }

    fn join(mut self, other: Self) -> Self {
        self.delta = self.delta.max(other.delta);
        self.loss = self.loss.max(other.loss);
        self.distance += other.distance;
        self.worst.extend(other.worst);
        self
    }
}

/// Rows that neighbouring data sets share, within one worker.
struct RowCache<'a> {
    certifier: &'a Certifier,
    shape: Shape,
    factor: f64,
    rows: Map<Vec<u64>, Rc<Row>>,
}

impl<'a> RowCache<'a> {
    fn new(certifier: &'a Certifier, shape: Shape, factor: f64) -> Self {
        Self { certifier, shape, factor, rows: Map::default() }
    }

    fn exponent(&self, x: &[u64]) -> f64 {
        self.factor * self.certifier.enumeration.family().inverse_sensitivity(x, self.shape)
    }

    fn get(&mut self, x: &[u64]) -> Rc<Row> {
        if let Some(row) = self.rows.get(x) {
            return Rc::clone(row);
        }
        if (self.rows.len() + 1) * 2 * self.certifier.enumeration.len() > CACHE_LIMIT {
            self.rows.clear();
        }
        let row = Rc::new(Row::new(self.certifier.enumeration.distances(x), self.exponent(x)));
        self.rows.insert(x.to_vec(), Rc::clone(&row));
        row
    }
}

impl CertifiedProfile {
    /// A profile from its points, as they were stored.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless the epsilons increase from 0 and the deltas decrease from at most 1 to 0.
    pub fn from_points(epsilons: &[f64], deltas: &[f64]) -> Result<Self> {
        let increasing = epsilons.windows(2).all(|pair| pair[0] < pair[1]);
        let decreasing = deltas.windows(2).all(|pair| pair[0] >= pair[1]);
        let ends = epsilons.first() == Some(&0.0)
            && deltas.first().is_some_and(|&delta| delta <= 1.0)
            && deltas.last() == Some(&0.0);
        if epsilons.len() != deltas.len() || !increasing || !decreasing || !ends {
            return Err(Error::parameter(
                "profile",
                "hold increasing epsilons from 0 and deltas down to 0",
                "a broken table",
            ));
        }
        Ok(Self { epsilons: epsilons.to_vec(), deltas: deltas.to_vec() })
    }

    /// Adds a point where delta is known to be at most this; points outside the table add nothing.
    fn insert(&mut self, epsilon: f64, delta: f64) {
        let at = self.epsilons.partition_point(|&point| point < epsilon);
        if at == 0 || at == self.epsilons.len() {
            return;
        }
        if self.epsilons[at] > epsilon {
            let chord = self.chord(epsilon);
            self.epsilons.insert(at, epsilon);
            self.deltas.insert(at, chord);
        }
        // delta does not increase with epsilon.
        self.deltas[at..].iter_mut().for_each(|later| *later = later.min(delta));
    }

    /// The epsilons of the table.
    pub fn epsilons(&self) -> &[f64] {
        &self.epsilons
    }

    /// The bounds of delta there.
    pub fn deltas(&self) -> &[f64] {
        &self.deltas
    }

    /// The table read with chords in exp(epsilon), of which delta is a convex function; for epsilon >= 0.
    fn chord(&self, epsilon: f64) -> f64 {
        let next = self.epsilons.partition_point(|&point| point <= epsilon);
        if next == self.epsilons.len() {
            return 0.0;
        }
        let (left, right) = (self.epsilons[next - 1], self.epsilons[next]);
        // Distances in exp(epsilon) from the left, scaled by exp(-left).
        let share = (epsilon - left).exp_m1() / (right - left).exp_m1();
        let (from, to) = (self.deltas[next - 1], self.deltas[next]);
        ((from + (to - from) * share) * (1.0 + 1e-12)).min(from)
    }
}

impl Profile for CertifiedProfile {
    /// Both orders of every pair were looked at, so delta(-e) = 1 - exp(-e) (1 - delta(e)).
    fn delta_upper(&self, epsilon: f64) -> f64 {
        if epsilon >= 0.0 {
            self.chord(epsilon)
        } else {
            (1.0 - epsilon.exp() * (1.0 - self.chord(-epsilon)) + 1e-15).min(1.0)
        }
    }

    /// The table at the next larger point: delta does not increase. Less what rounding may have added.
    fn delta_lower(&self, epsilon: f64) -> f64 {
        let next = self.epsilons.partition_point(|&point| point < epsilon.abs());
        let below = self.deltas.get(next).map_or(0.0, |delta| delta * (1.0 - 1e-9) - 1e-12).max(0.0);
        if epsilon >= 0.0 { below } else { (1.0 - epsilon.exp() * (1.0 - below) - 1e-15).max(0.0) }
    }

    /// An upper bound of the Renyi divergence of this order > 1 of any pair of neighbours.
    ///
    /// The table with its chords is the profile of a pair of laws whose log-ratios are its epsilons, of either sign:
    /// as a function of t = exp(epsilon) its slope rises at t by the second law's mass there.
    fn renyi_upper(&self, order: f64) -> f64 {
        let mirrored = self.epsilons.iter().skip(1).rev().map(|epsilon| -epsilon);
        let points: Vec<f64> = mirrored.chain(self.epsilons.iter().copied()).collect();
        let deltas: Vec<f64> = points.iter().map(|&epsilon| self.delta_upper(epsilon)).collect();
        // Slopes times exp(epsilon) on the left of each point, from the chords: -1 before the first, 0 after the last.
        let slope = |k: usize| (deltas[k] - deltas[k - 1]) / (points[k].exp() - points[k - 1].exp());
        let terms = (0..points.len()).map(|k| {
            let left = if k == 0 { -1.0 } else { slope(k) };
            let right = if k + 1 == points.len() { 0.0 } else { slope(k + 1) };
            // Rounding of the slopes is given away on the side of more loss.
            let mass = (right - left).max(0.0) + 1e-13;
            mass.ln() + order * points[k]
        });
        let terms: Vec<f64> = terms.collect();
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log_sum = largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln();
        // No divergence exceeds the largest loss.
        let loss = points.last().copied().unwrap_or(f64::INFINITY);
        (log_sum / (order - 1.0) * (1.0 + 1e-9)).clamp(0.0, loss)
    }
}

fn reaches(audit: &Audit, goal: Goal) -> bool {
    audit.loss <= goal.epsilon || audit.delta <= goal.delta
}

/// The hockey-stick divergences of both orders at t = exp(epsilon), and the largest absolute log-ratio.
fn compare(pair: [Vec<u64>; 2], p: &Row, q: &Row, t: f64) -> (WorstPair, [f64; 2]) {
    let (mut forward, mut backward) = ([0.0; 4], [0.0; 4]);
    let (mut most, mut least) = ([f64::NEG_INFINITY; 4], [f64::INFINITY; 4]);
    let mut lane = |lane: usize, p: f64, q: f64, gap: f64| {
        forward[lane] += (p - t * q).max(0.0);
        backward[lane] += (q - t * p).max(0.0);
        most[lane] = if gap > most[lane] { gap } else { most[lane] };
        least[lane] = if gap < least[lane] { gap } else { least[lane] };
    };
    let whole = p.losses.len() / 4 * 4;
    let (pp, qp, pl, ql) = (&p.probabilities, &q.probabilities, &p.losses, &q.losses);
    for (((pp, qp), pl), ql) in
        pp.chunks_exact(4).zip(qp.chunks_exact(4)).zip(pl.chunks_exact(4)).zip(ql.chunks_exact(4))
    {
        for k in 0..4 {
            lane(k, pp[k], qp[k], ql[k] - pl[k]);
        }
    }
    for k in whole..pl.len() {
        lane(k - whole, pp[k], qp[k], ql[k] - pl[k]);
    }
    let shift = q.log_total - p.log_total;
    let most = most.into_iter().fold(f64::NEG_INFINITY, f64::max) + shift;
    let least = least.into_iter().fold(f64::INFINITY, f64::min) + shift;
    let deltas = [forward, backward].map(|parts| parts.iter().sum());
    (WorstPair { pair, delta: 0.0, loss: most.max(-least) }, deltas)
}

/// Raises `deltas` to the hockey-stick divergences of both orders of one pair at the multiples of `step`.
fn profile_of_pair(p: &Row, q: &Row, step: f64, sigma: f64, deltas: &mut [f64]) {
    let points = deltas.len();
    // Masses of both laws by how many steps the log-ratio of P to Q exceeds, upwards and downwards.
    let mut up = vec![[0.0_f64; 2]; points + 1];
    let mut down = vec![[0.0_f64; 2]; points + 1];
    let shift = q.log_total - p.log_total;
    for k in 0..p.losses.len() {
        let ratio = q.losses[k] - p.losses[k] + shift;
        let bin = ((ratio.abs() / step) as usize).min(points);
        let (p, q) = (p.probabilities[k], q.probabilities[k]);
        let (side, mass) = if ratio > 0.0 { (&mut up, [p, q]) } else { (&mut down, [q, p]) };
        side[bin][0] += mass[0];
        side[bin][1] += mass[1];
    }
    for side in [&up, &down] {
        let mut mass = side[points];
        for point in (0..points).rev() {
            mass[0] += side[point][0];
            mass[1] += side[point][1];
            // At epsilon - 2 sigma it is larger by 2 sigma P(loss > epsilon - 2 sigma) at most, and a term that rounding
            // put on the wrong side of the step is off by less than sigma of its mass; the bin below holds both.
            let near = if point > 0 { mass[0] + side[point - 1][0] } else { 1.0 };
            let delta = mass[0] - (point as f64 * step).exp() * mass[1] + 5.0 * sigma * near;
            deltas[point] = deltas[point].max(delta);
        }
    }
}

/// The number of different permutations of a point.
fn orbit_size(point: &[u64]) -> f64 {
    let mut size = 1.0;
    let mut run = 0.0;
    for (index, k) in point.iter().enumerate() {
        run = if index > 0 && *k == point[index - 1] { run + 1.0 } else { 1.0 };
        size *= (index + 1) as f64 / run;
    }
    size
}
