//! Accept or reject with a probability known as a logarithm: first in doubles, then with thirty digits of the same uniform.

use crate::double_double::{DoubleDouble, LN_2};
use crate::random::Bits;
use crate::{Error, Result};

/// Zero words at the head of a uniform that are still told from zero; more have a chance of 2^-4194304.
const MAX_ZERO_WORDS: u32 = 1 << 16;
/// Bound on the relative error of the logarithm of a word in doubles.
const LOG_ERROR: f64 = 1.0 / (1u64 << 50) as f64;
/// A decision that thirty digits leave open within more than this is an error: see the module `sampler` for the budget.
pub(super) const DECISION_ERROR: f64 = 1.0 / (1u128 << 72) as f64;

/// The first word of a uniform number in (0, 1) that is not zero.
struct Uniform {
    word: u64,
    /// Words of zeros before it.
    zeros: u32,
}

impl Uniform {
    fn new<B: Bits>(bits: &mut B) -> Self {
        let mut zeros = 0;
        loop {
            let word = bits.next_u64();
            if word != 0 || zeros == MAX_ZERO_WORDS {
                return Self { word: word.max(1), zeros };
            }
            zeros += 1;
        }
    }

    /// ln of the uniform, known to the first word, and how far off it may be.
    fn log(&self) -> (f64, f64) {
        let word = self.word as f64;
        let log = word.ln() - 64.0 * f64::from(self.zeros + 1) * std::f64::consts::LN_2;
        (log, 1.0 / word + LOG_ERROR * (45.0 + log.abs()))
    }

    /// ln of the uniform with two more words, known to 2^-90 (1 + |ln|).
    fn exact_log<B: Bits>(&self, bits: &mut B) -> DoubleDouble {
        let (second, third) = (bits.next_u64(), bits.next_u64());
        let shift = self.word.leading_zeros();
        let head = u128::from(self.word) << 64 | u128::from(second);
        let tail = if shift == 0 { 0 } else { third >> (64 - shift) };
        let mantissa = head << shift | u128::from(tail);
        DoubleDouble::from(mantissa).ln() - LN_2 * (128.0 + 64.0 * f64::from(self.zeros) + f64::from(shift))
    }
}

/// ln of a uniform number, known to 2^-90 (1 + |ln|).
pub(super) fn log_uniform<B: Bits>(bits: &mut B) -> DoubleDouble {
    Uniform::new(bits).exact_log(bits)
}

/// A uniform number with 128 bits, from below, whose first word is known.
pub(super) fn fraction<B: Bits>(word: u64, bits: &mut B) -> DoubleDouble {
    let word = u128::from(word) << 64 | u128::from(bits.next_u64());
    DoubleDouble::from(word) * 2f64.powi(-128)
}

/// True with probability exp(log_ratio), where `log_ratio` is known to `error` and `exact` gives it with a smaller error.
///
/// What thirty digits leave open is a rejection: the probability is short by a factor of at least exp(-2^-71).
///
/// # Errors
/// [`Error::Numerical`] when the ratio is above one, or thirty digits do not reach [`DECISION_ERROR`].
pub(super) fn accept<B: Bits>(
    bits: &mut B,
    log_ratio: f64,
    error: f64,
    exact: impl FnOnce() -> Result<(DoubleDouble, f64)>,
) -> Result<bool> {
    if !(log_ratio - error <= 0.0) {
        return Err(above_envelope());
    }
    let uniform = Uniform::new(bits);
    let (log, log_error) = uniform.log();
    if log + log_error < log_ratio - error {
        return Ok(true);
    }
    if log - log_error > log_ratio + error {
        return Ok(false);
    }
    let (log_ratio, error) = exact()?;
    let log = uniform.exact_log(bits);
    let error = error + 2f64.powi(-90) * (1.0 + log.to_f64().abs());
    if !(error <= DECISION_ERROR) {
        return Err(Error::numerical("Hellinger sampler", "thirty digits do not decide; the exponent is too large"));
    }
    if !(log_ratio.to_f64() <= error) {
        return Err(above_envelope());
    }
    Ok((log - log_ratio).to_f64() < -error)
}

/// The envelope of a rejection step is below its target: a bound of ours is broken.
pub(super) fn above_envelope() -> Error {
    Error::numerical("Hellinger sampler", "a weight exceeds its envelope")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::StreamKey;

    #[test]
    fn both_precisions_take_the_same_decision() {
        let key = StreamKey::from_bytes([3; 32]);
        for index in 0..2000 {
            let log_ratio = -(index as f64) * 0.003;
            let quick = accept(&mut key.stream(index), log_ratio, 0.0, || unreachable!());
            let slow = accept(&mut key.stream(index), log_ratio, 1e3, || Ok((DoubleDouble::from(log_ratio), 0.0)));
            assert_eq!(quick, slow);
        }
    }

    #[test]
    fn a_ratio_above_one_is_an_error() {
        let mut stream = StreamKey::from_bytes([3; 32]).stream(0);
        assert!(accept(&mut stream, 1e-9, 1e-10, || unreachable!()).is_err());
        assert!(accept(&mut stream, 1e-9, 1e3, || Ok((DoubleDouble::from(1e-9), 1e-20))).is_err());
    }

    /// Words one after another.
    struct Words(std::vec::IntoIter<u64>);

    impl Bits for Words {
        fn next_u64(&mut self) -> u64 {
            self.0.next().unwrap_or(0)
        }
    }

    #[test]
    fn a_tiny_uniform_keeps_its_digits() {
        let log = log_uniform(&mut Words(vec![0, 5, 1 << 63, 0].into_iter()));
        let expected = 5.5f64.ln() - 128.0 * std::f64::consts::LN_2;
        assert!((log.to_f64() - expected).abs() < 1e-13);
    }
}
