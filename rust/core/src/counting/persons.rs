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

use super::md5::{LANES, SHORT, md5, short_digests};
use crate::{Error, Result, interrupt, memory, parallel};

/// Modulo this prime two numbers have a product that fits 63 bits.
pub const MODULUS: u64 = (1 << 31) - 1;
/// Bits of the digest that are used: as many as whole hexadecimal digits of a signed integer.
const DIGITS: u32 = 60;
/// Persons that a thread takes at a time; it asks whether to stop in between.
const BLOCK: usize = 1 << 12;
/// Rows that are worth a thread.
const PER_THREAD: usize = 1 << 19;

/// The number of a text under a key; of databases too.
pub fn keyed_number(key: &str, text: &str) -> u32 {
    let digest = md5(&[key.as_bytes(), text.as_bytes()].concat());
    reduced([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| digest[byte]))
}

/// From the first bytes of a digest.
fn reduced(first: [u8; 8]) -> u32 {
    ((u64::from_be_bytes(first) >> (64 - DIGITS)) % MODULUS) as u32
}

/// The number under a key of each integer, whose text is its digits; `key` ends with what stands before them.
///
/// # Errors
/// Where memory is short.
pub fn keyed_numbers_of_integers(key: &str, integers: &[i64]) -> Result<Vec<u32>> {
    let mut numbers = memory::reserved("the numbers of persons", integers.len())?;
    let mut messages = [([0; SHORT], 0); LANES];
    for (block, some) in integers.chunks(LANES).enumerate() {
        if block.is_multiple_of(BLOCK) {
            interrupt::check()?;
        }
        if some.iter().zip(&mut messages).all(|(&integer, message)| write(key, integer, message)) {
            let digests = short_digests(&messages);
            numbers.extend(digests[..some.len()].iter().map(|words| {
                let [a, b] = words.map(|word| u64::from(word.swap_bytes()));
                reduced((a << 32 | b).to_be_bytes())
            }));
        } else {
            numbers.extend(some.iter().map(|integer| keyed_number(key, &integer.to_string())));
        }
    }
    Ok(numbers)
}

/// Writes the key and the digits; whether they fit.
fn write(key: &str, integer: i64, (message, length): &mut ([u8; SHORT], usize)) -> bool {
    const MOST: usize = 20; // digits of 64 bits, and a sign
    let (mut digits, mut start, mut rest) = ([0; MOST], MOST, integer.unsigned_abs());
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if integer < 0 {
        start -= 1;
        digits[start] = b'-';
    }
    *length = key.len() + MOST - start;
    if *length > SHORT {
        return false;
    }
    message[..key.len()].copy_from_slice(key.as_bytes());
    message[key.len()..*length].copy_from_slice(&digits[start..]);
    true
}

/// What is counted in a column: the level of each row, and the number of each level under the column's key.
#[derive(Debug, Clone, Copy)]
pub struct Counted<'a> {
    /// Of each row of the table, or of each row that is looked at.
    pub levels: &'a [u32],
    /// By level.
    pub numbers: &'a [u32],
    /// Whether `levels` has all rows of the table.
    pub of_all: bool,
}

