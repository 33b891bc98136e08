//! The least noise for a budget, by the guarantee that the mechanism then reports.

use super::{Adjacency, Grid, Noise, NoiseMechanism};
use crate::monotone::least;
use crate::sampling::Rational;
use crate::{Error, Result};

/// Calibrated noise has this many significant bits.
const BITS: u32 = 40;
/// A grid has so many steps to the size of the noise and to the distance by default, as a logarithm, and at most so many to
/// the size: values are clamped beyond 2^51 steps.
const STEPS: (i32, i32) = (20, 44);
/// Steps of the grid that doubles can name, as logarithms.
const LOG_RANGE: (i32, i32) = (-1000, 900);

/// What a release may cost.
#[derive(Debug, Clone)]
pub enum NoiseBudget {
    /// Zero-concentrated DP.
    Rho(Rational),
    /// (epsilon, delta).
    Pair(f64, f64),
    /// By how much an attacker's true positive rate may exceed the false positive rate: delta at epsilon zero.
    Advantage(f64),
}

impl NoiseBudget {
    fn check(&self) -> Result<()> {
        let open = |name, x: f64| {
            if 0.0 < x && x < 1.0 { Ok(()) } else { Err(Error::parameter(name, "lie strictly between 0 and 1", x)) }
        };
        match *self {
            Self::Rho(_) => Ok(()),
            Self::Pair(epsilon, _) if !(epsilon > 0.0 && epsilon.is_finite()) => {
                Err(Error::parameter("epsilon", "be positive and finite", epsilon))
            }
            Self::Pair(_, delta) => open("delta", delta),
            Self::Advantage(advantage) => open("advantage", advantage),
        }
    }

    /// The error that names the argument which no noise meets.
    fn refused(&self) -> Error {
        let rule = "allow noise between 2^-200 and 2^200 times the sensitivity";
        match self {
            Self::Rho(rho) => Error::parameter("rho", rule, rho.to_f64_up()),
            Self::Pair(epsilon, _) => Error::parameter("epsilon", rule, epsilon),
            Self::Advantage(advantage) => Error::parameter("advantage", rule, advantage),
        }
    }

    /// Whether a mechanism keeps it, by one value of its curve.
    fn allows(&self, mechanism: &NoiseMechanism, adjacency: Adjacency) -> Result<bool> {
        let spent = || mechanism.guarantee(adjacency);
        Ok(match self {
            Self::Rho(rho) => {
                let ratio = mechanism.widened().over(&mechanism.size);
                ratio.times(&ratio) <= rho.times(&Rational::whole(2u8))
            }
            // One value of delta is quicker than a search for epsilon, where powers of e fit a double.
            Self::Pair(epsilon, delta) if *epsilon < 700.0 => spent()?.delta(*epsilon) <= *delta,
            Self::Pair(epsilon, delta) => spent()?.epsilon(*delta) <= *epsilon,
            Self::Advantage(advantage) => spent()?.delta(0.0) <= *advantage,
        })
    }

    /// Whether a mechanism keeps it in the words of its report: the epsilon there is searched, and rounded up once more.
    fn reported(&self, mechanism: &NoiseMechanism, adjacency: Adjacency) -> Result<bool> {
        match self {
            Self::Pair(epsilon, delta) => Ok(mechanism.guarantee(adjacency)?.epsilon(*delta) <= *epsilon),
            _ => self.allows(mechanism, adjacency),
        }
    }
}

/// The least scale or sigma, up to 2^-40 of it, of noise on values at this distance, by the mechanism that it makes.
fn least_of(
    make: impl Fn(f64) -> Result<NoiseMechanism>,
    sensitivity: &Rational,
    budget: &NoiseBudget,
    adjacency: Adjacency,
) -> Result<f64> {
    budget.check()?;
    let mut size = least(sensitivity.to_f64_up(), BITS, |size| budget.allows(&make(size)?, adjacency))?
        .ok_or_else(|| budget.refused())?;
    // Rounding between the two ways to read a curve: parts in 10^12, so that a few doublings of one are enough.
    let mut step = 2f64.powi(-(BITS as i32));
    while !budget.reported(&make(size)?, adjacency)? {
        if step > 1e-3 {
            return Err(Error::numerical("calibrated", "no noise was found that is reported to keep the budget"));
        }
        size *= 1.0 + step;
        step *= 2.0;
    }
    Ok(size)
}

