//! Criterion benchmarks of the core; the benches themselves stand in `benches/`.
