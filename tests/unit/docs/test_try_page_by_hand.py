"""The page to try, as people use it: by finger at the width of a phone, by keyboard alone, from a folder of files.

Its numbers are recomputed from closed forms and sums over laws, without the library.
"""

import re
from pathlib import Path

import browsers
import numpy as np
import pytest
from chromium_pipe import Page

pytestmark = pytest.mark.source_tree

DOCS = Path(__file__).parents[3] / "docs"
SLIDERS = ("epsilon", "n", "categories")
TAB, ENTER, LEFT, RIGHT, HOME, END = 9, 13, 37, 39, 36, 35

SHOWN = (
    "Object.fromEntries([...document.querySelectorAll('#try [data-show]')].map((each) => "
    "[each.dataset.show, each.textContent]))"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    found = browsers.browser(tmp_path_factory.mktemp("found"))
    if found is None:
        pytest.skip("no chromium on this machine; `.ci/run` installs one")
    return found


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page with its own style and program in a folder, as a site that was copied to a disk."""
    folder = tmp_path_factory.mktemp("by-hand")
    (folder / "assets").mkdir()
    for name in ("try.js", "site.css"):
        (folder / "assets" / name).write_bytes((DOCS / "assets" / name).read_bytes())
    markup = (DOCS / "try.md").read_text(encoding="utf-8")
    form = markup[markup.index("<noscript>") : markup.index("</script>") + 9]
    (folder / "try.html").write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Try it</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="assets/site.css"></head>'
        f"<body>{form}</body></html>",
        encoding="utf-8",
    )
    return (folder / "try.html").as_uri()


@pytest.fixture(scope="module")
def phone(program, address, tmp_path_factory):
    with Page(program, tmp_path_factory.mktemp("phone"), width=390, touch=True) as page:
        page.open(address)
        yield page


@pytest.fixture(scope="module")
def desk(program, address, tmp_path_factory):
    with Page(program, tmp_path_factory.mktemp("desk"), width=1280) as page:
        page.open(address)
        yield page


def box(page, selector):
    """Return where something stands, after it was scrolled into view."""
    return page.evaluate(
        f"(() => {{ const it = document.querySelector({selector!r}); it.scrollIntoView({{block: 'center'}}); "
        "const {x, y, width, height} = it.getBoundingClientRect(); return {x, y, width, height}; })()"
    )


def middle(place):
    return place["x"] + place["width"] / 2, place["y"] + place["height"] / 2


def number(text):
    return float(re.search(r"[\d.,]+", text)[0].replace(",", ""))


def test_a_page_from_a_folder_runs_without_a_server(phone, address):
    assert address.startswith("file://")
    assert phone.evaluate("document.getElementById('try').hidden") is False
    assert phone.evaluate("performance.getEntriesByType('resource').every((each) => each.name.startsWith('file:'))")


def test_nothing_stands_beyond_a_phone_and_fingers_find_what_they_move(phone):
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    for name in SLIDERS:
        place = box(phone, f"[name={name}]")
        # 24 pixels is what WCAG 2.2 asks of a target.
        assert place["height"] >= 24
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= 390
    assert box(phone, "#try button")["height"] >= 24


@pytest.mark.parametrize("name", SLIDERS)
def test_a_finger_moves_a_slider(phone, name):
    before = phone.evaluate(SHOWN)
    share = phone.evaluate(
        f"(() => {{ const it = document.querySelector('[name={name}]'); "
        "return (it.value - it.min) / (it.max - it.min); })()"
    )
    place = box(phone, f"[name={name}]")
    x, y = place["x"] + 8 + share * (place["width"] - 16), place["y"] + place["height"] / 2
    phone.swipe((x, y), (x - 60, y))
    after = phone.evaluate(SHOWN)
    assert number(after[name]) < number(before[name])
    assert after["error"] != before["error"] or name == "n"
    assert {other: after[other] for other in SLIDERS if other != name} == {
        other: before[other] for other in SLIDERS if other != name
    }


def test_a_tap_draws_again_and_opens_the_table(phone):
    seen = {phone.evaluate("document.querySelector('#try svg').innerHTML")}
    for _ in range(6):
        phone.swipe(middle(box(phone, "#try button")), middle(box(phone, "#try button")))
        seen.add(phone.evaluate("document.querySelector('#try svg').innerHTML"))
    # Several counts get the same noise six times with a chance below 10^-9.
    assert len(seen) > 1
    assert phone.evaluate("document.querySelector('#try details').open") is False
    phone.swipe(middle(box(phone, "#try summary")), middle(box(phone, "#try summary")))
    assert phone.evaluate("document.querySelector('#try details').open") is True
    rows = phone.evaluate("document.querySelectorAll('#try tbody tr').length")
    assert rows == phone.evaluate("document.querySelectorAll('#try rect.noisy').length") > 0
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


FOCUS = "document.activeElement.name || document.activeElement.localName"


def test_the_keyboard_alone_reaches_and_moves_everything(desk):
    reached = []
    for _ in range(12):
        desk.key("Tab", code=TAB)
        at = desk.evaluate(FOCUS)
        if at in reached or at == "body":
            break
        reached.append(at)
        # Who moves by keys must see where they are.
        assert desk.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", at
        if at in SLIDERS:
            before = desk.evaluate(SHOWN)
            desk.key("ArrowLeft", code=LEFT)
            less = desk.evaluate(SHOWN)
            assert number(less[at]) < number(before[at])
            desk.key("ArrowRight", code=RIGHT)
            assert desk.evaluate(SHOWN)[at] == before[at]
            desk.key("End", code=END)
            most = desk.evaluate(SHOWN)
            desk.key("Home", code=HOME)
            assert number(desk.evaluate(SHOWN)[at]) < number(less[at]) < number(most[at])
            for _ in range(10):
                desk.key("ArrowRight", code=RIGHT)
        elif at == "button":
            seen = {desk.evaluate("document.querySelector('#try svg').innerHTML")}
            for _ in range(6):
                desk.key("Enter", code=ENTER, text="\r")
                seen.add(desk.evaluate("document.querySelector('#try svg').innerHTML"))
            assert len(seen) > 1
        else:
            assert at == "summary"
            desk.key("Enter", code=ENTER, text="\r")
            assert desk.evaluate("document.querySelector('#try details').open") is True
    assert reached == [*SLIDERS, "button", "summary"]


def test_what_a_screen_reader_says_has_names_and_values(desk):
    nodes = desk.call("Accessibility.getFullAXTree")["nodes"]
    said = {}
    for node in nodes:
        role, name = node.get("role", {}).get("value"), node.get("name", {}).get("value", "")
        if role in ("slider", "button", "image", "img"):
            said[role, name.split(" ")[0]] = name
    for name, word in zip(SLIDERS, ("epsilon", "records", "categories"), strict=True):
        shown = desk.evaluate(SHOWN)[name]
        assert said["slider", word] == word
        # The slider itself is a logarithm, which nobody should hear.
        assert desk.evaluate(f"document.querySelector('[name={name}]').getAttribute('aria-valuetext')") == shown
    assert ("button", "Draw") in said
    assert any(role in ("image", "img") and word == "Released" for role, word in said)
    assert desk.evaluate("document.querySelector('#try dl').getAttribute('aria-live')") == "polite"
    heads = desk.evaluate("[...document.querySelectorAll('#try th')].every((each) => each.scope)")
    assert heads is True


# The numbers, from outside ---------------------------------------------------------------------------------------


def conditioned(q, categories):
    """Return the law of one of several two-sided geometric numbers, given that all sum to zero: a sum over the law.

    Each has P(z) proportional to q^abs(z). The others' sum has the convolution of as many laws.
    """
    reach = int(40 / -np.log(q)) + 8
    size = 1 << int(np.ceil(np.log2(8 * reach + 2)))
    z = np.arange(-reach, reach + 1)
    law = (1 - q) / (1 + q) * q ** np.abs(z).astype(float)
    transform = np.fft.rfft(np.concatenate([law, np.zeros(size - len(law))]))
    others = np.fft.irfft(transform ** (categories - 1), size) if categories > 1 else np.eye(1, size)[0]
    # The sum of the others is -z: its place is shifted by reach for each of them, around a circle of `size`.
    at = (-z + (categories - 1) * reach) % size
    found = law * np.maximum(others[at], 0)
    return z, found / found.sum()


@pytest.mark.parametrize(
    ("epsilon", "n", "categories"),
    [(1.0, 1000, 7), (0.1, 1000, 7), (0.05, 10**5, 2), (0.3, 10**4, 3), (2.0, 500, 25), (5.0, 10**6, 5), (0.7, 50, 60)],
)
def test_the_numbers_are_those_of_the_laws(desk, epsilon, n, categories):
    values = {"epsilon": np.log10(epsilon), "n": np.log10(n), "categories": np.log10(categories)}
    for name, value in values.items():
        desk.evaluate(
            f"(() => {{ const it = document.querySelector('[name={name}]'); it.step = 'any'; it.value = {value}; "
            "it.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )
    shown = desk.evaluate(SHOWN)
    assert [number(shown[name]) for name in SLIDERS] == [epsilon, n, categories]
    # A replaced record moves two counts by one: each weight falls by e^(-epsilon / 2) for a step.
    q = np.exp(-epsilon / 2)
    z, law = conditioned(q, categories)
    error = float(law @ np.abs(z))
    # The tables have a standard error of one per cent, are read off between their points, and two digits are shown.
    assert number(shown["error"]) == pytest.approx(error, rel=0.05, abs=0.01)
    assert number(shown["error"].split(",")[-1]) == pytest.approx(100 * error * categories / n, rel=0.06, abs=0.01)
    # The interval is that of noise which is not conditioned: P(abs(Z) > r) = 2 q^(r + 1) / (1 + q). It holds no less.
    radius = number(shown["interval"])
    assert law[np.abs(z) <= radius].sum() >= 0.95
    least = np.log(0.05 * (1 + q) / 2) / np.log(q) - 1
    assert least - 1e-9 <= radius <= 1.03 * np.ceil(least) + 1
    # Pure differential privacy: e^epsilon against one; a rate is rounded up to a tenth of a per cent.
    guess = 100 * np.exp(epsilon) / (1 + np.exp(epsilon))
    assert guess - 0.02 <= number(shown["guess"]) <= guess + 0.15
    # Between two points of the table odds lie on a chord, and two digits are shown.
    assert number(shown["odds"]) == pytest.approx(np.exp(epsilon), rel=0.06)
    chance = np.sqrt(2 * n / categories * (1 - 1 / categories) / np.pi)
    assert number(re.findall(r"by ([\d.,]+\d)", shown["chance"])[0]) == pytest.approx(chance, rel=0.05)
    assert ("less than chance" in shown["chance"]) == (error <= chance)
