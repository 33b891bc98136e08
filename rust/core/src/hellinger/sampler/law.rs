//! The law of one coordinate at a node: f(k) = exp(l g(k) + theta (k - x)) on 0 ..= n, its mode, window and moments.
//!
//! For alpha + x >= 1/2 ln f is concave: g'' = psi'((a+b)/2)/4 - psi'(b)/2 with a = alpha + x, b = alpha + k, and
//! psi'(b)/2 = (psi'(b/2) + psi'(b/2 + 1/2))/8 >= psi'(b/2 + 1/4)/4 >= psi'((a+b)/2)/4. The steps g(k+1) - g(k) lie between
//! ln((a+b-1/2)/(2b))/2 and ln((a+b)/(2b))/2 ([Wat59]: y - 1/4 < (Gamma(y+1/2)/Gamma(y))^2 < y), which bounds both tails by
//! geometric series.

use super::SCORE_ERROR;
use super::exact_scores::exact_score;
use crate::double_double::DoubleDouble;
use crate::hellinger::scores::{coordinate_score, g_step_from_difference};
use crate::{Error, Result};

/// The most terms that a window without a shortcut may have.
const MAX_TERMS: u64 = 1 << 22;
/// Half-width of the first guess of a window, in standard deviations of the Gaussian limit.
const WINDOW_DEVIATIONS: f64 = 7.5;
/// Windows of moments leave out 2^-40 of the largest weight on either side.
const MOMENTS_CUT: f64 = 40.0;
/// A doubling search over 64-bit integers ends well before this.
const MAX_STEPS: u32 = 400;

/// One coordinate of the data: prior alpha_i, count x_i, and the total n.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coordinate {
    pub(super) prior: f64,
    pub(super) x: u64,
    pub(super) n: u64,
}

/// The law of one coordinate at node l with tilt theta.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    pub(super) coordinate: Coordinate,
    pub(super) l: f64,
    pub(super) theta: f64,
}

/// What lies outside a window on one side: f(start), f(start +- 1), ... is below f(start) exp(-rate j).
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    pub(super) start: u64,
    pub(super) rate: f64,
}

/// The counts that carry almost all of f.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) mode: u64,
    /// ln f at the mode.
    pub(super) log_peak: f64,
    /// `None` where the window ends at 0.
    pub(super) below: Option<Tail>,
    /// `None` where the window ends at n.
    pub(super) above: Option<Tail>,
}

/// ln of the sum of f, mean of k - x and variance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    pub(super) log_sum: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
    /// Bound on the error of `log_sum`.
    pub(super) error: f64,
}

impl Coordinate {
    /// alpha_i + x_i.
    pub(super) fn a(self) -> f64 {
        self.prior + self.x as f64
    }

    pub(super) fn score(self, k: u64) -> f64 {
        coordinate_score(self.prior, self.x, k)
    }

    /// k - x, exactly.
    pub(super) fn shift(self, k: u64) -> f64 {
        k as f64 - self.x as f64
    }
}

impl Law {
    /// ln f(k).
    pub(super) fn log_weight(&self, k: u64) -> f64 {
        self.log_weight_from_score(k, self.coordinate.score(k))
    }

    pub(super) fn log_weight_from_score(&self, k: u64, score: f64) -> f64 {
        self.l * score + self.theta * self.coordinate.shift(k)
    }

    /// Bound on the error of [`Self::log_weight_from_score`].
    pub(super) fn log_weight_error(&self, k: u64, score: f64) -> f64 {
        SCORE_ERROR * ((self.l * score).abs() + (self.theta * self.coordinate.shift(k)).abs())
    }

    /// ln f(k) to thirty digits, and a bound on its error.
    pub(super) fn exact_log_weight(&self, k: u64) -> (DoubleDouble, f64) {
        let gain = exact_score(self.coordinate.prior, self.coordinate.x, k) * self.l;
        let tilt = DoubleDouble::product(self.theta, self.coordinate.shift(k));
        (gain + tilt, 2f64.powi(-91) * (gain.to_f64().abs() + tilt.to_f64().abs()))
    }

    /// ln f(k+1) - ln f(k).
    fn slope(&self, k: u64) -> f64 {
        let b = self.coordinate.prior + k as f64;
        self.l * g_step_from_difference(b, -0.5 * self.coordinate.shift(k)) + self.theta
    }

    pub(super) fn is_concave(&self) -> bool {
        self.coordinate.a() >= 0.5
    }

    /// The standard deviation of the Gaussian limit: g'' = -1/(4a) at k = x.
    pub(super) fn deviation(&self) -> f64 {
        (4.0 * self.coordinate.a() / self.l).sqrt()
    }

