//! Plain double-precision draws for experiments: fast, and not fit for release (docs/randomness.md says why).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1, Gamma};

use crate::random::{Bits, StreamKey};
use crate::{Error, Result, interrupt, memory};

/// Below this largest shape the sum of a row may underflow, and the row is drawn on the scale of logarithms.
const SMALL_SHAPE: f64 = 0.1;

/// Rounds between two questions whether to stop: one takes ten nanoseconds at least.
const ASK_EVERY: usize = 64;

/// Room for so many rounds.
fn reserved(rounds: usize, width: usize) -> Result<Vec<f64>> {
    memory::reserved("the draws", memory::size_of_rows::<f64>("the draws", rounds, width)?)
}

/// 2^-400. Below this largest shape all shapes of a row may be multiplied by its inverse.
const TINY_SHAPE: f64 = f64::from_bits((1023 - 400) << 52);

/// The generator of one call: ChaCha with 8 rounds, seeded from stream 0 of the key.
fn generator(key: &StreamKey) -> ChaCha8Rng {
    let mut stream = key.stream(0);
    let mut seed = [0; 32];
    seed.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&stream.next_u64().to_le_bytes()));
    ChaCha8Rng::from_seed(seed)
}

fn gamma(name: &'static str, shape: f64) -> Result<Gamma<f64>> {
    let error = || Error::parameter(name, "be positive and finite", shape);
    if shape.is_finite() { Gamma::new(shape, 1.0).map_err(|_| error()) } else { Err(error()) }
}

/// `repeats` gamma draws of unit rate for every shape, one round of all shapes after the other.
///
/// # Errors
/// [`Error::InvalidParameter`] unless every shape is positive and finite.
pub fn gammas(shapes: &[f64], repeats: usize, key: &StreamKey) -> Result<Vec<f64>> {
    let laws = shapes.iter().map(|&shape| gamma("shape", shape)).collect::<Result<Vec<_>>>()?;
    let mut rng = generator(key);
    let mut draws = reserved(repeats, laws.len())?;
    for repeat in 0..repeats {
        if repeat.is_multiple_of(ASK_EVERY) {
            interrupt::check()?;
        }
        draws.extend(laws.iter().map(|law| law.sample(&mut rng)));
    }
    Ok(draws)
}

/// `rows` Dirichlet rows.
///
/// # Errors
/// [`Error::InvalidParameter`] unless every shape is positive and finite and there is at least one.
pub fn dirichlet(alpha: &[f64], rows: usize, key: &StreamKey) -> Result<Vec<f64>> {
    let laws = alpha.iter().map(|&shape| gamma("alpha", shape)).collect::<Result<Vec<_>>>()?;
    if laws.is_empty() {
        return Err(Error::parameter("alpha", "have at least one entry", "none"));
    }
    let mut rng = generator(key);
    let mut draws = reserved(rows, laws.len())?;
    for row in 0..rows {
        if row.is_multiple_of(ASK_EVERY) {
            interrupt::check()?;
        }
        dirichlet_row(alpha, &laws, &mut rng, &mut draws)?;
    }
    Ok(draws)
}

/// One beta draw for each pair of shapes.
///
/// # Errors
/// [`Error::InvalidParameter`] unless every shape is positive and finite and none is without its partner.
pub fn betas(pairs: &[f64], key: &StreamKey) -> Result<Vec<f64>> {
    let (whole, rest) = pairs.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Error::parameter("pairs", "hold two shapes each", pairs.len()));
    }
    let mut rng = generator(key);
    let (mut draws, mut row) = (reserved(whole.len(), 1)?, Vec::with_capacity(2));
    for (index, pair) in whole.iter().enumerate() {
        if index.is_multiple_of(ASK_EVERY) {
            interrupt::check()?;
        }
        row.clear();
        dirichlet_row(pair, &[gamma("a", pair[0])?, gamma("b", pair[1])?], &mut rng, &mut row)?;
        draws.push(row[0]);
    }
    Ok(draws)
}

/// Appends one row.
fn dirichlet_row<R: Rng>(alpha: &[f64], laws: &[Gamma<f64>], rng: &mut R, draws: &mut Vec<f64>) -> Result<()> {
    let start = draws.len();
    if alpha.iter().all(|&shape| shape < SMALL_SHAPE) {
        log_gammas(alpha, rng, draws)?;
    } else {
        draws.extend(laws.iter().map(|law| law.sample(rng)));
    }
    let row = &mut draws[start..];
    let inverse = 1.0 / row.iter().sum::<f64>();
    row.iter_mut().for_each(|g| *g *= inverse);
    Ok(())
}

/// Appends gamma draws in units of the largest of them.
fn log_gammas<R: Rng>(alpha: &[f64], rng: &mut R, draws: &mut Vec<f64>) -> Result<()> {
    let start = draws.len();
    // So small that all of a row's mass is on one entry, whose chance is its share of the shapes; the logarithms would
    // leave the range of doubles.
    let factor = if alpha.iter().all(|&shape| shape < TINY_SHAPE) { TINY_SHAPE.recip() } else { 1.0 };
    for &shape in alpha {
        let shape = shape * factor;
        // Gamma(a) = Gamma(a + 1) U^(1/a), and -ln U is exponential.
        let exponential: f64 = Exp1.sample(rng);
        draws.push(gamma("alpha", shape + 1.0)?.sample(rng).ln() - exponential / shape);
    }
    let row = &mut draws[start..];
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    row.iter_mut().for_each(|log| *log = (*log - largest).exp());
    Ok(())
}
