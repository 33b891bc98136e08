"""Divergences between Dirichlets against 200-digit values, and their structure."""

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplexdp as sdp
from simplexdp.divergence import hellinger_dirichlet, kl_dirichlet, renyi_dirichlet

GOLDEN = Path(__file__).parents[1] / "golden" / "data" / "divergence.csv"

concentrations = st.lists(st.floats(1e-3, 1e9), min_size=2, max_size=5)


def golden_rows():
    with GOLDEN.open(newline="") as file:
        for row in csv.DictReader(file):
            u, v = ([float.fromhex(x) for x in row[side].split()] for side in ("u", "v"))
            yield row["kind"], float(row["order"]), u, v, float(row["value"])


def test_values_keep_all_digits_however_close_or_large():
    functions = {
        "renyi": renyi_dirichlet,
        "kl": lambda u, v, _: kl_dirichlet(u, v),
        "hellinger": lambda u, v, _: hellinger_dirichlet(u, v),
    }
    worst = 0.0
    for kind, order, u, v, expected in golden_rows():
        value = functions[kind](u, v, order)
        if np.isinf(expected):
            assert np.isinf(value), (kind, order, u, v)
        elif value != expected:
            worst = max(worst, abs(value / expected - 1))
    print(f"largest relative error {worst:.2e}")
    assert worst <= 2e-15


def test_leading_axes_broadcast():
    u, v = np.ones((3, 1, 2)) + np.arange(3)[:, None, None], np.full((4, 2), [1.5, 2.5])
    values = renyi_dirichlet(u, v, 1.25)
    assert values.shape == (3, 4)
    assert values[2, 1] == renyi_dirichlet(u[2, 0], v[1], 1.25)
    assert renyi_dirichlet([1, 2], [2, 1], [1.1, 1.2, 1.3]).shape == (3,)
    assert kl_dirichlet(np.ones((0, 2)), [1, 1]).shape == (0,)
    assert np.ndim(hellinger_dirichlet([1, 2], [2, 1])) == 0


def test_one_category_is_always_at_distance_zero():
    assert renyi_dirichlet([3.0], [5.0], 1.2) == 0.0


@given(concentrations, st.data())
def test_renyi_grows_with_its_order_from_the_kl_divergence_on(u, data):
    v = [data.draw(st.floats(0.5, 2)) * x for x in u]
    ladder = [kl_dirichlet(u, v), *renyi_dirichlet(u, v, [1.001, 1.5, 3, 10])]
    assert all(low <= high * (1 + 1e-12) for low, high in pairwise(ladder))
    assert ladder[0] >= 0


@given(concentrations, st.data())
def test_hellinger_is_symmetric_and_below_the_kl_bound(u, data):
    v = [data.draw(st.floats(0.5, 2)) * x for x in u]
    distance = hellinger_dirichlet(u, v)
    assert distance == pytest.approx(hellinger_dirichlet(v, u), rel=1e-12, abs=1e-300)
    assert 0 <= distance <= 1
    assert 2 * distance**2 <= kl_dirichlet(u, v) * (1 + 1e-12)


@given(concentrations, st.data())
def test_merging_categories_never_increases_a_divergence(u, data):
    v = [data.draw(st.floats(0.5, 2)) * x for x in u]

    def merged(x):
        return [x[0] + x[1], *x[2:]]

    assert kl_dirichlet(merged(u), merged(v)) <= kl_dirichlet(u, v) * (1 + 1e-9) + 1e-300


@pytest.mark.parametrize("bad", [[-3.25, 2.0], [0.0, 2.0], [float("nan"), 2.0], [float("inf"), 2.0]])
def test_concentrations_that_are_not_positive_are_refused_and_not_quoted(bad):
    for function in (kl_dirichlet, hellinger_dirichlet, lambda u, v: renyi_dirichlet(u, v, 2)):
        for arguments in ((bad, [1.0, 2.0]), ([1.0, 2.0], bad)):
            with pytest.raises(sdp.InvalidDataError) as error:
                function(*arguments)
            assert "3.25" not in str(error.value)


@pytest.mark.parametrize("order", [1.0, 0.5, 0.0, -2.0, float("nan"), float("inf"), "two", [1.5, 1.0]])
def test_orders_up_to_one_are_refused(order):
    with pytest.raises(sdp.InvalidParameterError, match="order must"):
        renyi_dirichlet([1.0, 2.0], [2.0, 1.0], order)


@pytest.mark.parametrize(
    "u, v",
    [
        ([1.0, 2.0], [1.0, 2.0, 3.0]),
        (1.0, [1.0]),
        ([], []),
        (np.ones((2, 2)), np.ones((3, 2))),
        (["x", 2.0], [1.0, 2.0]),
    ],
)
def test_shapes_that_do_not_fit_are_refused(u, v):
    with pytest.raises(sdp.InvalidParameterError):
        kl_dirichlet(u, v)
