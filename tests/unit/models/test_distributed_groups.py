"""Groups of several columns on Dask and Spark: every combination is one, and the counts are those of `count_table`."""

from itertools import product

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import InvalidParameterError, SimplexDpError
from simplexdp.frames import Domain, count_table
from simplexdp.models import PrivateHistogram

pd = pytest.importorskip("pandas")

LEVELS, WARDS, YEARS = ["a", "b", "c"], ["eye", "ear", "none"], [2023, 2024]
GROUPS = {"ward": WARDS, "year": YEARS}
STATED = {"x": LEVELS, **GROUPS}


def visits(rows=200):
    rng = np.random.default_rng(3)
    # Ward "hip" and year 2025 are no group of anyone's.
    return pd.DataFrame(
        {
            "patient": rng.integers(0, 30, rows),
            "x": rng.choice(LEVELS, rows),
            "ward": rng.choice(["eye", "ear", "hip"], rows),
            "year": rng.choice([2023, 2024, 2025], rows),
        }
    )


def expected(data):
    listed = data[data.ward.isin(WARDS) & data.year.isin(YEARS)]
    return {
        (ward, year): counts.tolist()
        for (ward, year), counts in zip(
            product(WARDS, YEARS), count_table(listed, ["ward", "year", "x"], STATED).reshape(-1, 3), strict=True
        )
    }


def on_dask(data):
    return pytest.importorskip("dask.dataframe").from_pandas(data, npartitions=3)


@pytest.mark.parametrize("as_frame", [False, True])
def test_dask_counts_every_combination(as_frame):
    from simplexdp.models import dask

    data = visits()
    groups = on_dask(pd.DataFrame(list(product(WARDS, YEARS)), columns=["ward", "year"])) if as_frame else GROUPS
    found = dask.group_counts(on_dask(data), "x", ["ward", "year"], Domain(LEVELS), groups).compute()
    assert {(row[0], row[1]): list(row[2:]) for row in found.itertuples(index=False)} == expected(data)


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
@pytest.mark.parametrize("as_frame", [False, True])
def test_spark_counts_every_combination(spark, as_frame):
    from simplexdp.models import spark as engine

    data, groups = visits(), GROUPS
    if as_frame:
        groups = spark.createDataFrame(list(product(WARDS, YEARS)), "ward string, year bigint")
    rows = list(zip(*(data[name].tolist() for name in data), strict=True))
    frame = spark.createDataFrame(rows, "patient bigint, x string, ward string, year bigint")
    found = engine.group_counts(frame, "x", ["ward", "year"], Domain(LEVELS), groups).collect()
    assert {(row["ward"], row["year"]): list(row["counts"]) for row in found} == expected(data)
    histogram = PrivateHistogram(LEVELS, groups=GROUPS, unit="patient", max_rows=3)
    released = histogram.release_on_spark(frame, "x", by=["ward", "year"]).collect()
    assert {(row["ward"], row["year"]) for row in released} == set(product(WARDS, YEARS))
    assert all(abs(sum(row["probabilities"]) - 1) < 1e-9 for row in released)
    assert histogram.privacy_.unit == "patient"


@pytest.mark.parametrize("as_strings", [True, False])
def test_missing_groups_of_a_dask_frame_are_one_group(as_strings):
    import dask as engine

    with engine.config.set({"dataframe.convert-string": as_strings}):
        check_missing_groups()


def check_missing_groups():
    from simplexdp.models import dask

    data = pd.DataFrame({"x": ["a", "b", "a"], "g": [None, "m", None], "h": ["n", "n", "o"]}, dtype=object)
    groups = pd.DataFrame({"g": [None, float("nan"), "m"], "h": ["n", "n", "n"]}, dtype=object)
    frame, public = on_dask(data), on_dask(groups)
    found = dask.group_counts(frame, "x", ["g", "h"], Domain(LEVELS), public).compute()
    assert sorted(map(tuple, found.iloc[:, 2:].to_numpy().tolist())) == [(0, 1, 0), (1, 0, 0)]


def test_a_dask_release_has_a_row_for_each_combination():
    released = PrivateHistogram(LEVELS, groups=GROUPS).release_on_dask(on_dask(visits()), "x", by=["ward", "year"])
    found = released.compute()
    assert list(found.columns) == ["ward", "year", "p0", "p1", "p2"]
    assert set(zip(found.ward, found.year, strict=True)) == set(product(WARDS, YEARS))
    np.testing.assert_allclose(found[["p0", "p1", "p2"]].sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("by", "groups", "rule"),
    [
        (["ward", "year"], WARDS, "groups must map each column of by"),
        (["ward", "year"], {"ward": WARDS}, "groups must give those of every column of by, got none for 'year'"),
        (["ward", "ward"], GROUPS, "by must name columns other than 'x', each once"),
        ([], GROUPS, "by must name at least one column"),
        (None, GROUPS, "by must name a column"),
        (["ward", "year"], None, "groups must be stated publicly"),
        (["ward", "month"], {"ward": WARDS, "month": [1, 2]}, "columns must exist in the frame, got 'month'"),
    ],
)
def test_what_is_no_group_is_refused(by, groups, rule):
    with pytest.raises(SimplexDpError, match=rule):
        PrivateHistogram(LEVELS).release_on_dask(on_dask(visits()), "x", by=by, groups=groups)


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
@pytest.mark.parametrize("name", ["g.x", "g`x", "two words"])
def test_a_column_of_groups_is_its_name_letter_for_letter(spark, name):
    frame = spark.createDataFrame([("a", 0), ("b", 1)] * 50, [name, "v"])
    accountant = sdp.Accountant(1.0, 1e-6)
    histogram = PrivateHistogram([0, 1], epsilon=1.0, delta=1e-6, accountant=accountant)
    found = histogram.release_on_spark(frame, "v", by=name, groups=["a", "b"])
    assert found.columns == [name, "probabilities"]
    assert sorted(row[0] for row in found.collect()) == ["a", "b"]


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
@pytest.mark.parametrize("name", ["probabilities", "Probabilities"])
def test_groups_called_like_the_release_are_refused_before_they_are_paid_for(spark, name):
    frame = spark.createDataFrame([("a", 0), ("b", 1)] * 50, [name, "v"])
    accountant = sdp.Accountant(1.0, 1e-6)
    histogram = PrivateHistogram([0, 1], epsilon=1.0, delta=1e-6, accountant=accountant)
    with pytest.raises(InvalidParameterError, match="by must name columns other than 'probabilities'"):
        histogram.release_on_spark(frame, "v", by=name, groups=["a", "b"])
    assert accountant.debits == 0
