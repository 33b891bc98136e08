"""What was released for a naive Bayes model, and the posterior that follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidParameterError
from simplexdp.models.released import ReleasedTable
from simplexdp.models.saved import total_of
from simplexdp.models.smoothing import SmoothedTable, has_posterior, smooth_classes

if TYPE_CHECKING:
    from simplexdp.models.saved import SavedFeature

__all__ = ["NaiveBayesRelease"]


@dataclass(frozen=True, eq=False)
class NaiveBayesRelease:
    """The tables that were released; `classes` may be missing, `total` is the number of records where it is public."""

    classes: ReleasedTable | None
    tables: tuple[ReleasedTable, ...]
    n_classes: int
    total: int | None

    @property
    def protects(self) -> bool:
        """Whether it is a release at all."""
        return all(table.protects for table in self.tables)

    @property
    def has_posterior(self) -> bool:
        """Whether what was released tells enough to infer the tables from."""
        return has_posterior(self.tables, self.total)

    @cached_property
    def posterior(self) -> tuple[SmoothedTable, list[SmoothedTable]]:
        """Class shares and tables given all that was released."""
        found, tables = smooth_classes(self.classes, self.tables, self.n_classes, self.total)
        if self.classes is None:
            # They were stated to be equally likely, whatever the tables say of their totals.
            uniform = np.full((1, self.n_classes), 1 / self.n_classes)
            found = SmoothedTable(uniform, np.zeros_like(uniform), lambda level: np.stack([uniform, uniform], axis=-1))
        return found, tables

    def __getstate__(self) -> dict[str, Any]:
        """Leave the posterior out, which follows from the rest."""
        return {name: value for name, value in self.__dict__.items() if name != "posterior"}

    def floored(self, floor: float) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
        """Return class shares and tables without a posterior."""
        uniform = np.full(self.n_classes, 1 / self.n_classes)
        prior = uniform if self.classes is None else self.classes.floored(floor)[0]
        return prior, [table.floored(floor) for table in self.tables]

    @classmethod
    def from_json(
        cls, content: Mapping[str, Any], target: Mapping[str, Any], features: Sequence[SavedFeature], n_classes: int
    ) -> NaiveBayesRelease | None:
        """Return the release that a file holds, if it does."""
        if all(feature.released is None for feature in features) and "released" not in target:
            return None
        tables = []
        for feature in features:
            if feature.released is None:
                raise InvalidParameterError(f"released of {feature.name!r} must be there, as for other features")
            shape = (n_classes, len(feature.domain))
            tables.append(ReleasedTable.from_json(feature.name, feature.released, shape))
        own = target.get("released")
        classes = None if own is None else ReleasedTable.from_json("class", own, (1, n_classes))
        return cls(classes, tuple(tables), n_classes, total_of(content))
