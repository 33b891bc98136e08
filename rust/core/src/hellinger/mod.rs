//! The Hellinger mechanism: an exponential mechanism over all posteriors that n observations can produce.

pub mod scores;
