"""What the hooks of mkdocs make of pages: defaults of parameters, dashes, places where lines break."""

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
    found = parameters_of(package, "accounting.accountant.Accountant")
    assert found["mode"] == ("0o600 or 0o640 or 0o660", "0o600")
    assert found["path"][0] == "path-like"
    assert found["rule"][0].endswith('"renyi" or "planned" or Rule')
    found = parameters_of(package, "frames.cleaning.Cleaning")
    assert found["unicode"][0] == '"NFC" or "NFD" or "NFKC" or "NFKD" or None'
    # Of several choices the first is not the default unless the signature says so.
    found = parameters_of(package, "planning.planner.plan")
    assert found["task"][1] is None
    assert found["shape"] == ('"uniform" or "dirichlet" or "zipf" or "sparse"', "None")
    assert found["adjacency"] == ('"replace" or "add_remove"', "None")


def test_nothing_stands_behind_what_needs_no_words():
    hook = of("no_dangling_dashes").on_page_content
    dash = "\u2013"
    empty = f'<code>int</code> {dash} <div class="doc-md-description">\n</div></li>'
    told = f'<code>int</code> {dash} <div class="doc-md-description"><p>Rows.</p></div></li>'
    assert hook(empty) == "<code>int</code> </li>"
    assert hook(told) == told


def test_code_breaks_before_dots_and_after_brackets_and_never_within_an_option():
    hook = of("where_lines_break").on_page_content
    call = (
        '<code><span class="n">a</span><span class="o">.</span><span class="n">b</span><span class="p">(</span>1</code>'
    )
    assert hook(call) == call.replace('<span class="o">.', '<wbr><span class="o">.').replace(
        "(</span>", "(</span><wbr>"
    )
    empty = '<code><span class="p">()</span> x-y 1-a</code> --n'
    assert hook(empty) == empty
    assert hook("<td><code>aName.of_it</code></td>") == "<td><code>a<wbr>Name<wbr>.of_<wbr>it</code></td>"
    assert hook('<h2><span class="doc doc-object-name doc-module-name">a.of_a.bB</span></h2>') == (
        '<h2><span class="doc doc-object-name doc-module-name">a<wbr>.of_<wbr>a<wbr>.b<wbr>B</span></h2>'
    )
    assert hook("<p>delta = 1e-6, a-1e-6</p><svg><text>1e-6</text></svg>") == (
        '<p>delta = <span class="whole">1e-6</span>, a-1e-6</p><svg><text>1e-6</text></svg>'
    )
    assert hook('<code>plan --n-rows 5 <a href="--no">-c</a></code>') == (
        '<code>plan <span class="whole">--n-rows</span> 5 <a href="--no"><span class="whole">-c</span></a></code>'
    )


def test_a_sign_of_per_cent_stays_with_its_number_but_in_code():
    hook = of("where_lines_break").on_page_content
    assert hook("<p>at most 73.2 % of <em>5 %</em></p>") == "<p>at most 73.2\u00a0% of <em>5\u00a0%</em></p>"
    assert hook("<p><code>7 % 3</code></p>") == "<p><code>7 % 3</code></p>"
    prose = '<div class="prose"><div><pre><code>50 % of cases</code></pre></div>'
    assert hook(prose) == prose.replace(" %", "\u00a0%")


def test_comments_move_to_their_code_where_they_would_not_fit():
    hook = of("where_lines_break").on_page_content
    short, long = (f'<code>x = 1{" " * 60}<span class="c1"># {"word " * times}</span></code>' for times in (4, 9))
    assert hook(short) == short
    assert hook(long) == long.replace(" " * 60, "  ")


def test_powers_in_prose_are_not_taken_for_emphasis():
    swallowed = of("emphasis").swallowed
    assert list(swallowed("<p>from 2<strong>52 to 2</strong>-8, <em>now</em> and\n<em>then</em>.</p>")) == [
        "2[52 to 2]-"
    ]
    assert not list(swallowed("<p><strong>Why.</strong> <code>a<em>b</em>c</code></p>"))
