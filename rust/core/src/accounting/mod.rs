//! What a release costs: privacy profiles, their conversions and their composition.

mod profile;

pub use profile::Profile;
