//! One cell: the prior of its count, what was released of it, and the window of the counts that matter.

use super::blocks::Part;
use super::factor::Factor;
use super::segment::Segment;
use crate::special::{log_gamma, log_gamma_ratio};
use crate::{Error, Result, interrupt};

/// No count is looked at beyond: doubles hold every integer up to here.
pub(super) const LARGEST_COUNT: u64 = 1 << 53;

/// Counts in one window at most: a table of 128 MiB.
const LARGEST_WINDOW: usize = 1 << 24;

/// The count of one category: Dirichlet prior with parameter `prior`, any number of releases.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    prior: f64,
    factors: Vec<Factor>,
    /// A public lower bound of the count.
    least: u64,
}

/// The law of a count that is proportional to exp(tilt x) times its weight, on a window.
#[derive(Debug, Clone)]
pub(super) struct TiltedLaw {
    /// Masses that sum to one.
    pub(super) law: Segment,
    /// The logarithm of the sum of the tilted weights.
    pub(super) log_sum: f64,
    /// Bound of the mass outside of the window, as a share of the mass inside.
    pub(super) outside: f64,
}

impl Cell {
    /// A cell whose share has the parameter `prior` in the Dirichlet prior.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless the prior is in [1e-12, 1e12] and the least count at most 2^53.
    pub fn new(prior: f64, factors: Vec<Factor>, least: u64) -> Result<Self> {
        if !(1e-12..=1e12).contains(&prior) {
            return Err(Error::parameter("prior", "have entries in [1e-12, 1e12]", prior));
        }
        if least > LARGEST_COUNT {
            return Err(Error::parameter("least", "be at most 2^53", least));
        }
        Ok(Self { prior, factors, least })
    }

    /// The cell before anything was released.
    pub(super) fn unreleased(&self) -> Self {
        Self { factors: Vec::new(), ..*self }
    }

    /// The parameter of the prior.
    pub fn prior(&self) -> f64 {
        self.prior
    }

    /// The public lower bound of the count.
    pub fn least(&self) -> u64 {
        self.least
    }

    /// ln of Gamma(x + a) / (x! Gamma(a)) times the likelihood (theory E1): the weight of count x but for the total's part.
    pub fn log_weight(&self, x: f64) -> f64 {
        log_ways(self.prior, x) + self.factors.iter().map(|factor| factor.log_at(x)).sum::<f64>()
    }

    /// The logarithm of the likelihood of count x.
    pub(super) fn log_likelihood(&self, x: f64) -> f64 {
        self.factors.iter().map(|factor| factor.log_at(x)).sum()
    }

    /// Whether the releases alone say that the count is not too large.
    pub(super) fn locates(&self) -> bool {
        self.factors.iter().any(Factor::locates)
    }

    /// The increment from x to x + 1 of the concave function that bounds the weights; the part of a prior below one, which
    /// is convex and falls, is left out.
    fn concave_increment(&self, x: f64, tilt: f64) -> f64 {
        let prior = if self.prior > 1.0 { ((self.prior - 1.0) / (x + 1.0)).ln_1p() } else { 0.0 };
        prior + tilt + self.factors.iter().map(|factor| factor.concave_increment(x)).sum::<f64>()
    }

