"""Write ``docs/assets/try.js``: the program of the page "Try it", with tables that are computed here.

``python docs/generate/try_page.py [FILE]``. The mechanism is zero-sum Laplace noise, which `sdp.plan` finds best for
most histograms. Errors are means over seeded draws, so that the file stays the same until something changes.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np

import simplexdp as sdp
from simplexdp.testing import SeededRng

HERE = Path(__file__).resolve().parent
EPSILONS = [float(f"{10**power:.4g}") for power in np.linspace(-1.5, 1, 26)]
CATEGORIES = [2, 3, 5, 10, 30, 100, 300, 1000]
VALUES = 24_000
"""Of noise in the mean of each cell: a standard error of about one per cent."""


def tables() -> dict[str, object]:
    """Compute error, interval, attack and scale on the grid."""
    error = [[0.0] * len(EPSILONS) for _ in CATEGORIES]
    radius = [[0] * len(EPSILONS) for _ in CATEGORIES]
    guess, scale = [], []
    for at, epsilon in enumerate(EPSILONS):
        for row, dimension in enumerate(CATEGORIES):
            mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(epsilon, dimension=dimension, rows="independent")
            rng = SeededRng(at * 100 + row)
            counts = np.full((max(VALUES // dimension, 8), dimension), 10**6)
            noisy = mechanism.release(counts, rng=rng)
            error[row][at] = float(f"{np.abs(noisy - counts).mean():.4g}")
            radius[row][at] = int(np.ptp(mechanism.interval(np.zeros(1, dtype=np.int64), 0.95))) // 2
        guess.append(float(f"{min((1 + mechanism.privacy.advantage()) / 2 * (1 + 1e-6), 1.0):.7g}"))
        scale.append(float(f"{float(mechanism.scale):.6g}"))
    return {
        "epsilons": EPSILONS,
        "categories": CATEGORIES,
        "error": error,
        "radius": radius,
        "guess": guess,
        "scale": scale,
    }


def main(arguments: list[str]) -> int:
    """Write the file."""
    out = Path(arguments[0]) if arguments else HERE.parent / "assets" / "try.js"
    program = (HERE / "try_page.js").read_text(encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sdp.InsecureRandomnessWarning)
        text = json.dumps(tables(), separators=(",", ":"))
    out.write_text(program.replace("/*TABLES*/ null", text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
