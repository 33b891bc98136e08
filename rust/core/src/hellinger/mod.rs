//! The Hellinger mechanism: an exponential mechanism over all posteriors that n observations can produce.

mod family;
mod guarantee;
mod kernel;
mod law;
pub mod scores;
mod sensitivity;

pub use family::Family;
pub use law::{ENUMERATION_LIMIT, Enumeration, Law};
