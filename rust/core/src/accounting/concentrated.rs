//! The least rho of tCDP at a given omega: the largest D/l over orders l in (1, omega), bounded from above.

/// Cells are split until the bound is within this of a value that is attained.
const GAP: f64 = 1e-9;
const MAX_SPLITS: usize = 1000;

/// A range of orders, the moments (l - 1) D at its ends, and a bound of D/l on it.
#[derive(Clone, Copy)]
struct Cell {
    low: f64,
    high: f64,
    at_low: f64,
    at_high: f64,
    bound: f64,
}

impl Cell {
    fn new(low: f64, high: f64, at_low: f64, at_high: f64) -> Self {
        // g(l) = (l - 1) D is convex with g(1) = 0, so it lies below its chord k (l - 1) - m, m >= 0. The largest value
        // of (k - m/(l - 1))/l is at l - 1 = (m + sqrt(m^2 + k m))/k, if that lies inside.
        let k = (at_high - at_low) / (high - low);
        let m = (k * (low - 1.0) - at_low).max(0.0);
        let peak = 1.0 + (m + (m * m + k * m).sqrt()) / k;
        let order = if peak.is_nan() { low } else { peak.clamp(low, high) };
        let bound = if order > 1.0 { (k - m / (order - 1.0)) / order } else { k };
        Self { low, high, at_low, at_high, bound }
    }
}

/// An upper bound of sup D/l over 1 < l < omega, from upper bounds of D; infinite if none is found.
pub(super) fn least_rho(renyi: &dyn Fn(f64) -> f64, omega: f64) -> f64 {
    if !(omega > 1.0) {
        return f64::INFINITY;
    }
    // For omega = infinity the far end is covered by D <= D_infinity.
    let far = if omega.is_finite() { omega } else { 1e9 };
    let far_bound = if omega.is_finite() { 0.0 } else { renyi(f64::INFINITY) / far };
    let moment = |order: f64| (order - 1.0) * renyi(order);
    let end = moment(far);
    if !(end < f64::INFINITY) || !(far_bound < f64::INFINITY) {
        return f64::INFINITY;
    }
    let mut cells = vec![Cell::new(1.0, far, 0.0, end)];
    let mut attained = end / ((far - 1.0) * far);
    for _ in 0..MAX_SPLITS {
        let (i, top) = cells
            .iter()
            .copied()
            .enumerate()
            .max_by(|(_, x), (_, y)| x.bound.total_cmp(&y.bound))
            .expect("there is always a cell");
        if top.bound <= attained * (1.0 + GAP) || top.high - top.low <= 1e-15 * top.high {
            break;
        }
        // Split in ln(l - 1), near 1 in l.
        let middle = if top.low > 1.0 {
            1.0 + ((top.low - 1.0) * (top.high - 1.0)).sqrt()
        } else {
            1.0 + 0.125 * (top.high - 1.0)
        };
        let at_middle = moment(middle);
        attained = attained.max(at_middle / ((middle - 1.0) * middle));
        cells[i] = Cell::new(top.low, middle, top.at_low, at_middle);
        cells.push(Cell::new(middle, top.high, at_middle, top.at_high));
    }
    let largest = cells.iter().fold(far_bound, |largest, cell| largest.max(cell.bound));
    // The rounding of the chords.
    largest * (1.0 + 16.0 * f64::EPSILON)
}
