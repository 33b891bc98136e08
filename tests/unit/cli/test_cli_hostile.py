"""Files that are not what they should be: a clear refusal, the right code, and nothing of them in the message."""

import bz2
import csv
import gzip
import io
import lzma
import subprocess
import sys
import time

import numpy as np
import pytest
from cli_files import BUDGET

from simplexdp.cli.csv_blocks import Quotes

READ = ("release", "--column", "a", "--domain", "x,y", *BUDGET)
FINE, REFUSED, USAGE = 0, 1, 2

CASES = {
    "empty": (b"", [], REFUSED, "empty"),
    "blank lines only": (b"\n\r\n\n", [], REFUSED, "empty"),
    "header only": (b"a,b\n", [], REFUSED, "no records"),
    "header without line end": (b"a,b", [], REFUSED, "no records"),
    "no line end": (b"a\nx", [], FINE, ""),
    "byte order mark": (b"\xef\xbb\xbfa,b\nx,1\n", [], FINE, ""),
    "line ends of Windows": (b"a,b\r\nx,1\r\ny,2\r\n", [], FINE, ""),
    "line ends of old Macs": (b"a,b\rx,1\ry,2\r", [], FINE, ""),
    "blank lines": (b"\n\na\nx\n\ny\n\n", [], FINE, ""),
    "quoted line ends": (b'a,b\nx,"SECRET\nSECRET"\ny,2\n', [], FINE, ""),
    "quoted line end in the header": (b'"SECRET\nb",a\n1,x\n2,y\n', [], FINE, ""),
    "quoted comma and quote": (b'b,a\n"1,""2""",x\n', [], FINE, ""),
    "too few fields": (b"a,b\nx,1\nSECRET\n", [], REFUSED, "as many fields"),
    "too many fields": (b"a,b\nx,1\nx,SECRET,3\n", [], REFUSED, "as many fields"),
    "a quote that does not end": (b'a,b\n"SECRET,1\nx,2\n', [], REFUSED, "as many fields"),
    "no such column": (b"SECRET,b\nx,1\n", [], USAGE, "no column 'a'"),
    "no header": (b"SECRET,x\nx,SECRET\n", [], USAGE, "--no-header"),
    "the column twice": (b"a,a\nx,SECRET\n", [], USAGE, "more than one column 'a'"),
    "another column twice": (b"a,b,b\nx,1,2\n", [], FINE, ""),
    "latin-1 in another column": (b"a,b\nx,\xe9\n", [], FINE, ""),
    "latin-1 in the column": (b"a\n\xe9SECRET\n", [], REFUSED, "--encoding"),
    "latin-1 in the header": (b"\xe9SECRET,a\n1,x\n", [], REFUSED, "--encoding"),
    "latin-1, stated": (b"b,a\n\xe9,x\n", ["--encoding", "latin-1"], FINE, ""),
    "UTF-16, not stated": ("a,b\nx,SECRET\n".encode("utf-16"), [], REFUSED, "--encoding"),
    "UTF-16 that is none": (b"a,b\nx,SECRET\ny,SECRET", ["--encoding", "utf-16"], REFUSED, "--encoding"),
    "UTF-16 that is cut": ("a\nx\n".encode("utf-16")[:-1], ["--encoding", "utf-16"], REFUSED, "--encoding"),
    "no encoding of text": (b"a\nx\n", ["--encoding", "hex"], USAGE, "--encoding"),
    "an encoding that does not exist": (b"a\nx\n", ["--encoding", "nonsense"], USAGE, "--encoding"),
    "a null byte": (b"a\nx\0SECRET\n", [], REFUSED, "--domain does not list"),
    "binary": (bytes(range(256)) * 9, [], USAGE, "no column"),
    "an unseen value": (b"a\nSECRET\n", [], REFUSED, "--other"),
    "another case": (b"a\nX\n", [], REFUSED, "--other"),
    "a space more": (b"a\n x\n", [], REFUSED, "--other"),
    "an unseen value with a level": (b"a\nSECRET\n", ["--other", "rest"], FINE, ""),
    "a missing value": (b"a,b\n,SECRET\n", [], REFUSED, "--null"),
    "a missing value with a level": (b"a,b\n,SECRET\n", ["--null", "none"], FINE, ""),
    "a missing value goes nowhere else": (b"a,b\n,SECRET\n", ["--other", "rest"], REFUSED, "--null"),
    "an empty text": (b'a,b\n"",SECRET\n', ["--null", "none"], REFUSED, "--other"),
    "NA is a value": (b"a,b\nNA,SECRET\n", ["--null", "none"], REFUSED, "--other"),
    "JSON lines": (b'{"a":"x"}\n\n{"a":"y","b":"SECRET"}\n', ["--input-format", "jsonl"], FINE, ""),
    "JSON that breaks off": (b'{"a":"SECRET\n', ["--input-format", "jsonl"], REFUSED, "JSON object"),
    "JSON lists": (b'["SECRET"]\n', ["--input-format", "jsonl"], REFUSED, "JSON object"),
    "JSON in JSON": (b'{"a":["SECRET"]}\n', ["--input-format", "jsonl"], REFUSED, "must hold text"),
    "JSON without the column": (b'{"b":"SECRET"}\n', ["--input-format", "jsonl"], REFUSED, "--null"),
    "JSON null": (b'{"a":null}\n', ["--input-format", "jsonl"], REFUSED, "--null"),
    "JSON in latin-1": (b'{"a":"\xe9SECRET"}\n', ["--input-format", "jsonl"], REFUSED, "--encoding"),
    "not Parquet": (b"a\nSECRET\n", ["--input-format", "parquet"], REFUSED, "Parquet"),
    "tabs": (b"a\tb\nx\t1\n", ["--input-format", "tsv"], FINE, ""),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("from_file", [False, True], ids=["pipe", "file"])
def test_hostile_input(simplexdp, folder, name, from_file):
    data, arguments, code, said = CASES[name]
    if from_file:
        (folder / "data.csv").write_bytes(data)
        done = simplexdp(*READ, *arguments, "data.csv")
    else:
        done = simplexdp(*READ, *arguments, stdin=data)
    assert done.code == code, done.err
    assert said in done.err
    assert "SECRET" not in done.out + done.err
    assert "Traceback" not in done.err
    assert bool(done.out) == (code == FINE)


@pytest.mark.parametrize(
    "budget, code, said",
    [
        (["--epsilon", "1", "--delta", "-1"], USAGE, "delta must be non-negative"),
        (["--epsilon", "1", "--delta", "1"], USAGE, "delta"),
        (["--epsilon", "-1", "--delta", "1e-6"], USAGE, "epsilon must be positive"),
        (["--epsilon", "nan", "--delta", "1e-6"], USAGE, "epsilon"),
        (["--epsilon", "inf", "--delta", "1e-6"], USAGE, "epsilon"),
        (["--epsilon", "one", "--delta", "1e-6"], USAGE, "--epsilon"),
        (["--epsilon", "1"], FINE, "1-differential privacy"),
        (["--epsilon", "1", "--mechanism", "dirichlet"], USAGE, "--delta"),
        (["--epsilon", "1", "--mechanism", "discrete_gaussian"], USAGE, "--delta"),
        (["--delta", "1e-6"], USAGE, "--epsilon"),
        (["--epsilon", "1", "--mechanism", "laplace", "--delta", "1e-6"], USAGE, "pure"),
        (["--epsilon", "1e-300", "--mechanism", "discrete_laplace"], USAGE, "scale"),
        (["--epsilon", "1e300", "--delta", "1e-6"], USAGE, "must allow noise between"),
        (["--epsilon", "1e9", "--delta", "1e-6"], FINE, "protects hardly anything"),
        (["--epsilon", "1e9", "--mechanism", "laplace"], FINE, "protects hardly anything"),
    ],
)
def test_hostile_budgets(simplexdp, budget, code, said):
    done = simplexdp("release", "--column", "a", "--domain", "x,y", *budget, stdin="a\nx\ny\n")
    assert done.code == code
    assert said in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize(
    "values", [[1, 2], [1.0, 2.0], [True, False], ["1", "2"]], ids=["int", "float", "bool", "text"]
)
def test_numbers_match_the_text_of_a_domain(simplexdp, folder, kind, values):
    pa = pytest.importorskip("pyarrow")
    import json

    import pyarrow.parquet as pq

    column = values * 30
    domain = "true,false" if values[0] is True else "1,2"
    path = folder / f"data.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table({"a": column}), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps({"a": value}) + "\n" for value in column))
    elif isinstance(values[0], float):
        pytest.skip("CSV is text: 1.0 is not 1 there")
    else:
        path.write_text("a\n" + "".join(f"{str(value).lower()}\n" for value in column))
    done = simplexdp("release", path.name, "--column", "a", "--domain", domain, *BUDGET, "--show-truth", "--json")
    assert done.code == FINE, done.err
    assert [row["true_count"] for row in done.json["rows"]] == [30, 30]


def test_categories_and_missing_numbers_of_parquet_are_counted(simplexdp, folder):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    text = pa.array(["x", None, "y", "x"]).dictionary_encode()
    pq.write_table(pa.table({"a": text, "b": [1.0, float("nan"), None, 2.0]}), folder / "data.parquet")
    for column, domain, truth in (("a", "x,y", [2, 1, 1]), ("b", "1,2", [1, 1, 2])):
        done = simplexdp(
            "release", "data.parquet", "--column", column, "--domain", domain, "--null", "none",
            *BUDGET, "--show-truth", "--json",
        )  # fmt: skip
        assert [row["true_count"] for row in done.json["rows"]] == truth


def test_streams_are_counted_as_files_are(simplexdp, folder):
    """Records whose ends fall on every place of a block, with quotes and line ends inside."""
    rows = [f'"l{"x" * (i % 97)}\n""{i}""",{"x" if i % 3 else "y"}' for i in range(40_000)]
    (folder / "data.csv").write_text("text,a\n" + "\n".join(rows))
    done = simplexdp("release", "data.csv", "--column", "a", "--domain", "x,y", *BUDGET, "--show-truth", "--json")
    assert [row["true_count"] for row in done.json["rows"]] == [26_666, 13_334]


@pytest.mark.parametrize("module, suffix", [("bz2", "bz2"), ("lzma", "xz")])
def test_a_python_built_without_a_compression_says_so(simplexdp, folder, monkeypatch, module, suffix):
    monkeypatch.setitem(sys.modules, module, None)
    (folder / f"data.csv.{suffix}").write_bytes(bz2.compress(b"a\nx\n"))
    (folder / "data.csv").write_bytes(b"a\nx\n")
    release = ("--column", "a", "--domain", "x,y", *BUDGET)
    assert simplexdp("release", "data.csv", *release).code == 0
    done = simplexdp("release", f"data.csv.{suffix}", *release)
    assert (done.code, done.err) == (1, f"Error: this Python was built without {module}, so unpack the file first\n")


@pytest.mark.parametrize("suffix, compress", [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_compressed_files_are_counted_as_they_unpack_or_refused(simplexdp, folder, suffix, compress):
    rows = ["a,text", *(f'{"x" if i % 3 else "y"},"SECRET{i * 2654435761 % 997}"' for i in range(40_000))]
    packed = compress("\n".join(rows).encode())
    lines = "\n".join('{"a":"x"}' if i % 3 else '{"a":"y"}' for i in range(40_000)).encode()
    release = ("--column", "a", "--domain", "x,y", *BUDGET, "--show-truth", "--json")
    for name, data in ((f"data.csv.{suffix}", packed), (f"data.jsonl.{suffix}", compress(lines))):
        (folder / name).write_bytes(data)
        done = simplexdp("release", name, *release)
        assert [row["true_count"] for row in done.json["rows"]] == [26_666, 13_334]
    middle = len(packed) // 2
    damaged = {
        "cut": packed[:middle],
        "none": b"a\nSECRET\n",
        "changed": packed[:middle] + bytes(byte ^ 0x55 for byte in packed[middle : middle + 9]) + packed[middle + 9 :],
    }
    for damage, data in damaged.items():
        (folder / f"data.csv.{suffix}").write_bytes(data)
        done = simplexdp("release", f"data.csv.{suffix}", *release)
        assert done.out == ""
        assert "SECRET" not in done.err
        # A checksum comes after its block: changed data may be no header first.
        assert (done.code == REFUSED and "damaged" in done.err) or (damage == "changed" and done.code == USAGE)
    (folder / f"data.{suffix}").write_bytes(packed)
    assert "--input-format" in simplexdp("release", f"data.{suffix}", *release).err
    assert simplexdp("release", f"data.{suffix}", *release, "--input-format", "csv").code == FINE


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_random_files_are_read_or_refused_without_a_word_of_them(simplexdp, kind):
    """Two hundred files put together at random from what readers stumble over."""
    pieces = [b"a", b"x", b"y", b",", b"\t", b"\n", b"\r\n", b"\r", b'"', b'""', b"\0", b"\xff", b"\xc3", b" ", b"a\n"]
    pieces += [b"\xef\xbb\xbf", b"SECRET", b'{"a":"x"}\n', b'{"a":', b"}", b"[", b"null", b"NaN", b"1e999", b"a,b\n"]
    generator = np.random.default_rng(11)
    codes = []
    for _ in range(200):
        chosen = generator.integers(len(pieces), size=generator.integers(1, 30))
        start = {"csv": b"a\n", "tsv": b"a\n", "jsonl": b"", "parquet": b"PAR1"}[kind] * int(generator.integers(2))
        data = start + b"".join(pieces[piece] for piece in chosen)
        extra = [[], ["--other", "rest"], ["--other", "rest", "--null", "rest"], ["--no-header"]][generator.integers(4)]
        done = simplexdp(*READ, "--input-format", kind, *extra, stdin=data)
        assert done.code in (FINE, REFUSED, USAGE), data
        assert "unexpected" not in done.err, (data, done.err)
        assert "SECRET" not in done.out + done.err, data
        codes.append(done.code)
    assert REFUSED in codes
    assert FINE in codes or kind in ("jsonl", "parquet")  # valid ones are rare by chance


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["unix", "windows", "mac"])
@pytest.mark.parametrize("last", [True, False])
def test_every_line_end_counts_the_same(simplexdp, end, last):
    stdin = end.join(["a,b", "x,1", "x,2", "y,3"]) + (end if last else "")
    done = simplexdp(*READ, "--show-truth", "--json", stdin=stdin)
    assert [row["true_count"] for row in done.json["rows"]] == [2, 1]


def test_a_network_of_no_records_is_fitted_where_their_number_is_private(simplexdp, folder):
    (folder / "empty.csv").write_text("job,region,age\n")
    fit = ("fit-bn", "empty.csv", "--domains", "domains.json", *BUDGET, "--out", "network.json")
    assert simplexdp(*fit).code == REFUSED
    assert simplexdp(*fit, "--adjacency", "add_remove").code == FINE


NO_VALUES = {
    "lists": lambda pa: pa.array([["SECRET"]]),
    "records": lambda pa: pa.array([{"SECRET": 1}]),
    "maps": lambda pa: pa.array([[("SECRET", 1)]], pa.map_(pa.string(), pa.int64())),
    "times too late": lambda pa: pa.array([2**62], pa.timestamp("us")),
    "days too late": lambda pa: pa.array([2**30], pa.date32()),
}


@pytest.mark.parametrize("name", NO_VALUES)
def test_columns_of_parquet_that_hold_no_values_are_named(simplexdp, folder, name):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": NO_VALUES[name](pa), "b": ["x"]}), folder / "data.parquet")
    done = simplexdp(*READ, "data.parquet", "--other", "rest")
    assert (done.code, done.out) == (REFUSED, "")
    assert "column 'a' must hold text, numbers or true and false" in done.err
    assert "SECRET" not in done.err
    assert simplexdp("release", "data.parquet", "--column", "b", "--domain", "x,y", *BUDGET).code == FINE


@pytest.mark.parametrize("kind", ["decimal128", "decimal256"])
def test_decimals_match_the_numbers_of_a_domain(simplexdp, folder, kind):
    """As DuckDB writes them: with all digits of the column's scale."""
    pa = pytest.importorskip("pyarrow")
    from decimal import Decimal

    import pyarrow.parquet as pq

    texts = ["1.0000000", "1.0000000", "-20.0000000", "0.5000000", "0.0000001", "0.0000000", "1234567890123456.1234500"]
    column = pa.array([Decimal(text) for text in texts], getattr(pa, kind)(30, 7))
    pq.write_table(pa.table({"a": column}), folder / "data.parquet")
    domain = "1,-20,0.5,1e-07,0,1234567890123456.12345"
    done = simplexdp("release", "data.parquet", "--column", "a", "--domain", domain, *BUDGET, "--show-truth", "--json")
    assert done.code == FINE, done.err
    assert [row["true_count"] for row in done.json["rows"]] == [2, 1, 1, 1, 1, 1]
    (folder / "d.json").write_text('{"a": [1, -20, 0.5, 1e-07, 0.0]}')
    pq.write_table(pa.table({"a": column.slice(0, 6)}), folder / "data.parquet")
    assert simplexdp("fit-bn", "data.parquet", "--domains", "d.json", *BUDGET, "--out", "n.json").code == FINE


@pytest.mark.parametrize(
    "line, said",
    [
        ('{"a": ' + "7" * 5000 + "}", "an integer must have at most"),
        ('{"a": "x", "b": ' + "[" * 200_000 + "]" * 200_000 + "}", "nested"),
        ('{"a": "SECRET', "JSON object"),
        ('["SECRET"]', "JSON object"),
    ],
    ids=["digits", "depth", "cut", "list"],
)
@pytest.mark.parametrize("from_file", [False, True], ids=["pipe", "file"])
def test_lines_of_json_that_cannot_be_read_are_counted_and_not_shown(simplexdp, folder, line, said, from_file):
    text = f'{{"a": "x"}}\n\n{line}\n'
    (folder / "data.jsonl").write_text(text)
    arguments = ["data.jsonl"] if from_file else ["--input-format", "jsonl"]
    done = simplexdp(*READ, *arguments, stdin=text)
    assert (done.code, done.out) == (REFUSED, "")
    assert f"{'data.jsonl' if from_file else 'standard input'}, line 3: " in done.err
    assert said in done.err
    assert "SECRET" not in done.err
    assert "77" not in done.err


def test_domains_that_are_nested_deeply_are_refused(simplexdp, folder):
    (folder / "d.json").write_text("[" * 200_000)
    assert simplexdp("fit-bn", "people.csv", "--domains", "d.json", *BUDGET).code == USAGE
    assert simplexdp("synthesize", "d.json", "--size", "1").code == USAGE


UNMARKED = ("utf-16-le", "utf-16-be", "UTF8")
"""Encodings that have a byte order mark and do not write it themselves."""
ENCODINGS = (*UNMARKED, "utf-16", "utf-32", "utf-8-sig", "cp1252", "cp037", "shift_jis", "iso2022_jp")


@pytest.mark.parametrize(
    ("encoding", "mark"), [*((name, False) for name in ENCODINGS), *((name, True) for name in UNMARKED)]
)
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_every_encoding_of_text_is_read(simplexdp, folder, encoding, kind, mark):
    """More text than one block holds, with a byte order mark where the encoding has one that it does not write."""
    # U+0A0A and U+2C22 are line ends, commas and quotes byte by byte; the others have no such letters.
    odd = "\u0a0a\u2c22" if encoding.lower().startswith("utf") else "\u304b" if "j" in encoding else "!"
    rows = [(odd, ("x", "y")[i % 3 == 0]) for i in range(60_000)]
    if kind == "jsonl":
        lines = [f'{{"{odd}": "{text}", "a": "{a}"}}' for text, a in rows]
    else:
        sign = {"csv": ",", "tsv": "\t"}[kind]
        lines = [f"{odd}{sign}a", *(f"{text}{sign}{a}" for text, a in rows)]
    text = ("\ufeff" if mark else "") + "\n".join(lines) + "\n"
    (folder / f"data.{kind}").write_bytes(text.encode(encoding))
    done = simplexdp(*READ, f"data.{kind}", "--encoding", encoding, "--show-truth", "--json")
    assert done.code == FINE, done.err
    assert [row["true_count"] for row in done.json["rows"]] == [40_000, 20_000]


@pytest.mark.parametrize("given, sign", [(";", ";"), ("|", "|"), ("tab", "\t"), ("\\t", "\t"), (" ", " "), (",", ",")])
def test_fields_are_separated_by_what_the_delimiter_says(simplexdp, given, sign):
    text = f'b{sign}a\n"SECRET{sign}"{sign}x\n1,2{sign}y\n' if sign != "," else 'b,a\n"SECRET,",x\n1,y\n'
    done = simplexdp(*READ, "--delimiter", given, "--show-truth", "--json", stdin=text)
    assert done.code == FINE, done.err
    assert [row["true_count"] for row in done.json["rows"]] == [1, 1]
    if sign != ",":
        refused = simplexdp(*READ, stdin=text.replace(",", ""))
        assert refused.code == USAGE
        assert "--delimiter says" in refused.err
        assert "SECRET" not in refused.err


@pytest.mark.parametrize("sign", ["", "ab", '"', "\n", "\u00a7"])
def test_what_cannot_separate_fields_is_refused(simplexdp, sign):
    done = simplexdp(*READ, "--delimiter", sign, stdin="a\nx\n")
    assert (done.code, done.out) == (USAGE, "")
    assert "--delimiter" in done.err


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "parquet"])
def test_a_delimiter_is_for_csv(simplexdp, kind):
    done = simplexdp(*READ, "--delimiter", ";", "--input-format", kind, stdin="a\nx\n")
    assert done.code == USAGE
    assert "--delimiter is for CSV" in done.err


