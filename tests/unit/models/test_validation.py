"""What scikit-learn would quote of the data is not quoted."""

import traceback

import numpy as np
import pytest

pytest.importorskip("sklearn")

import simplexdp as sdp
from simplexdp.models import PrivateBinner, PrivateCategoricalNB

SECRET = "amaranth-7731"
NUMBER = 7731.25


def binner():
    return PrivateBinner("uniform", bounds=(0, 1), n_bins=2)


def bayes():
    return PrivateCategoricalNB(1.0, 1e-6, classes=[0, 1], categories=[[0, 1]])


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda: binner().fit(np.array([[SECRET], ["x"]])), "must hold numbers"),
        (lambda: binner().fit(np.array([[SECRET], [1]], dtype=object)), "must hold numbers"),
        (lambda: binner().fit([[0.0], [1.0]]).transform([[SECRET]]), "must hold numbers"),
        (lambda: binner().fit([NUMBER, 1.0]), r"two dimensions, got shape \(2,\)"),
        (lambda: binner().fit(NUMBER), r"two dimensions, got shape \(\)"),
        (lambda: binner().fit(np.array([[NUMBER + 1j]])), "Complex data not supported"),
        (lambda: bayes().fit(np.array([SECRET, "x"]), [0, 1]), r"two dimensions, got shape \(2,\)"),
        (lambda: bayes().fit([[0], [1]], [0, 1]).predict([NUMBER]), r"two dimensions, got shape \(1,\)"),
        (lambda: bayes().fit(np.array([[NUMBER + 1j], [1]]), [0, 1]), "Complex data not supported"),
        (lambda: bayes().fit({"a": [0, 1]}, np.array([NUMBER + 1j, 1])), "Complex data not supported"),
        (lambda: bayes().fit([[0], [1]], np.array([NUMBER + 1j, 1])), "Complex data not supported"),
        (lambda: bayes().fit([[0], [1]], [NUMBER + 1j, 1]), "Complex data not supported"),
        (lambda: bayes().fit([[0], [1]], np.array([NUMBER + 1j, 1], dtype=object)), "must hold values of its domain"),
        (lambda: bayes().fit([[0], [1]], [0, 1]).score([[0]], np.array([NUMBER + 1j])), "Complex data not supported"),
    ],
)
def test_messages_name_the_rule_and_no_value(call, rule):
    with pytest.raises(sdp.InvalidDataError, match=rule) as caught:
        call()
    # As a user sees it, chained messages included; the source lines of this file are not what is meant.
    shown = "".join(line for line in traceback.format_exception(caught.value) if not line.startswith("  File"))
    assert SECRET not in shown
    assert str(NUMBER) not in shown
