"""How far one person moves counts, against an enumeration of data sets and against what releases add up to."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.sensitivity import of_counts


def tables_of_people(max_rows: int, cells: int) -> list[np.ndarray]:
    """Return all counts of one person's rows, each in a cell or in none, counted row by row."""
    choices = itertools.product(range(cells + 1), repeat=max_rows)
    return [np.bincount(rows, minlength=cells + 1)[:cells] for rows in choices]


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(("max_rows", "cells"), [(1, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 1), (3, 3), (4, 2)])
def test_the_change_is_the_largest_over_all_pairs_of_people(adjacency, max_rows, cells):
    people = tables_of_people(max_rows, cells)
    others = people if adjacency == "replace" else [np.zeros(cells, dtype=int)]
    gaps = np.array([np.abs(a - b) for a in people for b in others])
    change = of_counts(adjacency=adjacency, max_rows=max_rows, cells=cells)
    assert change.l1 == gaps.sum(axis=1).max()
    assert change.l2_squared == (gaps**2).sum(axis=1).max()
    assert change.linf == gaps.max()
    assert change.cells == (gaps > 0).sum(axis=1).max()
    assert Fraction(change.l2) ** 2 >= change.l2_squared > Fraction(math.nextafter(change.l2, 0)) ** 2


def test_without_a_number_of_cells_there_may_be_any():
    for adjacency, max_rows in itertools.product(("replace", "add_remove"), (1, 2, 7)):
        many = of_counts(adjacency=adjacency, max_rows=max_rows, cells=10**9)
        assert of_counts(adjacency=adjacency, max_rows=max_rows) == many


def test_tables_of_the_same_records_add_up():
    one, four = of_counts(max_rows=3), of_counts(max_rows=3, tables=4)
    assert (four.l1, four.l2_squared, four.linf, four.cells) == (4 * one.l1, 4 * one.l2_squared, 3, 4 * one.cells)


@pytest.mark.parametrize(
    "arguments",
    [
        {"adjacency": "other"},
        {"max_rows": 0},
        {"max_rows": 2**20 + 1},
        {"max_rows": 10**40},
        {"max_rows": 1.5},
        {"max_rows": True},
        {"tables": 0},
        {"tables": 2**64},
        {"cells": 0},
    ],
)
def test_bad_arguments_are_named(arguments):
    (name,) = arguments
    with pytest.raises(sdp.InvalidParameterError, match=name):
        of_counts(**arguments)
