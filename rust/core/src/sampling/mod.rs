//! Draws whose law is exactly the stated one.

pub mod dirichlet;
mod alias;
mod discrete_noise;
mod exponential;
mod rational;
mod selection;

pub use discrete_noise::DiscreteNoise;
pub use exponential::exp_neg_enclosed;
pub use rational::Rational;
pub use selection::{LOG_ERROR, MAX_LOG_SPAN, Selection};
