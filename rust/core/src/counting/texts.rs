//! The distinct texts of a column in Arrow's layout: all bytes one after the other, and where each text begins.
//!
//! [The layout](https://arrow.apache.org/docs/format/Columnar.html#variable-size-binary-layout): row i holds the bytes
//! from the ith offset to the next one; a row without a bit in the validity map is missing.

use super::distinct::{Distinct, Hashed, Key, mix};
use crate::{Error, Result};

/// Where texts begin, and at the end where the last one ends.
#[derive(Clone, Copy)]
pub enum Offsets<'a> {
    /// Up to 2 GiB of text.
    Short(&'a [i32]),
    /// More.
    Long(&'a [i64]),
}

impl Offsets<'_> {
    fn n_rows(&self) -> usize {
        match self {
            Self::Short(offsets) => offsets.len(),
            Self::Long(offsets) => offsets.len(),
        }
        .saturating_sub(1)
    }
}

/// A part of a column of texts.
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    /// Where each text begins among the bytes.
    pub offsets: Offsets<'a>,
    /// All texts.
    pub bytes: &'a [u8],
    /// Which rows are not missing, as bits from the lowest one on, and how many bits stand before the first row; nothing
    /// where none is missing.
    pub valid: Option<(&'a [u8], usize)>,
}

/// Numbers the texts of a column in several parts, as [`distinct`](super::distinct) does; missing ones are one value.
///
/// # Errors
/// [`Error::InvalidParameter`] where the buffers do not fit together, [`Error::NotAffordable`] from 2^32 rows on.
///
/// # Examples
/// ```
/// use simplexdp_core::counting::{Offsets, Texts, distinct_texts};
///
/// let texts = Texts { offsets: Offsets::Short(&[0, 2, 5, 7]), bytes: b"noyesno", valid: None };
/// let found = distinct_texts(&[texts])?;
/// assert_eq!(found.numbers, [0, 1, 0]);
/// assert_eq!(found.first_rows, [0, 1]);
/// # Ok::<(), simplexdp_core::Error>(())
/// ```
pub fn distinct_texts(parts: &[Texts<'_>]) -> Result<Distinct> {
    let n_rows = parts.iter().map(|part| part.offsets.n_rows()).sum();
    let mut found = Distinct::with_room(n_rows)?;
    let mut index = Hashed::new();
    for part in parts {
        match part.offsets {
            Offsets::Short(offsets) => part.add_to(&mut found, &mut index, offsets)?,
            Offsets::Long(offsets) => part.add_to(&mut found, &mut index, offsets)?,
        }
    }
    Ok(found)
}

impl<'a> Texts<'a> {
    /// Numbers the rows of this part, which follow those of the parts before.
    fn add_to<O: Copy + Ord + TryInto<usize>>(
        &self,
        found: &mut Distinct,
        index: &mut Hashed<Text<'a>>,
        offsets: &[O],
    ) -> Result<()> {
        let place = |offset: O| offset.try_into().unwrap_or(usize::MAX);
        let ascending = offsets.is_sorted();
        if !ascending || offsets.first().is_some_and(|&first| place(first) > self.bytes.len()) {
            return Err(Error::parameter("offsets", "ascend from 0 or more", "others"));
        }
        if offsets.last().is_some_and(|&last| place(last) > self.bytes.len()) {
            return Err(Error::parameter("offsets", "end among the bytes", "a text beyond them"));
        }
        let rows = offsets.windows(2).map(|ends| (place(ends[0]), place(ends[1])));
        match self.valid {
            None => found.add(index, rows.map(|(start, end)| Text::new(self.bytes, start, end)), usize::MAX)?,
            Some((bits, first)) => {
                if bits.len() < (first + rows.len()).div_ceil(8) {
                    return Err(Error::parameter("valid", "have a bit for each row", bits.len()));
                }
                let is_valid = (first..first + rows.len()).map(|bit| bits[bit / 8] >> (bit % 8) & 1 == 1);
                let texts = rows
                    .zip(is_valid)
                    .map(|((start, end), valid)| if valid { Text::new(self.bytes, start, end) } else { Text::MISSING });
                found.add(index, texts, usize::MAX)?
            }
        };
        Ok(())
    }
}

/// Up to so many bytes a text is two words, which are compared without a loop.
const SHORT: usize = 16;

/// For each length up to 16 the bits that belong to a text among the next 16 bytes.
const MASKS: [u128; SHORT + 1] = {
    let mut masks = [u128::MAX; SHORT + 1];
    let mut length = 0;
    while length < SHORT {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

/// A text as a key: equal exactly where the texts are.
#[derive(Clone, Copy, Eq, PartialOrd, Ord)]
struct Text<'a> {
    /// All of a short text, the hash of a long one.
    words: [u64; 2],
    length: usize,
    /// A long text.
    long: &'a [u8],
}

impl PartialEq for Text<'_> {
    /// Without a call for short texts: to compare no bytes at no address takes some processors hundreds of cycles.
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        let same = (self.words[0] ^ other.words[0]) | (self.words[1] ^ other.words[1]);
        same == 0 && self.length == other.length && (self.long.is_empty() || self.long == other.long)
    }
}

