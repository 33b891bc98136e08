//! The distinct values of a column, numbered as they come.
//!
//! Sorting, which is what NumPy's `unique` does, takes ten times as long where values are few and rows are many.

use std::collections::BTreeMap;

use crate::{Error, Result, interrupt, memory};

/// Rows between two questions whether to stop.
const BLOCK: usize = 1 << 12;

/// Every row's number, and the row in which each number came first.
pub struct Distinct {
    /// A number for each row, equal where the values are.
    pub numbers: Vec<u32>,
    /// For each number the first row that has it.
    pub first_rows: Vec<usize>,
}

/// Numbers the values of a column, each of them `width` bytes long; values are the same when all of their bytes are.
/// Nothing when more than `most` of them differ.
///
/// # Errors
/// [`Error::InvalidParameter`] for a width of zero or one that leaves a rest, [`Error::NotAffordable`] from 2^32 rows on.
pub fn distinct(bytes: &[u8], width: usize, most: usize) -> Result<Option<Distinct>> {
    if width == 0 || !bytes.len().is_multiple_of(width) {
        return Err(Error::parameter("width", "be positive and divide the number of bytes", width));
    }
    match width {
        1 => numbered(Direct::new(1 << 8), bytes.iter().map(|&byte| usize::from(byte)), most),
        2 => numbered(Direct::new(1 << 16), words(bytes).map(|word| usize::from(u16::from_ne_bytes(word))), most),
        4 => numbered_integers(words(bytes).map(|word| u64::from(u32::from_ne_bytes(word))), most),
        8 => numbered_integers(words(bytes).map(u64::from_ne_bytes), most),
        _ => numbered(Hashed::new(), bytes.chunks_exact(width), most),
    }
}

fn words<const N: usize>(bytes: &[u8]) -> impl ExactSizeIterator<Item = [u8; N]> + Clone {
    bytes.as_chunks::<N>().0.iter().copied()
}

/// Numbers keys, one for each row.
fn numbered<K>(
    mut index: impl Numbering<K>,
    keys: impl ExactSizeIterator<Item = K>,
    most: usize,
) -> Result<Option<Distinct>> {
    let mut found = Distinct::with_room(keys.len())?;
    let end = found.add(&mut index, keys, most)?;
    Ok((end == End::Rows).then_some(found))
}

/// The same for integers: while they lie near one another each has a place of its own, which takes half the time.
fn numbered_integers(keys: impl ExactSizeIterator<Item = u64> + Clone, most: usize) -> Result<Option<Distinct>> {
    let mut found = Distinct::with_room(keys.len())?;
    let mut near = Near::around(keys.clone().next().unwrap_or(0), keys.len());
    let mut end = found.add(&mut near, keys.clone(), most)?;
    if end == End::Unnumbered {
        let mut hashed = Hashed::new();
        near.keys.iter().for_each(|&key| _ = hashed.number(key));
        let row = found.numbers.len();
        end = found.add(&mut hashed, keys.skip(row), most)?;
    }
    Ok((end == End::Rows).then_some(found))
}

/// Why numbering ended.
#[derive(PartialEq, Eq)]
pub(super) enum End {
    /// There are no more rows.
    Rows,
    /// A key was given no number.
    Unnumbered,
    /// More values differ than were wanted.
    TooMany,
}

impl Distinct {
    /// No row yet, and room for so many.
    pub(super) fn with_room(n_rows: usize) -> Result<Self> {
        if n_rows >= NONE as usize {
            return Err(Error::NotAffordable {
                asked: format!("the distinct values of {n_rows} rows"),
                limit: format!("{NONE} rows"),
                instead: "count parts of the rows and add the tables",
            });
        }
        Ok(Self { numbers: memory::reserved("the numbers of a column's values", n_rows)?, first_rows: Vec::new() })
    }

