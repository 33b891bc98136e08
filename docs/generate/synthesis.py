"""Write docs/assets/synthesis.svg, the README's picture of synthetic records: a pair of columns, errors of pairs.

Run as ``python docs/generate/synthesis.py DATA_FOLDER RESULTS_FOLDER`` after `benches.python.synthesis_comparison` has
filled the second folder for Adult. The records are public data; the model is seeded, so that the picture repeats.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from benches.python.synthesis_data import coded
from benches.python.synthesis_peers import place

from simplexdp.models import PrivateSynthesizer
from simplexdp.plots.style import panels, style
from simplexdp.testing import SeededRng

TARGET = Path(__file__).resolve().parents[1] / "assets" / "synthesis.svg"
EPSILONS = (0.1, 1.0, 3.0)
FIRST, SECOND = 3, 12
"""Education and working hours."""

LINES = {
    "independent columns": "independent columns 0",
    "dpmm MST": "dpmm MST",
    "simplexdp": "simplexdp 0",
}


def main() -> None:
    """Draw three panels: a true table, the synthetic one, the mean error of all pairs."""
    warnings.simplefilter("ignore")
    data, results = Path(sys.argv[1]), Path(sys.argv[2])
    records, sizes, _ = coded(data, "adult")
    model = PrivateSynthesizer(1.0, 1e-6, domains=dict(enumerate(sizes)), random_state=SeededRng(0)).fit(records)
    synthetic = model.sample(len(records), random_state=SeededRng(1))
    tables = []
    for given in (records, synthetic):
        table = np.zeros((sizes[FIRST], sizes[SECOND]))
        np.add.at(table, (given[:, FIRST], given[:, SECOND]), 1 / len(given))
        tables.append(table)
    with style():
        figure, axes = panels(1, 3, width=4.2, height=3.3)
        for ax, table, title in zip(axes[0], tables, ("Real records", "Synthetic, epsilon 1"), strict=False):
            ax.imshow(np.sqrt(table), cmap="Blues", aspect="auto", vmin=0, vmax=np.sqrt(max(map(np.max, tables))))
            ax.set_title(title)
            ax.set_xlabel("hours a week, in bins")
            ax.set_ylabel("education")
            ax.set_xticks([])
            ax.set_yticks([])
            ax.grid(visible=False)
        right = axes[0][2]
        for name, run in LINES.items():
            found = [(epsilon, place(results, "adult", epsilon, run, ".row")) for epsilon in EPSILONS]
            known = [(epsilon, json.loads(path.read_text())[0]) for epsilon, path in found if path.exists()]
            if known:
                right.plot(*zip(*known, strict=True), marker="o", label=name)
        truth = json.loads((results / "adult-truth.row").read_text())[0]
        right.axhline(truth, color="grey", linestyle=":", label="real records, resampled")
        right.set_xscale("log")
        right.set_yscale("log")
        right.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
        errors = (0.005, 0.01, 0.02, 0.05)
        right.set_yticks(errors, [f"{error:g}" for error in errors])
        right.minorticks_off()
        right.set_xlabel("epsilon")
        right.set_ylabel("mean error of 105 pairs")
        right.set_title("Adult, 15 columns")
        right.legend()
        figure.savefig(TARGET, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
