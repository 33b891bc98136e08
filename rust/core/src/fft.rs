//! A real Fourier transform of power-of-two length with a proved bound on the error of every single output.
//!
//! The transform evaluates a polynomial by repeated reduction: modulo X^2k - R it is low + X^k high, which modulo
//! X^k - W and X^k + W, W^2 = R, is low + W high and low - W high. One factor W serves a whole block, so the inner loops
//! are free of table look-ups, and the factors do not depend on the length. The spectrum comes out in bit-reversed
//! order, which products do not mind; the mirror image of position p in [2^j, 2^(j+1)) is 3 2^j - 1 - p.

use std::f64::consts::PI;
use std::sync::{Arc, Mutex};

use crate::wide::wide;

/// Rounding unit of a double.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// Relative growth of the error of any output in one level of the transform, against the sum of moduli of the inputs.
///
/// A twiddle factor is off by at most 4 units (angle 2, sine and cosine 1 each), a product of two complex numbers adds
/// sqrt(5) [Brent, Percival, Zimmermann 2007], a sum 1; two levels done at once need a product of factors: at most 14.
const LEVEL_ERROR: f64 = 8.0 * UNIT;

/// A plan for real input of length `2 * half`.
pub(crate) struct RealFft {
    half: usize,
    levels: u32,
    twiddles: Arc<Twiddles>,
}

/// exp(-i pi v(s)) for s = 0, 1, ..., v(s) the digits of s mirrored at the binary point.
struct Twiddles {
    re: Vec<f64>,
    im: Vec<f64>,
}

/// Spectrum of a real sequence: position 0 carries the frequencies zero (in `re`) and one half (in `im`).
#[derive(Clone)]
pub(crate) struct Spectrum {
    pub(crate) re: Vec<f64>,
    pub(crate) im: Vec<f64>,
}

impl RealFft {
    /// A plan for length `n`, a power of two, at least 4.
    pub(crate) fn new(n: usize) -> Self {
        assert!(n.is_power_of_two() && n >= 4, "callers choose powers of two");
        let half = n / 2;
        Self { half, levels: half.trailing_zeros(), twiddles: twiddles(half) }
    }

    /// Bound, relative to the sum of moduli of the input, on the error of every output of [`Self::forward`].
    ///
    /// The complex transform has `levels` levels; separating the spectra of the even and the odd inputs adds both errors
    /// and one more level.
    pub(crate) fn forward_error(&self) -> f64 {
        2.0 * (f64::from(self.levels) + 2.0) * LEVEL_ERROR * 1.001
    }

    /// Bound on the error of every output of [`Self::inverse`], relative to the mean modulus of all its frequencies.
    pub(crate) fn inverse_error(&self) -> f64 {
        2.0 * (f64::from(self.levels) + 3.0) * LEVEL_ERROR * 1.001
    }

    /// The spectrum of `x`.
    pub(crate) fn forward(&self, x: &[f64]) -> Spectrum {
        wide(
            #[inline(always)]
            || self.forward_on(x),
        )
    }

    #[inline(always)]
    fn forward_on(&self, x: &[f64]) -> Spectrum {
        let mut z = Spectrum {
            re: x.chunks_exact(2).map(|pair| pair[0]).collect(),
            im: x.chunks_exact(2).map(|pair| pair[1]).collect(),
        };
        self.reduce(&mut z);
        let (re, im) = (z.re[0], z.im[0]);
        (z.re[0], z.im[0]) = (re + im, re - im);
        z.im[1] = -z.im[1];
        for (p, mirror) in mirrored_pairs(self.half) {
            let (wr, wi) = (self.twiddles.re[p], self.twiddles.im[p]);
            let (er, ei) = (0.5 * (z.re[p] + z.re[mirror]), 0.5 * (z.im[p] - z.im[mirror]));
            let (or, oi) = (0.5 * (z.im[p] + z.im[mirror]), -0.5 * (z.re[p] - z.re[mirror]));
            let (tr, ti) = (wr * or - wi * oi, wr * oi + wi * or);
            (z.re[p], z.im[p]) = (er + tr, ei + ti);
            (z.re[mirror], z.im[mirror]) = (er - tr, ti - ei);
        }
        z
    }

    /// The real sequence whose spectrum is `z`.
    pub(crate) fn inverse(&self, z: Spectrum) -> Vec<f64> {
        wide(
            #[inline(always)]
            || self.inverse_on(z),
        )
    }

