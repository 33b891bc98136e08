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

#[cfg(test)]
mod tests {
    use super::*;

    type Renyi<'a> = &'a dyn Fn(f64) -> f64;

    /// The largest D/l over a dense grid of orders.
    fn by_grid(renyi: Renyi, omega: f64) -> f64 {
        let ratio = |i: i32| {
            let order = 1.0 + (omega - 1.0) * (-0.002 * f64::from(i)).exp();
            renyi(order) / order
        };
        (0..10_000).map(ratio).fold(0.0, f64::max)
    }

    #[test]
    fn the_largest_ratio_is_that_of_a_dense_grid() {
        let response = |e: f64| {
            move |order: f64| {
                let (up, x) = (1.0 / (1.0 + (-e).exp()), (order - 1.0) * e);
                (up * x.exp_m1() + (1.0 - up) * (-x).exp_m1()).ln_1p() / (order - 1.0)
            }
        };
        let gaussian = |order: f64| 0.7 * order;
        let mixed = |order: f64| response(3.0)(order) + 0.05 * order;
        // Infinite from order 12 on; (l - 1) D is convex.
        let steep = |order: f64| 0.1 * order + if order < 12.0 { 1.0 / (12.0 - order) } else { f64::INFINITY };
        let cases: [(&str, Renyi, f64); 7] = [
            ("small response", &response(0.1), 30.0),
            ("response", &response(2.0), 9.0),
            ("large response", &response(8.0), 4.0),
            ("gaussian", &gaussian, 50.0),
            ("mixed", &mixed, 100.0),
            ("steep", &steep, 11.0),
            ("short", &response(2.0), 1.001),
        ];
        for (name, renyi, omega) in cases {
            let (found, grid) = (least_rho(renyi, omega), by_grid(renyi, omega));
            assert!(found >= grid * (1.0 - 1e-13) && found <= grid * (1.0 + 1e-4), "{name}: {found} {grid}");
        }
    }

    #[test]
    fn without_a_bound_there_is_no_rho() {
        let finite_until = |end: f64| move |order: f64| if order <= end { order } else { f64::INFINITY };
        assert!(least_rho(&finite_until(5.0), 6.0).is_infinite() && least_rho(&finite_until(5.0), 5.0).is_finite());
        assert!(least_rho(&|_| 1.0, 1.0).is_infinite() && least_rho(&|_| 1.0, f64::NAN).is_infinite());
        assert!(least_rho(&|order| order, f64::INFINITY).is_infinite());
        assert!(least_rho(&|_| f64::NAN, 3.0).is_infinite());
    }

    #[test]
    fn over_all_orders_the_largest_loss_bounds_what_is_far_out() {
        let response = |order: f64| {
            let up = 1.0 / (1.0 + (-2.0_f64).exp());
            match order {
                f64::INFINITY => 2.0,
                order if order > 300.0 => 2.0 + up.ln() / (order - 1.0),
                order => {
                    (up * ((order - 1.0) * 2.0).exp() + (1.0 - up) * (-(order - 1.0) * 2.0).exp()).ln() / (order - 1.0)
                }
            }
        };
        let (found, grid) = (least_rho(&response, f64::INFINITY), by_grid(&response, 1e4));
        assert!(found >= grid * (1.0 - 1e-13) && found <= grid * (1.0 + 1e-5), "{found} {grid}");
    }
}
