//! Convolutions of functions on integers, on a window: directly, or by Fourier transform where that is faster.
//!
//! A direct sum of non-negative terms has a relative error of a rounding unit for each term. A transform has an absolute
//! error, which is bounded from what `crate::fft` proves: with spectra a and b each known to e, a product is off by at
//! most e (|a| + |b|) + e^2, and an output by the mean of that over the frequencies and what the inverse adds.

use super::segment::Segment;
use super::sums::in_lanes;
use crate::fft::{RealFft, Spectrum};
use crate::wide;

/// Nanoseconds for one product of the direct sum, and for one value, level and transform; their ratio decides.
const DIRECT_COST: f64 = 0.25;
const TRANSFORM_COST: f64 = 1.0;

/// The convolution of functions without negative values at the integers from `window.0` to before `window.1`, and a bound
/// of the absolute error of its values beyond the relative one of a direct sum.
pub(super) fn convolve(a: &Segment, b: &Segment, window: (i64, i64)) -> (Segment, f64) {
    let (mut c, error) = convolve_signed(a, b, window);
    if error > 0.0 {
        c.values.iter_mut().for_each(|value| *value = value.max(0.0));
    }
    (c, error)
}

/// [`convolve`] for functions of any sign.
pub(super) fn convolve_signed(a: &Segment, b: &Segment, window: (i64, i64)) -> (Segment, f64) {
    let full = (a.start + b.start, a.end() + b.end() - 1);
    let (start, end) = (window.0.max(full.0), window.1.min(full.1));
    if start >= end {
        return (Segment { start: window.0, values: Vec::new() }, 0.0);
    }
    let length = (end - start) as usize;
    let (short, long) = if a.values.len() <= b.values.len() { (a, b) } else { (b, a) };
    let n = transform_length(full, (start, end));
    let products = short.values.len() as f64 * long.values.len().min(length) as f64;
    let (values, error) = if DIRECT_COST * products <= TRANSFORM_COST * 3.0 * n as f64 * (n as f64).log2() {
        (direct(&short.values, &long.values, (start - full.0) as usize, length), 0.0)
    } else {
        transformed(&short.values, &long.values, (start - full.0) as usize, length, n)
    };
    (Segment { start, values }, error)
}

/// The least cyclic length that keeps the window free of what is folded back.
fn transform_length(full: (i64, i64), window: (i64, i64)) -> usize {
    let kept = (window.1 - full.0).max(full.1 - window.0);
    (kept as usize).next_power_of_two().max(8)
}

/// Outputs `offset..offset + length` of the sum of products.
fn direct(short: &[f64], long: &[f64], offset: usize, length: usize) -> Vec<f64> {
    const BLOCK: usize = 4;
    let mut out = vec![0.0; length];
    // Padded so that four terms of the short factor reach the same outputs.
    let mut padded = vec![0.0; long.len() + 2 * (BLOCK - 1)];
    padded[BLOCK - 1..BLOCK - 1 + long.len()].copy_from_slice(long);
    for (block, terms) in short.chunks(BLOCK).enumerate() {
        let mut a = [0.0; BLOCK];
        a[..terms.len()].copy_from_slice(terms);
        // Output `first + m` gets a[q] long[m - q], that is a[q] padded[m - q + 3], for m from 0 to long.len() + 2.
        let first = block * BLOCK;
        let from = offset.saturating_sub(first);
        let to = (offset + length).saturating_sub(first).min(long.len() + BLOCK - 1);
        if from >= to {
            continue;
        }
        let target = &mut out[first + from - offset..first + to - offset];
        let n = target.len();
        let [b0, b1, b2, b3] = [3, 2, 1, 0].map(|shift| &padded[from + shift..from + shift + n]);
        // The same sums for every width of vector: each output is on its own.
        wide::widest(
            #[inline(always)]
            || {
                for m in 0..n {
                    target[m] += (a[0] * b0[m] + a[1] * b1[m]) + (a[2] * b2[m] + a[3] * b3[m]);
                }
            },
        );
    }
    out
}

/// The same by transforms of length `n`, and a bound of the error of each output.
fn transformed(a: &[f64], b: &[f64], offset: usize, length: usize, n: usize) -> (Vec<f64>, f64) {
    let plan = RealFft::new(n);
    let spectrum = |x: &[f64]| {
        let mut padded = vec![0.0; n];
        // Folded, should the factor be longer than the cycle: what is folded does not reach the window.
        for cycle in x.chunks(n) {
            padded.iter_mut().zip(cycle).for_each(|(sum, value)| *sum += value);
        }
        let total = in_lanes(
            x.len(),
            #[inline(always)]
            |i| x[i].abs(),
        );
        (plan.forward(&padded), plan.forward_error() * total * 1.001)
    };
    let ((mut za, ea), (zb, eb)) = (spectrum(a), spectrum(b));
    let (sa, sb) = (mean_modulus(&za), mean_modulus(&zb));
    multiply(&mut za, &zb);
    let product = mean_modulus(&za);
    let error = ea * sb + eb * sa + ea * eb + plan.inverse_error() * product;
    let cyclic = plan.inverse(za);
    // The window is no longer than the cycle, and goes on at its start.
    let mut values = Vec::with_capacity(length);
    let start = offset % n;
    let before = length.min(n - start);
    values.extend_from_slice(&cyclic[start..start + before]);
    values.extend_from_slice(&cyclic[..length - before]);
    (values, error * 1.01)
}