def test_every_command_that_reads_records_takes_a_delimiter(simplexdp, folder):
    (folder / "people.csv").write_text((folder / "people.csv").read_text().replace(",", ";"))
    column = ("--column", "job", "--domain", "clerk,nurse,smith")
    fit = ("--domains", "domains.json", *BUDGET, "--score", "people.csv", "--out")
    for arguments in (
        ("release", *column, *BUDGET),
        ("posterior", *column, "--epsilon", "1", "--mechanism", "laplace"),
        ("fit-bn", *fit, "network.json"),
        ("fit-nb", "--target", "job", *fit, "model.json"),
        ("predict", "model.json"),
    ):
        assert simplexdp(*arguments, "people.csv").code == USAGE
        done = simplexdp(*arguments, "people.csv", "--delimiter", ";")
        assert done.code == FINE, done.err


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_fractions_match_in_the_digits_of_their_type(simplexdp, folder, kind):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    column = pa.array(np.array([0.1, 0.1, 2.5, 1.0], dtype=kind))
    pq.write_table(pa.table({"a": column}), folder / "data.parquet")
    done = simplexdp(
        "release", "data.parquet", "--column", "a", "--domain", "0.1,1,2.5", *BUDGET, "--show-truth", "--json"
    )
    assert done.code == FINE, done.err
    assert [row["true_count"] for row in done.json["rows"]] == [2, 1, 1]


