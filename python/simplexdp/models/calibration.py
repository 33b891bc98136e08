"""How much the evidence of a naive Bayes model counts: a released table of its hits and misses.

Features that depend on each other are counted as if each were news, so the probabilities of naive Bayes are too near
to zero and one, with exact tables as well. No table of one feature can show that. After the tables of a model, a table
of its own predictions is released: how many records of each predicted class and confidence are of that class, and how
many are not. From it follows how often the log-likelihoods should count, w from 0 (the class shares alone) to 1 (the
tables as they are):

    p(c | x) ~ share of c times p(x | c)^w

The cell of a record depends on that record and on what was released before, and on no other record. So the table costs
what a histogram costs, and all releases compose. `simplexdp_core::inference::calibration` has the law of w.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments, _core
from simplexdp._parallel import threads_for
from simplexdp.exceptions import InvalidParameterError
from simplexdp.models.released import ReleasedTable

__all__ = [
    "BINS",
    "CALIBRATIONS",
    "EDGES",
    "Calibration",
    "calibration_shape",
    "calibration_weight",
    "hits_and_misses",
    "scaled",
]

CALIBRATIONS = ("auto", None)
SHARE = 0.1
"""Of the budget. Losses change little between a twentieth and a fifth."""

EDGES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Log-odds of the predicted class, between the bins."""

CENTRES = (0.25, 0.71, 1.41, 2.83, 5.66, 11.3, 22.6)
"""What the records of a bin are taken to have."""

BINS = len(CENTRES)
ROWS_PER_THREAD = 8

Floats: TypeAlias = NDArray[np.float64]


def calibration_shape(n_classes: int) -> tuple[int, int]:
    """Return the shape of the table: predicted classes and bins, hits and misses."""
    return n_classes * BINS, 2


def calibration_weight(n_tables: int) -> float:
    """Return the weight of this table beside others of weight one."""
    return n_tables * SHARE / (1 - SHARE)


def hits_and_misses(joint: Floats, classes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Count the records of each predicted class and bin of confidence: those of that class, and the others.

    Parameters
    ----------
    joint : ndarray, shape (n_records, n_classes)
        Logarithms of P(x, y), up to a constant for each record.
    classes : ndarray of int
        What the records are.
    """
    n_classes = joint.shape[1]
    predicted = np.argmax(joint, axis=1)
    top = np.take_along_axis(joint, predicted[:, None], axis=1)
    # The odds against the predicted class: the sum over all classes, less its own one.
    against = np.exp(joint - top).sum(axis=1) - 1
    place = np.searchsorted(np.exp(-np.array(EDGES[::-1])), against, side="left")
    codes = (predicted * BINS + (BINS - 1 - place)) * 2 + (predicted != classes)
    rows, outcomes = calibration_shape(n_classes)
    return np.bincount(codes, minlength=rows * outcomes).reshape(rows, outcomes)


@dataclass(frozen=True, eq=False)
class Calibration:
    """How much the evidence counts.

    Attributes
    ----------
    weight : float
        Posterior mean of w.
    sd : float
        Its posterior standard deviation.
    released : ReleasedTable
    """

    weight: float
    sd: float
    released: ReleasedTable

    @classmethod
    def infer(cls, released: ReleasedTable, shares: Floats) -> Calibration:
        """Return what a released table says, given the class shares."""
        prior = np.repeat(np.log(shares) - np.log1p(-shares), BINS)
        centres = np.tile(CENTRES, len(shares))
        threads = threads_for(len(prior), ROWS_PER_THREAD)
        weight, sd = _core.weight_of_evidence(released.observation, prior.tolist(), centres.tolist(), threads)
        return cls(weight, sd, released)

    def to_json(self) -> dict[str, Any]:
        """Return what a file has of it."""
        return {"weight": self.weight, "sd": self.sd, "released": self.released.to_json()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any], n_classes: int) -> Calibration | None:
        """Check what a file says; None where it says nothing."""
        found = content.get("calibration")
        if found is None:
            return None
        if not isinstance(found, dict) or not {"weight", "sd", "released"} <= set(found):
            raise InvalidParameterError("calibration must hold a weight, its sd and what was released")
        weight, sd = _arguments.number("weight", found["weight"]), _arguments.number("sd", found["sd"])
        if not (0 <= weight <= 1 and 0 <= sd <= 1):
            raise InvalidParameterError("weight and sd of calibration must be from 0 to 1")
        released = ReleasedTable.from_json("calibration", found["released"], calibration_shape(n_classes))
        return cls(weight, sd, released)


def scaled(joint: Floats, log_shares: Floats, weight: float) -> Floats:
    """Return log P(x, y) whose log-likelihood ratios count `weight` times, and whose sum over y is what it was."""
    tempered = log_shares + weight * (joint - log_shares)
    return tempered + (_log_sums(joint) - _log_sums(tempered))


def _log_sums(joint: Floats) -> Floats:
    top = joint.max(axis=1, keepdims=True)
    sums: Floats = top + np.log(np.exp(joint - top).sum(axis=1, keepdims=True))
    return sums
