//! How far a weighted sum of independent noise goes: for what is made of many noisy counts, such as quantiles.
//!
//! W = sum w_i Z_i, Z_i noise on integers. Wanted is a t, as small as can be, with P(W > t) <= alpha. The law of W is discrete, on
//! sums that may lie anywhere, so it is smoothed first: with G normal, of deviation g and independent of W, and any e
//!
//! ```text
//! P(W > t + e) P(G > -e) <= P(W + G > t).
//! ```
//!
//! The law of W + G is symmetric, with the characteristic function phi(u) = exp(-g^2 u^2 / 2) prod phi_Z(w_i u), and with the
//! Fourier series of a square wave of half-period R, [Dav73]
//!
//! ```text
//! 1/2 - sum_k phi(u_k) sin(u_k t) / (pi (k + 1/2)) >= P(W + G > t) - P(W + G > R),     u_k = 2 pi (k + 1/2) / R:
//! ```
//!
//! the wave is +1 from 0 to R, -1 from R to 2 R, and so on, so that the left side is the probability that t - W - G lies where it is
//! -1: not only below 0, but also not below -R. What lies beyond R is bounded by Chernoff's inequality, which also is the answer
//! where this one is not better. Both noises have characteristic functions that are positive and fall from 0 to pi, so terms whose
//! arguments all lie there are bounded by the first of them.

use std::f64::consts::PI;

use crate::guarantee::Noise;
use crate::special::gamma_q;
use crate::{Error, Result, interrupt, parallel};

/// The deviation of G, in those of W, and e in those of G: together they cost 3 % of a deviation of W.
const SMOOTHING: f64 = 0.01;
const SHIFT: f64 = 2.3;

/// Deviations of G after which nothing of it is left: it goes beyond with a probability of 1.3e-12, and where g u is as large
/// its characteristic function is 2.3e-11.
const FAR: f64 = 7.0;
const BEYOND_FAR: f64 = 1.3e-12;

/// A product of characteristic functions that is left out.
const NEGLIGIBLE: f64 = 1e-15;

/// Terms of a series: some 2,500 where noise is spread, and without end where nearly all of it is zero, so that smoothing by
/// its deviation takes a period of many of them.
const MOST_TERMS: f64 = 10_000.0;

/// What rounding adds to a probability: a few thousand terms below one, each off by some hundred units in its last place.
const ROUNDING: f64 = 1e-10;

/// A share of alpha that what lies beyond R may have.
const BEYOND: f64 = 1e-7;

/// Steps of bisection: to some 1e-4 of a deviation.
const BISECTIONS: usize = 20;

/// Tilts that Chernoff's inequality is tried at, all of which give a bound.
const TILTS: usize = 24;

/// Relative; exponentials and sums in doubles are better by far.
const MARGIN: f64 = 1e-9;

/// Rows that are worth a thread.
const ROWS_PER_THREAD: usize = 32;

/// For each row of `width` weights a t with P(sum of weights times noise > t) <= alpha.
///
/// # Errors
/// [`Error::InvalidParameter`] unless the size is positive and finite, weights are finite and whole rows, and alpha lies strictly
/// between 0 and 1; [`Error::Interrupted`].
pub fn weighted_reaches(noise: Noise, size: f64, weights: &[f64], width: usize, alpha: f64) -> Result<Vec<f64>> {
    if !(size > 0.0 && size < 1e15) {
        return Err(Error::parameter("size", "be positive and below 1e15", size));
    }
    if !(0.0 < alpha && alpha < 1.0) {
        return Err(Error::parameter("alpha", "lie strictly between 0 and 1", alpha));
    }
    if width == 0 || !weights.len().is_multiple_of(width) {
        return Err(Error::parameter("weights", "be whole rows", weights.len()));
    }
    if weights.iter().any(|w| !(w.abs() < 1e100)) {
        return Err(Error::parameter("weights", "be finite", "others"));
    }
    // A size that was rounded from a rational is off by half a unit at most.
    let law = Law { noise, size: size.next_up() };
    let threads = parallel::threads_for(weights.len() / width, ROWS_PER_THREAD);
    parallel::map(weights.chunks(width), threads, |row| {
        interrupt::check()?;
        Ok(reach(&law, &distinct(row), alpha))
    })
}

/// The law of a single noise.
struct Law {
    noise: Noise,
    size: f64,
}

impl Law {
    /// A bound of it from above.
    fn variance(&self) -> f64 {
        match self.noise {
            Noise::Laplace => 0.5 / (0.5 / self.size).sinh().powi(2),
            Noise::Gaussian => self.size.powi(2),
        }
    }

