"""The heat map of a table of groups."""

import numpy as np
import pytest

import simplexdp as sdp

pytest.importorskip("matplotlib")


def test_a_map_has_a_row_for_each_group_and_a_column_for_each_value():
    table = np.arange(6).reshape(2, 3)
    ax = sdp.plots.heat_map(table, names=["n", "$s$"], labels=["a", "b", "c"])
    np.testing.assert_array_equal(ax.images[0].get_array(), table)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b", "c"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["n", r"\$s\$"]
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2", "3", "4", "5"]
    assert not sdp.plots.heat_map(np.zeros((100, 9)), names=range(100), labels=range(9)).texts


@pytest.mark.parametrize("shape", [(2, 2), (0, 3), (201, 3), (3, 61)])
def test_tables_that_do_not_fit_are_refused(shape):
    names, labels = range(shape[0] + (shape == (2, 2))), range(shape[1])
    with pytest.raises(sdp.InvalidParameterError, match="values must have shape"):
        sdp.plots.heat_map(np.zeros(shape), names=names, labels=labels)
