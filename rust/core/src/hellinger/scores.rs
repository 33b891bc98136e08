//! Scores of the Hellinger mechanism: logarithms of Bhattacharyya coefficients, one coordinate at a time.
//!
//! All candidates have the same total, so the Hellinger distance of the posteriors of x and of k separates:
//! H^2 = 1 - exp(sum_i g_i(k_i)) with g_i(k) = g(alpha_i + x_i, alpha_i + k) and
//! g(a, b) = lgamma((a+b)/2) - (lgamma(a) + lgamma(b))/2 <= 0 (\[HP\] section 2, rearranged).
//!
//! With M = (a+b)/2, d = (a-b)/2 and t = d/M everything is a sum of terms of one sign, so no digit cancels:
//! - g(a, b) = g(a+1, b+1) + log(1 - t^2)/2, which lifts both arguments above `ASYMPTOTIC_FROM`;
//! - there, with Stirling's remainder R, -2 g = M ((1+t) log(1+t) + (1-t) log(1-t)) - log(1-t^2)/2
//!   + (R(M+d) + R(M-d) - 2 R(M)), three non-negative terms.

/// Arguments from here on use Stirling's series; smaller ones are shifted up.
const ASYMPTOTIC_FROM: f64 = 10.0;

/// Stirling's remainder R(x) = sum_k B_2k / (2k (2k-1) x^(2k-1)); the first term left out is below 2e-18 at x = 10.
const STIRLING: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
    43_867.0 / 244_188.0,
];

/// Coefficients of h(c) = -sum_k (1 - 4^-k) B_2k / (k (2k-1) c^(2k-1)).
const H_SERIES: [f64; 9] = [
    -1.0 / 8.0,
    1.0 / 192.0,
    -1.0 / 640.0,
    17.0 / 14_336.0,
    -31.0 / 18_432.0,
    691.0 / 180_224.0,
    -5461.0 / 425_984.0,
    929_569.0 / 15_728_640.0,
    -3_202_291.0 / 8_912_896.0,
];

/// The score of one coordinate, g(a, b) = lgamma((a+b)/2) - (lgamma(a) + lgamma(b))/2, to 1e-14 relative.
///
/// Never positive, symmetric, zero at a = b. Arguments are positive and finite; up to 1e15 nothing overflows.
/// Where b - a is known exactly (counts), [`coordinate_score`] does not lose it in the sum with the prior.
pub fn g(a: f64, b: f64) -> f64 {
    midpoint_deficit(a, b, 0.5 * (a - b), 0.5 * (a + b))
}

/// g(alpha + x, alpha + k) for counts x and k: their difference enters exactly, also at 10^12 counts.
pub fn coordinate_score(prior: f64, x: u64, k: u64) -> f64 {
    let half_difference = 0.5 * (x as f64 - k as f64);
    let middle = prior + 0.5 * (x as f64 + k as f64);
    midpoint_deficit(prior + x as f64, prior + k as f64, half_difference, middle)
}

/// The increment g(a, b+1) - g(a, b) = h((a+b)/2) + log1p((a-b)/(2b))/2.
///
/// Its absolute error is a few units in the last place of its two terms, which cancel near b = a - 1/2.
pub fn g_step(a: f64, b: f64) -> f64 {
    g_step_from_difference(b, 0.5 * (a - b))
}

/// [`g_step`] for half_difference = (a-b)/2 that the caller knows exactly.
pub fn g_step_from_difference(b: f64, half_difference: f64) -> f64 {
    h(b + half_difference) + 0.5 * (half_difference / b).ln_1p()
}

/// The score of neighbours, h(c) = lgamma(c+1/2) - lgamma(c)/2 - lgamma(c+1)/2 = g(c, c+1), to 1e-14 relative.
///
/// Negative, increasing and concave: -h(c) is half the integral of exp(-c t) tanh(t/4)/t over t > 0.
pub fn h(c: f64) -> f64 {
    let mut shift = Shrinkage::NONE;
    let mut c = c;
    while c < ASYMPTOTIC_FROM {
        let t = 0.5 / (c + 0.5);
        shift.multiply(t * t, c * (c + 1.0) / ((c + 0.5) * (c + 0.5)));
        c += 1.0;
    }
    0.5 * shift.log() + odd_series(&H_SERIES, c)
}

