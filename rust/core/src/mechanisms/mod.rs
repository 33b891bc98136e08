//! The mechanisms: parameters, release, and what each guarantees.

mod algorithm_one;
mod calibration;
mod dirichlet;
mod expected_loss;
mod guide;
pub mod quantile;

pub use algorithm_one::{AlgorithmOne, squared};
pub use calibration::{Budget, Objective};
pub use dirichlet::{floor_parameter, tcdp, worst_profiles};
pub use expected_loss::{Group, Loss, expected_loss};
