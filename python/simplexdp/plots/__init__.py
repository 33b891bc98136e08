"""Plots of privacy curves, budgets, releases and comparisons; needs matplotlib (extra ``plots``).

Every function draws on the axes that it is given, or on those of a new figure that no window knows of, and returns the
axes: ``ax.figure.savefig("curve.png")`` writes the plot, ``ax.figure`` shows it in a notebook. matplotlib is imported
when the first plot is drawn.
"""

from simplexdp.plots.attacking import tradeoff
from simplexdp.plots.comparing import error_against_epsilon, winner_map
from simplexdp.plots.curves import privacy_curve
from simplexdp.plots.groups import groups
from simplexdp.plots.heat import heat_map
from simplexdp.plots.hierarchies import hierarchy
from simplexdp.plots.lattice import ternary
from simplexdp.plots.planning import plan
from simplexdp.plots.shares import release
from simplexdp.plots.spending import budget

__all__ = [
    "budget",
    "error_against_epsilon",
    "groups",
    "heat_map",
    "hierarchy",
    "plan",
    "privacy_curve",
    "release",
    "ternary",
    "tradeoff",
    "winner_map",
]
