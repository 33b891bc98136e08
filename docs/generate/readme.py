"""Write docs/assets/readme.svg, the README's picture: a release, what it costs, and who wins.

Run as ``python docs/generate/readme.py``. The release is seeded, so that the picture repeats; it is of public data.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import simplexdp as sdp
from simplexdp.datasets import EMPLOYMENT_DURATION, german_credit
from simplexdp.plots.style import panels, style
from simplexdp.testing import SeededRng

TARGET = Path(__file__).resolve().parents[1] / "assets" / "readme.svg"
EPSILON, DELTA = 1.0, 1e-6


def main() -> None:
    """Draw three panels."""
    warnings.simplefilter("ignore", sdp.InsecureRandomnessWarning)
    levels = list(EMPLOYMENT_DURATION)
    codes = german_credit()["employment_duration"]
    counts = sdp.frames.count_table({"duration": codes}, ["duration"], {"duration": levels})
    mechanism = sdp.DirichletMechanism.calibrated(EPSILON, DELTA, len(levels), total=len(codes), loss="kl")
    released = mechanism.release(counts, rng=SeededRng(2))
    lower, upper = mechanism.interval(released, len(codes)).T
    kinds = ["dirichlet", "gaussian", "laplace", "sum_preserving_laplace"]
    epsilons = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
    found = [sdp.compare(1000, 20, epsilon, DELTA, metric="kl", mechanisms=kinds) for epsilon in epsilons]
    with style():
        figure, axes = panels(1, 3, width=4.2, height=3.3)
        left, middle, right = axes[0]
        sdp.plots.release(released, lower, upper, labels=list(EMPLOYMENT_DURATION.values()), ax=left, level=0.95)
        left.set_xlabel(f"share of {len(codes)} records")
        curve = mechanism.privacy
        sdp.plots.privacy_curve({"one release": curve, "twelve": 12 * curve}, ax=middle)
        middle.set_title("What it costs")
        sdp.plots.error_against_epsilon(found, ax=right)
        right.set_title("Who wins: 1000 records, 20 categories")
        figure.savefig(TARGET, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
