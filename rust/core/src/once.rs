//! What is found out once and kept, without anything that a forked child could wait for.
//!
//! A child has only the thread that forked. Were a value worked out inside `OnceLock::get_or_init`, or under a mutex, by
//! another thread at that moment, the child would wait for that thread for ever. So it is worked out first, perhaps
//! twice, and put there in an instant.

use std::sync::OnceLock;

/// What is in the cell; what `find` returns if there is nothing yet.
pub(crate) fn kept<T>(cell: &OnceLock<T>, find: impl FnOnce() -> T) -> &T {
    match cell.get() {
        Some(known) => known,
        None => {
            let found = find();
            cell.get_or_init(|| found)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_stays_and_nothing_is_held_while_it_is_found() {
        let cell = OnceLock::new();
        // Asked again in the middle, as a forked child would: `get_or_init` alone would wait for itself here.
        let found = kept(&cell, || {
            assert_eq!(*kept(&cell, || 2), 2);
            1
        });
        assert_eq!((*found, *kept(&cell, || 3)), (2, 2));
    }
}
