//! How many rows a person has: the rows of those who have more than may count, and the number for each row.
//!
//! A person is known by a word of 64 bits, which is hers alone: words are compared, never their digests. Where words lie
//! close together each has a counter at its place. Others are dealt into parts by a digest first, so that the table of a
//! part stays in the cache.

use super::distinct::{Hashed, NONE, Numbering, mix};
use crate::{Error, Result, interrupt, memory, parallel};

/// Words have counters of their own if there are no more places than so many times the rows.
const DENSE: u64 = 2;
/// Rows of a part, about: its table and its rows stay in a second-level cache.
const PART: usize = 1 << 14;
/// Parts at most: more of them are no longer written side by side.
const MOST_PARTS: usize = 1 << 10;
/// Rows between two questions whether to stop.
const ASK_EVERY: usize = 1 << 16;
/// Rows that are worth a thread.
const PER_THREAD: usize = 1 << 20;

/// Rows of persons with too many of them, those of a person side by side and in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Crowded {
    /// Positions of rows.
    pub rows: Vec<u32>,
    /// Where the rows of each person end.
    pub ends: Vec<u32>,
}

/// An integer that tells who a person is.
pub trait Word: Copy + Ord + Sync {
    /// The same for the same person, another one for any other.
    fn word(self) -> u64;
}

impl Word for u32 {
    fn word(self) -> u64 {
        u64::from(self)
    }
}

impl Word for i64 {
    fn word(self) -> u64 {
        self as u64
    }
}

/// The rows of all persons who have more than `max_rows`; `persons` says whose each row is.
///
/// Beside the columns it takes 4 bytes for each place or, where words lie far apart, 12 for each row.
///
/// # Errors
/// [`Error::NotAffordable`] from 2^32 rows on, and where memory is short.
pub fn crowded_rows<W: Word>(persons: &[W], max_rows: usize) -> Result<Crowded> {
    let most = u32::try_from(max_rows).unwrap_or(u32::MAX);
    if let Some((low, n_places)) = places(persons)? {
        let counters = memory::zeros("a counter for each person", n_places)?;
        return by_place(persons.len(), |row| persons[row].word().wrapping_sub(low) as usize, counters, most);
    }
    let parts = Parts::of(persons)?;
    let found = parts.map(|numbers, n_persons, rows| {
        let mut crowded = by_place(numbers.len(), |row| numbers[row] as usize, vec![0; n_persons], most)?;
        crowded.rows.iter_mut().for_each(|row| *row = rows[*row as usize]);
        Ok(crowded)
    })?;
    let mut all = Crowded {
        rows: memory::reserved("the rows of persons", found.iter().map(|part| part.rows.len()).sum())?,
        ends: memory::reserved("the rows of persons", found.iter().map(|part| part.ends.len()).sum())?,
    };
    for part in found {
        let before = all.rows.len() as u32;
        all.ends.extend(part.ends.iter().map(|end| before + end));
        all.rows.extend(part.rows);
    }
    Ok(all)
}

/// How many rows the person of each row has, `most` where they are more.
///
/// Beside the columns it takes one byte for each row, and one for each place or, where words lie far apart, 13 more for
/// each row.
///
/// # Errors
/// As for [`crowded_rows`].
pub fn rows_of_each<W: Word>(persons: &[W], most: u8) -> Result<Vec<u8>> {
    if let Some((low, n_places)) = places(persons)? {
        let counters = memory::zeros("a counter for each person", n_places)?;
        return sizes(persons.len(), |row| persons[row].word().wrapping_sub(low) as usize, counters, most);
    }
    let parts = Parts::of(persons)?;
    let found = parts
        .map(|numbers, n_persons, _| sizes(numbers.len(), |row| numbers[row] as usize, vec![0; n_persons], most))?;
    let mut all = memory::zeros("how many rows each person has", persons.len())?;
    for (ends, sizes) in parts.starts.windows(2).zip(found) {
        interrupt::check()?;
        parts.rows[ends[0]..ends[1]].iter().zip(sizes).for_each(|(&row, size)| all[row as usize] = size);
    }
    Ok(all)
}

