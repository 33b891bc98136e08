//! How far a mixture of products is from measured tables, and the gradient of that.
//!
//! With A the probabilities of the levels in each component and w the weights, P = A diag(w) A' holds the two-way tables
//! and m = A w the one-way tables. What is minimised is
//!
//!   sum over pairs of sum of U (C P - T)^2 / 2 + V (P - Q)^2 / 2, + sum of u (m - t)^2 / 2, + lambda sum of w_k KL(A_k || p),
//!
//! where C takes row and column means off a table, U is one number for each pair, and T has no such means; A and w are
//! softmaxes of logits. As rows of P sum to m, C P is P less what m says; and as C is a projection, the gradient of
//! the first term with respect to P is U (C P - T). The whole gradient costs two products of K D^2, less what no pair
//! that was measured needs.

use super::lanes::{LANES, Lane, exp, map2, sum};
use super::products::{ROWS, Tiles, mirror, pair_tables, times};
use crate::wide::widest;

/// Logits stay within this of the largest one in their column: further down, a level would be as good as dead, and single
/// precision would lose it.
const FLOOR: f32 = -30.0;

/// What a mixture is fitted to; levels of all columns side by side.
pub(super) struct Objective {
    /// The levels of each column.
    pub(super) blocks: Vec<std::ops::Range<usize>>,
    /// The number of levels, padded.
    pub(super) width: usize,
    /// The number of components over [`LANES`].
    pub(super) n: usize,
    /// Where there are pairs.
    pub(super) tiles: Tiles,
    /// One over the number of levels of its column, for each level.
    pub(super) shares: Vec<f32>,
    /// U and T above the diagonal; U is zero where nothing was measured. T holds what makes P less the means of its rows
    /// and columns, m_i / b and m_j / a, equal to C P: 1/(a b) is subtracted.
    pub(super) pair_weights: Vec<f32>,
    pub(super) pair_targets: Vec<f32>,
    /// V and Q above the diagonal; without any there is no prior.
    pub(super) prior: Option<(Vec<f32>, Vec<f32>)>,
    /// u and t.
    pub(super) weights: Vec<f32>,
    pub(super) targets: Vec<f32>,
    /// lambda and ln p.
    pub(super) penalty: f32,
    pub(super) log_prior: Vec<f32>,
}

/// The logits of a mixture, or a gradient with respect to them.
#[derive(Clone)]
pub(super) struct Logits {
    /// Of the levels: `width` rows of `n`.
    pub(super) levels: Vec<Lane>,
    /// Of the components.
    pub(super) components: Vec<Lane>,
}

/// What is computed on the way, kept from call to call.
pub(super) struct Workspace {
    a: Vec<Lane>,
    weighted: Vec<Lane>,
    product: Vec<Lane>,
    pairs: Vec<f32>,
    residual: Vec<f32>,
    /// One value for each component: largest logits, sums, logarithms of sums.
    rows: [Vec<Lane>; 3],
}

/// The number of levels with the padding that the products ask for.
pub(super) fn padded(width: usize) -> usize {
    width.next_multiple_of(ROWS)
}

impl Logits {
    pub(super) fn zeros(width: usize, n: usize) -> Self {
        Self { levels: vec![[0.0; LANES]; width * n], components: vec![[0.0; LANES]; n] }
    }
}

impl Workspace {
    pub(super) fn new(objective: &Objective) -> Self {
        let Objective { width, n, .. } = *objective;
        let lanes = || vec![[0.0; LANES]; width * n];
        let square = || vec![0.0; width * width];
        let row = || vec![[0.0; LANES]; n];
        Self {
            a: lanes(),
            weighted: lanes(),
            product: lanes(),
            pairs: square(),
            residual: square(),
            rows: [row(), row(), row()],
        }
    }

    /// The probabilities of the levels that the last evaluation was at.
    pub(super) fn probabilities(&self) -> &[Lane] {
        &self.a
    }
}

