"""Frames whose columns are called by no text: they work, or are refused in words that name the argument."""

import datetime as dt
import json
import math

import numpy as np
import pandas as pd
import pytest

from simplexdp import numeric
from simplexdp.exceptions import SimplexDpError
from simplexdp.frames import bound_rows, count_table
from simplexdp.models import (
    PrivateBayesianNetwork,
    PrivateBinner,
    PrivateCategoricalNB,
    PrivateGaussianNB,
    PrivateHistogram,
    PrivateSynthesizer,
)

COLUMNS = np.random.default_rng(1).integers(0, 2, (4, 60))
CLASSES = COLUMNS[2]
LABELS = {
    "none first": [None, "a", "b", "p"],
    "none last": ["a", "b", "c", None],
    "nan": [math.nan, "a", "b", "p"],
    "tuples": [("x", "a"), ("x", "b"), ("y", "c"), ("z", "p")],
    "integers": [3, 1, 2, 0],
    "mixed": [True, 7, "b", "p"],
    "twice": ["a", "a", "b", "p"],
    "twice the class": ["a", "b", "b", "p"],
    "days": [dt.date(2024, 1, day) for day in range(1, 5)],
    "floats": [0.5, 1.5, 2.5, 3.5],
    "bytes": [b"a", b"b", b"c", b"p"],
    "empty": ["", "a", "b", "p"],
}


def table(labels):
    frame = pd.DataFrame(dict(enumerate(COLUMNS)))
    frame.columns = pd.MultiIndex.from_tuples(labels) if isinstance(labels[0], tuple) else labels
    return frame


def network(frame, a, b, **more):
    return PrivateBayesianNetwork([(a, b)], {a: 2, b: 2}, **more).fit(frame)


def classifier(**more):
    return PrivateCategoricalNB(categories=[2, 2], classes=[0, 1], **more)


def synthesizer(frame, a, b, **more):
    return PrivateSynthesizer(20.0, domains={a: 2, b: 2}, **more).fit(frame)


CALLS = {
    "count": lambda f, a, b, y, p: count_table(f, [a, b], {a: 2, b: 2}),
    "persons": lambda f, a, b, y, p: count_table(f, [a, b], {a: 2, b: 2}, unit=p, max_rows=2),
    "rows": lambda f, a, b, y, p: bound_rows(f, unit=p, max_rows=2, first_by=a),
    "histogram": lambda f, a, b, y, p: PrivateHistogram(2, groups=[0, 1], unit=p, max_rows=2).fit(f, a, by=b),
    "groups": lambda f, a, b, y, p: PrivateHistogram(2, groups={b: [0, 1], y: [0, 1]}).fit(f, a, by=[b, y]).pivot(),
    "classifier": lambda f, a, b, y, p: classifier(unit=p, max_rows=2).fit(f, y),
    "features": lambda f, a, b, y, p: classifier().fit(f.iloc[:, :2], CLASSES).predict(f.iloc[:, :2]),
    "file": lambda f, a, b, y, p: classifier().fit(f.iloc[:, :2], CLASSES).to_json(),
    "numbers": lambda f, a, b, y, p: PrivateGaussianNB(bounds=(0, 1), classes=[0, 1]).fit(f.iloc[:, :2], CLASSES),
    "network": lambda f, a, b, y, p: network(f, a, b).sample(3),
    "network of persons": lambda f, a, b, y, p: network(f, a, b, unit=p, max_rows=2).to_json(),
    "synthesizer": lambda f, a, b, y, p: synthesizer(f, a, b).sample(3),
    "synthesizer of persons": lambda f, a, b, y, p: synthesizer(f, a, b, unit=p, max_rows=2).to_json(),
    "bins": lambda f, a, b, y, p: PrivateBinner(epsilon=1.0, n_bins=2, bounds=(0, 1)).fit(f.iloc[:, :2]),
    "mean": lambda f, a, b, y, p: numeric.mean(f, a, bounds=(0, 1), epsilon=1.0, unit=p, max_rows=2),
}
ARGUMENTS = {
    *(
        "frame",
        "column",
        "columns",
        "unit",
        "max_rows",
        "first_by",
        "by",
        "groups",
        "X",
        "y",
        "edges",
        "bounds",
        "domains",
    ),
    "levels",
}


@pytest.mark.filterwarnings("ignore::simplexdp.exceptions.WeakGuaranteeWarning")
@pytest.mark.filterwarnings("ignore:the budget is too small")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("labels", LABELS)
def test_a_label_works_or_is_refused_by_the_name_of_the_argument(labels, call):
    frame = table(LABELS[labels])
    try:
        CALLS[call](frame, *frame.columns)
    except SimplexDpError as error:
        words = str(error).replace("'", "").split()
        if not ARGUMENTS & set(words[:2]):
            pytest.fail(f"{error} names no argument")


def test_integers_and_texts_are_labels_like_any_other():
    frame = table([3, 1, 2, 0])
    counts = count_table(frame, [3, 1], {3: 2, 1: 2})
    assert counts.tolist() == count_table(table(list("abcd")), ["a", "b"], {"a": 2, "b": 2}).tolist()
    restored = PrivateBayesianNetwork.from_json(network(frame, 3, 1).to_json())
    assert list(restored.domains_) == [3, 1]


@pytest.mark.parametrize("column", [None, ("x", "a"), 0.5])
def test_what_json_cannot_name_is_refused_when_it_is_saved(column):
    with pytest.raises(SimplexDpError, match="columns must be named by text or integers"):
        network({column: COLUMNS[0], "b": COLUMNS[1]}, column, "b").to_json()


@pytest.mark.filterwarnings("ignore::simplexdp.exceptions.WeakGuaranteeWarning")
@pytest.mark.filterwarnings("ignore:the budget is too small")
@pytest.mark.parametrize("model", ["classifier", "network", "synthesizer"])
@pytest.mark.parametrize("stated", ["nothing", "no epsilon"])
def test_a_file_that_states_no_privacy_is_no_private_model(model, stated):
    frame = table(list("abyp"))
    fitted = {
        "classifier": lambda: classifier().fit(frame[["a", "b"]], CLASSES),
        "network": lambda: network(frame, "a", "b"),
        "synthesizer": lambda: synthesizer(frame, "a", "b"),
    }[model]()
    content = json.loads(fitted.to_json())
    if stated == "nothing":
        content["privacy"] = None
    else:
        content["privacy"]["epsilon"] = None
    with pytest.raises(SimplexDpError, match=r"text must be .*(privacy|epsilon) must be"):
        type(fitted).from_json(json.dumps(content))
