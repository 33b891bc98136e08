//! The composition of discrete privacy losses, to relative accuracy around one point of the tail.
//!
//! Each distribution is tilted, a(l) = p(l) exp(t l) / M(t), so that the typical loss of the composed tilted one is the
//! loss of interest; there the absolute error of a floating-point convolution is a relative one. The error is bounded
//! after the fact: with e the bound on every output of the transform, the product of the spectra z_i to the powers m_i
//! is off by at most prod (|z_i| + e)^m_i * sum m_i e/(|z_i| + e), and the mean of these over all frequencies bounds
//! the error of every mass. What lies outside the window is bounded by Chernoff's inequality from the same masses.

use super::pmf::{Moments, Pmf};
use crate::fft::{RealFft, Spectrum, UNIT};
use crate::{Error, Result, interrupt};

/// Which side of the truth the result must be on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Never below the truth.
    Upper,
    /// Never above the truth.
    Lower,
}

/// Logarithm of the tilted mass that may lie beyond either end of the window: it is subtracted from a lower bound; of an
/// upper bound it adds nothing but what lies above, untilted.
const LOG_OUTSIDE_LOWER: f64 = -30.0;
const LOG_OUTSIDE_UPPER: f64 = -20.0;

/// Products of spectra below this are set to zero and booked as error.
const NEGLIGIBLE: f64 = 1e-40;

/// Covers the absolute error of all results that underflow.
const UNDERFLOW: f64 = 1e-290;

/// Covers what summing the masses of a window from the right loses to underflow. Each of the at most 2^23 steps rounds
/// four times by at most 2^-1075, and what is lost is carried on with factors of at most one, so less than 2^-1048 in all.
const LOST: f64 = 1e-310;

/// A bound of a composed profile on a window of the grid: exp(log_scale - tilt loss) * scaled + infinite.
pub(super) struct Tail {
    pub(super) side: Side,
    pub(super) step: f64,
    pub(super) tilt: f64,
    /// Mean and standard deviation of the tilted loss: the region that was aimed at.
    pub(super) mean: f64,
    pub(super) deviation: f64,
    first: i64,
    log_scale: f64,
    scaled: Vec<f64>,
    /// Mass at infinity, and whatever lies above the window.
    infinite: f64,
    /// Logarithm of the factor that covers every relative error.
    log_inflation: f64,
    /// What the error of the convolution adds to any entry of `scaled`.
    noise: f64,
}

/// Composes each distribution with itself as many times as its number says, and all of them with each other.
///
/// # Errors
/// [`Error::NotAffordable`] if the window needs more than `max_points` grid points.
pub(super) fn compose(parts: &[(&Pmf, u64)], tilt: f64, side: Side, max_points: usize) -> Result<Tail> {
    let step = parts[0].0.step;
    let moments: Vec<Moments> = parts.iter().map(|(pmf, _)| pmf.tilted(tilt)).collect();
    let sum =
        |f: &dyn Fn(&Moments) -> f64| moments.iter().zip(parts).map(|(m, part)| part.1 as f64 * f(m)).sum::<f64>();
    let (mean, deviation) = (sum(&|m| m.mean), sum(&|m| m.variance).sqrt());
    let log_scale = sum(&|m| m.log_mass);
    let window = Window::new(parts, tilt, (mean, deviation), log_scale, side);
    let points = window.last.saturating_sub(window.first).saturating_add(1);
    if points > max_points as i64 {
        return Err(Error::NotAffordable {
            asked: format!("a privacy loss grid of {points} points"),
            limit: format!("{max_points} points"),
            instead: "ask for a larger tolerance, or for a larger delta",
        });
    }
    let n = (points as usize).next_power_of_two().max(8);
    let (masses, error) = tilted_masses(parts, &moments, tilt, n, window.first)?;
    // Comparisons pass over what is no number, so it would count as no mass.
    if !error.is_finite() || masses.iter().any(|mass| mass.is_nan()) {
        return Err(Error::numerical("composition", "a mass is beyond the range of doubles".to_owned()));
    }
    let outside = window.outside;
    let sign = if side == Side::Upper { error } else { -error };
    let (decay, e_h, rise) = ((-tilt * step).exp(), (-step).exp(), -(-step).exp_m1());
    let mut scaled = vec![0.0; n];
    let (mut beyond, mut value, mut noise_beyond, mut noise) = (0.0, 0.0, 0.0, 0.0);
    for k in (0..n - 1).rev() {
        beyond = decay * ((masses[k + 1] + sign).max(0.0) + e_h * beyond);
        value = decay * value + rise * beyond;
        noise_beyond = decay * (error + e_h * noise_beyond);
        noise = decay * noise + rise * noise_beyond;
        // Masses from outside the window reappear inside: that only raises an upper bound. A lower bound stays one if it
        // is made non-increasing again.
        scaled[k] = if side == Side::Upper { value } else { (value - outside).max(decay * scaled[k + 1]) };
    }
    let top = window.first + n as i64 - 1;
    let above = match side {
        Side::Upper => (log_scale - tilt * top as f64 * step).exp() * window.above,
        Side::Lower => 0.0,
    };
    let extreme = (tilt * window.first as f64 * step).abs().max((tilt * top as f64 * step).abs());
    Ok(Tail {
        side,
        step,
        tilt,
        mean,
        deviation,
        first: window.first,
        log_scale,
        scaled,
        infinite: composed_infinite(parts) + above,
        log_inflation: log_inflation(parts, &moments, tilt)
            + (10 * n) as f64 * UNIT
            + 8.0 * UNIT * (extreme + log_scale.abs() + parts.len() as f64 + 8.0),
        noise: noise + if side == Side::Lower { outside } else { 0.0 },
    })
}

