//! How far one person moves the counts of a table, in every norm that a mechanism asks for.
//!
//! A person has at most m rows of data, and every row is counted in at most one cell of the table. Let h be the counts
//! of that person's rows: whole, non-negative, of sum at most m. Neighbours differ by h under
//! [`AddRemove`](Adjacency::AddRemove), where the person comes or goes, and by h' - h under
//! [`Replace`](Adjacency::Replace), where other rows of the same or another person take their place.
//!
//! **Proof of the bounds.** Norms are convex, so over the pairs (h, h') their maximum lies at extreme points, where each
//! of the two is 0 or m times a unit vector. Hence under add_remove all of m goes to one cell: l1 = m, the square of l2
//! is m^2, linf = m. Under replace, h = m e_i and h' = m e_j with i != j: l1 = 2m, the square of l2 is 2 m^2, linf = m.
//! The number of cells that differ is not convex: each row changes one cell, so it is m, or 2m under replace, and never
//! more than there are cells. These are attained, also where the total is kept. With a single cell under replace, h and
//! h' are numbers from 0 to m: every norm is that of add_remove, and nothing changes where the total is kept. For T
//! tables of the same records, l1, the square of l2 and the cells add up over the tables.

use crate::guarantee::Adjacency;
use crate::rounding::{count_up, sqrt_up};
use crate::{Error, Result};

/// The most rows of one person, and the most tables: twice the square of the one times the other fits a u64.
pub const MOST: u64 = 1 << 20;

/// Who moves the counts, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Person {
    /// Which data sets are neighbours.
    pub adjacency: Adjacency,
    /// How many rows of data a person has, at most.
    pub max_rows: u64,
}

/// The largest differences between the counts of neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountChange {
    /// The sum of all differences.
    pub l1: u64,
    /// The sum of their squares.
    pub l2_squared: u64,
    /// The largest of them.
    pub linf: u64,
    /// How many counts differ.
    pub cells: u64,
}

impl Person {
    /// How far this person moves the counts of `tables` tables of the same records, each of this many cells in all its
    /// rows, or of any number.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless all numbers are in range.
    pub fn moves(self, cells: Option<u64>, tables: u64) -> Result<CountChange> {
        in_range("max_rows", self.max_rows)?;
        in_range("tables", tables)?;
        if cells == Some(0) {
            return Err(Error::parameter("cells", "be at least 1", 0));
        }
        let rows = self.max_rows;
        let ends = if self.adjacency == Adjacency::Replace && cells != Some(1) { 2 } else { 1 };
        Ok(CountChange {
            l1: ends * rows * tables,
            l2_squared: ends * rows * rows * tables,
            linf: rows,
            cells: cells.map_or(ends * rows, |cells| cells.min(ends * rows)) * tables,
        })
    }
}

impl CountChange {
    /// The Euclidean distance, rounded up.
    #[must_use]
    pub fn l2(&self) -> f64 {
        sqrt_up(count_up(self.l2_squared))
    }
}

/// The most rows of a person whose weights are whole numbers of units: beyond, there were more than [`MOST`] units.
pub const MOST_WEIGHTED_ROWS: u64 = 16;

/// In how many units a person's total of one is counted where each of n <= `max_rows` rows has the weight 1/n: their least
/// common multiple, of which every weight is a whole part.
///
/// Counts in units are whole, without any rounding, and a person has exactly so many units, whatever the number of rows: as
/// a person with so many rows does. So [`Person::moves`] at that number is the sensitivity, which all units in one cell
/// attain, and replacing a person keeps the total.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `max_rows` is from 1 to 16.
pub fn weight_units(max_rows: u64) -> Result<u64> {
    if !(1..=MOST_WEIGHTED_ROWS).contains(&max_rows) {
        return Err(Error::parameter("max_rows", "lie between 1 and 16 where rows are weighted", max_rows));
    }
    let divisor = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    Ok((1..=max_rows).fold(1, |units, rows| units / divisor(units, rows) * rows))
}

/// Every way to split so many rows into parts, each in falling order.
pub fn partitions(rows: u64) -> Vec<Vec<u64>> {
    fn below(rows: u64, most: u64) -> Vec<Vec<u64>> {
        if rows == 0 {
            return vec![vec![]];
        }
        let with = |first| below(rows - first, first).into_iter().map(move |rest| [vec![first], rest].concat());
        (1..=most.min(rows)).flat_map(with).collect()
    }
    below(rows, rows)
}

