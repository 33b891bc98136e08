"""The page to try, in a browser: sliders and the button do what they say, and the figures are those of the library."""

import importlib.util
import json
import re
from pathlib import Path

import browsers
import numpy as np
import pytest

import simplexdp as sdp

pytestmark = pytest.mark.source_tree

DOCS = Path(__file__).parents[3] / "docs"

CLICKS = """<script>
addEventListener("load", () => {
  const form = document.getElementById("try"), seen = [];
  const text = (name) => form.querySelector(`[data-show=${name}]`).textContent;
  const note = () => seen.push(Object.fromEntries(
    ["epsilon", "n", "categories", "error", "interval", "guess", "chance", "inside"]
    .map((name) => [name, text(name)]).concat([["bars", form.querySelectorAll("rect.noisy").length],
    ["rows", form.querySelectorAll("tbody tr").length], ["hidden", form.hidden],
    ["spoken", form.querySelector("[name=epsilon]").getAttribute("aria-valuetext")],
    ["picture", form.querySelector("svg").innerHTML],
    ["label", form.querySelector("svg").getAttribute("aria-label")]])));
  const move = (name, value) => { const input = form.querySelector(`[name=${name}]`); input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true })); };
  note();
  // Seven counts get the same noise again with a chance of 10^-5, four times with one of 10^-20.
  for (let times = 0; times < 4 && form.querySelector("svg").innerHTML === seen[0].picture; times++)
    form.querySelector("button").click();
  note();
  move("epsilon", -1); note();
  move("categories", 2); note();
  move("n", 6); note();
  document.body.dataset.seen = JSON.stringify(seen);
});
</script>"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("try")
    program = browsers.browser(folder)
    if program is None:
        pytest.skip("no chromium on this machine; `.ci/run` installs one")
    markup = (DOCS / "try.md").read_text(encoding="utf-8")
    form = markup[markup.index("<noscript>") : markup.index("</form>") + 7]
    script = (DOCS / "assets" / "try.js").read_text(encoding="utf-8")
    page = f'<!doctype html><meta charset="utf-8"><body>{form}<script>{script}</script>{CLICKS}</body>'
    (folder / "page.html").write_text(page, encoding="utf-8")
    address = (folder / "page.html").as_uri()
    done = browsers.browse(program, "--virtual-time-budget=3000", "--dump-dom", address, folder=folder)
    found = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert found, "the page's program did not run"
    import html

    return json.loads(html.unescape(found[1]))


def number(text):
    return float(re.search(r"[\d.,]+", text)[0].replace(",", ""))


def test_the_form_appears_and_says_what_the_sliders_say(seen):
    first = seen[0]
    assert first["hidden"] is False
    assert (first["epsilon"], first["n"], first["categories"], first["spoken"]) == ("1", "1,000", "7", "1")
    assert first["bars"] == first["rows"] == 7
    assert "7 categories" in first["label"]


def test_the_button_draws_again_and_changes_nothing_else(seen):
    first, again = seen[:2]
    assert first["picture"] != again["picture"]
    assert (first["error"], first["interval"], first["guess"]) == (again["error"], again["interval"], again["guess"])


def test_the_figures_are_those_of_the_library(seen):
    for state, epsilon, categories in ((seen[2], 0.1, 7), (seen[3], 0.1, 100)):
        mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(epsilon, dimension=categories)
        radius = np.ptp(mechanism.interval(np.zeros(1, dtype=np.int64), 0.95)) / 2
        assert number(state["interval"]) == pytest.approx(radius, rel=0.03)
        # 2000 rows: a standard error below one per cent; the page shows two digits and interpolates.
        rng = sdp.testing.SeededRng(9)
        noise = [mechanism.release(np.zeros(categories, dtype=np.int64), rng=rng) for _ in range(2000)]
        assert number(state["error"]) == pytest.approx(np.abs(noise).mean(), rel=0.05)
        guess = (1 + mechanism.privacy.advantage()) / 2
        assert number(state["guess"]) == pytest.approx(100 * guess, abs=0.11)


def test_more_records_make_privacy_cheaper_than_chance(seen):
    assert "more than chance" in seen[3]["chance"]
    assert "less than chance" in seen[4]["chance"]


def test_the_program_is_one_file_that_loads_nothing_and_is_what_its_sources_make(tmp_path):
    program = (DOCS / "assets" / "try.js").read_text(encoding="utf-8")
    for word in ("fetch(", "XMLHttpRequest", "import ", "http://", "https://", "eval("):
        assert word not in program
    spec = importlib.util.spec_from_file_location("try_page", DOCS / "generate" / "try_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    source = (DOCS / "generate" / "try_page.js").read_text(encoding="utf-8")
    before, after = source.split("/*TABLES*/ null")
    assert program.startswith(before)
    assert program.endswith(after)
    tables = json.loads(program[len(before) : len(program) - len(after)])
    assert tables["epsilons"] == module.EPSILONS
    assert tables["categories"] == module.CATEGORIES
    assert all(row == sorted(row, reverse=True) for row in tables["error"])
    mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(module.EPSILONS[3], dimension=10)
    assert tables["scale"][3] == pytest.approx(float(mechanism.scale), rel=1e-5)
