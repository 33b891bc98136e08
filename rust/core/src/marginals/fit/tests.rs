use super::*;
use crate::marginals::{Neighbours, Plan};
use crate::random::StreamKey;

fn options(components: usize, steps: usize) -> FitOptions {
    FitOptions { components, steps, ..FitOptions::default() }
}

/// A small objective with every term in it, and a place to look at.
fn small() -> (Objective, Logits) {
    let layout = Layout::new(&[2, 3, 4], &[(0, 1), (1, 2)]).unwrap();
    let measured = Measurement {
        total: 100.0,
        total_sigma: 1.0,
        cells: (0..layout.n_cells()).map(|cell| ((cell * 7919) % 23) as f64).collect(),
        sigmas: vec![3.0, 4.0, 5.0, 6.0, 7.0],
    };
    let shares = one_way_shares(&layout, &measured, 100.0);
    let one_way = probabilities(&layout, &shares);
    let mut objective = Objective::of(&layout, &measured, 100.0, &shares, &one_way, 2);
    objective.scale(1e-2);
    objective.penalty = 0.7;
    let prior = Mixture::product(&layout, &one_way);
    objective.add_prior(&layout, &prior, &[0.2, 0.5], 3.0, 100.0);
    let at = start(&objective, &StreamKey::from_bytes([5; 32]), 0);
    (objective, at)
}

#[test]
fn the_gradient_is_that_of_finite_differences() {
    let (objective, mut at) = small();
    let n = objective.n * LANES;
    let mut work = Workspace::new(&objective);
    let mut gradient = Logits::zeros(objective.width, objective.n);
    at.components.as_flattened_mut().iter_mut().enumerate().for_each(|(k, v)| *v = (k % 5) as f32 * 0.3);
    objective.evaluate(&mut at, &mut gradient, &mut work);
    let step = 1e-2_f32;
    let mut value =
        |at: &Logits| objective.evaluate(&mut at.clone(), &mut Logits::zeros(objective.width, objective.n), &mut work);
    let mut compare = |found: f32, up: &Logits, down: &Logits, what: &str| {
        let expected = (value(up) - value(down)) / (2.0 * f64::from(step)) * n as f64;
        let off = (f64::from(found) - expected).abs();
        // Single precision of values near 10 over the step, and the step's square.
        assert!(off < 2e-3 * expected.abs() + 5e-3, "{what}: {found} {expected}");
    };
    for level in 0..9 {
        for k in 0..n {
            let (mut up, mut down) = (at.clone(), at.clone());
            up.levels[level * objective.n + k / LANES][k % LANES] += step;
            down.levels[level * objective.n + k / LANES][k % LANES] -= step;
            compare(gradient.levels[level * objective.n + k / LANES][k % LANES], &up, &down, "level");
        }
    }
    for k in 0..n {
        let (mut up, mut down) = (at.clone(), at.clone());
        up.components[k / LANES][k % LANES] += step;
        down.components[k / LANES][k % LANES] -= step;
        compare(gradient.components[k / LANES][k % LANES], &up, &down, "component");
    }
}

#[test]
fn the_value_is_that_of_the_definition() {
    let (objective, mut at) = small();
    let mut work = Workspace::new(&objective);
    let mut gradient = Logits::zeros(objective.width, objective.n);
    let found = objective.evaluate(&mut at, &mut gradient, &mut work);
    let a = |i: usize, k: usize| f64::from(work.probabilities()[i * objective.n + k / LANES][k % LANES]);
    let w = component_weights(&at.components);
    let m = |i: usize| w.iter().enumerate().map(|(k, w)| w * a(i, k)).sum::<f64>();
    let p = |i: usize, j: usize| w.iter().enumerate().map(|(k, w)| w * a(i, k) * a(j, k)).sum::<f64>();
    let (prior_weights, prior_targets) = objective.prior.as_ref().unwrap();
    let mut expected = 0.0;
    for (rows, columns) in [(0..2, 2..5), (2..5, 5..9)] {
        let (n_rows, n_columns) = (rows.len() as f64, columns.len() as f64);
        for i in rows {
            for j in columns.clone() {
                let at = i * objective.width + j;
                let centred = p(i, j) - m(i) / n_columns - m(j) / n_rows - f64::from(objective.pair_targets[at]);
                expected += 0.5 * f64::from(objective.pair_weights[at]) * centred.powi(2);
                expected += 0.5 * f64::from(prior_weights[at]) * (p(i, j) - f64::from(prior_targets[at])).powi(2);
            }
        }
    }
    for i in 0..9 {
        expected += 0.5 * f64::from(objective.weights[i]) * (m(i) - f64::from(objective.targets[i])).powi(2);
        for (k, w) in w.iter().enumerate() {
            let log_ratio = a(i, k).ln() - f64::from(objective.log_prior[i]);
            expected += f64::from(objective.penalty) * w * a(i, k) * log_ratio;
        }
    }
    assert!((found - expected).abs() < 1e-4 * expected.abs(), "{found} {expected}");
}

