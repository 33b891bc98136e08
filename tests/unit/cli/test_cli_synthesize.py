"""Records that are drawn or classified: every form holds them, whatever the domains are of."""

import json
import os
import threading

import pytest
from cli_files import BUDGET

DOMAINS = {
    "integers and levels": ([0, 1], ["--other", "rest", "--null", "none"]),
    "truth values and a level": ([True, False], ["--other", "rest"]),
    "truth values": ([True, False], []),
    "integers and fractions": ([1, 2.5], []),
    "large integers": ([12345678901234567890123, 1], []),
    "integers of 64 bits": ([2**63, 1], []),
    "the largest integers": ([2**63 - 1, -(2**63)], []),
    "text": (["x", "y"], []),
}


@pytest.mark.parametrize("values, options", DOMAINS.values(), ids=DOMAINS)
def test_every_domain_is_drawn_in_every_form(simplexdp, folder, values, options):
    parquet = pytest.importorskip("pyarrow.parquet")
    (folder / "a.csv").write_text("a,b\n" + f"{json.dumps(values[0]).strip(chr(34))},x\n" * 50)
    (folder / "d.json").write_text(json.dumps({"a": values, "b": ["x", "y"]}))
    fit = ("a.csv", "--domains", "d.json", *options, *BUDGET, "--out")
    assert simplexdp("fit-bn", *fit, "m.json").code == 0
    done = simplexdp("synthesize", "m.json", "--size", "300")
    assert done.code == 0, done.err
    levels = {str(value) for value in values} | set(options[1::2])
    assert {line.split(",")[0] for line in done.out.splitlines()[1:]} <= levels
    assert simplexdp("synthesize", "m.json", "--size", "300", "--json").code == 0
    # So few that not all levels occur; more than one chunk is written with the types of the first.
    for size in (0, 1, 300):
        done = simplexdp("synthesize", "m.json", "--size", size, "--out", "s.parquet")
        assert done.code == 0, done.err
        table = parquet.read_table(folder / "s.parquet")
        assert table.num_rows == size
        assert {str(value).lower() for value in table["a"].to_pylist()} <= {level.lower() for level in levels} | {"1.0"}
    assert simplexdp("fit-nb", *fit, "c.json", "--target", "a").code == 0
    (folder / "header.csv").write_text("b\n")
    (folder / "some.csv").write_text("b\nx\ny\n")
    for name, size in (("header.csv", 0), ("some.csv", 2)):
        done = simplexdp("predict", "c.json", name, "--probabilities", "--out", "p.parquet")
        assert done.code == 0, done.err
        assert parquet.read_table(folder / "p.parquet").num_rows == size
    assert not list(folder.glob("*.part"))


def test_chunks_have_the_types_of_the_domain(simplexdp, folder, monkeypatch):
    """Chunks of one record: hardly any holds both types."""
    parquet = pytest.importorskip("pyarrow.parquet")
    from simplexdp.cli import synthesize

    monkeypatch.setattr(synthesize, "_CHUNK", 1)
    (folder / "a.csv").write_text("a\n" + "1\n2.5\n" * 50)
    for values in ([1, 2.5], [1, "2.5"]):
        (folder / "d.json").write_text(json.dumps({"a": values}))
        assert simplexdp("fit-bn", "a.csv", "--domains", "d.json", *BUDGET, "--out", "m.json", "--force").code == 0
        done = simplexdp("synthesize", "m.json", "--size", "60", "--out", "s.parquet")
        assert done.code == 0, done.err
        kind = float if 2.5 in values else str
        assert set(parquet.read_table(folder / "s.parquet")["a"].to_pylist()) == {kind(value) for value in values}


def test_a_named_pipe_is_written_into_and_stays(simplexdp, folder):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes")
    assert simplexdp("fit-bn", "people.csv", "--domains", "domains.json", *BUDGET, "--out", "m.json").code == 0
    os.mkfifo(folder / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((folder / "pipe").read_text()), daemon=True)
    reader.start()
    done = simplexdp("synthesize", "m.json", "--size", "9", "--out", "pipe", "--format", "csv")
    assert done.code == 0, done.err
    reader.join(timeout=300)
    assert len(read[0].splitlines()) == 10
    assert (folder / "pipe").is_fifo()
