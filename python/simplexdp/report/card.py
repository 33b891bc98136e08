"""Model cards: what a released model is, what it may be used for, and what it protects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simplexdp import _arguments as check
from simplexdp._core import __version__
from simplexdp.accounting import PrivacyCurve
from simplexdp.exceptions import InvalidParameterError
from simplexdp.report.facts import Facts
from simplexdp.report.meaning import meaning
from simplexdp.report.page import as_page, made_with, provenance
from simplexdp.report.text import escaped, percent, power, rounded
from simplexdp.report.whose import whose

__all__ = ["model_card", "model_record"]

KINDS: Mapping[str, tuple[str, str, str]] = {
    "PrivateCategoricalNB": (
        "Naive Bayes classifier",
        "Classifying records with these columns, and looking at the tables that it is made of.",
        "Causal claims; decisions about single people without a human; records from another population.",
    ),
    "PrivateGaussianNB": (
        "Gaussian naive Bayes classifier",
        "Classifying records with these columns of numbers, within their bounds.",
        "Causal claims; decisions about single people without a human; columns that are far from bell-shaped.",
    ),
    "PrivateBayesianNetwork": (
        "Bayesian network",
        "Probabilities of columns given others along the stated edges, and synthetic records.",
        "Dependencies that the edges leave out: columns without a path are independent in it.",
    ),
    "PrivateSynthesizer": (
        "Synthesizer of tables",
        "Synthetic records whose tables of one and two columns are close to the true ones.",
        "Rare combinations of three or more columns, and linking records to people: there is nobody behind them.",
    ),
    "PrivateHistogram": (
        "Histogram",
        "Shares of the categories, with intervals.",
        "Differences that are smaller than the intervals.",
    ),
}
MOST_COLUMNS = 60
MOST_PAIRS = 60
"""What the page shows; the record for programs has all."""


def model_card(
    model: Any,
    *,
    title: str | None = None,
    uses: str | None = None,
    limits: str | None = None,
    measures: Mapping[str, float] | None = None,
    facts: Facts | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return a model card as one self-contained HTML page: for classifiers, networks, synthesizers and histograms.

    It holds what was released and what is public, so it costs nothing. Scores are not computed here: those on private
    records would be a release of their own.

    Parameters
    ----------
    model : PrivateCategoricalNB, PrivateGaussianNB, PrivateBayesianNetwork, PrivateSynthesizer or PrivateHistogram
        A fitted one.
    title : str, optional
        Of the page.
    uses, limits : str, optional
        What the model is for, and what not; by default what holds for its kind.
    measures : mapping, optional
        Figures by name, such as an accuracy on public records.
    facts : Facts, optional
        Source, date, ledger, and the code that made it.
    notes : sequence of str
        Remarks, one paragraph each. Those that start with NOT PRIVATE stand on top, as warnings.

    Returns
    -------
    str

    Examples
    --------
    >>> from simplexdp.models import PrivateBayesianNetwork
    >>> from simplexdp.report import model_card
    >>> rain = {"season": [0, 1] * 50, "rain": [1, 0] * 50}
    >>> network = PrivateBayesianNetwork(edges=[("season", "rain")], domains={"season": 2, "rain": 2}).fit(rain)
    >>> card = model_card(network, measures={"log-likelihood of public records": -1.2})
    >>> card.startswith("<!doctype html>"), "Bayesian network" in card
    (True, True)
    """
    record = model_record(model, title=title, uses=uses, limits=limits, measures=measures, facts=facts, notes=notes)
    privacy = record["privacy"]
    loud = [note for note in record["notes"] if note.startswith("NOT PRIVATE")]
    quiet = [note for note in record["notes"] if note not in loud]
    if privacy is None:
        guarantee = "<p>Without any protection: its tables are the exact ones.</p>"
    else:
        person = whose(model.privacy_)
        who = "record" if person.unit is None else f"<bdi>{escaped(person.unit)}</bdi>"
        guarantee = (
            f"<p>All that was released is ({rounded(privacy['epsilon'], 4)}, {power(privacy['delta'])})-differentially "
            f"private when <bdi>{escaped(person.sentence)}</bdi>. Somebody who knows all other records "
            f"and holds two states of one {who} "
            f"for equally likely is right in at most {percent(privacy['attackerIsRight'], 1, up=True)} of cases.</p>"
        )
    columns = record["columns"]
    shown = "".join(
        f'<tr><th scope="row"><bdi>{escaped(column["name"])}</bdi></th><td>{_values(column)}</td></tr>'
        for column in columns[:MOST_COLUMNS]
    )
    more = f"<p>The first {MOST_COLUMNS} of {len(columns)} columns.</p>" if len(columns) > MOST_COLUMNS else ""
    heading = "levels, or bounds of numbers" if any("bounds" in column for column in columns) else "levels"
    known = ", ".join(
        f"<bdi>{escaped(one)}</bdi> with <bdi>{escaped(other)}</bdi>" for one, other in record["pairs"][:MOST_PAIRS]
    )
    rest = f", and {len(record['pairs']) - MOST_PAIRS} more" if len(record["pairs"]) > MOST_PAIRS else ""
    pairs = f"<h3>Pairs that were released together</h3><p>{known}{rest}.</p>" if known else ""
    figures = "".join(
        f"<div><dt><bdi>{escaped(name)}</bdi></dt><dd>{value:.6g}</dd></div>"
        for name, value in record["measures"].items()
    )
    parameters = "".join(
        f"<div><dt>{escaped(name)}</dt><dd><bdi>{escaped(value)}</bdi></dd></div>"
        for name, value in record["parameters"].items()
    )
    sections = [
        *(f'<p class="warning" role="alert"><bdi>{escaped(note)}</bdi></p>' for note in loud),
        f"<header><h1><bdi>{escaped(record['name'])}</bdi></h1><p>{escaped(record['kind'])} of {len(columns)} columns, "
        "released with differential privacy.</p></header>",
        f"<section><h2>Privacy</h2>{guarantee}</section>",
        f"<section><h2>For</h2><p>{escaped(record['uses'])}</p><h3>Not for</h3><p>{escaped(record['limits'])}</p>"
        "</section>",
        f'<section><h2>Measured</h2><dl class="list">{figures}</dl></section>' if figures else "",
        f'<section><h2>Columns</h2>{more}<table><thead><tr><th scope="col">column</th>'
        f'<th scope="col">{heading}</th></tr></thead><tbody>{shown}</tbody></table>{pairs}</section>',
        "".join(f"<section><p><bdi>{escaped(note)}</bdi></p></section>" for note in quiet),
        provenance(facts),
        '<section><details><summary><h2>Parameters</h2></summary><dl class="list">'
        f"{parameters}</dl></details></section>",
        made_with(),
    ]
    return as_page(record["name"], sections)


