//! Tables of a model: rows that are alike, with totals that several tables saw (theory E2).
//!
//! A [`Group`] is a set of tables whose rows stand for the same records: every feature given the class, or every child of
//! the same parents. Row c of each has the total N_c; what is known of N_c beside the tables is itself a cell of a histogram (the
//! class shares) with the public or private total n. With Z_jc(N) the probability of row c of table j given its total,
//!
//! ```text
//! p(N | all releases) = p(N) prod_c q_c(N_c) prod_j Z_jc(N_c),      q_c what was released of N_c itself,
//! ```
//!
//! so the law of the totals takes one more convolution over the rows, and every row of every table has, as the prior of its
//! total, what all others say. Given fixed priors of the rows this is exact. Rows of a table shrink towards their common
//! centre with a strength that is integrated over by evidence (`strength`, which says what is approximated there).
//!
//! - `lattice`: what is known of a total.
//! - `row`: one row given its prior and its total; exact for small spreads, else on a grid in the spread of its cells.
//! - `untilted`: weights of counts that are asked for again and again.
//! - `strength`: centre and concentration.
//! - `mixture`: intervals.

mod lattice;
mod mixture;
mod row;
mod strength;
mod untilted;

use self::lattice::{FEW, Information, Lattice, range_around};
use self::mixture::BetaMixture;
use self::row::{Fitted, Row, ShareNode};
use self::strength::{CONCENTRATIONS, Strength};
use super::cell::{Cell, LARGEST_COUNT};
use super::factor::Factor;
use super::segment::Segment;
use super::total::TotalTerm;
use super::tree::Tree;
use crate::special::log_gamma_ratio;
use crate::{Error, Result, parallel};

/// Weights of concentrations below this are left out of the answer.
const NEGLIGIBLE: f64 = 1e-3;

/// Steps in the spread of a cell.
const FINENESS: f64 = 4.0;

/// Totals in the lattice of a row at most.
const MOST_TOTALS: i64 = 1 << 13;

/// Priors of a cell below that say that it is empty.
const LEAST_PRIOR: f64 = 1e-9;

/// A total that is known counts as known to this variance.
const LEAST_VARIANCE: f64 = 0.05;

/// How far from its mean a total is looked for, in standard deviations.
const REACH: f64 = 10.0;

/// A table whose rows are those of its group.
#[derive(Debug, Clone)]
pub struct Table {
    /// What was released of each cell, row by row.
    pub factors: Vec<Option<Factor>>,
    /// What the release of a row says of its total beyond the cells.
    pub term: Option<TotalTerm>,
}

/// Tables with the same rows.
#[derive(Debug, Clone)]
pub struct Group {
    /// What was released of each row's total, if anything.
    pub totals: Vec<Option<Factor>>,
    /// Dirichlet prior of the shares of the rows.
    pub totals_prior: f64,
    /// The sum of the rows' totals, where it is public.
    pub known: Option<u64>,
    /// The tables.
    pub tables: Vec<Table>,
    /// One concentration around equal shares instead of those that evidence chooses.
    pub concentration: Option<f64>,
    /// Other ways in which rows may be alike than all of them: a label for each row, those with the same one alike. By evidence it is
    /// chosen between them, as between concentrations.
    pub partitions: Vec<Vec<usize>>,
}

/// The posterior of a group.
#[derive(Debug, Clone)]
pub struct Smoothed {
    group: Group,
    caps: Vec<u64>,
    /// By table: the concentrations that matter.
    strengths: Vec<Vec<Weighed>>,
    /// By table and row: what all others say of the row's total.
    others: Vec<Vec<Lattice>>,
    totals: Vec<Lattice>,
}

/// A concentration with its posterior weights.
#[derive(Debug, Clone)]
struct Weighed {
    /// With how often it occurs learnt from all tables, which is best for means; zero where it is negligible.
    weight: f64,
    /// From the table alone, for intervals: few tables do not tell how often each concentration occurs.
    alone: f64,
    strength: Strength,
}

/// Moments of the cells of a table, row by row.
#[derive(Debug, Clone, Default)]
pub struct TableMoments {
    /// Means and variances of shares.
    pub shares: Vec<(f64, f64)>,
    /// Means and variances of counts.
    pub counts: Vec<(f64, f64)>,
}

