"""The public domains of columns after a transformer, so that they are stated once, in the transformer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Domain
from simplexdp.frames.domain import DomainLike, as_domain
from simplexdp.models.binning import PrivateBinner
from simplexdp.models.bins import BinPlan

__all__ = ["domains_of"]


def domains_of(
    transformer: Any,
    columns: Sequence[Any] | None = None,
    *,
    passed: Mapping[Any, DomainLike] | None = None,
) -> dict[str, Domain]:
    """Return the public domain of every column that a transformer puts out, from its parameters alone.

    For ``PrivateCategoricalNB(categories=domains_of(transformer))`` behind it: nothing is stated twice, and nothing is
    read off data. No transformer has to be fitted; what one learnt is not looked at.

    Parameters
    ----------
    transformer : OrdinalEncoder, PrivateBinner, or a ColumnTransformer or Pipeline of them
        An encoder needs a list of its `categories` for each column; a binner edges, or bounds and a number of bins.
        Quantiles of the data are refused, private ones have as many bins as they can have. Before the last step of a
        Pipeline there may be a FunctionTransformer too, of a function that looks at one row at a time: your promise.
    columns : sequence of str, optional
        The columns that go in; a ColumnTransformer names them itself.
    passed : mapping, optional
        The public domains of columns that are passed through as they are.

    Returns
    -------
    dict
        By the names of the columns that come out, in their order; for arrays ``list(domains_of(...).values())``.

    Examples
    --------
    >>> from sklearn.compose import ColumnTransformer
    >>> from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder
    >>> from simplexdp.models import PrivateBinner, domains_of
    >>> transformer = ColumnTransformer([
    ...     ("ward", OrdinalEncoder(categories=[["eye", "ear"]], dtype=int), ["ward"]),
    ...     ("age", PrivateBinner(bounds={"age": (0, 100)}, n_bins=5), ["age"]),
    ... ])
    >>> {name: len(domain) for name, domain in domains_of(transformer).items()}
    {'ward__ward': 2, 'age__age': 5}
    """
    if isinstance(transformer, ColumnTransformer):
        return _of_columns(transformer, {} if passed is None else passed)
    if not hasattr(transformer, "fit"):
        raise InvalidParameterError(f"transformer must be one of scikit-learn's form, got {type(transformer).__name__}")
    if columns is None:
        raise InvalidParameterError("columns must be given unless transformer is a ColumnTransformer, which names them")
    names = _names(columns)
    return dict(zip(names, _domains(transformer, names), strict=True))


def _of_columns(transformer: ColumnTransformer, passed: Mapping[Any, DomainLike]) -> dict[str, Domain]:
    if transformer.remainder != "drop":
        raise InvalidParameterError(
            f"transformer must drop the remainder, whose columns nobody names, got remainder={transformer.remainder!r}"
        )
    found: dict[str, Domain] = {}
    for name, part, chosen in transformer.transformers:
        if isinstance(part, str) and part == "drop":
            continue
        columns = _names([chosen] if isinstance(chosen, str) else chosen)
        if isinstance(part, str) and part == "passthrough":
            if missing := [column for column in columns if column not in passed]:
                raise InvalidParameterError(f"passed must have a public domain of {missing!r}, which is passed through")
            domains = [as_domain(passed[column]) for column in columns]
        else:
            domains = _domains(part, columns)
        for column, domain in zip(columns, domains, strict=True):
            shown = _shown(transformer.verbose_feature_names_out, name, column)
            if shown in found:
                raise InvalidParameterError(
                    f"transformer must give each column that comes out a name, got {shown!r} twice"
                )
            found[shown] = domain
    return found


def _domains(transformer: Any, columns: list[str]) -> list[Domain]:
    """Return the domains that one transformer makes of these columns, one of each."""
    if isinstance(transformer, Pipeline):
        # The last step says which values come out. What comes first has to be as public: one that learns from the data,
        # as a scaler does, would let a person move everybody's values. Functions learn nothing.
        *first, last = [step for _, step in transformer.steps if not (step is None or step == "passthrough")] or [None]
        for step in first:
            if not isinstance(step, FunctionTransformer):
                _domains(step, columns)
        return _domains(last, columns)
    if isinstance(transformer, PrivateBinner):
        if transformer.strategy == "quantile":
            raise InvalidParameterError(
                "transformer must have public bins: those of strategy 'quantile' are the data's"
            )
        return list(BinPlan.of(transformer, columns).domains().values())
    if isinstance(transformer, OrdinalEncoder):
        return [Domain(size) for size in _codes(transformer, len(columns))]
    raise InvalidParameterError(
        "transformer must be an OrdinalEncoder, a PrivateBinner, or made of them, whose output is known without data, "
        f"got {type(transformer).__name__}"
    )


def _codes(encoder: OrdinalEncoder, n_columns: int) -> list[int]:
    """Return how many codes of each column an encoder can put out."""
    stated = encoder.categories
    if isinstance(stated, str) or len(stated) != n_columns:
        raise InvalidParameterError(
            "categories of the encoder must list the public values of each column: 'auto' reads them off the data"
        )
    if encoder.max_categories is not None or encoder.min_frequency is not None:
        raise InvalidParameterError(
            "max_categories and min_frequency of the encoder must be None: they choose by how often categories occur"
        )
    if np.dtype(encoder.dtype).kind not in "iu":
        raise InvalidParameterError(f"dtype of the encoder must be one of integers, such as int, got {encoder.dtype!r}")
    sizes = [len(values) for values in stated]
    if encoder.handle_unknown != "use_encoded_value":
        return sizes
    if any(encoder.unknown_value != size for size in sizes):
        raise InvalidParameterError(
            "unknown_value of the encoder must be the number of categories, so that codes have no gap: with columns of "
            "different numbers give each an encoder of its own"
        )
    return [size + 1 for size in sizes]


def _shown(verbose: Any, name: str, column: str) -> str:
    """Return the name of a column that comes out, as scikit-learn forms it."""
    if callable(verbose):
        return str(verbose(name, column))
    if isinstance(verbose, str):
        return verbose.format(transformer_name=name, feature_name=column)
    return f"{name}__{column}" if verbose else column


def _names(columns: Any) -> list[str]:
    if isinstance(columns, (str, bytes)) or not isinstance(columns, (Sequence, np.ndarray)):
        raise InvalidParameterError(f"columns must list names of columns, got one {type(columns).__name__}")
    names = list(columns)
    if not names or not all(isinstance(name, str) for name in names):
        raise InvalidParameterError(
            "columns must list names of columns: places and rules by type are known with data only"
        )
    return names
