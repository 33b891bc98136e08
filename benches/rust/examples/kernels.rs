//! The hot kernels, for counting instructions: `kernels NAME TIMES` does the work of one so many times, `kernels` lists them.
//!
//! Inputs and keys are fixed, so that the same program counts the same. What a kernel prepares it prepares also when TIMES
//! is zero: the difference between two numbers of times is the work alone. See `benches/instructions.py`.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

use simplexdp_core::accounting::{Composition, GaussianPair, LaplacePair, Profile};
use simplexdp_core::counting::{Codes, count_table};
use simplexdp_core::guarantee::{Adjacency, DirichletDraw};
use simplexdp_core::inference::{Cell, Factor, Noise, Posterior, Total, TotalPrior};
use simplexdp_core::random::StreamKey;
use simplexdp_core::sampling::dirichlet::ExactDirichlet;
use simplexdp_core::sampling::{DiscreteNoise, PolyaUrn, Rational};
use simplexdp_core::special::{beta_inc, gamma_q, log_gamma, trigamma};
use simplexdp_core::{Result, simulation};

type Work = Box<dyn FnMut(u64) -> Result<()>>;
/// A name, and what prepares the work.
type Kernel = (&'static str, fn() -> Result<Work>);

const KERNELS: [Kernel; 14] = [
    ("log_gamma, 1,000 values", || Ok(spread(0.01, 100.0, log_gamma))),
    ("trigamma, 1,000 values", || Ok(spread(0.01, 100.0, trigamma))),
    ("gamma_q around the mean, 1,000 values", || Ok(spread(1.0, 1e6, |a| gamma_q(a, 1.01 * a)))),
    ("beta_inc, 1,000 values", || Ok(spread(1.0, 1e6, |a| beta_inc(a, 50.0, a / (a + 50.0))))),
    ("discrete Laplace noise, 1,000 values", || noise(DiscreteNoise::laplace)),
    ("discrete Gaussian noise, 1,000 values", || noise(DiscreteNoise::gaussian)),
    ("Dirichlet release, shape 5, 1,000 values", || dirichlet(5.0)),
    ("Dirichlet release, shape 1, 1,000 values", || dirichlet(1.0)),
    ("simulated Dirichlet, shape 5, 1,000 values", || {
        let shapes = vec![5.0; 1000];
        Ok(Box::new(move |at| simulation::dirichlet(&shapes, 1, &key(at)).map(|draw| drop(black_box(draw)))))
    }),
    ("urn, 1,000 records of 20 categories", || {
        let urn = PolyaUrn::new(0.5, &[10.0; 20], &[1.0; 20])?;
        Ok(Box::new(move |at| urn.sample(&mut key(at).stream(0), 1000).map(|draw| drop(black_box(draw)))))
    }),
    ("contingency table, three columns of 10,000 rows", || {
        let column = |step: usize| -> Vec<i8> { (0..10_000).map(|row| (row * step % 7) as i8).collect() };
        let columns = [column(1), column(3), column(5)];
        Ok(Box::new(move |_| {
            let codes = [Codes::I8(&columns[0]), Codes::I8(&columns[1]), Codes::I8(&columns[2])];
            count_table(&codes, &[7, 7, 7]).map(|table| drop(black_box(table)))
        }))
    }),
    ("composition of 100 Gaussians and 20 Laplace, one epsilon", || {
        Ok(Box::new(|_| {
            let parts: [(Arc<dyn Profile>, u64); 2] =
                [(Arc::new(GaussianPair::new(0.1)?), 100), (Arc::new(LaplacePair::new(0.1)?), 20)];
            black_box(Composition::new(parts)?.epsilon_upper(1e-6));
            Ok(())
        }))
    }),
    ("guarantee of a Dirichlet release, one epsilon", || {
        Ok(Box::new(|_| {
            let draw =
                DirichletDraw { scale: 0.5, prior: &[2.0; 6], dimension: 6, floor: 0.0, total: None, max_rows: 1 };
            black_box(draw.released(Adjacency::Replace)?.epsilon(1e-6));
            Ok(())
        }))
    }),
    ("posterior of 10 noisy counts, with marginals", || {
        Ok(Box::new(|_| {
            let cells: Vec<Cell> = (0..10)
                .map(|at| {
                    let noise = Noise::Gaussian { sigma: 3.0, step: 1.0 };
                    Cell::new(1.0, vec![Factor::noisy(10.0 * f64::from(at), noise)?], 0)
                })
                .collect::<Result<_>>()?;
            black_box(Posterior::new(&cells, &Total::new(TotalPrior::Known(450), Vec::new())?)?.marginals()?);
            Ok(())
        }))
    }),
];

fn key(at: u64) -> StreamKey {
    let mut bytes = [7; 32];
    bytes[..8].copy_from_slice(&at.to_le_bytes());
    StreamKey::from_bytes(bytes)
}

/// A function at 1,000 values, spread evenly over their logarithms.
fn spread(low: f64, high: f64, function: impl Fn(f64) -> f64 + 'static) -> Work {
    let values: Vec<f64> = (0..1000).map(|at| low * (high / low).powf(f64::from(at) / 999.0)).collect();
    Box::new(move |_| {
        for &value in &values {
            black_box(function(black_box(value)));
        }
        Ok(())
    })
}

fn noise(law: fn(&Rational) -> Result<DiscreteNoise>) -> Result<Work> {
    let law = law(&Rational::from_f64("scale", 10.0)?)?;
    let mut draws = vec![0; 1000];
    Ok(Box::new(move |at| {
        law.fill(&mut key(at).stream(0), &mut draws);
        black_box(&draws);
        Ok(())
    }))
}

fn dirichlet(shape: f64) -> Result<Work> {
    let law = ExactDirichlet::new(1.0, &[shape; 1000], 32)?;
    let counts = vec![0.0; 1000];
    Ok(Box::new(move |at| law.release(&counts, &key(at), 1).map(|draw| drop(black_box(draw)))))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, times)) = arguments.first().zip(arguments.get(1).and_then(|times| times.parse::<u64>().ok()))
    else {
        KERNELS.iter().for_each(|(name, _)| println!("{name}"));
        return ExitCode::SUCCESS;
    };
    let Some((_, prepare)) = KERNELS.iter().find(|(known, _)| known == name) else {
        eprintln!("no kernel is called {name:?}");
        return ExitCode::FAILURE;
    };
    match prepare().and_then(|mut work| (0..times).try_for_each(&mut work)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}