    /// The smallest k whose successor weighs no more, for a concave law.
    pub(super) fn mode(&self) -> u64 {
        let n = self.coordinate.n;
        let falls = |k: u64| k >= n || self.slope(k) <= 0.0;
        let guess = self.coordinate.x as f64 + 4.0 * self.coordinate.a() * self.theta / self.l;
        let guess = (guess.max(0.0) as u64).min(n);
        let (mut low, mut high, mut step) = (guess, guess, 1u64);
        while !falls(high) {
            low = high + 1;
            high = high.saturating_add(step).min(n);
            step = step.saturating_mul(2);
        }
        while low > 0 && falls(low - 1) {
            high = low - 1;
            low = high.saturating_sub(step);
            step = step.saturating_mul(2);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if falls(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        high
    }

    /// An upper bound of the largest ln f of a concave law, and where it is.
    pub(super) fn peak_upper(&self) -> (f64, u64) {
        let mode = self.mode();
        let score = self.coordinate.score(mode);
        // Rounding can misplace the mode where the slope is lost in it, and then by a step or two of that slope.
        let slope_error = SCORE_ERROR * (self.l / self.coordinate.a() + self.theta.abs());
        let is_near = |k: u64| k < self.coordinate.n && self.slope(k).abs() <= slope_error;
        let is_flat = is_near(mode) || mode > 0 && is_near(mode - 1);
        let slack = if is_flat { 4.0 * slope_error } else { 0.0 };
        (self.log_weight_from_score(mode, score) + 2.0 * self.log_weight_error(mode, score) + slack, mode)
    }

    /// The tail above `last`, when it adds up to less than exp(log_limit).
    fn tail_above(&self, last: u64, log_limit: f64) -> Option<Tail> {
        let start = last + 1;
        let b = self.coordinate.prior + start as f64;
        let gain = 0.5 * self.l * (-0.5 * self.coordinate.shift(start) / b).ln_1p();
        self.tail(start, -gain, -self.theta, log_limit)
    }

    /// The tail below `first`, when it adds up to less than exp(log_limit).
    fn tail_below(&self, first: u64, log_limit: f64) -> Option<Tail> {
        let start = first - 1;
        if start == 0 {
            return self.tail(0, 1.0, 0.0, log_limit);
        }
        let b = self.coordinate.prior + (start - 1) as f64;
        let gain = 0.5 * self.l * (-0.5 * (self.coordinate.shift(start - 1) + 0.5) / b).ln_1p();
        self.tail(start, gain, self.theta, log_limit)
    }

    fn tail(&self, start: u64, gain: f64, tilt: f64, log_limit: f64) -> Option<Tail> {
        // Any smaller rate is a bound too; one between 1/(n+1) and 1 keeps the geometric draw accurate.
        let rate = (gain + tilt - SCORE_ERROR * (gain.abs() + tilt.abs())).min(1.0);
        let score = self.coordinate.score(start);
        let log_first = self.log_weight_from_score(start, score) + self.log_weight_error(start, score);
        let is_small =
            rate * (self.coordinate.n as f64 + 1.0) >= 1.0 && log_first - (-(-rate).exp_m1()).ln() <= log_limit;
        is_small.then_some(Tail { start, rate })
    }

    /// The window outside of which each side adds up to less than exp(-log_cut) of the largest weight.
    ///
    /// # Errors
    /// [`Error::Numerical`] for a window that is too long, which takes alpha + x < 1/2 and a tilt against the data.
    pub(super) fn window(&self, log_cut: f64) -> Result<Window> {
        if !self.is_concave() {
            return self.window_from_zero(log_cut);
        }
        let mode = self.mode();
        let log_peak = self.log_weight(mode);
        let limit = log_peak - log_cut;
        let first_guess = (WINDOW_DEVIATIONS * self.deviation()).min(1e18).ceil();
        let grown = |i: u32| (first_guess * 1.3f64.powi(i as i32)).min(4e18) as u64;
        let above = |reach: u64| {
            let last = mode.saturating_add(reach).min(self.coordinate.n);
            if last == self.coordinate.n {
                Some((last, None))
            } else {
                self.tail_above(last, limit).map(|tail| (last, Some(tail)))
            }
        };
        let below = |reach: u64| {
            let first = mode.saturating_sub(reach);
            if first == 0 { Some((first, None)) } else { self.tail_below(first, limit).map(|tail| (first, Some(tail))) }
        };
        let endless = || Error::numerical("Hellinger sampler", "a coordinate's weights do not fall off");
        let (last, above) = (0..MAX_STEPS).find_map(|i| above(grown(i))).ok_or_else(endless)?;
        let (first, below) = (0..MAX_STEPS).find_map(|i| below(grown(i))).ok_or_else(endless)?;
        Ok(Window { first, last, mode, log_peak, below, above })
    }

    /// The window of a law that need not have one mode: it starts at 0, where x is.
    fn window_from_zero(&self, log_cut: f64) -> Result<Window> {
        let (mut mode, mut log_peak) = (0, f64::NEG_INFINITY);
        for k in 0..=self.coordinate.n.min(MAX_TERMS) {
            let log_weight = self.log_weight(k);
            if log_weight > log_peak {
                (mode, log_peak) = (k, log_weight);
            }
            if k == self.coordinate.n {
                return Ok(Window { first: 0, last: k, mode, log_peak, below: None, above: None });
            }
            // Not worth trying where the weight itself is too large.
            if log_weight < log_peak - log_cut
                && let Some(tail) = self.tail_above(k, log_peak - log_cut)
            {
                return Ok(Window { first: 0, last: k, mode, log_peak, below: None, above: Some(tail) });
            }
        }
        Err(Error::numerical(
            "Hellinger sampler",
            format!("a coordinate needs a table of more than {MAX_TERMS} weights"),
        ))
    }

    /// The stride of a sum over the window that equals the sum over all of it to exp(-pi^2 / fraction^2).
    ///
    /// By Poisson's formula the two differ by the Fourier transform of f at the non-zero multiples of 1/stride; on the line
    /// Im k = y |f| grows by at most exp(l y^2 psi'(b)/4), because |Gamma(b)/Gamma(b+iy)|^2 <= exp(y^2 psi'(b)), and
    /// y = pi s^2/stride with s^2 = 4/(l psi'(b)), psi'(b) < 1/b + 1/b^2, gives the bound for stride = fraction s. What the
    /// window leaves out is as small at its ends.
    fn stride(&self, window: &Window, fraction: f64) -> u64 {
        if window.below.is_none() || window.above.is_none() {
            return 1;
        }
        let b = self.coordinate.prior + window.first as f64;
        let smooth = (4.0 * b * b / (self.l * (1.0 + b))).sqrt();
        ((fraction * smooth) as u64).max(1)
    }

    /// The arguments of the sum over the window with this stride, through the mode.
    fn lattice(window: &Window, stride: u64) -> impl Iterator<Item = u64> {
        let start = window.mode - (window.mode - window.first) / stride * stride;
        (start..=window.last).step_by(stride as usize)
    }

    fn check_length(window: &Window, stride: u64) -> Result<()> {
        if (window.last - window.first) / stride > MAX_TERMS {
            return Err(Error::numerical("Hellinger sampler", format!("a sum of more than {MAX_TERMS} weights")));
        }
        Ok(())
    }

    /// The moments; the window and the stride leave out 2^-38 of the sum or less.
    pub(super) fn moments(&self) -> Result<Moments> {
        let window = self.window(MOMENTS_CUT * std::f64::consts::LN_2)?;
        let stride = self.stride(&window, 0.5);
        Self::check_length(&window, stride)?;
        Ok(self.moments_on(&window, stride))
    }

    /// The moments to a few per cent, also where the window ends at 0 or n.
    pub(super) fn rough_moments(&self) -> Result<Moments> {
        let window = self.window(MOMENTS_CUT * std::f64::consts::LN_2)?;
        let stride = (window.last - window.first) / 256 + 1;
        Ok(self.moments_on(&window, stride))
    }

    fn moments_on(&self, window: &Window, stride: u64) -> Moments {
        let (mut sum, mut first, mut second, mut error) = (0.0, 0.0, 0.0, 0.0);
        for k in Self::lattice(window, stride) {
            let score = self.coordinate.score(k);
            let weight = (self.log_weight_from_score(k, score) - window.log_peak).exp();
            error += weight * self.log_weight_error(k, score);
            // About the mode, where the second moment cancels least.
            let offset = k as f64 - window.mode as f64;
            sum += weight;
            first += weight * offset;
            second += weight * offset * offset;
        }
        let mean = first / sum;
        let variance = (second / sum - mean * mean).max(0.0);
        let log_sum = window.log_peak + (sum * stride as f64).ln();
        let error = 2.0 * error / sum + 2f64.powi(-38) + SCORE_ERROR * (1.0 + window.log_peak.abs());
        Moments { log_sum, mean: mean + self.coordinate.shift(window.mode), variance, error }
    }

    /// ln of the sum of f to an absolute error below 2^-80 of the largest term of the exponents, and that bound.
    pub(super) fn exact_log_sum(&self) -> Result<(DoubleDouble, f64)> {
        let window = self.window(90.0 * std::f64::consts::LN_2)?;
        let stride = self.stride(&window, 1.0 / 3.0);
        Self::check_length(&window, stride)?;
        let peak = DoubleDouble::from(window.log_peak);
        let (mut sum, mut error) = (DoubleDouble::from(0.0), 0f64);
        for k in Self::lattice(&window, stride) {
            let (log_weight, log_error) = self.exact_log_weight(k);
            let weight = (log_weight - peak).exp();
            sum = sum + weight;
            error += log_error * weight.to_f64();
        }
        let error = error / sum.to_f64() + 2f64.powi(-84);
        Ok((peak + (sum * stride as f64).ln(), error))
    }
}
