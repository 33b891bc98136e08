//! Which rows of a person count where a person has more of them than may count.
//!
//! **What the guarantee needs.** The rows that are kept of a person must depend on that person's rows alone. Then a
//! person who comes, goes or is replaced changes at most `max_rows` rows of what is counted, whatever the key and whoever
//! knows it. A rule that looks at where a row stands in the file, or that draws from one stream for all, has no such
//! property: one person who is removed moves the rows of all others.
//!
//! **The rule** is one that databases can follow too, in integers of 64 bits without overflow. With P = 2^31 - 1 and
//! h(text) the first 60 bits of the MD5 of the key and the text, modulo P, each row of a person u has the number
//!
//! > h(u) ((sum over columns of h(column, value) + j h("again")) mod P) mod P
//!
//! where j = 1, 2, ... numbers rows of the person that are equal in everything that is counted, so that it does not
//! matter which of them is which. The rows with the smallest numbers are kept, after those that come first by a column
//! where one is named.

use super::md5::md5;
use crate::{Error, Result, interrupt, memory};

/// Modulo this prime two numbers have a product that fits 63 bits.
pub const MODULUS: u64 = (1 << 31) - 1;
/// Bits of the digest that are used: as many as whole hexadecimal digits of a signed integer.
const DIGITS: u32 = 60;
/// Persons between two questions whether to stop.
const ASK_EVERY: usize = 1 << 12;

/// The number of a text under a key; of databases too.
pub fn keyed_number(key: &str, text: &str) -> u32 {
    let digest = md5(&[key.as_bytes(), text.as_bytes()].concat());
    let first = u64::from_be_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| digest[byte])) >> (64 - DIGITS);
    (first % MODULUS) as u32
}

/// Rows of persons, in columns.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// The person of each row, numbered from zero.
    pub persons: &'a [u32],
    /// The number of each person.
    pub numbers: &'a [u32],
    /// The sum of the numbers of what is counted in each row, modulo [`MODULUS`].
    pub values: &'a [u32],
    /// What comes first; rows with equal values are alike.
    pub order: Option<&'a [i64]>,
}

