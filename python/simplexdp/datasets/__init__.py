"""A small public data set, for demonstrations and tests."""

from __future__ import annotations

import csv
import gzip
from importlib import resources

import numpy as np
from numpy.typing import NDArray

__all__ = ["EMPLOYMENT_DURATION", "german_credit"]

EMPLOYMENT_DURATION = {1: "unemployed", 2: "below 1 year", 3: "1 to 4 years", 4: "4 to 7 years", 5: "7 years or more"}
"""What the codes of the column ``employment_duration`` mean."""


def german_credit() -> dict[str, NDArray[np.int64]]:
    """Return the South German Credit data: 1000 applicants for a loan, 21 integer columns.

    The class column is ``class``: 1 for a good risk, 0 for a bad one. ``duration``, ``amount`` and ``age`` are numbers,
    all other columns are codes.

    Returns
    -------
    dict of str to ndarray of int64, shape (1000,)

    References
    ----------
    U. Groemping, South German Credit Data (2019), UCI Machine Learning Repository, a corrected form of the Statlog
    German Credit data of H. Hofmann (1994). Licensed under CC BY 4.0.

    Examples
    --------
    >>> from simplexdp.datasets import german_credit
    >>> columns = german_credit()
    >>> len(columns), columns["age"].shape
    (21, (1000,))
    """
    source = resources.files(__name__).joinpath("german_credit.csv.gz")
    with source.open("rb") as packed, gzip.open(packed, "rt", encoding="ascii") as text:
        header, *rows = csv.reader(text)
    values = np.array(rows, dtype=np.int64)
    return {name: values[:, index].copy() for index, name in enumerate(header)}