def model_record(
    model: Any,
    *,
    title: str | None = None,
    uses: str | None = None,
    limits: str | None = None,
    measures: Mapping[str, float] | None = None,
    facts: Facts | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what `model_card` shows as JSON-LD for programs: a schema.org SoftwareApplication. Arguments are the same.

    Examples
    --------
    >>> from simplexdp.models import PrivateHistogram
    >>> from simplexdp.report import model_record
    >>> histogram = PrivateHistogram(domain=["no", "yes"], epsilon=1.0, total=100).fit({"a": ["yes"] * 100}, "a")
    >>> model_record(histogram)["kind"]
    'Histogram'
    """
    name = type(model).__name__
    if name not in KINDS or not hasattr(model, "privacy_"):
        raise InvalidParameterError(f"model must be a fitted one of {', '.join(KINDS)}, got {name}")
    kind, usual, unusual = KINDS[name]
    curve: PrivacyCurve | None = model.privacy_
    privacy = None
    if curve is not None:
        found = meaning(curve, float(model.delta))
        privacy = {
            "epsilon": found.epsilon,
            "delta": found.delta,
            "adjacency": curve.adjacency,
            **({} if curve.unit is None else {"unit": curve.unit}),
            "attackerIsRight": found.guess,
        }
    said = list(notes)
    if getattr(model, "seeded_", False):
        said.insert(0, "NOT PRIVATE: made with a seed.")
    parameters = {
        key: str(value)
        for key, value in model.get_params(deep=False).items()
        if isinstance(value, (str, int, float, bool)) and key not in ("random_state",)
    }
    return {
        "@context": "https://schema.org",
        "@type": "SoftwareApplication",
        "name": kind if title is None else str(title),
        "kind": kind,
        "creator": {"@type": "SoftwareApplication", "name": "simplexdp", "softwareVersion": __version__},
        **({} if facts is None else facts.as_record()),
        "privacy": privacy,
        "uses": usual if uses is None else uses,
        "limits": unusual if limits is None else limits,
        "measures": {str(key): check.number("measures", value) for key, value in (measures or {}).items()},
        "columns": _columns(model),
        "pairs": _pairs(model),
        "parameters": parameters,
        "notes": [str(note) for note in said],
    }


def _columns(model: Any) -> list[dict[str, Any]]:
    """Return the columns with what is public of them: the sizes of their domains, or their bounds."""
    domains = getattr(model, "domains_", None)
    bounds = getattr(model, "bounds_", None)
    if domains is None and bounds is not None:
        names = getattr(model, "feature_names_in_", range(1, len(bounds) + 1))
        numbers = [
            {"name": str(column), "bounds": [float(lower), float(upper)]}
            for column, (lower, upper) in zip(names, bounds, strict=True)
        ]
        return [*numbers, _classes(model)]
    if domains is None:
        return [{"name": "value", "levels": len(model.levels_)}]
    if isinstance(domains, Mapping):
        return [{"name": str(column), "levels": len(domain)} for column, domain in domains.items()]
    names = getattr(model, "feature_names_in_", range(1, len(domains) + 1))
    found = [{"name": str(column), "levels": len(domain)} for column, domain in zip(names, domains, strict=True)]
    return [*found, _classes(model)]


def _classes(model: Any) -> dict[str, Any]:
    """Return the column of the classes."""
    target = getattr(model, "class_name_", None)
    return {"name": "class" if target is None else str(target), "levels": len(model.classes_)}


def _values(column: Mapping[str, Any]) -> str:
    """Return how many levels a column has, or between which bounds its numbers are held."""
    if "levels" in column:
        return str(column["levels"])
    lower, upper = column["bounds"]
    return f"{lower:.6g} to {upper:.6g}"


def _pairs(model: Any) -> list[list[str]]:
    """Return the pairs of columns whose dependence the model knows."""
    if hasattr(model, "parents_"):
        return [[str(parent), str(child)] for child, above in model.parents_.items() for parent in above]
    if not isinstance(getattr(model, "domains_", None), Mapping):
        return []
    names = list(model.domains_)
    return [[str(names[first]), str(names[second])] for first, second in getattr(model, "_pairs", ())]