/// log(1 - exp(s))/2 for s <= 0: the logarithm of the Hellinger distance whose log Bhattacharyya coefficient is s.
pub fn log_distance(s: f64) -> f64 {
    0.5 * (-s.exp_m1()).ln()
}

/// sqrt(1 - exp(s)) for s <= 0: the Hellinger distance whose log Bhattacharyya coefficient is s.
pub fn distance(s: f64) -> f64 {
    (-s.exp_m1()).max(0.0).sqrt()
}

/// The product of factors 1 - e, kept so that its logarithm is accurate near one as well as near zero.
struct Shrinkage {
    /// One minus the product.
    deficit: f64,
    product: f64,
    /// Logarithm of what was taken out of `product` before it could underflow.
    log_removed: f64,
}

impl Shrinkage {
    const NONE: Self = Self { deficit: 0.0, product: 1.0, log_removed: 0.0 };

    /// Multiplies by the factor 1 - e, given both as e and as itself, each accurate.
    fn multiply(&mut self, e: f64, factor: f64) {
        self.deficit += e * (1.0 - self.deficit);
        self.product *= factor;
        if self.product < 1e-200 {
            self.log_removed += self.product.ln();
            self.product = 1.0;
        }
    }

    fn log(&self) -> f64 {
        if self.deficit < 0.5 { (-self.deficit).ln_1p() } else { self.log_removed + self.product.ln() }
    }
}

/// g for a = M + d, b = M - d, where d is exact.
fn midpoint_deficit(mut a: f64, mut b: f64, d: f64, mut middle: f64) -> f64 {
    if d == 0.0 {
        return 0.0;
    }
    // Of either sign the same digits: g is symmetric to the last bit.
    let d = d.abs();
    let mut shift = Shrinkage::NONE;
    while a.min(b) < ASYMPTOTIC_FROM {
        let t = d / middle;
        shift.multiply(t * t, (a / middle) * (b / middle));
        a += 1.0;
        b += 1.0;
        middle += 1.0;
    }
    0.5 * (shift.log() - stirling_second_difference(a, b, d, middle))
}

/// lgamma(M+d) + lgamma(M-d) - 2 lgamma(M) for arguments in the range of Stirling's series.
fn stirling_second_difference(a: f64, b: f64, d: f64, middle: f64) -> f64 {
    let t = d / middle;
    if t.abs() > 0.5 {
        let (log_a, log_b) = ((a / middle).ln(), (b / middle).ln());
        let remainder = odd_series(&STIRLING, a) + odd_series(&STIRLING, b) - 2.0 * odd_series(&STIRLING, middle);
        return a * log_a + b * log_b - 0.5 * (log_a + log_b) + remainder;
    }
    let log_shrink = (-t * t).ln_1p();
    // M psi(t) with psi = log(1-t^2) + 2 t atanh(t): of opposite sign, but the second is twice the first or more.
    let main = middle * (log_shrink + 2.0 * t * t.atanh());
    main - 0.5 * log_shrink + remainder_second_difference(t, middle)
}

/// R(M+d) + R(M-d) - 2 R(M) for t = d/M at most 1/2, without cancellation.
///
/// D_p = (1+t)^-p + (1-t)^-p - 2 obeys D_(p+1) = q (2 D_p - D_(p-1)) + 2 t^2 q with q = 1/(1-t^2), D_0 = 0, D_1 = 2 t^2 q.
fn remainder_second_difference(t: f64, middle: f64) -> f64 {
    let q = 1.0 / ((1.0 - t) * (1.0 + t));
    let lift = 2.0 * t * t * q;
    let inverse = 1.0 / middle;
    let inverse_squared = inverse * inverse;
    let (mut before, mut current) = (0.0, lift);
    let mut power = inverse;
    let mut sum = 0.0;
    // Of the far terms' factor D_p / D_1 < 3^p nothing is left above this: the fifth term is below 1e-19 of the first.
    let n_terms = if middle > 1e3 { 4 } else { STIRLING.len() };
    for coefficient in &STIRLING[..n_terms] {
        sum += coefficient * power * current;
        power *= inverse_squared;
        for _ in 0..2 {
            (before, current) = (current, q * (2.0 * current - before) + lift);
        }
    }
    sum
}

