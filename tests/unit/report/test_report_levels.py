"""The page about a hierarchy: it holds the release and nothing else, and no name is markup."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from report_pages import HOSTILE

from simplexdp.exceptions import InvalidParameterError
from simplexdp.hierarchy import Hierarchy, release
from simplexdp.report import hierarchy_record, hierarchy_report
from simplexdp.testing import SeededRng

pytest.importorskip("matplotlib")

PLACES = Hierarchy.from_mapping(["region", "district"], {"north": ["n1", "n2"], "south": ["s1"]})
TRUE = {"n1": 7919, "n2": 6733, "s1": 5849}
PEOPLE = {"district": np.repeat(list(TRUE), list(TRUE.values()))}


class Seen(HTMLParser):
    """What a browser takes for markup."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


def released(**more):
    given = {"epsilon": 0.05, "level_shares": [1, 1], "rng": SeededRng(5)} | more
    return release(PEOPLE, PLACES, **given)


def test_no_true_count_is_on_the_page():
    found = released()
    page = hierarchy_report(counts=found, guarantee={"epsilon": 0.05})
    record = json.dumps(hierarchy_record(counts=found, guarantee={"epsilon": 0.05}))
    for true in (*TRUE.values(), TRUE["n1"] + TRUE["n2"]):
        for text in (f"{true}", f"{true:,}"):
            assert text not in re.sub(r"base64,[^\"]*", "", page)
            assert text not in record
    # It is made of the release, and of nothing that a release of other data with the same noisy counts would not have.
    assert "20,501" not in page
    assert hierarchy_record(counts=found, guarantee={})["records"] == 20501


def test_rows_are_the_release_and_ends_are_rounded_outward():
    found = released()
    record = hierarchy_record(counts=found, guarantee={"epsilon": 0.05})
    page = hierarchy_report(counts=found, guarantee={"epsilon": 0.05})
    for each in record["levels"]:
        laws = found.counts(each["level"])
        ends = laws.interval(0.95)
        for row, mean, (low, high) in zip(each["data"], laws.mean, ends, strict=True):
            assert row["count"] == pytest.approx(mean, abs=1e-6)
            assert row["countInterval"][0] <= low <= high <= row["countInterval"][1]
            assert f'<td role="cell">{mean:,.1f}</td>' in page
    assert sum(each["epsilon"] for each in record["levels"]) == pytest.approx(0.05, rel=1e-9)


@pytest.mark.filterwarnings("ignore:Glyph:UserWarning")
@pytest.mark.filterwarnings("ignore:.*Matplotlib currently does not support:UserWarning")
def test_no_name_is_markup():
    names = [str(name) for name in HOSTILE if isinstance(name, str) and name and "\ud800" not in name]
    places = Hierarchy(["<script>", '"on'], [(f"{name}-", name) for name in names])
    people = {'"on': [names[0]] * 60, "what": [0] * 60}
    found = release(people, places, column="what", domain=[0, 1], epsilon=1.0)
    page = hierarchy_report(counts=found, guarantee={"<b>": "<i>"}, title=HOSTILE[0], notes=HOSTILE[:6])
    assert "<script" not in page
    seen = Seen()
    seen.feed(page)
    assert "script" not in seen.tags
    assert "b" not in seen.tags
    assert not [name for name in seen.attributes if name.startswith("on")]
    assert page.count("</table>") == len([tag for tag in seen.tags if tag == "table"])


def test_a_large_hierarchy_has_tables_without_a_picture():
    places = Hierarchy.from_mapping(["r", "d"], {"a": [f"d{i}" for i in range(300)]})
    found = release({"d": ["d1"] * 50}, places, epsilon=1.0, level_shares=[0, 1])
    page = hierarchy_report(counts=found, guarantee={"epsilon": 1.0})
    assert "data:image/svg" not in page
    assert "The 20 largest of 300" in page
    assert "All 300 counts" in page
    assert "not measured: it follows from the others" in page


def test_what_is_no_release_is_refused():
    with pytest.raises(InvalidParameterError, match="counts"):
        hierarchy_report(counts=[1, 2], guarantee={})
    with pytest.raises(InvalidParameterError, match="level"):
        hierarchy_record(counts=released(), level=float("nan"), guarantee={})
