"""Which steps before a private model learn nothing from the records, so that its price is that of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.utils import get_tags

from simplexdp.exceptions import InvalidParameterError
from simplexdp.models.binning import PrivateBinner

__all__ = ["check_public_steps"]


def check_public_steps(steps: Any) -> None:
    """Refuse a step that learns from the records: one person would move what all others are turned into.

    Parameters
    ----------
    steps : iterable of (str, transformer)
        As in a Pipeline, without the model at its end.
    """
    for name, step in steps:
        for part in _parts(step):
            reason = _what_is_learnt(part)
            if reason:
                raise InvalidParameterError(
                    f"step {name!r} of the pipeline must be made of public parameters alone, so that one person moves "
                    f"nobody else's values: {reason}"
                )


def _parts(step: Any) -> Iterator[Any]:
    """Yield the transformers that a step is made of, and functions that choose columns for one."""
    if step is None or isinstance(step, str):  # "drop", "passthrough"
        return
    if isinstance(step, Pipeline):
        inner = [part for _, part in step.steps]
    elif isinstance(step, FeatureUnion):
        inner = [part for _, part in step.transformer_list]
    elif isinstance(step, ColumnTransformer):
        inner = [part for _, part, _ in step.transformers] + [step.remainder]
        # Not a transformer, but what chooses what one is given.
        yield from (columns for _, _, columns in step.transformers if callable(columns))
    else:
        yield step
        return
    for part in inner:
        yield from _parts(part)


def _what_is_learnt(part: Any) -> str | None:
    """Return why a transformer is none of public parameters, None where it is."""
    kind = type(part).__name__
    if not hasattr(part, "fit"):
        # A selector by types too: one missing value makes a column of integers one of floats.
        return "a function of the records chooses columns of ColumnTransformer; list them"
    if isinstance(part, PrivateBinner):
        if part.strategy in ("edges", "uniform"):
            return None
        return f"bins by {part.strategy!r} are a release of their own; as binner= of the classifier the price has them"
    if isinstance(part, (OrdinalEncoder, OneHotEncoder)):
        if isinstance(part.categories, str):
            return f"{kind} reads its categories off the data; list them, categories=[[...], ...]"
        if part.max_categories is not None or part.min_frequency is not None:
            return f"max_categories and min_frequency of {kind} choose by how often categories occur"
        return None
    if isinstance(part, SimpleImputer):
        # Without keep_empty_features a column that is missing throughout may be dropped: that is learnt too.
        constant = part.strategy == "constant" and part.fill_value is not None and part.keep_empty_features
        if constant and not part.add_indicator:
            return None
        return (
            'fill in what is public: SimpleImputer(strategy="constant", fill_value=..., keep_empty_features=True), '
            "without add_indicator"
        )
    if not get_tags(part).requires_fit:
        return None  # scikit-learn's word that it has no state, as FunctionTransformer and Normalizer
    return f"{kind} learns from them; a function of one row at a time goes into a FunctionTransformer"
