//! The mathematics of simplexdp, in plain Rust.
//!
//! This crate has never heard of Python: it can be read, tested and audited on its own. Everything that a
//! privacy proof relies on is here; names, defaults and coercion of arguments belong to the Python package.

pub mod accounting;
pub mod budget;
pub mod confidence;
pub mod counting;
pub mod divergence;
mod double_double;
mod error;
mod fft;
pub mod guarantee;
pub mod hellinger;
pub mod inference;
pub mod interrupt;
pub mod lattice;
mod log_gamma_extended;
pub mod marginals;
pub mod mechanisms;
pub mod memory;
pub mod moments;
pub mod monotone;
pub mod network;
mod once;
pub mod parallel;
pub mod random;
pub mod roots;
pub mod rounding;
pub mod sampling;
pub mod sensitivity;
pub mod simulation;
pub mod special;
mod tables;
mod wide;

pub use error::{Error, Result};

/// The example of the README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub mod readme {}