/// The sums, modulo [`MODULUS`], of the numbers of what is counted in these rows.
///
/// # Errors
/// [`Error::InvalidParameter`] for a row or a level that is not there, and where memory is short.
pub fn values_of_rows(rows: &[u32], columns: &[Counted<'_>]) -> Result<Vec<u32>> {
    let mut values: Vec<u32> = memory::zeros("the values of rows", rows.len())?;
    for column in columns {
        if !column.of_all && column.levels.len() != rows.len() {
            return Err(Error::parameter("levels", "be as many as the rows", column.levels.len()));
        }
        for (block, some) in values.chunks_mut(BLOCK).enumerate() {
            interrupt::check()?;
            for (place, value) in (block * BLOCK..).zip(some) {
                let row = if column.of_all { rows[place] as usize } else { place };
                let number = column.levels.get(row).and_then(|&level| column.numbers.get(level as usize));
                let number = *number.ok_or_else(|| Error::parameter("levels", "have a number each", row))?;
                *value = ((u64::from(*value) + u64::from(number)) % MODULUS) as u32;
            }
        }
    }
    Ok(values)
}

/// Rows of persons, in columns: those of a person side by side, in any order.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Where the rows of each person end.
    pub ends: &'a [u32],
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
/// [`Error::InvalidParameter`] where columns are not equally long, ends do not ascend, or a person has no number;
/// where memory is short.
pub fn kept_rows(rows: Rows<'_>, again: u32, max_rows: usize) -> Result<Vec<bool>> {
    let n_rows = rows.values.len();
    if rows.order.is_some_and(|order| order.len() != n_rows) {
        return Err(Error::parameter("values", "be as many as the rows", n_rows));
    }
    if rows.numbers.len() != rows.ends.len() {
        return Err(Error::parameter("persons", "have a number each", rows.numbers.len()));
    }
    if !rows.ends.is_sorted() || rows.ends.last().map_or(0, |&end| end as usize) != n_rows {
        return Err(Error::parameter("ends", "ascend to the number of rows", n_rows));
    }
    let mut kept: Vec<bool> = memory::zeros("the rows that are kept", n_rows)?;
    let (mut tasks, mut rest, mut begin) = (Vec::new(), kept.as_mut_slice(), 0);
    for first in (0..rows.ends.len()).step_by(BLOCK) {
        let last = (first + BLOCK).min(rows.ends.len());
        let end = rows.ends[last - 1] as usize;
        let (mine, others) = std::mem::take(&mut rest).split_at_mut(end - begin);
        tasks.push((first..last, begin, mine));
        (rest, begin) = (others, end);
    }
    parallel::map(tasks.into_iter(), parallel::threads_for(n_rows, PER_THREAD), |(persons, begin, kept)| {
        let (mut own, mut start) = (Vec::new(), begin);
        for person in persons {
            let end = rows.ends[person] as usize;
            rows.choose(person, start..end, again, max_rows, &mut own, &mut kept[start - begin..end - begin]);
            start = end;
        }
        Ok(())
    })?;
    Ok(kept)
}

impl Rows<'_> {
    /// Marks the rows of one person that are kept; `own` is room to work in.
    fn choose(
        &self,
        person: usize,
        range: std::ops::Range<usize>,
        again: u32,
        max_rows: usize,
        own: &mut Vec<(i64, u64, u32)>,
        kept: &mut [bool],
    ) {
        if range.len() <= max_rows {
            return kept.fill(true);
        }
        own.clear();
        own.extend(
            (0..)
                .zip(range)
                .map(|(place, row)| (self.order.map_or(0, |order| order[row]), u64::from(self.values[row]), place)),
        );
        own.sort_unstable();
        let (mut alike, mut before) = (0, None);
        for place in own.iter_mut() {
            let here = (place.0, place.1);
            alike = if before == Some(here) { alike + 1 } else { 1 };
            before = Some(here);
            let value = (place.1 + alike % MODULUS * u64::from(again)) % MODULUS;
            place.1 = u64::from(self.numbers[person]) * value % MODULUS;
        }
        own.select_nth_unstable(max_rows - 1);
        own[..max_rows].iter().for_each(|&(_, _, place)| kept[place as usize] = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of rows in any order.
    fn kept(persons: &[usize], values: &[u32], order: Option<&[i64]>, max_rows: usize) -> Vec<bool> {
        let mut places: Vec<usize> = (0..persons.len()).collect();
        places.sort_by_key(|&row| persons[row]);
        let n_persons = persons.iter().max().unwrap() + 1;
        let ends: Vec<u32> = (0..n_persons).map(|p| persons.iter().filter(|q| **q <= p).count() as u32).collect();
        let values: Vec<u32> = places.iter().map(|&row| values[row]).collect();
        let order: Option<Vec<i64>> = order.map(|order| places.iter().map(|&row| order[row]).collect());
        let numbers = &[123_456_789, 987_654_321, 55][..n_persons];
        let rows = Rows { ends: &ends, numbers, values: &values, order: order.as_deref() };
        let found = kept_rows(rows, 77_777_777, max_rows).unwrap();
        let mut kept = vec![false; persons.len()];
        places.iter().zip(found).for_each(|(&row, keep)| kept[row] = keep);
        kept
    }

    #[test]
    fn integers_have_the_numbers_of_their_digits() {
        let integers: Vec<i64> = (0..19)
            .flat_map(|power| [10_i64.pow(power) - 1, -(10_i64.pow(power)), 7 << (3 * power)])
            .chain([i64::MIN, i64::MAX, 0])
            .collect();
        // Keys so long that some of the texts, or all, take more than one block.
        for key in ["v", "seed 5.uv", &"k".repeat(40), &"k".repeat(60)] {
            for few in [0, 1, 7, 8, 9, integers.len()] {
                let expected: Vec<u32> = integers[..few].iter().map(|i| keyed_number(key, &i.to_string())).collect();
                assert_eq!(keyed_numbers_of_integers(key, &integers[..few]).unwrap(), expected);
            }
        }
    }

    #[test]
    fn values_are_sums_of_the_numbers_of_levels() {
        let most = (MODULUS - 1) as u32;
        let all = Counted { levels: &[0, 1, 1, 0, 2], numbers: &[5, most, 7], of_all: true };
        let some = Counted { levels: &[1, 0], numbers: &[1, most], of_all: false };
        assert_eq!(values_of_rows(&[4, 1], &[all, some]).unwrap(), [6, 0]);
        assert_eq!(values_of_rows(&[], &[all]).unwrap(), [0; 0]);
        for (rows, wrong) in
            [(&[5][..], all), (&[0, 0, 0], some), (&[4], Counted { numbers: &[1], ..all }), (&[1], some)]
        {
            assert!(matches!(values_of_rows(rows, &[wrong]), Err(Error::InvalidParameter { .. })), "{wrong:?}");
        }
    }

    #[test]
    fn rows_that_do_not_fit_together_are_refused() {
        let one = Rows { ends: &[1], numbers: &[5], values: &[3], order: None };
        assert_eq!(kept_rows(one, 7, 1).unwrap(), [true]);
        for wrong in [
            Rows { ends: &[2], ..one },
            Rows { ends: &[], ..one },
            Rows { numbers: &[], ..one },
            Rows { order: Some(&[]), ..one },
            Rows { ends: &[2, 1], numbers: &[5, 5], ..one },
        ] {
            assert!(matches!(kept_rows(wrong, 7, 1), Err(Error::InvalidParameter { .. })), "{wrong:?}");
        }
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
            let rows = Rows { ends: &[10], numbers: &numbers, values: &values, order: None };
            found += usize::from(kept_rows(rows, again, 1).unwrap()[9]);
        }
        // Six deviations: false alarm 2e-9.
        assert!((1746..=2254).contains(&found), "{found}");
    }
}
