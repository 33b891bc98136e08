"""The judge's long run: as many random compositions as asked for, and the table of docs/judge.md.

    python tests/judge/long_run.py --compositions 100000 --workers 2 --write docs/judge.md

Stopped early (SIGTERM, SIGINT or --seconds) it writes what it has asked so far: always the first ones without a gap.
Ends with an error when any answer is false; the faults are printed.
"""

import argparse
import math
import multiprocessing
import signal
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

from generator import FAMILIES, Outcome, ask
from judging import EXCESSES

BEGIN, END = "<!-- the long run writes from here -->", "<!-- to here -->"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compositions", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=10**7, help="number of the first composition")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", type=Path, help="page whose table is written again")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.compositions)
    outcomes, begun = [], time.time()
    stop: list[int] = []
    with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, frame: stop.append(number))
        for outcome in pool.imap(ask, seeds, chunksize=50):
            outcomes.append(outcome)
            if outcome.verdict.fault:
                print(outcome.text, flush=True)
            if len(outcomes) % 5000 == 0:
                print(f"{len(outcomes)} in {time.time() - begun:.0f} s", file=sys.stderr, flush=True)
            if stop or time.time() - begun > options.seconds:
                break
    text = f"{summary(outcomes, options.first)}\n\n{table(outcomes)}"
    print(text)
    if options.write:
        page = options.write.read_text()
        head, rest = page.split(BEGIN)
        options.write.write_text(f"{head}{BEGIN}\n\n{text}\n{END}{rest.split(END)[1]}")
    return any(outcome.verdict.fault for outcome in outcomes)


def summary(outcomes: list[Outcome], first: int) -> str:
    """Return what was asked, how much of it was false, and how loose the answers were."""
    verdicts = [outcome.verdict for outcome in outcomes]
    false = sum(verdict.fault is not None for verdict in verdicts)
    known = [verdict.excess for verdict in verdicts if verdict.excess is not None]
    loose = [sum(excess > limit for excess in known) / max(len(known), 1) for limit in (1e-7, 1e-4, 1e-2)]
    asked, last = len(outcomes), first + len(outcomes) - 1
    return (
        f"{asked} compositions were asked, numbers {first} to {last}; {false} answers were false.\n"
        f"Of the {len(known)} answers whose truth is known from both sides {loose[0]:.1%} are more than 1e-7 above,\n"
        f"{loose[1]:.1%} more than 1e-4, {loose[2]:.2%} more than one per cent."
    )


def table(outcomes: list[Outcome]) -> str:
    """Return a row for each family and question."""
    groups = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.family, outcome.question].append(outcome.verdict)
    shown = ["1e-9", "1e-7", "1e-5", "1e-4", "1e-3", "1e-2", "more"]
    lines = [
        f"| composition | question | asked | false | smallest margin | above it by at most {' | '.join(shown)} |",
        "| --- | --- | ---: | ---: | ---: |" + " ---: |" * len(shown),
    ]
    for family in FAMILIES:
        for question in ("epsilon", "delta"):
            verdicts = groups[family, question]
            margins = [verdict.margin for verdict in verdicts if verdict.margin is not None]
            false = sum(verdict.fault is not None for verdict in verdicts)
            classes = Counter(verdict.excess for verdict in verdicts)
            counts = [str(classes[excess]) for excess in (*EXCESSES, math.inf)]
            least = f"{min(margins):.1e}" if margins else ""
            lines.append(f"| {family} | {question} | {len(verdicts)} | {false} | {least} | {' | '.join(counts)} |")
    total = sum(outcome.verdict.fault is not None for outcome in outcomes)
    lines.append(f"| all | | {len(outcomes)} | {total} | |" + " |" * len(shown))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
