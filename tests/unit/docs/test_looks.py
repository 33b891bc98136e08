"""The check of how pages look finds what it is for: blocks beyond the page, code out of view, pale text."""

import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

SCRIPT = Path(__file__).parents[3] / "docs" / "generate" / "looks.py"
HEAD = '<!doctype html><meta charset="utf-8"><body style="margin:0"><div class="md-content">'
PAGES = {
    "good.html": '<p>Plain.</p><pre style="overflow-x:auto"><code>' + "x" * 400 + "</code></pre>",
    "wide.html": '<table style="width:2000px"><tr><td>wide</td></tr></table>',
    "cut.html": '<pre style="margin:0"><code style="display:block;overflow-x:hidden">' + "x" * 400 + "</code></pre>",
    "pale.html": '<p style="color:#aaa">pale words</p>',
}


def test_what_is_wrong_is_found_and_nothing_else(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("looks", SCRIPT)
    looks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(looks)
    if looks.browser() is None:
        pytest.skip("no chromium on this machine; `.ci/run` installs one")
    for name, content in PAGES.items():
        (tmp_path / name).write_text(f"{HEAD}{content}</div></body>", encoding="utf-8")
    assert looks.main([str(tmp_path)]) == 1
    said = capsys.readouterr().out
    for page, words in (
        ("wide.html", "beyond the page"),
        ("cut.html", "code out of view"),
        ("pale.html", "contrast 2.32"),
    ):
        for width in (390, 1280):
            assert any(line.startswith(f"{page} at {width} px") and words in line for line in said.splitlines()), said
    assert "good.html" not in said
    assert looks.main([str(tmp_path), "good.html"]) == 0
