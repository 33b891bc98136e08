"""What the commands read: tables of every format, lists of values, rules for them, models, and their options.

The commands run in this process. Exit code 0 accepts, 1 and 2 refuse; whatever else leaves them is a finding.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from simplexdp.exceptions import InvalidDataError

Target = Callable[[bytes], None]

SHOWN = "SIMPLEXDP_TRACEBACK"
TABLE = b"c,d,r,t\na,1,n,x\nb,2,n,y\na,3,s,z\n"
BUDGET = ("--epsilon", "1", "--delta", "1e-6", "--quiet")
SHARES = ("--column", "c", "--domain", "a,b", *BUDGET)


@contextlib.contextmanager
def traced() -> Iterator[None]:
    """Have the command show where a fault of ours lies."""
    before = os.environ.get(SHOWN)
    os.environ[SHOWN] = "1"
    try:
        yield
    finally:
        os.environ.pop(SHOWN)
        if before is not None:
            os.environ[SHOWN] = before


def run(*arguments: str) -> None:
    """Run a command without a word, and refuse where it does."""
    from simplexdp.cli import main

    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said), traced():
        code = main(list(arguments))
    # A fault of ours ends with 1 as a refusal does: only its message and the traceback tell them apart.
    assert code in (0, 1, 2), code
    assert "its message is not shown" not in said.getvalue(), said.getvalue()[-3000:]
    if code:
        raise InvalidDataError(said.getvalue())


@contextlib.contextmanager
def inside(files: dict[str, bytes]) -> Iterator[None]:
    """Work in a folder that holds these files."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def reading(name: str, *arguments: str) -> Target:
    """Return the target that gives bytes to a command as a file of this name, beside a good table."""

    def target(data: bytes) -> None:
        with inside({"table.csv": TABLE, name: data}):
            run(*arguments)

    return target


def models(data: bytes) -> None:
    """Use a file as a model in every command that reads one, and refuse it where all do."""
    uses = (
        ("predict", "model.json", "table.csv"),
        ("synthesize", "model.json", "--size", "2"),
        ("card", "model.json", "--json"),
    )
    refused = []
    for use in uses:
        try:
            reading("model.json", *use)(data)
        except InvalidDataError as error:
            refused.append(error)
    if len(refused) == len(uses):
        raise refused[0]


def options(data: bytes) -> None:
    """Take every line as an argument of `release`; what is written stays in a folder."""
    given = data.decode("utf-8", "replace").split("\n")
    given = [each.replace("\0", "") for each in given if "/" not in each]
    with inside({"table.csv": TABLE, "towns.json": TOWNS}):
        run("release", "table.csv", "--column", "c", *BUDGET, *given)


TOWNS = b'{"n":["x","y"],"s":["z"]}'
GIVEN = [
    ("--domain", "a,b"),
    ("--domain", "1..5", "--other", "o", "--null", "p"),
    ("--domain", "a,b", "--where", "d>=1", "--where", "t!=x"),
    ("--domain", "a,b", "--by", "r", "--groups", "n,s", "--other-group", "o", "--margins"),
    ("--domain", "a,b", "--by", "r", "--by", "t", "--hierarchy", "towns.json", "--level-shares", "0.5,0.5"),
    ("--domain", "a,b", "--by", "d", "--bins", "d=0:4:2", "--pivot", "share"),
    ("--domain", "a,b", "--by", "d", "--quantiles", "d=2:0:10", "--quantile-share", "0.25"),
    ("--domain", "a,b", "--clean", "trim,fold,nfkc", "--total", "3", "--interval", "0.9"),
    ("--domain", "a,b", "--mechanism", "dirichlet", "--prior", "2.0", "--total", "3"),
    ("--domain", "a,b", "--unit", "r", "--max-rows", "1", "--first-by", "d"),
    ("--domain", "a,b", "--delimiter", ",", "--encoding", "latin-1", "--adjacency", "add_remove"),
    (
        "--domain",
        "a,b",
        "--dates",
        "d=month:2024-01:2024-12",
        "--date-format",
        "%d.%m.%Y",
        "--by",
        "d",
        "--other-group",
        "o",
    ),
]


def parquet() -> bytes:
    """Return a small table as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.table({"c": ["a", "b", None], "d": [1.5, 2.0, 3.0]}), file, compression="none")
    return file.getvalue()


def command_seeds(models_: list[bytes]) -> dict[str, tuple[Target, list[bytes]]]:
    """Return the targets with inputs that they accept; `models_` are saved models of every kind."""
    towns = [TOWNS, b'{"n":["x","y","z"],"s":["u"]}']
    levels, bins = b'{"c":["a","b"],"r":2}', b'{"c":["a","b"],"d":{"bins":3,"bounds":[0,5]}}'
    by = ("--by", "r", "--by", "t")
    lines = b'{"c":"a","d":1}\n{"c":"b"}\n{"c":"b","d":[1,{"e":null}]}\n'
    synthesis = ("plan", "synthesis", "--n", "9", "--delta", "1e-3", "--epsilons", "1", "--quiet")
    return {
        "JSON lines": (reading("f.jsonl", "release", "f.jsonl", *SHARES), [lines]),
        "TSV": (reading("f.tsv", "release", "f.tsv", *SHARES, "--by", "r", "--groups", "n"), [b"r\tc\nn\ta\nn\tb\n"]),
        "Parquet": (reading("f.parquet", "release", "f.parquet", *SHARES, "--null", "n"), [parquet()]),
        "numbers of a column": (
            reading("f.csv", "mean", "f.csv", "--column", "d", "--bounds", "0:9", *BUDGET),
            [b"d\n1\n2.5\n-3e2\n", b'd,e\n"1",\n" 7",x\n'],
        ),
        "quantiles of a column": (
            reading("f.csv", "quantile", "f.csv", "--column", "d", "--bounds", "0:9", *BUDGET, "--skip-missing"),
            [b"d\n1\n2.5\n\n-3e2\n"],
        ),
        "list of values": (
            reading("values.txt", "release", "table.csv", "--column", "c", "--domain-file", "values.txt", *BUDGET),
            [b"a\nb\n", b"a\r\nb\r\n\r\nc"],
        ),
        "map of values": (
            reading("map.json", "release", "table.csv", *SHARES, "--map", "map.json"),
            [b'{"a":"b","x":null}', b"{}"],
        ),
        "domains of a synthesizer": (
            reading(
                "domains.json",
                "fit-synth",
                "table.csv",
                "--domains",
                "domains.json",
                *BUDGET,
                "--other",
                "o",
                "--seed",
                "1",
            ),
            [b'{"c":["a","b"]}', bins, b'{"d":{"edges":[0,2,4]}}'],
        ),
        "domains of a plan": (reading("domains.json", *synthesis, "--domains", "domains.json"), [levels, bins]),
        "hierarchy JSON": (reading("h.json", "release", "table.csv", *SHARES, *by, "--hierarchy", "h.json"), towns),
        "hierarchy CSV": (
            reading("h.csv", "release", "table.csv", *SHARES, *by, "--hierarchy", "h.csv"),
            [b"r,t\nn,x\nn,y\ns,z\n"],
        ),
        "models in commands": (models, models_),
        "record beside a page": (
            reading("page.html.json", "release", "table.csv", *SHARES, "--report", "page.html"),
            [b'{"@context":"https://schema.org","x":[{"y":1}]}'],
        ),
        "options": (options, ["\n".join(given).encode() for given in GIVEN]),
    }
