//! Values with exact noise: integers, integer rows whose sum is public, and real numbers on a public grid.

use super::chunks::fill_chunks;
use super::{DiscreteNoise, SumPreservingLaplace};
use crate::random::StreamKey;
use crate::{Error, Result, memory};

/// Private integers are clamped to +-2^61, so that no sum with noise within +-2^62 can overflow.
pub const LARGEST_VALUE: i64 = 1 << 61;
/// On a grid, values are clamped to +-2^51 steps and releases to +-2^53, where doubles hold every integer.
pub const LARGEST_STEPS: i64 = 1 << 51;

impl DiscreteNoise {
    /// Independent draws, by up to `threads` threads.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Interrupted`].
    pub fn draws(&self, size: usize, key: &StreamKey, threads: usize) -> Result<Vec<i64>> {
        let mut draws = memory::zeros("the draws", size)?;
        fill_chunks(&mut draws, 1, key, threads, |stream, _, chunk| {
            self.fill(stream, chunk);
            Ok(())
        })?;
        Ok(draws)
    }

    /// Integers, clamped to +-[`LARGEST_VALUE`], plus independent noise.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Interrupted`].
    pub fn release(&self, values: &[i64], key: &StreamKey, threads: usize) -> Result<Vec<i64>> {
        let mut noisy = memory::zeros("the release", values.len())?;
        fill_chunks(&mut noisy, 1, key, threads, |stream, offset, chunk| {
            self.fill(stream, chunk);
            chunk.iter_mut().zip(&values[offset..]).for_each(|(z, x)| *z += x.clamp(&-LARGEST_VALUE, &LARGEST_VALUE));
            Ok(())
        })?;
        Ok(noisy)
    }

    /// Real numbers, rounded to multiples of 2^log_resolution and clamped to +-[`LARGEST_STEPS`] of them, plus noise in
    /// units of that step. The results are multiples of it.
    ///
    /// Rounding and clamping come first and depend on one value each. Halves go up, below zero too, so that rounding
    /// commutes with whole steps: two values at distance t differ by at most ceil(t / step) steps before noise is added.
    /// With halves away from zero, -1/2 and 1/2 would be two steps apart.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless -1000 <= log_resolution <= 900; [`Error::InvalidData`] when a value is NaN.
    pub fn release_on_grid(
        &self,
        values: &[f64],
        log_resolution: i32,
        key: &StreamKey,
        threads: usize,
    ) -> Result<Vec<f64>> {
        check_resolution(log_resolution)?;
        if values.iter().any(|x| x.is_nan()) {
            return Err(Error::data("values", "be free of NaN"));
        }
        let (step, largest) = (2f64.powi(log_resolution), LARGEST_STEPS as f64);
        // Exact but for overflow, which is clamped, and underflow, which cannot come near a half.
        let steps = |i: usize| half_up(values[i] / step).clamp(-largest, largest) as i64;
        self.release_steps(values.len(), steps, log_resolution, key, threads)
    }

    /// Integers on the grid, as [`Self::release_on_grid`] releases real numbers; rounded from what they are, also where no
    /// double holds them.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless -1000 <= log_resolution <= 900.
    pub fn release_integers_on_grid(
        &self,
        values: &[i64],
        log_resolution: i32,
        key: &StreamKey,
        threads: usize,
    ) -> Result<Vec<f64>> {
        check_resolution(log_resolution)?;
        self.release_steps(values.len(), |i| integer_steps(values[i], log_resolution), log_resolution, key, threads)
    }

    /// Multiples of 2^log_resolution: `steps` of each value, within +-[`LARGEST_STEPS`], and noise.
    fn release_steps(
        &self,
        size: usize,
        steps: impl Fn(usize) -> i64 + Sync,
        log_resolution: i32,
        key: &StreamKey,
        threads: usize,
    ) -> Result<Vec<f64>> {
        let step = 2f64.powi(log_resolution);
        let mut noisy = memory::zeros("the release", size)?;
        fill_chunks(&mut noisy, 1, key, threads, |stream, offset, chunk| {
            for (i, noisy) in chunk.iter_mut().enumerate() {
                let steps = steps(offset + i) + self.sample(stream);
                *noisy = steps.clamp(-4 * LARGEST_STEPS, 4 * LARGEST_STEPS) as f64 * step;
            }
            Ok(())
        })?;
        Ok(noisy)
    }
}

