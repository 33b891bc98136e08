"""Models as JSON: what is written of them, and every check of what is read back."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments
from simplexdp._catalogue import names as mechanisms
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Cleaning, Domain
from simplexdp.frames.domain import is_null
from simplexdp.models.cuts import Cut
from simplexdp.models.persons import whose
from simplexdp.models.tables import ADJACENCIES, MECHANISMS, Adjacency

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve

__all__ = [
    "Origin",
    "SavedFeature",
    "SavedNode",
    "SavedPrivacy",
    "checked_table",
    "cut_of",
    "domain_of",
    "member",
    "numbers",
    "plain_domain",
    "plain_name",
    "plain_values",
    "privacy_of",
    "read",
    "smoothing_of",
    "text_of",
    "total_of",
    "values_of",
    "was_seeded",
]

RELEASING = (*dict.fromkeys((*MECHANISMS, *mechanisms(lambda entry: entry.releases))),)
"""Those of models, and of single histograms, which are networks of one column."""


KINDS = ("other", "null")
"""Of levels that collect what has none of its own."""

UNPROTECTED = "none"
"""The mechanism of tables as they were counted, which alone have no epsilon."""


def text_of(path: str | Path) -> str:
    """Return the text of a file that `save` wrote."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidParameterError("path must be a file written by save, got one that is no text") from error


def read(text: str, form: str, what: str) -> dict[str, Any]:
    """Return the object that `to_json` wrote in this format."""
    try:
        content = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParameterError(f"text must be {what} written by to_json, got no JSON: {error}") from error
    if not isinstance(content, dict) or content.get("format") != form:
        raise InvalidParameterError(f"text must be {what} written by to_json, of format {form!r}")
    return content


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is no probability")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} does not fit a double")
    return value


def member(content: Any, name: str, what: str, *kinds: type) -> Any:
    """Return a member of an object that must be of one of these types."""
    if not isinstance(content, dict):
        raise InvalidParameterError(f"text must be {what} written by to_json: what has {name!r} must be an object")
    value = content.get(name, ...)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise InvalidParameterError(f"text must be {what} written by to_json: {name} must be of type {wanted}")
    return value


