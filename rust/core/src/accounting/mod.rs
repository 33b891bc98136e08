//! What a release costs: privacy profiles, their conversions and their composition.

mod beta_pair;
mod budget;
mod concentrated;
mod dirichlet_bounds;
mod gamma_pair;
mod gaussian;
mod inverse;
mod laplace;
mod linear_pair;
mod maximum;
mod parameter;
mod pld;
mod profile;
mod quadrature;
mod renyi;
mod sampling_error;
mod search;
mod shape;
mod tail;
mod truncated;
mod two_categories;

pub use beta_pair::BetaPair;
pub use budget::BudgetPair;
pub use dirichlet_bounds::{DirichletBounds, TheoremTwo};
pub use gamma_pair::{Direction, GammaPair};
pub use gaussian::GaussianPair;
pub use laplace::LaplacePair;
pub use linear_pair::MARGIN;
pub use maximum::MaximumProfile;
pub use pld::Composition;
pub use profile::Profile;
pub use renyi::{Conversion, RenyiBound, RenyiProfile, epsilon_tangent, log_delta_tangent};
pub use sampling_error::WithSamplingError;
pub use truncated::TruncatedProfile;
pub use two_categories::TwoCategories;
