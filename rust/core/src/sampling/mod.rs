//! Draws whose law is exactly the stated one.

pub mod dirichlet;
mod selection;

pub use selection::{LOG_ERROR, MAX_LOG_SPAN, Selection};
