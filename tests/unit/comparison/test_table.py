"""The comparison of mechanisms: what every table must hold, whatever it compares."""

import json
import math

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.comparison import MECHANISMS, compare, population, winners

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


@pytest.fixture(scope="module")
def table():
    return compare(500, 6, **BUDGET, metric="l1", samples=400)


def test_every_mechanism_is_in_the_table_or_left_out_with_a_reason(table):
    named = [row.mechanism for row in table.rows] + list(table.left_out)
    assert sorted(named) == sorted(MECHANISMS)
    left_out = compare(500, 6, **BUDGET, adjacency="add_remove", samples=50).left_out
    assert set(left_out) == {"sum_preserving_laplace", "hellinger"}


def test_rows_are_sorted_and_the_winner_has_ratio_one(table):
    errors = [row.error for row in table.rows]
    assert errors == sorted(errors)
    assert table.rows[0].ratio == 1.0
    assert table.winner == table.rows[0].mechanism
    for row in table.rows:
        assert row.ratio == pytest.approx(row.error / errors[0], rel=1e-12)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(("epsilon", "delta", "tables"), [(0.1, 1e-6, 1), (1.0, 1e-9, 6), (4.0, 1e-3, 1)])
def test_every_curve_keeps_the_budget(adjacency, epsilon, delta, tables):
    table = compare(300, 4, epsilon, delta, adjacency=adjacency, tables=tables, samples=20)
    assert all(0 < row.epsilon <= epsilon for row in table.rows)
    # The budget is spent, too; the Hellinger mechanism may not find an exponent that spends all of it.
    assert all(row.epsilon >= 0.99 * epsilon for row in table.rows if row.mechanism != "hellinger")


def test_a_comparison_repeats():
    first, second, other = (compare(200, 4, **BUDGET, samples=50, seed=seed).to_dict() for seed in (3, 3, 4))
    assert first == second != other


def test_a_table_is_plain_data_and_text(table):
    content = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert content["winner"] == table.winner
    assert len(content["rows"]) == len(table.rows)
    assert all(row.mechanism in str(table) for row in table.rows)


def test_without_delta_only_pure_mechanisms_are_compared():
    table = compare(100, 3, 1.0, 0.0, samples=50)
    pure = {"laplace", "discrete_laplace", "sum_preserving_laplace", "hellinger"}
    assert {row.mechanism for row in table.rows} == pure


def test_what_cannot_be_told_apart_is_a_tie():
    # The same law twice: noise of scale 200 on a grid of 1 or of 2^-13.
    table = compare(10**6, 5, 0.01, 1e-6, "l1", ["laplace", "discrete_laplace"], samples=300)
    assert set(table.ties) == {"laplace", "discrete_laplace"}
    clear = compare(1000, 5, **BUDGET, metric="l1", mechanisms=["gaussian", "sum_preserving_laplace"])
    assert clear.ties == ()
    assert clear.winner == "sum_preserving_laplace"


def test_a_map_agrees_with_its_tables():
    calls = []
    found = winners([50, 500], [2, 8], samples=60, progress=lambda done, of: calls.append((done, of)))
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert found.winner.shape == found.margin.shape == found.tied.shape == (2, 2)
    for i, j in np.ndindex(2, 2):
        table = found.comparisons[i][j]
        assert (table.n, table.dimension) == (found.ns[i], found.dimensions[j])
        assert found.winner[i, j] == table.winner
        assert found.margin[i, j] == table.rows[1].ratio >= 1
        assert found.tied[i, j] == bool(table.ties)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["winner"] == found.winner.tolist()
    assert "n |" in str(found)


def test_public_shares_can_stand_in_for_the_population():
    table = compare(400, 3, **BUDGET, population=[[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], samples=50)
    assert table.population == "given"
    assert math.isfinite(table.rows[-1].error)


def test_rules_can_be_excluded():
    table = compare(100, 3, **BUDGET, postprocessing=["raw", "clip"], samples=50)
    assert {row.postprocessing for row in table.rows} == {"raw"}
    # A clipped count may be zero, which the divergence does not forgive.
    assert "may release a share of zero" in table.left_out["laplace"]
    clipped = compare(100, 3, **BUDGET, metric="l1", postprocessing=["clip"], samples=50)
    assert "none of the allowed rules" in clipped.left_out["dirichlet"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0}, "n must be an integer of at least 1"),
        ({"n": 2**60}, "n must be at most 1e15"),
        ({"n": 2**70}, r"n must be at most 2\^63 - 1"),
        ({"dimension": 1}, "dimension must be an integer of at least 2"),
        ({"dimension": 10**7}, "dimension must be at most"),
        ({"epsilon": 0.0}, "epsilon must be positive"),
        ({"delta": 1.0}, "delta must be below 1"),
        ({"metric": "l2"}, "metric must be one of"),
        ({"mechanisms": "laplace"}, "mechanisms must be a list of names"),
        ({"mechanisms": []}, "mechanisms must be a list of names"),
        ({"mechanisms": ["laplce"]}, "mechanisms must be one of"),
        ({"mechanisms": ["gaussian"], "delta": 0.0}, "mechanisms must hold one that can be compared here"),
        ({"adjacency": "both"}, "adjacency must be one of"),
        ({"population": "real"}, "population must be one of"),
        ({"population": [0.5, 0.5]}, "population must have shape"),
        ({"samples": 1}, "samples must be an integer of at least 2"),
        ({"seed": -1}, "seed must be an integer of at least 0"),
        ({"progress": 3}, "progress must be callable"),
    ],
)
def test_bad_arguments_are_named(change, message):
    arguments = {"n": 100, "dimension": 3, **BUDGET, **change}
    with pytest.raises(sdp.InvalidParameterError, match=message):
        compare(**arguments)


def test_data_sets_are_drawn_alike_in_one_call_and_in_several(monkeypatch):
    for name in ("mixed", "zipf"):
        drawn = [population.Population(name).draw(50, 7, 9, np.random.default_rng(1))]
        for at_once in (1, 14, 20):
            monkeypatch.setattr(population, "AT_ONCE", at_once)
            drawn.append(population.Population(name).draw(50, 7, 9, np.random.default_rng(1)))
        for each in drawn:
            np.testing.assert_array_equal(each, drawn[0])
            assert each.dtype == np.int64