fn in_range(name: &'static str, value: u64) -> Result<()> {
    if (1..=MOST).contains(&value) { Ok(()) } else { Err(Error::parameter(name, "lie between 1 and 2^20", value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All counts of at most `rows` rows in `cells` cells.
    fn contributions(rows: i64, cells: usize) -> Vec<Vec<i64>> {
        if cells == 0 {
            return vec![vec![]];
        }
        let with = |first: i64| {
            contributions(rows - first, cells - 1).into_iter().map(move |rest| [vec![first], rest].concat())
        };
        (0..=rows).flat_map(with).collect()
    }

    /// The maxima by enumeration of every contribution and of every pair of them.
    fn enumerated(person: Person, cells: usize, total_kept: bool) -> CountChange {
        let own = contributions(person.max_rows as i64, cells);
        let none = vec![vec![0; cells]];
        let others = if person.adjacency == Adjacency::Replace { &own } else { &none };
        let mut most = CountChange { l1: 0, l2_squared: 0, linf: 0, cells: 0 };
        for h in &own {
            for other in others {
                if total_kept && h.iter().sum::<i64>() != other.iter().sum() {
                    continue;
                }
                let gaps: Vec<u64> = h.iter().zip(other).map(|(a, b)| a.abs_diff(*b)).collect();
                most.l1 = most.l1.max(gaps.iter().sum());
                most.l2_squared = most.l2_squared.max(gaps.iter().map(|g| g * g).sum());
                most.linf = most.linf.max(gaps.iter().copied().max().unwrap());
                most.cells = most.cells.max(gaps.iter().filter(|g| **g > 0).count() as u64);
            }
        }
        most
    }

    #[test]
    fn the_bounds_are_the_maxima_of_an_enumeration() {
        for adjacency in [Adjacency::Replace, Adjacency::AddRemove] {
            for (max_rows, most_cells) in [(1, 5), (2, 5), (3, 4), (4, 3), (6, 2)] {
                for cells in 1..=most_cells {
                    let person = Person { adjacency, max_rows };
                    let stated = person.moves(Some(cells as u64), 1).unwrap();
                    assert_eq!(stated, enumerated(person, cells, false), "{person:?}, {cells} cells");
                    if cells >= 2 * max_rows as usize && adjacency == Adjacency::Replace {
                        assert_eq!(stated, enumerated(person, cells, true), "{person:?}, {cells} cells, total kept");
                        assert_eq!(stated, person.moves(None, 1).unwrap());
                    }
                }
            }
        }
    }

    #[test]
    fn tables_add_up_and_roots_round_up() {
        let person = Person { adjacency: Adjacency::Replace, max_rows: 3 };
        let one = person.moves(None, 1).unwrap();
        let five = person.moves(None, 5).unwrap();
        assert_eq!((five.l1, five.l2_squared, five.linf, five.cells), (30, 90, 3, 30));
        assert_eq!(one.l2_squared, 18);
        for tables in 1..200 {
            let change = person.moves(Some(7), tables).unwrap();
            let (root, square) = (change.l2(), change.l2_squared as f64);
            // Neither root nor square comes near 2^53: the fused product tells the sign of root^2 - square exactly.
            assert!(root.mul_add(root, -square) >= 0.0);
            assert!(root.next_down().mul_add(root.next_down(), -square) < 0.0);
        }
    }

    #[test]
    fn partitions_are_as_many_as_there_are() {
        // OEIS A000041.
        let found: Vec<usize> = (0..10).map(|rows| partitions(rows).len()).collect();
        assert_eq!(found, [1, 1, 2, 3, 5, 7, 11, 15, 22, 30]);
        assert!(partitions(6).iter().all(|parts| parts.iter().sum::<u64>() == 6));
    }

    #[test]
    fn a_person_of_weighted_rows_is_one_with_as_many_rows_as_there_are_units() {
        // OEIS A003418.
        let found: Vec<u64> = (1..=16).map(|rows| weight_units(rows).unwrap()).collect();
        let known = [1, 2, 6, 12, 60, 60, 420, 840, 2520, 2520, 27720, 27720, 360_360, 360_360, 360_360, 720_720];
        assert_eq!(found, known);
        assert!(found.iter().all(|&units| units <= MOST));
        assert!(weight_units(0).is_err() && weight_units(17).is_err());
        for adjacency in [Adjacency::Replace, Adjacency::AddRemove] {
            for max_rows in 1..=3 {
                let units = weight_units(max_rows).unwrap() as i64;
                // All that a person's weighted rows can be, in units.
                let own: Vec<Vec<i64>> = (1..=max_rows as i64)
                    .flat_map(|rows| contributions(rows, 3).into_iter().filter(move |h| h.iter().sum::<i64>() == rows))
                    .map(|h| h.iter().map(|n| n * units / h.iter().sum::<i64>()).collect())
                    .collect();
                let none = vec![vec![0; 3]];
                let others = if adjacency == Adjacency::Replace { &own } else { &none };
                let pairs = || own.iter().flat_map(|h| others.iter().map(move |other| (h, other)));
                let gaps = |(h, other): (&Vec<i64>, &Vec<i64>)| -> Vec<u64> {
                    h.iter().zip(other).map(|(a, b)| a.abs_diff(*b)).collect()
                };
                let stated = Person { adjacency, max_rows: units as u64 }.moves(None, 1).unwrap();
                assert_eq!(pairs().map(|pair| gaps(pair).iter().sum::<u64>()).max(), Some(stated.l1));
                let squares = pairs().map(|pair| gaps(pair).iter().map(|gap| gap * gap).sum::<u64>());
                assert_eq!(squares.max(), Some(stated.l2_squared));
            }
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let person = |max_rows| Person { adjacency: Adjacency::Replace, max_rows };
        assert!(person(0).moves(None, 1).is_err());
        assert!(person(MOST + 1).moves(None, 1).is_err());
        assert!(person(1).moves(None, 0).is_err());
        assert!(person(1).moves(Some(0), 1).is_err());
        assert!(person(MOST).moves(None, MOST).is_ok());
    }
}
