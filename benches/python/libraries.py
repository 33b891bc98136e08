"""Write docs/libraries.md and the README's table: what other libraries offer, found by searching their public names.

Run as ``python -m benches.python.libraries`` on a quiet machine, after ``make bench`` has made its environments.
"""

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OTHERS = ROOT / ".venv" / "peers" / "diffprivlib" / "bin" / "python"

# What a user may look for; the pattern that its name would match; the name where a library has it. Both are checked:
# a name that is gone, or a match in a library that is said to have nothing, stops the script.
FEATURES = [
    (
        "Dirichlet mechanism, posterior sampling",
        r"dirichlet",
        {"simplexdp": "DirichletMechanism"},
    ),
    (
        "whole posterior, by Hellinger distance",
        r"hellinger",
        {"simplexdp": "HellingerMechanism"},
    ),
    (
        "integer Laplace noise",
        r"discrete_?laplace|geometric$|make_laplace$",
        {
            "simplexdp": "DiscreteLaplaceMechanism",
            "opendp": "make_laplace",
            "dp_accounting": "DiscreteLaplacePrivacyLoss",
            "diffprivlib": "Geometric",
        },
    ),
    (
        "integer Gaussian noise",
        r"discrete_?gaussian|gaussian_?discrete|make_gaussian$",
        {
            "simplexdp": "DiscreteGaussianMechanism",
            "opendp": "make_gaussian",
            "dp_accounting": "DiscreteGaussianPrivacyLoss",
            "diffprivlib": "GaussianDiscrete",
        },
    ),
    (
        "naive Bayes over categories",
        r"categorical_?nb",
        {"simplexdp": "PrivateCategoricalNB"},
    ),
    (
        "naive Bayes over numbers",
        r"gaussian_?nb",
        {"simplexdp": "PrivateGaussianNB", "diffprivlib": "GaussianNB"},
    ),
    (
        "Bayesian network over given edges",
        r"bayesian_?network",
        {"simplexdp": "PrivateBayesianNetwork"},
    ),
    (
        "composition by privacy loss distributions",
        r"privacy_?loss_?distribution",
        {"simplexdp": "compose", "dp_accounting": "PrivacyLossDistribution"},
    ),
    (
        "one budget for many processes, on disk",
        r"accountant\.open",
        {"simplexdp": "Accountant.open"},
    ),
    (
        "amplification by sampling",
        r"amplification|poissonsampled",
        {"opendp": "make_population_amplification", "dp_accounting": "PoissonSampledDpEvent"},
    ),
    (
        "synthetic tables",
        r"^(mst|aim)$|synthesizer",
        {"simplexdp": "PrivateSynthesizer", "opendp": "AIM"},
    ),
    (
        "posterior of counts given noisy ones",
        r"posterior",
        {"simplexdp": "HistogramPosterior"},
    ),
    (
        "categories above a noisy threshold",
        r"discover|threshold$",
        {"simplexdp": "Domain.discover", "opendp": "make_laplace_threshold"},
    ),
    (
        "several rows of one person",
        r"bound_rows|^unit_of$",
        {"simplexdp": "bound_rows", "opendp": "unit_of"},
    ),
    (
        "lower bounds from runs of a mechanism",
        r"audit",
        {"simplexdp": "audit"},
    ),
    (
        "linear regression",
        r"linear_?regression$",
        {"opendp": "LinearRegression", "diffprivlib": "LinearRegression"},
    ),
    (
        "forests",
        r"forest",
        {"diffprivlib": "RandomForestClassifier"},
    ),
    (
        "queries on data frames",
        r"lazyframe",
        {"opendp": "make_private_lazyframe"},
    ),
]
HEADING = "## Beside other libraries"
LIBRARIES = {
    "simplexdp": "simplexdp",
    "opendp": "OpenDP",
    "dp_accounting": "dp-accounting",
    "diffprivlib": "diffprivlib",
}