    /// Numbers the rows that follow, by their keys.
    pub(super) fn add<K>(
        &mut self,
        index: &mut impl Numbering<K>,
        mut keys: impl ExactSizeIterator<Item = K>,
        most: usize,
    ) -> Result<End> {
        // Of so many rows the numbers stand next to the processor: counters would otherwise go through memory.
        let mut block = [0; BLOCK];
        while keys.len() > 0 {
            interrupt::check()?;
            let row = self.numbers.len();
            let mut n_known = self.first_rows.len();
            let n = keys.len().min(BLOCK);
            for (place, (number, key)) in block.iter_mut().zip(keys.by_ref().take(n)).enumerate() {
                *number = index.number(key);
                if *number as usize >= n_known {
                    if *number == NONE || n_known == most {
                        let end = if *number == NONE { End::Unnumbered } else { End::TooMany };
                        self.numbers.extend_from_slice(&block[..place]);
                        return Ok(end);
                    }
                    self.first_rows.push(row + place);
                    n_known += 1;
                }
            }
            self.numbers.extend_from_slice(&block[..n]);
        }
        Ok(End::Rows)
    }
}

/// The code of each row, from its number.
///
/// # Errors
/// [`Error::InvalidParameter`] for a number that has no code.
pub fn coded<C: Copy + Default>(numbers: &[u32], codes: &[C]) -> Result<Vec<C>> {
    let mut coded = memory::reserved("the codes of a column", numbers.len())?;
    let mut beyond = false;
    for numbers in numbers.chunks(BLOCK) {
        interrupt::check()?;
        coded.extend(numbers.iter().map(|&number| {
            codes.get(number as usize).copied().unwrap_or_else(|| {
                beyond = true;
                codes.first().copied().unwrap_or_default()
            })
        }));
    }
    if beyond { Err(Error::parameter("numbers", "have a code each", "more numbers than codes")) } else { Ok(coded) }
}

/// Gives every key a number: the first 0, the next that differs 1, and so on; or `NONE`, to a key that it cannot hold.
pub(super) trait Numbering<K> {
    fn number(&mut self, key: K) -> u32;
}

/// No number.
pub(super) const NONE: u32 = u32::MAX;

/// One place for every key that there can be.
struct Direct {
    numbers: Vec<u32>,
    n_known: u32,
}

impl Direct {
    fn new(n_keys: usize) -> Self {
        Self { numbers: vec![NONE; n_keys], n_known: 0 }
    }
}

impl Numbering<usize> for Direct {
    #[inline(always)]
    fn number(&mut self, key: usize) -> u32 {
        let number = &mut self.numbers[key];
        if *number == NONE {
            *number = self.n_known;
            self.n_known += 1;
        }
        *number
    }
}

/// One place for every key in a range around the first one.
struct Near {
    low: u64,
    numbers: Vec<u32>,
    /// The key of each number.
    keys: Vec<u64>,
}

impl Near {
    /// Filling more places than this, or than there are rows, would take longer than it saves.
    const MOST: usize = 1 << 14;

    fn around(key: u64, n_rows: usize) -> Self {
        let n_places = n_rows.clamp(64, Self::MOST);
        Self { low: key.wrapping_sub(n_places as u64 / 2), numbers: vec![NONE; n_places], keys: Vec::new() }
    }
}

impl Numbering<u64> for Near {
    #[inline(always)]
    fn number(&mut self, key: u64) -> u32 {
        let place = key.wrapping_sub(self.low);
        let Some(number) = usize::try_from(place).ok().and_then(|place| self.numbers.get_mut(place)) else {
            return NONE;
        };
        if *number == NONE {
            *number = self.keys.len() as u32;
            self.keys.push(key);
        }
        *number
    }
}

/// A hash table with linear probing.
///
/// The hash is no secret, so keys can be chosen that collide. Those that find no place among the first few belong to a
/// tree: whatever the keys, a lookup takes logarithmic time.
pub(super) struct Hashed<K> {
    /// A power of two of places; each holds a number or `NONE`.
    places: Vec<u32>,
    /// The key of each number.
    keys: Vec<K>,
    crowded: BTreeMap<K, u32>,
}

/// Places that a key looks at before it goes to the tree.
const PROBES: usize = 32;

