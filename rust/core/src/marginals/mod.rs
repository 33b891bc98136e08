//! One-way and two-way tables of many columns: counted in one pass, released with exact noise, and put together to one
//! distribution, from which records are drawn.
//!
//! `layout`, `count`, `noise`, `change`, `plan`, `shares` and `measure` are what the guarantee rests on. Whatever comes after
//! [`Plan::measure`] sees what was released and nothing else.

mod change;
mod count;
mod estimate;
mod fit;
mod layout;
mod measure;
mod mixture;
mod noise;
mod plan;
mod records;
mod shares;

pub use count::count_marginals;
pub use fit::{FitOptions, fit};
pub use layout::{Layout, MOST_LEVELS};
pub use measure::Measurement;
pub use mixture::Mixture;
pub use plan::{Neighbours, Plan, measured_mu};
