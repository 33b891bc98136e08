//! Releases a histogram and debits what it costs, without Python: `cargo run --example release`.

use simplexdp_core::budget::{Decision, GaussianRule, Rule, Spend};
use simplexdp_core::guarantee::{Adjacency, DirichletDraw};
use simplexdp_core::random::StreamKey;
use simplexdp_core::sampling::dirichlet::ExactDirichlet;

fn main() -> simplexdp_core::Result<()> {
    let counts = [112.0, 58.0, 25.0, 5.0];
    let (scale, prior, bits) = (0.5, [4.0; 4], 32);

    // What one release tells of a record that is replaced by another.
    let draw = DirichletDraw { scale, prior: &prior, dimension: 4, floor: 0.0, total: None, max_rows: 1 };
    let guarantee = draw.released(Adjacency::Replace)?;
    println!("a release is ({:.4}, 1e-6)-DP", guarantee.epsilon(1e-6));

    // A book of (3, 1e-6), whose later debits may depend on what earlier releases showed.
    let rule = GaussianRule::new(3.0, 1e-6, None)?;
    let profiles = guarantee.directions().iter().map(|node| node.shared()).collect();
    let spend = Spend::new(profiles, guarantee.sampling_error())?;
    let mut state = rule.start();

    // First the debit, then the draw.
    let law = ExactDirichlet::new(scale, &prior, bits)?;
    for release in 1.. {
        match rule.debit(&state, &spend)? {
            Decision::Paid(then) => state = then,
            Decision::Refused { reason } => {
                println!("release {release} is refused: {reason}");
                break;
            }
        }
        let shares = law.release_values(&counts, &StreamKey::from_os()?, 1)?;
        println!("release {release}: {shares:.3?}, {:.1} % of the book used", 100.0 * rule.used(&state)?);
    }
    Ok(())
}
