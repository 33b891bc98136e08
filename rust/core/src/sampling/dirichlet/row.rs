//! One row: gamma variates, their shares of the sum, the grid.

use super::elementary::{exp_scaled, ln};
use super::exact::{cube, decide, log_power};
use super::gamma::{self, Normal, Path, ROUNDING, Shape, unit};
use super::interval::{Context, Interval};
use super::lazy::{Id, LazyBits};
use super::shapes::Shapes;
use super::{ExactDirichlet, ExactGamma};
use crate::random::Bits;
use crate::{Error, Result};

/// Grids finer than this leave doubles nothing to decide.
const FINEST_FOR_DOUBLES: u64 = 1 << 46;

/// Draws rows from one source of bits.
pub struct Sampler<B> {
    source: LazyBits<B>,
    path: Path,
    refined_rows: u64,
    /// delta and c of each entry's gamma draw.
    deltas: Vec<f64>,
    factors: Vec<f64>,
    normals: Vec<Normal>,
    /// The uniform of each boosted entry.
    powers: Vec<(u64, Id)>,
    values: Vec<f64>,
    errors: Vec<f64>,
    undecided: Vec<u32>,
}

impl<B: Bits> Sampler<B> {
    /// A sampler that owns its bits; it takes four words for the key of the later bits of its uniforms.
    pub fn new(bits: B, path: Path) -> Self {
        Self {
            source: LazyBits::new(bits),
            path,
            refined_rows: 0,
            deltas: Vec::new(),
            factors: Vec::new(),
            normals: Vec::new(),
            powers: Vec::new(),
            values: Vec::new(),
            errors: Vec::new(),
            undecided: Vec::new(),
        }
    }

    /// How many rows needed interval arithmetic for a grid point.
    pub fn refined_rows(&self) -> u64 {
        self.refined_rows
    }

    /// Writes one row of units for `counts`; both have the law's dimension.
    ///
    /// # Errors
    /// [`Error::InvalidData`] for counts that are negative, not finite or too large, [`Error::Entropy`] from the source.
    /// [`Error::Numerical`] has a probability that the total variation bound contains.
    pub fn draw(&mut self, law: &ExactDirichlet, counts: &[f64], units: &mut [u64]) -> Result<()> {
        let dimension = law.grid.dimension();
        if counts.len() != dimension || units.len() != dimension {
            return Err(Error::parameter("counts", "have the prior's length", counts.len()));
        }
        if dimension == 1 {
            self.shapes(&law.shapes, counts)?;
            units[0] = law.grid.total();
            return Ok(());
        }
        let boosted = self.draw_values(&law.shapes, counts)?;
        if boosted {
            self.apply_powers(&law.shapes, counts, true);
        }
        self.share(law, units);
        if !self.undecided.is_empty() {
            self.refined_rows += 1;
            self.refine(law, counts, units)?;
        }
        law.grid.complete(units)
    }

    /// Writes the units of independent gamma variates for `counts`.
    ///
    /// # Errors
    /// As [`Self::draw`].
    pub fn draw_gammas(&mut self, law: &ExactGamma, counts: &[f64], units: &mut [u64]) -> Result<()> {
        let dimension = law.shapes.dimension();
        if counts.len() != dimension || units.len() != dimension {
            return Err(Error::parameter("counts", "have the prior's length", counts.len()));
        }
        let boosted = self.draw_values(&law.shapes, counts)?;
        if boosted {
            self.apply_powers(&law.shapes, counts, false);
        }
        let scale = (1u64 << law.resolution_bits) as f64;
        self.undecided.clear();
        for (i, unit) in units.iter_mut().enumerate() {
            let (z, margin) = (self.values[i] * scale, 1.01 * self.errors[i] * scale);
            // Below 2^50 with a margin below one half, both floors are exact; not-a-number fails.
            let (low, high) = ((z - margin).max(0.0).floor(), (z + margin).floor());
            if self.path == Path::Fast && z < (1u64 << 50) as f64 && margin < 0.5 && low == high {
                *unit = 1 + low as u64;
            } else {
                self.undecided.push(i as u32);
            }
        }
        for &i in &self.undecided {
            let shape = law.shapes.at(counts, i as usize);
            let floor = decide(|context| {
                let value = self.ideal_value(context, &shape, i as usize)?;
                context.floor_scaled(&value, u64::from(law.resolution_bits), (1 << 63) - 1)
            });
            let undecided = || Error::numerical("gamma", "a grid point stayed undecided at the highest precision");
            units[i as usize] = 1 + floor.ok_or_else(undecided)?;
        }
        Ok(())
    }

