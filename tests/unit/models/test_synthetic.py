"""Synthetic records from counts, and their marginals beside those of the real records."""

import itertools
import json

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.datasets import german_credit
from simplexdp.frames import Domain, count_table
from simplexdp.models import PrivateBayesianNetwork, compare_marginals, records_from_counts

CREDIT = {"status": [1, 2, 3, 4], "savings": [1, 2, 3, 4, 5], "class": [0, 1]}


def by_hand(real, synthetic, group):
    """Total variation distance from relative frequencies, record by record."""
    ours, theirs = (list(zip(*(frame[c] for c in group), strict=True)) for frame in (real, synthetic))
    values = set(ours) | set(theirs)
    return sum(abs(ours.count(v) / len(ours) - theirs.count(v) / len(theirs)) for v in values) / 2


def credit():
    data = german_credit()
    return {name: data[name].tolist() for name in CREDIT}


def sampled(size=700):
    rng = sdp.testing.SeededRng(1)
    edges = [("status", "class"), ("savings", "class")]
    network = PrivateBayesianNetwork(edges, CREDIT, epsilon=2.0, random_state=rng)
    sample = network.fit(credit()).sample(size, random_state=rng)
    return {name: values.tolist() for name, values in sample.items()}


def test_distances_are_those_by_hand_on_the_german_credit_data():
    real, synthetic = credit(), sampled()
    comparison = compare_marginals(real, synthetic, CREDIT, order=(1, 2, 3))
    assert (comparison.n_real, comparison.n_synthetic) == (1000, 700)
    assert len(comparison.rows) == 3 + 3 + 1
    for row in comparison.rows:
        assert row.total_variation == pytest.approx(by_hand(real, synthetic, row.columns), abs=1e-12)
    distances = [row.total_variation for row in comparison.rows]
    assert distances == sorted(distances, reverse=True)
    pairs = [by_hand(real, synthetic, pair) for pair in itertools.combinations(CREDIT, 2)]
    assert comparison.mean(2) == pytest.approx(np.mean(pairs))
    assert comparison.largest(2) == pytest.approx(max(pairs))
    assert "3 of order 2" in str(comparison)
    assert json.loads(json.dumps(comparison.to_dict()))["n_real"] == 1000


def frames_of(data):
    import dask.dataframe as dd
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    arrow = pa.table(data)
    return [
        data,
        pd.DataFrame(data),
        pl.DataFrame(data),
        pl.DataFrame(data).lazy(),
        arrow,
        duckdb.from_arrow(arrow),
        dd.from_pandas(pd.DataFrame(data), npartitions=2),
    ]


@pytest.mark.parametrize("position", range(7))
def test_every_kind_of_frame_is_compared_with_every_other(position):
    real, synthetic = credit(), sampled()
    expected = compare_marginals(real, synthetic, CREDIT)
    assert compare_marginals(frames_of(real)[position], frames_of(synthetic)[(position + 1) % 7], CREDIT) == expected


def test_equal_records_have_distance_zero_and_disjoint_ones_one():
    ones, zeros = {"a": [1, 1], "b": [0, 1]}, {"a": [0, 0, 0], "b": [0, 1, 0]}
    domains = {"a": 2, "b": 2}
    assert {row.total_variation for row in compare_marginals(ones, ones, domains).rows} == {0.0}
    rows = compare_marginals(ones, zeros, domains, order=1).rows
    assert rows[0].columns == ("a",)
    assert rows[0].total_variation == 1.0
    array = np.array([[0, 1], [1, 1]])
    assert compare_marginals(array, array, {0: 2, 1: 2}, columns=[1], order=[1]).rows[0].columns == (1,)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"domains": [2]}, sdp.InvalidParameterError, "domains must map"),
        ({"order": 0}, sdp.InvalidParameterError, "order must be an integer"),
        ({"order": 3}, sdp.InvalidParameterError, "order must fit"),
        ({"order": ()}, sdp.InvalidParameterError, "order must fit"),
        ({"columns": ["absent"]}, sdp.InvalidParameterError, "every counted column"),
        ({"real": {"a": [], "b": []}}, sdp.InvalidDataError, "real must hold"),
        ({"synthetic": {"a": [], "b": []}}, sdp.InvalidDataError, "synthetic must hold"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    data = {"a": [0], "b": [1]}
    with pytest.raises(error, match=message):
        compare_marginals(**{"real": data, "synthetic": data, "domains": {"a": 2, "b": 2}, **arguments})


def test_a_mean_of_nothing_is_refused():
    data = {"a": [0]}
    with pytest.raises(sdp.InvalidParameterError, match="order must be one"):
        compare_marginals(data, data, {"a": 1}, order=1).mean(2)


DOMAINS = {"a": Domain(["x", None], other=True), "b": 2, "c": [0.5, 1.5], "d": Domain([7, 8], other=True)}


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "pyarrow"])
def test_records_count_back_to_the_counts_that_were_released(kind):
    shape = (3, 2, 2, 3)
    mechanism = sdp.DirichletMechanism(scale=0.5, prior=1.0, dimension=36)
    counts = mechanism.release_counts(np.arange(36), size=500, rng=sdp.testing.SeededRng(3))
    for table in (counts, counts.reshape(shape)):
        records = records_from_counts(table, DOMAINS, kind=kind)
        np.testing.assert_array_equal(count_table(records, list(DOMAINS), DOMAINS), counts.reshape(shape))


@pytest.mark.parametrize("position", range(7))
def test_records_are_of_the_kind_of_the_users_frame(position):
    frame = frames_of(credit())[position]
    records = records_from_counts([3, 1], {"class": [0, 1]}, like=frame)
    kinds = ["dict", "DataFrame", "DataFrame", "DataFrame", "Table", "dict", "DataFrame"]
    assert type(records).__name__ == kinds[position]
    assert count_table(records, ["class"], CREDIT).tolist() == [3, 1]


@pytest.mark.parametrize("counts", [[1.5, 2], [-1, 3], [[1], [2, 3]], ["a", "b"], [True, False]])
def test_what_are_no_counts_is_refused(counts):
    with pytest.raises(sdp.InvalidDataError, match="non-negative integers"):
        records_from_counts(counts, {"a": 2})


@pytest.mark.parametrize(
    "counts, domains, message",
    [([1, 2, 3], {"a": 2}, "shape"), ([1], {}, "at least one"), ([2**61, 1], {"a": 2}, "fit into memory")],
)
def test_counts_and_domains_must_fit_together(counts, domains, message):
    with pytest.raises(sdp.InvalidParameterError, match=message):
        records_from_counts(counts, domains)


def test_a_level_for_others_has_a_name_of_its_own():
    assert Domain(["other", "(other)"], other=True).levels == ["other", "(other)", "((other))"]
