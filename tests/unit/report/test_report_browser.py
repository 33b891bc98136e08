"""The page in a real browser: it renders, keeps to the width of a phone, and has a light and a dark look."""

import re
import tempfile
from pathlib import Path

import browsers
import numpy as np
import pytest
from report_pages import HOSTILE, page_of

from simplexdp.hierarchy import Hierarchy, release
from simplexdp.report import hierarchy_report

with tempfile.TemporaryDirectory() as scratch:
    CHROMIUM = browsers.browser(Path(scratch))

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine; `.ci/run` installs one")

PLACES = Hierarchy.from_mapping(["region", "x" * 80], {"north": ["n1", "n2"], "south <b>": ["y" * 200]})
LEVELS = release({"x" * 80: ["n1", "n2"] * 40}, PLACES, epsilon=1.0, level_shares=[1, 2])

PROBE = """<script>
addEventListener("load", () => {
  document.querySelectorAll("details").forEach(details => details.open = true);
  const root = document.documentElement;
  const wide = [...document.querySelectorAll("body *")].filter(element => {
    const box = element.getBoundingClientRect();
    return !element.closest(".unseen, .sideways > *") && box.width > 0 &&
      (box.right > innerWidth + 0.5 || box.left < -0.5);
  });
  root.dataset.probe = [innerWidth, root.scrollWidth, wide.length, document.querySelectorAll("svg.bar").length,
                        document.querySelector("path.line").getTotalLength() > 50,
                        performance.getEntriesByType("resource").length].join(" ");
  root.dataset.wide = wide.slice(0, 5).map(element => element.outerHTML.slice(0, 80)).join(" | ");
  parent.postMessage({...root.dataset}, "*");
});
</script>"""


def browse(*arguments, folder):
    return browsers.browse(CHROMIUM, *arguments, folder=folder)


def framed(page: str, width: int, folder: Path) -> str:
    """Put a page into a frame as wide as a phone: browsers' own windows do not get that narrow."""
    (folder / "inner.html").write_text(page, encoding="utf-8")
    outer = f'<body style="margin:0"><iframe id="f" src="inner.html" style="border:0;width:{width}px;height:800px">'
    outer += "</iframe>"
    (folder / "outer.html").write_text(outer)
    return (folder / "outer.html").as_uri()


def pages():
    values = np.random.default_rng(3).dirichlet(np.full(1000, 0.3))
    return {
        "plain": page_of(["Engineering", "Care and social work", "Other"]),
        "hostile": page_of(
            HOSTILE, title=HOSTILE[0] + "y" * 500, notes=HOSTILE[:6], parameters={HOSTILE[5]: HOSTILE[5]}
        ),
        "levels": hierarchy_report(counts=LEVELS, guarantee={"epsilon": 1.0}, title=HOSTILE[0] + "y" * 500),
        "thousand": page_of([f"category {i}" for i in range(1000)], values=values),
    }


@pytest.mark.parametrize("width", [360, 1100])
@pytest.mark.parametrize("name", list(pages()))
def test_it_renders_within_its_width_without_errors_or_requests(name, width, tmp_path):
    page = pages()[name]
    # The probe is put into a copy, whose policy lets it run.
    probed = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page).replace("</body>", PROBE + "</body>")
    address = framed(probed, width, tmp_path)
    outer = tmp_path / "outer.html"
    listen = '<script>addEventListener("message", event => Object.assign(document.body.dataset, event.data))</script>'
    outer.write_text(listen + outer.read_text())
    done = browse("--virtual-time-budget=3000", "--window-size=1200,900", "--dump-dom", address, folder=tmp_path)
    found = re.search(r'data-probe="([^"]*)"', done.stdout)
    assert found, done.stderr[-2000:]
    inner, scroll, overflowing, bars, drawn, requests = found.group(1).split()
    assert int(inner) == width
    assert int(scroll) <= width
    assert (int(overflowing), drawn, int(requests)) == (0, "true", 0), re.search(r'data-wide="([^"]*)"', done.stdout)
    assert int(bars) == page.count('<svg class="bar"')
    assert "CONSOLE" not in done.stderr


def test_the_page_itself_says_nothing_in_the_console(tmp_path):
    (tmp_path / "page.html").write_text(pages()["hostile"], encoding="utf-8")
    address = (tmp_path / "page.html").as_uri()
    done = browse("--virtual-time-budget=2000", "--dump-dom", address, folder=tmp_path)
    assert "CONSOLE" not in done.stderr
    assert "<h1>" in done.stdout


def test_light_and_dark_are_two_looks_of_the_same_page(tmp_path):
    image = pytest.importorskip("matplotlib.image")
    (tmp_path / "page.html").write_text(pages()["plain"], encoding="utf-8")
    shots = {}
    for name, scheme in (("light", "1"), ("dark", "0")):
        picture = tmp_path / f"{name}.png"
        setting = f"--blink-settings=preferredColorScheme={scheme}"
        address = (tmp_path / "page.html").as_uri()
        browse("--window-size=1000,1400", setting, f"--screenshot={picture}", address, folder=tmp_path)
        shots[name] = image.imread(picture)[..., :3]
    light, dark = shots["light"], shots["dark"]
    assert light.shape == dark.shape == (1400, 1000, 3)
    assert np.median(light) > 0.9
    assert np.median(dark) < 0.2
    for shot in (light, dark):
        # Not blank: text, bars and the curve take their share of the pixels.
        background = np.median(shot.reshape(-1, 3), axis=0)
        assert 0.02 < (np.abs(shot - background).max(axis=-1) > 0.1).mean() < 0.5
        assert len(np.unique((shot[::4, ::4] * 255).astype(int).reshape(-1, 3), axis=0)) > 50
