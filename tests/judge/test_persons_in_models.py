"""What the tables of a model guarantee a person with several records, against every person that there can be.

The judge enumerates what a person's rows can be before and after, counts them in every table, and adds the losses of
the cells that move: independent noise whose law is that of the released tables' stated sizes. Discrete Laplace losses
are whole multiples of one over the scale, so they are convolved exactly; normal ones add up to a normal one.
"""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.stats import norm

import simplexdp as sdp
from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB, PrivateGaussianNB, PrivateSynthesizer
from simplexdp.testing import SeededRng

pytestmark = pytest.mark.filterwarnings("ignore::simplexdp.InsecureRandomnessWarning")

LEVELS = {"a": 2, "b": 2, "y": 2}
RECORDS = list(itertools.product(range(2), repeat=3))
TABLES = {
    "naive Bayes": [("y",), ("y", "a"), ("y", "b")],
    "network": [("a",), ("a", "b"), ("a", "b", "y")],
    "synthesizer": [("a",), ("b",), ("y",), ("a", "b"), ("a", "y"), ("b", "y")],
}
DELTA = 1e-6


def frame(n_persons=300, seed=1):
    rng = np.random.default_rng(seed)
    persons = np.repeat(np.arange(n_persons), rng.integers(1, 6, n_persons))
    columns = {name: rng.integers(0, size, len(persons)) for name, size in LEVELS.items()}
    return {"person": persons, **columns}


