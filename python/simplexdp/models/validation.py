"""scikit-learn's checks of input, with messages that never quote the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sklearn
from sklearn.utils.fixes import parse_version
from sklearn.utils.validation import column_or_1d, validate_data

from simplexdp.exceptions import InvalidDataError

__all__ = ["checked", "labels_of"]

_ASKS_PROTOCOL = parse_version(sklearn.__version__) < parse_version("1.9")
"""Whether scikit-learn asks a frame for the names of its columns by `__dataframe__`, which Polars 2 does not have."""


def checked(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Return what `validate_data` returns; where its message would print a part of X, say the rule instead."""
    if any(isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data) for data in (X, *y)):
        raise InvalidDataError("X and y must not be masked: fill the masked places, with NaN for missing values")
    # Some sparse matrices are mappings too; scikit-learn has words for those.
    if isinstance(X, Mapping) and not hasattr(X, "toarray"):
        raise InvalidDataError("X must be an array or a data frame, got a mapping of columns")
    if callable(getattr(X, "collect", None)):
        raise InvalidDataError("X must be an array or a data frame in memory, got a lazy one: collect it before")
    named = _Named(X.columns, X.shape) if options.get("skip_check_array") and _shows_no_names(X) else X
    try:
        return validate_data(estimator, named, *y, **options)
    except OverflowError:
        raise InvalidDataError(
            "X and y must hold numbers that fit a double (the offending value is not shown)"
        ) from None
    except (TypeError, ValueError) as error:
        rule = _rule_of(str(error), X)
        if rule is None:
            raise
        # Without the chain, which would print the message after all.
        raise InvalidDataError(rule) from None


def _shows_no_names(X: Any) -> bool:
    """Whether scikit-learn would not find the names of a frame's columns."""
    return _ASKS_PROTOCOL and not hasattr(X, "__dataframe__") and hasattr(X, "columns") and hasattr(X, "shape")


class _Named:
    """Names of columns, as scikit-learn before 1.9 asks a frame for them."""

    def __init__(self, names: Sequence[str], shape: tuple[int, int]) -> None:
        self._names, self.shape = names, shape

    def __dataframe__(self) -> _Named:
        return self

    def column_names(self) -> Sequence[str]:
        """Return the names."""
        return self._names


def labels_of(y: Any) -> Any:
    """Return the classes of records as scikit-learn takes them: one-dimensional."""
    if y is not None and np.ndim(y) == 0:
        kind = type(y).__name__
        raise InvalidDataError(
            f"y must hold a class for each record, or be the text that names their column, got {kind}"
        )
    try:
        return column_or_1d(y, warn=True)
    except ValueError as error:
        if str(error).startswith("Complex data not supported"):
            raise InvalidDataError("y must hold classes. Complex data not supported (it is not shown)") from None
        raise


def _rule_of(message: str, X: Any) -> str | None:
    """Return the rule that a message with data in it is about, None for one without."""
    if message.startswith("Expected 2D array"):
        return (
            f"X must have two dimensions, got shape {np.shape(X)}. Reshape your data with X.reshape(-1, 1) if it has "
            "one feature, with X.reshape(1, -1) if it is one record"
        )
    if message.startswith("Feature names are only supported"):
        return "X must have columns that are all named by text, or all by something else"
    if message.startswith("Expected unique column names"):
        return "X must have columns of different names"
    if message.startswith("Complex data not supported"):
        return "X must hold real numbers or categories. Complex data not supported (it is not shown)"
    if message.startswith("Input X contains NaN"):
        return "X must hold a number in every place, got NaN (its row is not shown)"
    if message.startswith("Input X contains infinity"):
        return "X must hold finite numbers, got infinity or a number that no double holds (its row is not shown)"
    if message.startswith("Input y contains NaN"):
        return "y must have no missing value, got NaN (its row is not shown)"
    if message.startswith("Found input variables with inconsistent numbers of samples"):
        return "X and y must have the same number of records"
    if "could not convert" in message or "invalid literal" in message:
        return "X must hold numbers (the offending value is not shown)"
    return None