    /// The count where the concave function is largest, at most `cap`; none if it rises up to [`LARGEST_COUNT`].
    pub(super) fn mode(&self, tilt: f64, cap: u64) -> Option<u64> {
        let rises = |x: u64| self.concave_increment(x as f64, tilt) > 0.0;
        let start = (self.guess().round() as u64).clamp(self.least, cap);
        // low: it rises here, or this is the least; high: it does not rise here, or this is the cap.
        let (mut low, mut high) = (start, start);
        let mut step = 1;
        if start < cap && rises(start) {
            loop {
                low = high;
                high = high.saturating_add(step).min(cap);
                step *= 2;
                if high == cap || !rises(high) {
                    break;
                }
            }
        } else {
            loop {
                high = low;
                if low == self.least {
                    break;
                }
                low = low.saturating_sub(step).max(self.least);
                step *= 2;
                if rises(low) {
                    break;
                }
            }
            if !rises(low) {
                high = low;
            }
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if rises(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        (high < LARGEST_COUNT).then_some(high)
    }

    /// The ratios at x + 1 and x of the likelihood with the tilt, and of the concave function that bounds it.
    #[inline]
    fn likelihood_ratios(&self, x: f64, tilt: f64, last: &mut LastExponential) -> (f64, f64) {
        let exponent = tilt + self.factors.iter().map(|factor| factor.increment(x)).sum::<f64>();
        let ratio = last.exp(exponent);
        if self.factors.iter().all(Factor::is_concave) {
            return (ratio, ratio);
        }
        (ratio, (tilt + self.factors.iter().map(|factor| factor.concave_increment(x)).sum::<f64>()).exp())
    }
}

impl Part for Cell {
    fn least(&self) -> u64 {
        self.least
    }

    fn guess(&self) -> f64 {
        self.factors.first().map_or(0.0, Factor::guess).max(self.least as f64)
    }

    fn tilted(&self, tilt: f64, cap: u64, tail: f64) -> Result<TiltedLaw> {
        let cap = cap.clamp(self.least, LARGEST_COUNT);
        let mode = self.mode(tilt, cap).ok_or_else(|| too_large(LARGEST_COUNT as usize))?;
        let at = mode as f64;
        let excess: f64 = self.factors.iter().map(|factor| factor.concave_excess(at)).sum();
        // The concave function at the mode may exceed the weight by the excess on a coarse grid; both outward walks carry
        // the weight w, exact, and a bound c of it that is log-concave.
        let top = excess.exp();
        let mut walk = Walk { sum: 1.0, outside: 0.0 };
        let right = walk.right(self, tilt, mode, cap, (tail, top))?;
        let left = walk.left(self, tilt, mode, (tail, top))?;
        let start = mode as i64 - left.len() as i64;
        let mut values: Vec<f64> = left.into_iter().rev().collect();
        values.push(1.0);
        values.extend(right);
        let sum: f64 = values.iter().sum();
        values.iter_mut().for_each(|p| *p /= sum);
        let log_sum = self.log_weight(at) + tilt * at + sum.ln();
        Ok(TiltedLaw { law: Segment { start, values }, log_sum, outside: walk.outside / sum })
    }
}

/// ln of Gamma(x + a) / (x! Gamma(a)).
pub(super) fn log_ways(a: f64, x: f64) -> f64 {
    // Gamma(x + a) / x! is a ratio of near arguments, or Gamma(x + a) / Gamma(a) is, whichever step is shorter.
    if a < x + 1.0 {
        log_gamma_ratio(x + 1.0, a - 1.0) - log_gamma(a)
    } else {
        log_gamma_ratio(a, x) - log_gamma(x + 1.0)
    }
}

/// An exponential of an argument that often repeats: Laplace noise has two slopes only.
#[derive(Default)]
struct LastExponential {
    argument: f64,
    value: f64,
}

impl LastExponential {
    #[inline]
    fn exp(&mut self, x: f64) -> f64 {
        if x != self.argument || self.value == 0.0 {
            *self = Self { argument: x, value: x.exp() };
        }
        self.value
    }
}

/// The sum of the weights so far, in units of that at the mode, and a bound of what lies outside.
struct Walk {
    sum: f64,
    outside: f64,
}

impl Walk {
    /// The weights above the mode, as far as they matter.
    ///
    /// Beyond x the bound c falls at least geometrically by its ratio there, and a prior below one falls as well.
    fn right(&mut self, cell: &Cell, tilt: f64, mode: u64, cap: u64, (tail, top): (f64, f64)) -> Result<Vec<f64>> {
        let mut weights = Vec::new();
        let (mut weight, mut bound, mut last) = (1.0_f64, top, LastExponential::default());
        for x in mode..cap {
            let at = x as f64;
            let prior = (at + cell.prior) / (at + 1.0);
            let (exact, concave) = cell.likelihood_ratios(at, tilt, &mut last);
            // What falls: all of the concave function, with a prior above one; a prior below one falls by itself.
            let (ratio, step) = if cell.prior > 1.0 { (concave * prior, 1.0) } else { (concave, prior) };
            // The mass beyond is at most bound (q + q^2 + ...), q = ratio < 1.
            let beyond = if ratio < 1.0 { bound * step * ratio / (1.0 - ratio) } else { f64::INFINITY };
            if beyond <= tail * self.sum {
                self.outside += beyond;
                return Ok(weights);
            }
            weight *= exact * prior;
            bound *= concave * prior;
            self.sum += weight;
            weights.push(weight);
            guard(weights.len())?;
        }
        Ok(weights)
    }

    /// The weights below the mode, nearest first, as far as they matter.
    ///
    /// Below x the concave function falls geometrically, while a prior below one rises to at most 1 / its value at x.
    fn left(&mut self, cell: &Cell, tilt: f64, mode: u64, (tail, top): (f64, f64)) -> Result<Vec<f64>> {
        let mut weights = Vec::new();
        let (mut weight, mut concave, mut last) = (1.0_f64, top, LastExponential::default());
        // Gamma(x + a) / (x! Gamma(a)) at the mode, in units of which all is measured, is at most one for a < 1.
        let at_mode = if cell.prior < 1.0 {
            log_gamma_ratio(mode as f64 + 1.0, cell.prior - 1.0) - log_gamma(cell.prior)
        } else {
            0.0
        };
        let rise = (-at_mode).exp().max(1.0);
        for x in (cell.least..mode).rev() {
            let at = x as f64;
            let prior = (at + cell.prior) / (at + 1.0);
            let (exact, bound) = cell.likelihood_ratios(at, tilt, &mut last);
            let ratio = if cell.prior > 1.0 { 1.0 / (bound * prior) } else { 1.0 / bound };
            let beyond = if ratio < 1.0 { concave * ratio / (1.0 - ratio) * rise } else { f64::INFINITY };
            if beyond <= tail * self.sum {
                self.outside += beyond;
                return Ok(weights);
            }
            weight /= exact * prior;
            concave *= ratio;
            self.sum += weight;
            weights.push(weight);
            guard(weights.len())?;
        }
        Ok(weights)
    }
}

/// Ends a walk that is too long or that nobody waits for.
fn guard(length: usize) -> Result<()> {
    if length.is_multiple_of(4096) {
        interrupt::check()?;
        if length > LARGEST_WINDOW {
            return Err(too_large(length));
        }
    }
    Ok(())
}

fn too_large(length: usize) -> Error {
    Error::NotAffordable {
        asked: format!("a window of {length} counts or more"),
        limit: format!("{LARGEST_WINDOW} counts"),
        instead: "give a total, a prior of it, or a release with less noise",
    }
}

#[cfg(test)]
mod tests {
    use super::super::factor::Noise;
    use super::*;

    fn cells() -> Vec<Cell> {
        let laplace = |y, scale, step| Factor::noisy(y, Noise::Laplace { scale, step }).unwrap();
        let gaussian = |y, sigma, step| Factor::noisy(y, Noise::Gaussian { sigma, step }).unwrap();
        let share = |y: f64| Factor::share(y - 1e-9, y + 1e-9, 0.5, 1.5).unwrap();
        let mut cells = Vec::new();
        for prior in [1e-6, 0.3, 1.0, 7.0, 400.0] {
            for factors in [
                vec![laplace(40.0, 3.0, 1.0)],
                vec![laplace(-4.0, 2.0, 0.5)],
                vec![gaussian(55.5, 6.0, 0.5)],
                vec![laplace(64.0, 20.0, 16.0)],
                vec![gaussian(48.0, 20.0, 16.0), laplace(30.0, 9.0, 1.0)],
                vec![share(0.1)],
                vec![Factor::urn(9, 0.5, 1.5).unwrap(), share(0.01), gaussian(30.0, 5.0, 1.0)],
            ] {
                cells.push(Cell::new(prior, factors, 3).unwrap());
            }
        }
        cells
    }

    #[test]
    fn windows_hold_all_mass_but_the_stated_part() {
        for cell in cells() {
            for (tilt, tail) in [(0.0, 1e-3), (0.0, 1e-12), (-0.7, 1e-12), (0.04, 1e-9)] {
                let cap = 3000;
                let tilted = cell.tilted(tilt, cap, tail).unwrap();
                let logs: Vec<f64> = (3..=cap).map(|x| cell.log_weight(x as f64) + tilt * x as f64).collect();
                let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = logs.iter().map(|l| (l - top).exp()).sum();
                let log_total = top + total.ln();
                let window = tilted.law.start..tilted.law.end();
                let inside: f64 = (3..=cap as i64)
                    .filter(|x| window.contains(x))
                    .map(|x| (logs[x as usize - 3] - log_total).exp())
                    .sum();
                assert!(tilted.outside <= 2.0 * tail * (1.0 + 1e-9), "{cell:?}");
                assert!(1.0 - inside <= tilted.outside + 1e-13, "{cell:?} {tilt} {tail}: {inside}");
                assert!((tilted.log_sum - log_total - inside.ln()).abs() < 1e-10, "{cell:?}");
                for (x, p) in tilted.law.iter() {
                    let exact = (logs[x as usize - 3] - log_total).exp() / inside;
                    assert!((p - exact).abs() <= 1e-11 * exact, "{cell:?} at {x}: {p} {exact}");
                }
            }
        }
    }

    #[test]
    fn weights_without_a_finite_sum_are_refused() {
        let cell =
            Cell::new(1.0, vec![Factor::noisy(5.0, Noise::Laplace { scale: 2.0, step: 1.0 }).unwrap()], 0).unwrap();
        assert!(cell.tilted(0.6, LARGEST_COUNT, 1e-12).is_err());
        assert!(cell.tilted(0.6, 100, 1e-12).is_ok());
        assert!(Cell::new(f64::NAN, vec![], 0).is_err());
    }
}
