"""Parameters that share a line of a docstring keep their own defaults on the API pages."""

import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

ROOT = Path(__file__).parents[3]


def of(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "generate" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def parameters_of(package, place):
    section = next(each for each in package[place].docstring.parsed if each.kind.value == "parameters")
    return {each.name: (str(each.annotation), each.value and str(each.value)) for each in section.value}


def test_grouped_parameters_have_the_defaults_and_types_of_the_signature():
    griffe = pytest.importorskip("griffe")
    extension = of("grouped_parameters").GroupedParameters()
    loader = griffe.GriffeLoader(
        search_paths=[ROOT / "python"], docstring_parser="numpy", extensions=griffe.Extensions(extension)
    )
    package = loader.load("simplexdp", submodules=True)
    found = parameters_of(package, "comparison.grid.winners")
    assert found["metric"] == ("str", "'kl'")
    assert found["seed"] == ("int", "0")
    assert found["epsilon"][1] == "1.0"
    found = parameters_of(package, "utility.sample_size_kl")
    assert found["form"][1] == "'sharp'"
    # A type that the line states is that of all of them.
    assert found["scale"][1] == "1.0"


def test_nothing_stands_behind_what_needs_no_words():
    hook = of("no_dangling_dashes").on_page_content
    dash = "\u2013"
    empty = f'<code>int</code> {dash} <div class="doc-md-description">\n</div></li>'
    told = f'<code>int</code> {dash} <div class="doc-md-description"><p>Rows.</p></div></li>'
    assert hook(empty) == "<code>int</code> </li>"
    assert hook(told) == told
