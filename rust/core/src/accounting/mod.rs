//! What a release costs: privacy profiles, their conversions and their composition.

mod pld;
mod profile;

pub use pld::Composition;
pub use profile::Profile;
