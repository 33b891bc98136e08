//! Ancestral sampling from a discrete Bayesian network whose tables are public.
//!
//! The tables were released before, so what is drawn here is post-processing: no guarantee hangs on it, and one 64-bit
//! word decides each value (the law is off by less than 2^-64 times the number of levels).

use crate::random::{Bits, StreamKey};
use crate::{Error, Result, memory, parallel};

/// A node: its conditional distribution for every configuration of its parents.
#[derive(Debug, Clone)]
pub struct Node {
    /// Number of values.
    pub cardinality: usize,
    /// Positions of the parents among the nodes; all of them stand before this node.
    pub parents: Vec<usize>,
    /// One row of `cardinality` probabilities for each configuration, last parent fastest.
    pub table: Vec<f64>,
}

/// A network that is ready to be sampled.
#[derive(Debug, Clone)]
pub struct Network {
    nodes: Vec<AliasNode>,
}

/// Records that one task draws; each task has a stream of its own, so the result does not depend on the threads.
const CHUNK: usize = 1 << 14;

/// Values that a thread draws in half a millisecond.
const VALUES_PER_THREAD: usize = 1 << 16;

/// What the memory is for.
const RECORDS: &str = "the records";

/// How far a row may be from summing to one: released rows sum exactly, user tables were written in decimals.
const ROW_TOLERANCE: f64 = 1e-9;

impl Network {
    /// Prepares the tables.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when a parent does not stand before its child, a table has the wrong size, an entry
    /// is negative or not finite, or a row does not sum to one.
    pub fn new(nodes: &[Node]) -> Result<Self> {
        let mut prepared: Vec<AliasNode> = Vec::with_capacity(nodes.len());
        for node in nodes {
            if let Some(parent) = node.parents.iter().find(|&&parent| parent >= prepared.len()) {
                return Err(Error::parameter("parents", "stand before their child", parent));
            }
            let n_rows: usize = node.parents.iter().map(|&parent| prepared[parent].cardinality).product();
            prepared.push(AliasNode::new(node, n_rows)?);
        }
        Ok(Self { nodes: prepared })
    }

    /// Draws records: one column of codes for each node.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Interrupted`].
    pub fn sample(&self, n_records: usize, key: &StreamKey) -> Result<Vec<Vec<u32>>> {
        let size = memory::size_of_rows::<u32>(RECORDS, n_records, self.nodes.len())?;
        memory::check::<u32>(RECORDS, size)?;
        let columns = self.nodes.iter().map(|_| memory::zeros(RECORDS, n_records));
        let mut columns = columns.collect::<Result<Vec<Vec<u32>>>>()?;
        let mut chunks: Vec<Vec<&mut [u32]>> = Vec::new();
        chunks.resize_with(n_records.div_ceil(CHUNK), || Vec::with_capacity(self.nodes.len()));
        for column in &mut columns {
            chunks.iter_mut().zip(column.chunks_mut(CHUNK)).for_each(|(chunk, part)| chunk.push(part));
        }
        let threads = parallel::threads_for(size, VALUES_PER_THREAD);
        let work = |(index, mut chunk): (usize, Vec<&mut [u32]>)| {
            self.fill(&mut chunk, &mut key.stream(index as u64));
            Ok(())
        };
        parallel::map(chunks.into_iter().enumerate(), threads, work)?;
        Ok(columns)
    }

    /// Draws a chunk of records into one slice for each node.
    fn fill(&self, columns: &mut [&mut [u32]], bits: &mut impl Bits) {
        let mut rows = vec![0_usize; columns.first().map_or(0, |column| column.len())];
        for (position, node) in self.nodes.iter().enumerate() {
            let (before, rest) = columns.split_at_mut(position);
            rows.fill(0);
            for &parent in &node.parents {
                let radix = self.nodes[parent].cardinality;
                rows.iter_mut().zip(&*before[parent]).for_each(|(row, &code)| *row = *row * radix + code as usize);
            }
            rest[0].iter_mut().zip(&rows).for_each(|(code, &row)| *code = node.draw(row, bits.next_u64()));
        }
    }
}

/// The rows of a table as alias tables (Walker 1977, in Vose's form): one comparison decides a draw.
#[derive(Debug, Clone)]
struct AliasNode {
    cardinality: usize,
    parents: Vec<usize>,
    /// For each row and level: keep the level when the fraction is below the threshold, else take the other one.
    slots: Vec<(u64, u32)>,
}

