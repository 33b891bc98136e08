"""Two persons are never taken for one, nor one for two, whatever names them: else somebody else's rows move."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.frames import bound_rows, count_table

START = np.datetime64("2020-01-01", "ns")
MANY = np.arange(1, 31)
PERSONS = {
    "large doubles": 1e16 * MANY,
    "doubles beyond all integers": 1e300 * MANY,
    "large fractions": -1e15 - 0.25 * MANY,
    "close fractions": 0.1 + 1e-9 * MANY,
    "tiny fractions": 1e-20 * MANY,
    "singles": (1e10 * MANY).astype(np.float32),
    "whole numbers": 2**60 + MANY,
    "nanoseconds": START + MANY,
}


def dict_of(frame):
    return {name: frame[name].to_numpy() for name in frame.columns}


def as_polars(frame):
    import polars as pl

    return pl.from_pandas(frame)


def as_dask(frame):
    import dask.dataframe as dd

    return dd.from_pandas(frame, npartitions=4)


def as_duckdb(frame):
    import duckdb

    return duckdb.from_df(frame)


def as_pyarrow(frame):
    import pyarrow as pa

    return pa.Table.from_pandas(frame)


ENGINES = [lambda frame: frame, dict_of, as_polars, lambda f: as_polars(f).lazy(), as_pyarrow, as_duckdb, as_dask]
NAMES = ["pandas", "arrays", "polars", "polars lazy", "pyarrow", "duckdb", "dask"]


def visits(persons):
    import pandas as pd

    return pd.DataFrame({"person": np.repeat(persons, 4), "visit": np.arange(4 * len(persons)) % 7})


def counted(frame, max_rows=2, **options):
    return count_table(frame, ["visit"], {"visit": 7}, unit="person", max_rows=max_rows, seed=5, **options)


@pytest.mark.parametrize("engine", ENGINES, ids=NAMES)
@pytest.mark.parametrize("persons", list(PERSONS.values()), ids=list(PERSONS))
def test_different_values_are_different_persons(persons, engine):
    frame = visits(persons)
    expected = counted(frame)
    assert expected.sum() == 2 * len(MANY)
    assert np.array_equal(counted(engine(frame)), expected)


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_spark_tells_them_apart_too(spark):
    for name, persons in PERSONS.items():
        if name != "nanoseconds":  # which Spark has not
            frame = visits(persons)
            assert np.array_equal(counted(spark.createDataFrame(frame)), counted(frame))


@pytest.mark.parametrize("engine", ENGINES, ids=NAMES)
def test_zeros_of_either_sign_are_one_person_and_so_are_all_without_a_number(engine):
    persons = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf] * 5)
    expected = counted(visits(persons))
    assert expected.sum() == 2 * 4
    assert np.array_equal(counted(engine(visits(persons))), expected)


def test_persons_of_one_partition_and_of_another_are_one_if_written_alike():
    import dask
    import dask.dataframe as dd
    import pandas as pd

    parts = [[7, 7, 8], [7.0, 7.0, 8.5], ["7", "8", "8.5"]]
    frames = [pd.DataFrame({"person": np.array(part, dtype=object), "visit": [0, 1, 2]}) for part in parts]
    with dask.config.set({"dataframe.convert-string": False}):
        together = dd.concat([dd.from_pandas(frame, npartitions=1) for frame in frames])
        assert counted(together).sum() == 2 * 3
    assert counted(pd.concat(frames, ignore_index=True)).sum() == 2 * 3


def test_equal_values_of_several_kinds_are_one_person():
    half = [0.5, Decimal("0.50"), Fraction(1, 2), np.float32(0.5), "0.5"]
    one = [1, 1.0, True, Decimal("1.00"), Fraction(1), np.int8(1), "1"]
    tenth = [Decimal("0.1"), Fraction(1, 10), Decimal("0.10"), "0.1", 0.1]  # Python writes the double like the decimal
    long = [10**30, Decimal(10) ** 30, 1e30 + 0, float(10**22), 10**22, Decimal("1E+22")]
    precise = [Decimal("0." + "1" * 40), Decimal("0." + "1" * 41), Fraction(1, 3), Decimal("1E+999999999"), 1e-300]
    others = [datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), b"1", ()]
    for extra in (0, 200):  # another way to find them takes over where there are many
        alike = [value for value in [*half, *one, *tenth, *long] for _ in range(3)]
        persons = np.empty(len(alike) + len(precise) + len(others) + extra, dtype=object)
        for row, value in enumerate([*alike, *precise, *others, *(f"p{number}" for number in range(extra))]):
            persons[row] = value
        table = {"person": persons, "visit": np.zeros(len(persons), dtype=int)}
        # 10^30, the double near it, and 10^22, which is a double.
        assert counted(table, max_rows=1).sum() == 3 + 3 + len(precise) + len(others) + extra


def test_times_with_a_zone_are_told_apart_to_the_nanosecond():
    import pandas as pd
    import polars as pl

    frame = visits(START + MANY)
    zoned = frame.assign(person=frame["person"].dt.tz_localize("Europe/Rome"))
    for table in (zoned, pl.from_pandas(zoned), pl.from_pandas(zoned).lazy()):
        assert counted(table).sum() == 2 * len(MANY)
    summer = pd.Timestamp("2020-07-01 12:00", tz="UTC")
    same = pd.DataFrame({"person": [summer, summer.tz_convert("Asia/Tokyo")] * 2, "visit": [0, 1, 2, 3]}, dtype=object)
    assert counted(same.assign(visit=same["visit"].astype(int))).sum() == 2


def test_a_person_with_a_long_number_moves_as_many_counts_as_paid_for():
    """One person leaves; the other keeps her rows. As one person they moved the table by four, at the price of two."""
    import pandas as pd

    table = pd.DataFrame({"person": [1.7e17] * 3 + [9.9e17] * 3, "visit": [0, 0, 1, 1, 1, 1], "day": range(6)})
    with_both = counted(table, first_by="day")
    without = counted(table[3:], first_by="day")
    assert np.abs(with_both - without).sum() == 2
    mechanism = sdp.DiscreteLaplaceMechanism.for_counts(1.0, max_rows=2, adjacency="add_remove")
    assert mechanism.privacy.epsilon(0) <= 1.0
    assert float(mechanism.scale) == 2.0


def test_rows_without_a_number_are_kept_alike_on_duckdb():
    persons = np.full(20, np.nan)
    frame = visits(persons)
    assert np.array_equal(counted(as_duckdb(frame)), counted(frame))
    assert len(bound_rows(as_duckdb(frame), unit="person", max_rows=3).fetchall()) == 3


def test_other_people_do_not_change_how_rows_of_a_person_written_in_two_ways_are_drawn():
    """True and 1 are one person; among many others values are told apart in another way, and the same rows are kept."""
    # Each value an object of its own: few of them are told apart by their addresses, many by their values.
    own = [True, 1.0, Fraction(1), 0.5, Decimal("0.50"), "0.5"]
    kept = []
    for extra in (0, 400):
        persons = np.empty(4 * len(own) + extra, dtype=object)
        persons[:] = [*own * 4, *(f"another {number}" for number in range(extra))]
        visits = np.arange(len(persons)) % 7
        whole = counted({"person": persons, "visit": visits}, max_rows=3)
        alone = counted({"person": persons[4 * len(own) :], "visit": visits[4 * len(own) :]}, max_rows=3)
        kept.append((whole - alone).tolist())
    assert kept[0] == kept[1]
    assert sum(kept[0]) == 2 * 3


KINDS = {
    "int64": np.array([-(2**63), -5, 0, 1, 7, 2**53 + 1, 2**63 - 1]),
    "uint64": np.array([0, 1, 7, 2**53 + 1, 2**63, 2**64 - 1], dtype=np.uint64),
    "int8": np.array([-5, 0, 1, 7], dtype=np.int8),
    "double": np.array([-5.0, -0.0, 0.0, 1.0, 7.0, 2.0**53, 2.0**62, 2.0**63, 1e300, 0.5, np.inf, -np.inf, np.nan]),
    "single": np.array([-5.0, 1.0, 2.0**62, 0.5, 0.1, np.nan], dtype=np.float32),
    "truth": np.array([True, False]),
    "text": np.array(
        ["1", "01", "-0", "-5", "7 ", "+7", "7.0", "", "-", "\u0661", "2e3", "18446744073709551615", None], object
    ),
    "objects": np.array(
        [True, 1, 1.0, Decimal("1.00"), Fraction(1, 2), 0.5, "0.5", 2**64, -(2**63), 10**25, None], object
    ),
    "dates": np.array(["2020-01-01", "2020-01-02"], "M8[D]"),
}


def test_one_person_has_one_place_whatever_the_type_in_a_part():
    """Places bring rows of a person together: alike wherever identities are, which another way forms for each value."""
    import pandas as pd
    import polars as pl
    from narwhals import from_native

    from simplexdp.frames.canonical import identities_of
    from simplexdp.frames.persons import places_of

    place_of, at = {}, {}
    for name, values in KINDS.items():
        forms = [values, from_native(pd.Series(values), series_only=True)]
        if name != "objects":
            forms.append(
                from_native(pl.Series(values.tolist() if values.dtype.kind == "O" else values), series_only=True)
            )
        if name in ("int64", "uint64", "int8", "truth"):
            missing = pd.array(
                [*values.tolist(), None], dtype={"truth": "boolean"}.get(name, name.title().replace("Ui", "UI"))
            )
            forms.append(from_native(pd.Series(missing), series_only=True))
        for form in forms:
            texts = identities_of(form.tolist() if isinstance(form, np.ndarray) else form.to_list())
            for text, place in zip(texts, places_of(form, "person").tolist(), strict=True):
                assert place_of.setdefault(text, place) == place, (name, text)
                at.setdefault(place, set()).add(text)
    # Few share one: 2^63 and more beside negative numbers, whose bits are the same.
    assert sum(len(texts) > 1 for texts in at.values()) <= 3
    assert len(place_of) > 30
