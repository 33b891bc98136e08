"""Histograms: one, one for each group, and on Spark where the groups are."""

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.frames import Domain
from simplexdp.models import PrivateHistogram


def answers(n_records=2000):
    rng = np.random.default_rng(8)
    return {
        "group": rng.integers(0, 3, n_records),
        "answer": np.array(["no", "yes", "maybe"])[rng.integers(0, 3, n_records)],
    }


LEVELS = ["yes", "no", "maybe"]


def test_a_histogram_keeps_its_budget_and_is_near_the_truth():
    data = answers()
    histogram = PrivateHistogram(LEVELS, epsilon=10.0, total=2000, random_state=sdp.testing.SeededRng(1)).fit(
        data, "answer"
    )
    truth = [np.mean(data["answer"] == level) for level in LEVELS]
    assert 9.9 < histogram.privacy_.epsilon(1e-6) <= 10
    assert histogram.levels_ == LEVELS
    np.testing.assert_allclose(histogram.probabilities_, truth, atol=0.1)
    assert histogram.probabilities_.sum() == pytest.approx(1.0, abs=1e-15)
    ends = histogram.posterior_.interval(0.99999)
    assert np.all((ends[:, 0] <= truth) & (truth <= ends[:, 1]))


@pytest.mark.parametrize(
    ("parameters", "by", "kind"),
    [
        ({}, None, sdp.SumPreservingLaplaceMechanism),
        ({}, "group", sdp.DiscreteLaplaceMechanism),
        ({"adjacency": "add_remove"}, None, sdp.DiscreteLaplaceMechanism),
        ({"epsilon": 0.1, "delta": 0.1}, None, sdp.DiscreteGaussianMechanism),
        ({"delta": 0.0}, None, sdp.SumPreservingLaplaceMechanism),
        ({"prior": 2.0}, None, sdp.DirichletMechanism),
        ({"mechanism": "dirichlet", "total": 2000}, "group", sdp.DirichletMechanism),
        ({"mechanism": "discrete_gaussian"}, "group", sdp.DiscreteGaussianMechanism),
    ],
)
def test_the_mechanism_is_chosen_by_public_numbers(parameters, by, kind):
    histogram = PrivateHistogram(LEVELS, groups=3, **{"epsilon": 1.0, **parameters}).fit(answers(), "answer", by=by)
    assert isinstance(histogram.mechanism_, kind)
    assert histogram.released_.shape == histogram.probabilities_.shape == ((3, 3) if by else (3,))
    np.testing.assert_allclose(histogram.probabilities_.sum(axis=-1), 1.0, rtol=1e-15)
    assert histogram.probabilities_.min() > 0
    assert hasattr(histogram, "posterior_") == (kind is not sdp.DirichletMechanism)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_all_groups_together_cost_as_much_as_one(adjacency):
    one = PrivateHistogram(LEVELS, total=600, adjacency=adjacency).fit(answers(), "answer")
    many = PrivateHistogram(LEVELS, groups=3, total=600, adjacency=adjacency).fit(answers(), "answer", by="group")
    assert many.probabilities_.shape == (3, 3)
    np.testing.assert_allclose(many.probabilities_.sum(axis=1), 1.0, rtol=1e-15)
    assert many.privacy_.epsilon(1e-6) == one.privacy_.epsilon(1e-6)


def test_domains_and_groups_that_are_not_stated_warn():
    with pytest.warns(sdp.PrivacyLeakWarning, match="domain="):
        PrivateHistogram(total=100).fit(answers(), "answer")
    with pytest.warns(sdp.PrivacyLeakWarning, match="groups="):
        PrivateHistogram(LEVELS, total=100).fit(answers(), "answer", by="group")