/// The least scale or sigma of noise on integers, or on a grid that adds nothing to the distance.
///
/// # Errors
/// [`Error::InvalidParameter`] for a budget that no noise of 2^-200 to 2^200 times the sensitivity meets.
pub fn least_size(noise: Noise, sensitivity: &Rational, budget: &NoiseBudget, adjacency: Adjacency) -> Result<f64> {
    let make = |size| {
        let size = Rational::from_f64("scale", size)?;
        Ok(NoiseMechanism { noise, size, sensitivity: sensitivity.clone(), grid: None })
    };
    least_of(make, sensitivity, budget, adjacency)
}

/// The least sigma of Gaussian noise on a grid, and the logarithm of the step of the grid.
///
/// # Errors
/// As for [`least_size`].
pub fn gaussian_on_grid(
    sensitivity: &Rational,
    changed: u64,
    budget: &NoiseBudget,
    adjacency: Adjacency,
) -> Result<(f64, i32)> {
    budget.check()?;
    let steps = steps_per_sigma(budget, changed);
    let on = |sigma: f64, log_step: i32| -> Result<NoiseMechanism> {
        let grid = Grid { step: Rational::power_of_two(log_step), changed };
        let size = Rational::from_f64("sigma", sigma)?;
        Ok(NoiseMechanism { noise: Noise::Gaussian, size, sensitivity: sensitivity.clone(), grid: Some(grid) })
    };
    // First on the finest grid for each sigma, then on one grid, whose step is small beside the noise and the distance.
    let finest = least_of(|sigma| on(sigma, log_step(sigma, STEPS.1)), sensitivity, budget, adjacency)?;
    let log_step = step_beside(finest, steps, sensitivity);
    Ok((least_of(|sigma| on(sigma, log_step), sensitivity, budget, adjacency)?, log_step))
}

/// The step of the grid where none is stated, a power of two, as a logarithm: small beside the noise and beside the distance,
/// which rounding moves by a step.
pub fn default_step(size: &Rational, sensitivity: &Rational) -> i32 {
    step_beside(size.to_f64_down(), STEPS.0, sensitivity)
}

/// With so many steps to the size of the noise, as a logarithm, or more where the distance is smaller.
fn step_beside(size: f64, steps: i32, sensitivity: &Rational) -> i32 {
    log_step(size, steps).min(log_step(sensitivity.to_f64_down(), STEPS.0)).max(log_step(size, STEPS.1))
}

/// The largest power of two of at most size / 2^steps, as a logarithm.
fn log_step(size: f64, steps: i32) -> i32 {
    let size = size.max(f64::MIN_POSITIVE);
    // A logarithm that rounds up to an integer would be one too large.
    let log = size.log2().floor() as i32;
    let log = if 2f64.powi(log) > size { log - 1 } else { log };
    (log - steps).clamp(LOG_RANGE.0, LOG_RANGE.1)
}

