//! Where random bits come from.

mod bits;
pub(crate) mod chacha;
mod seeded;
mod stream;

pub use bits::Bits;
pub use seeded::SeededKeys;
pub use stream::{Stream, StreamKey};
