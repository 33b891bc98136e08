//! Exact draws from the law of one coordinate: a histogram of integer weights above it, corrected by rejection.
//!
//! The window is cut into cells of equal width; the weight of a cell is an integer that no f(k) in it exceeds, in units of
//! 2^-bits of the largest, and each tail is one unit under a geometric law. A uniform integer below the sum of all names a
//! count and a height at once; the count stands if f is above the height. Almost always the doubles show it: otherwise f is
//! computed to thirty digits and the height gets a fraction. So rounding has no part in the law, and no tail is cut off.

use super::SCORE_ERROR;
use super::decision::{DECISION_ERROR, above_envelope, accept, fraction, log_uniform};
use super::law::{Law, Tail, Window};
use crate::double_double::{DoubleDouble, LN_2};
use crate::random::Bits;
use crate::sampling::uniform_below;
use crate::{Error, Result};

/// Units per largest weight, as a power of two, unless the window is too long for 64-bit sums.
pub(super) const UNIT_BITS: u32 = 40;
/// Sums of weights stay below 2^62.
const SUM_BITS: u32 = 62;
/// How fine the histogram is: what it costs to build against how often it rejects.
#[derive(Debug, Clone, Copy)]
pub(super) struct Detail {
    /// Windows up to this long have cells of one count, with their scores at hand.
    narrow_to: u64,
    /// Cells per standard deviation of the others.
    cells_per_deviation: f64,
}

impl Detail {
    /// For tables that are drawn from often: 5 % above f.
    pub(super) const FINE: Self = Self { narrow_to: 256, cells_per_deviation: 8.0 };
    /// For tables that are drawn from once or twice: 20 % above f.
    pub(super) const COARSE: Self = Self { narrow_to: 16, cells_per_deviation: 2.0 };
}

/// Rejections in a row that mean a defect: the chance of each is below 3/4.
const MAX_REJECTIONS: u32 = 10_000;

/// The histogram of one coordinate at one node.
pub(super) struct Table {
    law: Law,
    window: Window,
    /// First count of the first cell; the last cells at either end may reach beyond the window.
    origin: i64,
    width: u64,
    /// Sums of weight times width up to and with each cell.
    sums: Vec<u64>,
    /// g(k) for cells of one count.
    scores: Vec<f64>,
    /// What cells and tails add up to.
    total: u64,
    unit_bits: u32,
    /// Bound on the error of ln f over the window.
    error: f64,
}

impl Table {
    /// The table of a law; `unit_bits` is [`UNIT_BITS`] but in tests, which take fewer to visit the tails.
    pub(super) fn new(law: Law, detail: Detail, unit_bits: u32) -> Result<Self> {
        let window = law.window(f64::from(unit_bits) * std::f64::consts::LN_2)?;
        let length = window.last - window.first + 1;
        let width = if length <= detail.narrow_to || !law.is_concave() {
            1
        } else {
            ((law.deviation() / detail.cells_per_deviation) as u64).max(1)
        };
        let before = (window.mode - window.first).div_ceil(width);
        let n_cells = before + (window.last - window.mode) / width + 1;
        let length_bits = u64::BITS - (n_cells * width + 2).leading_zeros();
        let unit_bits = unit_bits.min(SUM_BITS - length_bits);
        let origin = window.mode as i64 - (before * width) as i64;
        let mut table =
            Self { law, window, origin, width, sums: Vec::new(), scores: Vec::new(), total: 0, unit_bits, error: 0.0 };
        table.fill(before, n_cells);
        Ok(table)
    }

    fn fill(&mut self, before: u64, n_cells: u64) {
        let mut sum = 0;
        self.sums.reserve_exact(n_cells as usize);
        for cell in 0..n_cells {
            let start = self.origin + (cell * self.width) as i64;
            // ln f is concave where cells are wide: the end next to the mode has the largest weight.
            let highest = if cell < before { start + self.width as i64 - 1 } else { start };
            let highest = highest as u64;
            let score = self.law.coordinate.score(highest);
            if self.width == 1 {
                self.scores.push(score);
            }
            let error = self.log_error(highest, score);
            self.error = self.error.max(error);
            let height = (self.log_units(highest, score) + 2.0 * error).exp();
            sum += (height as u64 + 1) * self.width;
            self.sums.push(sum);
        }
        self.total = sum + u64::from(self.window.above.is_some()) + u64::from(self.window.below.is_some());
    }