    /// E exp(i angle Z).
    fn characteristic(&self, angle: f64) -> f64 {
        match self.noise {
            Noise::Laplace => {
                let ratio = (0.5 * angle).sin() / (0.5 / self.size).sinh();
                (1.0 + ratio * ratio).recip()
            }
            // Poisson's summation: near its period's ends two terms count; all others are below 1e-19.
            Noise::Gaussian if self.size >= 1.0 => {
                let rest = (angle.abs() + PI).rem_euclid(2.0 * PI) - PI;
                let term = |shift: f64| (-0.5 * (self.size * (rest + shift)).powi(2)).exp();
                let all = 1.0 + 2.0 * (-0.5 * (2.0 * PI * self.size).powi(2)).exp();
                (term(0.0) + term(2.0 * PI) + term(-2.0 * PI)) / all
            }
            Noise::Gaussian => {
                let mass = |z: i32| (-0.5 * (f64::from(z) / self.size).powi(2)).exp();
                let sum = |f: &dyn Fn(i32) -> f64| 1.0 + 2.0 * (1..=9).map(f).sum::<f64>();
                (sum(&|z| mass(z) * (f64::from(z) * angle).cos()) / sum(&mass)).max(0.0)
            }
        }
    }

    /// ln E exp(tilt Z), infinite where it is not finite.
    fn log_moment(&self, tilt: f64) -> f64 {
        match self.noise {
            // (1 - q)^2 / ((1 - q e^t)(1 - q e^-t)), q = exp(-1 / size).
            Noise::Laplace if tilt.abs() * self.size < 1.0 => {
                let rate = self.size.recip();
                2.0 * (-(-rate).exp_m1()).ln() - (-(tilt - rate).exp_m1()).ln() - (-(-tilt - rate).exp_m1()).ln()
            }
            Noise::Laplace => f64::INFINITY,
            // Discrete Gaussian noise is sub-Gaussian with its sigma [CKS20].
            Noise::Gaussian => 0.5 * (self.size * tilt).powi(2),
        }
    }
}

/// The sizes of the weights that are not zero, which occur how often: the noise is symmetric.
fn distinct(row: &[f64]) -> Vec<(f64, i32)> {
    let mut sizes: Vec<f64> = row.iter().map(|w| w.abs()).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let largest = sizes.first().copied().unwrap_or(0.0);
    let mut found: Vec<(f64, i32)> = Vec::new();
    for size in sizes {
        if size <= 1e-14 * largest {
            // All of them together are some 1e-12 of the rest, which is in the margin.
            break;
        }
        match found.last_mut() {
            Some((last, times)) if *last - size <= 1e-13 * *last => *times += 1,
            _ => found.push((size, 1)),
        }
    }
    found
}

fn reach(law: &Law, weights: &[(f64, i32)], alpha: f64) -> f64 {
    let Some(&(largest, _)) = weights.first() else { return 0.0 };
    let bound = chernoff(law, weights, alpha);
    let deviation = (law.variance() * weights.iter().map(|(w, n)| w * w * f64::from(*n)).sum::<f64>()).sqrt();
    let g = SMOOTHING * deviation;
    let beyond = BEYOND * alpha;
    // The wave is -1 beyond R as well, where t - W - G must hardly lie for any t that is asked for.
    let half_period = bound + chernoff(law, weights, beyond) + FAR * g;
    let Some(series) = Series::new(law, weights, largest, g, half_period) else { return bound };
    // P(G > -e), from below.
    let inside = 1.0 - 0.5 * gamma_q(0.5, 0.5 * SHIFT * SHIFT) * (1.0 + MARGIN);
    let allowed = alpha * inside - beyond - BEYOND_FAR - series.left_out - ROUNDING;
    let (mut low, mut high) = (0.0, bound);
    if series.tail(high) > allowed {
        return bound;
    }
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if series.tail(middle) > allowed {
            low = middle;
        } else {
            high = middle;
        }
    }
    ((high + SHIFT * g) * (1.0 + MARGIN)).min(bound)
}

