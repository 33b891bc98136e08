"""Tables that Spark's workers count are those of the same rows in memory."""

import datetime
from decimal import Decimal
from itertools import combinations

import numpy as np
import pytest

from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import Cleaning, Domain, spark_tasks
from simplexdp.models import PrivateSynthesizer, marginal_release, spark_tables
from simplexdp.models.marginal_release import count
from simplexdp.testing import SeededRng

pytestmark = pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations

N = 500
KINDS = "`a.b` string, small tinyint, long bigint, real double, exact decimal(9,2), truth boolean, day date"
DAYS = [datetime.date(2024, 1, 1), datetime.date(1815, 6, 18)]
DOMAINS = {
    "a.b": Domain(["x", "Y", None], clean=Cleaning()),
    "small": Domain(5),
    "long": Domain([0, 7, 2**40], other=True),
    "real": Domain([0.5, 1, None]),
    "exact": Domain([Decimal("1.25"), 2]),
    "truth": Domain([False, True]),
    "day": Domain(DAYS, other=True),
}
PAIRS = list(combinations(range(len(DOMAINS)), 2))


def rows():
    rng = np.random.default_rng(3)
    choices = [
        ["x", " x", "Y", None],
        [0, 1, 2, 4],
        [0, 7, 2**40, -3, None],
        [0.5, 1.0, float("nan"), None],
        [Decimal("1.25"), Decimal("2.00")],
        [True, False],
        [*DAYS, datetime.date(1, 1, 1), None],
    ]
    return [tuple(values[rng.integers(len(values))] for values in choices) for _ in range(N)]


@pytest.fixture(scope="module")
def on_spark(spark):
    return spark.createDataFrame(rows(), KINDS).repartition(3)


def expected(domains=DOMAINS, pairs=PAIRS):
    """Count by dictionaries."""
    columns = list(zip(*rows(), strict=True))
    codes = [
        [domains[name].code(value, name) for value in column] for name, column in zip(DOMAINS, columns, strict=True)
    ]
    tables = [np.bincount(code, minlength=len(domain)) for code, domain in zip(codes, domains.values(), strict=True)]
    for i, j in pairs:
        table = np.zeros((len(tables[i]), len(tables[j])), dtype=int)
        for a, b in zip(codes[i], codes[j], strict=True):
            table[a, b] += 1
        tables.append(table.ravel())
    return np.concatenate(tables)


def test_workers_count_what_python_counts(on_spark, monkeypatch):
    monkeypatch.setattr(marginal_release, "count_tables", None)
    np.testing.assert_array_equal(count(on_spark, DOMAINS, PAIRS), expected())


def test_empty_partitions_and_frames_of_no_rows_count_nothing(on_spark):
    none = on_spark.filter("small > 100")
    assert not count(none, DOMAINS, PAIRS).any()
    few = on_spark.limit(1).repartition(4)
    assert count(few, DOMAINS, PAIRS)[3:8].sum() == 1


def test_a_value_outside_its_domain_is_refused_without_being_shown(on_spark):
    for name, domain in (("long", Domain([0, 7])), ("small", Domain(4)), ("a.b", Domain(["x", "Y", " x"]))):
        with pytest.raises(InvalidDataError, match="must h") as caught:
            count(on_spark, {**DOMAINS, name: domain}, PAIRS)
        assert repr(name) in str(caught.value)
        assert not any(str(value) in str(caught.value) for value in (2**40, -3, "4", "None is"))
    with pytest.raises(InvalidParameterError, match="must exist"):
        count(on_spark, {**DOMAINS, "absent": Domain(2)}, PAIRS)


def test_workers_that_lack_the_package_leave_it_to_a_query(on_spark, monkeypatch):
    monkeypatch.setattr(spark_tasks, "answers", lambda *_: {"no simplexdp"})
    domains = {"small": Domain(5), "truth": Domain([False, True])}
    with pytest.warns(UserWarning, match="no simplexdp"):
        found = count(on_spark, domains, [(0, 1)])
    monkeypatch.undo()
    np.testing.assert_array_equal(found, count(on_spark, domains, [(0, 1)]))


def test_a_worker_without_pyarrow_says_so(spark):
    """The question must not need what it asks for."""
    assert spark_tasks.answers(spark, ("simplexdp", "no_such_package")) == {"no no_such_package"}
    rows = spark.range(1).select(spark_tasks.question(("simplexdp",))("id").alias("answer"))
    assert "ArrowEvalPython" not in rows._jdf.queryExecution().toString()


def test_times_are_counted_by_a_query(spark):
    at = datetime.datetime(2024, 3, 31, 2, 30)
    frame = spark.createDataFrame([(at, 0), (at, 1)], "at timestamp, a int")
    assert spark_tables.counted_by_workers(marginal_release.as_frame(frame), {"at": Domain([at])}, []) is None
    np.testing.assert_array_equal(count(frame, {"at": Domain([at]), "a": Domain(2)}, [(0, 1)]), [2, 1, 1, 1, 1])


def test_a_synthesizer_of_a_frame_on_spark_is_that_of_the_rows(on_spark):
    names = list(DOMAINS)
    memory = dict(zip(names, map(list, zip(*rows(), strict=True)), strict=True))
    fitted = [
        PrivateSynthesizer(5.0, 1e-6, domains=DOMAINS, components=16, random_state=SeededRng(1)).fit(frame)
        for frame in (on_spark, memory)
    ]
    for pair in combinations(names, 2):
        np.testing.assert_array_equal(*(model.marginal(pair) for model in fitted))