/// The weights of the components, which sum to one.
pub(super) fn component_weights(logits: &[Lane]) -> Vec<f64> {
    let flat: Vec<f64> = logits.as_flattened().iter().map(|&v| f64::from(v)).collect();
    let most = flat.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut weights: Vec<f64> = flat.iter().map(|v| (v - most).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    weights
}

impl Objective {
    /// The value at these logits; the gradient, times the number of components, is put into `gradient`. The logits are
    /// shifted so that the largest of each column is zero, and raised to the floor.
    pub(super) fn evaluate(&self, at: &mut Logits, gradient: &mut Logits, work: &mut Workspace) -> f64 {
        widest(
            #[inline(always)]
            || self.evaluate_inline(at, gradient, work),
        )
    }

    #[inline(always)]
    fn evaluate_inline(&self, at: &mut Logits, gradient: &mut Logits, work: &mut Workspace) -> f64 {
        let (width, n) = (self.width, self.n);
        self.softmax(&mut at.levels, work);
        let w: Vec<Lane> =
            component_weights(&at.components).as_chunks::<LANES>().0.iter().map(|w| w.map(|w| w as f32)).collect();
        let mut one_way = vec![0.0_f32; width];
        for ((a, weighted), one_way) in work.a.chunks_exact(n).zip(work.weighted.chunks_exact_mut(n)).zip(&mut one_way)
        {
            let mut total = [0.0; LANES];
            for ((weighted, &a), &w) in weighted.iter_mut().zip(a).zip(&w) {
                *weighted = map2(a, w, |a, w| a * w);
                total = map2(total, *weighted, |total, x| total + x);
            }
            *one_way = sum(total);
        }
        pair_tables(&work.weighted, &work.a, width, &self.tiles, &mut work.pairs);
        let mut value = self.pair_residual(&work.pairs, &one_way, &mut work.residual);
        let slope: Vec<f32> = (0..width).map(|i| self.weights[i] * (one_way[i] - self.targets[i])).collect();
        value += 0.5 * (0..width).map(|i| f64::from(slope[i]) * f64::from(one_way[i] - self.targets[i])).sum::<f64>();
        times(&work.residual, &work.a, width, &self.tiles, &mut work.product);
        let components = self.level_gradient(at, &slope, &w, gradient, work);
        let mean: f64 = components.iter().zip(&w).map(|(q, w)| dot(*q, *w)).sum();
        let scale = (n * LANES) as f32;
        for ((gradient, q), w) in gradient.components.iter_mut().zip(&components).zip(&w) {
            *gradient = map2(*q, *w, |q, w| w * (q - mean as f32) * scale);
        }
        if self.penalty > 0.0 {
            // The last row holds the divergence of each component.
            value += f64::from(self.penalty) * work.rows[2].iter().zip(&w).map(|(kl, w)| dot(*kl, *w)).sum::<f64>();
        }
        value
    }

    /// The probabilities of the levels; the logits are shifted to a largest of zero. `rows[2]` gets the divergence of
    /// each component from the prior, as far as it consists of logits and sums.
    #[inline(always)]
    fn softmax(&self, logits: &mut [Lane], work: &mut Workspace) {
        let n = self.n;
        let [most, total, _] = &mut work.rows;
        for block in &self.blocks {
            most.fill([f32::NEG_INFINITY; LANES]);
            total.fill([0.0; LANES]);
            for row in logits[block.start * n..block.end * n].chunks_exact(n) {
                most.iter_mut()
                    .zip(row)
                    .for_each(|(most, &z)| *most = map2(*most, z, |a, b| if a > b { a } else { b }));
            }
            let rows = block.start * n..block.end * n;
            for (row, a) in logits[rows.clone()].chunks_exact_mut(n).zip(work.a[rows.clone()].chunks_exact_mut(n)) {
                for (((z, a), most), total) in row.iter_mut().zip(a).zip(most.iter()).zip(total.iter_mut()) {
                    *z = map2(*z, *most, |z, most| if z - most > FLOOR { z - most } else { FLOOR });
                    *a = exp(*z);
                    *total = map2(*total, *a, |total, a| total + a);
                }
            }
            total.iter_mut().for_each(|total| *total = total.map(|total| 1.0 / total));
            for a in work.a[rows].chunks_exact_mut(n) {
                a.iter_mut().zip(total.iter()).for_each(|(a, total)| *a = map2(*a, *total, |a, t| a * t));
            }
        }
    }

    /// The gradient with respect to P on both sides of the diagonal, and the value of the pairs' terms.
    #[inline(always)]
    fn pair_residual(&self, pairs: &[f32], one_way: &[f32], residual: &mut [f32]) -> f64 {
        let width = self.width;
        let mut value = 0.0;
        for block in &self.blocks {
            for i in block.clone() {
                let cells = i * width + block.end..(i + 1) * width;
                let (mean, share) = (one_way[i], self.shares[i]);
                let mut row_value = 0.0_f32;
                let others = one_way[block.end..].iter().zip(&self.shares[block.end..]);
                let given = self.pair_targets[cells.clone()].iter().zip(&self.pair_weights[cells.clone()]);
                for (((r, &p), (&other, &other_share)), (&t, &u)) in
                    residual[cells.clone()].iter_mut().zip(&pairs[cells.clone()]).zip(others).zip(given)
                {
                    let off = p - mean * other_share - share * other - t;
                    *r = u * off;
                    row_value += *r * off;
                }
                if let Some((weights, targets)) = &self.prior {
                    let given = targets[cells.clone()].iter().zip(&weights[cells.clone()]);
                    for ((r, &p), (&q, &v)) in residual[cells.clone()].iter_mut().zip(&pairs[cells]).zip(given) {
                        *r += v * (p - q);
                        row_value += v * (p - q) * (p - q);
                    }
                }
                value += 0.5 * f64::from(row_value);
            }
        }
        mirror(residual, width, &self.tiles);
        value
    }

    /// Fills the gradient of the levels, and returns the derivative with respect to each component's weight.
    #[inline(always)]
    fn level_gradient(
        &self,
        at: &Logits,
        slope: &[f32],
        w: &[Lane],
        gradient: &mut Logits,
        work: &mut Workspace,
    ) -> Vec<Lane> {
        let n = self.n;
        let scale = (n * LANES) as f32;
        let mut components = vec![[0.0; LANES]; n];
        work.rows[2].fill([0.0; LANES]);
        for block in &self.blocks {
            let [log_most, mean, divergence] = &mut work.rows;
            if self.penalty > 0.0 {
                // ln A is the logit plus that of the largest level, whose logit is zero.
                log_most.fill([0.0; LANES]);
                for row in work.a[block.start * n..block.end * n].chunks_exact(n) {
                    log_most.iter_mut().zip(row).for_each(|(t, &a)| *t = map2(*t, a, |t, a| if t > a { t } else { a }));
                }
                log_most.iter_mut().for_each(|t| *t = t.map(f32::ln));
            }
            mean.fill([0.0; LANES]);
            for i in block.clone() {
                let row = i * n..(i + 1) * n;
                let (slope, log_prior) = (slope[i], self.log_prior[i]);
                let product = &mut work.product[row.clone()];
                for (k, (b, &a)) in product.iter_mut().zip(&work.a[row.clone()]).enumerate() {
                    for l in 0..LANES {
                        let pulled = b[l];
                        components[k][l] += a[l] * (0.5 * pulled + slope);
                        b[l] = pulled + slope;
                    }
                    if self.penalty > 0.0 {
                        let z = at.levels[i * n + k];
                        for l in 0..LANES {
                            let log_ratio = z[l] + log_most[k][l] - log_prior;
                            divergence[k][l] += a[l] * log_ratio;
                            b[l] += self.penalty * log_ratio;
                        }
                    }
                    mean[k] = map2(mean[k], map2(a, *b, |a, b| a * b), |mean, x| mean + x);
                }
            }
            for i in block.clone() {
                let row = i * n..(i + 1) * n;
                for (k, g) in gradient.levels[row.clone()].iter_mut().enumerate() {
                    let (a, b) = (work.a[row.start + k], work.product[row.start + k]);
                    for l in 0..LANES {
                        g[l] = a[l] * (b[l] - mean[k][l]) * (w[k][l] * scale);
                    }
                }
            }
        }
        for (component, divergence) in components.iter_mut().zip(&work.rows[2]) {
            *component = map2(*component, *divergence, |q, kl| q + self.penalty * kl);
        }
        components
    }
}

#[inline(always)]
fn dot(a: Lane, b: Lane) -> f64 {
    (0..LANES).map(|l| f64::from(a[l]) * f64::from(b[l])).sum()
}
