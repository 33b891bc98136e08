"""Tables of groups by several columns: every neighbouring pair of small data sets, counted through public names."""

from itertools import product

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.models import PrivateHistogram

DOMAINS = {"region": ["n", "s"], "sex": ["f", "m"], "job": ["a", "b", "c"]}
RECORDS = list(product(*DOMAINS.values()))


def counted(records):
    frame = {name: [record[axis] for record in records] for axis, name in enumerate(DOMAINS)}
    return sdp.frames.count_table(frame, list(DOMAINS), DOMAINS)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_neighbours_are_further_apart_than_the_price_says(adjacency):
    change = sdp.sensitivity.of_counts(adjacency=adjacency)
    most = 0
    for rest in (RECORDS[0], RECORDS[7]):
        for record in RECORDS:
            others = RECORDS if adjacency == "replace" else [None]
            for other in others:
                one = counted([rest, record])
                two = counted([rest] if other is None else [rest, other])
                gap = np.abs(one - two)
                most = max(most, int(gap.sum()))
                assert (gap**2).sum() <= change.l2_squared
    assert most == change.l1


@pytest.mark.parametrize("mechanism", ["discrete_laplace", "discrete_gaussian", "dirichlet"])
def test_the_debit_of_many_groups_is_that_of_one_histogram(mechanism):
    frame = {name: [record[axis] for record in RECORDS * 9] for axis, name in enumerate(DOMAINS)}
    accountants = []
    for by in ("region", ["region", "sex"]):
        books = sdp.Accountant(3.0, 1e-5)
        groups = {name: DOMAINS[name] for name in ("region", "sex")}
        histogram = PrivateHistogram(
            DOMAINS["job"], groups=groups, epsilon=1.0, mechanism=mechanism, total=100, accountant=books
        ).fit(frame, "job", by=by)
        accountants.append((float(books.used), histogram.privacy_.epsilon(1e-6), histogram.mechanism_))
    assert accountants[0][:2] == accountants[1][:2]
    assert accountants[0][1] <= 1.0
