"""Run every bench_*.py beside this file, or those whose name contains one of the arguments."""

import importlib
import os
import sys
from pathlib import Path

# One thread, for us and for every peer; set before anything reads it.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(variable, "1")


def names(wanted: list[str]) -> list[str]:
    """Return the topics, sorted; all of them when nothing is wanted in particular."""
    found = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    return [name for name in found if not wanted or any(part in name for part in wanted)]


def main(wanted: list[str]) -> int:
    topics = names(wanted)
    if not topics:
        print(f"no benchmark matches {' '.join(wanted)}; there are: {', '.join(names([]))}", file=sys.stderr)
        return 2
    missed = 0
    for topic in topics:
        print(f"\n{topic}", flush=True)
        try:
            module = importlib.import_module(f"benches.python.bench_{topic}")
        except ModuleNotFoundError as error:
            if error.name is None or error.name.split(".")[0] in ("benches", "simplexdp"):
                raise
            print(f"  skipped: needs {error.name}", flush=True)
            continue
        # A topic may return how many of its requirements were missed.
        missed += module.run() or 0
    if missed:
        print(f"\n{missed} below what is required")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
