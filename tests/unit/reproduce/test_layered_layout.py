"""The layout of networks: arrows go one way, nodes keep apart, crossings are few."""

import itertools

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from simplexdp.models.graph import topological_parents
from simplexdp.reproduce.data import structures
from simplexdp.reproduce.layered_layout import _increasing, layered_layout


@pytest.mark.parametrize("name", structures())
def test_arrows_point_right_and_nodes_keep_a_row_apart(name):
    structure = structures()[name]
    layout = layered_layout(topological_parents(structure["edges"], structure["nodes"]))
    assert set(layout.layer) == set(structure["nodes"])
    assert {(parent, child) for parent, child in structure["edges"]} == set(layout.bends)
    for (parent, child), bends in layout.bends.items():
        assert len(bends) == layout.layer[child] - layout.layer[parent] - 1 >= 0
    for a, b in itertools.combinations(structure["nodes"], 2):
        if layout.layer[a] == layout.layer[b]:
            assert abs(layout.height[a] - layout.height[b]) >= 1 - 1e-9


def test_a_tree_has_no_crossings():
    parents = {"r": [], "a": ["r"], "b": ["r"], "c": ["b"], "d": ["a"], "e": ["b"], "f": ["a"], "g": ["d"], "h": ["c"]}
    assert layered_layout(parents).crossings == 0


def test_two_pairs_all_joined_cross_once():
    parents = {"a": [], "b": [], "c": ["a", "b"], "d": ["a", "b"]}
    assert layered_layout(parents).crossings == 1


def test_pooling_is_isotonic_regression():
    rng = np.random.default_rng(3)
    for n in (1, 2, 7, 30):
        values = rng.normal(size=n)
        expected = IsotonicRegression().fit_transform(np.arange(n), values)
        np.testing.assert_allclose(_increasing(values), expected, atol=1e-12)
