"""Write lowest.txt and newest.txt: the packages of pyproject.toml at their lower bounds, and without any.

    make bounds

The bounds themselves are decided by running the tests (docs/platforms.md); what is written here follows from them.
"""

import re
import sys
from pathlib import Path

import tomllib

HERE = Path(__file__).parent
EXTRAS = ("models", "frames", "plots", "cli")
NOT_RUN = {"dp-accounting", "pgmpy", "psycopg", "pyspark"}
"""Of the tests: servers, Java and peers, which the job of the bounds does without."""
FIRST = {"scipy": "1.11.1"}
"""Where the first version of a bound was withdrawn."""
BESIDE = {"matplotlib": {"pyparsing": "3.1.4"}}
"""What a lowest version needs older than it says: later pyparsing warns of what Matplotlib 3.8 does."""
REQUIREMENT = re.compile(r"([A-Za-z0-9-]+)(\[[a-z]+\])?>=([0-9.]+)$")


def packages():
    """Yield name, extra and lower bound of what the tests of the bounds need, each once."""
    with (HERE.parent / "pyproject.toml").open("rb") as file:
        stated = tomllib.load(file)
    project = stated["project"]
    wanted = list(project["dependencies"])
    for extra in EXTRAS:
        wanted += project["optional-dependencies"][extra]
    wanted += stated["dependency-groups"]["test"]
    seen = set()
    for text in wanted:
        found = REQUIREMENT.match(text)
        if found is None:
            sys.exit(f"pyproject.toml must state a lower bound and nothing else, got {text!r}")
        name, extra, bound = found[1], found[2] or "", found[3]
        if name in NOT_RUN or name in seen:
            continue
        seen.add(name)
        yield name, extra, bound


def texts():
    """Return the two files by their names."""
    lowest = [
        "# By `make bounds`: the lower bounds of pyproject.toml, for the CI's job that tests them; on Python 3.10."
    ]
    newest = ["# By `make bounds`: whatever is newest, for the CI's job that tests it."]
    for name, extra, bound in packages():
        version = FIRST.get(name, bound + ".0" * (2 - bound.count(".")))
        lowest.append(f"{name}{extra}=={version}")
        lowest += [f"{other}=={pinned}" for other, pinned in BESIDE.get(name, {}).items()]
        newest.append(f"{name}{extra}")
    return {"lowest.txt": "\n".join(lowest) + "\n", "newest.txt": "\n".join(newest) + "\n"}


if __name__ == "__main__":
    for name, text in texts().items():
        (HERE / name).write_text(text, encoding="utf-8")
