//! The logarithm of a function of one count on a window: what nodes of a tree say of their parents' counts.

use super::blocks::Part;
use super::cell::{TiltedLaw, log_ways};
use super::exponentials::{exponentials, likely};
use super::factor::Factor;
use super::segment::Segment;
use crate::{Error, Result, memory};

/// Counts whose likelihood or message is exp of minus this below the largest are left out: some 5e-12.
pub(super) const DEPTH: f64 = 26.0;

/// Steps after which a running product begins anew from a logarithm, so that it cannot overflow.
const RUN: usize = 16;

/// The logarithm of a function of one count, on a window.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) start: i64,
    pub(super) logs: Vec<f64>,
}

impl Message {
    /// What a noisy count says by itself, of counts up to `most`.
    pub(super) fn of(factor: &Factor, most: u64) -> Result<Self> {
        let (low, high) = factor.window(DEPTH);
        let start = low.max(0.0).min(most as f64) as i64;
        let end = (high.max(0.0).min(most as f64) as i64).max(start);
        let size = (end - start) as usize + 1;
        memory::check::<f64>("what is known of a group", size)?;
        Ok(Self { start, logs: (start..=end).map(|x| factor.log_at(x as f64)).collect() })
    }

    /// Times Gamma(x + a) / (x! Gamma(a)).
    pub(super) fn weighed(&self, a: f64) -> Self {
        let mut logs = self.logs.clone();
        logs.iter_mut().zip(ways_from(a, self.start as f64)).for_each(|(log, ways)| *log += ways);
        Self { start: self.start, logs }
    }

    pub(super) fn end(&self) -> i64 {
        self.start + self.logs.len() as i64 - 1
    }

    pub(super) fn top(&self) -> f64 {
        self.logs.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Without the ends that are too far below the largest value.
    pub(super) fn trimmed(mut self) -> Self {
        let (_, first, last) = likely(&self.logs, 0.0, DEPTH);
        self.logs.truncate(last + 1);
        self.logs.drain(..first);
        self.logs.shrink_to_fit();
        Self { start: self.start + first as i64, logs: self.logs }
    }
}

/// ln Gamma(x + a) / (x! Gamma(a)) of x = start, start + 1, ...
pub(super) fn ways_from(a: f64, start: f64) -> impl Iterator<Item = f64> {
    let mut next = (0.0, 1.0_f64);
    (0..).map(move |i| {
        let x = start + i as f64;
        if i % RUN == 0 {
            next = (log_ways(a, x), 1.0);
        }
        let ways = next.0 + next.1.ln();
        next.1 *= (x + a) / (x + 1.0);
        ways
    })
}

impl Part for Message {
    fn least(&self) -> u64 {
        self.start as u64
    }

    fn guess(&self) -> f64 {
        let top = self.top();
        self.start as f64 + self.logs.iter().position(|log| *log == top).unwrap_or(0) as f64
    }

    fn tilted(&self, tilt: f64, cap: u64, tail: f64) -> Result<TiltedLaw> {
        let kept = (cap as i64 - self.start + 1).clamp(1, self.logs.len() as i64) as usize;
        let depth = (kept as f64 / tail).ln();
        let (top, first, last) = likely(&self.logs[..kept], tilt, depth);
        if !top.is_finite() {
            return Err(Error::numerical("inference", "the release cannot come from any counts that are possible"));
        }
        let mut values = exponentials(&self.logs[first..=last], tilt, top - tilt * first as f64);
        let sum: f64 = values.iter().sum();
        values.iter_mut().for_each(|value| *value /= sum);
        let start = self.start + first as i64;
        Ok(TiltedLaw {
            law: Segment { start, values },
            log_sum: top + tilt * self.start as f64 + sum.ln(),
            outside: tail,
        })
    }
}

/// The logarithm of the sum of what these are the logarithms of.
pub(super) fn log_sum<'a>(logs: impl Iterator<Item = &'a [f64]> + Clone) -> f64 {
    let top = logs.clone().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    if top.is_finite() {
        top + logs.map(|logs| exponentials(logs, 0.0, top).iter().sum::<f64>()).sum::<f64>().ln()
    } else {
        f64::NEG_INFINITY
    }
}
