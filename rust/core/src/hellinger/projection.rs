//! From noisy counts back to counts that n observations can have: non-negative and of sum n.

/// The integer point of the simplex {k >= 0, sum k = n} nearest to y in Euclidean distance; ties go to earlier entries.
///
/// Every integer is y_i - t rounded one way or the other for one threshold t, clipped at 0: bisection for t.
pub fn project_counts(y: &[i64], n: u64) -> Vec<u64> {
    if y.is_empty() {
        return Vec::new();
    }
    let above = |t: i128| y.iter().map(|&v| (i128::from(v) - t).max(0)).sum::<i128>();
    let n = i128::from(n);
    let most = y.iter().copied().max().map_or(0, i128::from);
    // The least integer t at which the clipped sum is at most n.
    let (mut low, mut high) = (most - n - 1, most);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if above(middle) <= n {
            high = middle;
        } else {
            low = middle;
        }
    }
    let mut rest = n - above(high);
    let mut point = Vec::with_capacity(y.len());
    for &v in y {
        let v = i128::from(v);
        // One unit more costs least where the threshold high - 1 would leave something.
        let extra = i128::from(rest > 0 && v > high - 1);
        rest -= extra;
        point.push(((v - high).max(0) + extra) as u64);
    }
    point
}

/// The point of the simplex {k >= 0, sum k = n} nearest to y in Euclidean distance.
pub fn project_real(y: &[f64], n: f64) -> Vec<f64> {
    let mut sorted = y.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut threshold) = (0.0, f64::INFINITY);
    for (index, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - n) / (index + 1) as f64;
        if index == 0 || *value > candidate {
            threshold = candidate;
        }
    }
    y.iter().map(|value| (value - threshold).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lattice::Lattice;

    #[test]
    fn projected_counts_are_the_nearest_of_all() {
        let square = |y: &[i64], k: &[u64]| -> i64 { y.iter().zip(k).map(|(&a, &b)| (a - b as i64).pow(2)).sum() };
        for n in 0..6 {
            for code in 0..10 * 10 * 10 {
                let y = [code % 10 - 4, code / 10 % 10 - 3, code / 100 - 2];
                let lattice = Lattice::new(n, 3).unwrap();
                let mut best = i64::MAX;
                lattice.for_each(0..lattice.count().unwrap(), |k| best = best.min(square(&y, k))).unwrap();
                let k = project_counts(&y, n);
                assert_eq!(k.iter().sum::<u64>(), n);
                assert_eq!(square(&y, &k), best, "{y:?} {n} {k:?}");
            }
        }
    }

    #[test]
    fn extreme_counts_do_not_overflow() {
        assert_eq!(project_counts(&[i64::MAX, i64::MIN, i64::MAX], 5).iter().sum::<u64>(), 5);
    }

    #[test]
    fn real_projections_meet_the_conditions_of_the_minimum() {
        for y in [[3.0, -1.0, 0.5], [0.1, 0.2, 0.3], [-5.0, -6.0, -5.5], [10.0, 10.0, 10.0]] {
            for n in [0.0, 1.0, 7.5] {
                let k = project_real(&y, n);
                assert!((k.iter().sum::<f64>() - n).abs() < 1e-12 && k.iter().all(|v| *v >= 0.0));
                // y - k is one number where k > 0, and at most that number elsewhere.
                let gaps: Vec<f64> = y.iter().zip(&k).map(|(a, b)| a - b).collect();
                let most = gaps.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                assert!(gaps.iter().zip(&k).all(|(gap, v)| *v == 0.0 || (most - gap).abs() < 1e-12));
            }
        }
    }
}