impl AliasNode {
    fn new(node: &Node, n_rows: usize) -> Result<Self> {
        let Node { cardinality, ref parents, ref table } = *node;
        if cardinality == 0 || cardinality > u32::MAX as usize || n_rows.checked_mul(cardinality) != Some(table.len()) {
            return Err(Error::parameter("table", "have one row for each configuration of the parents", table.len()));
        }
        if let Some(value) = table.iter().find(|&&value| !(value >= 0.0 && value.is_finite())) {
            return Err(Error::parameter("table", "hold probabilities", value));
        }
        let mut slots = Vec::with_capacity(table.len());
        for row in table.chunks_exact(cardinality) {
            let sum: f64 = row.iter().sum();
            if (sum - 1.0).abs() > ROW_TOLERANCE {
                return Err(Error::parameter("table", "have rows that sum to one", sum));
            }
            slots.extend(alias_row(row, sum));
        }
        Ok(Self { cardinality, parents: parents.clone(), slots })
    }

    fn draw(&self, row: usize, word: u64) -> u32 {
        // The high half of the product is a uniform level, the low half a uniform fraction that belongs to it.
        let product = u128::from(word) * self.cardinality as u128;
        let level = (product >> 64) as usize;
        let (threshold, other) = self.slots[row * self.cardinality + level];
        if (product as u64) < threshold { level as u32 } else { other }
    }
}

/// Splits a row into slots of equal mass, each shared by at most two levels.
fn alias_row(row: &[f64], sum: f64) -> Vec<(u64, u32)> {
    let mut mass: Vec<f64> = row.iter().map(|p| p / sum * row.len() as f64).collect();
    let mut slots: Vec<(u64, u32)> = (0..row.len()).map(|level| (u64::MAX, level as u32)).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..row.len()).partition(|&level| mass[level] < 1.0);
    while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
        small.pop();
        // 2^64 times a number below one, rounded to zero at the most one unit away.
        slots[poor] = ((mass[poor] * 2f64.powi(64)) as u64, rich as u32);
        mass[rich] -= 1.0 - mass[poor];
        if mass[rich] < 1.0 {
            large.pop();
            small.push(rich);
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain() -> Vec<Node> {
        vec![
            Node { cardinality: 2, parents: vec![], table: vec![0.25, 0.75] },
            Node { cardinality: 3, parents: vec![0], table: vec![0.0, 0.5, 0.5, 1.0, 0.0, 0.0] },
            Node { cardinality: 2, parents: vec![1, 0], table: vec![0.5; 12] },
        ]
    }

    #[test]
    fn frequencies_follow_the_tables_and_zeros_are_never_drawn() {
        let columns = Network::new(&chain()).unwrap().sample(200_000, &StreamKey::from_bytes([3; 32])).unwrap();
        let count = |predicate: &dyn Fn(usize) -> bool| (0..200_000).filter(|&i| predicate(i)).count() as f64;
        // 200,000 draws, standard deviations below 224: six of them are passed with a chance below 1e-8.
        assert!((count(&|i| columns[0][i] == 0) - 50_000.0).abs() < 6.0 * 194.0);
        assert!((count(&|i| columns[0][i] == 0 && columns[1][i] == 1) - 25_000.0).abs() < 6.0 * 148.0);
        assert!((count(&|i| columns[2][i] == 1) - 100_000.0).abs() < 6.0 * 224.0);
        assert_eq!(count(&|i| columns[0][i] == 0 && columns[1][i] == 0), 0.0);
        assert_eq!(count(&|i| columns[0][i] == 1 && columns[1][i] != 0), 0.0);
    }

    #[test]
    fn slots_return_the_probabilities_that_they_were_made_of() {
        let row = [0.1, 0.2, 0.3, 0.0, 0.4];
        let mut back = [0.0; 5];
        for (level, (threshold, other)) in alias_row(&row, 1.0).into_iter().enumerate() {
            let keep = threshold as f64 / 2f64.powi(64);
            back[level] += keep / 5.0;
            back[other as usize] += (1.0 - keep) / 5.0;
        }
        assert!(row.iter().zip(back).all(|(p, q)| (p - q).abs() < 1e-15), "{back:?}");
    }

    #[test]
    fn broken_networks_are_refused() {
        let mut late_parent = chain();
        late_parent[1].parents = vec![2];
        let mut wrong_size = chain();
        wrong_size[2].table.pop();
        let mut negative = chain();
        negative[0].table = vec![-0.5, 1.5];
        let mut nan = chain();
        nan[0].table = vec![f64::NAN, 1.0];
        let mut sum = chain();
        sum[0].table = vec![0.5, 0.6];
        for nodes in [late_parent, wrong_size, negative, nan, sum] {
            assert!(matches!(Network::new(&nodes), Err(Error::InvalidParameter { .. })));
        }
    }
}