/// Counts of a joint table over three columns.
fn counts_of(layout: &Layout, joint: &[i64], sizes: [usize; 3]) -> Vec<i64> {
    let mut counts = vec![0; layout.n_cells()];
    for (cell, &count) in joint.iter().enumerate() {
        let codes = [cell / (sizes[1] * sizes[2]), cell / sizes[2] % sizes[1], cell % sizes[2]];
        for (column, &code) in codes.iter().enumerate() {
            counts[layout.levels(column).start + code] += count;
        }
        for (number, &(i, j)) in layout.pairs().iter().enumerate() {
            counts[layout.pair(number).start + codes[i] * sizes[j] + codes[j]] += count;
        }
    }
    counts
}

#[test]
fn with_hardly_any_noise_the_pairs_are_those_of_the_records() {
    let sizes = [2, 3, 4];
    let layout = Layout::new(&sizes, &[(0, 1), (0, 2), (1, 2)]).unwrap();
    let joint: Vec<i64> = (0..24).map(|cell| (cell * cell * 31 + 17) % 97 * 100).collect();
    let counts = counts_of(&layout, &joint, sizes);
    let n: i64 = joint.iter().sum();
    let plan = Plan::new(layout.clone(), &[1.0; 3], Neighbours::AddRemove, 1, 50.0).unwrap();
    let measured = plan.measure(&counts, &StreamKey::from_bytes([1; 32])).unwrap();
    let mixture = fit(&layout, &measured, &options(64, 1500), &StreamKey::from_bytes([2; 32]), &mut |_| ()).unwrap();
    for (number, &(i, j)) in layout.pairs().iter().enumerate() {
        for (p, &count) in mixture.pair(i, j).iter().zip(&counts[layout.pair(number)]) {
            assert!((p - count as f64 / n as f64).abs() < 2e-3, "{i} {j}: {p} {}", count as f64 / n as f64);
        }
    }
}

#[test]
fn with_nothing_but_noise_the_columns_stay_independent() {
    let sizes = [3, 4, 5];
    let layout = Layout::new(&sizes, &[(0, 1), (0, 2), (1, 2)]).unwrap();
    // Few records, whose pairs are not measured; more, whose pairs are as good as noise.
    for (each, tables, most) in [(1, 3, 1e-12), (60, 6, 0.02)] {
        let counts = counts_of(&layout, &[each; 60], sizes);
        let plan = Plan::new(layout.clone(), &[1.0; 3], Neighbours::Replace, 1, 0.01).unwrap();
        let measured = plan.measure(&counts, &StreamKey::from_bytes([1; 32])).unwrap();
        assert_eq!(measured.sigmas.len(), tables);
        let mixture = fit(&layout, &measured, &options(64, 300), &StreamKey::from_bytes([2; 32]), &mut |_| ()).unwrap();
        for &(i, j) in layout.pairs() {
            let (one, two) = (mixture.marginal(&[i]).unwrap(), mixture.marginal(&[j]).unwrap());
            for (cell, p) in mixture.pair(i, j).into_iter().enumerate() {
                assert!((p - one[cell / sizes[j]] * two[cell % sizes[j]]).abs() < most, "{i} {j} {cell}: {p}");
            }
        }
    }
}

