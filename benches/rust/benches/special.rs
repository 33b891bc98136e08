//! Special functions, time per call: one group per family, cheap and costly arguments side by side.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use simplexdp_core::special::*;

fn gamma_family(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gamma");
    for x in [0.3, 2.2, 50.0] {
        group.bench_function(format!("log_gamma({x})"), |b| b.iter(|| log_gamma(black_box(x))));
        group.bench_function(format!("digamma({x})"), |b| b.iter(|| digamma(black_box(x))));
        group.bench_function(format!("trigamma({x})"), |b| b.iter(|| trigamma(black_box(x))));
        group.bench_function(format!("log_gamma_ratio({x}, 1)"), |b| b.iter(|| log_gamma_ratio(black_box(x), 1.0)));
    }
    group.finish();
}

fn incomplete(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("incomplete");
    for a in [0.5, 10.0, 1e3, 1e9] {
        group.bench_function(format!("gamma_q({a:e}, a)"), |b| b.iter(|| gamma_q(black_box(a), black_box(a))));
        group.bench_function(format!("beta_inc({a:e}, a, 1/2)"), |b| b.iter(|| beta_inc(black_box(a), a, 0.5)));
        group.bench_function(format!("gamma_p_inverse({a:e}, 0.01)"), |b| {
            b.iter(|| gamma_p_inverse(black_box(a), 0.01))
        });
    }
    group.finish();
}

criterion_group!(benches, gamma_family, incomplete);
criterion_main!(benches);
