"""Each person counted as one: the same whole numbers on every engine, never more of anybody than one."""

from fractions import Fraction

import numpy as np
import pytest
from test_persons import COLUMNS, DOMAINS, ENGINES, visits

import simplexdp as sdp
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import count_table, count_tables
from simplexdp.models import PrivateHistogram
from simplexdp.testing import SeededRng


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("unit", ["patient", "number"])
def test_every_engine_gives_the_same_shares(engine, unit):
    data = visits()
    for columns in (COLUMNS, ["diagnosis", "old"]):
        expected = count_table(data, columns, DOMAINS, unit=unit, max_rows=3, weighted=True, seed=5)
        found = count_table(engine(data), columns, DOMAINS, unit=unit, max_rows=3, weighted=True, seed=5)
        assert np.array_equal(found, expected)
        assert expected.sum() == 6 * len(set(data[unit]))


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_spark_gives_the_same_shares_too(spark, monkeypatch):
    data = visits(n_rows=300, n_persons=50)
    frame = spark.createDataFrame(
        list(zip(*data.values(), strict=True)),
        "patient string, number bigint, diagnosis string, dose double, old boolean, day date",
    )
    given = {"unit": "patient", "max_rows": 4, "weighted": True, "seed": 5}
    expected = count_table(data, ["diagnosis"], DOMAINS, **given)
    assert np.array_equal(count_table(frame, ["diagnosis"], DOMAINS, **given), expected)
    monkeypatch.setattr("simplexdp.frames.spark_tasks.answers", lambda *_: {"no simplexdp"})
    assert np.array_equal(count_table(frame, ["diagnosis"], DOMAINS, **given), expected)


def test_shares_are_those_of_the_rows_that_are_kept():
    data = {"p": [1, 1, 1, 2, 2, 3, None], "x": [0, 0, 1, 1, 2, 2, 0]}
    table = count_table(data, ["x"], {"x": 3}, unit="p", max_rows=3, weighted=True)
    shares = [Fraction(int(count), sdp.sensitivity.weight_units(3)) for count in table]
    assert shares == [Fraction(2, 3) + 1, Fraction(1, 3) + Fraction(1, 2), Fraction(1, 2) + 1]


def test_a_person_moves_by_one_at_most():
    """All rows of one person of 150 are taken away, or come to be those of somebody with other rows."""
    data, units = visits(), sdp.sensitivity.weight_units(5)
    given = {"unit": "number", "max_rows": 5, "weighted": True, "seed": 3}
    whole = count_tables(data, [["diagnosis"], ["dose", "old"]], DOMAINS, **given)
    for person in range(0, 150, 15):
        others = [row for row, number in enumerate(data["number"]) if number != person]
        without = {name: [values[row] for row in others] for name, values in data.items()}
        fewer = count_tables(without, [["diagnosis"], ["dose", "old"]], DOMAINS, **given)
        for table, less in zip(whole, fewer, strict=True):
            assert np.all(less <= table)
            assert (table - less).sum() == units


@pytest.mark.filterwarnings("ignore::simplexdp.InsecureRandomnessWarning")
@pytest.mark.parametrize("mechanism", ["auto", "discrete_laplace", "discrete_gaussian", "dirichlet"])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_histogram_of_persons_has_the_noise_of_one_record_each(mechanism, adjacency):
    rng = np.random.default_rng(1)
    people = {"p": rng.integers(0, 900, 6000), "x": rng.integers(0, 3, 6000)}
    shared = {"epsilon": 1.0, "mechanism": mechanism, "adjacency": adjacency, "unit": "p", "total": 900}
    shared["random_state"] = SeededRng(1)
    found = PrivateHistogram(3, max_rows=5, weighted=True, **shared).fit(people, "x")
    assert found.privacy_.epsilon(1e-6) <= 1.0
    assert found.privacy_.label.endswith("for 'p' with 5 records")
    truth = count_table(people, ["x"], {"x": 3}, unit="p", max_rows=5, weighted=True) / 60
    # Draws at this scale have a standard deviation of 0.08 (30 seeds), noise one of 0.004: five of them.
    margin = 0.4 if mechanism == "dirichlet" else 0.02
    assert found.probabilities_ == pytest.approx(truth / truth.sum(), abs=margin)
    if mechanism != "dirichlet":
        assert found.released_ == pytest.approx(truth, abs=60)
        # Released is a whole number of units, and nothing between.
        assert np.array_equal(found.released_ * 60, np.rint(found.released_ * 60))
        size = "sigma" if hasattr(found.mechanism_, "sigma") else "scale"
        shared["mechanism"] = "discrete_laplace" if size == "scale" else mechanism
        one = PrivateHistogram(3, max_rows=1, **shared)
        unweighted = float(getattr(one.fit(people, "x").mechanism_, size))
        assert float(getattr(found.mechanism_, size)) / 60 == pytest.approx(unweighted, rel=0.02)
        low, high = found.posterior_.interval(0.95).T
        assert np.all(low < high)


def test_weights_need_persons_and_few_rows():
    data = {"p": [1], "x": [0]}
    with pytest.raises(InvalidParameterError, match="weighted must be False unless unit"):
        count_table(data, ["x"], {"x": 1}, weighted=True)
    with pytest.raises(InvalidParameterError, match="max_rows must lie between 1 and 16"):
        count_table(data, ["x"], {"x": 1}, unit="p", max_rows=17, weighted=True)
    with pytest.raises(InvalidParameterError, match="weighted must be True or False"):
        count_table(data, ["x"], {"x": 1}, unit="p", max_rows=1, weighted="yes")
    name = "rows of a person"
    with pytest.raises(InvalidParameterError, match="other names"):
        count_table({"p": [1], name: [0]}, [name], {name: 1}, unit="p", max_rows=1, weighted=True)
    with pytest.raises(InvalidParameterError, match="weighted must be False unless unit"):
        PrivateHistogram(2, weighted=True).fit(data, "x")
