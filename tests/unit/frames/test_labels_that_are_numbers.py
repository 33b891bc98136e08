"""Columns of a pandas frame may be named by integers, which are no places of rows."""

import numpy as np
import pandas as pd
import pytest

import simplexdp as sdp
from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB, PrivateGaussianNB, PrivateHistogram
from simplexdp.testing import SeededRng

PERSONS = np.arange(60) // 3
FRAME = pd.DataFrame({0: PERSONS, 1: np.arange(60) % 2, 2: np.arange(60) % 3})
TEXT = FRAME.rename(columns=lambda label: f"c{label}")


@pytest.mark.parametrize("max_rows", [1, 2, 3])
@pytest.mark.parametrize("lazy", [False, True])
def test_as_many_rows_are_counted_as_persons_have(max_rows, lazy):
    frame, same = FRAME, TEXT
    if lazy:
        from_pandas = pytest.importorskip("dask.dataframe").from_pandas
        frame, same = from_pandas(FRAME, npartitions=2), from_pandas(TEXT, npartitions=2)
    found = sdp.frames.count_table(frame, [1, 2], {1: 2, 2: 3}, unit=0, max_rows=max_rows)
    named = sdp.frames.count_table(same, ["c1", "c2"], {"c1": 2, "c2": 3}, unit="c0", max_rows=max_rows)
    assert found.sum() == named.sum() == 20 * max_rows
    assert len(sdp.frames.bound_rows(frame, unit=0, max_rows=max_rows)) == 20 * max_rows


@pytest.mark.parametrize("label", ["c0", 5])
def test_kinds_of_labels_are_mixed(label):
    frame = FRAME.rename(columns={0: label})
    assert sdp.frames.count_table(frame, [1], {1: 2}, unit=label, max_rows=3).tolist() == [30, 30]


def test_a_person_who_leaves_moves_no_other():
    one = pd.DataFrame({0: range(10), 1: [0, 0] + [1] * 8})
    for person in range(10):
        less = one[one[0] != person].reset_index(drop=True)
        both = [sdp.frames.count_table(frame, [1], {1: 2}, unit=0, max_rows=1) for frame in (one, less)]
        assert np.abs(both[0] - both[1]).sum() == 1


def test_whether_somebody_has_more_rows_is_not_told():
    # It raised a message of pandas' own, with the number of records, where somebody had more rows than the bound.
    more = pd.concat([FRAME, FRAME.iloc[:1]], ignore_index=True)
    assert sdp.frames.count_table(more, [1], {1: 2}, unit=0, max_rows=3).sum() == 60


def test_models_and_numbers_see_every_person():
    generous = {"epsilon": 1e4, "unit": 0, "max_rows": 3}
    histogram = PrivateHistogram([0, 1, 2], adjacency="add_remove", mechanism="discrete_laplace", **generous)
    counts = histogram.fit(FRAME, 2).released_
    assert counts.tolist() == [20, 20, 20]
    mean = sdp.numeric.mean(FRAME, 2, bounds=(0, 2), **generous)
    assert mean.estimate == pytest.approx(1.0, abs=0.01)
    discovered = sdp.frames.Domain.discover(FRAME, 2, epsilon=100, delta=1e-6, unit=0, max_rows=3)
    assert sorted(discovered.values) == [0, 1, 2]
    network = PrivateBayesianNetwork(
        [(1, 2)], domains={1: 2, 2: 3}, epsilon=1e4, unit=0, max_rows=3, random_state=SeededRng(1)
    ).fit(FRAME)
    assert network.score(FRAME[[1, 2]]) == pytest.approx(np.log(1 / 6), abs=0.01)


@pytest.mark.parametrize("model", [PrivateCategoricalNB, PrivateGaussianNB])
def test_classifiers_take_persons_beside_the_frame(model):
    public = {"categories": [2, 3]} if model is PrivateCategoricalNB else {"bounds": (0, 2)}
    classes = FRAME[1].to_numpy()
    fitted = model(epsilon=1e3, max_rows=2, classes=[0, 1], random_state=SeededRng(2), **public)
    fitted.fit(FRAME[[1, 2]], classes, persons=PERSONS)
    assert np.mean(fitted.predict(FRAME[[1, 2]]) == classes) == 1.0


@pytest.mark.parametrize("model", [PrivateCategoricalNB, PrivateGaussianNB])
def test_a_number_names_no_column_of_classes(model):
    with pytest.raises(sdp.exceptions.InvalidDataError, match="y must hold a class for each record"):
        model(epsilon=1.0).fit(FRAME, 1)