def in_a_process(*arguments):
    """Run a command in a process of its own; return what it left and the most memory that it took, in MiB."""
    program = (
        "import re, sys\n"
        "from simplexdp.cli import main\n"
        "code = main(sys.argv[1:])\n"
        # Not what the system says of resources: that begins with what the parent took.
        "print(int(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1]) >> 10)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    return done, int(done.stdout.split()[-1])


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_long_row_of_a_compressed_file_ends_the_command_and_nothing_else(tmp_path):
    # Readers that fetch blocks on threads of their own called Python while it was shut down.
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"x,1\n" * 10 + b"x" * 5_000_000 + b",1\n" + b"x,1\n" * 1_000_000, 1))
    for _ in range(3):
        done, _ = in_a_process(READ[0], str(path), *READ[1:])
        assert done.returncode == REFUSED
        assert "longer than 1 MB" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("lines", [0, 1])
def test_a_line_that_unpacks_to_more_than_there_is_memory_is_refused(tmp_path, lines):
    path = tmp_path / "a.jsonl.gz"
    # Members of a file stand one after the other: 400 MB that take no time to write.
    start, piece = gzip.compress(b'{"a": "x"}\n' * lines + b'{"a": "'), gzip.compress(b"x" * (16 << 20), 1)
    path.write_bytes(start + piece * 25)
    done, mebibytes = in_a_process(READ[0], str(path), *READ[1:])
    assert done.returncode == REFUSED
    assert f"line {lines + 1}: no line may be longer than 16 MB" in done.stderr
    assert mebibytes < 350  # of which the libraries take half