def test_the_accountant_is_asked_first():
    histogram = PrivateHistogram(LEVELS, total=100, accountant=sdp.Accountant(epsilon=0.1, delta=1e-6))
    with pytest.raises(sdp.BudgetExceededError):
        histogram.fit(answers(), "answer")
    assert not hasattr(histogram, "probabilities_")


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"domain": ["a"], "total": 9}, "at least two levels"),
        ({"mechanism": "dirichlet"}, "total must be given"),
        ({"epsilon": -1, "total": 9}, "epsilon"),
        ({"mechanism": "hellinger"}, "mechanism must be one of"),
        ({"mechanism": "discrete_laplace", "prior": 1.0}, "scale and prior"),
        ({"mechanism": "sum_preserving_laplace", "adjacency": "add_remove"}, "mechanism must hide"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(sdp.InvalidParameterError, match=message):
        PrivateHistogram(**{"domain": LEVELS, **parameters}).fit(answers(), "answer")


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_spark_releases_each_group_once_in_its_own_task(spark):
    data = answers()
    rows = list(zip(data["group"].tolist(), data["answer"].tolist(), strict=True))
    frame = spark.createDataFrame(rows, "g int, a string")
    histogram = PrivateHistogram(LEVELS, epsilon=0.5, total=600)
    released = histogram.release_on_spark(frame, "a", by="g", groups=[0, 1, 2, 7])
    first = {row["g"]: row["probabilities"] for row in released.collect()}
    assert first == {row["g"]: row["probabilities"] for row in released.collect()}
    assert sorted(first) == [0, 1, 2, 7]
    for group, probabilities in first.items():
        assert sum(probabilities) == pytest.approx(1.0, abs=1e-15)
        members = data["answer"][data["group"] == group]
        if len(members):
            np.testing.assert_allclose(probabilities, [np.mean(members == level) for level in LEVELS], atol=0.15)
    again = histogram.release_on_spark(frame, "a", by="g", groups=[0, 1, 2, 7])
    assert first != {row["g"]: row["probabilities"] for row in again.collect()}
    assert histogram.privacy_.epsilon(1e-6) <= 20


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_spark_has_places_for_other_and_missing_values_or_refuses_them(spark):
    frame = spark.createDataFrame([(0, "x"), (0, None), (0, "q"), (0, "x")], "g int, a string")
    from simplexdp.models.spark import group_counts

    counts = group_counts(frame, "a", ["g"], Domain(["x", None], other=True), frame.select("g"))
    assert counts.collect()[0]["counts"] == [2, 1, 1]
    with pytest.raises(Exception, match="values of its domain only"):
        group_counts(frame, "a", ["g"], Domain(["x", "y"]), frame.select("g")).collect()


def dask_frame(data, partitions=3):
    import dask.dataframe as dd
    import pandas as pd

    return dd.from_pandas(pd.DataFrame(data), npartitions=partitions)


def test_dask_releases_each_group_once_in_its_own_partition():
    data = answers()
    frame = dask_frame(data)
    accountant = sdp.Accountant(epsilon=20.5, delta=1e-6)
    histogram = PrivateHistogram(LEVELS, epsilon=20.0, total=600, accountant=accountant)
    released = histogram.release_on_dask(frame, "answer", by="group", groups=[0, 1, 2, 7])
    first = released.compute().set_index("group").sort_index()
    assert first.index.tolist() == [0, 1, 2, 7]
    assert first.equals(released.compute().set_index("group").sort_index())
    np.testing.assert_allclose(first.sum(axis=1), 1.0, rtol=1e-15)
    for group in (0, 1, 2):
        members = data["answer"][data["group"] == group]
        np.testing.assert_allclose(first.loc[group], [np.mean(members == level) for level in LEVELS], atol=0.15)
    with pytest.raises(sdp.BudgetExceededError):
        histogram.release_on_dask(frame, "answer", by="group", groups=[0])
    assert len(accountant.spends()) == 1


def test_dask_counts_other_and_missing_values_and_groups_that_are_missing():
    from simplexdp.models.dask import group_counts

    frame = dask_frame({"g": ["a", None, "a", "a", "b"], "a": ["x", "x", None, "q", "x"]}, partitions=2)
    counts = group_counts(
        frame, "a", ["g"], Domain(["x", None], other=True), {"g": ["b", "a", None, "never"]}
    ).compute()
    rows = {key: cells for key, *cells in counts.itertuples(index=False)}
    rows = {key if isinstance(key, str) else None: cells for key, cells in rows.items()}
    assert rows == {"a": [1, 1, 1], None: [1, 0, 0], "b": [1, 0, 0], "never": [0, 0, 0]}
    with pytest.raises(sdp.InvalidDataError, match=r"values of its domain only|no missing value"):
        group_counts(frame, "a", ["g"], Domain(["x", "y"]), {"g": ["a"]}).compute()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"column": "absent"}, "exist in the frame"),
        ({"by": "absent"}, "exist in the frame"),
        ({"groups": None}, "stated publicly"),
    ],
)
def test_bad_arguments_on_dask_are_named(arguments, message):
    with pytest.raises(sdp.InvalidParameterError, match=message):
        PrivateHistogram(LEVELS, total=9).release_on_dask(
            dask_frame(answers(20)), **{"column": "answer", "by": "group", "groups": [0], **arguments}
        )
    seeded = PrivateHistogram(LEVELS, total=9, random_state=sdp.testing.SeededRng(1))
    with pytest.raises(sdp.InvalidParameterError, match="random_state"):
        seeded.release_on_dask(dask_frame(answers(20)), "answer", by="group", groups=[0])
