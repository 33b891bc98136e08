//! The power series of exp(-c sqrt(1-z)): its coefficients p_J, a probability law on J >= 0, as logarithms.
//!
//! p_J = C q_J phi_J with C = c/(2 sqrt(pi)), q_J = Gamma(J-1/2)/Gamma(J+1) and, for G ~ Gamma(J-1/2) and K the modified Bessel
//! function, phi_J = E exp(-c^2/(4G)) = 2 (c/2)^nu K_nu(c)/Gamma(nu), nu = J-1/2.
//! - Up to [`TABLE_TO`], p_(J+2) = ((4J+2)(J+1) p_(J+1) + c^2 p_J) / (4(J+2)(J+1)), all terms positive;
//! - above, the expansion of K_nu(c) that is uniform in c ([DLMF] 10.41.4) less Stirling's of Gamma(nu), with all that cancels
//!   taken out by hand; the first terms left out are below 1e-13.
//!
//! q is log-convex. phi increases to 1 and is log-concave: phi_(J-1) phi_(J+1) <= phi_J^2 is Turan's inequality
//! K_(nu-1) K_(nu+1) <= K_nu^2 nu/(nu-1), nu > 1 ([Bar10]).

use std::f64::consts::PI;

use crate::double_double::DoubleDouble;

/// The largest J whose p_J comes from the recursion.
const TABLE_TO: u64 = 2048;
/// From here on q_J is taken from its expansion.
const Q_EXPANSION_FROM: u64 = 16;
/// ln q_J = -3/2 ln w + sum_k Q_SERIES[k] / w^(2k+2), w = J - 1/4.
const Q_SERIES: [f64; 6] = [
    5.0 / 64.0,
    -1.0 / 2048.0,
    65.0 / 49_152.0,
    -1381.0 / 1_048_576.0,
    10_105.0 / 4_194_304.0,
    -0.006_712_379_554_907_481,
];

/// Bound on the error of [`StableSeries::log_p`]: this much, and as much of its value.
pub(super) const LOG_P_ERROR: f64 = 1e-10;
const LOG_P_RELATIVE_ERROR: f64 = 1e-14;

/// The law p for one exponent c > 0.
pub(super) struct StableSeries {
    c: f64,
    /// ln p_J for J = 0 ..= TABLE_TO.
    log_p: Vec<f64>,
}

/// ln q_J = lgamma(J - 1/2) - lgamma(J + 1), J >= 1.
fn log_q(j: u64) -> f64 {
    if j < Q_EXPANSION_FROM {
        let product = (1..j).fold(PI.sqrt(), |q, i| q * (i as f64 - 0.5) / (i as f64 + 1.0));
        return product.ln();
    }
    let w = j as f64 - 0.25;
    let inverse_square = 1.0 / (w * w);
    Q_SERIES.iter().rev().fold(0.0, |sum, c| (sum + c) * inverse_square) - 1.5 * w.ln()
}

impl StableSeries {
    pub(super) fn new(c: f64) -> Self {
        // ln p_J is a sum of logarithms of ratios; the running sum is kept in twice the precision.
        let mut sum = DoubleDouble::from(-c);
        let mut ratio = c / 2.0;
        let mut log_p = Vec::with_capacity(TABLE_TO as usize + 1);
        for j in 0..=TABLE_TO {
            log_p.push(sum.to_f64());
            sum = sum + DoubleDouble::from(ratio.ln());
            let j = j as f64;
            ratio = ((4.0 * j + 2.0) * (j + 1.0) + c * (c / ratio)) / (4.0 * (j + 2.0) * (j + 1.0));
        }
        Self { c, log_p }
    }

    /// ln p_J.
    pub(super) fn log_p(&self, j: u64) -> f64 {
        match self.log_p.get(j as usize) {
            Some(&value) => value,
            None => self.log_front() + log_q(j) + log_phi_uniform(j as f64 - 0.5, self.c),
        }
    }

    /// ln phi_J, J >= 1.
    fn log_phi(&self, j: u64) -> f64 {
        if j <= TABLE_TO {
            self.log_p(j) - self.log_front() - log_q(j)
        } else {
            log_phi_uniform(j as f64 - 0.5, self.c)
        }
    }