impl<'a> Text<'a> {
    /// No text is as long.
    const MISSING: Self = Self { words: [0; 2], length: usize::MAX, long: &[] };

    #[inline(always)]
    fn new(bytes: &'a [u8], start: usize, end: usize) -> Self {
        let length = end - start;
        if length > SHORT {
            let long = &bytes[start..end];
            return Self { words: [long.hash(), 0], length, long };
        }
        // What follows the text is read with it and masked: without a branch on the length.
        let block = bytes[start..].first_chunk().map_or_else(|| last_block(&bytes[start..]), |block| *block);
        let word = u128::from_le_bytes(block) & MASKS[length];
        Self { words: [word as u64, (word >> 64) as u64], length, long: &[] }
    }
}

/// Fewer than 16 bytes, and zeros.
#[cold]
fn last_block(bytes: &[u8]) -> [u8; SHORT] {
    let mut block = [0; SHORT];
    block[..bytes.len()].copy_from_slice(bytes);
    block
}

impl Key for Text<'_> {
    #[inline(always)]
    fn hash(self) -> u64 {
        mix(mix(self.words[0] ^ self.length as u64).rotate_left(5) ^ self.words[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of so many rows each, as short or long offsets in turn, with bits for missing rows from an odd place on.
    fn check(rows: &[Option<Vec<u8>>], part: usize) {
        let kept: Vec<_> = rows
            .chunks(part)
            .map(|rows| {
                let mut bytes = b"before".to_vec();
                let mut ends = vec![bytes.len()];
                let mut bits = vec![0_u8; (rows.len() + 3).div_ceil(8)];
                for (row, text) in rows.iter().enumerate() {
                    // What a missing row holds is not looked at.
                    bytes.extend(text.as_deref().unwrap_or(b"rubbish"));
                    ends.push(bytes.len());
                    bits[(row + 3) / 8] |= u8::from(text.is_some()) << ((row + 3) % 8);
                }
                let short: Vec<i32> = ends.iter().map(|&end| end as i32).collect();
                let long: Vec<i64> = ends.iter().map(|&end| end as i64).collect();
                (bytes, short, long, bits)
            })
            .collect();
        let any_missing = rows.iter().any(Option::is_none);
        let parts: Vec<_> = kept
            .iter()
            .enumerate()
            .map(|(i, (bytes, short, long, bits))| Texts {
                offsets: if i % 2 == 0 { Offsets::Short(short) } else { Offsets::Long(long) },
                bytes,
                valid: any_missing.then_some((bits.as_slice(), 3)),
            })
            .collect();
        let found = distinct_texts(&parts).unwrap();
        let mut seen: Vec<&Option<Vec<u8>>> = Vec::new();
        let mut first_rows = Vec::new();
        for (row, text) in rows.iter().enumerate() {
            let number = seen.iter().position(|&other| other == text).unwrap_or_else(|| {
                seen.push(text);
                first_rows.push(row);
                seen.len() - 1
            });
            assert_eq!(found.numbers[row] as usize, number, "row {row}");
        }
        assert_eq!((found.first_rows, found.numbers.len()), (first_rows, rows.len()));
    }

    #[test]
    fn texts_of_all_lengths_are_told_apart_as_by_comparing() {
        let text = |row: u64| {
            let length = mix(row) % 40;
            // Bytes 0 and 255 among them, and texts that differ in their last byte or in their length alone.
            (0..length)
                .map(move |i| if i + 1 == length { (mix(row) >> 32) as u8 % 3 } else { (length % 2) as u8 * 255 })
        };
        for missing in [u64::MAX, 5] {
            let rows: Vec<_> =
                (0..1500).map(|row| (mix(row) % missing != 1).then(|| text(row % 700).collect())).collect();
            for part in [1, 7, 400, 1500] {
                check(&rows, part);
            }
        }
    }

    #[test]
    fn no_rows_have_no_texts() {
        check(&[], 1);
        let empty = Texts { offsets: Offsets::Short(&[]), bytes: &[], valid: None };
        assert!(distinct_texts(&[empty]).unwrap().first_rows.is_empty());
    }

    #[test]
    fn buffers_that_do_not_fit_are_refused() {
        type Given<'a> = (&'a [i32], Option<(&'a [u8], usize)>);
        let wrong: [Given; 6] = [
            (&[0, 3, 2], None),
            (&[-1, 3], None),
            (&[-2, -1], None),
            (&[0, 5], None),
            (&[0, 1, 2], Some((&[255], 7))),
            (&[0, 1], Some((&[], 0))),
        ];
        for (offsets, valid) in wrong {
            let texts = Texts { offsets: Offsets::Short(offsets), bytes: b"four", valid };
            assert!(matches!(distinct_texts(&[texts]), Err(Error::InvalidParameter { .. })), "{offsets:?}");
        }
    }
}
