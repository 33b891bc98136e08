//! Gauss-Legendre rules for integrals of smooth positive functions over short panels.

/// The positive half of the 12-point rule on [-1, 1]: nodes and weights, mpmath with 40 digits.
const HALF_12: [(f64, f64); 6] = [
    (0.12523340851146891547, 0.249147045813402785),
    (0.36783149899818019375, 0.23349253653835480876),
    (0.5873179542866174473, 0.20316742672306592175),
    (0.76990267419430468704, 0.16007832854334622633),
    (0.90411725637047485668, 0.10693932599531843096),
    (0.98156063424671925069, 0.047175336386511827195),
];

/// The positive half of the 32-point rule.
const HALF_32: [(f64, f64); 16] = [
    (0.048307665687738316235, 0.096540088514727800567),
    (0.14447196158279649349, 0.095638720079274859419),
    (0.23928736225213707454, 0.093844399080804565639),
    (0.33186860228212764978, 0.091173878695763884713),
    (0.42135127613063534536, 0.087652093004403811143),
    (0.50689990893222939002, 0.083311924226946755222),
    (0.58771575724076232904, 0.078193895787070306472),
    (0.66304426693021520098, 0.072345794108848506225),
    (0.73218211874028968039, 0.065822222776361846838),
    (0.79448379596794240696, 0.058684093478535547145),
    (0.84936761373256997013, 0.050998059262376176196),
    (0.89632115576605212397, 0.042835898022226680657),
    (0.93490607593773968917, 0.034273862913021433103),
    (0.96476225558750643077, 0.025392065309262059456),
    (0.9856115115452683354, 0.016274394730905670605),
    (0.99726386184948156354, 0.0070186100094700966004),
];

/// The nodes and weights of the 12-point rule on [0, h], side by side.
#[inline(always)]
pub(super) fn rule_12(h: f64) -> ([f64; 12], [f64; 12]) {
    let half = 0.5 * h;
    let (mut nodes, mut weights) = ([0.0; 12], [0.0; 12]);
    for (i, &(node, weight)) in HALF_12.iter().enumerate() {
        (nodes[i], weights[i]) = (half * (1.0 - node), half * weight);
        (nodes[6 + i], weights[6 + i]) = (half * (1.0 + node), half * weight);
    }
    (nodes, weights)
}

/// Calls `f(u, weight)` for the nodes of the 32-point rule on [start, start + h].
pub(super) fn nodes_32(start: f64, h: f64, mut f: impl FnMut(f64, f64)) {
    let half = 0.5 * h;
    for &(node, weight) in &HALF_32 {
        f(start + half * (1.0 - node), half * weight);
        f(start + half * (1.0 + node), half * weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_rules_integrate_an_exponential() {
        let (nodes, weights) = rule_12(3.0);
        let short: f64 = nodes.iter().zip(&weights).map(|(u, w)| w * (-u).exp()).sum();
        let mut long = 0.0;
        nodes_32(1.0, 20.0, |u, w| long += w * (-u).exp());
        assert!((short / -(-3f64).exp_m1() - 1.0).abs() < 2e-15);
        assert!((long / ((-1f64).exp() - (-21f64).exp()) - 1.0).abs() < 2e-15);
    }
}
