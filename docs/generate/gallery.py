"""Write ``docs/gallery/``: every reproduced figure with what its paper found and what we find.

``python docs/generate/gallery.py [--fast] [--data DIR] [FIGURE ...]`` runs the figures. With ``--made DIR`` it takes
what ``simplexdp reproduce`` has written there already.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from narrow import narrow

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery"
PAPERS = {
    "dm": ("[DM]", "Dirichlet mechanism for KL divergence"),
    "dps": ("[DPS]", "Dirichlet posterior sampling"),
    "hp": ("[HP]", "Hellinger mechanism, privacy analysis"),
    "ha": ("[HA]", "Hellinger mechanism, experiments"),
    "hn": ("[HN]", "Notes on the Hellinger mechanism"),
}
# Larger drawings are shown as pixels: a scatter plot of 10^5 points is no vector graphic to read.
MOST_BYTES = 150_000
MOST_NUMBERS = 500_000


def paper_of(name: str) -> str:
    """Return the key of the paper that a figure is from."""
    key = name.split("-")[0]
    if key not in PAPERS:
        raise SystemExit(f"{name}: figures are named after one of {', '.join(PAPERS)}")
    return key


def image_of(made: Path, files: Sequence[str]) -> str:
    """Return the drawing to show: vectors, unless they are too many."""
    png, svg = files[0], files[1]
    return svg if (made / svg).stat().st_size <= MOST_BYTES else png


def section(each: dict[str, Any], made: Path, out: Path) -> list[str]:
    """Return the lines of one figure, and copy its files."""
    image = image_of(made, each["files"])
    shutil.copyfile(made / image, out / image)
    phone = narrow(each["name"], made)
    if phone is not None:
        shutil.copyfile(made / phone, out / phone)
    tables = []
    for name in each["files"][2:]:
        if (made / name).stat().st_size <= MOST_NUMBERS:
            shutil.copyfile(made / name, out / name)
            tables.append(f"[{name}]({name})")
        else:
            tables.append(f"{name} (too large for this page)")
    where = each["source"].split("] ")[-1]
    heading = f"{where[:1].upper()}{where[1:]}: {each['title']}"
    again = f"`simplexdp reproduce {each['name']}`, {each['seconds']:.3g} s when this page was made"
    return [
        "",
        f"## {heading} {{ #{each['name']} }}",
        "",
        pictures(each["title"], image, phone),
        "",
        f"**The paper.** {each['paper']}",
        "",
        f"**Here.** {each['finding']}",
        "",
        f"Numbers: {', '.join(tables)}. Again: {again}.",
    ]


def pictures(title: str, image: str, phone: str | None) -> str:
    """Return the picture, and the one that a phone shows in its place."""
    if phone is None:
        return f"![{title}]({image})"
    return f"![{title}]({image}){{ .desk loading=lazy }}\n![{title}]({phone}){{ .phone loading=lazy }}"


def thumbnail(each: dict[str, Any], image: str, page: str) -> str:
    """Return a picture that leads to its section, with what was found in one sentence."""
    source = each["source"].replace("[", "\\[").replace("]", "\\]")
    link = f"[![{each['title']}]({image}){{ loading=lazy }}]({page}.md#{each['name']})"
    return f"{link}\n[{source}]({page}.md#{each['name']}). {each['title']}: {first_sentence(each['finding'])}"


def first_sentence(text: str) -> str:
    """Return the first sentence, cut where it is long: at a semicolon, without brackets, at a colon."""
    sentence = re.split(r"(?<=[a-z0-9)])(?<!\beq)\.(?= [A-Z\[]|$)", text, maxsplit=1)[0]
    for shorter in (
        lambda long: long.partition("; ")[0],
        lambda long: re.sub(r" \((?:[^()]|\([^()]*\))*\)", "", long),
        lambda long: re.split(r"[:,] ", long, maxsplit=1)[0],
    ):
        if len(sentence) > 160:
            sentence = shorter(sentence)
    return f"{sentence.rstrip('.')}."


def write(made: Path, out: Path, how: str) -> None:
    """Write the pages of all papers and their index from a finished run."""
    outcomes = json.loads((made / "index.json").read_text(encoding="utf-8"))
    if out.exists():
        shutil.rmtree(out)
    out.mkdir(parents=True)
    index = [
        "# The papers' figures, run again",
        "",
        "The figures and tables of the five papers, computed by the library and drawn from the numbers beside them.",
        how,
        "`simplexdp reproduce` does the same on your machine; figures are drawn with seeds, so you get the same ones.",
        "Keys are those of the [references](../references.md).",
        "",
        '<div class="gallery" markdown>',
    ]
    for key, (label, title) in PAPERS.items():
        mine = [each for each in outcomes if paper_of(each["name"]) == key]
        page = [f"# {label} {title}", "", f"{how} What each key means: [references](../references.md)."]
        for each in mine:
            page += section(each, made, out)
            index += ["", thumbnail(each, image_of(made, each["files"]), key)]
        if not mine:
            page += ["", "None of its figures was run."]
        (out / f"{key}.md").write_text("\n".join(page) + "\n", encoding="utf-8")
    index += ["", "</div>"]
    (out / "index.md").write_text("\n".join(index) + "\n", encoding="utf-8")
    print(f"{len(outcomes)} figures in {out}")


def main(arguments: list[str]) -> int:
    """Run the figures, or take a finished run, and write the gallery."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="*", help="names; all when left out")
    parser.add_argument("--fast", action="store_true", help="fewer seeds, sizes and grid points")
    parser.add_argument("--data", type=Path, help="directory with the UCI data sets")
    parser.add_argument("--made", type=Path, help="what `simplexdp reproduce` wrote: run nothing")
    parser.add_argument("--out", type=Path, default=GALLERY)
    given = parser.parse_args(arguments)
    size = "in the fast mode" if given.fast else "in full"
    data = "the bundled data set" if given.data is None else "the UCI data sets"
    how = f"This run was made {size}, on {data}."
    if given.made is not None:
        write(given.made, given.out, how)
        return 0

    from simplexdp.reproduce.figure import Settings
    from simplexdp.reproduce.run import reproduce

    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        reproduce(
            given.figures or None,
            made,
            Settings(fast=given.fast, data=given.data),
            started=lambda name: print(name, flush=True),
        )
        write(made, given.out, how)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