impl<K: Key> Hashed<K> {
    pub(super) fn new() -> Self {
        Self::with_places(64)
    }

    /// A table that need not grow until half as many keys are known.
    pub(super) fn with_places(n: usize) -> Self {
        Self { places: vec![NONE; n.next_power_of_two()], keys: Vec::new(), crowded: BTreeMap::new() }
    }

    /// How many keys are known.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The number of a key that is known, or the free place that it found, or nothing when it has to go to the tree.
    #[inline(always)]
    fn find(&self, key: K) -> Option<Found> {
        let mask = self.places.len() - 1;
        let home = key.hash() as usize;
        (0..PROBES).find_map(|step| {
            let place = home.wrapping_add(step) & mask;
            match self.places[place] {
                NONE => Some(Found::Free(place)),
                number if self.keys[number as usize] == key => Some(Found::Number(number)),
                _ => None,
            }
        })
    }

    #[cold]
    fn insert(&mut self, key: K, found: Option<Found>) -> u32 {
        let number = self.keys.len() as u32;
        if let (None, Some(&number)) = (&found, self.crowded.get(&key)) {
            return number;
        }
        self.keys.push(key);
        self.put(number, found);
        if 2 * self.keys.len() > self.places.len() {
            self.grow();
        }
        number
    }

    fn put(&mut self, number: u32, found: Option<Found>) {
        match found {
            Some(Found::Free(place)) => self.places[place] = number,
            _ => drop(self.crowded.insert(self.keys[number as usize], number)),
        }
    }

    fn grow(&mut self) {
        self.places = vec![NONE; 4 * self.places.len()];
        self.crowded.clear();
        for number in 0..self.keys.len() {
            let found = self.find(self.keys[number]);
            self.put(number as u32, found);
        }
    }
}

impl<K: Key> Numbering<K> for Hashed<K> {
    #[inline(always)]
    fn number(&mut self, key: K) -> u32 {
        match self.find(key) {
            Some(Found::Number(number)) => number,
            found => self.insert(key, found),
        }
    }
}

enum Found {
    Number(u32),
    Free(usize),
}

/// What can be hashed here.
pub(super) trait Key: Copy + Ord {
    fn hash(self) -> u64;
}

/// Odd, and with no pattern in its bits: the first digits of pi.
const MULTIPLIER: u64 = 0x2438_6A88_85A3_08D3 | 1;

/// Both halves of a product: every bit of the word reaches the low ones.
#[inline(always)]
pub(super) fn mix(word: u64) -> u64 {
    let product = u128::from(word ^ MULTIPLIER) * u128::from(MULTIPLIER);
    product as u64 ^ (product >> 64) as u64
}

impl Key for u64 {
    #[inline(always)]
    fn hash(self) -> u64 {
        mix(self)
    }
}

