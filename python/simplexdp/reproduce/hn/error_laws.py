"""The whole law of the error at one data set, what [HN] Figures 5 to 8 share.

The captions give prior and counts. Epsilon = 0.8 and delta = 1e-8 are taken, as in [HA]. Part (a) of each figure is the
error as boxes: quartiles, 5 and 95 %, circles at the means. Part (b) is the probability of each distance from the
posterior of the data; with two categories the distances are the steps of the paper, otherwise bins of width 0.1,
because with more categories few candidates share a distance. A third panel adds these up.

The formulas as printed differ from the mechanism that is claimed to be private: [HN 2.3] leaves out the maximum over
the data sets, so that the smooth sensitivity is the local one, and [HN 4.4] leaves out the 1/2 of the exponent. That
version is drawn too, and its exact cost stands in a table where it can be certified. Laws of the exponential mechanism
are exact, independent Laplace noise on more than two categories is simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simplexdp.plots.style import panels
from simplexdp.reproduce.figure import Figure, Settings, Table
from simplexdp.reproduce.hn.accuracy import DELTA, lookup
from simplexdp.reproduce.posteriors import QUANTILES, boxes, hellinger, law, line, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot

__all__ = ["EPSILON", "error_law_figure"]

EPSILON = 0.8
SHOWN = ("smooth", "adaptive", "laplace", "sum_preserving", "printed")
GOOD = 0.2


def error_law_figure(
    number: int, counts: Sequence[int], paper: str, why: Callable[[dict[str, float], dict[str, float]], str]
) -> Figure:
    """Return the figure for these counts under the uniform prior; `why` gets means and exact costs by mechanism."""
    m = len(counts)
    keys = ("global", "local", "smooth", "printed", "adaptive")
    keys += (*(("certified",) if m < 4 else ()), "laplace", *(("laplace_1",) if m == 2 else ()), "sum_preserving")
    data = str(tuple(counts))

    def compute(settings: Settings) -> dict[str, Table]:
        samples = 10_000 if settings.fast else 200_000
        edges = _edges(counts)
        errors, masses = [], []
        for step, key in enumerate(keys):
            found = law(key, [1.0] * m, counts, EPSILON, DELTA, samples=samples, seed=settings.seed)
            values, probabilities = found.distribution.values, found.distribution.probabilities
            good = float(probabilities[values <= GOOD].sum())
            errors.append((key, *summary(found), good))
            binned = np.histogram(values, edges, weights=probabilities)[0]
            masses += [(key, *row) for row in zip(edges[:-1], edges[1:], binned, np.cumsum(binned), strict=True)]
            settings.progress((step + 1) / len(keys))
        columns = ("mechanism", "mean", "standard_error", *QUANTILES, f"probability_up_to_{GOOD}")
        tables = {
            "errors": Table.from_rows(columns, errors),
            "law": Table.from_rows(("mechanism", "from", "to", "probability", "cumulative"), masses),
        }
        if m < 4:
            costs = [(key, EPSILON, DELTA, _exact_epsilon(key, counts)) for key in ("smooth", "local", "printed")]
            tables["costs"] = Table.from_rows(("mechanism", "nominal_epsilon", "delta", "exact_epsilon"), costs)
        return tables

    def draw(tables: Mapping[str, Table]) -> Plot:
        plot, axes = panels(1, 3, width=3.6, height=3.4)
        left, middle, right = axes[0]
        boxes(left, tables["errors"])
        left.set(xlabel="Hellinger error", title=f"(a) x = {data}, ε = {EPSILON}", xlim=(-0.02, 1.02))
        for key in SHOWN:
            rows = tables["law"].where(mechanism=key)
            centres = [(a + b) / 2 for a, b in zip(rows["from"], rows["to"], strict=True)]
            line(middle, key, centres, rows["probability"])
            line(right, key, rows["to"], rows["cumulative"], marker="")
        middle.set(xlabel="Hellinger error", ylabel="probability", ylim=(0, None))
        middle.set_title("(b) of each step" if m == 2 else "(b) in bins of 0.1")
        right.set(
            xlabel="Hellinger error", ylabel="probability of this error or less", ylim=(0, 1.02), title="(c) added up"
        )
        plot.legend(*middle.get_legend_handles_labels(), loc="outside lower center", ncols=5)
        return plot

    def finding(tables: Mapping[str, Table]) -> str:
        mean, good = lookup(tables["errors"], "mean"), lookup(tables["errors"], f"probability_up_to_{GOOD}")
        costs = lookup(tables["costs"], "exact_epsilon") if "costs" in tables else {}
        error = max(tables["errors"]["standard_error"])
        spread = f" (standard errors up to {error:.1g})" if error else ""
        return (
            f"Mean errors{spread}: smooth {mean['smooth']:.3f}, Laplace {mean['laplace']:.3f}, sum-preserving "
            f"{mean['sum_preserving']:.3f}; errors of at most {GOOD} have probability {good['smooth']:.3f}, "
            f"{good['laplace']:.3f} and {good['sum_preserving']:.3f}. {why(mean, costs)}"
        )

    return Figure(
        name=f"hn-figure-{number}",
        source=f"[HN] Figure {number}",
        title=f"The law of the error at the data {data}",
        paper=paper,
        compute=compute,
        draw=draw,
        finding=finding,
    )


def _exact_epsilon(key: str, counts: Sequence[int]) -> float:
    mechanism = hellinger(key, (1.0,) * len(counts), sum(counts), EPSILON, DELTA)
    return float(mechanism.certify().privacy.epsilon(DELTA))


def _edges(counts: Sequence[int]) -> NDArray[np.float64]:
    """Return bins that each hold one distance for two categories, and tenths otherwise."""
    if len(counts) > 2:
        return np.linspace(0.0, 1.0, 11)
    steps = law("global", (1.0, 1.0), counts, EPSILON, DELTA).distribution.values
    return np.concatenate([[0.0], (steps[1:] + steps[:-1]) / 2, [1.0]])
