"""Run every bench_*.py beside this file, or those whose name contains one of the arguments.

``--json FILE`` writes the ratios as well, for docs/generate/performance.py; ``--fast`` takes two rounds of each side.
"""

import argparse
import importlib
import importlib.metadata
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

# One thread, for us and for every peer; set before anything reads it.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(variable, "1")


def names(wanted: list[str]) -> list[str]:
    """Return the topics, sorted; all of them when nothing is wanted in particular."""
    found = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    return [name for name in found if not wanted or any(part in name for part in wanted)]


PEERS = ("numpy", "scipy", "dp-accounting", "opendp", "scikit-learn", "pgmpy")


def versions() -> dict[str, str]:
    """Return what ran: ourselves, Python and the peers that are installed."""
    found = {"Python": platform.python_version()}
    for name in ("simplexdp", *PEERS):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.python", description=__doc__)
    parser.add_argument("topics", nargs="*", help="parts of names; all when left out")
    parser.add_argument("--json", type=Path, help="write the ratios to this file")
    parser.add_argument("--fast", action="store_true", help="two rounds of each side")
    given = parser.parse_args(arguments)
    topics = names(given.topics)
    if not topics:
        print(f"no benchmark matches {' '.join(given.topics)}; there are: {', '.join(names([]))}", file=sys.stderr)
        return 2
    # After the environment is set: this is the first import that may load a library.
    from benches.python import timing

    if given.fast:
        timing.most_rounds = 2
    missed = 0
    measured: list[dict[str, Any]] = []
    skipped = []
    for topic in topics:
        print(f"\n{topic}", flush=True)
        timing.MEASURED.clear()
        try:
            module = importlib.import_module(f"benches.python.bench_{topic}")
        except ModuleNotFoundError as error:
            if error.name is None or error.name.split(".")[0] in ("benches", "simplexdp"):
                raise
            print(f"  skipped: needs {error.name}", flush=True)
            skipped.append(topic)
            continue
        # A topic may return how many of its requirements were missed.
        missed += module.run() or 0
        summary = (module.__doc__ or "").strip().splitlines()[0]
        measured.append({"name": topic, "summary": summary, "rows": list(timing.MEASURED)})
    if given.json is not None:
        found = {"versions": versions(), "fast": given.fast, "topics": measured, "skipped": skipped}
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if missed:
        print(f"\n{missed} below what is required")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
