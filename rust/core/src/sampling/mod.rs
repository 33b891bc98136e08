//! Draws whose law is exactly the stated one.

mod selection;

pub use selection::{LOG_ERROR, MAX_LOG_SPAN, Selection};
