"""What models guarantee a person who counts as one, whose n rows have the weight 1/n, against every such person.

The judge enumerates what a person's rows can be before and after, shares one among them, counts that in every table,
and adds the losses under the noise that the released tables state.
"""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.stats import norm
from test_persons_in_models import (
    DELTA,
    TABLES,
    contributions,
    each_part,
    fitted,
    gamma_delta,
    laplace_delta,
    measured_moves,
    moves,
    sizes,
)

pytestmark = pytest.mark.filterwarnings("ignore::simplexdp.InsecureRandomnessWarning")

UNITS = {1: 1, 2: 2, 3: 6}


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("kind", ["naive Bayes", "network"])
def test_no_person_beats_the_curve_of_discrete_laplace_tables(kind, adjacency):
    tables = TABLES[kind]
    for rows in (2, 3) if adjacency == "add_remove" else (2,):
        model, units = fitted(kind, "discrete_laplace", adjacency, rows, weighted=True), UNITS[rows]
        scales = [size * units for size in sizes(model)]
        ways = {each_part(move, tables, scales) for move in moves(tables, rows, adjacency, units)}
        for epsilon in (0.3, 0.9):
            worst = max(laplace_delta(parts, epsilon) for parts in ways)
            told = float(model.privacy_.delta(epsilon))
            assert worst <= told + 1e-11, (rows, epsilon)
            assert told <= 4 * worst + 1e-4, (rows, epsilon, told, worst)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("kind", ["naive Bayes", "network"])
def test_gaussian_tables_are_those_of_the_worst_person(kind, adjacency):
    tables = TABLES[kind]
    for rows in (2, 3):
        model, units = fitted(kind, "gaussian", adjacency, rows, calibration="auto", weighted=True), UNITS[rows]
        variances = np.concatenate(
            [np.full(2 ** len(table), size**2) for table, size in zip(tables, sizes(model), strict=True)]
        )
        squared = max(((move / units) ** 2 / variances).sum() for move in moves(tables, rows, adjacency, units))
        content = json.loads(model.to_json())
        if "calibration" in content:
            # A whole person in one cell before, and in another one after.
            squared += (2 if adjacency == "replace" else 1) / content["calibration"]["released"]["size"] ** 2
        mu = math.sqrt(squared)
        truth = norm.cdf(mu / 2 - 1 / mu) - math.e * norm.cdf(-mu / 2 - 1 / mu)
        told = float(model.privacy_.delta(1.0))
        assert truth <= told * (1 + 1e-9)
        assert told <= 1.01 * truth, (rows, told, truth)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_measurement_of_a_synthesizer_moves_by_what_is_told(adjacency):
    for rows in (2, 3):
        model = fitted("synthesizer", None, adjacency, rows, weighted=True)
        own = [cells / UNITS[rows] for cells in contributions(TABLES["synthesizer"], rows, UNITS[rows])]
        told, _ = measured_moves(model, own, adjacency)
        assert told.epsilon(DELTA) <= model.privacy_.epsilon(DELTA) * (1 + 1e-9)
        assert model.privacy_.epsilon(DELTA) <= told.epsilon(DELTA) * (1.001 if adjacency == "add_remove" else 1.5)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_way_to_share_a_person_among_dirichlet_rows_beats_the_curve(adjacency):
    for rows in (2, 3):
        model = fitted("naive Bayes", "dirichlet", adjacency, rows, weighted=True)
        content = json.loads(model.to_json())
        laws = [part["released"] for part in [content["class"], *content["features"]]]
        told = float(model.privacy_.delta(0.9))
        # All in one cell of each table, or in `rows` cells of each.
        for parts in (1, rows):
            before = [(law["prior"], law["size"] / parts, True) for law in laws for _ in range(parts)]
            both = [(prior, r, False) for prior, r, _ in before] if adjacency == "replace" else []
            if len(before + both) <= 12:
                assert gamma_delta(before + both, 0.9) <= told, (rows, parts)


def test_a_person_is_one_in_every_table_whatever_rows():
    for table, rows in itertools.product(TABLES["naive Bayes"], (2, 3)):
        sums = {int(cells.sum()) for cells in contributions([table], rows, UNITS[rows]) if cells.any()}
        assert sums == {UNITS[rows]}