/// The range of grid indices that is kept, and bounds on the tilted mass beyond it.
struct Window {
    first: i64,
    last: i64,
    above: f64,
    /// Beyond either end.
    outside: f64,
}

impl Window {
    fn new(parts: &[(&Pmf, u64)], tilt: f64, (mean, deviation): (f64, f64), log_scale: f64, side: Side) -> Self {
        let log_outside = if side == Side::Upper { LOG_OUTSIDE_UPPER } else { LOG_OUTSIDE_LOWER };
        let step = parts[0].0.step;
        let support = parts.iter().fold((0_i64, 0_i64), |(low, high), (pmf, times)| {
            let (first, last) = pmf.support();
            let times = *times as i64;
            (low.saturating_add(first.saturating_mul(times)), high.saturating_add(last.saturating_mul(times)))
        });
        let log_mass =
            |t: f64| parts.iter().map(|(pmf, times)| *times as f64 * pmf.tilted(t).log_mass).sum::<f64>() - log_scale;
        // For a normal law the best further tilt is sqrt(2 |log|) / deviation; two more for other shapes.
        let best = (-2.0 * log_outside).sqrt() / deviation.max(step);
        let (mut high, mut low) = (f64::INFINITY, f64::NEG_INFINITY);
        for s in [0.4 * best, best, 2.0 * best] {
            high = high.min((log_mass(tilt + s) - log_outside) / s);
        }
        // Below, a tilt that changes its sign would look at the other end.
        for s in [0.4 * best, best, 2.0 * best, 0.3 * tilt, 0.8 * tilt].into_iter().filter(|&s| s > 0.0) {
            low = low.max(-(log_mass(tilt - s) - log_outside) / s);
        }
        // One more grid point on both sides covers rounding here.
        let high = (high.max(mean) / step).ceil() + 2.0;
        let low = (low.min(mean) / step).floor() - 2.0;
        let (mut window, bound) =
            (Self { first: support.0, last: support.1, above: 0.0, outside: 0.0 }, 1.01 * log_outside.exp());
        if high < support.1 as f64 {
            (window.last, window.above) = (high as i64, bound);
            window.outside += bound;
        }
        if low > support.0 as f64 {
            window.first = low as i64;
            window.outside += bound;
        }
        window
    }
}

