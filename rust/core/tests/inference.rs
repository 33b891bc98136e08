//! The posterior of counts against brute force over all counts, in plain sums.

use simplexdp_core::inference::{Cell, Factor, Noise, Posterior, Segment, Total, TotalPrior, TotalTerm};
use simplexdp_core::random::StreamKey;
use simplexdp_core::special::log_gamma;

/// All vectors of `d` counts up to `most`.
fn vectors(d: usize, most: u64) -> Vec<Vec<u64>> {
    (0..d).fold(vec![vec![]], |all, _| {
        all.iter().flat_map(|x| (0..=most).map(|k| [&x[..], &[k]].concat()).collect::<Vec<_>>()).collect()
    })
}

struct Case {
    name: &'static str,
    factors: Vec<Vec<Factor>>,
    terms: Vec<TotalTerm>,
    /// Whether the releases locate a total that is unknown.
    locates: bool,
}

fn cases() -> Vec<Case> {
    let noisy = |values: &[f64], noise| values.iter().map(|&y| vec![Factor::noisy(y, noise).unwrap()]).collect();
    let y = [0.32, 0.01, 0.67];
    let share = |y: f64, k: usize| Factor::share(y - 1e-9, y + 1e-9, 0.8, 1.5 + k as f64).unwrap();
    let shares: Vec<Vec<Factor>> = y.iter().enumerate().map(|(k, &y)| vec![share(y, k)]).collect();
    let urn: Vec<Vec<Factor>> = [4, 0, 9].iter().map(|&z| vec![Factor::urn(z, 0.8, 1.5).unwrap()]).collect();
    let laplace: Vec<Vec<Factor>> = noisy(&[5.0, -3.0, 4.0], Noise::Laplace { scale: 0.7, step: 1.0 });
    let both = laplace.iter().zip(&shares).map(|(a, b)| [&a[..], &b[..]].concat()).collect();
    let shares_term = TotalTerm::Shares { scale: 0.8, prior: 7.5 };
    vec![
        Case { name: "Laplace", factors: laplace, terms: vec![TotalTerm::Constant(-1.5)], locates: true },
        Case {
            name: "Gaussian on a grid",
            factors: noisy(&[3.25, -1.5, 2.0], Noise::Gaussian { sigma: 0.9, step: 0.25 }),
            terms: vec![TotalTerm::Noisy(Factor::noisy(6.0, Noise::Gaussian { sigma: 1.0, step: 1.0 }).unwrap())],
            locates: true,
        },
        Case { name: "Dirichlet", factors: shares, terms: vec![shares_term], locates: false },
        Case {
            name: "urn",
            factors: urn,
            terms: vec![TotalTerm::Urn { scale: 0.8, prior: 4.5, size: 13 }],
            locates: false,
        },
        Case { name: "two releases", factors: both, terms: vec![shares_term], locates: true },
    ]
}

/// The posterior by summing over all counts, with masses of the total for up to `most` per cell.
struct Brute {
    log_evidence: f64,
    counts: Vec<Vec<f64>>,
    total: Vec<f64>,
    share_moments: Vec<(f64, f64)>,
    covariance: Vec<f64>,
}

fn brute(cells: &[(f64, u64, &[Factor])], log_total: impl Fn(u64) -> f64, most: u64) -> Brute {
    let d = cells.len();
    let a: f64 = cells.iter().map(|c| c.0).sum();
    let mut weighed = Vec::new();
    for x in vectors(d, most) {
        let n: u64 = x.iter().sum();
        let mut log = log_total(n) + log_gamma(n as f64 + 1.0) + log_gamma(a) - log_gamma(n as f64 + a);
        for (&(prior, least, factors), &k) in cells.iter().zip(&x) {
            let k = if k >= least { k as f64 } else { f64::NAN };
            log += log_gamma(k + prior) - log_gamma(k + 1.0) - log_gamma(prior);
            log += factors.iter().map(|f| f.log_at(k)).sum::<f64>();
        }
        if log > f64::NEG_INFINITY {
            weighed.push((x, log));
        }
    }
    let top = weighed.iter().map(|w| w.1).fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = weighed.iter().map(|w| (w.1 - top).exp()).sum();
    let mut out = Brute {
        log_evidence: top + sum.ln(),
        counts: vec![vec![0.0; most as usize + 1]; d],
        total: vec![0.0; d * most as usize + 1],
        share_moments: vec![(0.0, 0.0); d],
        covariance: vec![0.0; d * d],
    };
    let mut means = vec![0.0; d];
    let mut seconds = vec![0.0; d * d];
    for (x, log) in weighed {
        let p = (log - top).exp() / sum;
        let n = x.iter().sum::<u64>() as f64;
        out.total[n as usize] += p;
        for k in 0..d {
            out.counts[k][x[k] as usize] += p;
            let share = x[k] as f64 + cells[k].0;
            out.share_moments[k].0 += p * share / (n + a);
            out.share_moments[k].1 += p * share * (share + 1.0) / ((n + a) * (n + a + 1.0));
            means[k] += p * x[k] as f64;
            (0..d).for_each(|j| seconds[k * d + j] += p * (x[k] * x[j]) as f64);
        }
    }
    for k in 0..d {
        out.share_moments[k].1 -= out.share_moments[k].0.powi(2);
        (0..d).for_each(|j| out.covariance[k * d + j] = seconds[k * d + j] - means[k] * means[j]);
    }
    out
}