    #[inline(always)]
    fn inverse_on(&self, mut z: Spectrum) -> Vec<f64> {
        let (zero, nyquist) = (z.re[0], z.im[0]);
        (z.re[0], z.im[0]) = (0.5 * (zero + nyquist), 0.5 * (zero - nyquist));
        z.im[1] = -z.im[1];
        for (p, mirror) in mirrored_pairs(self.half) {
            let (wr, wi) = (self.twiddles.re[p], self.twiddles.im[p]);
            let (er, ei) = (0.5 * (z.re[p] + z.re[mirror]), 0.5 * (z.im[p] - z.im[mirror]));
            let (tr, ti) = (0.5 * (z.re[p] - z.re[mirror]), 0.5 * (z.im[p] + z.im[mirror]));
            let (or, oi) = (wr * tr + wi * ti, wr * ti - wi * tr);
            (z.re[p], z.im[p]) = (er - oi, ei + or);
            (z.re[mirror], z.im[mirror]) = (er + oi, or - ei);
        }
        self.expand(&mut z);
        let scale = 1.0 / self.half as f64;
        z.re.iter().zip(&z.im).flat_map(|(&re, &im)| [re * scale, im * scale]).collect()
    }

    /// Two levels at a time, and one alone at the end if their number is odd.
    #[inline(always)]
    fn reduce(&self, z: &mut Spectrum) {
        let mut block = self.half;
        while block >= 4 {
            let quarter = block / 4;
            for s in 0..self.half / block {
                let range = s * block..(s + 1) * block;
                reduce_four(&mut z.re[range.clone()], &mut z.im[range], quarter, self.twiddles.three(s));
            }
            block = quarter;
        }
        if block == 2 {
            for s in 0..self.half / 2 {
                let (wr, wi) = (self.twiddles.re[s], self.twiddles.im[s]);
                let (i, j) = (2 * s, 2 * s + 1);
                let (tr, ti) = (z.re[j] * wr - z.im[j] * wi, z.re[j] * wi + z.im[j] * wr);
                (z.re[j], z.im[j]) = (z.re[i] - tr, z.im[i] - ti);
                (z.re[i], z.im[i]) = (z.re[i] + tr, z.im[i] + ti);
            }
        }
    }

    /// The steps of [`Self::reduce`] backwards, without the factor one half of each.
    #[inline(always)]
    fn expand(&self, z: &mut Spectrum) {
        let mut block = if self.levels % 2 == 1 {
            for s in 0..self.half / 2 {
                let (wr, wi) = (self.twiddles.re[s], self.twiddles.im[s]);
                let (i, j) = (2 * s, 2 * s + 1);
                let (dr, di) = (z.re[i] - z.re[j], z.im[i] - z.im[j]);
                (z.re[i], z.im[i]) = (z.re[i] + z.re[j], z.im[i] + z.im[j]);
                (z.re[j], z.im[j]) = (dr * wr + di * wi, di * wr - dr * wi);
            }
            8
        } else {
            4
        };
        while block <= self.half {
            let quarter = block / 4;
            for s in 0..self.half / block {
                let range = s * block..(s + 1) * block;
                expand_four(&mut z.re[range.clone()], &mut z.im[range], quarter, self.twiddles.three(s));
            }
            block *= 4;
        }
    }
}

impl Twiddles {
    /// The factors of one block of two levels: for its second, third and fourth quarter.
    #[inline(always)]
    fn three(&self, s: usize) -> [(f64, f64); 3] {
        let (ar, ai) = (self.re[s], self.im[s]);
        let (br, bi) = (self.re[2 * s], self.im[2 * s]);
        [(br, bi), (ar, ai), (ar * br - ai * bi, ar * bi + ai * br)]
    }
}

#[inline(always)]
fn reduce_four(re: &mut [f64], im: &mut [f64], quarter: usize, w: [(f64, f64); 3]) {
    let [(r0, r1), (r2, r3)] = quarters(re, quarter);
    let [(i0, i1), (i2, i3)] = quarters(im, quarter);
    for k in 0..quarter {
        let (ar, ai) = (r1[k] * w[0].0 - i1[k] * w[0].1, r1[k] * w[0].1 + i1[k] * w[0].0);
        let (br, bi) = (r2[k] * w[1].0 - i2[k] * w[1].1, r2[k] * w[1].1 + i2[k] * w[1].0);
        let (cr, ci) = (r3[k] * w[2].0 - i3[k] * w[2].1, r3[k] * w[2].1 + i3[k] * w[2].0);
        let (pr, pi, mr, mi) = (r0[k] + br, i0[k] + bi, r0[k] - br, i0[k] - bi);
        let (sr, si, dr, di) = (ar + cr, ai + ci, ar - cr, ai - ci);
        (r0[k], i0[k]) = (pr + sr, pi + si);
        (r1[k], i1[k]) = (pr - sr, pi - si);
        (r2[k], i2[k]) = (mr + di, mi - dr);
        (r3[k], i3[k]) = (mr - di, mi + dr);
    }
}