fn check_resolution(log_resolution: i32) -> Result<()> {
    if (-1000..=900).contains(&log_resolution) {
        return Ok(());
    }
    Err(Error::parameter("resolution", "be a power of two from 2^-1000 to 2^900", log_resolution))
}

/// The multiple of 2^log_resolution that is nearest to an integer, of two the upper one, clamped to +-[`LARGEST_STEPS`].
fn integer_steps(x: i64, log_resolution: i32) -> i64 {
    let steps = match log_resolution {
        ..=0 => i128::from(x) << log_resolution.unsigned_abs().min(63),
        // Of 2^100 or more every integer is less than a half.
        above => (i128::from(x) + (1 << (above.min(100) - 1))) >> above.min(100),
    };
    steps.clamp(-i128::from(LARGEST_STEPS), i128::from(LARGEST_STEPS)) as i64
}

/// The integer nearest to x, of two the upper one: the floor of x + 1/2, without the rounding of that sum.
pub(crate) fn half_up(x: f64) -> f64 {
    let floor = x.floor();
    // Exact, but for x between -1/2 and 0, where it is above a half before and after it is rounded.
    if x - floor >= 0.5 { floor + 1.0 } else { floor }
}

impl SumPreservingLaplace {
    /// Rows of integers, clamped to +-[`LARGEST_VALUE`], each plus noise with sum zero.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when the values are not whole rows; [`Error::OutOfMemory`], [`Error::Interrupted`].
    pub fn release(&self, values: &[i64], key: &StreamKey, threads: usize) -> Result<Vec<i64>> {
        let dimension = self.dimension();
        if !values.len().is_multiple_of(dimension) {
            return Err(Error::parameter("values", "be whole rows of the mechanism's dimension", values.len()));
        }
        let mut noisy = memory::zeros("the release", values.len())?;
        fill_chunks(&mut noisy, dimension, key, threads, |stream, offset, chunk| {
            for (noisy, values) in chunk.chunks_mut(dimension).zip(values[offset..].chunks(dimension)) {
                self.sample(stream, noisy)?;
                noisy.iter_mut().zip(values).for_each(|(z, x)| *z += x.clamp(&-LARGEST_VALUE, &LARGEST_VALUE));
            }
            Ok(())
        })?;
        Ok(noisy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::Rational;

    #[test]
    fn values_beyond_the_grid_are_taken_to_its_ends() {
        let noise = DiscreteNoise::laplace(&Rational::from_f64("scale", 10.0).unwrap()).unwrap();
        let key = StreamKey::from_bytes([5; 32]);
        for log_resolution in [-1000, 0, 900] {
            let step = 2f64.powi(log_resolution);
            let end = LARGEST_STEPS as f64 * step;
            let values = [f64::INFINITY, -f64::INFINITY, 1.5 * end, -1.5 * end];
            let found = noise.release_on_grid(&values, log_resolution, &key, 1).unwrap();
            for (x, found) in values.iter().zip(found) {
                assert!((found / step - LARGEST_STEPS as f64 * x.signum()).abs() < 1000.0, "{found:e} for {x:e}");
            }
        }
    }

    /// Judged by division of integers in 128 bits.
    #[test]
    fn integers_are_rounded_from_what_they_are() {
        let key = StreamKey::from_bytes([5; 32]);
        let noise = DiscreteNoise::laplace(&Rational::from_f64("scale", 2.0).unwrap()).unwrap();
        let largest = i128::from(LARGEST_STEPS);
        for log_resolution in [-1000, -64, -63, -20, -1, 0, 1, 2, 9, 10, 62, 63, 64, 65, 100, 101, 900] {
            let ends =
                [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX, (1 << 60) + 127, (1 << 60) + 128, (1 << 60) + 129];
            for x in (-40..40).chain(ends) {
                let expected = match log_resolution {
                    ..=0 => (0..-log_resolution).fold(i128::from(x), |x, _| (2 * x).clamp(-largest, largest)),
                    1..=100 => (2 * i128::from(x) + (1 << log_resolution)).div_euclid(2 << log_resolution),
                    _ => 0,
                };
                let found = integer_steps(x, log_resolution);
                assert_eq!(i128::from(found), expected.clamp(-largest, largest), "{x} {log_resolution}");
                if x.unsigned_abs() <= 1 << 53 {
                    let reals = noise.release_on_grid(&[x as f64], log_resolution, &key, 1).unwrap();
                    assert_eq!(noise.release_integers_on_grid(&[x], log_resolution, &key, 1).unwrap(), reals);
                }
            }
        }
        assert!(noise.release_integers_on_grid(&[0], 901, &key, 1).is_err());
    }

    #[test]
    fn rounding_commutes_with_whole_steps() {
        let just_below = 0.5_f64.next_down();
        for (x, rounded) in [
            (-0.5, 0.0),
            (0.5, 1.0),
            (-1.5, -1.0),
            (2.5, 3.0),
            (just_below, 0.0),
            (-0.5_f64.next_down(), 0.0),
            (-(0.5_f64.next_up()), -1.0),
            (-5e-324, 0.0),
            (f64::INFINITY, f64::INFINITY),
            (-f64::INFINITY, -f64::INFINITY),
        ] {
            assert_eq!(half_up(x), rounded, "{x:e}");
        }
        // Eighths are exact, and so are their sums with integers.
        for eighths in -40..40 {
            for shift in 0..5 {
                let x = f64::from(eighths) / 8.0;
                assert_eq!(half_up(x + f64::from(shift)), half_up(x) + f64::from(shift), "{x} {shift}");
            }
        }
    }

    #[test]
    fn nothing_overflows_at_the_ends_of_the_range() {
        let key = StreamKey::from_bytes([3; 32]);
        let scale = Rational::from_f64("scale", 2f64.powi(50)).unwrap();
        let noise = DiscreteNoise::laplace(&scale).unwrap();
        let noisy = noise.release(&[i64::MIN, i64::MAX, 0], &key, 1).unwrap();
        assert!(noisy[0] < -(1 << 60) && noisy[1] > 1 << 60);
        let values = [f64::MIN, f64::MAX, f64::INFINITY, -f64::INFINITY, 5e-324, 0.0];
        for log_resolution in [-1000, 0, 900] {
            let noisy = noise.release_on_grid(&values, log_resolution, &key, 1).unwrap();
            assert!(noisy.iter().all(|x| x.is_finite()));
        }
        assert!(noise.release_on_grid(&[f64::NAN], 0, &key, 1).is_err());
        assert!(noise.release_on_grid(&[0.0], 901, &key, 1).is_err());
        let rows = SumPreservingLaplace::new(&scale, 2).unwrap();
        assert!(rows.release(&[i64::MIN, i64::MAX, 0], &key, 1).is_err());
        assert_eq!(rows.release(&[i64::MIN, i64::MAX], &key, 1).unwrap().iter().sum::<i64>(), 0);
    }

    #[test]
    fn releases_on_a_grid_are_rounded_values_plus_noise_in_steps() {
        let key = StreamKey::from_bytes([3; 32]);
        let noise = DiscreteNoise::laplace(&Rational::from_f64("scale", 3.0).unwrap()).unwrap();
        let noisy = noise.release_on_grid(&[0.26, -0.74, 100.0], -1, &key, 1).unwrap();
        let expected: Vec<_> =
            noise.draws(3, &key, 1).unwrap().iter().zip([1, -1, 200]).map(|(z, x)| (z + x) as f64 / 2.0).collect();
        assert_eq!(noisy, expected);
    }
}
