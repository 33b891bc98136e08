//! Searches over what is monotone: every calibration and every interval ends in one of these.
//!
//! `least` and `last` ask a property; [`ScaleSearch`] follows a number, for a caller that can say how much of a budget a
//! scale would spend.

mod last;
mod least;
mod scale;

pub(crate) use last::{Between, last};
pub(crate) use least::least;
pub use scale::{CLOSE, ScaleSearch};