    fn shapes(&mut self, shapes: &Shapes, counts: &[f64]) -> Result<bool> {
        shapes.constants(counts, &mut self.deltas, &mut self.factors)
    }

    /// Draws each entry's gamma variate, before powers; tells whether some entry needs one.
    fn draw_values(&mut self, shapes: &Shapes, counts: &[f64]) -> Result<bool> {
        self.source.refresh()?;
        let boosted = self.shapes(shapes, counts)?;
        let n = counts.len();
        self.normals.resize(n, Normal::default());
        self.values.resize(n, 0.0);
        self.errors.resize(n, 0.0);
        self.powers.resize(if boosted { n } else { 0 }, (0, 0));
        let outputs = self.normals.iter_mut().zip(&mut self.values).zip(&mut self.errors);
        let constants = self.deltas.iter().zip(&self.factors);
        for (i, ((&delta, &c), ((normal, value), error))) in constants.zip(outputs).enumerate() {
            let shape = shapes.known(counts, i, delta, c);
            let Some(drawn) = gamma::draw(&mut self.source, &shape, self.path) else {
                return Err(Error::numerical("gamma", "every attempt was rejected"));
            };
            (*normal, *value, *error) = (drawn.normal, drawn.value, drawn.error);
            if boosted {
                self.powers[i] = if shape.boost { self.source.word() } else { (0, 0) };
            }
        }
        Ok(boosted)
    }

    /// Multiplies by U^(1/a) 2^-e where the draw was boosted, e the largest such power's own exponent (0 if an entry is
    /// not boosted, or if the values are not `relative` to each other): small entries keep their logarithm's accuracy,
    /// whatever their size.
    fn apply_powers(&mut self, shapes: &Shapes, counts: &[f64], relative: bool) {
        let log_factor = |i: usize| {
            let shape = shapes.at(counts, i);
            if shape.boost { ln(unit(self.powers[i].0)) / shape.nearby() } else { 0.0 }
        };
        let factors: Vec<f64> = (0..counts.len()).map(log_factor).collect();
        let largest = factors.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        let exponent = if relative { (largest / std::f64::consts::LN_2).round() } else { 0.0 };
        for (i, &factor) in factors.iter().enumerate() {
            let shape = shapes.at(counts, i);
            let scaled = exp_scaled(factor, exponent);
            // Relative error: logarithm, shape and quotient (12 roundings of the factor's logarithm), the uniform's cell and
            // conversion, exp and product. What exp_scaled returns as 0 is below 2^-999 times a draw below 2^60.
            let cell =
                if shape.boost { (0.51 / self.powers[i].0 as f64 + 2.1 * ROUNDING) / shape.nearby() } else { 0.0 };
            let relative = 1.01 * (12.0 * ROUNDING * factor.abs() + cell + 10.0 * ROUNDING);
            let relative = if relative < 0.01 { relative } else { f64::INFINITY };
            self.errors[i] = 1.03 * (self.errors[i] * scaled + self.values[i] * scaled * relative) + 1e-250;
            self.values[i] *= scaled;
        }
    }

