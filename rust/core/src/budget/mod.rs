//! Budgets that hold when what is spent next depends on earlier answers.
//!
//! A book holds a pair of distributions that dominates everything that may still be released; a spend moves it to a smaller
//! one (Theorem F, docs/theory/budgets.md). What was spent is not composed anew: a debit takes the same time whatever the
//! history.

#[cfg(test)]
mod books;
mod domination;
mod gaussian;
mod jumps;
mod law;
mod leaky;
mod normal;
#[cfg(test)]
mod oracle;
mod pure;
mod renyi;
mod rule;
mod running;
mod spend;

pub use gaussian::{GaussianRule, SLACK};
pub use pure::PureRule;
pub use renyi::RenyiRule;
pub use rule::{Decision, Rule};
pub use spend::Spend;

use crate::rounding::quotient_up;

/// The share of an epsilon that is used when so much of it is spent, rounded up; one where more is.
pub fn share_used(spent: f64, epsilon: f64) -> f64 {
    quotient_up(spent, epsilon).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_at_most_one_and_rounded_up() {
        assert_eq!((share_used(0.5, 2.0), share_used(3.0, 2.0), share_used(0.0, 2.0)), (0.25, 1.0, 0.0));
        assert!(share_used(1.0, 3.0) * 3.0 >= 1.0);
    }
}
