"""Pages say whom the guarantee is for: all records of a person where it is, one record where it is not."""

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.models import PrivateCategoricalNB, PrivateSynthesizer
from simplexdp.report import model_card, model_record, release_record, release_report, synthesis_report

ROWS = np.random.default_rng(4).integers(0, 2, (3, 90))
TABLE = {"visit": ROWS[0], "ward": ROWS[1], "patient": np.arange(90) // 3}


def release(unit, adjacency="replace"):
    curve = sdp.DiscreteLaplaceMechanism.for_counts(1.0, max_rows=3, unit=unit, adjacency=adjacency).privacy
    return {
        "labels": ["a"], "values": [1.0], "lower": [0.5], "upper": [1.0], "level": 0.95,
        "curve": curve, "guarantee": {"epsilon": 1.0, "delta": 0.0}, "parameters": {},
    }  # fmt: skip


@pytest.mark.parametrize(("adjacency", "how"), [("replace", "replaced"), ("add_remove", "added or removed")])
def test_a_page_about_persons_speaks_of_all_their_records(adjacency, how):
    page = release_report(**release("patient", adjacency))
    for words in (
        f"one patient {how} with all records",
        "odds about one patient can grow",
        "all your records are",
        "all records of every patient but you",
        "They speak of all records of one patient together",
    ):
        assert words in page
    assert "one record" not in page
    assert ("The number of different values of patient is public." in page) == (adjacency == "replace")
    assert release_record(**release("patient", adjacency))["privacy"]["unit"] == "patient"


def test_a_page_about_records_says_so():
    single = release(None) | {"curve": sdp.DiscreteLaplaceMechanism.for_counts(1.0).privacy}
    page = release_report(**single)
    assert "one record replaced" in page
    assert "a person with several records in the data is protected less" in page
    assert "unit" not in release_record(**single)["privacy"]


def test_the_name_of_a_column_is_no_markup():
    page = release_report(**release("<script>x</script>"))
    assert "<script" not in page


@pytest.mark.filterwarnings("ignore:the budget is too small")
def test_cards_and_pages_of_models_of_persons():
    model = PrivateCategoricalNB(categories={"visit": 2}, classes=[0, 1], unit="patient", max_rows=3).fit(TABLE, "ward")
    assert "one patient is replaced with all records" in model_card(model)
    assert model_record(model)["privacy"]["unit"] == "patient"
    fitted = PrivateSynthesizer(domains={"visit": 2, "ward": 2}, unit="patient", max_rows=3).fit(TABLE)
    assert "one patient is added or removed with all records" in synthesis_report(fitted)
