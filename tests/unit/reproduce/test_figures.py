"""Every figure in fast mode: numbers, plots that are not empty, findings that state figures."""

import json
import re
from pathlib import Path

import pytest

from simplexdp.exceptions import InvalidParameterError
from simplexdp.reproduce.catalogue import NAMES, figure
from simplexdp.reproduce.figure import Settings, Table
from simplexdp.reproduce.run import reproduce

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("name", NAMES)
def test_figure_leaves_numbers_plots_and_a_finding(name: str, tmp_path: Path) -> None:
    (outcome,) = reproduce([name], tmp_path, Settings(fast=True))
    assert outcome.name == name
    assert {path.name for path in tmp_path.iterdir()} == {*outcome.files, "index.md", "index.json"}
    png = (tmp_path / f"{name}.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    # An empty canvas of this size compresses to far less.
    assert len(png) > 8_000
    svg = (tmp_path / f"{name}.svg").read_text()
    assert not any("nan" in path for path in re.findall(r'd="[^"]*"', svg))
    tables = list(tmp_path.glob("*.csv"))
    assert tables
    assert all(len(path.read_text().splitlines()) > 1 for path in tables)
    assert len(outcome.finding) > 40
    assert outcome.finding.endswith(".")
    assert re.search(r"\d", outcome.finding)
    assert json.loads((tmp_path / "index.json").read_text())[0]["source"] == figure(name).source


def test_numbers_repeat(tmp_path: Path) -> None:
    for part in ("a", "b"):
        reproduce(["dm-figure-1"], tmp_path / part, Settings(fast=True))
    for name in ("dm-figure-1.svg", "dm-figure-1-trigamma.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_unknown_figure_is_named() -> None:
    with pytest.raises(InvalidParameterError, match="got 'dm-figure-99'"):
        figure("dm-figure-99")


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="equal lengths"):
        Table({"a": [1], "b": [1, 2]})
