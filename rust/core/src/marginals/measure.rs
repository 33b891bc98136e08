//! The only place where counts meet noise.

use super::noise::{Shape, TableNoise};
use super::{Layout, Plan};
use crate::random::{Bits, Stream, StreamKey};
use crate::sampling::{DiscreteNoise, Rational};
use crate::{Result, interrupt};

/// What was released: post-processing may do with it what it likes.
///
/// What all cells of a row or of a column share is drowned in noise; sigma is that of what is left.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// The number of records: with noise, or as it is where it is public.
    pub total: f64,
    /// The parameter of its noise; 0 where it is public.
    pub total_sigma: f64,
    /// All cells with noise, in the order of the layout.
    pub cells: Vec<f64>,
    /// The parameter of the noise of each table's cells, one-way tables first; of these alone where pairs were not
    /// measured, because the number of records, as released, says that they would be noise.
    pub sigmas: Vec<f64>,
}

/// Counts beyond are clamped: a count times the units and its noise stays below 2^62.
const MOST_COUNT: i64 = 1 << 40;

impl Plan {
    /// Adds noise to the number of records and to the cells of all tables.
    ///
    /// # Errors
    /// [`crate::Error::InvalidParameter`] when the counts do not fit the layout, [`crate::Error::Entropy`],
    /// [`crate::Error::Interrupted`].
    pub fn measure(&self, counts: &[i64], key: &StreamKey) -> Result<Measurement> {
        let layout = self.layout();
        layout.check_cells("counts", counts.len())?;
        let mut noise = Noise::default();
        // Every column's table holds every record.
        let n_records: i64 = counts[layout.levels(0)].iter().sum();
        // Streams 0 and 1 are those of the total.
        let look = |number: u64, of_total: TableNoise, noise: &mut Noise| -> Result<(f64, f64)> {
            let mut cells = [0.0];
            noise.release(Shape::Single, of_total, &[n_records], &mut cells, &mut key.stream(number))?;
            Ok((cells[0], of_total.sigma()))
        };
        let first = self.total_noise().map(|of_total| look(0, of_total, &mut noise)).transpose()?;
        let (noises, again) = self.later_noises(first.map_or(n_records as f64, |(total, _)| total))?;
        let second = again.map(|of_total| look(1, of_total, &mut noise)).transpose()?;
        let (total, total_sigma) = match (first, second) {
            (Some(first), Some(second)) => together(first, second),
            (first, _) => first.unwrap_or((n_records as f64, 0.0)),
        };
        let mut cells = vec![0.0; layout.table(noises.len() - 1).end];
        for (number, (shape, &of_table)) in self.shapes().zip(&noises).enumerate() {
            interrupt::check()?;
            let range = layout.table(number);
            let mut bits = key.stream(number as u64 + 2);
            noise.release(shape, of_table, &counts[range.clone()], &mut cells[range], &mut bits)?;
        }
        Ok(Measurement { total, total_sigma, cells, sigmas: noises.into_iter().map(TableNoise::sigma).collect() })
    }
}

/// Two looks at one number as one, each with its sigma.
fn together(first: (f64, f64), second: (f64, f64)) -> (f64, f64) {
    let weight = |sigma: f64| 1.0 / (sigma * sigma);
    let sum = weight(first.1) + weight(second.1);
    ((weight(first.1) * first.0 + weight(second.1) * second.0) / sum, (1.0 / sum).sqrt())
}

/// What noise is drawn from, by its parameter: tables of one size share it.
#[derive(Default)]
struct Noise(Vec<(f64, DiscreteNoise)>);

impl Noise {
    fn of(&mut self, parameter: f64) -> Result<&DiscreteNoise> {
        let position = match self.0.iter().position(|(known, _)| *known == parameter) {
            Some(position) => position,
            None => {
                self.0.push((parameter, DiscreteNoise::gaussian(&Rational::from_f64("sigma", parameter)?)?));
                self.0.len() - 1
            }
        };
        Ok(&self.0[position].1)
    }

    /// Puts counts with the noise of a table into `cells`.
    fn release(
        &mut self,
        shape: Shape,
        noise: TableNoise,
        counts: &[i64],
        cells: &mut [f64],
        bits: &mut Stream,
    ) -> Result<()> {
        let (n_rows, n_columns) = match shape {
            Shape::Single => (0, 0),
            Shape::OneWay(_) => (1, 0),
            Shape::TwoWay(a, b) => (a, b),
        };
        let shared = self.of(noise.shared_units())?;
        let rows = draws(shared, n_rows, bits)?;
        let columns = draws(shared, n_columns, bits)?;
        let length = counts.len() / n_rows.max(1);
        let own = self.of(noise.cell_units)?;
        for (at, (cell, count)) in cells.iter_mut().zip(counts).enumerate() {
            bits.refresh()?;
            let mut units = count.clamp(&0, &MOST_COUNT) * noise.units + own.sample(bits);
            units += rows.get(at / length).unwrap_or(&0) + columns.get(at % length).unwrap_or(&0);
            // Whole numbers of units over a power of two.
            *cell = units as f64 / noise.units as f64;
        }
        Ok(())
    }
}

fn draws(noise: &DiscreteNoise, n: usize, bits: &mut Stream) -> Result<Vec<i64>> {
    (0..n)
        .map(|_| {
            bits.refresh()?;
            Ok(noise.sample(bits))
        })
        .collect()
}

