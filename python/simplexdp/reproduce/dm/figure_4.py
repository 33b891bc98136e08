"""[DM] Figure 4: test accuracy of private naive Bayes models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from simplexdp.reproduce.dm.naive_bayes import naive_bayes_results
from simplexdp.reproduce.figure import Figure, Settings, Table
from simplexdp.reproduce.model_scores import RIVALS, SHOWN_FLOOR, draw_scores, means
from simplexdp.reproduce.simulated_tables import FLOORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot

COLUMN = "mean_accuracy"


def compute(settings: Settings) -> dict[str, Table]:
    """Average the test accuracy over splits and draws."""
    return {"accuracy": means(naive_bayes_results(settings), "accuracy", COLUMN)}


def draw(tables: Mapping[str, Table]) -> Plot:
    """Draw one panel for each data set."""
    return draw_scores(tables["accuracy"], COLUMN, label="test accuracy", columns=4)


def finding(tables: Mapping[str, Table]) -> str:
    """Compare with additive noise under one rule and under the best rule, beyond two standard errors."""
    table = tables["accuracy"]
    names = table.distinct("data_set")
    fixed, best = _duels(table, (SHOWN_FLOOR,)), _duels(table, FLOORS)
    lowest, highest = min(best), max(best)
    text = (
        f"Of {len(fixed)} points the Dirichlet model is more accurate than both additive mechanisms, clipped at "
        f"{SHOWN_FLOOR:g}, at {_count(fixed, 1)}, less accurate than one of them at {_count(fixed, -1)}, and within "
        f"two standard errors at {_count(fixed, 0)}; under the best of {len(FLOORS)} rules, picked afterwards, at "
        f"{_count(best, 1)}, {_count(best, -1)} and {_count(best, 0)}. The difference to the best runs from "
        f"{lowest[0]:+.3f} ({lowest[1]}, epsilon {lowest[2]:g}) to {highest[0]:+.3f} ({highest[1]}, epsilon "
        f"{highest[2]:g}). "
    )
    if _count(best, 0) >= len(best) / 2:
        text += "As in the paper there is no clear winner"
    else:
        text += "The paper, which states no rule, sees no clear winner; with the right one noise is ahead"
    return text + ("." if len(names) > 1 else "; the other seven data sets need the UCI files (--data).")


def _duels(table: Table, floors: Sequence[float]) -> list[tuple[float, str, float, int]]:
    """Return the lead over the best rival at every point, and its sign where it is more than noise."""
    duels = []
    for name in table.distinct("data_set"):
        for epsilon in table.distinct("renyi_epsilon_order_5"):
            part = table.where(data_set=name, renyi_epsilon_order_5=epsilon)
            rows = [part.where(mechanism=m, floor_or_smoothing=f) for m in RIVALS for f in floors]
            best, error = max((row[COLUMN][0], row["standard_error"][0]) for row in rows)
            ours = part.where(mechanism="dirichlet")
            lead = ours[COLUMN][0] - best
            noise = 2 * float(np.hypot(error, ours["standard_error"][0]))
            duels.append((lead, name, epsilon, int(np.sign(lead)) if abs(lead) > noise else 0))
    return duels


def _count(duels: Sequence[tuple[float, str, float, int]], sign: int) -> int:
    return sum(each[3] == sign for each in duels)


FIGURE = Figure(
    name="dm-figure-4",
    source="[DM] Figure 4",
    title="Private naive Bayes: test accuracy",
    paper="In accuracy there is no clear winner; the Dirichlet mechanism does as well as noise in most cases.",
    compute=compute,
    draw=draw,
    finding=finding,
)
