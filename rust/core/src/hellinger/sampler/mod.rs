//! Exact draws from the Hellinger mechanism without enumerating its candidates.

mod decision;
mod double_double;
mod exact_scores;
mod law;
mod stable_series;
mod table;

/// Bound on the relative error of a score in doubles.
const SCORE_ERROR: f64 = 1.0 / (1u64 << 44) as f64;
