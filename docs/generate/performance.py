"""Write ``docs/performance.md`` from what ``python -m benches.python --json FILE`` has measured.

``python docs/generate/performance.py FILE``. Shown are ratios: both sides were timed in turn in one process, one thread
each, so a ratio says something on another machine too. Seconds do not, and are left out.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

# A budget of time is no peer: how far it is met depends on the machine.
BUDGETS = {"budget", "limit"}
PAGE = Path(__file__).resolve().parents[1] / "performance.md"


def figure(ratio: float) -> str:
    """Return a ratio with two significant digits, or whole above ten."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"


def comparable(topic: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows that compare with something that was run."""
    return [row for row in topic["rows"] if row["peer"] not in BUDGETS]


def rows_of(topic: dict[str, Any]) -> list[str]:
    """Return the lines of one topic."""
    lines = [
        "",
        f"## {topic['name'].replace('_', ' ').capitalize()}",
        "",
        topic["summary"],
        "",
        f"`python -m benches.python {topic['name']}`",
        "",
        "| what | against | times faster | required |",
        "| --- | --- | --- | --- |",
    ]
    for row in comparable(topic):
        label = row["label"].replace("|", "\\|")
        required = "" if row["required"] is None else f"{row['required']:g}"
        lines.append(f"| {label} | {row['peer']} | {figure(row['ratio'])} | {required} |")
    return lines


def main(arguments: list[str]) -> int:
    """Write the page."""
    if len(arguments) not in (1, 2):
        print("usage: performance.py FILE [PAGE]", file=sys.stderr)
        return 2
    measured = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    page = Path(arguments[1]) if len(arguments) == 2 else PAGE
    versions = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    rounds = "at most two rounds each (the fast mode)" if measured["fast"] else "several rounds each"
    lines = [
        "# Performance",
        "",
        "How many times faster than a peer, or slower where the number is below one. Ours and the peer's call were run",
        f"in turn, in one process, {rounds}, and the best of each counts. A ratio carries over to another",
        "machine roughly; seconds do not, so there are none here. `make bench` measures again. An empty last column",
        "means that nothing is required, only told.",
        "",
        f"Versions: {versions}.",
    ]
    for topic in measured["topics"]:
        if comparable(topic):
            lines += rows_of(topic)
    if measured["skipped"]:
        lines += ["", "Not measured, since a peer was not installed: " + ", ".join(measured["skipped"]) + "."]
    lines += [
        "",
        "A debit waits for the disk, which decides how it compares: runs on one machine gave 0.6 to 5.1. What",
        "two threads gain is seen on idle cores alone.",
        "",
        "Times that stand by themselves are in the guides: [Dirichlet releases](exactness.md#11-what-it-costs),",
        "[Hellinger releases](hellinger.md#8-what-it-buys), [their sampler](hellinger-sampler.md#measured) and",
        "[debits](composition.md#the-accountants-ledger).",
    ]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{sum(len(comparable(topic)) for topic in measured['topics'])} ratios in {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
