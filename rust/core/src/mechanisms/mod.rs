//! The mechanisms: parameters, release, and what each guarantees.

mod algorithm_one;
pub mod quantile;

pub use algorithm_one::AlgorithmOne;
