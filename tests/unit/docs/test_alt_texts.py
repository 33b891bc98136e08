"""Who hears a page instead of seeing it is told what a picture shows; versions of the site find each other."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)")


def _images():
    for page in PAGES:
        for alt, target in IMAGE.findall(page.read_text(encoding="utf-8")):
            yield page, alt, target


def test_every_picture_of_the_docs_says_what_it_shows():
    images = list(_images())
    assert len(images) > 50
    poor = [(page.name, target) for page, alt, target in images if len(alt.split()) < 3]
    assert not poor, poor
    empty = re.compile(r"^(figure|image|plot|picture|screenshot)\b", re.IGNORECASE)
    assert not [(page.name, alt) for page, alt, _ in images if empty.match(alt)]


def test_no_page_holds_a_picture_in_html_without_a_text():
    for page in PAGES:
        for tag in re.findall(r"<img\b[^>]*>", page.read_text(encoding="utf-8")):
            assert re.search(r'alt="[^"]{10,}"', tag), (page.name, tag)


def test_pictures_of_a_report_have_a_role_and_a_text():
    import simplexdp as sdp
    from simplexdp.report import release_report

    page = release_report(
        labels=["a", "b"],
        values=[0.5, 0.5],
        lower=[0.4, 0.4],
        upper=[0.6, 0.6],
        level=0.95,
        curve=sdp.PrivacyCurve.pure(1.0),
        guarantee={"epsilon": 1.0, "delta": 0.0},
        parameters={},
    )
    pictures = re.findall(r"<svg\b[^>]*>", page)
    assert pictures
    assert all("aria-hidden" in tag or ("role=" in tag and "aria-label" in tag) for tag in pictures), pictures


def test_versions_are_ordered_as_numbers_and_the_newest_is_the_latest(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("versions", ROOT / "docs" / "generate" / "versions.py")
    versions = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(versions)
    assert versions.main([str(tmp_path)]) == 1
    for name in ("0.9", "0.10", "0.2.1", "drafts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text("site")
    (tmp_path / "1.0").mkdir()  # nothing was built there
    assert versions.main([str(tmp_path)]) == 0
    found = json.loads((tmp_path / "versions.json").read_text())
    assert [each["version"] for each in found] == ["0.10", "0.9", "0.2.1"]
    assert [each["aliases"] for each in found] == [["latest"], [], []]
    assert "0.10/index.html" in (tmp_path / "index.html").read_text()
    assert "drafts" not in (tmp_path / "versions.json").read_text()
