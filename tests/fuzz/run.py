"""Fuzz every target for a while.

``python tests/fuzz/run.py --seconds 60 [--only WORD] [--write docs/fuzzing.md]``. Inputs come from seeds that are
accepted, changed in a few places, and join the seeds where they are accepted too. Findings are printed, kept under
``target/fuzz`` and end the run with 1. ``make fuzz`` is the long run.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutate import mutated
from targets import outcome, seeds

KEPT = Path(__file__).resolve().parents[2] / "target" / "fuzz"
MOST_SEEDS = 300
SLOW = 20.0
"""Seconds after which an input that ends counts as a finding too."""


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of processor time, for each target")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    rows, findings = [], 0
    for name, (target, known) in seeds().items():
        if options.only not in name:
            continue
        choices, pool = random.Random(f"{name} {options.seed}"), list(known)
        for data in known:
            outcome(target, data)
        tried = accepted = bad = 0
        begun = time.process_time()
        while time.process_time() - begun < options.seconds and bad < 20:
            data, before = mutated(choices, pool), time.process_time()
            tried += 1
            try:
                good = outcome(target, data)
                if time.process_time() - before > SLOW:
                    raise TimeoutError(f"took {time.process_time() - before:.0f} s")
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException:
                # A panic of the core is no Exception.
                bad += 1
                KEPT.mkdir(parents=True, exist_ok=True)
                path = KEPT / f"{name.replace(' ', '-')}-{options.seed}-{bad}"
                path.write_bytes(data)
                print(f"FOUND in {name}: {path}", traceback.format_exc(limit=-3), sep="\n", flush=True)
                continue
            if good:
                accepted += 1
                if len(pool) < MOST_SEEDS:
                    pool.append(data)
        findings += bad
        rows.append((name, tried, accepted, bad, time.process_time() - begun))
        print(f"{name}: {tried} inputs, {accepted} accepted, {bad} findings, {rows[-1][-1]:.0f} s", flush=True)
    if options.write:
        options.write.write_text(page(rows), encoding="utf-8")
    return 1 if findings else 0


def page(rows: list[tuple[str, int, int, int, float]]) -> str:
    """Return the documentation page."""
    total, hours = sum(row[1] for row in rows), sum(row[4] for row in rows) / 3600
    lines = [
        "# Fuzzing",
        "",
        "Whatever stands in a file or an argument, a reader must take it or refuse it with an error that names it.",
        "`tests/fuzz` changes inputs that are accepted in a few places, and looks for panics, for errors of another",
        "kind, for inputs that take too long, and for texts that are not read back as they are written. A short run is",
        "part of the tests; `make fuzz` is the long one.",
        "",
        "Commands turn every error into a message and an exit code, a fault of ours too, so their targets look for the",
        "message that nobody foresaw; before they did, the target for CSV could not fail.",
        "",
        "Found and mended so far: a saved network whose domain held a number beyond the doubles was read and could not",
        "be written again; a damaged array among stored releases was a `SyntaxError` of Python; a state of a budget",
        "nested a thousand deep was a `RecursionError`, and so were such files of public domains and such records",
        "beside a page; a number in a rule or a state that no double holds was an `OverflowError`; a count of units of",
        "five thousand digits was a `ValueError`; a damaged Parquet file, a list of values or a model that is no text",
        "ended a command as a fault of ours; an epsilon so small that its scale is infinite was an `OverflowError`; an",
        "epsilon of 1e179 at a delta of 3.5e-310 made a function of the core call itself until the process ended; a",
        "bound of bins that is an integer beyond 2^64 ended a command as a fault of ours.",
        "",
        f"Last run: {total:,} inputs in {hours:.3f} hours of processor time.",
        "",
        "| reader | inputs | accepted | findings | seconds |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [f"| {name} | {tried:,} | {good:,} | {bad} | {seconds:.0f} |" for name, tried, good, bad, seconds in rows]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
