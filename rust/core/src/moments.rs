//! Numbers between public bounds: their counts, sums and sums of squares by class, as integers, and how far one person
//! moves them.
//!
//! A value is clamped to its bounds and placed on a grid of 2 h + 1 points, t = -h, ..., h, where h is a power of two. A
//! row of class c with places t_1, ..., t_d adds to what is counted of class c, and to nothing else, the integers
//!
//! - w, the weight of the count (zero where counts are public and not released),
//! - t_j for every column: the sums; or
//! - h t_j and 2 t_j^2 - h^2 for every column: sums and sums of squares, in units of h^2. In the units of the bounds,
//!   u = t/h, these are u and 2 u^2 - 1, the Chebyshev polynomials: both fill [-1, 1], and what one row adds has a
//!   smaller norm than u and u^2 of the same accuracy have.
//!
//! Everything from the integers on is exact; how a value finds its place is rounded, and does not matter for privacy.
//!
//! **Proof of the bounds.** Let v be what a row adds, as a vector over classes and sums, U = h or h^2 the unit, d the
//! number of columns. In units of U, a column adds at most 1 to the square of the length and to l1 (one moment), or at
//! most 2 (two moments, as |u| <= 1 and |2 u^2 - 1| <= 1), attained at u = 1. So |v|^2 <= w^2 + s d U^2, |v|_1 <= w + s d U
//! with s = 1 or 2. Rows of different classes have no coordinate in common: their squares and l1 norms add up. Two rows
//! of one class have the same count; a column with places u and u' then differs by |u - u'| <= 2 (one moment), or, with
//! p = |u - u'|, q = |u + u'|, p + q <= 2, by a vector with coordinates p and 2 p q:
//!
//! - its square is p^2 (1 + 4 q^2) <= (2 - q)^2 (1 + 4 q^2) on 0 <= q <= 2, whose derivative 2 (2 - q)(8 q - 8 q^2 - 1)
//!   vanishes at q = (2 -+ sqrt 2)/4 and at 2; the larger of the two is a maximum, with the value 71/16 + sqrt(2)/2 =
//!   5.14460678...; at q = 0 it is 4;
//! - its l1 norm is p (1 + 2 q) <= (2 - q)(1 + 2 q) <= 25/8, at q = 3/4.
//!
//! A person with at most m rows adds a sum of at most m such vectors: a point of m times the convex hull of zero and all
//! v. Norms are convex, so over pairs of such points they are largest at extreme ones, each zero or m v. Hence m times the
//! bound of one row, where neighbours of one row each are compared, or of one row against none.

use crate::guarantee::Adjacency;
use crate::rounding::sqrt_up;
use crate::sensitivity::MOST;
use crate::{Error, Result, interrupt, memory};

/// The largest half width of the grid, by the number of moments: with 2^40 rows a sum stays below 2^62.
const MOST_HALF: [i64; 2] = [1 << 22, 1 << 11];
/// More rows than this may not fit their sums.
const MOST_ROWS: usize = 1 << 40;
/// Sums that are exact as doubles.
const MOST_SUM: u128 = 1 << 53;
/// An upper bound of 71/16 + sqrt(2)/2, in millionths.
const APART_SQUARED: u128 = 5_144_607;
const MILLION: u128 = 1_000_000;

/// Which sums are taken of the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Sums alone.
    First,
    /// Sums and sums of squares.
    Second,
}

/// What is counted of every class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    order: Order,
    half: i64,
    columns: u64,
    classes: u64,
    count_weight: u64,
}

/// The largest differences between the sums of neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MomentChange {
    /// The sum of all differences.
    pub l1: u128,
    /// The sum of their squares.
    pub l2_squared: u128,
    /// How many sums differ.
    pub cells: u64,
}

impl Moments {
    /// The moments of so many columns in so many classes, on a grid of this half width.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] where a number is out of range, or the half width no power of two.
    pub fn new(order: Order, half: i64, columns: u64, classes: u64, count_weight: u64) -> Result<Self> {
        let most = MOST_HALF[usize::from(order == Order::Second)];
        if !(1..=most).contains(&half) || half & (half - 1) != 0 {
            return Err(Error::parameter("half", "be a power of two up to 2^22, or 2^11 with squares", half));
        }
        for (name, value) in [("columns", columns), ("classes", classes)] {
            if !(1..=MOST).contains(&value) {
                return Err(Error::parameter(name, "lie between 1 and 2^20", value));
            }
        }
        if count_weight > 1 << 40 {
            return Err(Error::parameter("count_weight", "be at most 2^40", count_weight));
        }
        Ok(Self { order, half, columns, classes, count_weight })
    }

