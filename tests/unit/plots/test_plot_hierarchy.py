"""A hierarchy drawn: every group above those that lie in it, with the numbers of the release."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import simplexdp as sdp
from simplexdp.exceptions import InvalidParameterError
from simplexdp.hierarchy import Hierarchy, release
from simplexdp.testing import SeededRng

PLACES = Hierarchy.from_mapping(["region", "district"], {"north": ["n1", "n2"], "south": ["s1"]})
PEOPLE = {"district": ["n1"] * 50 + ["n2"] * 30 + ["s1"] * 20, "job": ["a", "b"] * 50}
ORDER = ["north", "north > n1", "north > n2", "south", "south > s1"]


@pytest.mark.filterwarnings("ignore::simplexdp.exceptions.InsecureRandomnessWarning")
def found(**options):
    return release(PEOPLE, PLACES, epsilon=1.0, rng=SeededRng(3), **options)


@pytest.mark.filterwarnings("ignore::simplexdp.exceptions.InsecureRandomnessWarning")
def test_bars_are_the_counts_of_their_groups():
    counts = found()
    ax = sdp.plots.hierarchy(counts)
    assert [each.get_text() for each in ax.get_yticklabels()] == ORDER
    regions, districts = counts.counts("region").mean, counts.counts("district").mean
    bars = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(bars, [regions[0], *districts[:2], regions[1], districts[2]])
    np.testing.assert_allclose(bars[0], bars[1] + bars[2])


@pytest.mark.filterwarnings("ignore::simplexdp.exceptions.InsecureRandomnessWarning")
def test_of_a_column_every_group_has_a_panel():
    counts = found(column="job", domain=["a", "b"])
    ax = sdp.plots.hierarchy(counts, level=0.5)
    titles = [each.get_title() for each in ax.figure.axes]
    assert titles == ORDER
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], counts.counts("region").mean[0])
    assert "50 % interval" in [text.get_text() for text in ax.figure.legends[0].get_texts()]


def test_many_groups_are_a_map():
    places = Hierarchy.from_mapping(["region", "district"], {r: [f"{r}{d}" for d in range(12)] for r in "abcdefgh"})
    people = {"district": [path[-1] for path in places.paths] * 20}
    ax = sdp.plots.hierarchy(release(people, places, epsilon=1.0))
    assert len(ax.get_yticklabels()) == 8 + 96


@pytest.mark.parametrize("counts", [None, [1, 2], "counts"])
def test_anything_else_is_refused(counts):
    with pytest.raises(InvalidParameterError, match=r"counts must be what hierarchy.release returned"):
        sdp.plots.hierarchy(counts)
