"""Levels are text of anybody: no spreadsheet computes them and no terminal obeys them."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest
from cli_files import BUDGET

from simplexdp.cli import records, writing

HOSTILE = ["=cmd|' /C calc'!A0", "+1+cmd", "-2+3", "@SUM(1)", "\t=1", "\uff1dcmd"]
PLAIN = ["-1", "+2.5", "a=b", "'=1"]


def read_csv(text):
    return list(csv.reader(io.StringIO(text)))


@pytest.fixture
def shares(folder, simplexdp):
    """Have a column of such levels, whose name is one too."""
    levels = [*HOSTILE, *PLAIN]
    with open("a.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["=n"], *([level] for level in levels * 3)])
    (folder / "levels.json").write_text(json.dumps(levels))
    return ("release", "a.csv", "--column", "=n", "--domain-file", "levels.json", *BUDGET)


def test_no_cell_of_csv_is_a_formula(simplexdp, shares):
    head, *rows = read_csv(simplexdp(*shares).out)
    assert head[0] == "'=n"
    assert [row[0] for row in rows] == [*(f"'{level}" for level in HOSTILE), *PLAIN]
    assert [row["=n"] for row in simplexdp(*shares, "--json").json["rows"]] == [*HOSTILE, *PLAIN]


def test_no_cell_of_synthetic_records_is_a_formula(simplexdp, folder, shares):
    (folder / "shares.json").write_text(simplexdp(*shares, "--json").out)
    head, *rows = read_csv(simplexdp("synthesize", "shares.json", "--size", "2000").out)
    assert head == ["'=n"]
    assert {row[0] for row in rows} <= {*(f"'{level}" for level in HOSTILE), *PLAIN}
    simplexdp("synthesize", "shares.json", "--size", "2000", "--out", "drawn.parquet")
    assert set(pq.read_table("drawn.parquet")["=n"].to_pylist()) <= {*HOSTILE, *PLAIN}


ESCAPE = "\x1b]0;title\x07\x1b[2J\x9b31m\u202etxt"


def test_no_terminal_obeys_a_level(simplexdp, folder, monkeypatch):
    (folder / "a.csv").write_text("n\n" + f"{ESCAPE}\nx\n" * 3, encoding="utf-8")
    (folder / "levels.json").write_text(json.dumps([ESCAPE, "x"]))
    release = ("release", "a.csv", "--column", "n", "--domain-file", "levels.json", *BUDGET)
    (folder / "shares.json").write_text(simplexdp(*release, "--json").out)
    as_data = simplexdp(*release)
    assert ESCAPE in as_data.out
    monkeypatch.setattr(writing, "is_terminal", lambda: True)
    monkeypatch.setattr(records, "is_terminal", lambda: True)
    for command in (
        (*release, "--format", "table"),
        (*release, "--format", "csv"),
        ("synthesize", "shares.json", "--size", "20"),
        ("synthesize", "shares.json", "--size", "20", "--json"),
    ):
        done = simplexdp(*command)
        assert done.code == 0
        assert not set("\x1b\x07\x9b\u202e") & set(done.out + done.err)
        assert "2J" in done.out


def test_messages_write_control_characters_out(simplexdp, folder):
    (folder / "a.csv").write_text("n\nx\n")
    done = simplexdp("release", "a.csv", "--column", "\x1b[2J", "--domain", "x,y", *BUDGET)
    assert done.code == 2
    assert "\x1b" not in done.err
