//! How far one record can move the scores: global, local, smooth and lifted sensitivities in closed form.
//!
//! A neighbour moves one record from category i to category j, and the Hellinger distance of the two posteriors is
//! V(s) = sqrt(1 - exp(s)) at s = h(alpha_i + x_i - 1) + h(alpha_j + x_j). By the triangle inequality it is the most by
//! which any score changes, attained at the candidate BI(x). The smooth quantities maximise over all data sets; V is
//! log-convex and 1/V concave along every phase of the way to another data set (docs/hellinger.md, "Phases"), so only
//! the ends of the phases need to be looked at.

use super::Family;
use super::scores::{distance, h};

/// A category as an end of a phase: the score h of its prior alone, and the records that it holds.
#[derive(Debug, Clone, Copy)]
struct Cell {
    score: f64,
    records: u64,
}

impl Family {
    /// The global sensitivity: the largest distance of neighbouring posteriors over all data sets.
    pub fn global_sensitivity(&self) -> f64 {
        if self.n() == 0 {
            return 0.0;
        }
        if let &[first, second] = self.prior() {
            let n = self.n() as f64;
            // Along the line of two categories s is concave in the position, so its least value is at an end.
            let ends = [(first, second + n - 1.0), (first + n - 1.0, second)];
            return ends.iter().map(|&(a, b)| distance(h(a) + h(b))).fold(0.0, f64::max);
        }
        let [least, next] = two_smallest(self.prior().iter().copied());
        distance(h(least.1) + h(next.1))
    }

    /// The local sensitivity at x, \[HN\] 2.2: the largest distance to a neighbour's posterior. Not private to use as it is.
    pub fn local_sensitivity(&self, x: &[u64]) -> f64 {
        self.nearest_score(x).map_or(0.0, distance)
    }

    /// The lifted local sensitivity LS+(x) of Theorem P: both coordinates count with c_i = alpha_i + max(x_i - 1, 0).
    ///
    /// It is at least the distance to every neighbour, from either side.
    pub fn lifted_sensitivity(&self, x: &[u64]) -> f64 {
        if self.n() == 0 {
            return 0.0;
        }
        let lifted = self.prior().iter().zip(x).map(|(&a, &k)| a + k.saturating_sub(1) as f64);
        let [least, next] = two_smallest(lifted);
        distance(h(least.1) + h(next.1))
    }

    /// The smooth sensitivity at x, \[HN\] 2.3 with theory's corrections: the maximum over all data sets x' of
    /// LS(x') exp(-gamma d(x, x')), d the number of records to change.
    pub fn smooth_sensitivity(&self, x: &[u64], gamma: f64) -> f64 {
        self.phase_maximum(x, |s, moves| distance(s) * (-gamma * moves as f64).exp()).unwrap_or(0.0)
    }

    /// The inverse sensitivity made Lipschitz: the minimum over all data sets x' of 1/(2 LS(x')) + slope d(x, x').
    ///
    /// Infinite when there are no neighbours.
    pub fn lipschitz_inverse(&self, x: &[u64], slope: f64) -> f64 {
        let cost = |s: f64, moves: u64| -(0.5 / distance(s) + slope * moves as f64);
        self.phase_maximum(x, cost).map_or(f64::INFINITY, |value| -value)
    }

    /// The least s over the neighbours of x; none when n = 0.
    fn nearest_score(&self, x: &[u64]) -> Option<f64> {
        if self.n() == 0 {
            return None;
        }
        let loses =
            self.prior().iter().zip(x).map(|(&a, &k)| if k > 0 { h(a + (k - 1) as f64) } else { f64::INFINITY });
        let gains = self.prior().iter().zip(x).map(|(&a, &k)| h(a + k as f64));
        let (loses, gains) = (two_smallest(loses), two_smallest(gains));
        let pairs = loses.iter().flat_map(|i| gains.iter().map(move |j| (i, j)));
        pairs.filter(|(i, j)| i.0 != j.0).map(|(i, j)| i.1 + j.1).reduce(f64::min)
    }

    /// The maximum over data sets x' and their neighbours of value(s, d(x, x')), for a value that decreases in both
    /// arguments, is quasi-convex along the phases and fit for [`best_pair`]; none when n = 0.
    fn phase_maximum(&self, x: &[u64], value: impl Fn(f64, u64) -> f64) -> Option<f64> {
        let nearest = self.nearest_score(x)?;
        let mut best = value(nearest, 0);
        if self.categories() == 2 {
            for (i, j) in [(0, 1), (1, 0)] {
                for u in [1, self.n()] {
                    let s = h(self.prior()[i] + (u - 1) as f64) + h(self.prior()[j] + (self.n() - u) as f64);
                    best = best.max(value(s, u.abs_diff(x[i])));
                }
            }
            return Some(best);
        }
        let bare: Vec<f64> = self.prior().iter().map(|&a| h(a)).collect();
        // Only the record's new home stays where it is, or only its old one: x' has u = 1 or v = 0, theory B3.
        let gains = two_smallest(self.prior().iter().zip(x).map(|(&a, &k)| h(a + k as f64)));
        let gains_one_less = two_smallest(self.prior().iter().zip(x).map(|(&a, &k)| h(a + k.saturating_sub(1) as f64)));
        let loses = two_smallest(
            self.prior().iter().zip(x).map(|(&a, &k)| if k > 0 { h(a + (k - 1) as f64) } else { f64::INFINITY }),
        );
        for i in 0..x.len() {
            best = best.max(if x[i] > 0 {
                value(bare[i] + other(&gains, i), x[i] - 1)
            } else {
                value(bare[i] + other(&gains_one_less, i), 1)
            });
            let from = other(&loses, i);
            if from < 0.0 {
                best = best.max(value(from + bare[i], x[i]));
            }
        }
        Some(both_bare(x, &bare, &value, best))
    }
}

