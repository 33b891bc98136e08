//! The Hellinger mechanism: an exponential mechanism over all posteriors that n observations can produce.

mod accuracy;
mod calibrate;
mod certify;
mod exponent;
mod family;
mod guarantee;
mod kernel;
mod law;
mod likelihood;
mod projection;
mod release;
pub mod sampler;
pub mod scores;
mod sensitivity;

pub use calibrate::{Calibration, Sensitivity};
pub use certify::{CERTIFICATION_LIMIT, Certificate, CertifiedProfile, Certifier, Goal, Progress};
pub use exponent::{Shape, rounding_of_log_probability};
pub use family::Family;
pub use law::{ENUMERATION_LIMIT, Enumeration, Law};
pub use projection::{project_counts, project_real};
pub use release::Release;