/// Subtracts what all cells of a row share, and what all cells of a column share; in place.
pub(super) fn centre(cells: &mut [f64], n_columns: usize) {
    let n_rows = cells.len() / n_columns;
    for row in cells.chunks_exact_mut(n_columns) {
        let mean = row.iter().sum::<f64>() / n_columns as f64;
        row.iter_mut().for_each(|cell| *cell -= mean);
    }
    for column in 0..n_columns {
        let mean = cells[column..].iter().step_by(n_columns).sum::<f64>() / n_rows as f64;
        cells[column..].iter_mut().step_by(n_columns).for_each(|cell| *cell -= mean);
    }
}

impl Measurement {
    /// The one-way counts of a column: its table, brought to the sum of all records.
    pub(super) fn one_way(&self, layout: &Layout, column: usize, n_records: f64) -> Vec<f64> {
        let mut cells = self.cells[layout.levels(column)].to_vec();
        let shift = (n_records - cells.iter().sum::<f64>()) / cells.len() as f64;
        cells.iter_mut().for_each(|cell| *cell += shift);
        cells
    }

    /// What a pair's table holds beside row and column totals: rows and columns sum to zero.
    pub(super) fn interaction(&self, layout: &Layout, number: usize) -> Vec<f64> {
        let mut cells = self.cells[layout.pair(number)].to_vec();
        centre(&mut cells, layout.sizes()[layout.pairs()[number].1]);
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::super::Neighbours;
    use super::*;
    use crate::Error;

    #[test]
    fn what_is_left_of_a_table_has_noise_of_its_sigma() {
        let sizes = [40, 30, 2];
        let layout = Layout::new(&sizes, &[(0, 1), (0, 2)]).unwrap();
        for neighbours in [Neighbours::AddRemove, Neighbours::Replace] {
            let plan = Plan::calibrated(layout.clone(), &[1.0, 1.0], neighbours, 1, 0.5, 1e-6).unwrap();
            let counts = vec![100; layout.n_cells()];
            let n = 40;
            let mut squares = vec![0.0; layout.n_tables()];
            let mut totals = 0.0;
            for seed in 0..n {
                let found = plan.measure(&counts, &StreamKey::from_bytes([seed; 32])).unwrap();
                for (number, square) in squares.iter_mut().enumerate() {
                    let left = if number < 3 {
                        found.one_way(&layout, number, 100.0 * sizes[number] as f64).iter().map(|x| x - 100.0).collect()
                    } else {
                        found.interaction(&layout, number - 3)
                    };
                    *square += left.iter().map(|x| (x / found.sigmas[number]).powi(2)).sum::<f64>();
                }
                totals += ((found.total - 4000.0) / found.total_sigma.max(1.0)).powi(2);
            }
            // Sums of squares of 40 times so many standard normal numbers: within 6 deviations, 1e-8 for each table.
            for (number, freedom) in [39.0, 29.0, 1.0, 39.0 * 29.0, 39.0].into_iter().enumerate() {
                let expected = f64::from(n) * freedom;
                assert!((squares[number] - expected).abs() < 6.0 * (2.0 * expected).sqrt(), "{number} {squares:?}");
            }
            let expected = if neighbours == Neighbours::AddRemove { f64::from(n) } else { 0.0 };
            assert!((totals - expected).abs() <= 6.0 * (2.0 * expected).sqrt(), "{totals}");
        }
    }

    #[test]
    fn pairs_of_few_records_are_not_measured() {
        let layout = Layout::new(&[2, 3], &[(0, 1)]).unwrap();
        let plan = Plan::calibrated(layout.clone(), &[1.0], Neighbours::Replace, 1, 0.5, 1e-6).unwrap();
        for (n, tables) in [(0, 2), (50, 2), (5_000, 3)] {
            let counts = [n, 0, n, 0, 0, n, 0, 0, 0, 0, 0];
            let found = plan.measure(&counts, &StreamKey::from_bytes([7; 32])).unwrap();
            assert_eq!((found.sigmas.len(), found.cells.len()), (tables, if tables == 2 { 5 } else { 11 }));
        }
    }

    #[test]
    fn rows_and_columns_are_drowned() {
        let layout = Layout::new(&[8, 8], &[(0, 1)]).unwrap();
        let plan = Plan::calibrated(layout.clone(), &[1.0], Neighbours::AddRemove, 1, 1.0, 1e-6).unwrap();
        let mut squares = 0.0;
        // Records enough for pairs to be measured; all of them are in one cell.
        let n = 100_000;
        let mut counts = vec![0; layout.n_cells()];
        for cell in [0, 8, 16] {
            counts[cell] = n;
        }
        for seed in 0..50 {
            let found = plan.measure(&counts, &StreamKey::from_bytes([seed; 32])).unwrap();
            let sigma = found.sigmas[2];
            for (at, row) in found.cells[layout.pair(0)].chunks_exact(8).enumerate() {
                let held = if at == 0 { n as f64 } else { 0.0 };
                // Sigma over the root of 8 and twice 32 sigma, of which that of columns is a mean over 8.
                let sd = sigma * (1.0 / 8.0 + 1024.0 + 1024.0 / 8.0_f64).sqrt();
                squares += ((row.iter().sum::<f64>() - held) / 8.0 / sd).powi(2);
            }
        }
        // 400 squares of mean 1, in groups of 8 that share an eighth of their variance: 6 deviations are below 0.5.
        assert!((squares / 400.0 - 1.0).abs() < 0.5, "{squares}");
    }

    #[test]
    fn counts_that_do_not_fit_are_refused() {
        let layout = Layout::new(&[2, 2], &[(0, 1)]).unwrap();
        let plan = Plan::calibrated(layout, &[1.0], Neighbours::AddRemove, 1, 1.0, 1e-6).unwrap();
        assert!(matches!(plan.measure(&[0; 7], &StreamKey::from_bytes([1; 32])), Err(Error::InvalidParameter { .. })));
    }
}
