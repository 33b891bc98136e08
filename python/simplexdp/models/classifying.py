"""What classifiers share: their classes, the accuracy of their predictions, what counts as a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import Domain
from simplexdp.frames.domain import as_domain, is_null
from simplexdp.frames.encoding import encode_column

__all__ = ["CLASS_COLUMN", "class_domain", "is_frame", "is_mapping", "labels", "mean_accuracy", "normalised"]

CLASS_COLUMN = "y"
"""Classes that come without a frame are a column of this name."""


def mean_accuracy(predicted: NDArray[np.intp], y: Mapping[str, Any], domain: Domain, sample_weight: Any) -> float:
    """Return the share of records whose class was predicted, by positions in the levels of the classes."""
    # By codes: labels of other types are compared as everywhere here, and no message shows them.
    true = encode_column(y, CLASS_COLUMN, Domain(domain.levels, other=True))
    if len(true) != len(predicted):
        raise InvalidDataError("X and y must have the same number of records")
    weights = _weights(sample_weight, len(true))
    return float(np.average(true == predicted, weights=weights)) if len(true) else float("nan")


def class_domain(classes: Any) -> Domain:
    """Return the stated classes as a domain."""
    domain = as_domain(classes)
    if any(is_null(label) for label in domain.levels):
        raise InvalidParameterError("classes must not have a missing value among them")
    return domain


def _weights(sample_weight: Any, n_records: int) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    weights = _arguments.numbers("sample_weight", sample_weight)
    if weights.shape != (n_records,):
        raise InvalidParameterError(
            f"sample_weight must have one entry for each of {n_records} records, got shape {weights.shape}"
        )
    if np.any(weights < 0) or not weights.any():
        raise InvalidParameterError("sample_weight must be non-negative and not zero throughout")
    return weights


def labels(levels: Sequence[Any]) -> NDArray[Any]:
    """Return labels as an array that changes none of them."""
    labels = np.array(levels)
    if labels.ndim == 1 and all(type(a) is type(b) for a, b in zip(labels.tolist(), levels, strict=True)):
        return labels
    objects = np.empty(len(levels), dtype=object)
    for position, level in enumerate(levels):
        objects[position] = level
    return objects


def normalised(joint: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log P(y | x) from log P(x, y)."""
    largest = joint.max(axis=1, keepdims=True)
    # A record that every class holds for impossible says nothing about its class.
    impossible = ~np.isfinite(largest)
    joint = np.where(impossible, 0.0, joint)
    largest = np.where(impossible, 0.0, largest)
    log_probabilities: NDArray[np.float64] = joint - (
        largest + np.log(np.exp(joint - largest).sum(axis=1, keepdims=True))
    )
    return log_probabilities


def is_mapping(X: Any) -> bool:
    """Return whether records are a mapping of columns."""
    # A sparse matrix that is kept in a dictionary has a shape.
    return isinstance(X, Mapping) and not hasattr(X, "shape")


def is_frame(X: Any) -> bool:
    """Return whether records are a data frame."""
    # Asked of the type: a lazy frame would have to find out.
    return hasattr(type(X), "columns") and not isinstance(X, np.ndarray)
