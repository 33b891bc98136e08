//! The Hellinger mechanism: an exponential mechanism over all posteriors that n observations can produce.

mod family;
pub mod scores;
mod sensitivity;

pub use family::Family;