impl Key for &[u8] {
    #[inline(always)]
    fn hash(self) -> u64 {
        let (words, rest) = self.as_chunks::<8>();
        let last = rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        let words = words.iter().map(|&word| u64::from_ne_bytes(word));
        words.chain([last]).fold(0, |hash, word| mix(hash.rotate_left(5) ^ word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By comparing every row with every value that came before.
    fn by_hand<K: PartialEq + Copy>(keys: &[K]) -> (Vec<u32>, Vec<usize>) {
        let mut first_rows: Vec<usize> = Vec::new();
        let number = |first_rows: &mut Vec<usize>, row: usize| {
            first_rows.iter().position(|&first| keys[first] == keys[row]).unwrap_or_else(|| {
                first_rows.push(row);
                first_rows.len() - 1
            })
        };
        let numbers = (0..keys.len()).map(|row| number(&mut first_rows, row) as u32).collect();
        (numbers, first_rows)
    }

    fn check(bytes: &[u8], width: usize) {
        let keys: Vec<_> = bytes.chunks_exact(width).collect();
        let found = distinct(bytes, width, usize::MAX).unwrap().unwrap();
        assert_eq!((found.numbers, found.first_rows), by_hand(&keys), "width {width}");
    }

    #[test]
    fn every_width_agrees_with_comparing_by_hand() {
        for width in [1, 2, 3, 4, 5, 8, 11, 16, 17, 64] {
            for n_levels in [1_u64, 3, 40, 700] {
                // A value is a scattered number, repeated to its width, so that values differ in all places or in one.
                let level = |row: u64| mix(row) % n_levels;
                let wide = (0..1000).flat_map(|row| {
                    let word = mix(level(row)).to_ne_bytes();
                    (0..width).map(move |byte| word[byte % 8])
                });
                check(&wide.collect::<Vec<_>>(), width);
                let narrow = (0..1000).flat_map(|row| {
                    (0..width).map(move |byte| if byte + 1 == width { level(row) as u8 } else { b'x' })
                });
                check(&narrow.collect::<Vec<_>>(), width);
            }
        }
    }

    #[test]
    fn integers_that_leave_their_range_keep_their_numbers() {
        for first in [0_u64, 5, 1 << 40, u64::MAX, 1 << 63] {
            for step in [1, 40, 1 << 20, 1 << 62] {
                let near = (0..300_u64).map(|row| first.wrapping_add(mix(row) % 7).wrapping_sub(3));
                let far = (0..300_u64).map(|row| first.wrapping_add((mix(row) % 11).wrapping_mul(step)));
                let words: Vec<u64> = near.chain(far).collect();
                check(&words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<_>>(), 8);
                check(&words.iter().flat_map(|&word| (word as u32).to_ne_bytes()).collect::<Vec<_>>(), 4);
            }
        }
    }

    #[test]
    fn codes_are_looked_up() {
        assert_eq!(coded(&[2, 0, 1, 0], &[7_i8, -1, 3]).unwrap(), [3, 7, -1, 7]);
        assert!(matches!(coded(&[0, 1], &[5]), Err(Error::InvalidParameter { .. })));
        assert_eq!(coded::<i64>(&[], &[]).unwrap(), []);
    }

    #[test]
    fn no_rows_have_no_values() {
        for width in [1, 2, 4, 8, 24] {
            let found = distinct(&[], width, 0).unwrap().unwrap();
            assert!(found.numbers.is_empty() && found.first_rows.is_empty());
        }
    }

    #[test]
    fn values_that_all_collide_are_told_apart() {
        /// A key whose hash is the same for all.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        struct Colliding(u64);
        impl Key for Colliding {
            fn hash(self) -> u64 {
                7
            }
        }
        let keys: Vec<_> = (0..3000).map(|row| Colliding(mix(row) % 500)).collect();
        let found = numbered(Hashed::new(), keys.iter().copied(), 500).unwrap().unwrap();
        assert_eq!((found.numbers, found.first_rows), by_hand(&keys));
    }

    #[test]
    fn many_values_keep_their_numbers_while_the_table_grows() {
        let words: Vec<u64> = (0..100_000_u64).chain(0..100_000).map(|row| row << 40).collect();
        let found = numbered(Hashed::new(), words.iter().copied(), usize::MAX).unwrap().unwrap();
        assert!(found.numbers.iter().zip(&words).all(|(&number, &word)| u64::from(number) == word >> 40));
        assert!(found.first_rows.iter().enumerate().all(|(number, &row)| number == row));
    }

    #[test]
    fn more_values_than_wanted_are_given_up() {
        for bytes in [[1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0], [1; 12], [0; 12]] {
            for width in [1, 2, 4, 6] {
                let n_distinct = distinct(&bytes, width, usize::MAX).unwrap().unwrap().first_rows.len();
                assert!(distinct(&bytes, width, n_distinct).unwrap().is_some());
                assert!(distinct(&bytes, width, n_distinct - 1).unwrap().is_none());
            }
        }
    }

    #[test]
    fn widths_that_do_not_fit_are_refused() {
        for width in [0, 5, 7] {
            assert!(matches!(distinct(&[0; 6], width, 6), Err(Error::InvalidParameter { .. })), "{width}");
        }
    }
}