def numbers(node: Any, name: str, values: list[Any]) -> NDArray[np.float64]:
    """Return a list of numbers, or of rows of them, as an array."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty(0, dtype=object)  # rows of different lengths
    if array.size and array.dtype.kind not in "iuf":
        raise InvalidParameterError(f"{name} of {node!r} must hold numbers in rows of the same length")
    return array.astype(np.float64)


def values_of(name: Any, content: Any, what: str) -> list[Any] | int:
    """Return the stated values of a column, or its cardinality."""
    values: list[Any] | int = member(content, "values", what, list, int)
    if isinstance(values, int):
        return values
    return [_value_of(name, value) for value in values]


DAYS = {"datetime": dt.datetime, "date": dt.date}
"""Values that JSON has no type for: an object of one member, with what it is as the name and ISO 8601 as the value."""


def _value_of(name: Any, value: Any) -> Any:
    if not isinstance(value, (list, dict)):
        return value
    kind, text = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("", "")
    try:
        return DAYS[kind].fromisoformat(text)
    except (KeyError, TypeError, ValueError):
        raise InvalidParameterError(
            f'values of {name!r} must be text, numbers, null, or days such as {{"date": "2024-01-31"}}'
        ) from None


def cut_of(name: Any, content: Any, n_levels: int, what: str) -> Cut:
    """Return where a numeric column is cut."""
    null = "null" in content and member(content, "null", what, bool)
    edges = numbers(name, "edges", member(content, "edges", what, list))
    if edges.shape != (n_levels - null - 1,) or np.any(np.diff(edges) <= 0):
        raise InvalidParameterError(f"edges of {name!r} must be increasing, one fewer than its levels of numbers")
    return Cut(edges, null)


def plain_name(column: Any) -> str | int:
    """Return the name of a column as JSON can hold it."""
    if isinstance(column, (str, int)):
        return column
    raise InvalidParameterError(f"columns must be named by text or integers to be saved as JSON, got {column!r}")


def plain_values(node: Any, domain: Domain) -> Any:
    """Return the values of a domain as JSON can hold them."""
    if domain.is_range:
        return domain.values
    return [_plain_value(node, value) for value in domain.levels[: len(domain) - domain.other]]


def plain_domain(node: Any, domain: Domain) -> dict[str, Any]:
    """Return what a file says of a domain."""
    rules = {} if domain.clean is None else {"clean": domain.clean.to_json()}
    return {"values": plain_values(node, domain), "other": domain.other, **rules}


def domain_of(name: Any, content: Any, what: str, *, other: bool | None = None) -> Domain:
    """Return the domain that a file states; `other` where it may leave out whether there is such a level."""
    values = values_of(name, content, what)
    if other is None or "other" in content:
        other = member(content, "other", what, bool)
    clean = Cleaning.from_json(content["clean"]) if "clean" in content else None
    return Domain(values, other=other, clean=clean)


def _collecting(domain: Domain, names: Any) -> Domain:
    """Return the domain in which levels of these names, listed as any other, collect other and missing values.

    So the command line writes them: ``{"other": "rest", "null": "unknown"}``. Their names as values still mean them.
    """
    if names is None:
        return domain
    other, null = (member(names, kind, "a classifier", str, type(None)) for kind in KINDS)
    if domain.is_range or domain.other:
        return domain
    values = domain.levels
    # One that is among the stated values has their place, which is not the last.
    ends = other is not None and len(values) > 1 and values[-1] == other != null
    listed = values[:-1] if ends else values
    if null is None or null not in listed or None in listed:
        return Domain(listed, other=True, clean=domain.clean) if ends else domain
    clean = Cleaning(trim=False, unicode=None) if domain.clean is None else domain.clean
    spelled = clean(null)
    clean = replace(clean, values={**clean.values, **({} if spelled is None else {spelled: None})})
    return Domain([None if value == null else value for value in listed], other=ends, clean=clean)


def _plain_value(node: Any, value: Any) -> Any:
    if is_null(value):
        return None
    if isinstance(value, (str, int, float, bool)):
        return value
    # A datetime is a date too.
    kind = next((kind for kind, type_ in DAYS.items() if isinstance(value, type_)), None)
    if kind is None:
        raise InvalidParameterError(f"domains must hold text, numbers, days or None to be saved as JSON, got {node!r}")
    return {kind: value.isoformat()}


def checked_table(node: Any, table: NDArray[np.float64], shape: list[int]) -> NDArray[np.float64]:
    """Return a table in its shape; every row must hold probabilities."""
    if table.shape != (math.prod(shape[:-1]), shape[-1]):
        raise InvalidParameterError(f"table of {node!r} must have shape {(math.prod(shape[:-1]), shape[-1])}")
    if not (np.all(table >= 0) and np.allclose(table.sum(axis=-1), 1, rtol=0, atol=1e-9)):
        raise InvalidParameterError(f"table of {node!r} must have rows of probabilities that sum to one")
    return table.reshape(shape)


def smoothing_of(content: Mapping[str, Any]) -> str:
    """Return how the tables of a file were made; files of before the word have tables as they were drawn."""
    return _arguments.choice("smoothing", content.get("smoothing", "floor"), ("posterior", "floor"))


def total_of(content: Mapping[str, Any]) -> int | None:
    """Return the public number of records of a file."""
    total = content.get("total")
    if total is not None and _arguments.integer("total", total, least=0) > 2**53:
        raise InvalidParameterError("total must be at most 2^53")
    return None if total is None else int(total)


@dataclass(frozen=True)
class Origin:
    """How the tables of a fitted model were drawn, whatever its parameters say now."""

    mechanism: str
    seeded: bool = False


def privacy_of(model: Any) -> dict[str, Any]:
    """Return what a file says of the guarantee of a fitted model."""
    origin: Origin = model._origin
    if model.privacy_ is None:
        found: dict[str, Any] = {"epsilon": None, "delta": model.delta, "adjacency": model.adjacency}
    else:
        epsilon = float(model.privacy_.epsilon(model.delta))
        if not math.isfinite(epsilon):
            raise InvalidParameterError(f"delta must be one for which privacy_ has a finite epsilon, got {model.delta}")
        found = {"epsilon": epsilon, "delta": model.delta, "adjacency": model.privacy_.adjacency}
    found |= {"mechanism": origin.mechanism, **model._whose}
    # Whoever knows the seed can undo the noise: the file must not look like a private one.
    return {**found, "seeded": True} if origin.seeded else found


def was_seeded(content: Mapping[str, Any], privacy: Mapping[str, Any]) -> bool:
    """Whether a file says, anywhere, that what it holds was made with a seed; what it says must be true or false."""
    stated = [place["seeded"] for place in (content, privacy) if "seeded" in place]
    if not stated and "private" in content:
        # What is not private has no other reason in a file without the mark.
        stated = [content["private"] is not True]
    if not all(isinstance(mark, bool) for mark in stated):
        raise InvalidParameterError("seeded must be true or false in what to_json wrote")
    return any(stated)


@dataclass(frozen=True)
class SavedPrivacy:
    """What a file says of the guarantee; the curve is that of the stated budget."""

    epsilon: float | None
    delta: float
    adjacency: Adjacency
    mechanism: str
    seeded: bool = False
    unit: Any = None
    max_rows: int | None = None
    weighted: bool = False

    @classmethod
    def of(cls, content: Any, what: str) -> SavedPrivacy:
        """Check what a file says."""
        privacy = member(content, "privacy", what, dict)
        epsilon = member(privacy, "epsilon", what, int, float, type(None))
        mechanism = _arguments.choice("mechanism", member(privacy, "mechanism", what, str), RELEASING)
        if epsilon is None and mechanism != UNPROTECTED:
            raise InvalidParameterError(
                f"text must be {what} written by to_json: epsilon must be a number for the mechanism {mechanism!r}"
            )
        return cls(
            None if epsilon is None else _arguments.non_negative("epsilon", epsilon),
            _delta(member(privacy, "delta", what, int, float)),
            cast(Adjacency, _arguments.choice("adjacency", member(privacy, "adjacency", what, str), ADJACENCIES)),
            mechanism,
            was_seeded(content, privacy),
            *_persons_of(privacy, what),
        )

    @property
    def origin(self) -> Origin:
        """How the tables were drawn."""
        return Origin(self.mechanism, self.seeded)

    @property
    def curve(self) -> PrivacyCurve | None:
        """The worst curve with this budget; None where nothing is protected."""
        from simplexdp.accounting import PrivacyCurve

        if self.epsilon is None:
            return None
        if self.delta == 0:
            curve = PrivacyCurve.pure(self.epsilon, adjacency=self.adjacency)
        else:
            curve = PrivacyCurve.from_epsilon_delta(self.epsilon, self.delta, adjacency=self.adjacency)
        return curve if self.max_rows is None else whose(curve, self.unit, self.max_rows)

    @property
    def whose(self) -> dict[str, Any]:
        """What is said of the persons, if they are protected and not their records."""
        if self.max_rows is None:
            return {}
        return {"unit": self.unit, "max_rows": self.max_rows, **({"weighted": True} if self.weighted else {})}

    def tell(self, model: Any) -> None:
        """Tell a model of the persons that it protects."""
        model.unit, model.max_rows, model._whose = self.unit, self.max_rows, self.whose
        if self.weighted:
            model.weighted = True


def _persons_of(privacy: Mapping[str, Any], what: str) -> tuple[Any, int | None, bool]:
    """Return the column of persons, how many records of each count, and whether as one, if a file says so."""
    if "max_rows" not in privacy:
        return None, None, False
    unit = member(privacy, "unit", what, str, int, type(None))
    weighted = "weighted" in privacy and member(privacy, "weighted", what, bool)
    return unit, _arguments.integer("max_rows", member(privacy, "max_rows", what, int), least=1), weighted


def _delta(value: Any) -> float:
    """Check for zero, of a pure release, or a number between zero and one."""
    return 0.0 if value == 0 else _arguments.open_unit("delta", value)


@dataclass(frozen=True)
class SavedNode:
    """One node of a network in a file."""

    name: str
    parents: list[str]
    domain: Domain
    table: NDArray[np.float64]
    cut: Cut | None
    centres: NDArray[np.float64] | None
    released: Any = None

    @classmethod
    def of(cls, node: Any) -> SavedNode:
        """Check what a file says of a node."""
        what = "a network"
        if not isinstance(node, dict):
            raise InvalidParameterError(f"text must be {what} written by to_json: its nodes must be objects")
        name = member(node, "name", what, str, int)
        parents = member(node, "parents", what, list)
        if not all(isinstance(parent, (str, int)) for parent in parents):
            raise InvalidParameterError(f"parents of {name!r} must be names of nodes")
        domain = domain_of(name, node, what)
        table = numbers(name, "table", member(node, "table", what, list))
        cut, centres = None, None
        if "edges" in node or "centres" in node:
            cut = cut_of(name, node, len(domain), what)
            centres = numbers(name, "centres", member(node, "centres", what, list))
            if centres.shape != (len(cut.edges) + 1,):
                raise InvalidParameterError(f"centres of {name!r} must be as many as its levels of numbers")
            if np.any(np.searchsorted(cut.edges, centres, side="right") != np.arange(len(cut.edges) + 1)):
                raise InvalidParameterError(f"centres of {name!r} must lie in the bins of their own")
        return cls(name, parents, domain, table, cut, centres, node.get("released"))


@dataclass(frozen=True)
class SavedFeature:
    """One feature of a classifier in a file."""

    name: Any
    domain: Domain
    table: NDArray[np.float64]
    cut: Cut | None
    released: Any = None

    @classmethod
    def of(cls, feature: Any, collecting: Any = None) -> SavedFeature:
        """Check what a file says of a feature, and which levels collect values without one of their own."""
        what = "a classifier"
        name = member(feature, "name", what, str, int)
        # Files of the command line list the level for other values among the values.
        domain = _collecting(domain_of(name, feature, what, other=False), collecting)
        table = numbers(name, "table", member(feature, "table", what, list))
        cut = cut_of(name, feature, len(domain), what) if "edges" in feature else None
        return cls(name, domain, table, cut, feature.get("released"))
