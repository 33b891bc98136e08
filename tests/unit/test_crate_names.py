"""What the check of the crate's public names calls gone."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "packaging" / "crate" / "public_names.py"
KNOWN = ["a::f: pub fn f()", "a::g: pub fn g(x: f64)", "a::h: pub fn h()"]


@pytest.fixture(scope="module")
def names():
    if not SCRIPT.exists():
        pytest.skip("needs the tree: wheels do not hold the script")
    specification = importlib.util.spec_from_file_location("public_names_of_the_crate", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_a_name_that_goes_or_changes_must_be_told(names):
    now = ["a::f: pub fn f()", "a::g: pub fn g(x: f32)", "a::new: pub fn new()"]
    assert names.untold(KNOWN, now, "# Changelog\n\n## Unreleased\n\n- text\n") == KNOWN[1:]
    told = "# Changelog\n\n## Unreleased\n\n- `a::g` takes singles, `a::h` went\n\n## 0.0\n"
    assert names.untold(KNOWN, now, told) == []


def test_what_an_older_version_told_does_not_count(names):
    assert names.untold(KNOWN, KNOWN[:2], "# Changelog\n\n## Unreleased\n\n## 0.0\n\n- `a::h` went\n") == KNOWN[2:]


def test_the_list_is_sorted_and_names_what_every_user_calls(names):
    lines = names.LIST.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines))
    assert "simplexdp_core::special::gamma_q: pub fn gamma_q(a: f64, x: f64) -> f64" in lines
