//! The profile of a pair of discrete distributions, given by the masses of P at finitely many losses.

use super::{Profile, parameter};
use crate::{Error, Result};

/// Tables up to so long tell where they bend; longer ones are smooth for all practical purposes.
const FEW: usize = 256;

/// Masses at losses, and mass at infinity: delta(eps) = sum of p (1 - exp(eps - loss)) over losses above eps.
#[derive(Clone)]
pub struct LossTable {
    losses: Vec<f64>,
    /// The profile at each loss.
    values: Vec<f64>,
    total: f64,
    infinite: f64,
    /// Relative error of any value, and of interpolating.
    margin: f64,
}

impl LossTable {
    /// The profile of these masses, which may sum to less than one: what is missing lies at minus infinity.
    ///
    /// # Errors
    ///
    /// If the losses do not increase strictly, a mass is negative, the sum is above one by more than what pessimistic
    /// rounding adds, or nothing is given.
    pub fn new(losses: Vec<f64>, masses: &[f64], infinite: f64) -> Result<Self> {
        let infinite = parameter::non_negative("infinite", infinite)?;
        if losses.len() != masses.len() || losses.is_empty() {
            return Err(Error::parameter("masses", "be as many as the losses, at least one", masses.len()));
        }
        if !losses.windows(2).all(|pair| pair[0] < pair[1]) || !losses.iter().all(|loss| loss.is_finite()) {
            return Err(Error::parameter("losses", "be finite and increase strictly", "others"));
        }
        if let Some(mass) = masses.iter().find(|mass| !(**mass >= 0.0)) {
            return Err(Error::parameter("masses", "be non-negative", mass));
        }
        let total: f64 = masses.iter().sum::<f64>() + infinite;
        if !(total <= 1.0 + 1e-6) {
            return Err(Error::parameter("masses", "sum to at most one with the mass at infinity", total));
        }
        let mut values = vec![infinite; losses.len()];
        // Mass of Q above the current loss, in units of exp(-loss); every term is positive.
        let mut beyond = 0.0;
        for i in (1..losses.len()).rev() {
            let gap = losses[i] - losses[i - 1];
            let here = masses[i] + beyond;
            let fall = -exp_m1(-gap);
            values[i - 1] = values[i] + fall * here;
            beyond = (1.0 - fall) * here;
        }
        let margin = (6 * losses.len() + 32) as f64 * f64::EPSILON;
        Ok(Self { losses, values, total, infinite, margin })
    }

    fn value(&self, epsilon: f64) -> f64 {
        let above = self.losses.partition_point(|&loss| loss <= epsilon);
        if above == self.losses.len() {
            return self.infinite;
        }
        let (right, high) = (self.losses[above], self.values[above]);
        // Linear in exp(eps); to the left of all losses from the total at exp(eps) = 0. What is left of the way to the next
        // loss, (e^right - e^eps) / (e^right - e^left), is written without a difference that cancels next to the last loss,
        // where it is all of delta, and without powers that overflow where losses are far apart.
        let rest = -(epsilon - right).exp_m1();
        match above.checked_sub(1) {
            None => high + (self.total - high) * rest,
            Some(i) => high + (self.values[i] - high) * (rest / -(self.losses[i] - right).exp_m1()),
        }
    }
}

impl Profile for LossTable {
    fn delta_upper(&self, epsilon: f64) -> f64 {
        if epsilon.is_nan() {
            return 1.0;
        }
        if epsilon >= self.losses[self.losses.len() - 1] {
            return self.infinite.max(-epsilon.exp_m1());
        }
        // Mass that is missing at minus infinity counts nowhere above it. The next double covers what underflows.
        (self.value(epsilon) * (1.0 + self.margin)).next_up().max(-epsilon.exp_m1()).min(1.0)
    }

    fn delta_lower(&self, epsilon: f64) -> f64 {
        if epsilon.is_nan() { 0.0 } else { (self.value(epsilon) * (1.0 - self.margin)).clamp(0.0, 1.0) }
    }

    fn kinks(&self) -> Vec<f64> {
        if self.losses.len() <= FEW { self.losses.clone() } else { Vec::new() }
    }
}

