//! What can go wrong, one variant per cause.
//!
//! A message names the argument, the rule and the value that broke it. Values of private data never enter a
//! message: [`Error::InvalidData`] has no field that could hold one.

use std::fmt;

/// The result of a fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The one error type of the crate; the binding maps each variant to one Python exception.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A public parameter breaks its rule.
    InvalidParameter {
        /// Name of the argument as the user wrote it.
        name: &'static str,
        /// What holds for a valid value, completing "must ...".
        rule: &'static str,
        /// The value that was given, printed.
        value: String,
    },
    /// Private data break a rule; the offending value is withheld.
    InvalidData {
        /// Name of the argument.
        name: &'static str,
        /// What holds for valid data, completing "must ...".
        rule: &'static str,
    },
    /// An exhaustive computation was asked for that is too large to run.
    NotAffordable {
        /// What was asked, with its size.
        asked: String,
        /// The limit that it exceeds.
        limit: String,
        /// What to use instead.
        instead: &'static str,
    },
    /// A numerical routine could not reach the accuracy that it promises.
    Numerical {
        /// The routine.
        routine: &'static str,
        /// Why it stopped.
        reason: String,
    },
    /// The operating system did not deliver entropy. There is no fallback.
    Entropy(String),
    /// The caller asked for the work to stop; see [`crate::interrupt`].
    Interrupted,
    /// The memory for a result or a table is not to be had.
    OutOfMemory {
        /// What was to be held.
        what: &'static str,
        /// How many bytes that takes.
        bytes: u128,
    },
}

/// A double between 1e-5 and 1e16 has no more digits than these.
const MOST_DIGITS: usize = 24;

impl Error {
    /// An [`Error::InvalidParameter`] for `value`.
    pub fn parameter(name: &'static str, rule: &'static str, value: impl fmt::Display) -> Self {
        Self::InvalidParameter { name, rule, value: shortened(value.to_string()) }
    }

    /// An [`Error::InvalidData`].
    pub fn data(name: &'static str, rule: &'static str) -> Self {
        Self::InvalidData { name, rule }
    }

    /// An [`Error::Numerical`].
    pub fn numerical(routine: &'static str, reason: impl Into<String>) -> Self {
        Self::Numerical { routine, reason: reason.into() }
    }
}

/// A number with more digits than anybody reads, as Rust writes 1e300, in powers of ten.
fn shortened(value: String) -> String {
    match value.parse::<f64>() {
        Ok(number) if value.len() > MOST_DIGITS => format!("{number:e}"),
        _ => value,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidParameter { name, rule, value } => write!(f, "{name} must {rule}, got {value}"),
            Self::InvalidData { name, rule } => write!(f, "{name} must {rule} (the offending value is not shown)"),
            Self::NotAffordable { asked, limit, instead } => {
                write!(f, "{asked} is more than the limit of {limit}; {instead}")
            }
            Self::Numerical { routine, reason } => write!(f, "{routine}: {reason}"),
            Self::Entropy(reason) => write!(f, "the operating system gave no entropy: {reason}"),
            Self::Interrupted => write!(f, "interrupted"),
            Self::OutOfMemory { what, bytes } => {
                write!(f, "there is no memory for {what}, which takes {:.3} GiB", *bytes as f64 / 2f64.powi(30))
            }
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_people_write_them() {
        let shown = |value: f64| Error::parameter("epsilon", "be small", value).to_string();
        assert_eq!(shown(1e300), "epsilon must be small, got 1e300");
        assert_eq!(shown(-1e-300), "epsilon must be small, got -1e-300");
        assert_eq!(shown(0.1), "epsilon must be small, got 0.1");
        assert_eq!(shown(f64::NAN), "epsilon must be small, got NaN");
        let words = "a text of more than twenty-four letters";
        assert!(Error::parameter("mode", "be short", words).to_string().ends_with(words));
    }

    #[test]
    fn a_parameter_error_names_argument_rule_and_value() {
        let error = Error::parameter("epsilon", "be positive and finite", -1.0);
        assert_eq!(error.to_string(), "epsilon must be positive and finite, got -1");
    }

    #[test]
    fn a_data_error_shows_no_value() {
        let error = Error::data("counts", "be non-negative");
        assert_eq!(error.to_string(), "counts must be non-negative (the offending value is not shown)");
    }
}
