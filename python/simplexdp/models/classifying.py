"""What classifiers share: their predictions and their accuracy, their classes, what counts as a frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from simplexdp import _arguments
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import Domain
from simplexdp.frames.domain import as_domain, is_null
from simplexdp.frames.encoding import encode_column
from simplexdp.frames.source import as_frame, column_of, columns_alone, is_lazy
from simplexdp.models.saved import text_of
from simplexdp.models.validation import labels_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CLASS_COLUMN", "PrivateClassifier", "class_domain", "is_frame", "is_mapping", "labels", "normalised"]

CLASS_COLUMN = "y"
"""Classes that come without a frame are a column of this name."""


class PrivateClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """What a classifier answers from its log P(x, y), and the files it is kept in."""

    classes_: NDArray[Any]
    _class_domain: Domain
    _columns: list[Any]

    @abstractmethod
    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x, y) for every class, shape (n_records, n_classes)."""

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(y | x) for every class, shape (n_records, n_classes)."""
        return normalised(self.predict_joint_log_proba(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(y | x) for every class, shape (n_records, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class of each record."""
        best = np.argmax(self.predict_joint_log_proba(X), axis=1)
        found: NDArray[Any] = self.classes_[best]
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy; `y` may name the column of `X` that holds the classes."""
        if isinstance(y, str):
            frame = as_frame(X)
            if is_lazy(frame):
                # Collected together: the rows of two queries need not come in the same order.
                wanted = [*self._columns, y]
                known = set(frame.collect_schema().names()).issuperset(wanted)
                frame = (columns_alone(frame, wanted) if known else frame).collect()
            X, y = frame, column_of(frame, y)
        else:
            y = labels_of(y)
        predicted = np.argmax(self.predict_joint_log_proba(X), axis=1)
        return mean_accuracy(predicted, {CLASS_COLUMN: y}, self._class_domain, sample_weight)

    def save(self, path: str | Path) -> None:
        """Write the released classifier as JSON: what is public of its features, what was released, its guarantee."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @abstractmethod
    def to_json(self) -> str:
        """Return the released classifier as JSON, which `from_json` reads."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a classifier that `save`, or a command that fits one, wrote."""
        return cls.from_json(text_of(path))

    @classmethod
    @abstractmethod
    def from_json(cls, text: str) -> Self:
        """Return the classifier that `to_json` wrote."""


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
