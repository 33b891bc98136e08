"""The generated pages of the documentation say what the files that they are made of say."""

import importlib.util
import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

SCRIPTS = Path(__file__).parents[3] / "docs" / "generate"


def load(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _beside_each_other(monkeypatch):
    """Scripts import what lies in their folder, as they do when they are run. No figure is drawn here."""
    monkeypatch.syspath_prepend(SCRIPTS)
    monkeypatch.setattr("narrow.AS_THEY_ARE", ("dm-figure-1", "hn-figure-8"))


@pytest.fixture
def made(tmp_path):
    """Return what a run of two figures leaves behind; the second drawing is too large for vectors."""
    folder = tmp_path / "made"
    folder.mkdir()
    outcomes = []
    for name, source, size in (("dm-figure-1", "[DM] Figure 1", 10), ("hn-figure-8", "[HN] Figure 8", 200_000)):
        files = [f"{name}.png", f"{name}.svg", f"{name}-rows.csv"]
        (folder / files[0]).write_bytes(b"png")
        (folder / files[1]).write_text("x" * size)
        (folder / files[2]).write_text("n,error\n10,0.5\n")
        outcomes.append(
            {
                "name": name,
                "source": source,
                "title": f"Title of {name}",
                "paper": "What it found.",
                "finding": "What | we find.",
                "seconds": 1.25,
                "files": files,
            }
        )
    (folder / "index.json").write_text(json.dumps(outcomes))
    return folder


def test_the_gallery_has_a_page_for_each_paper_and_a_section_for_each_figure(made, tmp_path):
    out = tmp_path / "gallery"
    (out / "old").mkdir(parents=True)
    assert load("gallery").main(["--made", str(made), "--out", str(out), "--fast"]) == 0
    names = {path.name for path in out.iterdir()}
    assert names == {
        *(f"{key}.md" for key in ("dm", "dps", "hp", "ha", "hn", "index")),
        *("dm-figure-1.svg", "dm-figure-1-rows.csv", "hn-figure-8.png", "hn-figure-8-rows.csv"),
    }
    page = (out / "dm.md").read_text()
    assert "## Figure 1: Title of dm-figure-1 { #dm-figure-1 }" in page
    assert "![Title of dm-figure-1](dm-figure-1.svg)" in page
    assert "**The paper.** What it found." in page
    assert "**Here.** What | we find." in page
    assert "[dm-figure-1-rows.csv](dm-figure-1-rows.csv)" in page
    assert "in the fast mode, on the bundled data set" in page
    assert "](hn-figure-8.png)" in (out / "hn.md").read_text()
    assert "(hn.md#hn-figure-8)" in (out / "index.md").read_text()


def test_a_figure_of_no_known_paper_is_refused(made, tmp_path):
    text = (made / "index.json").read_text().replace("dm-figure-1", "xy-figure-1")
    (made / "index.json").write_text(text)
    with pytest.raises(SystemExit, match="xy-figure-1"):
        load("gallery").main(["--made", str(made), "--out", str(tmp_path / "gallery")])


def test_the_page_on_speed_shows_ratios_to_peers_and_no_seconds(tmp_path):
    row = {"label": "a | b", "peer": "scipy", "seconds": 0.123, "peer_seconds": 0.5, "ratio": 4.065, "required": 2.0}
    rows = [
        row,
        {**row, "label": "slower", "ratio": 0.25, "required": None},
        {**row, "peer": "budget", "label": "hidden"},
    ]
    topics = [
        {"name": "two_words", "summary": "What it is about.", "rows": rows},
        {"name": "empty", "summary": "Nothing to compare.", "rows": []},
    ]
    found = {"versions": {"numpy": "2.0"}, "fast": True, "topics": topics, "skipped": ["models"]}
    (tmp_path / "bench.json").write_text(json.dumps(found))
    page = tmp_path / "performance.md"
    assert load("performance").main([str(tmp_path / "bench.json"), str(page)]) == 0
    text = page.read_text()
    assert "## Two words" in text
    assert "| a \\| b | scipy | 4.1 | 2 |" in text
    assert "| slower | scipy | 0.25 |  |" in text
    assert "hidden" not in text
    assert "0.123" not in text
    assert "Empty" not in text
    assert "not installed: models" in text
    assert "the fast mode" in text


def test_benchmarks_write_their_ratios(tmp_path, monkeypatch):
    from types import SimpleNamespace

    monkeypatch.syspath_prepend(str(SCRIPTS.parents[1]))
    from benches.python import __main__ as benches
    from benches.python import timing
    from benches.python.timing import Comparison, report

    monkeypatch.setattr(timing, "most_rounds", None)  # comes back after the test

    def run():
        return report("a claim", Comparison(1.0, 0.5), peer="scipy", required=1)

    monkeypatch.setattr(benches, "names", lambda wanted: ["one"])
    monkeypatch.setattr(benches.importlib, "import_module", lambda name: SimpleNamespace(run=run, __doc__="About one."))
    path = tmp_path / "bench.json"
    assert benches.main(["--fast", "--json", str(path)]) == 1  # the requirement is missed
    found = json.loads(path.read_text())
    assert found["fast"] is True
    assert "simplexdp" in found["versions"]
    (topic,) = found["topics"]
    assert (topic["name"], topic["summary"]) == ("one", "About one.")
    (row,) = topic["rows"]
    assert (row["label"], row["peer"], row["ratio"], row["required"]) == ("a claim", "scipy", 0.5, 1)