/// Whether each row is kept, at most `max_rows` for each person.
///
/// # Errors
/// [`Error::InvalidParameter`] where columns are not equally long or a person has no number, and where memory is short.
pub fn kept_rows(rows: Rows<'_>, again: u32, max_rows: usize) -> Result<Vec<bool>> {
    let n_rows = rows.persons.len();
    if rows.values.len() != n_rows || rows.order.is_some_and(|order| order.len() != n_rows) {
        return Err(Error::parameter("values", "be as many as the rows", rows.values.len()));
    }
    if n_rows >= u32::MAX as usize {
        return Err(Error::NotAffordable {
            asked: format!("{n_rows} rows of persons"),
            limit: format!("{} rows", u32::MAX),
            instead: "bound parts that hold all rows of a person",
        });
    }
    // Rows by person: a counting sort.
    let mut starts: Vec<u32> = memory::zeros("the rows of persons", rows.numbers.len() + 1)?;
    for &person in rows.persons {
        let place = starts.get_mut(person as usize + 1);
        *place.ok_or_else(|| Error::parameter("persons", "have a number each", person))? += 1;
    }
    for person in 1..starts.len() {
        starts[person] += starts[person - 1];
    }
    let mut next: Vec<u32> = memory::reserved("the rows of persons", starts.len())?;
    next.extend_from_slice(&starts);
    let mut sorted: Vec<u32> = memory::zeros("the rows of persons", n_rows)?;
    for (row, &person) in rows.persons.iter().enumerate() {
        let place = &mut next[person as usize];
        sorted[*place as usize] = row as u32;
        *place += 1;
    }
    let mut kept: Vec<bool> = memory::zeros("the rows that are kept", n_rows)?;
    let mut own: Vec<(i64, u64, u32)> = Vec::new();
    for (person, &number) in rows.numbers.iter().enumerate() {
        if person.is_multiple_of(ASK_EVERY) {
            interrupt::check()?;
        }
        let mine = &sorted[starts[person] as usize..starts[person + 1] as usize];
        if mine.len() <= max_rows {
            mine.iter().for_each(|&row| kept[row as usize] = true);
            continue;
        }
        own.clear();
        own.extend(mine.iter().map(|&row| {
            (rows.order.map_or(0, |order| order[row as usize]), u64::from(rows.values[row as usize]), row)
        }));
        own.sort_unstable();
        let (mut alike, mut before) = (0, None);
        for place in &mut own {
            let here = (place.0, place.1);
            alike = if before == Some(here) { alike + 1 } else { 1 };
            before = Some(here);
            let value = (place.1 + alike % MODULUS * u64::from(again)) % MODULUS;
            place.1 = u64::from(number) * value % MODULUS;
        }
        own.select_nth_unstable(max_rows - 1);
        own[..max_rows].iter().for_each(|&(_, _, row)| kept[row as usize] = true);
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(persons: &[u32], values: &[u32], order: Option<&[i64]>, max_rows: usize) -> Vec<bool> {
        let numbers = [123_456_789, 987_654_321, 55];
        kept_rows(Rows { persons, numbers: &numbers, values, order }, 77_777_777, max_rows).unwrap()
    }

    #[test]
    fn the_number_of_a_text_is_that_of_its_digest() {
        // The first 15 digits of the digest that the RFC states.
        assert_eq!(u64::from(keyed_number("", "abc")), 0x900_1509_83cd_24fb % MODULUS);
    }

    #[test]
    fn nobody_keeps_more_than_the_bound_and_whoever_has_fewer_keeps_all() {
        let persons = [0, 1, 0, 0, 2, 1, 0, 0];
        let result = kept(&persons, &[5, 6, 5, 9, 1, 2, 5, 7], None, 2);
        for (person, count) in [(0, 2), (1, 2), (2, 1)] {
            assert_eq!(persons.iter().zip(&result).filter(|(p, k)| **p == person && **k).count(), count);
        }
    }

    #[test]
    fn what_is_kept_of_a_person_depends_on_that_person_alone() {
        let alone = kept(&[0, 0, 0, 0], &[5, 9, 5, 7], None, 2);
        let mixed = kept(&[1, 0, 0, 1, 0, 2, 0, 1], &[3, 5, 9, 3, 5, 8, 7, 1], None, 2);
        let values = [5, 9, 5, 7];
        let of_alone: Vec<u32> = values.iter().zip(&alone).filter(|(_, k)| **k).map(|(v, _)| *v).collect();
        let of_mixed: Vec<u32> = [1, 2, 4, 6].iter().zip(values).filter(|(r, _)| mixed[**r]).map(|(_, v)| v).collect();
        assert_eq!(of_alone, of_mixed);
    }

    #[test]
    fn a_column_comes_first() {
        assert_eq!(kept(&[0; 4], &[5, 9, 5, 7], Some(&[3, 1, 2, 4]), 2), [false, true, true, false]);
    }

    #[test]
    fn every_row_of_a_person_is_kept_equally_often() {
        // 9 rows of one value and one of another, one kept: the other in a tenth of 20,000 persons, deviation 42.
        let values = [vec![keyed_number("k", "a"); 9], vec![keyed_number("k", "b")]].concat();
        let again = keyed_number("k", "again");
        let mut found = 0;
        for person in 0..20_000 {
            let numbers = [keyed_number("k", &format!("u{person}"))];
            let rows = Rows { persons: &[0; 10], numbers: &numbers, values: &values, order: None };
            found += usize::from(kept_rows(rows, again, 1).unwrap()[9]);
        }
        // Six deviations: false alarm 2e-9.
        assert!((1746..=2254).contains(&found), "{found}");
    }
}
