"""Histograms by several columns of groups, from frames of several kinds."""

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.models import PrivateHistogram

GROUPS = {"region": ["n", "s"], "year": [2023, 2024, 2025]}
LEVELS = ["a", "b"]


def frame(n=600):
    rng = np.random.default_rng(2)
    return {
        "region": np.array(["n", "s"])[rng.integers(0, 2, n)],
        "year": rng.integers(2023, 2026, n),
        "job": np.array(LEVELS)[rng.integers(0, 2, n)],
    }


def histogram(**parameters):
    return PrivateHistogram(LEVELS, groups=GROUPS, random_state=sdp.testing.SeededRng(3), **parameters)


@pytest.mark.parametrize("make", ["mapping", "pandas", "polars", "pyarrow"])
def test_every_combination_has_a_distribution_in_the_order_of_the_columns(make):
    data = frame()
    if make != "mapping":
        module = pytest.importorskip(make)
        data = module.table(data) if make == "pyarrow" else module.DataFrame(data)
    found = histogram(epsilon=20.0, delta=0.0).fit(data, "job", by=["year", "region"])
    assert found.probabilities_.shape == (3, 2, 2)
    assert found.groups_ == {"year": GROUPS["year"], "region": GROUPS["region"]}
    truth = sdp.frames.count_table(frame(), ["year", "region", "job"], {**GROUPS, "job": LEVELS})
    assert np.abs(found.released_ - truth).max() <= 3
    np.testing.assert_allclose(found.probabilities_.sum(axis=-1), 1)
    one = histogram(epsilon=20.0, delta=0.0).fit(data, "job", by=["region"])
    assert one.probabilities_.shape == (2, 2)
    assert one.groups_ == GROUPS["region"]


@pytest.mark.parametrize("make", ["mapping", "pandas", "polars", "pyarrow"])
def test_a_pivot_table_is_of_the_kind_that_came_in_and_adds_up(make):
    data = frame()
    if make != "mapping":
        module = pytest.importorskip(make)
        data = module.table(data) if make == "pyarrow" else module.DataFrame(data)
    found = histogram(epsilon=1.0, delta=0.0).fit(data, "job", by=["year", "region"])
    table = found.pivot()
    if make == "mapping":
        assert table.shape == (7, 3)
        numbers = table
    else:
        assert type(table).__module__.startswith(make)
        names = table.column_names if make == "pyarrow" else list(table.columns)
        assert names == ["year", "region", "a", "b", "all"]
        numbers = np.array([[float(x) for x in table[name].to_numpy()] for name in names[2:]]).T
    assert numbers[-1, -1] == pytest.approx(600, abs=1e-9)
    np.testing.assert_allclose(numbers[:-1].sum(axis=0), numbers[-1])
    np.testing.assert_allclose(numbers[:, :-1].sum(axis=1), numbers[:, -1])
    np.testing.assert_array_equal(
        histogram(epsilon=1.0, delta=0.0).fit(frame(), "job", by="region").pivot("released", totals=False).shape, (2, 2)
    )


def test_a_pivot_table_needs_groups_and_counts():
    with pytest.raises(sdp.exceptions.InvalidParameterError, match="pivot needs groups"):
        histogram().fit(frame(), "job").pivot()
    drawn = histogram(mechanism="dirichlet", total=300).fit(frame(), "job", by="region")
    assert drawn.pivot("share", totals=False).shape == (2, 2)
    with pytest.raises(sdp.exceptions.InvalidParameterError, match="what must be"):
        drawn.pivot()


@pytest.mark.parametrize("by", [[], ["region", "region"], ["region", "job"], ["region", "month"], "job"])
def test_columns_that_cannot_be_grouped_by_are_refused_by_name(by):
    with pytest.raises(sdp.exceptions.InvalidParameterError, match=r"by|groups"):
        histogram().fit(frame(), "job", by=by)


def test_a_list_of_groups_for_several_columns_is_refused():
    with pytest.raises(sdp.exceptions.InvalidParameterError, match="groups must map each column"):
        PrivateHistogram(LEVELS, groups=["n", "s"]).fit(frame(), "job", by=["region", "year"])
