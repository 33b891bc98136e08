//! The mechanisms: parameters, release, and what each guarantees.

mod algorithm_one;

pub use algorithm_one::AlgorithmOne;