#[test]
fn a_fit_repeats_hears_an_interrupt_and_tells_how_far_it_is() {
    let layout = Layout::new(&[2, 3, 4], &[(0, 1), (0, 2), (1, 2)]).unwrap();
    let plan = Plan::new(layout.clone(), &[1.0; 3], Neighbours::AddRemove, 1, 1.0).unwrap();
    let measured = plan.measure(&vec![50; layout.n_cells()], &StreamKey::from_bytes([1; 32])).unwrap();
    let run =
        |done: &mut dyn FnMut(f64)| fit(&layout, &measured, &options(16, 20), &StreamKey::from_bytes([2; 32]), done);
    let mut told = vec![];
    let first = run(&mut |share| told.push(share)).unwrap();
    assert!(told.windows(2).all(|two| two[0] < two[1]) && told.last() == Some(&1.0));
    assert_eq!(first, run(&mut |_| ()).unwrap());
    let stopped = crate::interrupt::watch(Box::new(|| true), || {
        crate::interrupt::request();
        run(&mut |_| ())
    });
    assert_eq!(stopped, Err(Error::Interrupted));
}

#[test]
fn the_more_noise_the_more_and_the_smaller_fits() {
    for (components, width, noise, expected) in [
        (256, 140, 1e-9, (1, 256)),
        (256, 140, 1.0 / 200.0, (1, 256)),
        (256, 140, 1.0 / 100.0, (2, 128)),
        (256, 140, 1.0 / 33.0, (4, 64)),
        (256, 140, 1.0 / 15.0, (4, 16)),
        (256, 140, 9.0, (4, 16)),
        (256, 1400, 9.0, (2, 16)),
        (256, 2000, 9.0, (1, 16)),
        (64, 16_384, 9.0, (1, 16)),
        (300, 140, 0.03, (4, 64)),
        (300, 140, 0.0, (1, 304)),
        (48, 140, 0.03, (1, 48)),
        (1, 1, 0.0, (1, 16)),
        (1, 1, 5.0, (1, 16)),
    ] {
        assert_eq!(split(components, width, noise), expected, "{components} {width} {noise}");
    }
    let layout = Layout::new(&[3, 5, 1], &[(0, 1), (1, 2)]).unwrap();
    let sigmas = vec![1.0, 1.0, 1.0, 7.0, 1e9];
    let measured = Measurement { total: 100.0, total_sigma: 1.0, cells: vec![], sigmas };
    // Of a pair with a column of one level nothing is left beside one-way tables.
    assert!((pair_noise(&layout, &measured, 100.0) - 8_f64.sqrt() * 0.07).abs() < 1e-12);
}

#[test]
fn several_fits_have_the_mean_of_their_tables() {
    let layout = Layout::new(&[2, 3], &[(0, 1)]).unwrap();
    let one = Mixture::new(&[2, 3], vec![0.5, 0.5], vec![0.1, 0.9, 0.9, 0.1, 0.2, 0.5, 0.3, 0.5, 0.5, 0.0]).unwrap();
    let other = Mixture::new(&[2, 3], vec![1.0], vec![0.25, 0.75, 0.5, 0.25, 0.25]).unwrap();
    let mean = Mixture::mean(&layout, &[one.clone(), other.clone()]);
    assert_eq!(mean.weights().len(), 3);
    for (cell, p) in mean.pair(0, 1).into_iter().enumerate() {
        assert!((p - 0.5 * (one.pair(0, 1)[cell] + other.pair(0, 1)[cell])).abs() < 1e-15);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let layout = Layout::new(&[2, 2], &[(0, 1)]).unwrap();
    let measured = Measurement { total: 4.0, total_sigma: 1.0, cells: vec![1.0; 8], sigmas: vec![1.0; 3] };
    let key = StreamKey::from_bytes([2; 32]);
    let refused = |measured: &Measurement, components| {
        fit(&layout, measured, &options(components, 10), &key, &mut |_| ()).unwrap_err()
    };
    let short = Measurement { cells: vec![1.0; 7], ..measured.clone() };
    let silent = Measurement { sigmas: vec![1.0, 0.0, 1.0], ..measured.clone() };
    assert!(matches!(refused(&short, 16), Error::InvalidParameter { .. }));
    assert!(matches!(refused(&silent, 16), Error::InvalidParameter { .. }));
    assert!(matches!(refused(&measured, 1 << 30), Error::NotAffordable { .. }));
}
