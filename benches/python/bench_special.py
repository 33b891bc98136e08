"""Special functions against scipy.special, time per value."""

import numpy as np
import scipy.special
from benches.python.timing import compare, report

import simplexdp as sdp

SIZE = 10**6


def run() -> int:
    x = np.random.default_rng(1).uniform(0.01, 100, SIZE)
    cases = [
        ("trigamma, 10^6 values in [0.01, 100]", sdp.special.trigamma, lambda x: scipy.special.polygamma(1, x), 10),
        ("log_gamma, 10^6 values in [0.01, 100]", sdp.special.log_gamma, scipy.special.gammaln, 1),
        ("digamma, 10^6 values in [0.01, 100]", sdp.special.digamma, scipy.special.digamma, None),
    ]
    missed = 0
    for label, ours, peer, required in cases:
        comparison = compare(lambda f=ours: f(x), lambda f=peer: f(x), our_work=SIZE, peer_work=SIZE)
        missed += report(label, comparison, peer="scipy", required=required)
    return missed
