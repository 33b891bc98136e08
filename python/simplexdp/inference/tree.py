"""The exact posterior of counts that add up along a tree, given noisy counts of some of its nodes.

Every node's count is the sum of its children's. Given its count, they have a Dirichlet-multinomial law, whose
concentration all nodes of a level share; it is integrated over, weighed by the evidence of all that was released. The
core does it (theory E1, `levels`); here are the priors and the shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp._parallel import threads_for
from simplexdp.inference.laws import CountLaws
from simplexdp.inference.prior import CONCENTRATIONS, Prior, log_weights_of_concentrations
from simplexdp.models.released import Law

__all__ = ["Level", "Part", "empirical_parts", "parts_of_prior", "tree_posterior"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NODES_PER_THREAD = 24
"""Fewer take some milliseconds."""


class Part(NamedTuple):
    """One prior of a split."""

    log_weight: float
    parameters: Floats
    """One for each child."""


@dataclass(frozen=True, eq=False)
class Level:
    """The nodes of one level, the children of each parent next to each other.

    Parameters
    ----------
    parent : ndarray of int, shape (n,)
        Positions in the level above, in order, none left out; of the first level zeros.
    parts : list of Part
        Priors of the split.
    noisy : ndarray, shape (n,), optional
        What was released of the counts.
    law : Law, optional
        Of the noise.
    """

    parent: Integers
    parts: Sequence[Part]
    noisy: Floats | None = None
    law: Law | None = None

    @property
    def released(self) -> _core.Observation | None:
        """What was released, as the core takes it."""
        if self.noisy is None or self.law is None:
            return None
        return _core.Observation.noisy(self.noisy, self.law.kind, self.law.size, self.law.step)


def empirical_parts(parent: Integers) -> list[Part]:
    """Return the priors of a split into even parts that is more or less close to even, as those of a single table."""
    sizes = np.bincount(parent)
    logs = log_weights_of_concentrations(float(sizes.mean()))
    return [Part(float(log), (total / sizes)[parent]) for log, total in zip(logs, CONCENTRATIONS, strict=True)]


def parts_of_prior(prior: Prior, parents: int) -> list[Part]:
    """Return a prior of a histogram for many of them."""
    return [
        Part(float(log), np.tile(parameters, parents))
        for log, parameters in zip(prior.log_weights, prior.parameters, strict=True)
    ]


def tree_posterior(levels: Sequence[Level], total: int | None = None) -> list[CountLaws]:
    """Return the laws of the total and of the nodes of each level.

    Parameters
    ----------
    levels : sequence of Level
        From the children of the root down; the last one has noisy counts.
    total : int, optional
        The public count of the root; without it every number is as likely as any other before the release.
    """
    stated = [
        (level.parent, [(part.log_weight, part.parameters) for part in level.parts], level.released) for level in levels
    ]
    threads = threads_for(len(levels[-1].parent), NODES_PER_THREAD)
    found = _core.tree_posterior(stated, total, threads)
    return [CountLaws(laws, (len(laws),)) for laws in found]