fn close(name: &str, found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() <= tolerance, "{name}: {found} instead of {wanted}");
}

fn compare(name: &str, cells: &[Cell], total: &Total, wanted: &Brute) {
    let posterior = Posterior::new(cells, total).unwrap();
    let at = |law: &Segment, x: usize| law.at(x as i64);
    close(name, posterior.log_evidence(), wanted.log_evidence, 1e-10);
    for (n, &p) in wanted.total.iter().enumerate() {
        close(name, at(posterior.total(), n), p, 1e-11);
    }
    let laws = posterior.marginals().unwrap();
    let (shares, covariance) = (posterior.share_moments().unwrap(), posterior.count_covariance().unwrap());
    for (k, law) in laws.iter().enumerate() {
        for (x, &p) in wanted.counts[k].iter().enumerate() {
            close(name, at(law, x), p, 1e-11);
        }
        close(name, shares[k].0, wanted.share_moments[k].0, 1e-11);
        close(name, shares[k].1, wanted.share_moments[k].1, 1e-11);
    }
    for (found, wanted) in covariance.iter().zip(&wanted.covariance) {
        close(name, *found, *wanted, 1e-9);
    }
    assert!(posterior.error() < 1e-8, "{name}: {}", posterior.error());
}

#[test]
fn a_public_total_agrees_with_brute_force() {
    for case in cases() {
        for priors in [[1.0, 1.0, 1.0], [0.01, 3.0, 0.5], [1e-6, 1e-6, 1e-6], [400.0, 2.0, 90.0]] {
            for (n, least) in [(0, 0), (1, 0), (9, 0), (9, 2)] {
                let cells: Vec<Cell> =
                    (0..3).map(|k| Cell::new(priors[k], case.factors[k].clone(), least).unwrap()).collect();
                let total = Total::new(TotalPrior::Known(n), case.terms.clone()).unwrap();
                let parts: Vec<_> = (0..3).map(|k| (priors[k], least, &case.factors[k][..])).collect();
                let log_total = |sum: u64| {
                    if sum == n { total.log_weight_of_terms(n) } else { f64::NEG_INFINITY }
                };
                let mut wanted = brute(&parts, log_total, n);
                if least > 0 {
                    // The prior given that no count is below the least.
                    let alone: Vec<_> = parts.iter().map(|part| (part.0, part.1, &[][..])).collect();
                    let public = |sum: u64| if sum == n { 0.0 } else { f64::NEG_INFINITY };
                    wanted.log_evidence -= brute(&alone, public, n).log_evidence;
                }
                compare(&format!("{} {priors:?} {n}", case.name), &cells, &total, &wanted);
            }
        }
    }
}

#[test]
fn a_private_total_agrees_with_brute_force() {
    const MOST: u64 = 45;
    for case in cases() {
        for priors in [[1.0, 1.0, 1.0], [0.1, 3.0, 0.5]] {
            for (name, prior, bounded) in [
                ("range", TotalPrior::Between(2, 11), true),
                ("weights", TotalPrior::Weights(3, vec![0.1, -2.0, f64::NEG_INFINITY, 1.0, -3.0]), true),
                ("negative binomial", TotalPrior::NegativeBinomial { mean: 3.0, size: 40.0 }, false),
                ("flat", TotalPrior::Flat, false),
            ] {
                if name == "flat" && !case.locates {
                    continue;
                }
                // The noise is narrow enough for brute force to see all that matters.
                let most = if bounded { 12 } else { MOST };
                let cells: Vec<Cell> =
                    (0..3).map(|k| Cell::new(priors[k], case.factors[k].clone(), 0).unwrap()).collect();
                let total = Total::new(prior.clone(), case.terms.clone()).unwrap();
                let log_prior = |n: u64| match &prior {
                    TotalPrior::Between(low, high) => {
                        if (*low..=*high).contains(&n) {
                            -10f64.ln()
                        } else {
                            f64::NEG_INFINITY
                        }
                    }
                    TotalPrior::Weights(low, w) => {
                        n.checked_sub(*low).and_then(|i| w.get(i as usize)).copied().unwrap_or(f64::NEG_INFINITY)
                    }
                    TotalPrior::NegativeBinomial { mean, size } => {
                        let (x, p) = (n as f64, size / (size + mean));
                        log_gamma(x + size) - log_gamma(*size) - log_gamma(x + 1.0) + size * p.ln() + x * (1.0 - p).ln()
                    }
                    _ => 0.0,
                };
                let parts: Vec<_> = (0..3).map(|k| (priors[k], 0, &case.factors[k][..])).collect();
                let wanted = brute(&parts, |n| log_prior(n) + total.log_weight_of_terms(n), most);
                compare(&format!("{} {name} {priors:?}", case.name), &cells, &total, &wanted);
            }
        }
    }
}