impl Group {
    fn rows(&self) -> usize {
        self.totals.len()
    }

    fn levels(&self, table: usize) -> usize {
        self.tables[table].factors.len() / self.rows()
    }

    fn row(&self, table: usize, row: usize, cap: u64) -> Row<'_> {
        let levels = self.levels(table);
        let table = &self.tables[table];
        Row { factors: &table.factors[row * levels..(row + 1) * levels], term: table.term, cap }
    }

    /// The posterior.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no rows, tables that do not fit, or totals of which nothing is known;
    /// [`Error::NotAffordable`], [`Error::Numerical`] or [`Error::Interrupted`] as for [`super::Posterior::new`].
    pub fn smooth(self, threads: usize) -> Result<Smoothed> {
        let rows = self.rows();
        if rows == 0 || self.tables.iter().any(|t| t.factors.is_empty() || !t.factors.len().is_multiple_of(rows)) {
            return Err(Error::parameter("tables", "have whole rows, as many as there are totals", rows));
        }
        if self.partitions.iter().any(|labels| labels.len() != rows || labels.iter().any(|label| *label >= rows)) {
            return Err(Error::parameter("partitions", "have a label below the number of rows for each row", rows));
        }
        if self.known.is_some_and(|n| n > LARGEST_COUNT) {
            return Err(Error::parameter("total", "be at most 2^53", self.known.unwrap_or_default()));
        }
        let own: Vec<Vec<Information>> =
            (0..self.tables.len()).map(|j| (0..rows).map(|c| self.sum_of(j, c)).collect()).collect();
        let beside = self.beside_tables()?;
        let all: Vec<Information> =
            (0..rows).map(|c| own.iter().fold(beside[c], |sum, table| sum.plus(table[c]))).collect();
        let caps = self.caps(&all)?;
        let strengths = parallel::map(0..self.tables.len(), threads, |j| {
            let observed = (0..rows).map(|c| all[c].without(own[j][c]));
            let totals: Vec<Lattice> = observed.zip(&caps).map(|(known, &cap)| self.lattice_of(known, cap)).collect();
            self.strengths(j, &caps, &totals)
        })?;
        let strengths: Vec<_> = strength::weights(&strengths).into_iter().zip(strengths).map(kept).collect();
        let lattices = self.lattices(&all, &caps);
        let messages = parallel::map(0..self.tables.len() * rows, threads, |task| {
            let (j, c) = (task / rows, task % rows);
            let totals = lattices[c].weighed(all[c].without(own[j][c]));
            self.message((c, &self.row(j, c, caps[c])), &strengths[j], &totals)
        })?;
        let (others, totals) = self.combined(&lattices, &messages)?;
        Ok(Smoothed { caps, strengths, others, totals, group: self })
    }

    fn lattice_of(&self, known: Information, cap: u64) -> Lattice {
        match self.known {
            Some(n) if self.rows() == 1 => Lattice::known(n),
            _ => Lattice::of(known, cap),
        }
    }

    /// What the noisy counts of a row say of its total by their sum.
    fn sum_of(&self, table: usize, row: usize) -> Information {
        let noisy: Option<Vec<(f64, f64)>> =
            self.row(table, row, 0).factors.iter().map(|f| f.as_ref().and_then(Factor::noisy_count)).collect();
        noisy.map_or_else(Information::default, |noisy| {
            let (mean, variance) = noisy.iter().fold((0.0, 0.0), |sum, at| (sum.0 + at.0, sum.1 + at.1));
            Information::new(mean, variance)
        })
    }

    /// What is known of the totals beside the tables, as means and precisions.
    fn beside_tables(&self) -> Result<Vec<Information>> {
        if let Some(n) = self.known {
            if self.rows() == 1 {
                return Ok(vec![Information::new(n as f64, LEAST_VARIANCE)]);
            }
            let totals = Row { factors: &self.totals, term: None, cap: n };
            let known = Lattice::known(n);
            let fitted = totals.fit(&vec![self.totals_prior; self.rows()], &known, FINENESS, 0.0)?;
            let weights = fitted.weights(&known)?;
            let moments = fitted.counts(&weights)?;
            let information =
                moments.into_iter().map(|(mean, variance)| Information::new(mean, variance.max(LEAST_VARIANCE)));
            return Ok(information.collect());
        }
        let noisy = |f: &Option<Factor>| {
            let found = f.as_ref().and_then(Factor::noisy_count);
            found.map_or_else(Information::default, |(mean, variance)| Information::new(mean, variance))
        };
        Ok(self.totals.iter().map(noisy).collect())
    }

    fn caps(&self, all: &[Information]) -> Result<Vec<u64>> {
        if let Some(n) = self.known {
            return Ok(vec![n; all.len()]);
        }
        let cap = |known: &Information| {
            let mean = known.mean().ok_or_else(|| {
                Error::parameter("total", "be public or released with noise for tables that do not show it", "none")
            })?;
            let most = (mean.max(0.0) + 12.0 / known.precision.sqrt()).ceil().max(64.0);
            if most > LARGEST_COUNT as f64 {
                Err(Error::parameter("total", "be at most 2^53", most))
            } else {
                Ok(most as u64)
            }
        };
        all.iter().map(cap).collect()
    }

    /// The concentrations of a table.
    fn strengths(&self, table: usize, caps: &[u64], totals: &[Lattice]) -> Result<Vec<Strength>> {
        if let Some(concentration) = self.concentration {
            return Ok(vec![Strength::around_equal_shares(self.levels(table), self.rows(), concentration)]);
        }
        let rows: Vec<Row<'_>> = caps.iter().enumerate().map(|(c, &cap)| self.row(table, c, cap)).collect();
        let mut tilts = vec![0.0; rows.len()];
        let together = vec![0; rows.len()];
        let mut strengths = Vec::new();
        for labels in std::iter::once(&together).chain(&self.partitions) {
            for concentration in CONCENTRATIONS {
                strengths.push(strength::strength(&rows, totals, labels, concentration, &mut tilts)?);
            }
        }
        Ok(strengths)
    }

    /// The totals that are looked at, on a step that all rows share.
    fn lattices(&self, all: &[Information], caps: &[u64]) -> Vec<Lattice> {
        if let (Some(n), 1) = (self.known, self.rows()) {
            return vec![Lattice::known(n)];
        }
        let spread = |known: &Information, cap: u64| known.precision.sqrt().recip().min(cap as f64);
        let range = |(known, &cap): (&Information, &u64)| match known.mean() {
            Some(mean) if cap > FEW => range_around(mean, REACH * spread(known, cap) + 8.0, cap),
            _ => (0, cap as i64),
        };
        let ranges: Vec<(i64, i64)> = all.iter().zip(caps).map(range).collect();
        let widest = ranges.iter().map(|(low, high)| high - low).max().unwrap_or(0);
        let finest = all.iter().zip(caps).map(|(known, &cap)| spread(known, cap)).fold(f64::INFINITY, f64::min);
        let few = caps.iter().all(|&cap| cap <= FEW);
        let step = if few { 1 } else { ((finest / 6.0) as i64).max(widest / MOST_TOTALS).max(1) };
        ranges.into_iter().map(|(low, high)| Lattice::flat(low, high, step)).collect()
    }

    /// ln Z at the lattice's totals, up to a constant: a mixture over the concentrations, whose weights are posterior ones.
    fn message(&self, (c, row): (usize, &Row<'_>), strengths: &[Weighed], totals: &Lattice) -> Result<Vec<f64>> {
        let mut sum: Vec<f64> = Vec::new();
        let mut tilt = 0.0;
        for Weighed { weight, strength, .. } in strengths.iter().filter(|part| part.weight > 0.0) {
            let fitted = row.fit(strength.prior(c), totals, FINENESS, tilt)?;
            tilt = fitted.tilt();
            let log_evidence = fitted.weights(totals)?.log_evidence;
            let logs = fitted.log_by_total(totals).into_iter().map(|log| log - log_evidence + weight.ln());
            sum = if sum.is_empty() {
                logs.collect()
            } else {
                sum.iter().zip(logs).map(|(a, b)| log_add(*a, b)).collect()
            };
        }
        Ok(sum)
    }

    /// By table and row what all others say of the total, and the posterior laws of the totals.
    fn combined(&self, lattices: &[Lattice], messages: &[Vec<f64>]) -> Result<(Vec<Vec<Lattice>>, Vec<Lattice>)> {
        let rows = self.rows();
        let own = |c: usize| -> Result<Vec<f64>> {
            let cell = Cell::new(self.totals_prior, self.totals[c].into_iter().collect(), 0)?;
            let prior = |n: i64| if n < 0 { f64::NEG_INFINITY } else { cell.log_weight(n as f64) };
            let mut logs: Vec<f64> = lattices[c].totals().map(prior).collect();
            for message in messages.iter().skip(c).step_by(rows) {
                logs.iter_mut().zip(message).for_each(|(sum, log)| *sum += log);
            }
            Ok(logs)
        };
        let mut logs = (0..rows).map(own).collect::<Result<Vec<_>>>()?;
        if let (Some(n), true) = (self.known, rows > 1) {
            tie(lattices, &mut logs, n)?;
        }
        let totals: Vec<Lattice> =
            lattices.iter().zip(&logs).map(|(lattice, logs)| Lattice { logs: logs.clone(), ..*lattice }).collect();
        let rest = |j: usize, c: usize| {
            let without = |(all, own): (&f64, &f64)| if own.is_finite() { all - own } else { f64::NEG_INFINITY };
            let logs = logs[c].iter().zip(&messages[j * rows + c]).map(without).collect();
            Lattice { logs, ..lattices[c] }
        };
        let others = (0..self.tables.len()).map(|j| (0..rows).map(|c| rest(j, c)).collect()).collect();
        Ok((others, totals))
    }
}