def contributions(tables, rows, units=None):
    """Return the cells of all tables of every set of at most so many rows, as one vector each.

    With units each row is an equal part of a person, who is so many units.
    """

    def cells(record):
        value = dict(zip(LEVELS, record, strict=True))
        vectors = []
        for table in tables:
            one = np.zeros([2] * len(table), dtype=int)
            one[tuple(value[name] for name in table)] = 1
            vectors.append(one.ravel())
        return np.concatenate(vectors)

    by_record = [cells(record) for record in RECORDS]
    for n in range(rows + 1):
        for chosen in itertools.combinations_with_replacement(by_record, n):
            yield sum(chosen, np.zeros_like(by_record[0])) * (1 if units is None or not n else units // n)


def moves(tables, rows, adjacency, units=None):
    """Return how neighbours differ, each way once, without the signs that do not matter."""
    own = list(contributions(tables, rows, units))
    others = own if adjacency == "replace" else own[:1]
    # Who is there has a record: from nothing to something is for add/remove.
    pairs = ((h, g) for h in own for g in others if adjacency != "replace" or (h.any() and g.any()))
    return np.unique(np.abs([h - g for h, g in pairs]), axis=0)


def fitted(kind, mechanism, adjacency, rows, calibration=None, weighted=False):
    shared = {"epsilon": 1.0, "delta": DELTA, "adjacency": adjacency, "unit": "person", "max_rows": rows}
    shared["weighted"] = weighted
    shared["random_state"] = SeededRng(3)
    if kind == "synthesizer":
        return PrivateSynthesizer(domains=LEVELS, components=4, **shared).fit(frame(20_000))
    if kind == "network":
        return PrivateBayesianNetwork([("a", "b"), ("a", "y"), ("b", "y")], LEVELS, mechanism=mechanism, **shared).fit(
            frame()
        )
    shared |= {"calibration": calibration}
    return PrivateCategoricalNB(mechanism=mechanism, categories={"a": 2, "b": 2}, classes=[0, 1], **shared).fit(
        frame(), "y"
    )


def sizes(model):
    """Return the size of the noise of each table, as the model's file states it."""
    content = json.loads(model.to_json())
    parts = [content["class"], *content["features"]] if "features" in content else content["nodes"]
    return [part["released"]["size"] for part in parts]


def laplace_delta(parts, epsilon):
    """Delta of integers that move by so many units of loss each: (move, scale), noise of that scale."""
    masses = {0.0: 1.0}
    for move, scale in parts:
        q = math.exp(-1 / scale)
        # The loss at z is (|z - move| - |z|) / scale: constant beyond both ends.
        own = {move: 1 / (1 + q)}
        own[-move] = q**move / (1 + q)
        for z in range(1, move):
            loss = move - 2 * z
            own[loss] = own.get(loss, 0.0) + (1 - q) / (1 + q) * q**z
        masses_next = {}
        for (loss, p), (more, r) in itertools.product(masses.items(), own.items()):
            key = round(loss + more / scale, 12)
            masses_next[key] = masses_next.get(key, 0.0) + p * r
        masses = masses_next
    return sum(p * -math.expm1(epsilon - loss) for loss, p in masses.items() if loss > epsilon)


def each_part(move, tables, sizes):
    start, parts = 0, []
    for table, size in zip(tables, sizes, strict=True):
        cells = 2 ** len(table)
        parts += [(int(each), size) for each in move[start : start + cells] if each]
        start += cells
    return tuple(sorted(parts))


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("kind", ["naive Bayes", "network"])
def test_no_person_beats_the_curve_of_discrete_laplace_tables(kind, adjacency):
    tables = TABLES[kind]
    for rows in (1, 2, 3) if adjacency == "add_remove" else (1, 2):
        model = fitted(kind, "discrete_laplace", adjacency, rows)
        ways = {each_part(move, tables, sizes(model)) for move in moves(tables, rows, adjacency)}
        for epsilon in (0.3, 0.9):
            worst = max(laplace_delta(parts, epsilon) for parts in ways)
            told = float(model.privacy_.delta(epsilon))
            # Equal losses are told apart from twelve digits on.
            assert worst <= told + 1e-11, (rows, epsilon)
            # Pure losses of all cells together stand for their noise: what that costs is bounded.
            assert told <= 4 * worst + 1e-4, (rows, epsilon, told, worst)


def discrete_gaussian_delta(parts, sigma, epsilon):
    """Delta of integers that move by so much each, under one sigma: losses are integers over 2 sigma^2."""
    z = np.arange(-math.ceil(10 * sigma), math.ceil(10 * sigma) + 1)
    mass = np.exp(-(z**2) / (2 * sigma**2))
    mass /= mass.sum()
    law, first = np.ones(1), 0
    for move in parts:
        losses = move * (2 * z + move)
        own = np.zeros(losses[-1] - losses[0] + 1)
        own[losses - losses[0]] = mass
        law, first = fftconvolve(law, own), first + losses[0]
    loss = (first + np.arange(len(law))) / (2 * sigma**2)
    return float(np.sum(law * np.maximum(-np.expm1(np.minimum(epsilon - loss, 1)), 0)))


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("kind", ["naive Bayes", "network"])
def test_gaussian_tables_are_those_of_the_worst_person(kind, adjacency):
    tables = TABLES[kind]
    for rows in (1, 2, 3):
        model = fitted(kind, "gaussian", adjacency, rows, calibration="auto")
        variances = np.concatenate(
            [np.full(2 ** len(table), size**2) for table, size in zip(tables, sizes(model), strict=True)]
        )
        squared = max((move**2 / variances).sum() for move in moves(tables, rows, adjacency))
        content = json.loads(model.to_json())
        if "calibration" in content:
            # Hits and misses, in whatever cells: the worst are one cell before and one after.
            ends = 2 if adjacency == "replace" else 1
            squared += ends * rows**2 / content["calibration"]["released"]["size"] ** 2
        assert ("calibration" in content) == (kind == "naive Bayes")
        mu = math.sqrt(squared)
        truth = norm.cdf(mu / 2 - 1 / mu) - math.e * norm.cdf(-mu / 2 - 1 / mu)
        told = float(model.privacy_.delta(1.0))
        assert truth <= told * (1 + 1e-9)
        assert told <= 1.01 * truth, (rows, told, truth)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("kind", ["naive Bayes", "network"])
def test_discrete_gaussian_tables_are_those_of_the_worst_person(kind, adjacency):
    tables = TABLES[kind]
    for rows in (1, 2, 3):
        model = fitted(kind, "discrete_gaussian", adjacency, rows)
        (sigma,) = set(sizes(model))
        found = moves(tables, rows, adjacency)
        ways = {
            tuple(sorted(move[move > 0].tolist()))
            for move in found
            if (move**2).sum() > 0.6 * (found**2).sum(axis=1).max()
        }
        truth = max(discrete_gaussian_delta(way, sigma, 1.0) for way in ways)
        told = float(model.privacy_.delta(1.0))
        assert truth <= told * (1 + 1e-6), (rows, told, truth)
        # One record each has the exact curve; for more the proof takes 3 of the variance.
        assert told <= truth * (1.001 if rows == 1 else 1.25), (rows, told, truth)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_measurement_of_a_synthesizer_moves_by_what_is_told(adjacency):
    tables = TABLES["synthesizer"]
    for rows in (1, 2, 3):
        model = fitted("synthesizer", None, adjacency, rows)
        told, total = measured_moves(model, list(contributions(tables, rows)), adjacency)
        if adjacency == "replace":
            assert (total > 0) == (rows > 1)
        assert told.epsilon(DELTA) <= model.privacy_.epsilon(DELTA) * (1 + 1e-9)
        # Under replacement each table, and the total, has worst persons of its own.
        assert model.privacy_.epsilon(DELTA) <= told.epsilon(DELTA) * (1.001 if adjacency == "add_remove" else 1.35)


def measured_moves(model, own, adjacency):
    """Return the curve of the worst neighbours under the stated noise, and the precision of the total."""
    tables = TABLES["synthesizer"]
    content = json.loads(model.to_json())["measured"]
    precisions = []
    for table, sigma in zip(tables, content["sigmas"], strict=True):
        ones, eye = np.ones((2, 2)), np.eye(2)
        shared = ones if len(table) == 1 else np.kron(eye, ones) + np.kron(ones, eye)
        covariance = np.eye(2 ** len(table)) + 1024 * shared
        precisions.append(np.linalg.inv(covariance) / sigma**2)
    starts = np.cumsum([0] + [2 ** len(table) for table in tables])
    total = 0.0 if content["total_sigma"] == 0 else content["total_sigma"] ** -2

    def squared(move):
        parts = [move[first:last] for first, last in itertools.pairwise(starts)]
        return sum(part @ p @ part for part, p in zip(parts, precisions, strict=True)) + total * parts[0].sum() ** 2

    others = own if adjacency == "replace" else own[:1]
    mu = math.sqrt(max(squared(h - g) for h in own for g in others if (h.any() and g.any()) or len(others) == 1))
    return sdp.PrivacyCurve.gaussian(sigma=1.0, sensitivity=mu), total


def gamma_delta(parts, epsilon):
    """A lower bound of delta of gammas that move by parts (a, r, removed): losses on a grid, rounded down."""
    from test_rows_of_persons import bracket

    return bracket(parts, [epsilon])[0][0]


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_way_to_spread_records_over_dirichlet_tables_beats_the_curve(adjacency):
    """The worst persons have all records alike: a part of k rows in each of three tables."""
    for rows in (1, 2, 4):
        model = fitted("naive Bayes", "dirichlet", adjacency, rows)
        content = json.loads(model.to_json())
        laws = [part["released"] for part in [content["class"], *content["features"]]]
        alike = [(law["prior"], rows * law["size"], True) for law in laws]
        spread = [(law["prior"], law["size"], True) for law in laws for _ in range(rows)]
        if adjacency == "replace":
            alike += [(prior, r, False) for prior, r, _ in alike]
            spread += [(prior, r, False) for prior, r, _ in spread]
        told = float(model.privacy_.delta(0.9))
        assert max(gamma_delta(alike, 0.9), gamma_delta(spread, 0.9) if rows <= 2 else 0.0) <= told


def rows_of_numbers():
    """Return what a row adds of one number in two classes, in the units of its bounds: count, u and 2 u^2 - 1."""
    # Beside an even grid the places that are the furthest apart of two rows of one class, (2 + sqrt 2) / 4 in q.
    places = np.unique(np.rint(np.append(np.linspace(-1, 1, 21), [1.0, -0.14645, 0.14645]) * 2048)) / 2048
    one = np.stack([np.ones_like(places), places, 2 * places**2 - 1], axis=1)
    none = np.zeros_like(one)
    return np.concatenate([np.hstack([one, none]), np.hstack([none, one])])


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("mechanism", ["gaussian", "discrete_laplace"])
@pytest.mark.parametrize("rows", [1, 2])
def test_gaussian_naive_bayes_keeps_its_word_to_every_person(adjacency, mechanism, rows):
    table = frame()
    table = {"person": table["person"], "x": table["a"] * 3.0 + table["b"], "y": table["y"]}
    model = PrivateGaussianNB(
        1.0,
        DELTA,
        bounds=(0, 4),
        classes=[0, 1],
        unit="person",
        max_rows=rows,
        mechanism=mechanism,
        adjacency=adjacency,
    ).fit(table, "y")
    laws = json.loads(model.to_json())["released"]
    sizes = np.array([laws[name]["size"] for name in ("count_law", "sum_law", "sum_law")] * 2)
    added = rows_of_numbers() / sizes
    # With one row each a replaced person has one before and after.
    most = [added] if rows == 1 else [added, (added[:, None] + added[None]).reshape(-1, 6)]
    nobody = np.zeros((1, 6))
    own = np.concatenate(most if rows == 1 and adjacency == "replace" else [nobody, *most])
    others = own if adjacency == "replace" else nobody
    gaps = [np.abs(own - other) for other in others]
    if mechanism == "gaussian":
        mu = math.sqrt(max((gap**2).sum(axis=1).max() for gap in gaps))
        for epsilon in (0.1, 0.5, 1.0):
            true = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
            assert true <= model.privacy_.delta(epsilon) * (1 + 1e-9)
            assert model.privacy_.delta(epsilon) <= true * 1.05
    else:
        true = max(gap.sum(axis=1).max() for gap in gaps)
        assert true <= model.privacy_.epsilon(0.0) * (1 + 1e-9)
        assert model.privacy_.epsilon(0.0) <= true * 1.02
    assert model.privacy_.unit == "person"
