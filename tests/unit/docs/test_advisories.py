"""The look-up of locked versions in lists of known vulnerabilities finds what is affected, and nothing else."""

import importlib.util
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree
FILE = Path(__file__).resolve().parents[3] / "packaging" / "supply" / "advisories.py"


@pytest.fixture(scope="module")
def advisories():
    pytest.importorskip("yaml")
    specification = importlib.util.spec_from_file_location("advisories", FILE)
    module = importlib.util.module_from_spec(specification)
    sys.modules["advisories"] = module
    specification.loader.exec_module(module)
    return module


RUST = """```toml
[advisory]
id = "RUSTSEC-0000-0001"
package = "lib"
[versions]
patched = [">= 1.2.3, < 2.0", ">= 2.1"]
unaffected = ["< 1.0.0"]
```
# A fault
"""


@pytest.mark.parametrize(
    "version, affected",
    [("0.9.9", 0), ("1.0.0", 1), ("1.2.2", 1), ("1.2.3", 0), ("1.2.3-beta", 1), ("2.0.5", 1), ("2.1.0", 0)],
)
def test_a_crate_is_affected_where_no_range_is_safe(advisories, version, affected):
    assert len(advisories.rust_advisory(RUST, {("lib", version), ("other", "1.0.0")})) == affected


def test_what_was_withdrawn_counts_for_nothing(advisories):
    assert not advisories.rust_advisory(
        RUST.replace("package", 'withdrawn = "2024-01-01"\npackage'), {("lib", "1.0.0")}
    )


@pytest.mark.parametrize(
    "requirement, version, met",
    [
        ("^0.3", "0.3.9", True),
        ("^0.3", "0.4.0", False),
        ("^1.2", "1.9.0", True),
        ("^1.2", "2.0.0", False),
        ("~1.2.3", "1.2.9", True),
        ("~1.2.3", "1.3.0", False),
        ("=1.2", "1.2.7", True),
        ("> 1.0", "1.0.0", False),
        ("<= 1.0.0", "1.0.0", True),
    ],
)
def test_requirements_are_read_as_cargo_reads_them(advisories, requirement, version, met):
    assert advisories.within(version, requirement) is met


def test_a_distribution_is_affected_by_its_version_or_a_range(advisories):
    events = [{"introduced": "0"}, {"fixed": "1.5"}, {"introduced": "2.0"}, {"last_affected": "2.2"}]
    ranges = [{"type": "ECOSYSTEM", "events": events}]
    package = {"name": "A_Lib"}
    entry = {"id": "PYSEC-0", "affected": [{"package": package, "ranges": ranges, "versions": ["1.7"]}]}
    found = {
        v: len(advisories.python_advisory(entry, {("a-lib", v)})) for v in ("1.4", "1.5", "1.7", "2.1", "2.2", "2.3")
    }
    assert found == {"1.4": 1, "1.5": 0, "1.7": 1, "2.1": 1, "2.2": 1, "2.3": 0}


def test_the_locks_are_read(advisories):
    tree = FILE.parents[2]
    assert len(advisories.crates((tree / "Cargo.lock").read_text())) > 50
    pinned = advisories.distributions((tree / "requirements" / "dev.txt").read_text())
    assert "numpy" in {name for name, _ in pinned}
    assert len(pinned) > 30
