//! One row: gamma variates, their shares of the sum, the grid.

use super::exact::{decide, log_power, variate};
use super::gamma::{self, First, Normal, Path, Shape, TAIL};
use super::interval::{Context, Interval};
use super::lazy::{Id, LazyBits};
use super::shapes::Shapes;
use super::{ExactDirichlet, ExactGamma, exponential, first_tries, powers, shares};
use crate::random::Bits;
use crate::wide::widest;
use crate::{Error, Result};

/// Draws rows from one source of bits.
pub struct Sampler<B> {
    source: LazyBits<B>,
    path: Path,
    refined_rows: u64,
    /// delta and c of each entry's gamma draw.
    deltas: Vec<f64>,
    factors: Vec<f64>,
    /// The first word of each entry, the number of the first of them, and what entries beyond their first try ended with.
    words: (Vec<u64>, Id),
    later: Vec<(usize, Normal)>,
    /// The words of acceptances and their halves, and the number of the first.
    halves: (Vec<u64>, Vec<u32>, Id),
    /// The uniform of each boosted entry, and the number of the first.
    powers: (Vec<u64>, Id),
    /// The logarithms of their powers.
    logs: Vec<f64>,
    values: Vec<f64>,
    errors: Vec<f64>,
    floors: Vec<u64>,
    /// Which blocks of entries have some that their first try did not settle.
    open: Vec<bool>,
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
            words: (Vec::new(), 0),
            later: Vec::new(),
            halves: (Vec::new(), Vec::new(), 0),
            powers: (Vec::new(), 0),
            logs: Vec::new(),
            values: Vec::new(),
            errors: Vec::new(),
            floors: Vec::new(),
            open: Vec::new(),
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
        self.draw_as(law, counts, |units| units, units)
    }

    /// The same, with every number of units converted.
    pub(super) fn draw_as<T>(
        &mut self,
        law: &ExactDirichlet,
        counts: &[f64],
        convert: impl Fn(u64) -> T,
        row: &mut [T],
    ) -> Result<()> {
        let dimension = law.grid.dimension();
        if counts.len() != dimension || row.len() != dimension {
            return Err(Error::parameter("counts", "have the prior's length", counts.len()));
        }
        if dimension == 1 {
            law.shapes.constants(counts, &mut self.deltas, &mut self.factors)?;
            row[0] = convert(law.grid.total());
            return Ok(());
        }
        if self.draw_values(&law.shapes, counts)? {
            self.apply_powers(&law.shapes, counts, true);
        }
        self.floors.resize(dimension, 0);
        let decided = self.path == Path::Fast
            && widest(
                #[inline(always)]
                || shares::floors(&self.values, &self.errors, law.grid.shared(), &mut self.floors),
            );
        if !decided {
            self.refined_rows += 1;
            self.refine(law, counts)?;
        }
        widest(
            #[inline(always)]
            || law.grid.complete(&self.floors, convert, row),
        )
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
        if self.draw_values(&law.shapes, counts)? {
            self.apply_powers(&law.shapes, counts, false);
        }
        let scale = (1u64 << law.resolution_bits) as f64;
        for (i, unit) in units.iter_mut().enumerate() {
            let (z, margin) = (self.values[i] * scale, 1.01 * self.errors[i] * scale);
            // Below 2^50 with a margin below one half, both floors are exact; not-a-number fails.
            let (low, high) = ((z - margin).max(0.0).floor(), (z + margin).floor());
            if self.path == Path::Fast && z < (1u64 << 50) as f64 && margin < 0.5 && low == high {
                *unit = 1 + low as u64;
                continue;
            }
            let shape = law.shapes.at(counts, i);
            let floor = decide(|context| {
                let value = self.ideal_value(context, &shape, i)?;
                context.floor_scaled(&value, u64::from(law.resolution_bits), (1 << 63) - 1)
            });
            let undecided = || Error::numerical("gamma", "a grid point stayed undecided at the highest precision");
            *unit = 1 + floor.ok_or_else(undecided)?;
        }
        Ok(())
    }

    /// Draws each entry's gamma variate, before powers; tells whether some entry needs one.
    ///
    /// First come the words of all entries, then those of acceptances unless every shape is one, then those of powers if
    /// some shape is below one; entries that need more take it in their order.
    fn draw_values(&mut self, shapes: &Shapes, counts: &[f64]) -> Result<bool> {
        self.source.refresh()?;
        let n = counts.len();
        let kinds = widest(
            #[inline(always)]
            || shapes.constants(counts, &mut self.deltas, &mut self.factors),
        )?;
        self.later.clear();
        self.values.resize(n, 0.0);
        self.errors.resize(n, 0.0);
        self.words.0.resize(n, 0);
        self.words.1 = self.source.fill(&mut self.words.0);
        if !kinds.all_ones {
            self.halves.0.resize(n.div_ceil(2), 0);
            self.halves.2 = self.source.fill(&mut self.halves.0);
            self.halves.1.resize(2 * n.div_ceil(2), 0);
            for (pair, &word) in self.halves.1.as_chunks_mut::<2>().0.iter_mut().zip(&self.halves.0) {
                *pair = [word as u32, (word >> 32) as u32];
            }
        }
        self.powers.0.resize(if kinds.boosted { n } else { 0 }, 0);
        self.powers.1 = self.source.fill(&mut self.powers.0);
        widest(
            #[inline(always)]
            || {
                if kinds.all_ones {
                    first_tries::exponentials(&self.words.0, &mut self.values, &mut self.errors);
                } else {
                    let bits: (&[u64], &[u32]) = (&self.words.0, &self.halves.1);
                    let constants: (&[f64], &[f64]) = (&self.deltas, &self.factors);
                    first_tries::gammas(bits, constants, &mut self.values, &mut self.errors);
                }
            },
        );
        if kinds.some_ones && !kinds.all_ones {
            for i in (0..n).filter(|&i| shapes.is_one(counts, i)) {
                let (values, errors) = (&mut self.values[i..=i], &mut self.errors[i..=i]);
                first_tries::exponentials(&self.words.0[i..=i], values, errors);
            }
        }
        self.settle(shapes, counts, kinds.all_ones)?;
        Ok(kinds.boosted)
    }

    /// Goes on with the entries that their first try did not settle.
    fn settle(&mut self, shapes: &Shapes, counts: &[f64], all_ones: bool) -> Result<()> {
        let mut open = std::mem::take(&mut self.open);
        widest(
            #[inline(always)]
            || first_tries::open_blocks(&self.values, &mut open),
        );
        for (block, is_open) in open.iter().enumerate() {
            if !is_open && self.path == Path::Fast {
                continue;
            }
            let start = block * first_tries::BLOCK;
            for i in start..counts.len().min(start + first_tries::BLOCK) {
                if self.values[i].is_nan() || self.path == Path::Exact {
                    // The doubles of a gamma draw, a root among them, are nothing that an exponential one needs.
                    let shape =
                        if all_ones { None } else { Some(shapes.at(counts, i)).filter(|shape| !shape.exponential) };
                    self.settle_one(shape.as_ref(), i)?;
                }
            }
        }
        self.open = open;
        Ok(())
    }

    /// The rest of the draw of entry i: a gamma variate of this shape, or an exponential one.
    fn settle_one(&mut self, shape: Option<&Shape>, i: usize) -> Result<()> {
        let word = (self.words.0[i], self.words.1 + 2 * i as u64);
        let drawn = match shape {
            None => exponential::draw(&mut self.source, word, self.path),
            Some(shape) => {
                let half = (self.halves.1[i], self.halves.2 + i as u64);
                gamma::draw(&mut self.source, shape, First { word, half }, self.path)
            }
        };
        let drawn = drawn.ok_or_else(|| Error::numerical("gamma", "every attempt was rejected"))?;
        (self.values[i], self.errors[i]) = (drawn.value, drawn.error);
        self.later.push((i, drawn.normal));
        Ok(())
    }

    /// Where the variate of entry i comes from.
    fn normal(&self, i: usize) -> Normal {
        match self.later.binary_search_by_key(&i, |&(at, _)| at) {
            Ok(found) => self.later[found].1,
            Err(_) => {
                let word = self.words.0[i];
                let layer = (word & 0xff) as u32;
                debug_assert!(layer < TAIL, "the tail is no first try");
                Normal { word, id: self.words.1 + 2 * i as u64, layer, steps: 0 }
            }
        }
    }

    /// The first bits of the uniform of entry i's power.
    fn power(&self, i: usize) -> (u64, Id) {
        (self.powers.0[i], self.powers.1 + 2 * i as u64)
    }

    /// Multiplies by the powers of boosted entries.
    fn apply_powers(&mut self, shapes: &Shapes, counts: &[f64], relative: bool) {
        widest(
            #[inline(always)]
            || {
                let variates = (&mut self.values[..], &mut self.errors[..]);
                powers::apply(&self.powers.0, shapes.nearby(counts), &mut self.logs, relative, variates);
            },
        );
    }

    /// The floors that doubles leave undecided, in intervals.
    #[cold]
    fn refine(&mut self, law: &ExactDirichlet, counts: &[f64]) -> Result<()> {
        let shared = law.grid.shared();
        let open = match self.path {
            Path::Fast => shares::undecided(&self.values, &self.errors, shared),
            Path::Exact => (0..counts.len() as u32).collect(),
        };
        let mut floors = std::mem::take(&mut self.floors);
        let found = decide(|context| {
            let values = self.ideal_values(context, &law.shapes, counts)?;
            let sum = values.iter().fold(context.integer(0), |sum, value| sum.add(value));
            for &i in &open {
                floors[i as usize] = context.floor_share(shared, &values[i as usize], &sum)?;
            }
            Some(())
        });
        self.floors = floors;
        found.ok_or_else(|| Error::numerical("dirichlet", "a grid point stayed undecided at the highest precision"))
    }

    /// The ideal gamma variate of entry i.
    fn ideal_value(&self, context: &Context, shape: &Shape, i: usize) -> Option<Interval> {
        let value = variate(context, &self.source, shape, &self.normal(i))?;
        if !shape.boost {
            return Some(value);
        }
        Some(context.mul(&value, &context.exp(&log_power(context, &self.source, shape, self.power(i))?)?))
    }

    /// The ideal gamma variates, up to a common factor that brings the largest power to about one.
    fn ideal_values(&self, context: &Context, shapes: &Shapes, counts: &[f64]) -> Option<Vec<Interval>> {
        let mut values = Vec::with_capacity(counts.len());
        for i in 0..counts.len() {
            values.push(variate(context, &self.source, &shapes.at(counts, i), &self.normal(i))?);
        }
        if self.powers.0.is_empty() {
            return Some(values);
        }
        let mut logs = Vec::with_capacity(counts.len());
        for i in 0..counts.len() {
            let shape = shapes.at(counts, i);
            let log = log_power(context, &self.source, &shape, self.power(i));
            logs.push(if shape.boost { log? } else { context.integer(0) });
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
}