/// sum_k coefficients[k] / x^(2k+1).
fn odd_series(coefficients: &[f64], x: f64) -> f64 {
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    coefficients.iter().rev().fold(0.0, |sum, &coefficient| sum * square + coefficient) * inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64, relative: f64) {
        assert!((value / expected - 1.0).abs() <= relative, "{value:e} against {expected:e}");
    }

    // By mpmath at 80 digits.
    const H_CASES: &[(f64, f64)] = &[
        (1e-12, -13.243145615040960321),
        (1e-08, -8.6379754429144260852),
        (0.001, -2.882897348393753357),
        (0.1, -0.70318624716794819669),
        (0.5, -0.22579135264472743236),
        (1.0, -0.12078223763524522235),
        (3.75, -0.033236571134205303644),
        (9.875, -0.012652835727411326946),
        (10.0, -0.012494807174728820055),
        (29.9, -0.0041804072288376334624),
        (1000.0, -0.00012499999479166822917),
        (1000000.0, -1.2499999999999479167e-7),
        (1000000000.0, -1.2499999999999999999e-10),
        (1000000000000.0, -1.25e-13),
    ];
    const G_CASES: &[(f64, f64, f64)] = &[
        (1e-12, 1.0, -13.243145615040267174),
        (1e-12, 1000000000000.0, -346573590299.88987769),
        (1e-12, 2e-12, -0.058891517828191727269),
        (0.5, 0.25, -0.067119751540741309816),
        (1.0, 2.0, -0.12078223763524522235),
        (1.0, 7.0, -1.4978661367769954967),
        (3.5, 100.5, -28.908664450564990051),
        (9.5, 10.5, -0.013151840019046446658),
        (12.0, 30.0, -2.044056945767462395),
        (100.0, 101.0, -0.0012499947918229048101),
        (100.0, 1000000.0, -346099.68459852568073),
        (1000000.0, 1000001.0, -1.2499999999999479167e-7),
        (1000000.0, 999300.0, -0.061271476904047731878),
        (1000000000.0, 1000000001.0, -1.2499999999999999999e-10),
        (1000000000.0, 500000000.0, -42474759.228295127153),
        (1000000000000.0, 999999999999.0, -1.25000000000125e-13),
        (1000000000000.0, 1000003000000.0, -1.1249983125035156176),
        (1000000000000.0, 10.0, -346573590157.78591119),
        (50.25, 150.5, -13.167941402833264053),
    ];
    const COUNTS_CASE: f64 = -1.249999999999625e-13;

    #[test]
    fn h_keeps_its_digits() {
        for &(c, expected) in H_CASES {
            close(h(c), expected, 1e-14);
        }
    }

    #[test]
    fn g_keeps_its_digits() {
        for &(a, b, expected) in G_CASES {
            close(g(a, b), expected, 1e-14);
            close(g(b, a), expected, 1e-14);
        }
    }

    #[test]
    fn steps_add_up_to_scores() {
        for (a, b) in [(3.25, 0.25), (40.5, 7.5), (1e-12, 1.0)] {
            let mut sum = g(a, b);
            for j in 0..50 {
                sum += g_step(a, b + f64::from(j));
            }
            close(sum, g(a, b + 50.0), 1e-12);
        }
    }

    #[test]
    fn counts_enter_exactly_beside_any_prior() {
        // By mpmath: prior 0.3, x = 10^12, k = x + 1; g(a, b) would see the rounded difference of a and b.
        close(coordinate_score(0.3, 1_000_000_000_000, 1_000_000_000_001), COUNTS_CASE, 1e-14);
    }
}