    /// What stands for 1 in the units of the bounds.
    #[must_use]
    pub fn unit(&self) -> u64 {
        match self.order {
            Order::First => self.half.unsigned_abs(),
            Order::Second => self.half.unsigned_abs().pow(2),
        }
    }

    /// Sums of a column.
    fn powers(&self) -> u64 {
        match self.order {
            Order::First => 1,
            Order::Second => 2,
        }
    }

    /// Sums of a class.
    #[must_use]
    pub fn width(&self) -> u64 {
        1 + self.powers() * self.columns
    }

    /// How far a person with at most `max_rows` rows moves the sums; `left_out` says whether rows may be in no class.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless the rows are between 1 and 2^20.
    pub fn moves(&self, adjacency: Adjacency, max_rows: u64, left_out: bool) -> Result<MomentChange> {
        if !(1..=MOST).contains(&max_rows) {
            return Err(Error::parameter("max_rows", "lie between 1 and 2^20", max_rows));
        }
        let (rows, columns, unit) = (u128::from(max_rows), u128::from(self.columns), u128::from(self.unit()));
        let (weight, powers) = (u128::from(self.count_weight), u128::from(self.powers()));
        let alone = (weight + powers * columns * unit, weight * weight + powers * columns * unit * unit);
        let same_class = match self.order {
            Order::First => (2 * columns * unit, 4 * columns * unit * unit),
            Order::Second => {
                let squared = APART_SQUARED * columns * unit * unit;
                ((25 * columns * unit).div_ceil(8), squared.div_ceil(MILLION))
            }
        };
        let counted = u64::from(self.count_weight > 0);
        let of_row = counted + self.powers() * self.columns;
        let (l1, l2_squared, of_rows) = match adjacency {
            Adjacency::AddRemove => (alone.0, alone.1, of_row),
            // Rows of two classes, or of one; a person of fewer rows also moves what rows that are gone added, and so does
            // one whose row is in no class.
            Adjacency::Replace if self.classes > 1 => {
                ((2 * alone.0).max(same_class.0), (2 * alone.1).max(same_class.1), 2 * of_row)
            }
            Adjacency::Replace if max_rows == 1 && !left_out => (same_class.0, same_class.1, of_row - counted),
            Adjacency::Replace => (alone.0.max(same_class.0), alone.1.max(same_class.1), of_row),
        };
        let cells = (of_rows * max_rows).min(self.classes * of_row);
        Ok(MomentChange { l1: l1 * rows, l2_squared: l2_squared * rows * rows, cells })
    }

    /// The sums of all classes: for each the number of its rows times the weight, then the sums of every column, then,
    /// where they are asked for, those of its squares.
    ///
    /// # Errors
    /// [`Error::InvalidData`] where a value is NaN, a class has no place or the columns differ in length;
    /// [`Error::InvalidParameter`] where bounds are no bounds; [`Error::NotAffordable`] where sums could exceed 2^53.
    pub fn sums(&self, classes: &[i64], columns: &[&[f64]], bounds: &[(f64, f64)]) -> Result<Vec<i64>> {
        if columns.len() as u64 != self.columns || bounds.len() != columns.len() {
            return Err(Error::parameter(
                "columns",
                "be as many as the moments are of, each with bounds",
                columns.len(),
            ));
        }
        self.fits(classes.len())?;
        let n_classes = self.classes as usize;
        if classes.iter().any(|&class| class < 0 || class as u64 >= self.classes) {
            return Err(Error::data("classes", "be codes of the stated classes"));
        }
        let width = self.width() as usize;
        let mut sums = memory::zeros::<i64>("the sums of the classes", n_classes * width)?;
        for &class in classes {
            sums[class as usize * width] += self.count_weight as i64;
        }
        for (position, (column, &(lower, upper))) in columns.iter().zip(bounds).enumerate() {
            if column.len() != classes.len() {
                return Err(Error::data("columns", "have as many rows as there are classes of rows"));
            }
            let scale = self.scale(lower, upper)?;
            for (chunk, values) in column.chunks(1 << 14).enumerate() {
                interrupt::check()?;
                for (&value, &class) in values.iter().zip(&classes[chunk << 14..]) {
                    let place = self.place(value, lower, scale)?;
                    let row = &mut sums[class as usize * width..][..width];
                    match self.order {
                        Order::First => row[1 + position] += place,
                        Order::Second => {
                            row[1 + position] += self.half * place;
                            row[1 + columns.len() + position] += 2 * place * place - self.half * self.half;
                        }
                    }
                }
            }
        }
        Ok(sums)
    }

