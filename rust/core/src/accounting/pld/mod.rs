//! Composition through privacy loss distributions: bounds on both sides that hold in floating point.

mod composition;
mod convolve;
mod discretise;
mod outcomes;
mod plan;
mod pmf;

pub use composition::Composition;