    /// floor(M y_i) for every entry, and the list of those that the errors leave undecided.
    fn share(&mut self, law: &ExactDirichlet, units: &mut [u64]) {
        self.undecided.clear();
        let shared = law.grid.shared();
        if self.path == Path::Exact || shared > FINEST_FOR_DOUBLES {
            self.undecided.extend(0..units.len() as u32);
            return;
        }
        let sum = compensated_sum(&self.values);
        let sum_error = self.errors.iter().sum::<f64>();
        if !(sum_error < 1e-6 * sum) {
            self.undecided.extend(0..units.len() as u32);
            return;
        }
        let total = shared as f64;
        let factor = total / sum;
        let weight = 1.01 / sum;
        // z and its error: y = g/(g + T) moves by (1-y) E_g/S + y E_T/S, at most; nine roundings hold those of the sum,
        // the factor and the products (docs/exactness.md, section 7).
        let share = |value: f64, error: f64| {
            let z = value * factor;
            (z, weight * error * (total - z) + z * (weight * (sum_error - error) + 9.0 * ROUNDING))
        };
        // Adding and taking away 1.5 2^52 rounds to the nearest integer.
        const ROUND: f64 = 6_755_399_441_055_744.0;
        let mut all_decided = true;
        let end = shared + ROUND.to_bits();
        for ((&value, &error), floor) in self.values.iter().zip(&self.errors).zip(units.iter_mut()) {
            let (z, margin) = share(value, error);
            let shifted = z + ROUND;
            let rest = z - (shifted - ROUND);
            let nearest = shifted.to_bits();
            // 0 < M y < M holds for the ideal, so these two integers are no boundaries.
            let at_end = (nearest == ROUND.to_bits()) | (nearest == end);
            all_decided &= (margin < 0.5) & ((rest.abs() > margin) | at_end);
            let below = (nearest == end) | (rest < 0.0);
            *floor = nearest.wrapping_sub(ROUND.to_bits()).wrapping_sub(u64::from(below));
        }
        if all_decided {
            return;
        }
        for (i, (&value, &error)) in self.values.iter().zip(&self.errors).enumerate() {
            let (z, margin) = share(value, error);
            let nearest = (z + ROUND) - ROUND;
            let at_end = nearest == 0.0 || nearest == total;
            if !(margin < 0.5 && ((z - nearest).abs() > margin || at_end)) {
                self.undecided.push(i as u32);
            }
        }
    }

    /// The undecided floors, in intervals.
    #[cold]
    fn refine(&self, law: &ExactDirichlet, counts: &[f64], units: &mut [u64]) -> Result<()> {
        decide(|context| {
            let values = self.ideal_values(context, &law.shapes, counts)?;
            let sum = values.iter().fold(context.integer(0), |sum, value| sum.add(value));
            for &i in &self.undecided {
                units[i as usize] = context.floor_share(law.grid.shared(), &values[i as usize], &sum)?;
            }
            Some(())
        })
        .ok_or_else(|| Error::numerical("dirichlet", "a grid point stayed undecided at the highest precision"))
    }

    /// The ideal gamma variate of entry i.
    fn ideal_value(&self, context: &Context, shape: &Shape, i: usize) -> Option<Interval> {
        let value = cube(context, &self.source, shape, &self.normals[i])?;
        if !shape.boost {
            return Some(value);
        }
        Some(context.mul(&value, &context.exp(&log_power(context, &self.source, shape, self.powers[i])?)?))
    }

    /// The ideal gamma variates, up to a common factor that brings the largest power to about one.
    fn ideal_values(&self, context: &Context, shapes: &Shapes, counts: &[f64]) -> Option<Vec<Interval>> {
        let mut values = Vec::with_capacity(counts.len());
        for (i, normal) in self.normals.iter().enumerate() {
            values.push(cube(context, &self.source, &shapes.at(counts, i), normal)?);
        }
        if self.powers.is_empty() {
            return Some(values);
        }
        let mut logs = Vec::with_capacity(counts.len());
        for (i, &power) in self.powers.iter().enumerate() {
            let shape = shapes.at(counts, i);
            logs.push(if shape.boost { log_power(context, &self.source, &shape, power)? } else { context.integer(0) });
        }
        let mut largest = i64::MIN;
        for log in &logs {
            largest = largest.max(context.doublings_above(log)?);
        }
        let shift = context.ln_two().times(largest);
        for (value, log) in values.iter_mut().zip(&logs) {
            *value = context.mul(value, &context.exp(&log.sub(&shift))?);
        }
        Some(values)
    }
}

