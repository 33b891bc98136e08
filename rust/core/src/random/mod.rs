//! Where random bits come from.

mod bits;
mod stream;

pub use bits::Bits;
pub use stream::{Stream, StreamKey};