#[inline(always)]
fn expand_four(re: &mut [f64], im: &mut [f64], quarter: usize, w: [(f64, f64); 3]) {
    let [(r0, r1), (r2, r3)] = quarters(re, quarter);
    let [(i0, i1), (i2, i3)] = quarters(im, quarter);
    for k in 0..quarter {
        let (pr, pi, sr, si) = (r0[k] + r1[k], i0[k] + i1[k], r0[k] - r1[k], i0[k] - i1[k]);
        let (mr, mi, dr, di) = (r2[k] + r3[k], i2[k] + i3[k], r2[k] - r3[k], i2[k] - i3[k]);
        // i (y2 - y3) stands for the two differences that the forward step multiplied by -i.
        let (ar, ai) = (sr - di, si + dr);
        let (cr, ci) = (sr + di, si - dr);
        let (br, bi) = (pr - mr, pi - mi);
        (r0[k], i0[k]) = (pr + mr, pi + mi);
        (r1[k], i1[k]) = (ar * w[0].0 + ai * w[0].1, ai * w[0].0 - ar * w[0].1);
        (r2[k], i2[k]) = (br * w[1].0 + bi * w[1].1, bi * w[1].0 - br * w[1].1);
        (r3[k], i3[k]) = (cr * w[2].0 + ci * w[2].1, ci * w[2].0 - cr * w[2].1);
    }
}

type Pair<'a> = (&'a mut [f64], &'a mut [f64]);

/// A block as its four quarters; the common length is visible to the optimiser.
#[inline(always)]
fn quarters(x: &mut [f64], quarter: usize) -> [Pair<'_>; 2] {
    let (a, b) = x.split_at_mut(2 * quarter);
    let (a0, a1) = a.split_at_mut(quarter);
    let (b0, b1) = b.split_at_mut(quarter);
    [(a0, &mut a1[..quarter]), (&mut b0[..quarter], &mut b1[..quarter])]
}

/// Positions p >= 2 in bit-reversed order with the position of the opposite frequency, each pair once.
pub(crate) fn mirrored_pairs(half: usize) -> impl Iterator<Item = (usize, usize)> {
    (1..half.trailing_zeros()).flat_map(|j| {
        let start = 1_usize << j;
        (start..start + start / 2).map(move |p| (p, 3 * start - 1 - p))
    })
}

/// Factors for blocks `0..n`, computed once per process for the largest length asked.
fn twiddles(n: usize) -> Arc<Twiddles> {
    static TABLE: Mutex<Option<Arc<Twiddles>>> = Mutex::new(None);
    let table = || TABLE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = table().as_ref().filter(|known| known.re.len() >= n) {
        return known.clone();
    }
    // Not under the lock, which a child that is forked meanwhile would wait for in vain.
    let fresh = Arc::new(Twiddles::new(n));
    let mut table = table();
    if table.as_ref().is_none_or(|known| known.re.len() < n) {
        *table = Some(fresh.clone());
    }
    fresh
}

impl Twiddles {
    fn new(n: usize) -> Self {
        let bits = n.trailing_zeros().max(1);
        let (im, re) = (0..n)
            .map(|s| {
                let mirrored = (s as u64).reverse_bits() >> (64 - bits);
                // Angles in (-pi, 0]; at most two roundings (pi and the product), then sine and cosine.
                let (sin, cos) = (-PI * mirrored as f64 / (1_u64 << bits) as f64).sin_cos();
                (sin, cos)
            })
            .unzip();
        Self { re, im }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_sequence(n: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * i + 3 * i) % 17) as f64 / 17.0 + if i == 5 { 3.0 } else { 0.0 }).collect()
    }

    #[test]
    fn forward_agrees_with_the_definition_within_the_bound() {
        for n in [4, 8, 16, 32, 64, 256] {
            let x = test_sequence(n);
            let total: f64 = x.iter().sum();
            let plan = RealFft::new(n);
            let z = plan.forward(&x);
            let half = n / 2;
            for p in 0..half {
                let k =
                    if half == 1 { 0 } else { ((p as u64).reverse_bits() >> (64 - half.trailing_zeros())) as usize };
                let (mut re, mut im) = (0.0, 0.0);
                for (j, &value) in x.iter().enumerate() {
                    let (sin, cos) = (-2.0 * PI * ((j * k) % n) as f64 / n as f64).sin_cos();
                    re += value * cos;
                    im += value * sin;
                }
                if p == 0 {
                    im = x.iter().enumerate().map(|(j, &v)| if j % 2 == 0 { v } else { -v }).sum();
                }
                let error = (z.re[p] - re).hypot(z.im[p] - im);
                let naive = n as f64 * UNIT * total;
                assert!(error <= plan.forward_error() * total + naive, "n {n} p {p}: {error:e}");
            }
        }
    }

    #[test]
    fn inverse_returns_the_input() {
        for n in [4, 8, 16, 32, 64, 1024, 1 << 15] {
            let x = test_sequence(n);
            let plan = RealFft::new(n);
            let y = plan.inverse(plan.forward(&x));
            let worst = x.iter().zip(&y).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-14 * 4.0 * (n as f64).log2(), "n {n}: {worst:e}");
        }
    }

    #[test]
    fn mirrored_positions_carry_opposite_frequencies() {
        let half = 64_u64;
        let frequency = |p: usize| (p as u64).reverse_bits() >> (64 - 6);
        for (p, mirror) in mirrored_pairs(64) {
            assert_eq!((frequency(p) + frequency(mirror)) % half, 0);
        }
    }
}
