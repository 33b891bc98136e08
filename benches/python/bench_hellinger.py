"""Releases of the Hellinger mechanism against a straightforward NumPy version of the papers' algorithm.

n and m grow. With SIMPLEXDP_BENCH_PLOTS set to a folder, and matplotlib installed, the cost of both is plotted there.
The peer does what the papers describe: it enumerates the candidates, scans all data sets for the smooth sensitivity,
scores every candidate and draws. Its cost grows with the square of the number of candidates; ours with its logarithm.
"""

import itertools
import math
import os
from pathlib import Path

import numpy as np
from benches.python.timing import Comparison, report, seconds
from scipy.special import gammaln

import simplexdp as sdp

EPSILON, DELTA = 0.8, 1e-8
PEER_LIMIT = 2500
"""Candidates beyond which the peer is not asked: it would take minutes."""

SETTINGS = [(2, 100), (2, 600), (2, 2000), (3, 20), (3, 60), (4, 20), (2, 10**6), (3, 10**4), (4, 10**4), (30, 10**8)]

LARGEST_PLOTTED = 10**13


def peer(prior: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Release a posterior with the smooth sensitivity by enumeration, vectorised over candidates."""
    m, n = len(counts), int(counts.sum())
    heads = np.array([k for k in itertools.product(range(n + 1), repeat=m - 1) if sum(k) <= n])
    candidates = np.column_stack([heads, n - heads.sum(axis=1)])
    parameters = candidates + prior

    def distances(x: np.ndarray) -> np.ndarray:
        a = x + prior
        scores = (gammaln((a + parameters) / 2) - (gammaln(a) + gammaln(parameters)) / 2).sum(axis=1)
        return np.sqrt(np.maximum(0, -np.expm1(np.minimum(scores, 0))))

    size = len(candidates)
    gamma = math.log(1 - EPSILON / (2 * math.log(2 * DELTA * math.exp(-EPSILON / 2) / (2 * size))))
    smooth = 0.0
    for x in candidates:
        moves = np.abs(candidates - x).sum(axis=1) // 2
        local = distances(x)[moves == 1].max()
        smooth = max(smooth, local * math.exp(-gamma * (np.abs(x - counts).sum() // 2)))
    weights = np.exp(-EPSILON * distances(counts) / (2 * smooth))
    return parameters[rng.choice(size, p=weights / weights.sum())]


def balanced(m: int, n: int) -> np.ndarray:
    counts = np.full(m, n // m)
    counts[: n - counts.sum()] += 1
    return counts


def run() -> int:
    rng = np.random.default_rng(1)
    missed, curve = 0, []
    alone = []
    for m, n in SETTINGS:
        counts, prior = balanced(m, n), np.ones(m)

        def ours(counts: np.ndarray = counts, n: int = n, m: int = m) -> object:
            mechanism = sdp.HellingerMechanism(
                np.ones(m), n, EPSILON, DELTA, sensitivity="adaptive", calibration="proved"
            )
            return mechanism.release(counts)

        label = f"construction and release, m = {m}, n = {n:.0e}".replace("e+0", "e")
        best = min(seconds(ours) for _ in range(5))
        candidates = math.comb(n + m - 1, m - 1)
        if candidates <= PEER_LIMIT:
            theirs = min(seconds(lambda c=counts, p=prior: peer(p, c, rng)) for _ in range(2))
            missed += report(label, Comparison(best, theirs), peer="NumPy")
            curve.append((candidates, best, theirs))
        else:
            alone.append((candidates, best))
            print(f"  {label:<44} {best * 1e3:8.3g} ms  {candidates:.2e} candidates", flush=True)
    logs = np.log([[size, ours, theirs] for size, ours, theirs in curve]).T
    slopes = [np.polyfit(logs[0], column, 1)[0] for column in logs[1:]]
    print(f"  time grows like |R|^{slopes[0]:.2f} here, |R|^{slopes[1]:.2f} for NumPy")
    counts = balanced(3, 3000)
    mechanism = sdp.HellingerMechanism(np.ones(3), 3000, EPSILON, calibration="proved")
    best = min(seconds(lambda: mechanism.probabilities(counts)) for _ in range(5))
    print(f"  probabilities of all candidates, m = 3, n = 3e3: {math.comb(3002, 2) / best:.2e} candidates per second")
    for m, n in [(2, 2000), (3, 100)]:
        taken = seconds(lambda m=m, n=n: sdp.HellingerMechanism(np.ones(m), n, EPSILON, DELTA, calibration="certified"))
        print(f"  certified search, m = {m}, n = {n}: {taken:.2f} s")
    if "SIMPLEXDP_BENCH_PLOTS" in os.environ:
        plot(curve, alone, Path(os.environ["SIMPLEXDP_BENCH_PLOTS"]) / "hellinger.svg")
    return missed


def plot(curve: list[tuple[int, float, float]], alone: list[tuple[int, float]], path: Path) -> None:
    """Draw the time of a release over the number of candidates, both axes logarithmic.

    The axis ends where the points still can be told apart; what lies beyond is named in a corner.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    sizes, ours, theirs = zip(*sorted(curve), strict=True)
    axes.loglog(sizes, theirs, "s-", label="NumPy, as in the papers")
    far = [(size, taken) for size, taken in alone if size > LARGEST_PLOTTED]
    more = sorted([*zip(sizes, ours, strict=True), *(point for point in alone if point not in far)])
    axes.loglog(*zip(*more, strict=True), "o-", label="simplexdp")
    axes.set(xlabel="candidates |R|", ylabel="construction and release, seconds")
    notes = "\n".join(f"{size:.0e} candidates: {taken * 1e3:.1f} ms" for size, taken in far)
    axes.text(0.98, 0.5, notes, transform=axes.transAxes, ha="right", va="center")
    axes.legend()
    figure.savefig(path)
    print(f"  plotted in {path}")