/// Adds to the weights of every row's total those of all ways in which the other rows complete it to `n`.
fn tie(lattices: &[Lattice], logs: &mut [Vec<f64>], n: u64) -> Result<()> {
    let step = lattices[0].step;
    // Tilted so that the sum is likely to be n: without, many uncertain rows would lose all digits.
    let tilted = |tilt: f64| -> Vec<Lattice> {
        let with = |(lattice, logs): (&Lattice, &Vec<f64>)| {
            let logs = lattice.totals().zip(logs).map(|(n, log)| log + tilt * n as f64).collect();
            Lattice { logs, ..*lattice }
        };
        lattices.iter().zip(&*logs).map(with).collect()
    };
    let (mut tilt, mut low, mut high) = (0.0, f64::NEG_INFINITY, f64::INFINITY);
    for _ in 0..200 {
        let (mean, variance) = tilted(tilt)
            .iter()
            .map(Lattice::moments)
            .fold((0.0, 0.0), |sum, moments| (sum.0 + moments.0, sum.1 + moments.1));
        let gap = n as f64 - mean;
        if gap.abs() <= 0.5 * variance.sqrt().max(0.5 * step as f64) || high - low < 1e-13 * (1.0 + f64::abs(tilt)) {
            break;
        }
        if gap > 0.0 {
            low = tilt;
        } else {
            high = tilt;
        }
        let next = tilt + (gap / variance.max(1e-6)).clamp(-4.0, 4.0);
        tilt = if next > low && next < high {
            next
        } else if low.is_finite() && high.is_finite() {
            0.5 * (low + high)
        } else {
            next
        };
    }
    let laws = tilted(tilt).iter().map(|law| law.on_multiples(step)).collect::<Vec<_>>();
    let (below, rest) = ((n as i64).div_euclid(step), (n as i64).rem_euclid(step));
    let upper = rest as f64 / step as f64;
    let target = Segment { start: below, values: if rest == 0 { vec![1.0] } else { vec![1.0 - upper, upper] } };
    let tree = Tree::new(laws, (below, below + target.values.len() as i64), 1e-18)?;
    let (outside, _) = tree.outside(target)?;
    for ((lattice, logs), outside) in lattices.iter().zip(logs.iter_mut()).zip(&outside) {
        for (total, log) in lattice.totals().zip(logs) {
            let weight = outside.at(total.div_euclid(step));
            *log = if weight > 0.0 { *log + tilt * total as f64 + weight.ln() } else { f64::NEG_INFINITY };
        }
    }
    if logs.iter().all(|logs| logs.iter().any(|log| log.is_finite())) {
        Ok(())
    } else {
        Err(Error::numerical("inference", "the release cannot come from any counts that are possible"))
    }
}

