"""What a notebook shows: escaped tables that say what the text says."""

import re
from html.parser import HTMLParser

import pytest

import simplexdp as sdp

HOSTILE = '<script>alert("x")</script>'


class Balanced(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], set()
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def inferred(dimension=3):
    return sdp.SumPreservingLaplaceMechanism(scale=2, dimension=dimension).infer(list(range(dimension)))


def shown():
    accountant = sdp.Accountant(1.0, 1e-6)
    accountant.spend(sdp.PrivacyCurve.gaussian(sigma=20.0), label=HOSTILE)
    return {
        "curve": 3 * sdp.PrivacyCurve.gaussian(sigma=5.0),
        "accountant": accountant,
        "posterior": sdp.Posterior([3.0, 2.0, 5.0]),
        "counts": inferred().counts,
        "shares": inferred().shares,
        "comparison": sdp.compare(200, 4, 1.0, 1e-6, "l1", ["discrete_laplace", "laplace"], samples=50),
        "recommendation": sdp.recommend("counts", n=200, dimension=4, epsilon=1.0, delta=1e-6),
    }


def test_objects_show_themselves_as_tables():
    for name, value in shown().items():
        page = value._repr_html_()
        assert Balanced(page).seen & {"table", "pre"}, name
        assert "<script" not in page
        assert "nan" not in page


def test_the_curve_says_what_it_says_as_text():
    curve = sdp.PrivacyCurve.pure(1.0)
    numbers = re.findall(r"<td>([\d.]+)</td>", curve._repr_html_())
    assert [float(each) for each in numbers] == pytest.approx(
        [float(curve.epsilon(d)) for d in (1e-3, 1e-6, 1e-9)], rel=1e-3
    )
    assert "73.2\xa0%" in curve._repr_html_()


def test_counts_show_their_means_and_intervals_and_of_many_the_largest():
    counts = inferred().counts
    cells = re.findall(r"<td>([^<]+)</td>", counts._repr_html_())
    assert [float(each) for each in cells[::2]] == pytest.approx(counts.mean, abs=0.05)
    assert cells[1::2] == [f"{low} to {high}" for low, high in counts.interval().tolist()]
    assert repr(counts).startswith("Counts(mean=[")
    assert repr(inferred().shares).startswith("Shares(mean=[")
    page = inferred(60).counts._repr_html_()
    assert page.count("<tr>") == 51
    assert "The 50 largest of 60" in page


def test_a_report_is_text_that_shows_itself():
    from simplexdp.report import release_report

    page = release_report(
        labels=[HOSTILE], values=[1.0], lower=[0.9], upper=[1.0], level=0.95, curve=sdp.PrivacyCurve.pure(1.0),
        guarantee={"delta": 0.0}, parameters={},
    )  # fmt: skip
    assert isinstance(page, str)
    framed = page._repr_html_()
    assert framed.startswith('<iframe title="report" srcdoc="&lt;!doctype html&gt;')
    assert framed.count("<") == 2
