"""A tree for people who want a graph: chosen by what one noisy measurement of all pairs says.

Nothing is selected from the data: all pairs are measured as `PrivateSynthesizer` measures them, a distribution is
fitted, and the tree is the one that this distribution is closest to [CL68]. Structure and tables are post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidParameterError
from simplexdp.models.synthesizer import PrivateSynthesizer

if TYPE_CHECKING:
    from simplexdp.models.bayesian_network import PrivateBayesianNetwork

__all__ = ["LEARN", "LearnedTree", "learned_tree"]

LEARN = "learn"
MECHANISM = "discrete_gaussian"

LEAST_INFORMATION = 1e-9
"""In nats: columns that are independent but for rounding get no edge."""


@dataclass(frozen=True)
class LearnedTree:
    """Parents in an order in which they come first, a table for each column, and the model that they are of."""

    parents: dict[Any, list[Any]]
    tables: dict[Any, NDArray[np.float64]]
    model: PrivateSynthesizer


def learned_tree(network: PrivateBayesianNetwork, frame: Any, persons: Any) -> LearnedTree:
    """Measure all pairs of a frame under the budget of a network, and return the tree of what was measured."""
    if network.mechanism not in ("auto", MECHANISM):
        raise InvalidParameterError(
            f"mechanism must be left out or {MECHANISM!r} with edges={LEARN!r}: all pairs are measured with that "
            f"noise, got {network.mechanism!r}"
        )
    for name in ("order", "weights"):
        if getattr(network, name) is not None:
            raise InvalidParameterError(f"{name} must be left out with edges={LEARN!r}, which plans its own tables")
    model = PrivateSynthesizer(
        network.epsilon,
        network.delta,
        domains=network.domains,
        binner=network.binner,
        adjacency=network.adjacency,
        unit=network.unit,
        max_rows=network.max_rows,
        first_by=network.first_by,
        weighted=network.weighted,
        accountant=network.accountant,
        random_state=network.random_state,
    ).fit(frame, persons=persons)
    parents = spanning_tree(model)
    return LearnedTree(parents, {node: _conditional(model, node, above) for node, above in parents.items()}, model)


def spanning_tree(model: PrivateSynthesizer) -> dict[Any, list[Any]]:
    """Return the tree of the largest mutual information under a model, from its first column on."""
    names = list(model.domains_)
    informed = {frozenset(pair): _information(model.marginal(pair)) for pair in combinations(names, 2)}
    parents: dict[Any, list[Any]] = {names[0]: []}
    while len(parents) < len(names):
        outside = [name for name in names if name not in parents]
        best, parent, child = max(
            ((informed[frozenset((inner, outer))], inner, outer) for inner in parents for outer in outside),
            key=lambda edge: edge[0],
        )
        parents[child] = [parent] if best > LEAST_INFORMATION else []
    return parents


def _information(table: NDArray[np.float64]) -> float:
    """Return the mutual information of a joint table, in nats."""
    product = np.outer(table.sum(axis=1), table.sum(axis=0))
    occupied = table > 0
    return float(np.sum(table[occupied] * np.log(table[occupied] / product[occupied])))


def _conditional(model: PrivateSynthesizer, node: Any, above: list[Any]) -> NDArray[np.float64]:
    """Return the table of a column given its parent, if it has one."""
    joint = model.marginal([*above, node])
    sums = joint.sum(axis=-1, keepdims=True)
    # A value that the model says nobody has leaves the column as it is.
    alone = np.broadcast_to(joint.reshape(-1, joint.shape[-1]).sum(axis=0), joint.shape)
    rows: NDArray[np.float64] = np.where(sums > 0, joint, alone)
    rows /= rows.sum(axis=-1, keepdims=True)
    return rows
