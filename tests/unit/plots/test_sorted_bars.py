"""Bars in falling order, every one with its label, and intervals that move with them."""

import itertools

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import InvalidParameterError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def told(ax):
    """Return the labels and the lengths of horizontal bars, from the top."""
    assert ax.yaxis_inverted()
    return [text.get_text() for text in ax.get_yticklabels()], [bar.get_width() for bar in ax.patches]


def test_bars_and_their_intervals_are_in_falling_order():
    values = np.array([0.2, 0.5, 0.1, 0.2])
    ax = sdp.plots.release(values, values - 0.05, values + 0.05, labels=list("abcd"), level=0.95, sort=True)
    assert told(ax) == (["b", "a", "d", "c"], [0.5, 0.2, 0.2, 0.1])
    ends = [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(ends, [[0.45, 0.55], [0.15, 0.25], [0.15, 0.25], [0.05, 0.15]])
    assert told(sdp.plots.release(values, labels=list("abcd")))[0] == list("abcd")


@pytest.mark.parametrize("size", [41, 42, 50, 300])
def test_every_bar_has_a_label_that_overlaps_no_other(size):
    values = np.random.default_rng(1).permutation(np.arange(1.0, size + 1))
    ax = sdp.plots.release(values, labels=[f"category {value:.0f}" for value in values], sort=True)
    labels, lengths = told(ax)
    kept = 41 if size == 41 else 40
    assert labels[:kept] == [f"category {value}" for value in range(size, size - kept, -1)]
    assert labels[kept:] == ([] if size == 41 else [f"{size - 40} others"])
    assert sum(lengths) == pytest.approx(values.sum())
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.get_yticklabels()]
    assert all(upper.y0 >= lower.y1 - 0.5 for upper, lower in itertools.pairwise(boxes))


TABLE = np.array([[1.0, 5.0, 3.0], [9.0, 8.0, 0.0]])


def test_groups_keep_one_order_of_values_and_the_largest_group_is_first():
    ax = sdp.plots.groups(TABLE, TABLE - 1, TABLE + 1, names=["small", "large"], labels=list("xyz"), sort=True)
    first, second = ax.figure.axes
    assert [each.get_title() for each in (first, second)] == ["large", "small"]
    assert [text.get_text() for text in first.get_yticklabels()] == ["y", "x", "z"]
    assert [bar.get_width() for bar in first.patches] == [8, 9, 0]
    assert [bar.get_width() for bar in second.patches] == [5, 1, 3]
    assert [segment[0, 0] for segment in second.collections[0].get_segments()] == [4, 0, 2]


def test_a_heat_map_has_the_largest_at_its_upper_left():
    ax = sdp.plots.heat_map(TABLE, names=["small", "large"], labels=list("xyz"), sort=True)
    assert ax.images[0].get_array().tolist() == [[8, 9, 0], [5, 1, 3]]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["large", "small"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["y", "x", "z"]


def test_sort_is_true_or_false():
    for draw in (
        lambda: sdp.plots.release([1, 2], sort="size"),
        lambda: sdp.plots.groups(TABLE, names="ab", labels="xyz", sort=1),
        lambda: sdp.plots.heat_map(TABLE, names="ab", labels="xyz", sort=None),
    ):
        with pytest.raises(InvalidParameterError, match="sort must be True or False"):
            draw()
