"""Special functions against scipy.special, time per value."""

import numpy as np
import scipy.special
from benches.python.timing import compare, report

import simplexdp as sdp

SIZE = 10**6
INCOMPLETE_SIZE = 10**4


def run() -> int:
    x = np.random.default_rng(1).uniform(0.01, 100, SIZE)
    cases = [
        ("trigamma, 10^6 values in [0.01, 100]", sdp.special.trigamma, lambda x: scipy.special.polygamma(1, x), 10),
        ("log_gamma, 10^6 values in [0.01, 100]", sdp.special.log_gamma, scipy.special.gammaln, 1),
        ("digamma, 10^6 values in [0.01, 100]", sdp.special.digamma, scipy.special.digamma, None),
    ]
    missed = 0
    a = 10.0 ** np.random.default_rng(2).uniform(0, 6, INCOMPLETE_SIZE)
    y = a * np.exp(np.random.default_rng(3).normal(size=a.size) / np.sqrt(a))
    b = np.full_like(a, 50.0)
    for label, ours, peer, required in cases:
        comparison = compare(lambda f=ours: f(x), lambda f=peer: f(x), our_work=SIZE, peer_work=SIZE)
        missed += report(label, comparison, peer="scipy", required=required)
    incomplete = [
        ("gammaincc, shapes 1 to 1e6 around the mean", sdp.special.gammaincc, scipy.special.gammaincc, (a, y)),
        ("betainc, shapes 1 to 1e6 and 50", sdp.special.betainc, scipy.special.betainc, (a, b, y / (y + b))),
        ("gammainc_inverse of 0.01", sdp.special.gammainc_inverse, scipy.special.gammaincinv, (a, 0.01)),
        (
            "betainc_inverse of 0.01, shapes 1 to 1e6 and 50",
            sdp.special.betainc_inverse,
            scipy.special.betaincinv,
            (a, b, 0.01),
        ),
    ]
    for label, ours, peer, arguments in incomplete:
        work = INCOMPLETE_SIZE
        comparison = compare(
            lambda f=ours, x=arguments: f(*x),
            lambda f=peer, x=arguments: f(*x),
            our_work=work,
            peer_work=work,
            rounds=3,
        )
        report(label, comparison, peer="scipy")
    return missed