/// The steps at which the error of the grid takes less than a thousandth of delta, as a logarithm.
fn steps_per_sigma(budget: &NoiseBudget, changed: u64) -> i32 {
    let NoiseBudget::Pair(epsilon, delta) = *budget else {
        return STEPS.0;
    };
    let bits = ((changed as f64).log2() + epsilon / std::f64::consts::LN_2 + 1.0 - delta.log2() + 10.0) / 4.0;
    (bits.ceil().min(f64::from(STEPS.1)) as i32).max(STEPS.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guarantee::Guarantee;

    const ONE: Adjacency = Adjacency::Replace;

    #[test]
    fn laplace_noise_meets_what_a_closed_form_says() {
        let two = Rational::whole(2u8);
        for advantage in [1e-9_f64, 0.1, 0.9] {
            let found = least_size(Noise::Laplace, &two, &NoiseBudget::Advantage(advantage), ONE).unwrap();
            // tanh(epsilon / 2) = advantage.
            let exact = 2.0 / (2.0 * advantage.atanh());
            assert!(found >= exact * (1.0 - 1e-13) && found <= exact * (1.0 + 1e-9), "{advantage}");
        }
    }

    #[test]
    fn the_reported_epsilon_keeps_the_budget_and_uses_it() {
        for (epsilon, delta) in
            [(0.01, 1e-9), (1.0, 1e-6), (8.0, 1e-12), (30.0, 1e-6), (150.0, 1e-6), (400.0, 1e-9), (1e4, 1e-6)]
        {
            let (sigma, log_step) =
                gaussian_on_grid(&Rational::whole(1u8), 2, &NoiseBudget::Pair(epsilon, delta), ONE).unwrap();
            let grid = Grid { step: Rational::power_of_two(log_step), changed: 2 };
            let size = Rational::from_f64("sigma", sigma).unwrap();
            let made =
                NoiseMechanism { noise: Noise::Gaussian, size, sensitivity: Rational::whole(1u8), grid: Some(grid) };
            let spent = made.guarantee(ONE).unwrap().epsilon(delta);
            assert!(spent <= epsilon && spent >= 0.9999 * epsilon, "{epsilon} {delta}: {spent}");
            // Not much more than real noise, which no grid can undercut.
            let ideal = Guarantee::gaussian(ONE, sigma / 1.04, 1.0).unwrap().epsilon(delta);
            assert!(ideal > epsilon, "{epsilon} {delta}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for budget in [NoiseBudget::Pair(0.0, 0.1), NoiseBudget::Pair(1.0, 1.0), NoiseBudget::Advantage(0.0)] {
            assert!(least_size(Noise::Gaussian, &Rational::whole(1u8), &budget, ONE).is_err());
        }
        assert!(
            least_size(Noise::Gaussian, &Rational::whole(1u8), &NoiseBudget::Rho(Rational::whole(0u8)), ONE).is_err()
        );
    }

    /// The name of the argument that an error is about.
    fn named<T: std::fmt::Debug>(result: Result<T>) -> &'static str {
        match result.unwrap_err() {
            Error::InvalidParameter { name, .. } => name,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn concentrated_noise_is_what_the_definition_says() {
        // Half the squared distance over sigma^2 is rho.
        for (sensitivity, rho) in [(1.0, 0.5), (3.0, 1e-4), (0.25, 2.0), (1e6, 1e-9)] {
            let distance = Rational::from_f64("sensitivity", sensitivity).unwrap();
            let budget = NoiseBudget::Rho(Rational::from_f64("rho", rho).unwrap());
            let found = least_size(Noise::Gaussian, &distance, &budget, ONE).unwrap();
            let exact = sensitivity / f64::sqrt(2.0 * rho);
            assert!(found >= exact * (1.0 - 1e-15) && found <= exact * (1.0 + 2e-12), "{sensitivity} {rho}: {found}");
        }
    }

    #[test]
    fn laplace_noise_meets_a_pair_as_randomised_response_does() {
        // (e^r - e^epsilon)/(1 + e^r) = delta for the loss r; beyond doubles e^-r is nothing.
        for (epsilon, delta) in
            [(0.1_f64, 1e-6_f64), (1.0, 0.3), (20.0, 1e-9), (690.0, 0.5), (710.0, 0.5), (2000.0, 0.25)]
        {
            let found =
                least_size(Noise::Laplace, &Rational::whole(3u8), &NoiseBudget::Pair(epsilon, delta), ONE).unwrap();
            let loss = epsilon + (delta * (-epsilon).exp()).ln_1p() - (-delta).ln_1p();
            let exact = 3.0 / loss;
            assert!(
                found >= exact * (1.0 - 1e-13) && found <= exact * (1.0 + 1e-9),
                "{epsilon} {delta}: {found} {exact}"
            );
        }
    }

    #[test]
    fn gaussian_noise_meets_an_advantage_as_two_normal_laws_do() {
        for advantage in [1e-3_f64, 0.1, 0.8] {
            let budget = NoiseBudget::Advantage(advantage);
            let (sigma, log_step) = gaussian_on_grid(&Rational::whole(1u8), 3, &budget, ONE).unwrap();
            // Total variation at distance mu is erf(mu/sqrt 8).
            let reached = libm::erf(1.0 / (sigma * 8.0_f64.sqrt()));
            assert!(reached <= advantage && reached >= advantage * (1.0 - 1e-5), "{advantage}: {reached}");
            assert_eq!(log_step, -20 + (sigma.log2().floor() as i32).min(0));
        }
    }

    #[test]
    fn grids_are_fine_beside_the_noise_and_the_distance() {
        for (distance, epsilon, delta, changed) in [
            (1.0, 1.0, 1e-6, 2),
            (2f64.powi(-30), 1.0, 1e-6, 2),
            (1e5, 30.0, 1e-12, 1000),
            (1.0, 300.0, 1e-6, 2),
            // Beside so much noise no grid is as fine as the distance asks for.
            (1e-3, 1e-7, 1e-10, 2),
        ] {
            let sensitivity = Rational::from_f64("sensitivity", distance).unwrap();
            let budget = NoiseBudget::Pair(epsilon, delta);
            let (sigma, log_step) = gaussian_on_grid(&sensitivity, changed, &budget, ONE).unwrap();
            let (steps, of_distance) = (sigma / 2f64.powi(log_step), distance / 2f64.powi(log_step));
            assert!(steps <= 2f64.powi(45) && steps >= 2f64.powi(20), "{distance} {epsilon}: {steps}");
            assert!(of_distance >= 2f64.powi(20) || steps >= 2f64.powi(44) * 0.999, "{distance} {epsilon}");
            // No finer than it must be.
            let wanted = 2f64.powi(steps_per_sigma(&budget, changed));
            assert!(steps < 2.0 * wanted || of_distance < 2f64.powi(21), "{distance} {epsilon}: {steps} {of_distance}");
            // What the law of the noise is off by is no matter of delta.
            let error = changed as f64 / (5.0 * steps.powi(4)) * (1.0 + epsilon.min(300.0).exp());
            assert!(error < 1e-3 * delta || steps >= 2f64.powi(43), "{distance} {epsilon}: {error}");
        }
    }

    #[test]
    fn steps_are_the_least_for_a_thousandth_of_delta() {
        for (epsilon, delta, changed) in [
            (1.0_f64, 1e-6_f64, 2_u64),
            (0.01, 0.1, 1),
            (30.0, 1e-12, 1 << 40),
            (30.0, 1e-12, 1 << 38),
            (60.0, 1e-9, 5),
            (15.0, 1e-18, 3),
        ] {
            let steps = steps_per_sigma(&NoiseBudget::Pair(epsilon, delta), changed);
            // 16^steps delta >= 2^11 changed e^epsilon
            let enough = |steps: i32| 16f64.powi(steps) * delta >= 2048.0 * changed as f64 * epsilon.exp();
            assert!(steps == 20 && enough(20) || enough(steps) && !enough(steps - 1), "{epsilon} {delta}: {steps}");
        }
        assert_eq!(steps_per_sigma(&NoiseBudget::Pair(500.0, 1e-9), 2), 44);
        assert_eq!(steps_per_sigma(&NoiseBudget::Advantage(1e-9), 1 << 50), 20);
    }

    #[test]
    fn steps_are_powers_of_two_that_are_not_too_large() {
        for size in [1.0, 8f64.next_down(), 8.0, 8f64.next_up(), 1e-9, 3.7e10, 2f64.powi(60).next_down()] {
            for steps in [20, 44] {
                let log = log_step(size, steps);
                assert!(2f64.powi(log + steps) <= size && 2f64.powi(log + steps + 1) > size, "{size} {steps}: {log}");
            }
        }
        assert_eq!((log_step(1e-300, 20), log_step(f64::MAX, 44)), (-1000, 900));
    }

    #[test]
    fn what_no_noise_meets_is_named() {
        let one = Rational::whole(1u8);
        let size = |noise, budget: &NoiseBudget| least_size(noise, &one, budget, ONE);
        let tiny = Rational::power_of_two(-500);
        assert_eq!(named(size(Noise::Gaussian, &NoiseBudget::Rho(tiny))), "rho");
        assert_eq!(named(size(Noise::Laplace, &NoiseBudget::Advantage(1e-100))), "advantage");
        assert_eq!(named(size(Noise::Laplace, &NoiseBudget::Pair(1e-100, 1e-150))), "epsilon");
        for x in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
            assert_eq!(named(size(Noise::Laplace, &NoiseBudget::Advantage(x))), "advantage");
            assert_eq!(named(size(Noise::Laplace, &NoiseBudget::Pair(1.0, x))), "delta");
            assert_eq!(named(gaussian_on_grid(&one, 1, &NoiseBudget::Pair(1.0, x), ONE)), "delta");
        }
        for x in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert_eq!(named(size(Noise::Laplace, &NoiseBudget::Pair(x, 0.1))), "epsilon");
            assert_eq!(named(gaussian_on_grid(&one, 1, &NoiseBudget::Pair(x, 0.1), ONE)), "epsilon");
        }
    }
}