#[test]
fn draws_have_the_means_and_the_total() {
    let case = &cases()[4];
    let cells: Vec<Cell> = (0..3).map(|k| Cell::new(1.0, case.factors[k].clone(), 0).unwrap()).collect();
    for prior in [TotalPrior::Known(9), TotalPrior::Between(5, 30)] {
        let posterior = Posterior::new(&cells, &Total::new(prior, case.terms.clone()).unwrap()).unwrap();
        let size = 20_000;
        let draws = posterior.sample(size, &StreamKey::from_bytes([3; 32])).unwrap();
        for (k, (mean, variance)) in posterior.count_moments().unwrap().into_iter().enumerate() {
            let found = draws.iter().skip(k).step_by(3).sum::<i64>() as f64 / size as f64;
            // Five standard errors: false alarms below 1e-6 each.
            assert!((found - mean).abs() <= 5.0 * (variance / size as f64).sqrt(), "{found} {mean}");
        }
        let totals = draws.chunks(3).map(|x| x.iter().sum::<i64>());
        assert!(totals.into_iter().all(|n| posterior.total().at(n) > 0.0));
    }
}

#[test]
fn long_and_short_ways_agree() {
    // Enough cells and noise for transforms; the evidence of a merged pair of cells under a merged prior is no oracle, but
    // exchangeable cells must have equal marginals, and the means must sum to the total.
    let d = 60;
    let noise = Noise::Laplace { scale: 40.0, step: 1.0 };
    let cells: Vec<Cell> = (0..d)
        .map(|k| Cell::new(0.7, vec![Factor::noisy(f64::from(3 * (k % 5)), noise).unwrap()], 0).unwrap())
        .collect();
    let posterior = Posterior::new(&cells, &Total::new(TotalPrior::Known(5000), vec![]).unwrap()).unwrap();
    let moments = posterior.count_moments().unwrap();
    let sum: f64 = moments.iter().map(|m| m.0).sum();
    assert!((sum - 5000.0).abs() < 1e-6, "{sum}");
    for k in 5..d as usize {
        assert!((moments[k].0 - moments[k - 5].0).abs() < 1e-7);
    }
    assert!(posterior.error() < 1e-8, "{:e}", posterior.error());
    let covariance = posterior.count_covariance().unwrap();
    // The total does not vary, so rows sum to zero.
    for (k, row) in covariance.chunks(d as usize).enumerate() {
        assert!(row.iter().sum::<f64>().abs() < 1e-6 * row[k], "row {k}");
    }
}

#[test]
fn what_cannot_be_done_is_refused() {
    let share = |y: f64| vec![Factor::share(y - 1e-9, y + 1e-9, 0.8, 1.5).unwrap()];
    let cells: Vec<Cell> = [0.3, 0.7].map(|y| Cell::new(1.0, share(y), 0).unwrap()).to_vec();
    let flat = Total::new(TotalPrior::Flat, vec![TotalTerm::Shares { scale: 0.8, prior: 3.0 }]).unwrap();
    assert!(Posterior::new(&cells, &flat).is_err());
    assert!(Posterior::new(&cells[..1], &flat).is_err());
    let few = Total::new(TotalPrior::Known(1), vec![]).unwrap();
    let floored: Vec<Cell> = [0.3, 0.7].map(|y| Cell::new(1.0, share(y), 1).unwrap()).to_vec();
    assert!(Posterior::new(&floored, &few).is_err());
}

#[test]
fn the_evidence_of_every_total_is_that_of_the_public_one() {
    for case in cases() {
        let cells: Vec<Cell> = (0..3).map(|k| Cell::new(0.4, case.factors[k].clone(), 0).unwrap()).collect();
        let logs = Posterior::log_evidence_by_total(&cells, 2, 300).unwrap();
        assert_eq!(logs.len(), 299);
        for n in [2, 3, 10, 64, 150, 300] {
            let known = Total::new(TotalPrior::Known(n), vec![]).unwrap();
            let wanted = Posterior::new(&cells, &known).unwrap().log_evidence();
            close(case.name, logs[n as usize - 2], wanted, 1e-8);
        }
    }
}
