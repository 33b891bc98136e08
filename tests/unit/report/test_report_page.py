"""The page about a release: well formed, escaped, and nothing on it but what it was given."""

import math
import re
from html.parser import HTMLParser
from pathlib import Path

import mpmath
import numpy as np
import pytest
from report_pages import HOSTILE, page_of

import simplexdp as sdp
from simplexdp.report import release_report
from simplexdp.report.meaning import meaning
from simplexdp.report.text import escaped, one_in, percent, power, rounded

VOID = {"meta", "link", "br", "wbr", "rect", "line", "circle", "path"}


class Page(HTMLParser):
    """Every element, with a check that all of them are closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.text = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        assert len(dict(attributes)) == len(attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text.append(data)

    def attributes(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def test_hostile_text_stays_text():
    text = page_of(
        HOSTILE, title=HOSTILE[0] + HOSTILE[1], notes=HOSTILE[:6], parameters={str(key): key for key in HOSTILE}
    )
    page = Page(text)
    expected = [str(label).encode("utf-8", "replace").decode() for label in HOSTILE]
    for label in (expected[0], expected[1], expected[2], expected[3], expected[4], expected[5], expected[8]):
        assert label in page.text
    assert not {"script", "img", "iframe", "object", "a", "form"} & {tag for tag, _ in page.elements}
    assert not [name for _, found in page.elements for name in found if name.startswith("on")]
    text.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)


def test_nothing_is_fetched_and_nothing_runs():
    text = page_of(["a", "b"])
    page = Page(text)
    links = [found[name] for _, found in page.elements for name in ("href", "src", "srcset", "data") if name in found]
    assert links == ["data:,"]
    assert not re.search(r"https?:|url\(|@import|javascript:", text)
    (policy,) = [found["content"] for found in page.attributes("meta") if "http-equiv" in found]
    assert policy.startswith("default-src 'none'")


def test_it_is_a_document_that_a_screen_reader_can_read():
    text = page_of(["a", "b", "c"], title="Ages & places")
    page = Page(text)
    assert text.startswith("<!doctype html>")
    assert page.attributes("html") == [{"lang": "en"}]
    assert "<title>Ages &amp; places</title>" in text
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert max(np.diff(levels)) <= 1
    ids = [found["id"] for _, found in page.elements if "id" in found]
    assert len(set(ids)) == len(ids)
    for _, found in page.elements:
        assert set(found.get("aria-labelledby", "").split()) <= set(ids)
    # Every picture is described or stands beside the same numbers.
    for found in page.attributes("svg"):
        assert found.get("aria-hidden") == "true" or (found["role"] == "img" and "aria-labelledby" in found)
    assert all("scope" in found for found in page.attributes("th"))


def test_the_table_holds_the_numbers_and_bars_are_to_scale():
    text = release_report(
        labels=["a", "b"],
        values=[0.62349, 0.37651],
        lower=[0.5999, 0.34321],
        upper=[0.65, 0.40009],
        level=0.9,
        curve=sdp.PrivacyCurve.gaussian(sigma=5.0),
        guarantee={"delta": 1e-6},
        parameters={},
    )
    cells = re.findall(r'<td role="cell">([^<]*)</td>', text)
    # Intervals are rounded outward.
    assert cells == ["62.3\xa0%", "59.9 – 65.0\xa0%", "37.7\xa0%", "34.3 – 40.1\xa0%"]
    widths = [float(w) for w in re.findall(r'class="value"[^>]*width="([\d.]+)%"', text)]
    np.testing.assert_allclose(widths, [100 * 0.62349 / 0.65, 100 * 0.37651 / 0.65], atol=0.01)
    assert "90\xa0% interval" in text


def test_groups_have_a_table_each_and_counts_of_their_own():
    labels, by = ["a", "b"] * 3, [*HOSTILE[:2], HOSTILE[0], *HOSTILE[1:3], HOSTILE[2]]
    counts = ([3.4, 5.6, 0.2, 9.0, 1.0, 2.0], [2, 4.2, -1, 8, 0, 1], [4, 6, 1.5, 10, 2, 3])
    page = page_of(labels, by=by, counts=counts)
    assert page.count('<table class="shares"') == 3
    assert "3 groups, 6 categories in all" in page
    assert "<b>6</b> (4 – 6)" in page
    assert "<b>0</b> (0 – 2)" in page, "ends go outward, and not below zero"
    assert "<script" not in page
    for group in HOSTILE[:3]:
        assert f"<h3><bdi>{escaped(group)}</bdi></h3>" in page
    many = page_of(["a", "b"] * 30, by=[group for group in range(30) for _ in "ab"])
    assert many.count('<table class="shares"') == 31
    assert "All 60 categories, group by group" in many
    for wrong in (
        {"by": ["x"]},
        {"counts": ([1.0], [1.0], [1.0])},
        {"counts": ([1.0] * 6, [1.0] * 6)},
        {"counts": 5},
        {"counts": [[1e300] * 6] * 3},
    ):
        with pytest.raises(sdp.InvalidParameterError, match=next(iter(wrong))):
            page_of(labels, **wrong)


def test_what_is_not_private_says_so_on_top():
    text = page_of(["a", "b"], notes=["fine", "NOT PRIVATE: made with <seed>"])
    before, after = text.split("<h1>")
    assert "NOT PRIVATE: made with &lt;seed&gt;" in before
    assert "NOT PRIVATE" not in after
    assert "<li><bdi>fine</bdi></li>" in after
    Page(text)


def test_the_command_line_writes_the_page_without_true_counts(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    pytest.importorskip("click")
    from simplexdp.cli import main

    counts = {"clerk": 61_137, "nurse": 32_539, "<b>": 10_151}
    records = "job\n" + "".join(f"{name}\n" * count for name, count in counts.items())
    arguments = ["release", "people.csv", "--column", "job", "--domain", "clerk,nurse,<b>", "--epsilon", "1"]
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(records)
    # Noise is zero now and then, or an end of an interval is the truth: with this seed neither happens.
    code = main([*arguments, "--delta", "1e-6", "--seed", "2", "--report", "page.html"])
    text = Path("page.html").read_text(encoding="utf-8")
    assert not code
    Page(text)
    assert "<bdi>clerk</bdi>" in text
    assert "<bdi>&lt;b&gt;</bdi>" in text
    for count in counts.values():
        assert str(count) not in text
        assert f"{count:,}" not in text


def test_a_thousand_categories_open_with_the_largest():
    values = np.random.default_rng(3).dirichlet(np.full(1000, 0.3))
    text = page_of([f"category {i}" for i in range(1000)], values=values)
    first, everything = text.split("<details>", 1)
    shown = re.findall(r"<bdi>category (\d+)</bdi>", first)
    assert [int(i) for i in shown] == np.argsort(-values)[:20].tolist()
    assert [int(i) for i in re.findall(r"<bdi>category (\d+)</bdi>", everything)] == list(range(1000))
    Page(text)
    assert len(text) < 600_000


@pytest.mark.parametrize(
    ("curve", "delta"),
    [
        (sdp.PrivacyCurve.pure(1.0), 0.0),
        (sdp.PrivacyCurve.pure(0.0), 0.0),
        (sdp.PrivacyCurve.pure(800.0), 0.0),
        (sdp.PrivacyCurve.from_epsilon_delta(2.0, 1e-6, adjacency="add_remove"), 1e-6),
        (sdp.PrivacyCurve.from_epsilon_delta(2.0, 1e-6), 1e-9),
        (sdp.PrivacyCurve.gaussian(sigma=0.05), 1e-12),
        (sdp.PrivacyCurve.gaussian(sigma=1e5), 0.3),
        (3 * sdp.PrivacyCurve.gaussian(sigma=10.0), 1e-6),
    ],
    ids=repr,
)
def test_any_curve_gives_a_page(curve, delta):
    text = page_of(["a", "b"], curve=curve, guarantee={"epsilon": 1.0, "delta": delta})
    Page(text)
    assert "nan" not in text.lower().replace("finance", "")
    assert "inf" not in re.sub(r"<[^>]*>", "", text).lower().replace("information", "")


@pytest.mark.parametrize(
    "change",
    [
        {"values": [[0.5, 0.5]]},
        {"values": [0.5]},
        {"lower": [0.1]},
        {"upper": [0.1, math.nan]},
        {"level": 1.0},
        {"curve": 1.0},
        {"guarantee": {"delta": -1}},
        {"guarantee": {}},
    ],
)
def test_what_does_not_fit_is_refused(change):
    good = {
        "labels": ["a", "b"],
        "values": [0.5, 0.5],
        "lower": [0.4, 0.4],
        "upper": [0.6, 0.6],
        "level": 0.95,
        "curve": sdp.PrivacyCurve.gaussian(sigma=5.0),
        "guarantee": {"delta": 1e-6},
        "parameters": {},
    }
    release_report(**good)
    with pytest.raises(sdp.InvalidParameterError):
        release_report(**{**good, **change})


# What the numbers in words mean --------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("sigma", [0.7, 3.0, 20.0])
def test_odds_move_further_than_stated_with_at_most_the_stated_probability(sigma, delta):
    # Gaussian noise on neighbours 0 and 1: under the first the loss is N(1/(2 sigma^2), 1/sigma^2).
    found = meaning(sdp.PrivacyCurve.gaussian(sigma=sigma), delta)
    loss = mpmath.log(found.factor)
    beyond = 1 - mpmath.ncdf((loss - 0.5 / sigma**2) * sigma)
    assert beyond <= delta
    # And the bound is of use: the exact quantile is not far below, and the factor not far above e^epsilon.
    assert loss < found.epsilon + 2 / sigma
    # Two equally likely neighbours: the best guess is right with probability Phi(1 / (2 sigma)).
    best = float(mpmath.ncdf(0.5 / sigma))
    assert best <= found.guess <= best * (1 + 1e-9)


def test_odds_of_a_pure_curve_grow_by_the_exponential_of_epsilon():
    found = meaning(sdp.PrivacyCurve.pure(1.0), 0.0)
    assert math.e <= found.factor <= math.e * (1 + 1e-8)
    assert found.belief(0.5) == pytest.approx(math.e / (1 + math.e), rel=1e-8)
    assert found.guess == pytest.approx(math.e / (1 + math.e), rel=1e-8)
    assert meaning(sdp.PrivacyCurve.pure(0.0), 0.0).guess == pytest.approx(0.5)
    assert meaning(sdp.PrivacyCurve.pure(800.0), 0.0).belief(0.1) == 1.0


def test_a_budget_that_may_tell_everything_bounds_the_odds_with_twice_its_delta():
    # The worst mechanism: it tells all with probability delta, else randomised response. No factor holds except with
    # probability delta under a bound that has to hold for every t; with 2 delta, e^(epsilon + ln 2) does.
    found = meaning(sdp.PrivacyCurve.from_epsilon_delta(1.0, 1e-6), 1e-6)
    assert found.exception == 2e-6
    assert 2 * math.e * 0.999 < found.factor < 2 * math.e * 1.01


def test_losses_are_rounded_up():
    assert rounded(1.00001, 4) == "1.001"
    assert rounded(0.99991) == "1"
    assert rounded(1234567.0) == "1235000"
    assert rounded(math.inf) == "∞"
    assert power(1.01e-7) == "1.1 × 10⁻⁷"
    assert power(1.0) == "1"
    assert power(0.05) == "5 × 10⁻²"
    assert one_in(3e-6) == "1\xa0in\xa0333,333"
    assert percent(0.5000001, 1, up=True) == "50.1\xa0%"
    assert percent(0.07, 2, up=True) == "7.00\xa0%"
    assert percent(0.1999, 1, up=False) == "19.9\xa0%"
    for value in np.random.default_rng(1).lognormal(size=200):
        assert float(rounded(value)) >= value


def test_text_is_escaped_in_elements_and_attributes():
    assert escaped("<a href='x'>\"&") == "&lt;a href=&#x27;x&#x27;&gt;&quot;&amp;"
    assert escaped("a\nb\x00") == "a b�"


def test_text_can_be_read_on_its_background():
    from importlib.resources import files

    css = files("simplexdp.report").joinpath("page.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w{6})", block)) for block in re.findall(r":root \{(.*?)\}", css, re.S)[:2]
    )

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for theme in (light, dark):
        for name in ("text", "quiet", "accent", "alarm"):
            for ground in ("card", "page"):
                low, high = sorted(luminance(theme[key]) for key in (name, ground))
                assert (high + 0.05) / (low + 0.05) >= 4.5, (name, ground)
        low, high = sorted(luminance(theme[key]) for key in ("line", "bar"))
        assert (high + 0.05) / (low + 0.05) >= 3