/// The lowest word and how many there are up to the highest, where they lie close together.
fn places<W: Word>(persons: &[W]) -> Result<Option<(u64, usize)>> {
    if persons.len() >= NONE as usize {
        return Err(Error::NotAffordable {
            asked: format!("{} rows of persons", persons.len()),
            limit: format!("{NONE} rows"),
            instead: "bound parts that hold all rows of a person",
        });
    }
    let (Some(low), Some(high)) = (persons.iter().min(), persons.iter().max()) else {
        return Ok(Some((0, 0)));
    };
    let span = high.word().wrapping_sub(low.word());
    Ok((span < DENSE * persons.len() as u64).then(|| (low.word(), span as usize + 1)))
}

/// How many rows the person of each row has, of persons with a counter each.
fn sizes(n_rows: usize, place: impl Fn(usize) -> usize, mut counts: Vec<u8>, most: u8) -> Result<Vec<u8>> {
    let mut found = memory::reserved("how many rows each person has", n_rows)?;
    for begin in (0..n_rows).step_by(ASK_EVERY) {
        interrupt::check()?;
        for row in begin..(begin + ASK_EVERY).min(n_rows) {
            let count = &mut counts[place(row)];
            *count = count.saturating_add(1).min(most);
        }
    }
    for begin in (0..n_rows).step_by(ASK_EVERY) {
        interrupt::check()?;
        found.extend((begin..(begin + ASK_EVERY).min(n_rows)).map(|row| counts[place(row)]));
    }
    Ok(found)
}

/// The crowded rows of persons with a counter each.
fn by_place(n_rows: usize, place: impl Fn(usize) -> usize, mut counts: Vec<u32>, most: u32) -> Result<Crowded> {
    let asking = |row: usize| if row.is_multiple_of(ASK_EVERY) { interrupt::check() } else { Ok(()) };
    for row in 0..n_rows {
        asking(row)?;
        counts[place(row)] += 1;
    }
    // From here on a counter says where the next row of its person goes.
    let (mut total, mut n_persons) = (0, 0);
    for count in counts.iter().filter(|count| **count > most) {
        (total, n_persons) = (total + count, n_persons + 1);
    }
    let mut ends = memory::reserved("the rows of persons", n_persons)?;
    let mut start = 0;
    for count in &mut counts {
        if *count > most {
            (*count, start) = (start, start + *count);
            ends.push(start);
        } else {
            *count = NONE;
        }
    }
    let mut rows = memory::zeros("the rows of persons", total as usize)?;
    if total > 0 {
        for row in 0..n_rows {
            asking(row)?;
            let next = &mut counts[place(row)];
            if *next != NONE {
                rows[*next as usize] = row as u32;
                *next += 1;
            }
        }
    }
    Ok(Crowded { rows, ends })
}

/// Rows that are dealt by their persons: all rows of a person are in one part.
struct Parts {
    words: Vec<u64>,
    rows: Vec<u32>,
    /// Where parts start, and the last one ends.
    starts: Vec<usize>,
}

impl Parts {
    fn of<W: Word>(persons: &[W]) -> Result<Self> {
        let n_parts = (persons.len() / PART).next_power_of_two().min(MOST_PARTS);
        let part_of = |word: u64| ((u128::from(mix(word)) * n_parts as u128) >> 64) as usize;
        let mut starts = vec![0_usize; n_parts + 1];
        for chunk in persons.chunks(ASK_EVERY) {
            interrupt::check()?;
            chunk.iter().for_each(|person| starts[part_of(person.word()) + 1] += 1);
        }
        for part in 0..n_parts {
            starts[part + 1] += starts[part];
        }
        let mut words: Vec<u64> = memory::zeros("the persons in parts", persons.len())?;
        let mut rows: Vec<u32> = memory::zeros("the persons in parts", persons.len())?;
        let mut next = starts.clone();
        for (block, chunk) in persons.chunks(ASK_EVERY).enumerate() {
            interrupt::check()?;
            for (row, person) in (block * ASK_EVERY..).zip(chunk) {
                let word = person.word();
                let place = &mut next[part_of(word)];
                (words[*place], rows[*place]) = (word, row as u32);
                *place += 1;
            }
        }
        Ok(Self { words, rows, starts })
    }

