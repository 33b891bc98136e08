"""One release of the Hellinger mechanism by the exact sampler, against the papers' enumeration in NumPy.

The peer computes all scores with scipy's log-gamma, their weights, and draws one index: what a straightforward version
of the papers' algorithm does; it gets the list of candidates for free. We build a sampler for every release (up to
2^15 candidates we enumerate as well).
"""

import numpy as np
from benches.python.timing import compare, report, seconds
from scipy.special import gammaln

import simplexdp as sdp


def candidates(n: int, m: int) -> np.ndarray:
    """Return all compositions of n into m parts."""
    if m == 1:
        return np.array([[n]])
    parts = [candidates(n - k, m - 1) for k in range(n + 1)]
    return np.concatenate([np.insert(part, 0, k, axis=1) for k, part in enumerate(parts)])


def enumerate_and_draw(counts: np.ndarray, prior: np.ndarray, exponent: float, space: np.ndarray) -> np.ndarray:
    """Draw as the papers do."""
    a, b = prior + counts, prior + space
    score = (gammaln((a + b) / 2) - gammaln(a) / 2 - gammaln(b) / 2).sum(axis=1)
    weights = np.exp(-exponent * np.sqrt(-np.expm1(np.minimum(score, 0))))
    return space[np.random.default_rng().choice(len(space), p=weights / weights.sum())]


def zipf(n: int, m: int) -> np.ndarray:
    weights = 1 / np.arange(1, m + 1) ** 1.2
    counts = np.floor(n * weights / weights.sum()).astype(np.int64)
    counts[0] += n - counts.sum()
    return counts


def run() -> int:
    missed = 0
    for n, m, required in (
        (1000, 2, None),
        (10**5, 2, None),
        (100, 3, None),
        (400, 3, 5.0),
        (40, 4, None),
        (100, 4, 20.0),
    ):
        counts, prior = zipf(n, m), np.ones(m)
        mechanism = sdp.HellingerMechanism(prior, n, 1.0, calibration="proved")
        exponent = mechanism.exponent_at(counts)
        space = candidates(n, m) if m > 2 else np.stack([np.arange(n + 1), n - np.arange(n + 1)], axis=1)
        comparison = compare(
            lambda h=mechanism, c=counts: h.release(c),
            lambda c=counts, p=prior, e=exponent, s=space: enumerate_and_draw(c, p, e, s),
            rounds=5,
        )
        label = f"n = {n}, m = {m}, {len(space)} candidates"
        missed += report(label, comparison, peer="enumeration", required=required)
    for n, m, limit in ((10**4, 4, 0.01), (10**8, 30, 0.5), (10**9, 300, None)):
        for name, counts in (("balanced", np.full(m, n // m)), ("Zipf", zipf(n, m))):
            mechanism = sdp.HellingerMechanism(np.ones(m), int(counts.sum()), 5.0, calibration="proved")
            one = min(seconds(lambda h=mechanism, c=counts: h.release(c)) for _ in range(7))
            many = min(seconds(lambda h=mechanism, c=counts: h.simulate(c, 101)) for _ in range(3))
            ok = limit is None or one <= limit
            missed += not ok
            print(
                f"  n = {n:.0e}, m = {m:>3}, {name:<9} sampler and first release {one * 1e3:7.2f} ms, each further one"
                f" {(many - one) * 10:7.3f} ms{'' if ok else '  MISSED'}",
                flush=True,
            )
    return missed