    /// An upper bound of ln P[J >= l], l >= 1: the sum of C q_J telescopes to 2 C Gamma(l-1/2)/Gamma(l), and
    /// Gamma(l)/Gamma(l-1/2) > sqrt(l - 3/4) ([Wat59]).
    pub(super) fn log_tail_upper(&self, l: u64) -> f64 {
        let bound = self.c.ln() - 0.5 * (PI * (l as f64 - 0.75)).ln();
        (bound + LOG_P_ERROR).min(0.0)
    }

    /// An upper bound of ln p_v that, joined by a straight line to p_u, lies above p on [u, v].
    ///
    /// On [u, v] ln q lies below its chord and ln phi below the chord over [t, u] prolonged, for any t < u; so p lies below
    /// an exponential function, and that below its chord.
    fn log_chord_end(&self, u: u64, v: u64) -> f64 {
        let t = u.saturating_sub(v - u).max(1);
        let (before, at) = (self.log_phi(t), self.log_phi(u));
        let slope = (at - before) / (u - t) as f64;
        self.log_front() + log_q(v) + at + slope * (v - u) as f64
    }

    /// [`Self::log_p`] raised by its error bound.
    fn raise(log_p: f64) -> f64 {
        log_p + LOG_P_ERROR + LOG_P_RELATIVE_ERROR * log_p.abs()
    }

    fn log_front(&self) -> f64 {
        self.c.ln() - (2.0 * PI.sqrt()).ln()
    }
}

/// ln phi for nu >= 2000: -nu (w - log1p(w/2)) - ln(r)/2 + ln(1 - u_1/nu + u_2/nu^2 - u_3/nu^3) - R(nu), where
/// r = sqrt(1 + (c/nu)^2), w = r - 1, u_k at 1/r and R is Stirling's remainder.
fn log_phi_uniform(nu: f64, c: f64) -> f64 {
    let z = c / nu;
    let r = z.hypot(1.0);
    let w = z * (z / (r + 1.0));
    let p = 1.0 / r;
    let s = p * p;
    let u1 = p * (3.0 - 5.0 * s) / 24.0;
    let u2 = s * (81.0 + s * (-462.0 + s * 385.0)) / 1152.0;
    let u3 = p * s * (30_375.0 + s * (-369_603.0 + s * (765_765.0 - s * 425_425.0))) / 414_720.0;
    let series = ((-(u3 / nu - u2) / nu - u1) / nu).ln_1p();
    let remainder = (1.0 / 12.0 - 1.0 / (360.0 * nu * nu)) / nu;
    let value = -nu * (w - (0.5 * w).ln_1p()) - 0.5 * r.ln() + series - remainder;
    value.min(0.0)
}

/// A stretch of J inside a cell, to estimate what the chord over the cell wastes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// ln of the mass of p.
    pub(super) log_mass: f64,
    /// Where it lies in the cell on the scale of ln J, 0 to 1.
    pub(super) position: f64,
}

/// What p puts on the two ends of [l, h) when every J in it is shared linearly between l and h: upper bounds.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) log_left: f64,
    pub(super) log_right: f64,
    pub(super) pieces: Vec<Piece>,
}

/// Pieces of a cell.
const N_PIECES: u64 = 16;
/// Pieces up to this long are summed term by term.
const DIRECT_TO: u64 = 8;

impl StableSeries {
    /// The shares of l and h of the mass of p on [l, h), from above.
    pub(super) fn cell(&self, l: u64, h: u64) -> Cell {
        // ln of the bound at the cell's largest term, so that sums of exponentials stay in range.
        let mut terms: Vec<(f64, f64)> = Vec::new();
        let mut pieces = Vec::new();
        let log_ratio = (h as f64 / l as f64).ln();
        let position = |j: f64| (j / l as f64).ln() / log_ratio;
        let mut u = l;
        for i in 1..=N_PIECES {
            let v = match i {
                N_PIECES => h,
                _ => ((l as f64 * (log_ratio * i as f64 / N_PIECES as f64).exp()).round() as u64).clamp(u, h),
            };
            if v - u <= DIRECT_TO {
                for j in u..v {
                    let log_p = Self::raise(self.log_p(j));
                    terms.push((log_p, (j - l) as f64));
                    pieces.push(Piece { log_mass: log_p, position: position(j as f64) });
                }
            } else {
                self.long_piece(l, u, v, &mut terms);
                let (start, end) = (self.log_p(u), self.log_p(v));
                let log_mass = start.max(end) + log_of_mean_ratio((start - end).abs()) + ((v - u) as f64).ln();
                pieces.push(Piece { log_mass, position: position(0.5 * (u as f64 + v as f64)) });
            }
            u = v;
        }
        let largest = terms.iter().map(|term| term.0).fold(f64::NEG_INFINITY, f64::max);
        let (mut left, mut right) = (0.0, 0.0);
        let length = (h - l) as f64;
        for &(log_mass, offset) in &terms {
            let mass = (log_mass - largest).exp();
            left += mass * ((length - offset) / length);
            right += mass * (offset / length);
        }
        // Sums of at most a few hundred positive terms, each to a few units in the last place.
        Cell { log_left: largest + left.ln() + 1e-12, log_right: largest + right.ln() + 1e-12, pieces }
    }

