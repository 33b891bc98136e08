//! Sums of epsilon: the rule for pure differential privacy, with a sum for the chance of telling everything beside it.
//!
//! The family is RR_E behind a leak S: binary randomised response at E, after everything was told with probability
//! 1 - e^-S. It is the worst pair that is (E, 1 - e^-S)-DP [KOV15], and RR_e x RR_E is below RR_(e+E): so costs (e, s) of
//! curves below RR_e behind s add up (theory D2).

use super::Spend;
use super::rule::{Decision, Opening, Rule, checked, refused};
use super::running::Running;
use crate::Result;
use crate::rounding::{ln_1p_down, ln_1p_up};

/// The state: sums of epsilon, of leaks, and of samplers' errors, each as two doubles.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sums {
    pub(super) epsilon: Running,
    pub(super) leak: Running,
    pub(super) errors: Running,
}

impl Sums {
    pub(super) fn numbers(&self) -> Vec<f64> {
        [self.epsilon, self.leak, self.errors].into_iter().flat_map(|sum| [sum.high, sum.low]).collect()
    }

    pub(super) fn read(numbers: &[f64]) -> Result<Self> {
        checked(numbers.len() == 6 && numbers.iter().all(|x| x.is_finite()))?;
        checked(numbers.chunks(2).all(|sum| sum[0] >= 0.0 && sum[0] + sum[1] == sum[0]))?;
        let sum = |i: usize| Running { high: numbers[2 * i], low: numbers[2 * i + 1] };
        Ok(Self { epsilon: sum(0), leak: sum(1), errors: sum(2) })
    }

    fn plus(&self, (epsilon, leak): (f64, f64), error: f64) -> Self {
        Self { epsilon: self.epsilon.plus(epsilon), leak: self.leak.plus(leak), errors: self.errors.plus(error) }
    }
}

/// Sums of epsilon within a fixed one, and of leaks within delta.
#[derive(Debug, Clone)]
pub struct PureRule {
    opening: Opening,
    leak: f64,
}

impl PureRule {
    /// The rule of this budget; with a delta of zero only pure curves can be paid.
    ///
    /// # Errors
    /// [`crate::Error::InvalidParameter`] unless epsilon is positive and delta in [0, 1).
    pub fn new(epsilon: f64, delta: f64) -> Result<Self> {
        let opening = Opening::new(epsilon, delta)?;
        // -ln(1 - delta), from below.
        Ok(Self { opening, leak: -ln_1p_up(-opening.ideal_delta()) })
    }

    pub(super) fn opening(&self) -> &Opening {
        &self.opening
    }

    /// Epsilon, and the leak, that is left.
    pub(super) fn left(&self, sums: &Sums) -> (f64, f64) {
        (sums.epsilon.left_of(self.opening.epsilon), sums.leak.left_of(self.leak).max(0.0))
    }

    /// The sums with a spend, if they are within the budget.
    pub(super) fn paid(&self, sums: &Sums, spend: &Spend) -> Option<Sums> {
        let cost = self.cost(sums, spend)?;
        let then = sums.plus(cost, spend.error());
        let fits = then.epsilon.within(self.opening.epsilon)
            && then.leak.within(self.leak)
            && then.errors.within(self.opening.errors);
        fits.then_some(then)
    }

    /// (e, s) with the curve below RR_e behind the leak s.
    fn cost(&self, sums: &Sums, spend: &Spend) -> Option<(f64, f64)> {
        if let Some(loss) = spend.largest_loss(self.opening.epsilon) {
            return Some((loss, spend.leak()));
        }
        // Any point of the curve will do: the one that takes the same share of both.
        let (epsilon, leak) = self.left(sums);
        let at = |share: f64| {
            let delta = -(-share * leak).exp_m1();
            (spend.epsilon(delta), -ln_1p_down(-delta))
        };
        let (mut low, mut high) = (0.0, 1.0);
        if !(leak > 0.0 && at(high).0 <= epsilon) {
            return None;
        }
        for _ in 0..30 {
            let middle = if low > 0.0 { f64::sqrt(low * high) } else { 0.1 * high };
            if at(middle).0 <= middle * epsilon {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(at(high))
    }

    /// About how many of these spends fit into what is left.
    pub(super) fn affords(&self, sums: &Sums, spend: &Spend) -> f64 {
        let (epsilon, leak) = self.left(sums);
        // A cost of zero fits for ever.
        let often = |left: f64, cost: f64| if cost > 0.0 { left / cost } else { f64::INFINITY };
        self.cost(sums, spend).map_or(0.0, |cost| often(epsilon, cost.0).min(often(leak, cost.1)))
    }

    /// The share of the budget that these sums are.
    pub(super) fn share(&self, sums: &Sums) -> f64 {
        sums.epsilon.share_of(self.opening.epsilon).max(sums.leak.share_of(self.leak))
    }
}

impl Rule for PureRule {
    fn start(&self) -> Vec<f64> {
        Sums::default().numbers()
    }

    fn debit(&self, state: &[f64], spend: &Spend) -> Result<Decision> {
        let sums = Sums::read(state)?;
        if let Some(then) = self.paid(&sums, spend) {
            return Ok(Decision::Paid(then.numbers()));
        }
        if sums == Sums::default() && self.opening.fits_alone(spend) {
            return Ok(Decision::Paid(self.used_up().numbers()));
        }
        let (epsilon, leak) = self.left(&sums);
        match self.cost(&sums, spend) {
            None => refused(format!(
                "no point of its curve is within epsilon {epsilon:.6} at delta {:.3e}",
                -(-leak).exp_m1()
            )),
            Some((cost, told)) => refused(format!(
                "it costs epsilon {cost:.6} and delta {:.3e}, and {:.6} and {:.3e} are left",
                -(-told).exp_m1(),
                epsilon.max(0.0),
                -(-leak).exp_m1()
            )),
        }
    }

    fn used(&self, state: &[f64]) -> Result<f64> {
        Ok(self.share(&Sums::read(state)?))
    }
}

impl PureRule {
    /// The state in which nothing is left.
    fn used_up(&self) -> Sums {
        let all = |whole: f64| Running { high: whole, low: 0.0 };
        Sums { epsilon: all(self.opening.epsilon), leak: all(self.leak), errors: all(self.opening.errors) }
    }
}
