//! Whose records change together between neighbours.

use std::fmt;
use std::sync::Arc;

use crate::{Error, Result};

/// Longest name of a unit, in characters.
const MOST_LETTERS: usize = 256;

/// What neighbouring data sets differ in: one record, or all records of one person, named by the column that tells persons.
///
/// Guarantees for different units do not follow from each other, and are never added. A record is a part of a person, and
/// still a guarantee for persons is none for records: where one row of each counts, a new first row takes the place of the
/// one that was counted, which moves the counts by two, and a person who comes moves them by one (docs/persons.md).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Unit(Option<Arc<str>>);

impl Unit {
    /// All records of one person, or of whatever the column of this name tells.
    ///
    /// # Errors
    /// If the name is empty, longer than 256 characters, or holds control characters.
    pub fn named(name: &str) -> Result<Self> {
        let letters = name.chars().count();
        if !(1..=MOST_LETTERS).contains(&letters) {
            return Err(Error::parameter("unit", "be a name of 1 to 256 characters", format!("{letters} characters")));
        }
        if name.chars().any(char::is_control) {
            return Err(Error::parameter("unit", "be a name without control characters", "one with"));
        }
        Ok(Self(Some(name.into())))
    }

    /// The name; none for single records.
    pub fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(name) => write!(f, "'{name}'"),
            None => f.write_str("single records"),
        }
    }
}