/// The least bound (sum of log moments - ln alpha) / tilt over some tilts.
fn chernoff(law: &Law, weights: &[(f64, i32)], alpha: f64) -> f64 {
    let (largest, squares) =
        (weights[0].0, law.variance() * weights.iter().map(|(w, n)| w * w * f64::from(*n)).sum::<f64>());
    // The best tilt of a normal law, and on from there; those of Laplace noise end at 1 / (size largest).
    let normal = (-2.0 * alpha.ln() / squares).sqrt();
    let at = |i: usize| match law.noise {
        Noise::Gaussian => normal,
        Noise::Laplace => {
            (normal * 0.3 * 1.15_f64.powi(i as i32)).min((1.0 - 0.5_f64.powi(1 + i as i32)) / (law.size * largest))
        }
    };
    let bound = |tilt: f64| {
        let moments: f64 = weights.iter().map(|(w, n)| f64::from(*n) * law.log_moment(w * tilt)).sum();
        (moments - alpha.ln()) / tilt
    };
    (0..TILTS).map(|i| bound(at(i))).fold(f64::INFINITY, f64::min) * (1.0 + MARGIN)
}

/// The series for the tail of the smoothed sum.
struct Series {
    /// 2 pi / R.
    step: f64,
    /// Runs of terms: the first k, and phi(u_k) / (pi (k + 1/2)).
    runs: Vec<(usize, Vec<f64>)>,
    /// Bound of all other terms together.
    left_out: f64,
}

impl Series {
    /// Nothing where it would have too many terms.
    fn new(law: &Law, weights: &[(f64, i32)], largest: f64, g: f64, half_period: f64) -> Option<Self> {
        let step = 2.0 * PI / half_period;
        let place = |k: usize| (k as f64 + 0.5) * step;
        // From here on exp(-g^2 u^2 / 2) falls by a factor per term that bounds the rest as a geometric series.
        let end = (FAR / (g * step)).ceil();
        // Also where there are none, as the deviation of the noise is below all doubles.
        if !(end <= MOST_TERMS) {
            return None;
        }
        let end = end as usize;
        let ratio = (-g * g * place(end) * step).exp();
        let mut left_out = (-0.5 * (g * place(end)).powi(2)).exp() / ((1.0 - ratio) * PI * end as f64);
        // The first term with an argument beyond pi.
        let turn = ((PI / (largest * step) - 0.5).ceil().max(0.0) as usize).min(end);
        let mut runs = vec![(0, Vec::new())];
        let mut k = 0;
        while k < end {
            let u = place(k);
            let product: f64 = weights.iter().map(|(w, n)| law.characteristic(w * u).powi(*n)).product();
            if k < turn && product < NEGLIGIBLE {
                left_out += product * (1.0 + ((turn as f64 + 0.5) / (k as f64 + 0.5)).ln()) / PI;
                runs.push((turn, Vec::new()));
                k = turn;
                continue;
            }
            let term = product * (-0.5 * (g * u).powi(2)).exp() / (PI * (k as f64 + 0.5));
            if let Some((_, run)) = runs.last_mut() {
                run.push(term);
            }
            k += 1;
        }
        Some(Self { step, runs, left_out })
    }

