"""Every class that a page uses has a rule."""

import re
from importlib import resources

import pytest

PACKAGE = resources.files("simplexdp.report")
STYLE = PACKAGE.joinpath("page.css").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["page.py", "quality.py", "levels.py", "card.py", "drawing.py"])
def test_every_class_of_a_page_has_a_rule(name):
    used = re.findall(r'class="([a-z -]+)"', PACKAGE.joinpath(name).read_text(encoding="utf-8"))
    for each in {word for words in used for word in words.split()}:
        assert re.search(rf"\.{each}\b", STYLE), each