    /// ln f(k) in units of the table.
    fn log_units(&self, k: u64, score: f64) -> f64 {
        self.law.log_weight_from_score(k, score) - self.window.log_peak
            + f64::from(self.unit_bits) * std::f64::consts::LN_2
    }

    /// Bound on the error of [`Self::log_units`] and of an exponential of it.
    fn log_error(&self, k: u64, score: f64) -> f64 {
        self.law.log_weight_error(k, score) + SCORE_ERROR * (1.0 + self.window.log_peak.abs())
    }

    /// Bytes held.
    pub(super) fn n_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.sums) + size_of_val(&*self.scores)
    }

    /// A count k and g(k).
    ///
    /// # Errors
    /// [`Error::Numerical`] when a bound is broken or nothing is accepted.
    pub(super) fn draw<B: Bits>(&self, bits: &mut B) -> Result<(u64, f64)> {
        for _ in 0..MAX_REJECTIONS {
            if let Some(found) = self.attempt(bits)? {
                return Ok(found);
            }
        }
        Err(Error::numerical("Hellinger sampler", "a coordinate was rejected too often"))
    }

    fn attempt<B: Bits>(&self, bits: &mut B) -> Result<Option<(u64, f64)>> {
        let height = uniform_below(bits, self.total);
        let cell = self.sums.partition_point(|&sum| sum <= height);
        let Some(&sum) = self.sums.get(cell) else {
            // One unit each: the upper tail comes first, if there is one.
            return match (self.window.above, self.window.below) {
                (Some(tail), _) if height + 1 < self.total || self.window.below.is_none() => {
                    self.attempt_tail(bits, tail, true)
                }
                (_, Some(tail)) => self.attempt_tail(bits, tail, false),
                _ => Err(above_envelope()),
            };
        };
        let start = if cell == 0 { 0 } else { self.sums[cell - 1] };
        let weight = (sum - start) / self.width;
        let offset = height - start;
        if self.width == 1 {
            let k = self.origin as u64 + cell as u64;
            let score = self.scores[cell];
            // The weight exceeds f by less than a unit and the errors: no need to compute f again.
            let surely = (weight - 1) as f64 * (1.0 - 5.0 * self.error);
            if ((offset + 1) as f64) < surely || self.is_under(bits, k, score, offset, weight)? {
                return Ok(Some((k, score)));
            }
            return Ok(None);
        }
        let k = self.origin + (cell as u64 * self.width + offset / weight) as i64;
        if k < self.window.first as i64 || k > self.window.last as i64 {
            return Ok(None);
        }
        let k = k as u64;
        let score = self.law.coordinate.score(k);
        Ok(self.is_under(bits, k, score, offset % weight, weight)?.then_some((k, score)))
    }

    /// Whether height plus a uniform fraction is below f(k), which must not exceed `weight`.
    fn is_under<B: Bits>(&self, bits: &mut B, k: u64, score: f64, height: u64, weight: u64) -> Result<bool> {
        let log_units = self.log_units(k, score);
        let error = self.log_error(k, score);
        let (lower, upper) = ((log_units - 1.5 * error).exp(), (log_units + 1.5 * error).exp());
        if lower > weight as f64 {
            return Err(above_envelope());
        }
        if (height + 1) as f64 <= lower {
            return Ok(true);
        }
        if height as f64 >= upper {
            return Ok(false);
        }
        if height == 0 && upper <= 1.0 {
            // A probability as small as it may be, with a uniform that is as fine as it takes.
            return accept(bits, log_units, 1.5 * error, || self.exact_log_units(k));
        }
        // The fraction's first word decides but for the error of the doubles.
        let word = bits.next_u64();
        let point = height as f64 + word as f64 * 2f64.powi(-64);
        let slack = SCORE_ERROR * (1.0 + point);
        if point + slack <= lower {
            return Ok(true);
        }
        if point - slack >= upper {
            return Ok(false);
        }
        let (units, error) = self.exact_units(k)?;
        if units.to_f64() * (1.0 - error) > weight as f64 {
            return Err(above_envelope());
        }
        let rest = units - DoubleDouble::from(height) - fraction(word, bits);
        Ok(rest.to_f64() > units.to_f64() * error + 2f64.powi(-100))
    }

    /// ln f(k) in units of the table, to thirty digits, and its error.
    fn exact_log_units(&self, k: u64) -> Result<(DoubleDouble, f64)> {
        let (log_weight, error) = self.law.exact_log_weight(k);
        let log = log_weight - DoubleDouble::from(self.window.log_peak) + LN_2 * f64::from(self.unit_bits);
        let error = error + 2f64.powi(-94) * (1.0 + log.to_f64().abs() + self.window.log_peak.abs());
        if !(error <= DECISION_ERROR) {
            return Err(Error::numerical(
                "Hellinger sampler",
                "thirty digits do not decide; the exponent is too large",
            ));
        }
        Ok((log, error))
    }

    fn exact_units(&self, k: u64) -> Result<(DoubleDouble, f64)> {
        let (log, error) = self.exact_log_units(k)?;
        Ok((log.exp(), 2.0 * error))
    }

    /// A count beyond an end of the window, from a geometric law of mass one unit.
    #[cold]
    fn attempt_tail<B: Bits>(&self, bits: &mut B, tail: Tail, is_above: bool) -> Result<Option<(u64, f64)>> {
        // P[J >= j] = exp(-rate j); next to an integer the logarithm could be of either side, so it is rejected. With
        // 1/(n+1) <= rate <= 1 that takes less than (n+2) 2^-94 of the probability of any j <= n.
        let steps = -log_uniform(bits) / DoubleDouble::from(tail.rate);
        let j = steps.to_f64().floor();
        let inside = (steps - DoubleDouble::from(j)).to_f64();
        let margin = 2f64.powi(-97) * (1.0 + steps.to_f64() + 1.0 / tail.rate);
        let k = if is_above { tail.start as f64 + j } else { tail.start as f64 - j };
        if inside < margin || inside > 1.0 - margin || k < 0.0 || k > self.law.coordinate.n as f64 {
            return Ok(None);
        }
        let k = k as u64;
        let score = self.law.coordinate.score(k);
        let step_log = (-(-tail.rate).exp_m1()).ln();
        let log_ratio = self.log_units(k, score) - step_log + tail.rate * j;
        let error = self.log_error(k, score) + SCORE_ERROR * (1.0 + step_log.abs() + tail.rate * j);
        let exact = || {
            let (log, error) = self.exact_log_units(k)?;
            let step_log = (-(DoubleDouble::from(-tail.rate)).exp_m1()).ln();
            let fall = DoubleDouble::product(tail.rate, j);
            Ok((log - step_log + fall, error + 2f64.powi(-94) * (fall.to_f64() + step_log.to_f64().abs())))
        };
        Ok(accept(bits, log_ratio, error, exact)?.then_some((k, score)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hellinger::sampler::law::Coordinate;
    use crate::hellinger::sampler::testing::{chi_square_limit, pearson};
    use crate::random::StreamKey;

    /// Pearson's statistic of draws against f, counts of small expectation pooled, and its degrees of freedom.
    fn chi_square(law: Law, detail: Detail, unit_bits: u32, n_draws: usize) -> (f64, f64) {
        let n = law.coordinate.n;
        let table = Table::new(law, detail, unit_bits).unwrap();
        let mut stream = StreamKey::from_bytes([9; 32]).stream(n);
        let mut seen = vec![0f64; n as usize + 1];
        for _ in 0..n_draws {
            seen[table.draw(&mut stream).unwrap().0 as usize] += 1.0;
        }
        let weights: Vec<f64> = (0..=n).map(|k| (law.log_weight(k) - table.window.log_peak).exp()).collect();
        let total: f64 = weights.iter().sum();
        pearson(weights.iter().zip(&seen).map(|(weight, &count)| (weight / total * n_draws as f64, count)))
    }

    // 12 laws, two tables each, 60000 draws; false alarms 1e-6 in all.
    #[test]
    fn draws_follow_the_law_also_through_the_tails() {
        let law = |prior, x, n, l, theta| Law { coordinate: Coordinate { prior, x, n }, l, theta };
        let laws = [
            (law(1.0, 0, 40, 1.0, 0.0), 40),
            (law(1.0, 0, 40, 1.0, 0.0), 3),
            (law(0.01, 0, 60, 1.0, 0.1), 4),
            (law(1.0, 50, 200, 3.0, 0.02), 40),
            (law(1.0, 50, 200, 3.0, 0.02), 2),
            (law(2.5, 300, 1000, 1.0, -0.1), 3),
            (law(2.5, 3000, 9000, 1.0, 0.0), 40),
            (law(2.5, 3000, 9000, 1.0, 0.01), 5),
            (law(0.5, 3, 50, 2.0, 0.3), 3),
            (law(50.0, 0, 300, 1.5, 0.1), 4),
            (law(1.0, 7, 7, 1.0, 0.5), 40),
            (law(1.0, 1000, 3000, 200.0, 0.5), 40),
        ];
        for (law, unit_bits) in laws {
            for detail in [Detail::FINE, Detail::COARSE] {
                let (statistic, degrees) = chi_square(law, detail, unit_bits, 60_000);
                assert!(statistic < chi_square_limit(degrees, 4e-8), "{law:?} {unit_bits}: {statistic} with {degrees}");
            }
        }
    }

    #[test]
    fn tables_of_wide_laws_stay_small() {
        let law =
            Law { coordinate: Coordinate { prior: 1.0, x: 400_000_000_000, n: 1_000_000_000_000 }, l: 1.0, theta: 0.0 };
        assert!(Table::new(law, Detail::FINE, UNIT_BITS).unwrap().n_bytes() < 4096);
    }

    #[test]
    fn strided_and_exact_sums_agree_with_full_ones() {
        for (prior, x, l, theta) in
            [(1.0, 5000, 1.0, 0.0), (0.3, 100_000, 7.0, 0.003), (50.0, 3000, 2.0, -0.01), (1.0, 3, 2.0, 0.0)]
        {
            let law = Law { coordinate: Coordinate { prior, x, n: 3 * x + 100 }, l, theta };
            let full: f64 = (0..=law.coordinate.n).map(|k| law.log_weight(k).exp()).sum();
            let mean: f64 =
                (0..=law.coordinate.n).map(|k| law.log_weight(k).exp() * law.coordinate.shift(k)).sum::<f64>() / full;
            let moments = law.moments().unwrap();
            assert!((moments.log_sum - full.ln()).abs() < 1e-10, "{law:?}");
            assert!((moments.mean - mean).abs() < 1e-8 * moments.variance.sqrt().max(1.0), "{law:?}");
            let (exact, error) = law.exact_log_sum().unwrap();
            assert!((exact.to_f64() - full.ln()).abs() < 1e-12 && error < 1e-22, "{law:?}");
        }
    }

    #[test]
    fn thirty_digits_of_a_strided_sum_agree_with_the_full_one() {
        let law = Law { coordinate: Coordinate { prior: 1.5, x: 2000, n: 8000 }, l: 3.0, theta: 0.01 };
        let window = law.window(62.0).unwrap();
        let mut full = DoubleDouble::from(0.0);
        for k in window.first..=window.last {
            full = full + law.exact_log_weight(k).0.exp();
        }
        let (exact, _) = law.exact_log_sum().unwrap();
        assert!((exact - full.ln()).to_f64().abs() < 1e-24, "{:e}", (exact - full.ln()).to_f64());
    }
}