    /// What P(W + G > t) is at most, but for what was left out and what lies beyond R.
    fn tail(&self, t: f64) -> f64 {
        let (turn_sine, turn_cosine) = (self.step * t).sin_cos();
        let mut sum = 0.0;
        for (first, run) in &self.runs {
            let (mut sine, mut cosine) = ((*first as f64 + 0.5) * self.step * t).sin_cos();
            for term in run {
                sum += term * sine;
                (sine, cosine) = (sine * turn_cosine + cosine * turn_sine, cosine * turn_cosine - sine * turn_sine);
            }
        }
        0.5 - sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All masses of one noise but some 1e-13.
    fn masses(noise: Noise, size: f64) -> Vec<(i64, f64)> {
        let last = if noise == Noise::Laplace { 31.0 * size } else { 8.0 * size }.ceil() as i64 + 1;
        let weight = |z: i64| match noise {
            Noise::Laplace => (-(z.abs() as f64) / size).exp(),
            Noise::Gaussian => (-0.5 * (z as f64 / size).powi(2)).exp(),
        };
        let all: f64 = (-last..=last).map(weight).sum();
        (-last..=last).map(|z| (z, weight(z) / all)).collect()
    }

    /// P(sum > t) of up to three weights, by enumeration.
    fn tail(noise: Noise, size: f64, weights: &[f64], t: f64) -> f64 {
        let one = masses(noise, size);
        let (w, rest) = weights.split_first().unwrap();
        let over = |left: f64| -> f64 { one.iter().filter(|(z, _)| *w * *z as f64 > left).map(|(_, p)| p).sum() };
        match rest {
            [] => over(t),
            [v] => one.iter().map(|(z, p)| p * over(t - v * *z as f64)).sum(),
            [v, u] => one
                .iter()
                .map(|(z, p)| p * one.iter().map(|(y, q)| q * over(t - v * *z as f64 - u * *y as f64)).sum::<f64>())
                .sum(),
            _ => unreachable!(),
        }
    }

    #[test]
    fn tails_are_within_alpha_by_enumeration_and_near_it() {
        let rows: [&[f64]; 5] = [&[1.0], &[1.0, 0.3], &[0.5, -0.5], &[1.0, 1.0, 1.0], &[0.7, -0.31, 0.013]];
        for noise in [Noise::Laplace, Noise::Gaussian] {
            for size in [0.4, 1.0, 2.3, 6.0] {
                for row in rows {
                    for alpha in [0.4, 0.1, 0.025, 1e-4] {
                        let t = weighted_reaches(noise, size, row, row.len(), alpha).unwrap()[0];
                        let found = tail(noise, size, row, t);
                        assert!(found <= alpha * (1.0 + 1e-9), "{noise:?} {size} {row:?} {alpha}: {t} {found}");
                        // Nearer by the largest step of the sums and what smoothing costs it is not.
                        let squares: f64 = row.iter().map(|w| w * w).sum();
                        let deviation = (Law { noise, size }.variance() * squares).sqrt();
                        let nearer = t - row[0].abs() - 0.04 * deviation;
                        if nearer > 0.0 {
                            let beyond = tail(noise, size, row, nearer);
                            assert!(beyond > alpha, "{noise:?} {size} {row:?} {alpha}: {t} {beyond}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn many_equal_weights_meet_the_normal_law() {
        // The 97.5 % point; the excess kurtosis of 4000 Laplace noises moves it by less than 1e-3.
        let t = weighted_reaches(Noise::Laplace, 20.0, &[1.0; 4000], 4000, 0.025).unwrap()[0];
        let deviation = (4000.0 * Law { noise: Noise::Laplace, size: 20.0 }.variance()).sqrt();
        let ratio = t / deviation / 1.959964;
        assert!((1.0..1.02).contains(&ratio), "{ratio}");
    }

    #[test]
    fn characteristic_functions_are_sums_over_masses() {
        for (noise, size) in [
            (Noise::Laplace, 0.3),
            (Noise::Laplace, 9.0),
            (Noise::Gaussian, 0.6),
            (Noise::Gaussian, 1.0),
            (Noise::Gaussian, 4.0),
        ] {
            let law = Law { noise, size };
            let all = masses(noise, size);
            for angle in [0.0, 0.2, 1.0, 3.0, PI, 4.0, 12.0, 100.0] {
                let sum: f64 = all.iter().map(|(z, p)| p * (*z as f64 * angle).cos()).sum();
                assert!((law.characteristic(angle) - sum).abs() < 1e-11, "{noise:?} {size} {angle}");
            }
            for tilt in [0.1, 0.9 / size] {
                let sum: f64 = all.iter().map(|(z, p)| p * (*z as f64 * tilt).exp()).sum();
                let found = law.log_moment(tilt);
                assert!(found >= sum.ln() - 1e-9, "{noise:?} {size} {tilt}");
                assert!(noise == Noise::Gaussian || tilt * size > 0.8 || (found - sum.ln()).abs() < 1e-9);
            }
        }
    }

    /// A series would take 10^20 terms and more.
    #[test]
    fn next_to_no_noise_is_bounded_at_once() {
        for size in [0.2, 0.02, 1e-3, 1e-300] {
            let t = weighted_reaches(Noise::Laplace, size, &[1.0, 0.5, -0.25], 3, 0.025).unwrap()[0];
            assert!(t >= 0.0 && t < 8.0 * size, "{size} {t}");
        }
    }

    #[test]
    fn nothing_is_exceeded_by_no_noise_and_nonsense_is_refused() {
        assert_eq!(weighted_reaches(Noise::Laplace, 3.0, &[0.0; 4], 2, 0.1).unwrap(), [0.0, 0.0]);
        let far = weighted_reaches(Noise::Laplace, 3.0, &[1.0], 1, 1e-30).unwrap()[0];
        assert!(far > 3.0 * 68.0 && far < 3.0 * 80.0, "{far}");
        assert!(weighted_reaches(Noise::Laplace, 0.0, &[1.0], 1, 0.1).is_err());
        assert!(weighted_reaches(Noise::Laplace, 1.0, &[1.0], 2, 0.1).is_err());
        assert!(weighted_reaches(Noise::Laplace, 1.0, &[f64::NAN], 1, 0.1).is_err());
        assert!(weighted_reaches(Noise::Laplace, 1.0, &[1.0], 1, 1.0).is_err());
    }
}