/// The concentrations that matter, with their weights.
fn kept((weights, strengths): (Vec<f64>, Vec<Strength>)) -> Vec<Weighed> {
    let scaled = |weights: Vec<f64>| {
        let sum: f64 = weights.iter().filter(|w| **w >= NEGLIGIBLE).sum();
        weights.into_iter().map(move |w| if w >= NEGLIGIBLE { w / sum } else { 0.0 })
    };
    let alone = scaled(strength::weights_alone(&strengths));
    scaled(weights)
        .zip(alone)
        .zip(strengths)
        .filter(|((weight, alone), _)| *weight > 0.0 || *alone > 0.0)
        .map(|((weight, alone), strength)| Weighed { weight, alone, strength })
        .collect()
}

fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

impl Smoothed {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.group.rows()
    }

    /// Concentrations of a table with their posterior weights.
    pub fn concentrations(&self, table: usize) -> Vec<(f64, f64)> {
        let likely = self.strengths[table].iter().filter(|part| part.weight > 0.0);
        likely.map(|part| (part.strength.concentration, part.weight)).collect()
    }

    /// Means and variances of the totals of the rows.
    pub fn totals(&self) -> Vec<(f64, f64)> {
        self.totals.iter().map(Lattice::moments).collect()
    }

    /// Means and variances of the shares of the rows among all records.
    pub fn total_shares(&self) -> Vec<(f64, f64)> {
        let (a, prior) = (self.group.totals_prior, self.group.totals_prior * self.rows() as f64);
        let moments = self.totals();
        let n = self.group.known.map_or_else(|| moments.iter().map(|m| m.0).sum(), |n| n as f64);
        let mass = n + prior;
        let share = |(mean, variance): (f64, f64)| {
            let share = (mean + a) / mass;
            (share, variance / (mass * (mass + 1.0)) + share * (1.0 - share) / (mass + 1.0))
        };
        moments.into_iter().map(share).collect()
    }

    fn fitted(&self, table: usize, row: usize, strength: &Strength, tilt: f64) -> Result<Fitted> {
        let of = self.group.row(table, row, self.caps[row]);
        of.fit(strength.prior(row), &self.others[table][row], FINENESS, tilt)
    }

    /// Moments of all tables.
    ///
    /// # Errors
    /// As for [`Group::smooth`].
    pub fn moments(&self, threads: usize) -> Result<Vec<TableMoments>> {
        let rows = self.rows();
        let found = parallel::map(0..self.group.tables.len() * rows, threads, |task| {
            self.row_moments(task / rows, task % rows)
        })?;
        let joined = |rows: &[TableMoments]| TableMoments {
            shares: rows.iter().flat_map(|row| row.shares.iter().copied()).collect(),
            counts: rows.iter().flat_map(|row| row.counts.iter().copied()).collect(),
        };
        Ok(found.chunks(rows).map(joined).collect())
    }

    fn row_moments(&self, table: usize, row: usize) -> Result<TableMoments> {
        let mut parts = Vec::new();
        let mut tilt = 0.0;
        for Weighed { weight, strength, .. } in self.strengths[table].iter().filter(|part| part.weight > 0.0) {
            let fitted = self.fitted(table, row, strength, tilt)?;
            tilt = fitted.tilt();
            let weights = fitted.weights(&self.others[table][row])?;
            let mut shares = fitted.shares(&weights)?;
            for (k, share) in shares.iter_mut().enumerate() {
                share.1 = strength.variance(row, k, share.1);
            }
            parts.push((*weight, shares, fitted.counts(&weights)?));
        }
        let mixed = |of: &dyn Fn(usize) -> Vec<(f64, (f64, f64))>| {
            (0..self.group.levels(table))
                .map(|k| {
                    let parts = of(k);
                    let mean: f64 = parts.iter().map(|(w, m)| w * m.0).sum();
                    (mean, parts.iter().map(|(w, m)| w * (m.1 + (m.0 - mean).powi(2))).sum())
                })
                .collect()
        };
        Ok(TableMoments {
            shares: mixed(&|k| parts.iter().map(|(w, shares, _)| (*w, shares[k])).collect()),
            counts: mixed(&|k| parts.iter().map(|(w, _, counts)| (*w, counts[k])).collect()),
        })
    }

    /// Equal-tailed intervals of the shares of a table, row by row.
    ///
    /// # Errors
    /// As for [`Group::smooth`].
    pub fn intervals(&self, table: usize, level: f64, threads: usize) -> Result<Vec<(f64, f64)>> {
        let rows = parallel::map(0..self.rows(), threads, |row| {
            let mut nodes: Vec<Vec<(f64, f64, f64)>> = vec![Vec::new(); self.group.levels(table)];
            let mut tilt = 0.0;
            for Weighed { alone: weight, strength, .. } in self.strengths[table].iter().filter(|part| part.alone > 0.0)
            {
                let fitted = self.fitted(table, row, strength, tilt)?;
                tilt = fitted.tilt();
                let weights = fitted.weights(&self.others[table][row])?;
                for (k, (nodes, found)) in nodes.iter_mut().zip(fitted.share_nodes(&weights)?).enumerate() {
                    let centres = strength.centres(row, k);
                    let part = weight / centres.len() as f64;
                    for centre in &centres {
                        nodes.extend(given_centre(&found, fitted.prior(k), *centre).map(|(p, m, v)| (part * p, m, v)));
                    }
                }
            }
            Ok(nodes.into_iter().map(|nodes| central(nodes, level)).collect::<Vec<_>>())
        })?;
        Ok(rows.concat())
    }

    /// Equal-tailed intervals of the shares of the rows among all records.
    pub fn total_intervals(&self, level: f64) -> Vec<(f64, f64)> {
        let (a, prior) = (self.group.totals_prior, self.group.totals_prior * self.rows() as f64);
        let sum: f64 = self.totals().iter().map(|m| m.0).sum();
        let n = self.group.known.map_or(sum, |n| n as f64);
        let of = |lattice: &Lattice| {
            let node = |(total, mass): (i64, f64)| {
                let mean = ((total as f64 + a) / (n + prior)).min(1.0);
                (mass, mean, mean * (1.0 - mean) / (n + prior + 1.0))
            };
            central(lattice.totals().zip(lattice.masses()).filter(|(_, p)| *p > 0.0).map(node).collect(), level)
        };
        self.totals.iter().map(of).collect()
    }
}