/// The last family of phase ends, (u, v) = (1, 0): both coordinates at the prior, over all pairs i != j.
///
/// The records to move are x_i - 1 + x_j, or max(1, x_j) when x_i = 0. Two empty categories are left to the caller:
/// they are an end of the phase before this one.
fn both_bare(x: &[u64], bare: &[f64], value: &impl Fn(f64, u64) -> f64, mut best: f64) -> f64 {
    let cells = bare.iter().zip(x).map(|(&score, &records)| Cell { score, records });
    let (full, empty): (Vec<Cell>, Vec<Cell>) = cells.partition(|cell| cell.records > 0);
    let mut full = two_deep_front(full);
    for end in two_smallest(empty.iter().map(|cell| cell.score)).iter().filter(|end| end.1 < 0.0) {
        for cell in &full {
            // The second is the better of the two whichever way round, and both ways are neighbours.
            best = best.max(value(end.1 + cell.score, cell.records)).max(value(cell.score + end.1, cell.records - 1));
        }
    }
    full.sort_by(|a, b| a.score.total_cmp(&b.score));
    best_pair(&full, value, best)
}

/// The best of all pairs of the cells, sorted by score, when both hold records.
///
/// value is a monotone function of f(s) - cost(moves) with f concave, so that for rows and columns sorted by score the
/// best column moves one way only as the row moves the other: halves, and halves of rectangles, O(k log^2 k).
fn best_pair(cells: &[Cell], value: &impl Fn(f64, u64) -> f64, mut best: f64) -> f64 {
    if cells.len() < 2 {
        return best;
    }
    let records = cells.iter().map(|cell| cell.records).min().unwrap_or(1);
    if value(2.0 * cells[0].score, 2 * records - 1) <= best {
        return best;
    }
    let (rows, columns) = cells.split_at(cells.len() / 2);
    best = best_in_rectangle(rows, columns, value, best);
    best = best_pair(rows, value, best);
    best_pair(columns, value, best)
}

fn best_in_rectangle(rows: &[Cell], columns: &[Cell], value: &impl Fn(f64, u64) -> f64, mut best: f64) -> f64 {
    if rows.is_empty() || columns.is_empty() {
        return best;
    }
    let middle = rows.len() / 2;
    let row = rows[middle];
    let (mut at, mut most) = (0, f64::NEG_INFINITY);
    for (index, column) in columns.iter().enumerate() {
        let entry = value(row.score + column.score, row.records - 1 + column.records);
        if entry > most {
            (at, most) = (index, entry);
        }
    }
    best = best.max(most);
    best = best_in_rectangle(&rows[..middle], &columns[at..], value, best);
    best_in_rectangle(&rows[middle + 1..], &columns[..=at], value, best)
}

/// The two smallest values with their indices, smallest first.
pub(super) fn two_smallest(values: impl Iterator<Item = f64>) -> [(usize, f64); 2] {
    let mut least = [(usize::MAX, f64::INFINITY); 2];
    for (index, value) in values.enumerate() {
        if value < least[0].1 {
            least = [(index, value), least[0]];
        } else if value < least[1].1 {
            least[1] = (index, value);
        }
    }
    least
}

/// The smaller of two values that does not stand at the index `not`.
fn other(least: &[(usize, f64); 2], not: usize) -> f64 {
    if least[0].0 == not { least[1].1 } else { least[0].1 }
}

/// The cells that at most one other beats both in score and in records.
fn two_deep_front(mut cells: Vec<Cell>) -> Vec<Cell> {
    cells.sort_by(|a, b| a.records.cmp(&b.records).then(a.score.total_cmp(&b.score)));
    let mut least = [f64::INFINITY; 2];
    cells.retain(|cell| {
        let keep = cell.score < least[1];
        if cell.score < least[0] {
            least = [cell.score, least[0]];
        } else if keep {
            least[1] = cell.score;
        }
        keep
    });
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_global_one_is_the_largest_local_one_and_the_lifted_one_is_above_its_neighbours() {
        // Either end of two categories may be the one that counts.
        for prior in [[0.3, 2.5], [2.5, 0.3], [1.0, 1.0]] {
            let family = Family::new(&prior, 6).unwrap();
            let all: Vec<[u64; 2]> = (0..=6).map(|k| [k, 6 - k]).collect();
            let largest = all.iter().map(|x| family.local_sensitivity(x)).fold(0.0, f64::max);
            assert!((family.global_sensitivity() / largest - 1.0).abs() < 1e-12, "{prior:?}");
            for x in &all {
                assert!(family.lifted_sensitivity(x) >= family.local_sensitivity(x) * (1.0 - 1e-12), "{prior:?} {x:?}");
            }
        }
    }
}