/// The sum with the roundings' errors collected beside it: relative error below two roundings for positive values.
fn compensated_sum(values: &[f64]) -> f64 {
    let mut sum = [0.0f64; 4];
    let mut rest = [0.0f64; 4];
    let mut add = |lane: usize, value: f64| {
        let s = sum[lane];
        let t = s + value;
        let back = t - s;
        rest[lane] += (s - (t - back)) + (value - back);
        sum[lane] = t;
    };
    let blocks = values.chunks_exact(4);
    for (lane, &value) in blocks.remainder().iter().enumerate() {
        add(lane, value);
    }
    for block in blocks {
        for (lane, &value) in block.iter().enumerate() {
            add(lane, value);
        }
    }
    for lane in 1..4 {
        let (s, value) = (sum[0], sum[lane]);
        let t = s + value;
        let back = t - s;
        rest[0] += (s - (t - back)) + (value - back) + rest[lane];
        sum[0] = t;
    }
    sum[0] + rest[0]
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;
    use crate::random::StreamKey;

    #[test]
    fn boosted_values_keep_their_errors() {
        let context = Context::new(2048);
        let priors = [1e-6, 2e-6, 1e-3, 0.02, 0.3, 0.7, 0.999];
        for (row, with_large) in (0..60).map(|row| (row, row % 3 == 0)) {
            let mut prior: Vec<f64> = priors.iter().cycle().skip(row % 7).take(5).copied().collect();
            if with_large {
                prior.push(1e9);
            }
            let law = ExactDirichlet::new(1.0, &prior, 32).unwrap();
            let counts = vec![0.0; prior.len()];
            let mut sampler = Sampler::new(StreamKey::from_bytes([row as u8; 32]).stream(0), Path::Fast);
            sampler.draw(&law, &counts, &mut vec![0; prior.len()]).unwrap();
            let ideal = sampler.ideal_values(&context, &law.shapes, &counts).unwrap();
            let top = (0..prior.len()).max_by(|&i, &j| sampler.values[i].total_cmp(&sampler.values[j])).unwrap();
            let (v, e) = (sampler.values[top], sampler.errors[top]);
            assert!(e < v * 1e-6, "the errors would decide nothing");
            for (i, value) in ideal.iter().enumerate() {
                let ratio = context.div(value, &ideal[top]).unwrap();
                let (value, error) = (sampler.values[i], sampler.errors[i]);
                let above = context.div(&context.double(value + error), &context.double(v - e)).unwrap();
                let below = context.div(&context.double(value - error), &context.double(v + e)).unwrap();
                assert_ne!(ratio.compare(&above), Some(Ordering::Greater), "row {row}, entry {i}");
                assert_ne!(ratio.compare(&below), Some(Ordering::Less), "row {row}, entry {i}");
            }
        }
    }

    #[test]
    fn intervals_are_rarely_needed() {
        // Also where one entry takes nearly everything, and its logarithm is known to 10^-9 only.
        for (prior, most) in [(vec![5.0; 1000], 1), (vec![1e-6; 1000], 2), (vec![0.01; 300], 2), (vec![0.5; 300], 2)] {
            let law = ExactDirichlet::new(1.0, &prior, 32).unwrap();
            let mut sampler = Sampler::new(StreamKey::from_bytes([1; 32]).stream(0), Path::Fast);
            let mut units = vec![0; prior.len()];
            for _ in 0..200 {
                sampler.draw(&law, &vec![0.0; prior.len()], &mut units).unwrap();
            }
            assert!(sampler.refined_rows() <= most, "{} at {}", sampler.refined_rows(), prior[0]);
        }
    }

    #[test]
    fn the_compensated_sum_is_within_two_roundings() {
        let mut bits = StreamKey::from_bytes([8; 32]).stream(0);
        for n in [1, 2, 3, 5, 100, 10_001] {
            // Integers below 2^40, so that the exact sum fits; scaled by a power of two it is the same sum.
            let integers: Vec<u64> = (0..n).map(|_| (bits.next_u64() >> 24) >> (bits.next_u64() % 40)).collect();
            let values: Vec<f64> = integers.iter().map(|&n| n as f64 * 2f64.powi(-70)).collect();
            let exact = integers.iter().sum::<u64>() as f64 * 2f64.powi(-70);
            assert!((compensated_sum(&values) - exact).abs() <= 2.0 * ROUNDING * exact);
        }
    }
}