    /// Refuses more rows than whose sums are exact, in integers and as doubles.
    fn fits(&self, rows: usize) -> Result<()> {
        let largest = u128::from(self.unit().max(self.count_weight));
        let limit = (MOST_SUM / largest).min(MOST_ROWS as u128);
        if rows as u128 > limit {
            return Err(Error::NotAffordable {
                asked: "sums of so many rows on this grid".to_owned(),
                limit: format!("{limit} rows"),
                instead: "take a coarser grid",
            });
        }
        Ok(())
    }

    /// Steps of the grid to a unit of the values.
    fn scale(&self, lower: f64, upper: f64) -> Result<f64> {
        let width = upper - lower;
        let scale = 2.0 * self.half as f64 / width;
        if !(width > 0.0 && width.is_finite() && scale.is_finite() && scale > 0.0) {
            let given = format!("({lower:?}, {upper:?})");
            return Err(Error::parameter("bounds", "be pairs (lower, upper), finite, with lower < upper", given));
        }
        Ok(scale)
    }

    /// The place of a value, between -half and half whatever the value is.
    fn place(&self, value: f64, lower: f64, scale: f64) -> Result<i64> {
        if value.is_nan() {
            return Err(Error::data("columns", "have no missing value"));
        }
        let steps = ((value - lower) * scale).clamp(0.0, 2.0 * self.half as f64);
        // A conversion saturates, and NaN, which cannot be here, would become zero.
        Ok((steps.round() as i64 - self.half).clamp(-self.half, self.half))
    }
}

impl MomentChange {
    /// The Euclidean distance, rounded up.
    #[must_use]
    pub fn l2(&self) -> f64 {
        sqrt_up(wide_up(self.l2_squared))
    }

    /// The sum of all differences, rounded up.
    #[must_use]
    pub fn l1_up(&self) -> f64 {
        wide_up(self.l1)
    }
}

