//! The data of one sampler: the coordinate that closes the sum, and the others grouped by equal prior and count.

use super::law::Coordinate;
use crate::tables::Map;
use crate::{Error, Result};

/// Totals stay exact in doubles, and the last node of an envelope is beyond every scale of theirs.
const MAX_TOTAL: u64 = 1 << 43;
const MIN_PRIOR: f64 = 1e-100;
const MAX_PRIOR: f64 = 1e12;
const MAX_EXPONENT: f64 = 1e12;

/// Counts, prior and exponent, checked and grouped.
pub(super) struct Problem {
    pub(super) n: u64,
    pub(super) m: usize,
    pub(super) exponent: f64,
    /// The coordinate of the largest alpha + x; it takes what the others leave.
    pub(super) star: Coordinate,
    pub(super) star_index: usize,
    /// The distinct other coordinates and how often each occurs.
    pub(super) groups: Vec<(Coordinate, f64)>,
    /// The group of every category; the star's entry is not used.
    pub(super) group_of: Vec<u32>,
}

impl Problem {
    pub(super) fn new(counts: &[u64], prior: &[f64], exponent: f64) -> Result<Self> {
        let m = counts.len();
        if m < 2 || m > u32::MAX as usize {
            return Err(Error::parameter("counts", "have at least two categories", m));
        }
        if prior.len() != m {
            return Err(Error::parameter("prior", "have one value for each category", prior.len()));
        }
        if let Some(value) = prior.iter().find(|&&value| !(MIN_PRIOR..=MAX_PRIOR).contains(&value)) {
            return Err(Error::parameter("prior", "lie between 1e-100 and 1e12", value));
        }
        // The exponent depends on the counts, so its value is withheld.
        if !(0.0..=MAX_EXPONENT).contains(&exponent) {
            return Err(Error::data("exponent", "lie between 0 and 1e12"));
        }
        let total = counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count));
        let Some(n) = total.filter(|&n| n <= MAX_TOTAL) else {
            return Err(Error::data("counts", "add up to at most 2^43"));
        };
        let coordinates: Vec<_> = counts.iter().zip(prior).map(|(&x, &prior)| Coordinate { prior, x, n }).collect();
        let star_index = (0..m).fold(0, |best, i| if coordinates[i].a() > coordinates[best].a() { i } else { best });
        let mut seen = Map::default();
        let mut groups: Vec<(Coordinate, f64)> = Vec::new();
        let mut group_of = Vec::with_capacity(m);
        for (i, &coordinate) in coordinates.iter().enumerate() {
            if i == star_index {
                group_of.push(u32::MAX);
                continue;
            }
            let group = *seen.entry((coordinate.prior.to_bits(), coordinate.x)).or_insert_with(|| {
                groups.push((coordinate, 0.0));
                groups.len() - 1
            });
            groups[group].1 += 1.0;
            group_of.push(group as u32);
        }
        Ok(Self { n, m, exponent, star: coordinates[star_index], star_index, groups, group_of })
    }
}