    /// What comes of each part: the numbers of its persons from 0 on, how many they are, and which rows these are.
    fn map<T: Send>(&self, each: impl Fn(&[u32], usize, &[u32]) -> Result<T> + Sync) -> Result<Vec<T>> {
        let parts = self.starts.windows(2).map(|ends| ends[0]..ends[1]).collect::<Vec<_>>();
        parallel::map(parts.into_iter(), parallel::threads_for(self.rows.len(), PER_THREAD), |part| {
            let (words, rows) = (&self.words[part.clone()], &self.rows[part]);
            let mut index = Hashed::with_places(2 * words.len());
            let numbers: Vec<u32> = words.iter().map(|&word| index.number(word)).collect();
            each(&numbers, index.len(), rows)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Person by person, in no order.
    fn by_hand<W: Word>(persons: &[W], max_rows: usize) -> Vec<Vec<u32>> {
        let mut of: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for (row, person) in persons.iter().enumerate() {
            of.entry(person.word()).or_default().push(row as u32);
        }
        let mut many: Vec<_> = of.into_values().filter(|rows| rows.len() > max_rows).collect();
        many.sort();
        many
    }

    fn check<W: Word>(persons: &[W], max_rows: usize) {
        let found = crowded_rows(persons, max_rows).unwrap();
        let starts = [0].into_iter().chain(found.ends.iter().copied());
        let rows = |(start, end): (u32, &u32)| found.rows[start as usize..*end as usize].to_vec();
        let mut each: Vec<_> = starts.zip(&found.ends).map(rows).collect();
        each.sort();
        assert_eq!(each, by_hand(persons, max_rows));
        assert_eq!(found.rows.len(), found.ends.last().map_or(0, |&end| end as usize));
        let most = max_rows as u8 + 1;
        let sizes = rows_of_each(persons, most).unwrap();
        let all = by_hand(persons, 0);
        assert_eq!(sizes.len(), persons.len());
        for person in all {
            let expected = person.len().min(most.into()) as u8;
            assert!(person.iter().all(|&row| sizes[row as usize] == expected), "{expected}");
        }
    }

    #[test]
    fn persons_are_told_apart_by_all_of_their_bits() {
        let scattered = |n: u64, k: u64| (0..n).map(move |row| mix(row) % k);
        for (n, k) in [(0, 1), (1, 1), (1000, 3), (1000, 400), (100_000, 30_000), (70_000, 9)] {
            for max_rows in [1, 3, 12] {
                // Next to each other, far apart, and alike but for the highest bits, or the lowest.
                check(&scattered(n, k).map(|p| p as u32).collect::<Vec<_>>(), max_rows);
                check(&scattered(n, k).map(|p| p as i64 - 5).collect::<Vec<_>>(), max_rows);
                check(&scattered(n, k).map(|p| mix(p) as i64).collect::<Vec<_>>(), max_rows);
                check(&scattered(n, k).map(|p| (p << 40) as i64).collect::<Vec<_>>(), max_rows);
                check(&scattered(n, k).map(|p| i64::MAX - (p as i64 % 2) * i64::MAX).collect::<Vec<_>>(), max_rows);
            }
        }
        check(&[i64::MIN, i64::MAX, i64::MIN, 0, -1, i64::MAX, i64::MIN], 1);
    }
}
