"""A listed value is found in any spelling that the domain's cleaning makes the same."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import simplexdp as sdp
from simplexdp.frames import Cleaning, Domain, count_table

TYPED = ["Flu", "FLU ", "flu", "Gr\u00fcn", "GRU\u0308N", "cold", "influenza", "x"]


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, lambda columns: pl.DataFrame(columns).lazy()])
def test_a_value_is_listed_as_people_write_it(frame):
    clean = Cleaning(fold=True, values={"influenza": "flu"})
    domain = Domain(["FLU", "GR\u00dcN", "cold", None], other=True, clean=clean)
    given = {"d": np.array([*TYPED, " "], dtype=object) if frame is dict else [*TYPED, " "]}
    assert count_table(frame(given), ["d"], {"d": domain}).tolist() == [4, 2, 1, 1, 1]
    assert domain.levels == ["FLU", "GR\u00dcN", "cold", None, "other"]


@pytest.mark.parametrize("listed", [["Flu", "flu"], ["Flu", "FLU"], ["flu", "Flu "]])
def test_two_values_that_are_one_after_cleaning_are_refused(listed):
    with pytest.raises(sdp.InvalidParameterError, match="are one after its cleaning"):
        Domain(listed, clean=Cleaning(fold=True))


def test_a_value_that_others_become_stays_what_it_is():
    # "flu" becomes "grippe", and nothing becomes "flu" but what the map says.
    domain = Domain(["grippe", "cold"], clean=Cleaning(values={"flu": "grippe", "Cold": "cold"}))
    assert [domain.code(value, "d") for value in ("flu", "grippe", "cold", "Cold")] == [0, 0, 1, 1]
    # "xa" is what becomes of "xxa", so it does not stand for "a".
    domain = Domain(["xa", "a"], clean=Cleaning(replace={"^x": ""}))
    assert [domain.code(value, "d") for value in ("xxa", "xa", "a")] == [0, 1, 1]
    # Without "a" in the list it does.
    assert Domain(["xa"], clean=Cleaning(replace={"^x": ""})).code("a", "d") == 0


def test_a_value_that_the_map_makes_another_one_may_be_listed():
    domain = Domain(["influenza", "Flu"], clean=Cleaning(fold=True, values={"influenza": "flu"}))
    assert [domain.code(value, "d") for value in ("influenza", "FLU", "Influenza")] == [1, 1, 1]


def test_numbers_and_missing_values_are_no_text():
    domain = Domain([1, None, "One"], clean=Cleaning(fold=True))
    assert [domain.code(value, "d") for value in (1, None, "", "ONE")] == [0, 1, 1, 2]


def test_a_model_keeps_what_it_was_told():
    from simplexdp.models import PrivateCategoricalNB

    domain = Domain(["Flu", "Cold"], clean=Cleaning(fold=True))
    model = PrivateCategoricalNB(1e5, classes=[0, 1], categories={"d": domain}, random_state=sdp.testing.SeededRng(1))
    model.fit({"d": np.array(["FLU", "cold"] * 50, dtype=object)}, [0, 1] * 50)
    again = PrivateCategoricalNB.from_json(model.to_json())
    for typed in ("flu", "Flu ", "FLU"):
        assert again.predict({"d": np.array([typed], dtype=object)}).tolist() == [0]