    /// Appends the mass of the chord over [u, v) as point masses at exact centres of gravity: the sums over J = u + j of
    /// P_u (n-j)/n and of P_v j/n have mass (n+1)/2 and (n-1)/2 at mean j of (n-1)/3 and (2n-1)/3.
    fn long_piece(&self, l: u64, u: u64, v: u64, terms: &mut Vec<(f64, f64)>) {
        let n = (v - u) as f64;
        let offset = (u - l) as f64;
        let (start, end) = (Self::raise(self.log_p(u)), Self::raise(self.log_chord_end(u, v)));
        terms.push((start + (0.5 * (n + 1.0)).ln(), offset + (n - 1.0) / 3.0));
        terms.push((end + (0.5 * (n - 1.0)).ln(), offset + (2.0 * n - 1.0) / 3.0));
    }
}

/// ln((1 - exp(-x))/x): the mean of an exponential function that falls by x over an interval, as a part of its largest value.
fn log_of_mean_ratio(x: f64) -> f64 {
    if x < 1e-8 { -0.5 * x } else { (-(-x).exp_m1() / x).ln() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden() -> impl Iterator<Item = (f64, u64, f64)> {
        let data = include_str!("../../../../../tests/golden/data/stable_series.csv");
        data.lines().skip(1).map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            (fields[0].parse().unwrap(), fields[1].parse().unwrap(), fields[2].parse().unwrap())
        })
    }

    #[test]
    fn coefficients_agree_with_mpmath_within_a_tenth_of_the_error_bound() {
        for (c, j, expected) in golden() {
            let value = StableSeries::new(c).log_p(j);
            let allowed = 0.1 * LOG_P_ERROR + 0.5 * LOG_P_RELATIVE_ERROR * expected.abs();
            assert!((value - expected).abs() <= allowed, "c = {c}, J = {j}: {value} against {expected}");
        }
    }

    #[test]
    fn coefficients_sum_to_one_with_the_tail() {
        let series = StableSeries::new(3.0);
        let sum: f64 = (0..200_000).map(|j| series.log_p(j).exp()).sum();
        let tail = series.log_tail_upper(200_000).exp();
        // phi_200000 = 1 - 1.1e-5, so the bound of the tail is above it by as much.
        assert!(sum + tail > 1.0 && sum + tail < 1.0 + 2e-5 * tail, "{sum} {tail}");
    }

    /// The shares of a cell, summed one by one.
    fn shares(series: &StableSeries, l: u64, h: u64) -> (f64, f64) {
        (l..h).fold((0.0, 0.0), |(left, right), j| {
            let (p, t) = (series.log_p(j).exp(), (j - l) as f64 / (h - l) as f64);
            (left + p * (1.0 - t), right + p * t)
        })
    }

    #[test]
    fn shares_of_a_cell_are_bounded_from_above_and_tightly_when_it_is_short() {
        for c in [0.3, 5.0, 60.0, 300.0] {
            let series = StableSeries::new(c);
            for (l, h) in [(1, 2), (2, 4), (64, 128), (1000, 1100), (4096, 8192), (1 << 15, 1 << 16), (50_000, 50_500)]
            {
                let cell = series.cell(l, h);
                let (left, right) = shares(&series, l, h);
                let (upper_left, upper_right) = (cell.log_left.exp(), cell.log_right.exp());
                assert!(upper_left >= left * (1.0 - 1e-12) && upper_right >= right * (1.0 - 1e-12), "{c} {l} {h}");
                let waste = (upper_left + upper_right) / (left + right) - 1.0;
                let steep = c * c / (4.0 * l as f64) * (h - l) as f64 / (l as f64 * 16.0);
                assert!(waste < 1e-3 + steep * steep, "{c} {l} {h}: {waste} where {steep}");
            }
        }
    }
}
