//! The largest scale that a budget allows, found with few questions.

/// A scale whose share of the budget is this close below one is good enough.
pub const CLOSE: f64 = 1e-5;
/// How many scales are tried at most.
const MOST_TRIALS: u32 = 60;
/// The logarithm of a scale moves by no more than this from one trial to the next.
const LONGEST_STEP: f64 = 3.0;
/// Between which slopes of log(share) over log(scale) the secant is trusted.
const SLOPES: (f64, f64) = (0.2, 5.0);
/// Scales this close together, as logarithms, are the same.
const SAME: f64 = 1e-9;

/// A safeguarded secant search for the largest scale whose share of a budget is at most one.
///
/// The logarithm of the cost is nearly linear in the logarithm of the scale. The caller asks for a scale to try
/// ([`at`](Self::at)) and says what it would spend ([`tell`](Self::tell)), until there is nothing left to try; the best is
/// the last scale that was told to keep the budget.
#[derive(Debug, Clone)]
pub struct ScaleSearch {
    at: f64,
    low: f64,
    high: f64,
    slope: f64,
    before: Option<(f64, f64)>,
    trials: u32,
    done: bool,
}

impl ScaleSearch {
    /// A search that begins at this logarithm of a scale.
    pub fn new(start: f64) -> Self {
        Self {
            at: start,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            slope: 1.0,
            before: None,
            trials: 0,
            done: !start.is_finite(),
        }
    }

    /// The logarithm of the scale to try next, as long as there is one.
    pub fn at(&self) -> Option<f64> {
        (!self.done).then_some(self.at)
    }

    /// Takes the share of the budget that the scale would spend; whether it keeps the budget.
    ///
    /// What keeps it is larger than all that did before, so that the caller keeps the newest.
    pub fn tell(&mut self, share: f64) -> bool {
        let at = self.at;
        let keeps = share <= 1.0;
        let excess = if 0.0 < share && share < f64::INFINITY {
            share.ln()
        } else {
            LONGEST_STEP.copysign(if keeps { -1.0 } else { 1.0 })
        };
        if keeps {
            self.low = at;
        } else {
            self.high = at;
        }
        self.trials += 1;
        if (keeps && excess > -CLOSE) || self.trials == MOST_TRIALS {
            self.done = true;
            return keeps;
        }
        if let Some((before, then)) = self.before
            && before != at
        {
            self.slope = ((excess - then) / (at - before)).clamp(SLOPES.0, SLOPES.1);
        }
        self.before = Some((at, excess));
        // A little below the goal, so that the last step lands on the safe side.
        let step = -(excess + 0.3 * CLOSE) / self.slope;
        self.at = at + step.clamp(-LONGEST_STEP, LONGEST_STEP);
        if !(self.low < self.at && self.at < self.high) {
            self.at = match (self.low.is_finite(), self.high.is_finite()) {
                (true, true) => 0.5 * (self.low + self.high),
                (true, false) => self.low + 1.0,
                _ => self.high - 1.0,
            };
        }
        self.done = self.high - self.low < SAME;
        keeps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searched(start: f64, share: impl Fn(f64) -> f64) -> (Option<f64>, u32) {
        let (mut search, mut best) = (ScaleSearch::new(start), None);
        while let Some(at) = search.at() {
            if search.tell(share(at.exp())) {
                best = Some(at.exp());
            }
        }
        (best, search.trials)
    }

    #[test]
    fn it_ends_just_below_the_budget_with_few_questions() {
        for start in [-8.0, -1.0, 0.0, 3.0, 12.0] {
            for power in [0.5, 1.0, 1.7, 2.0] {
                let (found, trials) = searched(start, |scale| (scale / 7.5).powf(power));
                let share = (found.unwrap() / 7.5).powf(power);
                assert!(share <= 1.0 && share > 1.0 - 2.0 * CLOSE, "{start} {power}: {share}");
                assert!(trials <= 14, "{start} {power}: {trials}");
            }
        }
    }

    #[test]
    fn jumps_infinities_and_what_is_no_number_end_on_the_safe_side() {
        let steps = |scale: f64| if scale <= 2.0 { 0.25 } else { f64::INFINITY };
        let (found, _) = searched(0.0, steps);
        assert!(found.unwrap() <= 2.0 && found.unwrap() > 2.0 - 1e-6);
        assert_eq!(searched(0.0, |_| f64::INFINITY).0, None);
        assert_eq!(searched(0.0, |_| f64::NAN).0, None);
        assert_eq!(searched(f64::NAN, |_| 0.5).0, None);
        // A cost of zero at every scale: the search gives up within its trials and keeps what it saw.
        assert!(searched(0.0, |_| 0.0).0.is_some());
    }
}