@pytest.mark.parametrize("content", [b"\n" * (3 << 20) + b"a\nx\n", b"a\n" + b"\r\n" * (3 << 20) + b"x\n"])
def test_empty_lines_are_passed_over_quickly(simplexdp, folder, content):
    (folder / "a.csv").write_bytes(content)
    start = time.process_time()
    assert simplexdp(READ[0], "a.csv", *READ[1:]).code == FINE
    assert time.process_time() - start < 5


@pytest.mark.parametrize("header", [b'"' * (3 << 20), b'a,"' + b'""' * (1 << 21), b"a," * (1 << 20)])
def test_a_first_line_without_an_end_is_refused_quickly(simplexdp, folder, header):
    (folder / "a.csv").write_bytes(header)
    start = time.process_time()
    assert simplexdp(READ[0], "a.csv", *READ[1:]).code == REFUSED
    assert time.process_time() - start < 5


def test_records_are_cut_at_their_ends_wherever_a_block_ends():
    """Against Python's own reader of CSV, with blocks of a few bytes."""
    generator = np.random.default_rng(5)
    fields = ["x", "", 'say "no"', "two\nlines", "a,b", '"', "\r\n", 'in 5" pipes']
    for trial in range(200):
        rows = [[fields[k] for k in generator.integers(0, len(fields), 2)] for _ in range(6)]
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator=("\n", "\r\n")[trial % 2]).writerows(rows)
        data = text.getvalue().encode()
        quotes, cuts, start = Quotes(","), [], 0
        for end in range(1, len(data) + 1):
            if cut := quotes.last_end(data[start:end]):
                start += cut
                cuts.append(start)
        parts = [data[a:b].decode() for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        assert [row for part in parts for row in csv.reader(io.StringIO(part, newline=""))] == rows
        first = quotes.first_end(data)
        assert list(csv.reader(io.StringIO(data[:first].decode(), newline=""))) == rows[:1]


def test_a_quote_in_the_middle_of_a_field_is_a_letter():
    data = b'a 5" pipe,x\nb 5" pipe,y\n"quoted, ""\n",z\nlast'
    assert Quotes(",").first_end(data) == 12
    assert Quotes(",").last_end(data) == data.index(b"last")
