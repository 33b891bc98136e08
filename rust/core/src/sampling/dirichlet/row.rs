//! One row: gamma variates, their shares of the sum, the grid.

use super::elementary::{exp_scaled, ln};
use super::exact::{cube, decide, log_power};
use super::gamma::{self, Normal, Path, ROUNDING, Shape, unit};
use super::interval::{Context, Interval};
use super::lazy::{Id, LazyBits};
use super::{ExactDirichlet, MAX_SHAPE};
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
        self.source.refresh()?;
        let boosted = self.prepare(law, counts)?;
        if dimension == 1 {
            units[0] = law.grid.total();
            return Ok(());
        }
        self.draw_gammas(law, counts, boosted)?;
        if boosted {
            self.apply_powers(law, counts);
        }
        self.share(law, units);
        if !self.undecided.is_empty() {
            self.refined_rows += 1;
            self.refine(law, counts, units)?;
        }
        law.grid.complete(units)
    }

    /// The constants of each entry's draw, and whether some shape is below one.
    fn prepare(&mut self, law: &ExactDirichlet, counts: &[f64]) -> Result<bool> {
        let mut valid = true;
        let mut boosted = false;
        self.deltas.clear();
        self.deltas.extend(counts.iter().zip(&law.prior).map(|(&count, &prior)| {
            let a = Shape::rounded(law.scale, count, prior);
            // NaN fails the second comparison.
            valid &= (count >= 0.0) & (a <= MAX_SHAPE);
            boosted |= a < 1.0;
            Shape::delta(a)
        }));
        self.factors.clear();
        self.factors.extend(self.deltas.iter().map(|&delta| Shape::factor(delta)));
        if valid {
            Ok(boosted)
        } else {
            Err(Error::data("counts", "be finite, not negative, and give shapes of at most 2^50"))
        }
    }

    fn draw_gammas(&mut self, law: &ExactDirichlet, counts: &[f64], boosted: bool) -> Result<()> {
        let n = counts.len();
        self.normals.resize(n, Normal::default());
        self.values.resize(n, 0.0);
        self.errors.resize(n, 0.0);
        self.powers.resize(if boosted { n } else { 0 }, (0, 0));
        let outputs = self.normals.iter_mut().zip(&mut self.values).zip(&mut self.errors);
        let constants = self.deltas.iter().zip(&self.factors);
        let inputs = counts.iter().zip(&law.prior).zip(constants);
        for (i, (((&count, &prior), (&delta, &c)), ((normal, value), error))) in inputs.zip(outputs).enumerate() {
            let boost = boosted && Shape::rounded(law.scale, count, prior) < 1.0;
            let shape = Shape { scale: law.scale, count, prior, boost, delta, c };
            let Some(drawn) = gamma::draw(&mut self.source, &shape, self.path) else {
                return Err(Error::numerical("gamma", "every attempt was rejected"));
            };
            (*normal, *value, *error) = (drawn.normal, drawn.value, drawn.error);
            if boosted {
                self.powers[i] = if boost { self.source.word() } else { (0, 0) };
            }
        }
        Ok(())
    }

    /// Multiplies by U^(1/a) 2^-e where the draw was boosted, e the largest such power's own exponent (0 if an entry is
    /// not boosted): small entries keep their logarithm's accuracy, whatever their size.
    fn apply_powers(&mut self, law: &ExactDirichlet, counts: &[f64]) {
        let shape = |i: usize| Shape::new(law.scale, counts[i], law.prior[i]);
        let log_factor = |i: usize| {
            let shape = shape(i);
            if shape.boost {
                ln(unit(self.powers[i].0)) / Shape::rounded(shape.scale, shape.count, shape.prior)
            } else {
                0.0
            }
        };
        let factors: Vec<f64> = (0..counts.len()).map(log_factor).collect();
        let largest = factors.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        let exponent = (largest / std::f64::consts::LN_2).round();
        for (i, &factor) in factors.iter().enumerate() {
            let shape = shape(i);
            let scaled = exp_scaled(factor, exponent);
            // Relative error: logarithm, shape and quotient (12 roundings of the factor's logarithm), the uniform's cell and
            // conversion, exp and product. What exp_scaled returns as 0 is below 2^-999 times a draw below 2^60.
            let cell = if shape.boost {
                let a = Shape::rounded(shape.scale, shape.count, shape.prior);
                (0.51 / self.powers[i].0 as f64 + 2.1 * ROUNDING) / a
            } else {
                0.0
            };
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
        let sum_error = self.errors.iter().sum::<f64>() / sum;
        if !(sum_error < 1e-6) {
            self.undecided.extend(0..units.len() as u32);
            return;
        }
        let total = shared as f64;
        let factor = total / sum;
        // The value's own error, and relatively: that of the sum, two roundings of the sum, three of factor and product.
        let own = 1.01 * factor;
        let common = 1.01 * (sum_error + 6.0 * ROUNDING);
        // Adding and taking away 1.5 2^52 rounds to the nearest integer.
        const ROUND: f64 = 6_755_399_441_055_744.0;
        let mut all_decided = true;
        let end = shared + ROUND.to_bits();
        for ((&value, &error), floor) in self.values.iter().zip(&self.errors).zip(units.iter_mut()) {
            let z = value * factor;
            let margin = error * own + z * common;
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
            let z = value * factor;
            let margin = error * own + z * common;
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
            let values = self.ideal_values(context, law, counts)?;
            let sum = values.iter().fold(context.integer(0), |sum, value| sum.add(value));
            for &i in &self.undecided {
                units[i as usize] = context.floor_share(law.grid.shared(), &values[i as usize], &sum)?;
            }
            Some(())
        })
        .ok_or_else(|| Error::numerical("dirichlet", "a grid point stayed undecided at the highest precision"))
    }

    /// The ideal gamma variates, up to a common factor.
    fn ideal_values(&self, context: &Context, law: &ExactDirichlet, counts: &[f64]) -> Option<Vec<Interval>> {
        let shape = |i: usize| Shape::new(law.scale, counts[i], law.prior[i]);
        let mut values = Vec::with_capacity(counts.len());
        for (i, normal) in self.normals.iter().enumerate() {
            values.push(cube(context, &self.source, &shape(i), normal)?);
        }
        if self.powers.is_empty() {
            return Some(values);
        }
        let mut logs = Vec::with_capacity(counts.len());
        for (i, &power) in self.powers.iter().enumerate() {
            let shape = shape(i);
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
            let ideal = sampler.ideal_values(&context, &law, &counts).unwrap();
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
