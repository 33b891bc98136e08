//! Weights of a count before any tilt: what a leaf asks for again and again while a tilt is looked for.

/// Multiples between two that are asked for that are always filled.
const FILLED: i64 = 16;

/// Single counts next to zero on a coarse grid; the runs of counts beyond grow.
const SINGLE: i64 = 16;

/// Logarithms of the weights of one cell on the multiples of a step, kept from tilt to tilt.
#[derive(Debug, Clone, Default)]
pub(super) struct Untilted {
    step: i64,
    /// The first multiple that is known.
    start: i64,
    logs: Vec<f64>,
    /// Where the counts near zero end, and what is known of them.
    end: i64,
    near: Vec<Run>,
}

/// Neighbouring counts that are taken for their middle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) middle: f64,
    pub(super) width: f64,
    /// The logarithm of the weight of a count in the middle.
    pub(super) log: f64,
}

impl Untilted {
    /// The logarithms at the multiples `from` to `to`, both included, of a step.
    pub(super) fn on(&mut self, step: i64, (from, to): (i64, i64), log_at: &dyn Fn(i64) -> f64) -> &[f64] {
        if self.step != step {
            *self = Self { step, ..Self::default() };
        }
        let known = self.start..self.start + self.logs.len() as i64;
        // What lies between is filled, unless it is more than what is known: the window has moved elsewhere then.
        let far = FILLED.max(self.logs.len() as i64);
        if self.logs.is_empty() || to < known.start - far || from > known.end + far {
            self.start = from;
            self.logs = (from..=to).map(log_at).collect();
        } else {
            if from < known.start {
                self.logs.splice(0..0, (from..known.start).map(log_at));
                self.start = from;
            }
            self.logs.extend((known.end..=to).map(log_at));
        }
        &self.logs[(from - self.start) as usize..=(to - self.start) as usize]
    }

    /// The counts from zero to before `end` in runs, single ones first.
    pub(super) fn near_zero(&mut self, step: i64, end: i64, log_at: &dyn Fn(f64) -> f64) -> &[Run] {
        if (self.step, self.end) != (step, end) {
            self.near.clear();
            self.end = end;
            let mut x = 0;
            while x < end {
                let width = if x < SINGLE { 1 } else { (x / 8).min(end - x) };
                let middle = x as f64 + 0.5 * (width - 1) as f64;
                self.near.push(Run { middle, width: width as f64, log: log_at(middle) });
                x += width;
            }
        }
        &self.near
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn what_is_known_is_not_asked_for_again() {
        let asked = Cell::new(0);
        let square = |i: i64| {
            asked.set(asked.get() + 1);
            (i * i) as f64
        };
        let mut known = Untilted::default();
        for (step, range, more) in [
            (3, (5, 9), 5),
            (3, (6, 8), 0),
            (3, (3, 11), 4),
            (3, (15, 15), 4),
            (3, (40, 41), 2),
            (3, (37, 39), 3),
            (2, (39, 41), 3),
        ] {
            let before = asked.get();
            let wanted: Vec<f64> = (range.0..=range.1).map(|i| (i * i) as f64).collect();
            assert_eq!(known.on(step, range, &square), wanted);
            assert_eq!(asked.get() - before, more, "{step} {range:?}");
        }
    }

    #[test]
    fn runs_near_zero_hold_every_count_once() {
        let mut known = Untilted::default();
        known.on(50, (0, 3), &|_| 0.0);
        for end in [7, 200, 113] {
            let runs = known.near_zero(50, end, &|x| -x).to_vec();
            assert_eq!(runs.iter().map(|run| run.width).sum::<f64>(), end as f64);
            let mean = runs.iter().map(|run| run.width * run.middle).sum::<f64>() / end as f64;
            assert_eq!(mean, 0.5 * (end - 1) as f64);
            assert!(runs.iter().all(|run| run.log == -run.middle));
            assert!(runs.iter().take(16).all(|run| run.width == 1.0));
        }
    }
}
