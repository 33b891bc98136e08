"""What comments, docstrings and pages cite is there: keys of theorems, keys of other work, paths of files."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

ROOT = Path(__file__).parents[3]
INDEX = ROOT / "docs" / "theory" / "index.md"

# "theory B1, B2", "Theorem P", "Theorems 1 and 2", and the keys of theory alone, which stand for nothing else.
SERIES = r"{0}(?:(?:, | and | to ){0})*"
THEORY = re.compile(rf"\b[Tt]heory ({SERIES.format('[A-Z][0-9]+')})")
LETTER = re.compile(rf"\bTheorems? ({SERIES.format('[A-Z]')})\b")
NUMBER = re.compile(rf"\b(Theorem|Lemma|Proposition|Corollary|Theorems|Lemmas) ({SERIES.format('[0-9]+')})")
BARE = re.compile(r"\b[BC](?:[1-9]|10)\b")
WORK = re.compile(r"\[([A-Z][A-Za-z]+[0-9]{2}|[A-Z]{2,3}|DLMF)(?!\]\()(?=[\]\\,]| [A-Z0-9])")
PATH = re.compile(r"(?<![\w/.])(?:docs|tests|rust|python|benches)/[\w./-]+\.(?:md|py|rs|csv|pyi)\b")


def sources(*suffixes):
    for folder in ("rust", "python", "docs"):
        yield from (path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in suffixes)


def cited(pattern, text, group=1):
    """Return the keys of a pattern's series, split."""
    return {key for match in pattern.finditer(text) for key in re.findall(r"[A-Z]?[0-9]+|[A-Z]", match[group])}


def cites_work(before):
    """Whether a numbered theorem belongs to other work: its key stands just before, as in "[DM] Theorem 2"."""
    return re.search(r"\[\w+(?:\\?\]|,)(?: \w+)*\s*$", before) is not None


def keys_in(text, code):
    """Return the theorem keys that a text uses; numbers name the theorems of our pages where no other work is named."""
    keys = cited(THEORY, text) | {f"Theorem {key}" for key in cited(LETTER, text)}
    if code:
        keys |= set(BARE.findall(text))
        for match in NUMBER.finditer(text):
            if not cites_work(text[: match.start()]):
                kind = match[1].rstrip("s")
                keys |= {f"{kind} {number}" for number in re.findall("[0-9]+", match[2])}
    return keys


def rows():
    """Return the pages that the index names, by key."""
    found = {}
    for line in INDEX.read_text(encoding="utf-8").split("## Keys")[1].splitlines():
        if line.startswith("| ") and not line.startswith(("| key", "| ---")):
            keys, _, pages = line.strip("| ").split(" | ")
            found |= dict.fromkeys(keys.split(", "), re.findall(r"\]\(([^)]+)\)", pages))
    return found


def anchors(page):
    """Return the anchors of a page's headings, as the site writes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


@pytest.mark.parametrize("text, keys", [
    ("by theory B1 and B7.", {"B1", "B7"}),
    ("Theorems P and A of that page", {"Theorem P", "Theorem A"}),
    ("what Theorem 3\n    needs", {"Theorem 3"}),
    ("[DM] Theorem 2, [BW18, Theorem 8], \\[DPS\\] Lemma 1", set()),
    ("Lemma 1's second case", {"Lemma 1"}),
    ("(B12)", set()),
])  # fmt: skip
def test_keys_are_found(text, keys):
    assert keys_in(text, code=True) == keys


def test_every_theorem_key_resolves():
    known = set(rows())
    assert {"B1", "C10", "Theorem P", "Theorem 4"} <= known
    unknown = {
        f"{path.relative_to(ROOT)}: {key}"
        for path in sources(".rs", ".py", ".pyi", ".md")
        for key in keys_in(path.read_text(encoding="utf-8"), code=path.suffix != ".md") - known
    }
    assert not unknown


@pytest.mark.parametrize("key", sorted(rows()))
def test_a_key_names_a_section_that_exists(key):
    assert rows()[key]
    for target in rows()[key]:
        page, _, anchor = target.partition("#")
        path = (INDEX.parent / page).resolve()
        assert path.is_file()
        if anchor:
            assert anchor in anchors(path)
        elif key.startswith("C"):
            assert any(each.startswith(f"{key[1:]}-") for each in anchors(path))


def test_every_citation_of_other_work_resolves():
    listed = re.findall(r"^\| \[(\w+)\]", (ROOT / "docs" / "references.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(listed) == len(set(listed))
    unknown = {
        f"{path.relative_to(ROOT)}: {key}"
        for path in sources(".rs", ".py", ".md")
        for key in WORK.findall(path.read_text(encoding="utf-8"))
        if key not in listed
    }
    assert not unknown


def test_every_path_that_is_named_exists():
    named = [*sources(".rs", ".py", ".md"), *(ROOT / "tests").rglob("*.py"), *ROOT.glob("*.md")]
    missing = {
        f"{path.relative_to(ROOT)}: {target}"
        for path in named
        for target in PATH.findall(path.read_text(encoding="utf-8"))
        if not (ROOT / target).exists()
    }
    assert not missing
