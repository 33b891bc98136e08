//! The Hellinger mechanism: an exponential mechanism over all posteriors that n observations can produce.

mod certify;
mod exponent;
mod family;
mod guarantee;
mod kernel;
mod law;
pub mod sampler;
pub mod scores;
mod sensitivity;

pub use certify::{CERTIFICATION_LIMIT, Certificate, CertifiedProfile, Certifier, Goal, Progress};
pub use exponent::{Shape, rounding_of_log_probability};
pub use family::Family;
pub use law::{ENUMERATION_LIMIT, Enumeration, Law};