/// Masses of the composed tilted distribution from grid index `first` on, and a bound on the error of each.
///
/// # Errors
/// [`Error::Interrupted`].
fn tilted_masses(
    parts: &[(&Pmf, u64)],
    moments: &[Moments],
    tilt: f64,
    n: usize,
    first: i64,
) -> Result<(Vec<f64>, f64)> {
    let plan = RealFft::new(n);
    let half = n / 2;
    // One entry for each frequency from zero to one half, the latter last.
    let mut product = Spectrum { re: vec![1.0; half + 1], im: vec![0.0; half + 1] };
    let mut bound = vec![1.0_f64; half + 1];
    let mut share = vec![0.0_f64; half + 1];
    let mut sequence = vec![0.0; n];
    for (&(pmf, times), m) in parts.iter().zip(moments) {
        interrupt::check()?;
        sequence.fill(0.0);
        let mut total = 0.0;
        for &(k, p) in &pmf.atoms {
            let exponent = tilt * (k as f64 * pmf.step) - m.log_mass;
            // The factor may overflow where the product does not.
            let mass = if exponent < 700.0 { p * exponent.exp() } else { (exponent + p.ln()).exp() };
            sequence[k.rem_euclid(n as i64) as usize] += mass;
            total += mass;
        }
        let z = plan.forward(&sequence);
        interrupt::check()?;
        let error = plan.forward_error() * total * 1.001 + UNDERFLOW;
        let power = times as f64;
        for p in 0..=half {
            let (re, im) = match p {
                0 => (z.re[0], 0.0),
                p if p == half => (z.im[0], 0.0),
                p => (z.re[p], z.im[p]),
            };
            let size = (re * re + im * im).sqrt() * (1.0 + 4.0 * UNIT) + error;
            bound[p] *= raise_real(size, times);
            share[p] += power * (error / size + 3.0 * UNIT);
            if bound[p] > NEGLIGIBLE {
                let (pr, pi) = raise((re, im), times);
                (product.re[p], product.im[p]) =
                    (product.re[p] * pr - product.im[p] * pi, product.re[p] * pi + product.im[p] * pr);
            } else {
                // It stays zero, whatever the other parts are, and counts as error.
                (product.re[p], product.im[p]) = (0.0, 0.0);
            }
        }
    }
    let (mut errors, mut sizes) = (0.0, 0.0);
    for p in 0..=half {
        // Both ends stand for one frequency, the others for two.
        let weight = if p == 0 || p == half { 1.0 } else { 2.0 };
        if product.re[p] == 0.0 && product.im[p] == 0.0 {
            errors += weight * bound[p];
        } else {
            errors += weight * bound[p] * share[p];
            sizes += weight * bound[p];
        }
    }
    let rounding: u64 = parts.iter().map(|part| part.1).sum();
    let slack = 1.001 + 4.0 * UNIT * rounding as f64;
    let error = (errors + sizes * plan.inverse_error()) / n as f64 * slack + UNDERFLOW;
    product.im[0] = product.re[half];
    product.re.truncate(half);
    product.im.truncate(half);
    let mut masses = plan.inverse(product);
    interrupt::check()?;
    masses.rotate_left(first.rem_euclid(n as i64) as usize);
    Ok((masses, error))
}

/// z^m by repeated squaring: relative error at most 3 m units.
fn raise((mut re, mut im): (f64, f64), mut m: u64) -> (f64, f64) {
    let (mut pr, mut pi) = (1.0, 0.0);
    while m > 0 {
        if m & 1 == 1 {
            (pr, pi) = (pr * re - pi * im, pr * im + pi * re);
        }
        (re, im) = (re * re - im * im, 2.0 * re * im);
        m >>= 1;
    }
    (pr, pi)
}

fn raise_real(mut x: f64, mut m: u64) -> f64 {
    let mut power = 1.0;
    while m > 0 {
        if m & 1 == 1 {
            power *= x;
        }
        x *= x;
        m >>= 1;
    }
    power
}

/// The composed mass at infinity: all mass minus the finite mass, without cancellation.
fn composed_infinite(parts: &[(&Pmf, u64)]) -> f64 {
    let (mut log_total, mut log_finite_share) = (0.0, 0.0);
    for &(pmf, times) in parts {
        let total = pmf.finite() + pmf.infinite;
        log_total += times as f64 * total.ln();
        log_finite_share += times as f64 * (-pmf.infinite / total).ln_1p();
    }
    log_total.exp() * -log_finite_share.exp_m1()
}

/// Relative errors that enter once for each composition: of the masses, of tilting them, of summing them up.
fn log_inflation(parts: &[(&Pmf, u64)], moments: &[Moments], tilt: f64) -> f64 {
    let one = |(&(pmf, times), m): (&(&Pmf, u64), &Moments)| {
        let (first, last) = pmf.support();
        let exponent =
            (first.unsigned_abs().max(last.unsigned_abs()) as f64 * pmf.step * tilt).abs() + m.log_mass.abs();
        let rounding = 2.0 * UNIT * (exponent + 4.0) + pmf.atoms.len() as f64 * UNIT * f64::from(pmf.infinite > 0.0);
        times as f64 * (pmf.inflation.ln() + rounding)
    };
    parts.iter().zip(moments).map(one).sum()
}

