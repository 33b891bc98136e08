use simplexdp_core::hellinger::*;
use std::time::Instant;
#[test]
fn speed() {
    for (p, n) in [(vec![1.0; 2], 2_000_000u64), (vec![1.0; 3], 3000), (vec![1.0; 4], 250)] {
        let f = Family::new(&p, n).unwrap();
        let e = Enumeration::new(&f).unwrap();
        let m = p.len() as u64;
        let mut x = vec![n / m; p.len()];
        x[0] += n - x.iter().sum::<u64>();
        let mut out = vec![];
        e.distances_into(&x, &mut out);
        let t = Instant::now();
        e.distances_into(&x, &mut out);
        let d = t.elapsed().as_secs_f64();
        let t = Instant::now();
        let l = e.law(&x, 50.0).unwrap();
        println!("{m} {n} {} distances {:.3e}/s law {:.3e}/s", out.len(), out.len() as f64 / d, l.probabilities.len() as f64 / t.elapsed().as_secs_f64());
    }
    for (a, n) in [(1.0, 60u64), (1.0, 1 << 40), (0.01, 100), (50.0, 1000), (1e-12, 1000), (1e6, 1000)] {
        let f = Family::new(&[a, a], n).unwrap();
        let t = Instant::now();
        println!("{a} {n} K {:.6} {:?}", f.theorem_p_constant(), t.elapsed());
    }
}
