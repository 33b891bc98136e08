"""The check of the site's links finds every kind of broken link, and nothing in a sound page."""

import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

SCRIPT = Path(__file__).parents[3] / "docs" / "generate" / "links.py"

SOUND = """<html><head><link rel="stylesheet" href="style.css"><link rel="canonical" href="https://example.org/x">
<style>body { background: url(plot.svg) }</style></head><body><h1 id="top">Top</h1>
<a href="#top">up</a> <a href="other.html#part">other</a> <a href="sub/">folder</a> <a href="https://example.org/a?b=c#d">out</a>
<img src="plot.svg" alt="a plot"><img src="data:image/png;base64,AAAA" alt="inside"><a href="mailto:a@example.org">a</a>
</body></html>"""


@pytest.fixture
def links():
    if not SCRIPT.exists():
        pytest.skip("needs the source tree")
    spec = importlib.util.spec_from_file_location("docs_links", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def site(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(SOUND)
    (tmp_path / "other.html").write_text('<p id="part">Part</p><a href="index.html#top">back</a>')
    (tmp_path / "sub" / "index.html").write_text('<a href="../other.html#part">up</a>')
    (tmp_path / "style.css").write_text("h1 { background: url('plot.svg') }")
    (tmp_path / "plot.svg").write_text("<svg/>")
    return tmp_path


def test_a_sound_site_passes(links, site, capsys):
    assert list(links.problems(site)) == []
    assert links.main([str(site)]) == 0
    assert "3 pages, 0 broken links" in capsys.readouterr().out


@pytest.mark.parametrize(
    "html, fault",
    [
        ('<a href="missing.html">x</a>', "no such file"),
        ('<a href="other.html#nowhere">x</a>', "no such anchor"),
        ('<a href="#nowhere">x</a>', "no such anchor"),
        ('<a href="sub/missing/">x</a>', "no such file"),
        ('<a href="../../etc/passwd">x</a>', "out of the site"),
        ('<a href="https://exa mple">x</a>', "well-formed"),
        ('<a href="https:///page">x</a>', "well-formed"),
        ('<a href="htp://example.org">x</a>', "neither http nor https"),
        ('<a href="mailto:nobody">x</a>', "no address"),
        ('<img src="missing.png" alt="x">', "no such file"),
        ('<img src="plot.svg">', "has no text"),
        ('<img src="https://example.org/x.png" alt="x">', "fetched from elsewhere"),
        ('<img src="plot.svg" srcset="plot.svg 1x, big.svg 2x" alt="x">', "no such file"),
        ('<script src="//example.org/x.js"></script>', "fetched from elsewhere"),
        ('<link rel="stylesheet" href="https://example.org/x.css">', "fetched from elsewhere"),
        ('<iframe src="https://example.org"></iframe>', "fetched from elsewhere"),
        ('<p style="background: url(https://example.org/x.png)">x</p>', "fetched from elsewhere"),
        ("<style>@import 'https://example.org/x.css';</style>", "fetched from elsewhere"),
        ('<p id="a"></p><p id="a"></p>', "twice"),
    ],
)
def test_a_broken_link_is_caught(links, site, html, fault):
    (site / "broken.html").write_text(html)
    found = list(links.problems(site))
    assert len(found) == 1
    assert found[0].startswith("broken.html")
    assert fault in found[0]
    assert links.main([str(site)]) == 1


def test_a_site_at_an_address_with_a_folder_may_name_that_folder(links, site, monkeypatch):
    (site / "404.html").write_text('<a href="/p/0.1/other.html#part">x</a>')
    assert len(list(links.problems(site))) == 1
    monkeypatch.setenv("SIMPLEXDP_SITE_URL", "https://example.org/p/0.1/")
    assert list(links.problems(site)) == []


def test_what_a_style_sheet_loads_is_checked(links, site):
    (site / "style.css").write_text("@import 'https://example.org/x.css'; p { background: url(missing.png) }")
    assert len(list(links.problems(site))) == 2


def test_an_empty_site_is_a_problem(links, tmp_path):
    assert links.main([str(tmp_path)]) == 1


def test_the_build_stops_at_warnings():
    # With --quiet mkdocs drops warnings before its strict mode counts them.
    (line,) = [line for line in (SCRIPT.parents[2] / "Makefile").read_text().splitlines() if "mkdocs build" in line]
    assert "--strict" in line
    assert "--quiet" not in line
    assert "-q" not in line.split()