impl Tail {
    /// The bound at grid position `k` of the window, without [`Self::log_inflation`].
    fn at(&self, k: usize) -> f64 {
        let scaled = match self.side {
            Side::Upper => self.scaled[k] + LOST,
            Side::Lower => (self.scaled[k] - LOST).max(0.0),
        };
        // Zero times a scale that overflows is nothing that is known.
        let finite = if scaled > 0.0 { (self.log_scale - self.tilt * self.loss(k)).exp() * scaled } else { 0.0 };
        finite + self.infinite
    }

    fn loss(&self, k: usize) -> f64 {
        (self.first + k as i64) as f64 * self.step
    }

    /// Last position of the window.
    fn top(&self) -> usize {
        self.scaled.len() - 1
    }

    fn rounded(&self, value: f64) -> f64 {
        match self.side {
            // Before the largest loss, where alone it is asked, there is always some delta: what underflows counts.
            Side::Upper => (value * self.log_inflation.exp() * (1.0 + 8.0 * UNIT)).clamp(f64::MIN_POSITIVE, 1.0),
            Side::Lower => (value * (-self.log_inflation).exp() * (1.0 - 8.0 * UNIT)).max(0.0),
        }
    }

    /// The bound of delta at `epsilon`.
    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        let position = epsilon / self.step - self.first as f64;
        if position < 0.0 {
            let edge = self.rounded(self.at(0));
            return match self.side {
                // The profile is convex in exp(eps) and one at zero: it lies below the chord from there.
                // The subtraction rounds to nearest.
                Side::Upper => (1.0 - (1.0 - edge) * (epsilon - self.loss(0)).exp() * (1.0 - 8.0 * UNIT)).next_up(),
                Side::Lower => edge,
            };
        }
        if position >= self.top() as f64 {
            return match self.side {
                Side::Upper => self.rounded(self.at(self.top())),
                Side::Lower => self.rounded(self.infinite),
            };
        }
        let k = position as usize;
        // Linear in exp(eps); the division above may have rounded across a grid point, the share stays in [0, 1]. It is that
        // of the way left to the next point: next to the last one it is all of delta, and one minus another would cancel.
        let share = ((epsilon - self.loss(k + 1)).exp_m1() / (-self.step).exp_m1()).clamp(0.0, 1.0);
        let (left, right) = (self.at(k), self.at(k + 1));
        self.rounded(right + (left - right) * share)
    }

    /// Where the bound reaches `delta`, rounded away from the truth; none if that is beyond the window.
    pub(super) fn epsilon(&self, delta: f64) -> Option<f64> {
        let edge = self.rounded(self.at(0));
        if edge <= delta && self.side == Side::Upper && delta < 1.0 {
            // On the chord from one at exp(eps) = 0, as in `delta`.
            let epsilon = self.loss(0) + ((1.0 - delta) / (1.0 - edge)).ln();
            return self.settled(epsilon, delta);
        }
        if edge <= delta || self.rounded(self.at(self.top())) > delta {
            return None;
        }
        let (mut low, mut high) = (0, self.top());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.rounded(self.at(middle)) > delta {
                low = middle;
            } else {
                high = middle;
            }
        }
        let (left, right) = (self.rounded(self.at(low)), self.rounded(self.at(high)));
        let share = ((left - delta) / (left - right)).clamp(0.0, 1.0);
        let epsilon = self.loss(low) + (share * self.step.exp_m1()).ln_1p();
        match self.side {
            Side::Upper => self.settled(epsilon, delta),
            Side::Lower => Some(epsilon - self.room(epsilon)),
        }
    }

    /// What inverting the bound may be off by.
    fn room(&self, epsilon: f64) -> f64 {
        16.0 * UNIT * (self.step + epsilon.abs())
    }

    /// The first of a few slightly larger epsilons that satisfies the bound as [`Self::delta`] computes it.
    fn settled(&self, epsilon: f64, delta: f64) -> Option<f64> {
        let room = self.room(epsilon);
        (0..20).map(|i| epsilon + room * f64::from(1 << i)).find(|&at| self.delta(at) <= delta)
    }

    /// Share of the bound at `epsilon` that is only the error of the convolution.
    pub(super) fn noise_share(&self, epsilon: f64) -> f64 {
        let position = (epsilon / self.step - self.first as f64).clamp(0.0, self.top() as f64) as usize;
        self.noise / (self.scaled[position] + self.noise).max(f64::MIN_POSITIVE)
    }

    /// Losses of the ends of the window.
    pub(super) fn range(&self) -> (f64, f64) {
        (self.loss(0), self.loss(self.top()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::log_gamma;

    const STEP: f64 = 1.0 / 128.0;
    const TIMES: u64 = 10_000;

    /// Ten thousand randomized responses: a walk of steps up and down, its window far narrower than its support.
    fn composed(side: Side) -> Tail {
        let up = 1.0 / (1.0 + (-STEP).exp());
        let response = Pmf { step: STEP, atoms: vec![(-1, 1.0 - up), (1, up)], infinite: 0.0, inflation: 1.0 };
        compose(&[(&response, TIMES)], 0.0, side, 1 << 20).unwrap()
    }

    /// The same by binomial masses, to parts in 10^10.
    fn exact(epsilon: f64) -> f64 {
        let n = TIMES as f64;
        let up = 1.0 / (1.0 + (-STEP).exp());
        let mass = |k: f64| {
            let ways = log_gamma(n + 1.0) - log_gamma(k + 1.0) - log_gamma(n - k + 1.0);
            (ways + k * up.ln() + (n - k) * (-up).ln_1p()).exp()
        };
        let terms = (0..=TIMES).rev().map(|k| (k as f64, (2.0 * k as f64 - n) * STEP));
        terms.take_while(|&(_, loss)| loss > epsilon).map(|(k, loss)| mass(k) * -(epsilon - loss).exp_m1()).sum()
    }

    #[test]
    fn neither_the_noise_of_the_transform_nor_what_lies_beyond_the_window_makes_a_bound_false() {
        let (upper, lower) = (composed(Side::Upper), composed(Side::Lower));
        let (_, top) = upper.range();
        assert!(top < 0.2 * TIMES as f64 * STEP, "the window is narrow");
        for share in [0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0, 1.02] {
            let (epsilon, room) = (share * top, 1e-9);
            let truth = exact(epsilon);
            assert!(upper.delta(epsilon) >= truth * (1.0 - room), "{share}: {:e} {truth:e}", upper.delta(epsilon));
            assert!(lower.delta(epsilon) <= truth * (1.0 + room), "{share}: {:e} {truth:e}", lower.delta(epsilon));
        }
    }

    /// Indices and masses of every sum of these finite losses, added up one by one, and the mass at infinity.
    fn added_up(parts: &[(&Pmf, u64)]) -> (Vec<(i64, f64)>, f64) {
        let mut masses = vec![(0_i64, 1.0)];
        let mut finite = 1.0;
        for &(pmf, times) in parts {
            for _ in 0..times {
                let mut sums = std::collections::BTreeMap::new();
                for &(k, p) in &masses {
                    for &(l, q) in &pmf.atoms {
                        *sums.entry(k + l).or_insert(0.0) += p * q;
                    }
                }
                masses = sums.into_iter().collect();
                finite *= 1.0 - pmf.infinite;
            }
        }
        (masses, 1.0 - finite)
    }

    fn law(step: f64, atoms: &[(i64, f64)], infinite: f64) -> Pmf {
        Pmf { step, atoms: atoms.to_vec(), infinite, inflation: 1.0 }
    }

    #[test]
    fn small_compositions_are_the_sums_over_all_losses_whatever_the_tilt() {
        let mut one = law(0.25, &[(-3, 0.2), (1, 0.5), (4, 0.25)], 0.05);
        let other = law(0.25, &[(-2, 0.3), (0, 0.3), (5, 0.4)], 0.0);
        let (masses, infinite) = added_up(&[(&one, 3), (&other, 2)]);
        let loss = |k: i64| 0.25 * k as f64;
        let delta =
            |eps: f64| infinite + masses.iter().map(|&(k, p)| p * (1.0 - (eps - loss(k)).exp()).max(0.0)).sum::<f64>();
        let most = loss(masses.last().unwrap().0);
        for tilt in [0.0, 0.7, 3.0] {
            let of = |side| compose(&[(&one, 3), (&other, 2)], tilt, side, 64).unwrap();
            let (upper, lower) = (of(Side::Upper), of(Side::Lower));
            assert!(tilt > 0.0 || (upper.range(), lower.range()) == ((-3.25, 12.5), (-3.25, 12.5)));
            let weight = |&(k, p): &(i64, f64)| p * (tilt * loss(k)).exp();
            let total: f64 = masses.iter().map(weight).sum();
            let mean = masses.iter().map(|a| weight(a) * loss(a.0)).sum::<f64>() / total;
            let variance = masses.iter().map(|a| weight(a) * (loss(a.0) - mean).powi(2)).sum::<f64>() / total;
            assert!((upper.mean - mean).abs() < 1e-12 && (upper.deviation - variance.sqrt()).abs() < 1e-12);
            assert!(upper.noise_share(mean) > 0.0 && upper.noise_share(mean) < 1e-11, "{}", upper.noise_share(mean));
            for i in -60..=80 {
                let eps = 0.13 * f64::from(i);
                let (above, below, truth) = (upper.delta(eps), lower.delta(eps), delta(eps));
                assert!(above >= truth * (1.0 - 1e-14) && below <= truth * (1.0 + 1e-14), "{tilt} {eps}: {truth:e}");
                let near = (eps - mean).abs() < 3.0 * variance.sqrt() && eps < most - 0.1;
                assert!(!near || above <= truth * (1.0 + 1e-10), "{tilt} {eps}: {above:e} {truth:e}");
                assert!(
                    !near || eps < lower.range().0 + 0.01 || below >= truth * (1.0 - 1e-10),
                    "{tilt} {eps}: {below:e}"
                );
                if !near {
                    continue;
                }
                let at = upper.epsilon(truth).unwrap();
                assert!((at - eps).abs() < 1e-8 && delta(at) <= truth * (1.0 + 1e-14), "{tilt} {eps}: {at}");
                if eps > lower.range().0 + 0.01 {
                    let at = lower.epsilon(truth).unwrap();
                    assert!((at - eps).abs() < 1e-8 && delta(at) >= truth * (1.0 - 1e-14), "{tilt} {eps}: {at}");
                }
            }
            if tilt == 0.0 {
                // Left of the window the chord from one is exact.
                let far = upper.epsilon(delta(-5.0)).unwrap();
                assert!((far + 5.0).abs() < 1e-8 && delta(far) <= delta(-5.0) * (1.0 + 1e-14), "{far}");
            }
            assert!(upper.epsilon(0.5 * infinite).is_none() && upper.epsilon(1.0).is_none());
        }
        assert!(compose(&[(&one, 3), (&other, 2)], 0.0, Side::Upper, 36).is_ok(), "from -13 to 22");
        assert!(compose(&[(&one, 3), (&other, 2)], 0.0, Side::Upper, 35).is_err());
        // What the masses may be off by enters once for each time.
        one.inflation = 1.25;
        let of = |side| compose(&[(&one, 3), (&other, 2)], 0.0, side, 64).unwrap().delta(2.0);
        let factor = 1.25_f64.powi(3);
        assert!((of(Side::Upper) / (delta(2.0) * factor) - 1.0).abs() < 1e-10, "{}", of(Side::Upper));
        assert!((of(Side::Lower) / (delta(2.0) / factor) - 1.0).abs() < 1e-10, "{}", of(Side::Lower));
    }

    #[test]
    fn what_lies_beyond_a_window_is_no_more_than_it_says() {
        let walk = law(0.1, &[(-1, 0.45), (0, 0.3), (1, 0.25)], 0.0);
        let jumps = law(0.1, &[(-1, 0.96), (7, 0.04)], 0.0);
        let both: [&[(&Pmf, u64)]; 3] = [&[(&walk, 400)], &[(&jumps, 150)], &[(&walk, 200), (&jumps, 60)]];
        for parts in both {
            let (masses, _) = added_up(parts);
            let support = (masses[0].0, masses.last().unwrap().0);
            for tilt in [0.0, 0.5, 2.0] {
                let weight = |&(k, p): &(i64, f64)| p * (tilt * 0.1 * k as f64).exp();
                let total: f64 = masses.iter().map(weight).sum();
                let share = |from: i64, to: i64| {
                    masses.iter().filter(|a| a.0 >= from && a.0 <= to).map(weight).sum::<f64>() / total
                };
                let mean = masses.iter().map(|a| weight(a) * 0.1 * a.0 as f64).sum::<f64>() / total;
                let square = |a: &(i64, f64)| weight(a) * (0.1 * a.0 as f64 - mean).powi(2) / total;
                let deviation = masses.iter().map(square).sum::<f64>().sqrt();
                for side in [Side::Upper, Side::Lower] {
                    let window = Window::new(parts, tilt, (mean, deviation), total.ln(), side);
                    let (above, below) = (share(window.last + 1, support.1), share(support.0, window.first - 1));
                    assert!(above <= window.above && below.max(above) <= window.outside, "{tilt}: {above:e} {below:e}");
                    assert!(window.first >= support.0 && window.last <= support.1 && window.outside < 1e-8);
                    let width = 0.1 * (window.last - window.first) as f64 / deviation;
                    assert!(width < 25.0, "{tilt}: {width} deviations");
                }
                let of = |side| compose(parts, tilt, side, 4096).unwrap();
                let (upper, lower) = (of(Side::Upper), of(Side::Lower));
                for i in -40..=60_i32 {
                    let eps = mean + 0.25 * f64::from(i) * deviation;
                    let gain = |&(k, p): &(i64, f64)| p * (1.0 - (eps - 0.1 * k as f64).exp()).max(0.0);
                    let truth: f64 = masses.iter().map(gain).sum();
                    let (above, below) = (upper.delta(eps), lower.delta(eps));
                    assert!(above >= truth * (1.0 - 1e-13) && below <= truth * (1.0 + 1e-13), "{tilt} {eps} {truth:e}");
                    let near = i.abs() <= 8 && truth > 0.0;
                    assert!(!near || (above < truth * 1.0001 && below > truth * 0.9999), "{tilt} {i}: {below} {above}");
                }
            }
        }
    }

    #[test]
    fn what_is_infinite_is_all_mass_but_the_finite_one_and_powers_are_products() {
        let (one, other) = (law(0.1, &[(0, 0.7), (2, 0.1)], 0.1), law(0.1, &[(1, 0.75)], 0.35));
        // Totals 0.9 and 1.1, finite masses 0.8 and 0.75.
        let exact = 0.9_f64.powi(3) * 1.1_f64.powi(2) - 0.8_f64.powi(3) * 0.75_f64.powi(2);
        let found = composed_infinite(&[(&one, 3), (&other, 2)]);
        assert!((found / exact - 1.0).abs() < 1e-13, "{found} {exact}");
        assert!((composed_infinite(&[(&law(0.1, &[(0, 1.0)], 1e-20), 7)]) / 7e-20 - 1.0).abs() < 1e-14);
        for times in [0, 1, 2, 3, 5, 13, 64, 100] {
            let (re, im) = raise((0.6, -0.75), times);
            let (size, angle) = (0.9225_f64.sqrt().powi(times as i32), -(1.25_f64.atan()) * times as f64);
            assert!((re - size * angle.cos()).abs() < 1e-13 && (im - size * angle.sin()).abs() < 1e-13, "{times}");
            assert!((raise_real(0.9, times) / 0.9_f64.powi(times as i32) - 1.0).abs() < 1e-13, "{times}");
        }
    }

    /// What every output of a transform of eight points may be off by, by the sums of the definition.
    fn spectrum_by_definition(pmf: &Pmf, tilt: f64, log_mass: f64) -> Vec<f64> {
        (0..8)
            .map(|p| {
                let (mut re, mut im) = (0.0, 0.0);
                for &(k, mass) in &pmf.atoms {
                    let (weight, angle) = (
                        mass * (tilt * k as f64 * pmf.step - log_mass).exp(),
                        std::f64::consts::TAU * (p * k) as f64 / 8.0,
                    );
                    (re, im) = (re + weight * angle.cos(), im + weight * angle.sin());
                }
                re.hypot(im)
            })
            .collect()
    }

    #[test]
    fn the_error_of_a_mass_is_the_mean_over_all_frequencies_of_what_the_transforms_err_by() {
        let one = law(0.25, &[(-1, 0.2), (0, 0.5), (2, 0.25)], 0.05);
        let other = law(0.25, &[(0, 0.6), (1, 0.4)], 0.0);
        let only = law(0.25, &[(0, 1.0)], 0.0);
        let both: [(&[(&Pmf, u64)], f64); 4] = [
            (&[(&one, 2), (&other, 1)], 0.0),
            (&[(&one, 2), (&other, 3)], 1.5),
            (&[(&other, 700)], 0.25),
            // So often that what single products are off by shows.
            (&[(&only, 1 << 44)], 0.0),
        ];
        let plan = RealFft::new(8);
        for (parts, tilt) in both {
            let moments: Vec<Moments> = parts.iter().map(|(pmf, _)| pmf.tilted(tilt)).collect();
            let (_, found) = tilted_masses(parts, &moments, tilt, 8, 0).unwrap();
            let (mut size, mut share, mut dead) = ([1.0; 8], [0.0; 8], [false; 8]);
            for (&(pmf, times), m) in parts.iter().zip(&moments) {
                // The tilted masses sum to one.
                let error = 1.001 * plan.forward_error();
                for (p, z) in spectrum_by_definition(pmf, tilt, m.log_mass).into_iter().enumerate() {
                    let above = z * (1.0 + 4.0 * UNIT) + error;
                    size[p] *= (times as f64 * above.ln()).exp();
                    share[p] += times as f64 * (error / above + 3.0 * UNIT);
                    dead[p] |= size[p] <= NEGLIGIBLE;
                }
            }
            let errors: f64 = (0..8).map(|p| if dead[p] { size[p] } else { size[p] * share[p] }).sum();
            let sizes: f64 = (0..8).filter(|&p| !dead[p]).map(|p| size[p]).sum();
            let count: f64 = parts.iter().map(|part| part.1 as f64).sum();
            let exact = (errors + sizes * plan.inverse_error()) / 8.0 * (1.001 + 4.0 * UNIT * count);
            assert!((found / exact - 1.0).abs() < 1e-4, "{tilt}: {found:e} {exact:e}");
        }
    }

    #[test]
    fn relative_errors_are_booked_for_each_mass_each_exponent_and_each_sum() {
        let unit = 2.0_f64.powi(-53);
        // Tilted by 2: weights 1/2 e^-4, 1/4 and 1/8 e^6, mass at infinity; and 0.4 e^-30, 0.6 e^20.
        let one = Pmf { inflation: 1.5, ..law(0.25, &[(-8, 0.5), (0, 0.25), (12, 0.125)], 0.125) };
        let other = law(0.25, &[(-60, 0.4), (40, 0.6)], 0.0);
        let (first, second) = ((0.5 * (-4.0_f64).exp() + 0.25 + 0.125 * 6.0_f64.exp()).ln(), 20.0 + 0.6_f64.ln());
        let parts: [(&Pmf, u64); 2] = [(&one, 3), (&other, 5)];
        let moments = parts.map(|(pmf, _)| pmf.tilted(2.0));
        let found = log_inflation(&parts, &moments, 2.0) - 3.0 * 1.5_f64.ln();
        // Exponents up to 6 and 30 besides the logarithms of the sums; three masses beside one at infinity.
        let exact = 3.0 * (2.0 * (6.0 + first + 4.0) + 3.0) + 5.0 * (2.0 * (30.0 + second + 4.0));
        assert!((found / (unit * exact) - 1.0).abs() < 1e-2, "{found:e} {:e}", unit * exact);
        let exact_part = [5.0 * 2.0 * (30.0 + second + 4.0) * unit, 2.0 * (30.0 + second + 4.0) * unit];
        for (times, exact) in [5, 1].into_iter().zip(exact_part) {
            let found = log_inflation(&[(&other, times)], &moments[1..], 2.0);
            assert!((found / exact - 1.0).abs() < 1e-12, "{times}: {found:e} {exact:e}");
        }
        // A composition adds ten for each point of its grid and eight for the exponents at its ends, the scale and the sums.
        let left = law(0.25, &[(-60, 0.6), (1, 0.4)], 0.0);
        let scale = 0.02_f64.mul_add(-15.0, 0.0).exp().mul_add(0.6, 0.4 * 0.005_f64.exp()).ln();
        for (pmf, tilt, alone, scale, leans) in [
            (&other, 2.0, 2.0 * (30.0 + second + 4.0), second, 1.0),
            (&left, 0.02, 2.0 * (0.3 - scale + 4.0), scale, -1.0),
        ] {
            let tail = compose(&[(pmf, 5)], tilt, Side::Upper, 1 << 12).unwrap();
            let (n, (low, high)) = (tail.scaled.len() as f64, tail.range());
            assert!((high - low - 0.25 * (n - 1.0)).abs() < 1e-9 && leans * (high + low) > 0.0, "{low} {high}");
            let far = tilt * high.max(-low);
            let exact = 5.0 * alone + 10.0 * n + 8.0 * (far + 5.0 * scale.abs() + 1.0 + 8.0);
            assert!((tail.log_inflation / (unit * exact) - 1.0).abs() < 1e-12, "{:e}", tail.log_inflation / unit);
        }
    }

    #[test]
    fn what_overflows_is_refused_and_does_not_count_as_no_mass() {
        // 2^62 times one loss of zero: what the transform errs by may grow beyond all doubles, while another part has
        // frequencies of nothing.
        let still = law(1.0, &[(0, 1.0)], 0.0);
        let other = law(1.0, &[(0, 0.5), (1, 0.5)], 0.0);
        for parts in
            [&[(&still, 1_u64 << 62)][..], &[(&still, 1 << 62), (&other, 3_000)], &[(&other, 3_000), (&still, 1 << 62)]]
        {
            for side in [Side::Upper, Side::Lower] {
                assert!(compose(parts, 0.0, side, 1 << 14).is_err());
            }
        }
    }
}