/// Masses, means and variances of a share if its centre were another one: counts are then as much more or less likely as their
/// beta-binomial law says.
fn given_centre(
    nodes: &[ShareNode],
    (prior, sum): (f64, f64),
    centre: f64,
) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
    let wanted = (centre * sum).clamp(LEAST_PRIOR.min(prior), (sum - LEAST_PRIOR).max(prior));
    let log = |prior: f64, node: &ShareNode| {
        let others = (node.total - sum - node.count).max(0.0);
        log_gamma_ratio(prior, node.count) + log_gamma_ratio(sum - prior, others)
    };
    let other = wanted != prior;
    let logs: Vec<f64> =
        nodes.iter().map(|node| if other { log(wanted, node) - log(prior, node) } else { 0.0 }).collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let masses: Vec<f64> = nodes.iter().zip(&logs).map(|(node, log)| node.mass * (log - top).exp()).collect();
    let scale = nodes.iter().map(|node| node.mass).sum::<f64>() / masses.iter().sum::<f64>();
    nodes.iter().zip(masses).filter(|(_, mass)| *mass > 0.0).map(move |(node, mass)| {
        let (mean, variance) = node.share(wanted);
        (mass * scale, mean, variance)
    })
}

fn central(nodes: Vec<(f64, f64, f64)>, level: f64) -> (f64, f64) {
    let law = BetaMixture::new(nodes);
    let tail = 0.5 * (1.0 - level);
    (law.quantile(tail), law.quantile(1.0 - tail))
}