/// exp(x) - 1 for x < 0; long tables have close losses, for which four terms are as good and much faster.
fn exp_m1(x: f64) -> f64 {
    if x < -2e-4 { x.exp_m1() } else { x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0)))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::BudgetPair;

    #[test]
    fn close_losses_take_the_same_exponential() {
        for x in [-1e-12_f64, -1e-7, -1e-5, -1.9e-4, -2e-4, -2.1e-4, -0.3, -40.0] {
            assert!((exp_m1(x) / x.exp_m1() - 1.0).abs() < 5e-16, "{x}");
        }
    }

    #[test]
    fn randomised_response_is_a_table_of_two_losses() {
        let (eps, delta) = (0.7_f64, 1e-3);
        let up = (1.0 - delta) / (1.0 + (-eps).exp());
        let table = LossTable::new(vec![-eps, eps], &[up * (-eps).exp(), up], delta).unwrap();
        let pair = BudgetPair::new(eps, delta).unwrap();
        for at in [-3.0, -0.7, -0.2, 0.0, 0.3, 0.69, 0.7, 2.0, f64::INFINITY] {
            assert!(
                table.delta_upper(at) >= pair.delta_lower(at) && table.delta_lower(at) <= pair.delta_upper(at),
                "{at}"
            );
            assert!(table.delta_upper(at) - table.delta_lower(at) < 1e-13, "{at}");
        }
    }

    #[test]
    fn losses_that_are_far_apart_keep_their_profile() {
        // delta = 0.75 (1 - e^(eps - 1250)) + 0 for eps in [-1250, 1250]: nothing overflows on the way.
        let table = LossTable::new(vec![-1250.0, 1250.0], &[0.25, 0.75], 0.0).unwrap();
        for (epsilon, delta) in [(-700.0, 0.75), (0.0, 0.75), (700.0, 0.75), (1200.0, 0.75), (1249.0, 0.474_090_419)] {
            let upper = table.delta_upper(epsilon);
            assert!((table.delta_lower(epsilon)..=upper).contains(&upper), "{epsilon}");
            assert!((upper - delta).abs() < 1e-9 || (epsilon < 0.0 && upper == 1.0), "{epsilon}: {upper}");
        }
        assert_eq!(table.delta_upper(1250.0), 0.0);
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        assert!(LossTable::new(vec![], &[], 0.5).is_err());
        assert!(LossTable::new(vec![1.0, 1.0], &[0.1, 0.1], 0.0).is_err());
        assert!(LossTable::new(vec![1.0], &[-0.1], 0.0).is_err());
        assert!(LossTable::new(vec![1.0], &[0.9], 0.2).is_err());
        assert!(LossTable::new(vec![1.0], &[f64::NAN], 0.2).is_err());
    }

    #[test]
    fn the_profile_is_the_sum_over_the_losses_above() {
        let uneven = [(-2.0, 0.1), (-0.3, 0.2), (-0.2999, 0.05), (0.4, 0.25), (3.0, 0.3)];
        let negative = [(-3.0, 0.5), (-0.2, 0.25)];
        for (law, infinite) in [(&uneven[..], 0.04), (&uneven[..], 0.0), (&negative[..], 0.01)] {
            let (losses, masses): (Vec<f64>, Vec<f64>) = law.iter().copied().unzip();
            let table = LossTable::new(losses.clone(), &masses, infinite).unwrap();
            for i in -500..=400 {
                let epsilon = 0.01 * f64::from(i);
                let gain = |&(loss, p): &(f64, f64)| if loss > epsilon { -p * (epsilon - loss).exp_m1() } else { 0.0 };
                let exact = infinite + law.iter().map(gain).sum::<f64>();
                let (lower, upper) = (table.delta_lower(epsilon), table.delta_upper(epsilon));
                assert!(lower <= exact && lower >= exact * (1.0 - 1e-13), "{epsilon}: {lower:e} {exact:e}");
                let most = exact.max(-epsilon.exp_m1());
                assert!(upper >= most && upper <= most * (1.0 + 1e-13), "{epsilon}: {upper:e} {most:e}");
            }
            assert_eq!(
                (table.delta_upper(f64::INFINITY), table.delta_lower(f64::INFINITY)),
                (infinite, infinite * (1.0 - table.margin))
            );
            assert_eq!((table.delta_upper(f64::NAN), table.delta_lower(f64::NAN), table.kinks()), (1.0, 0.0, losses));
        }
        // The last one of a table of 256 losses still tells where it bends.
        let of = |n: i32| {
            let losses: Vec<f64> = (0..n).map(f64::from).collect();
            LossTable::new(losses, &vec![1.0 / f64::from(n); n as usize], 0.0).unwrap().kinks().len()
        };
        assert_eq!((of(256), of(257)), (256, 0));
    }

    #[test]
    fn next_to_the_last_loss_delta_keeps_its_digits() {
        for (losses, masses) in
            [(vec![-0.7, 0.7], vec![0.25, 0.65]), (vec![-1e-5, 1e-5], vec![0.4, 0.5]), (vec![1.0], vec![0.5])]
        {
            let (loss, mass) = (losses[losses.len() - 1], masses[masses.len() - 1]);
            let table = LossTable::new(losses, &masses, 0.0).unwrap();
            // Between the last two losses it is the mass of the last one times 1 - exp(eps - loss), to half its last digit.
            for part in [1e-2, 1e-5, 1e-8, 1e-11, 1e-14, 4e-16] {
                let epsilon = loss * (1.0 - part);
                let exact = mass * -(epsilon - loss).exp_m1();
                let (lower, upper) = (table.delta_lower(epsilon), table.delta_upper(epsilon));
                assert!(lower <= exact && lower >= exact * (1.0 - 1e-13), "{loss} {part}: {lower:e} {exact:e}");
                let most = exact.max(-epsilon.exp_m1());
                assert!(upper >= most && upper <= most * (1.0 + 1e-13), "{loss} {part}: {upper:e} {most:e}");
            }
        }
    }
}