fn multiply(z: &mut Spectrum, w: &Spectrum) {
    let n = z.re.len();
    let (zr, zi, wr, wi) = (&mut z.re[..n], &mut z.im[..n], &w.re[..n], &w.im[..n]);
    // Position 0 holds two real frequencies.
    let ends = (zr[0] * wr[0], zi[0] * wi[0]);
    for p in 1..n {
        (zr[p], zi[p]) = (zr[p] * wr[p] - zi[p] * wi[p], zr[p] * wi[p] + zi[p] * wr[p]);
    }
    (zr[0], zi[0]) = ends;
}

/// The mean of |z| over all frequencies.
fn mean_modulus(z: &Spectrum) -> f64 {
    let half = z.re.len();
    let (re, im) = (&z.re[1..], &z.im[1..half]);
    // Position 0 holds the frequencies zero and one half, any other stands for two.
    let rest = 2.0
        * in_lanes(
            half - 1,
            #[inline(always)]
            |p| (re[p] * re[p] + im[p] * im[p]).sqrt(),
        );
    (z.re[0].abs() + z.im[0].abs() + rest) / (2 * half) as f64
}

/// Sums of a(s + t) b(t) over t, for s from `window.0` to before `window.1`.
pub(super) fn correlate(a: &Segment, b: &Segment, window: (i64, i64)) -> (Segment, f64) {
    convolve(a, &b.mirrored(), window)
}

/// [`correlate`] for functions of any sign.
pub(super) fn correlate_signed(a: &Segment, b: &Segment, window: (i64, i64)) -> (Segment, f64) {
    convolve_signed(a, &b.mirrored(), window)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(start: i64, length: usize, seed: u64) -> Segment {
        let mut state = seed;
        let values: Vec<f64> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as f64 / 2f64.powi(24)
            })
            .collect();
        let sum: f64 = values.iter().sum();
        Segment { start, values: values.iter().map(|v| v / sum).collect() }
    }

    fn definition(a: &Segment, b: &Segment, s: i64) -> f64 {
        a.iter().map(|(x, p)| p * b.at(s - x)).sum()
    }

    #[test]
    fn both_ways_agree_with_the_definition_on_any_window() {
        for (la, lb) in [(1, 1), (1, 9), (3, 4), (5, 5), (17, 100), (300, 40), (900, 1100)] {
            let (a, b) = (law(-7, la, 3), law(12, lb, 4));
            let full = (5, 5 + (la + lb) as i64 - 1);
            let third = (full.1 - full.0) / 3;
            for window in [full, (full.0 - 9, full.1 + 9), (full.0 + third, full.1 - third), (full.1 - 1, full.1 + 4)] {
                let (c, error) = convolve(&a, &b, window);
                let (start, end) = (window.0.max(full.0), window.1.min(full.1));
                assert_eq!((c.start, c.end()), (start, end));
                let n = transform_length(full, (start, end));
                let args = (&a.values[..], &b.values[..], (start - full.0) as usize, (end - start) as usize);
                let (fast, bound) = transformed(args.0, args.1, args.2, args.3, n);
                let slow = direct(args.0, args.1, args.2, args.3);
                for (i, s) in (start..end).enumerate() {
                    let exact = definition(&a, &b, s);
                    assert!((slow[i] - exact).abs() < 1e-14 * exact + 1e-300);
                    assert!((fast[i] - exact).abs() <= bound + 1e-14 * exact, "{la} {lb} {s}");
                    assert!((c.at(s) - exact).abs() <= error + 1e-14 * exact);
                }
                assert!(bound < 1e-13, "{bound}");
            }
        }
    }

    #[test]
    fn correlation_is_convolution_with_the_mirror_image() {
        let (a, b) = (law(3, 40, 1), law(-5, 11, 2));
        let (c, _) = correlate(&a, &b, (0, 30));
        for s in 0..30 {
            let exact: f64 = b.iter().map(|(t, p)| p * a.at(s + t)).sum();
            assert!((c.at(s) - exact).abs() < 1e-15);
        }
    }

    #[test]
    fn nothing_lies_outside_of_the_reach() {
        let (c, error) = convolve(&law(0, 3, 1), &law(0, 3, 2), (50, 60));
        assert!(c.values.is_empty() && error == 0.0);
    }
}
