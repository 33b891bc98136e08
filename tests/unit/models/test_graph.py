"""Structures: parents come first, broken graphs are refused by name."""

import pytest

import simplexdp as sdp
from simplexdp.models.graph import topological_parents


def test_parents_come_before_their_children_and_keep_the_order_of_edges():
    parents = topological_parents([("b", "d"), ("c", "d"), ("a", "b"), ("a", "c")], ["d", "c", "b", "a"])
    assert parents["d"] == ["b", "c"]
    seen: set[str] = set()
    for node, above in parents.items():
        assert seen.issuperset(above)
        seen.add(node)


@pytest.mark.parametrize(
    "edges, message",
    [
        ([("a", "b"), ("b", "a")], "cycle"),
        ([("a", "b"), ("b", "c"), ("c", "b")], r"cycle.*\['b', 'c'\]"),
        ([("a", "x")], "'x'"),
        ([("a", "a")], "different columns"),
        ([("a", "b"), ("a", "b")], "twice"),
        (["ab"], "pairs"),
        ([("a", "b", "c")], "pairs"),
        ([3], "pairs"),
    ],
)
def test_broken_structures_are_refused_by_name(edges, message):
    with pytest.raises(sdp.InvalidParameterError, match=message):
        topological_parents(edges, ["a", "b", "c"])
