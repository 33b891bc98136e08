"""UCI data sets as the papers use them: categories, numeric columns in ten quantile bins, 70-30 splits."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.datasets import german_credit
from simplexdp.exceptions import InvalidParameterError

__all__ = ["NUMERIC", "Categorical", "available", "bundled", "load", "structures"]

N_BINS = 10

NUMERIC = {
    "creditcard": ["LIMIT_BAL", "AGE", *(f"BILL_AMT{i}" for i in range(1, 7)), *(f"PAY_AMT{i}" for i in range(1, 7))],
    "thyroid": ["age", "TSH", "T3", "TT4", "T4U", "FTI"],
    "shopper": [
        "Administrative",
        "Administrative_Duration",
        "Informational",
        "Informational_Duration",
        "ProductRelated",
        "ProductRelated_Duration",
        "BounceRates",
        "ExitRates",
        "PageValues",
        "SpecialDay",
    ],
    "digit": [f"Attribute{i}" for i in range(1, 65)],
    "germancredit": ["duration", "amount", "age"],
    "bank": [
        "age",
        "duration",
        "campaign",
        "pdays",
        "previous",
        "emp.var.rate",
        "cons.price.idx",
        "cons.conf.idx",
        "euribor3m",
        "nr.employed",
    ],
    "spam": ["*"],
    "adult": ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"],
}
"""Which columns of each data set are numbers; ``*`` stands for all but the class."""


@dataclass(frozen=True)
class Categorical:
    """A data set as integer codes.

    Attributes
    ----------
    name : str
    columns : dict of str to ndarray of int
        The class is the last one and is called ``class``.
    cardinalities : dict of str to int
    """

    name: str
    columns: dict[str, NDArray[np.int16]]
    cardinalities: dict[str, int]

    @property
    def n_records(self) -> int:
        """Number of records."""
        return len(self.columns["class"])

    def split(self, seed: int, train_share: float = 0.7) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows of a random training part and of the rest."""
        order = np.random.default_rng(seed).permutation(self.n_records)
        cut = round(train_share * self.n_records)
        return order[:cut], order[cut:]


@lru_cache(maxsize=len(NUMERIC))
def load(directory: Path, name: str) -> Categorical:
    """Read one data set, numeric columns binned by the quantiles of all its records as in [DM 5.1]."""
    path = directory / f"{name}.csv.gz"
    if not path.exists():
        raise InvalidParameterError(f"data must be a directory with {path.name}, got {str(directory)!r}")
    with gzip.open(path, "rt", encoding="utf-8") as text:
        header, *rows = csv.reader(text)
    return _categorical(name, {column: [row[index] for row in rows] for index, column in enumerate(header)})


def bundled() -> Categorical:
    """Return the data set that comes with the package, South German Credit, in the same form."""
    return _categorical("germancredit", {name: values.tolist() for name, values in german_credit().items()})


def available(directory: Path | None, names: Sequence[str]) -> list[Categorical]:
    """Read the named data sets, or of them the one that is bundled when there is no directory."""
    if directory is None:
        return [bundled()]
    return [load(directory, name) for name in names]


def structures() -> dict[str, dict[str, Any]]:
    """Return the Bayesian networks of [DM] Figure 5 by data set: ``nodes``, ``edges`` (parent, child), ``source``."""
    text = resources.files("simplexdp.datasets").joinpath("networks.json").read_text(encoding="utf-8")
    networks: dict[str, dict[str, Any]] = json.loads(text)
    return networks


def _categorical(name: str, values: dict[str, list[Any]]) -> Categorical:
    header = list(values)
    numeric = set(header[:-1]) if NUMERIC[name] == ["*"] else set(NUMERIC[name])
    columns: dict[str, NDArray[np.int16]] = {}
    cardinalities: dict[str, int] = {}
    for column, entries in values.items():
        codes = _binned(np.array(entries, dtype=np.float64)) if column in numeric else _labelled(entries)
        columns[column] = codes.astype(np.int16)
        cardinalities[column] = int(codes.max()) + 1
    return Categorical(name, columns, cardinalities)


def _binned(values: NDArray[np.float64]) -> NDArray[np.intp]:
    edges = np.unique(np.quantile(values, np.arange(1, N_BINS) / N_BINS))
    # Edges at the smallest value cut nothing off.
    return np.searchsorted(edges[edges > values.min()], values, side="right")


def _labelled(values: list[Any]) -> NDArray[np.intp]:
    return np.unique(np.array(values), return_inverse=True)[1].astype(np.intp)