/// An integer as a double, rounded up. Doubles above 2^53 are integers, so the comparison is exact.
fn wide_up(value: u128) -> f64 {
    let nearest = value as f64;
    if (nearest as u128) < value { nearest.next_up() } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(order: Order, half: i64, columns: u64, classes: u64, weight: u64) -> Moments {
        Moments::new(order, half, columns, classes, weight).unwrap()
    }

    /// Every row that there is, as what it adds to the sums: found by counting that row alone.
    fn rows(moments: &Moments) -> Vec<Vec<i64>> {
        let (half, columns) = (moments.half, moments.columns as usize);
        let places = 2 * half + 1;
        let bounds = vec![(-half as f64, half as f64); columns];
        let mut found = vec![];
        for class in 0..moments.classes as i64 {
            for code in 0..places.pow(columns as u32) {
                let values: Vec<f64> =
                    (0..columns).map(|j| (code / places.pow(j as u32) % places - half) as f64).collect();
                let slices: Vec<&[f64]> = values.chunks(1).collect();
                found.push(moments.sums(&[class], &slices, &bounds).unwrap());
            }
        }
        found
    }

    /// All sums of at most `most` of the rows.
    fn people(rows: &[Vec<i64>], most: u64, exactly: bool) -> Vec<Vec<i64>> {
        let none = vec![vec![0; rows[0].len()]];
        let (mut last, mut all) = (none.clone(), none);
        for _ in 0..most {
            let add = |a: &Vec<i64>, b: &Vec<i64>| a.iter().zip(b).map(|(x, y)| x + y).collect::<Vec<_>>();
            last = last.iter().flat_map(|person| rows.iter().map(move |row| add(person, row))).collect();
            all.extend(last.clone());
        }
        if exactly { last } else { all }
    }

    fn enumerated(moments: &Moments, adjacency: Adjacency, max_rows: u64, left_out: bool) -> MomentChange {
        let rows = rows(moments);
        // With one row each, a replaced person has one row before and after, unless that may be in no class.
        let exactly = adjacency == Adjacency::Replace && max_rows == 1 && !left_out;
        let own = people(&rows, max_rows, exactly);
        let none = vec![vec![0; rows[0].len()]];
        let others = if adjacency == Adjacency::Replace { &own } else { &none };
        let mut most = MomentChange { l1: 0, l2_squared: 0, cells: 0 };
        for a in &own {
            for b in others {
                let gaps: Vec<u128> = a.iter().zip(b).map(|(x, y)| u128::from(x.abs_diff(*y))).collect();
                most.l1 = most.l1.max(gaps.iter().sum());
                most.l2_squared = most.l2_squared.max(gaps.iter().map(|g| g * g).sum());
                most.cells = most.cells.max(gaps.iter().filter(|g| **g > 0).count() as u64);
            }
        }
        most
    }

    #[test]
    fn no_neighbours_are_further_apart_than_the_bounds_say_and_some_nearly_are() {
        for adjacency in [Adjacency::Replace, Adjacency::AddRemove] {
            for order in [Order::First, Order::Second] {
                for (half, columns, classes, max_rows) in [
                    (64, 1, 1, 1),
                    (64, 1, 2, 1),
                    (2, 2, 2, 1),
                    (8, 2, 1, 1),
                    (2, 3, 2, 1),
                    (4, 1, 2, 2),
                    (4, 1, 1, 2),
                    (1, 1, 2, 3),
                ] {
                    for (weight, left_out) in [0, 1, 5, 300].into_iter().flat_map(|each| [(each, false), (each, true)])
                    {
                        let moments = of(order, half, columns, classes, weight);
                        let told = moments.moves(adjacency, max_rows, left_out).unwrap();
                        let seen = enumerated(&moments, adjacency, max_rows, left_out);
                        assert!(seen.l1 <= told.l1 && seen.l2_squared <= told.l2_squared, "{moments:?} {adjacency:?}");
                        assert!(seen.cells <= told.cells, "{moments:?} {adjacency:?} {seen:?} {told:?}");
                        // The extreme places of two moments of one class lie between the points of a coarse grid.
                        let attained = half >= 64 || order == Order::First;
                        let slack = if attained { 1.001 } else { 1.3 };
                        assert!(told.l2_squared as f64 <= slack * seen.l2_squared as f64 + 1.0, "{moments:?} {seen:?}");
                        assert!(told.l1 as f64 <= slack * seen.l1 as f64 + 1.0, "{moments:?} {seen:?} {told:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn distances_are_rounded_up() {
        for (order, half, weight) in [(Order::Second, 1 << 11, 9_000_001), (Order::First, 1 << 22, 77)] {
            let change = of(order, half, 6, 2, weight).moves(Adjacency::Replace, 3, false).unwrap();
            let root = change.l2();
            // Both are doubles of 53 bits: the square of the root, by halves, in integers.
            let scaled = (root * 4.0).ceil() as u128;
            assert!(scaled * scaled >= 16 * change.l2_squared);
            assert!(root.next_down().mul_add(root.next_down(), 0.0) <= change.l2_squared as f64);
            assert!(change.l1_up() as u128 >= change.l1);
        }
    }

    #[test]
    fn whatever_the_value_its_place_is_on_the_grid() {
        let moments = of(Order::First, 1 << 22, 1, 1, 1);
        let values = [f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, -0.0, 1e-310, 5.0, 7.0];
        for bounds in [(0.0, 1.0), (-1e300, 1e300), (5.0, 5.0_f64.next_up()), (-1e-300, 1e-300)] {
            for value in values {
                let sums = moments.sums(&[0], &[&[value]], &[bounds]).unwrap();
                assert!(sums[1].abs() <= 1 << 22, "{value} in {bounds:?}: {sums:?}");
            }
        }
        let middle = moments.sums(&[0, 0], &[&[1.0, 9.0]], &[(0.0, 4.0)]).unwrap();
        assert_eq!(middle, [2, (1 << 22) - (1 << 21)]);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Moments::new(Order::First, 3, 1, 1, 1).is_err());
        assert!(Moments::new(Order::Second, 1 << 12, 1, 1, 1).is_err());
        assert!(Moments::new(Order::First, 1, 0, 1, 1).is_err());
        assert!(Moments::new(Order::First, 1, 1, 0, 1).is_err());
        let moments = of(Order::First, 4, 1, 2, 1);
        assert!(moments.moves(Adjacency::Replace, 0, false).is_err());
        for bounds in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (-f64::MAX, f64::MAX), (0.0, f64::INFINITY)] {
            assert!(moments.sums(&[0], &[&[0.0]], &[bounds]).is_err(), "{bounds:?}");
        }
        assert!(moments.sums(&[0], &[&[f64::NAN]], &[(0.0, 1.0)]).is_err());
        assert!(moments.sums(&[2], &[&[0.0]], &[(0.0, 1.0)]).is_err());
        assert!(moments.sums(&[0, 1], &[&[0.0]], &[(0.0, 1.0)]).is_err());
    }
}
