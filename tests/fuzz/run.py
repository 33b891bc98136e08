"""Fuzz every target for a while.

``python tests/fuzz/run.py --seconds 60 [--rounds 3] [--only WORD] [--write docs/fuzzing.md]``. Inputs come from seeds
that are accepted, changed in a few places, and join the seeds where they are accepted too. Findings are printed, kept
under ``target/fuzz`` and end the run with 1. ``make fuzz`` is the long run.
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
from targets import Target, outcome, seeds

KEPT = Path(__file__).resolve().parents[2] / "target" / "fuzz"
MOST_SEEDS = 300
SLOW = 20.0
"""Seconds after which an input that ends counts as a finding too."""


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of processor time, for each target")
    parser.add_argument("--rounds", type=int, default=1, help="how often; the page is written after each")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    runs = [Run(name, *found, options.seed) for name, found in seeds().items() if options.only in name]
    for _ in range(options.rounds):
        for each in runs:
            each.go_on(options.seconds)
            print(f"{each.name}: {each.tried} inputs, {each.accepted} accepted, {each.bad} findings", flush=True)
        if options.write:
            options.write.write_text(page(runs), encoding="utf-8")
    return 1 if any(each.bad for each in runs) else 0


class Run:
    """One target, and what became of its inputs so far."""

    def __init__(self, name: str, target: Target, known: list[bytes], seed: int) -> None:
        self.name, self.target, self.pool, self.seed = name, target, list(known), seed
        self.choices = random.Random(f"{name} {seed}")
        self.tried = self.accepted = self.bad = 0
        self.seconds = 0.0
        for data in known:
            outcome(target, data)

    def go_on(self, seconds: float) -> None:
        """Try inputs for so many seconds of processor time."""
        begun, bad = time.process_time(), self.bad
        while time.process_time() - begun < seconds and self.bad < bad + 20:
            self.one(mutated(self.choices, self.pool))
        self.seconds += time.process_time() - begun

    def one(self, data: bytes) -> None:
        """Try an input."""
        before = time.process_time()
        self.tried += 1
        try:
            good = outcome(self.target, data)
            if time.process_time() - before > SLOW:
                raise TimeoutError(f"took {time.process_time() - before:.0f} s")
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:
            # A panic of the core is no Exception.
            self.bad += 1
            KEPT.mkdir(parents=True, exist_ok=True)
            path = KEPT / f"{self.name.replace(' ', '-')}-{self.seed}-{self.bad}"
            path.write_bytes(data)
            print(f"FOUND in {self.name}: {path}", traceback.format_exc(limit=-3), sep="\n", flush=True)
            return
        if good:
            self.accepted += 1
            if len(self.pool) < MOST_SEEDS:
                self.pool.append(data)


def page(runs: list[Run]) -> str:
    """Return the documentation page."""
    total, hours = sum(each.tried for each in runs), sum(each.seconds for each in runs) / 3600
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
        "bound of bins that is an integer beyond 2^64 ended a command as a fault of ours; a saved Gaussian classifier",
        "with a count of 4.4e15 and no total asked for 181 terabytes, which ended the process.",
        "",
        f"Last run: {total:,} inputs in {hours:.3f} hours of processor time.",
        "",
        "| reader | inputs | accepted | findings | seconds |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {each.name} | {each.tried:,} | {each.accepted:,} | {each.bad} | {each.seconds:.0f} |" for each in runs
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
