//! Draws whose law is exactly the stated one.

mod alias;
pub mod dirichlet;
mod discrete_noise;
mod exponential;
mod polya;
mod rational;
mod selection;
mod sum_preserving;

pub use discrete_noise::DiscreteNoise;
pub use exponential::exp_neg_enclosed;
pub use polya::PolyaUrn;
pub use rational::Rational;
pub use selection::{LOG_ERROR, MAX_LOG_SPAN, Selection};
pub use sum_preserving::SumPreservingLaplace;