SEARCH = """
import importlib, json, pkgutil, sys, warnings
warnings.simplefilter("ignore")
root = importlib.import_module(sys.argv[1])
names = set()
for info in [None, *pkgutil.walk_packages(root.__path__, root.__name__ + ".", onerror=lambda name: None)]:
    name = root.__name__ if info is None else info.name
    if "._" in name or "test" in name or name.endswith("__main__"):
        continue
    try:
        module = importlib.import_module(name)
    except ImportError:
        continue
    for attribute in dir(module):
        if attribute.startswith("_"):
            continue
        value = getattr(module, attribute, None)
        if not callable(value) or not (getattr(value, "__module__", None) or "").startswith(root.__name__):
            continue
        names.add(attribute)
        if isinstance(value, type):
            names.update(f"{attribute}.{part}" for part in vars(value) if not part.startswith("_"))
print(json.dumps(sorted(names)))
"""

# The least that gives a mechanism, after NumPy; what is installed beside a library may be loaded with it.
IMPORTS = {
    "simplexdp": "from simplexdp import DirichletMechanism, compose",
    "opendp": "import opendp.measurements",
    "dp_accounting": "from dp_accounting.pld import privacy_loss_distribution",
    "diffprivlib": "import diffprivlib.mechanisms",
}
TIMED = "import time, numpy; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


def interpreter(library: str) -> str:
    return str(OTHERS) if library == "diffprivlib" else sys.executable


def run(library: str, code: str, *arguments: str) -> str:
    done = subprocess.run(
        [interpreter(library), "-W", "ignore", "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def cell(feature: str, library: str, names: list[str], pattern: str, there: dict[str, str]) -> str:
    """Return the name of the feature in a library, or a dash, and check either."""
    if library in there:
        if there[library] not in names:
            raise SystemExit(f"{feature}: {library} has no public name {there[library]!r}")
        return f"`{there[library]}`"
    hits = [name for name in names if re.search(pattern, name, re.IGNORECASE)]
    if hits and library != "simplexdp":
        raise SystemExit(f"{feature}: {library} may have it: {', '.join(hits[:3])}")
    return "–"


def installed_megabytes(library: str) -> float:
    """Return the size of the files that a user's environment holds for this library alone."""
    code = (
        "import importlib.metadata as m, json, sys\n"
        "d = m.distribution(sys.argv[1])\n"
        "print(sum(f.locate().stat().st_size for f in d.files or [] if f.locate().is_file() and f.suffix != '.pyc'))"
    )
    if library == "simplexdp":
        # An editable install names no files: the tree is what the wheel holds.
        package = ROOT / "python" / "simplexdp"
        return sum(f.stat().st_size for f in package.rglob("*") if f.is_file() and f.suffix != ".pyc") / 1e6
    return int(run(library, code, library.replace("_", "-"))) / 1e6


def main() -> None:
    names = {library: json.loads(run(library, SEARCH, library)) for library in LIBRARIES}
    titles = list(LIBRARIES.values())
    releases = [version("simplexdp"), version("opendp"), version("dp-accounting")]
    releases.append(run("diffprivlib", "from importlib.metadata import version; print(version('diffprivlib'))").strip())
    lines = [
        "# Beside other libraries",
        "",
        "Written by `python -m benches.python.libraries`: the names were found by importing each library and searching",
        "its public names; a dash means that no public name matches. A name says that something is there, not how good",
        "it is, and the other libraries do much that simplexdp does not: it releases probability vectors, posteriors",
        "and discrete models, and leaves the rest to them. `curve.to_dp_accounting()` carries its curves over.",
        "",
        "| | " + " | ".join(f"{t} {r}" for t, r in zip(titles, releases, strict=True)) + " |",
        "| --- " * (len(titles) + 1) + "|",
    ]
    for feature, pattern, there in FEATURES:
        cells = [cell(feature, key, names[key], pattern, there) for key in LIBRARIES]
        lines.append(f"| {feature} | " + " | ".join(cells) + " |")
    imports = []
    for key in LIBRARIES:
        took = min(float(run(key, TIMED.format(IMPORTS[key]))) for _ in range(5))
        imports.append(f"{took * 1e3:.0f} ms")
    lines.append("| import of a mechanism, after NumPy, best of five | " + " | ".join(imports) + " |")
    lines.append("| installed size | " + " | ".join(f"{installed_megabytes(key):.1f} MB" for key in LIBRARIES) + " |")
    (ROOT / "docs" / "libraries.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = "\n".join(line for line in lines if line.startswith("|"))
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(f"{HEADING}\n\n")
    readme.write_text(f"{before}{HEADING}\n\n{table}\n\n{rest.partition(chr(10) * 2)[2]}", encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
