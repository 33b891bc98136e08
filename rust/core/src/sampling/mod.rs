//! Draws whose law is exactly the stated one.

mod alias;
mod chunks;
pub mod dirichlet;
mod discrete_noise;
mod exponential;
mod polya;
mod rational;
mod release;
mod selection;
mod sum_preserving;

pub(crate) use alias::uniform_below;
pub use discrete_noise::{DiscreteNoise, LARGEST_SCALE};
pub use exponential::exp_neg_enclosed;
pub use polya::PolyaUrn;
pub use rational::{Rational, exact_integer};
pub(crate) use release::half_up;
pub use release::{LARGEST_STEPS, LARGEST_VALUE};
pub use selection::{LOG_ERROR, MAX_LOG_SPAN, Selection};
pub use sum_preserving::SumPreservingLaplace;
