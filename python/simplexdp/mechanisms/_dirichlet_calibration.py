"""Prior and scale of a Dirichlet mechanism that spend a budget best, from public parameters alone."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms.dirichlet_parameters import SCALE_RANGE, between, two_smallest

__all__ = ["DirichletGoal"]


@dataclass(frozen=True)
class DirichletGoal:
    """What is to be small on average, and about which public histograms.

    Parameters
    ----------
    loss : {"kl", "l1", "l2", "linf"}
    dimension : int
    total : float or None
        Number of records, or a public guess of it; only a prior that is to be chosen needs it.
    reference : array_like of shape (d,) or (k, d), optional
        Public histograms, as probabilities; the worst case over evenly spread ones by default.
    """

    loss: str
    dimension: int
    total: float | None
    reference: ArrayLike | None = None

    def parameters(
        self,
        budget: _core.DirichletBudget,
        prior: float | tuple[float, ...] | None,
        scale: float | None,
    ) -> tuple[float | tuple[float, ...], float]:
        """Return prior and scale; what is None is chosen, what is given stays as it is."""
        if prior is not None:
            return prior, budget.largest_scale(*two_smallest(prior)) if scale is None else scale
        if scale is not None:
            scale = between("scale", scale, SCALE_RANGE)
            return budget.smallest_prior(scale), scale
        if self.total is None:
            raise InvalidParameterError("total must be given to choose a prior; or give prior or scale")
        rows = None
        if self.reference is not None:
            rows = check.probabilities("reference", self.reference, self.dimension).ravel()
            if rows.size == 0:
                raise InvalidParameterError("reference must have at least one row")
        return budget.best_prior(self.loss, self.dimension, check.positive("total", self.total), rows)
