"""The page: numbers, words and pictures put together."""

import math
import platform
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from simplexdp import _arguments as check
from simplexdp._core import __version__
from simplexdp.accounting import PrivacyCurve
from simplexdp.exceptions import InvalidParameterError
from simplexdp.report.drawing import curve_chart
from simplexdp.report.facts import Facts
from simplexdp.report.meaning import Meaning, meaning
from simplexdp.report.shares import Counts, Kind, Shares
from simplexdp.report.text import escaped, escaped_lines, one_in, percent, power, rounded
from simplexdp.report.whose import whose

__all__ = [
    "as_page",
    "in_plain_words",
    "listed",
    "made_with",
    "provenance",
    "record_head",
    "release_record",
    "release_report",
    "remarks",
    "shown",
    "summary",
    "warnings",
    "warns",
    "whole_curve",
]

BELIEFS = (0.001, 0.01, 0.1, 0.5, 0.9)

NOT_REPEATED = frozenset(("epsilon", "delta", "spent_epsilon", "adjacency", "exact"))
"""What the page tells of a guarantee in its own words."""

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def release_report(
    *,
    labels: Sequence[object],
    values: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    level: float,
    kind: Kind = "confidence",
    curve: PrivacyCurve,
    guarantee: Mapping[str, Any],
    parameters: Mapping[str, Any],
    title: str = "A private release",
    notes: Sequence[str] = (),
    total: int | None = None,
    counts: Counts | None = None,
    by: Sequence[object] | None = None,
    groups: Mapping[Any, tuple[ArrayLike, ArrayLike, ArrayLike]] | None = None,
    margins: Mapping[Any, tuple[Sequence[object], ArrayLike, ArrayLike, ArrayLike]] | None = None,
    facts: Facts | None = None,
) -> str:
    """Return one self-contained HTML page about released shares and their guarantee.

    The page needs no network and no script, reads on a phone and in the dark, and holds what it is given and nothing
    else: give it released values and public parameters, never true counts. All text is escaped.

    Parameters
    ----------
    labels : sequence
        Names of the categories.
    values, lower, upper : array_like, shape (d,)
        Shares, and the ends of the intervals of the true ones.
    level : float
        Of the intervals.
    kind : {"confidence", "credible"}, default "confidence"
        Whether the shares are as released and the intervals those of ``mechanism.interval``, or both are those of
        ``mechanism.infer``.
    curve : PrivacyCurve
        What the release cost.
    guarantee : mapping
        ``delta``, at which the curve is read; ``epsilon``, if one was asked for; anything else is listed.
    parameters : mapping
        Public parameters by name, listed as they are.
    title : str
        Of the page.
    notes : sequence of str
        Remarks, one paragraph each. Those that start with NOT PRIVATE stand on top, as warnings.
    total : int, optional
        The number of records, public or a public guess: counts stand beside the shares then.
    counts : tuple of array_like, optional
        The numbers of records to expect, and the ends of their intervals, where shares do not tell them.
    by : sequence, optional
        The group of each category, whose share is one of its group: each group has a table of its own.
    groups : mapping, optional
        Beside the distribution of all, for each group its shares with the ends of their intervals: a table each.
    margins : mapping, optional
        For each margin of a table its labels, and its shares with the ends of their intervals.
    facts : Facts, optional
        Where the release comes from: source, date, ledger, the command or code that made it.

    Returns
    -------
    str

    Examples
    --------
    >>> import simplexdp as sdp
    >>> from simplexdp.report import release_report
    >>> mechanism = sdp.DirichletMechanism.calibrated(epsilon=1.0, delta=1e-6, dimension=3, total=1000)
    >>> y = mechanism.release([500, 300, 200])
    >>> lower, upper = mechanism.interval(y, 1000).T
    >>> page = release_report(labels=["a", "b", "c"], values=y, lower=lower, upper=upper, level=0.95,
    ...                       curve=mechanism.privacy, guarantee={"epsilon": 1.0, "delta": 1e-6},
    ...                       parameters={"scale": mechanism.scale})
    >>> page.startswith("<!doctype html>"), "<script" in page
    (True, False)
    """
    shares = Shares.checked(labels, values, lower, upper, total=total, counts=counts, by=by)
    level = check.open_unit("level", level)
    check.choice("kind", kind, get_args(Kind))
    if not isinstance(curve, PrivacyCurve):
        raise InvalidParameterError(f"curve must be a privacy curve, got {type(curve).__name__}")
    delta = check.non_negative("delta", guarantee.get("delta", 0.0))
    found = meaning(curve, delta)
    sections = [
        warnings([note for note in notes if warns(note)]),
        summary(title, found, curve, shares.size),
        shares.section(level, kind),
        *(Shares.checked(labels, *given).named_section(name, level) for name, given in (groups or {}).items()),
        *(Shares.checked(own, *given).named_section(name, level) for name, (own, *given) in (margins or {}).items()),
        in_plain_words(found, curve),
        remarks([note for note in notes if not warns(note)]),
        provenance(facts),
        whole_curve(found, curve),
        listed("Parameters", {**{k: v for k, v in guarantee.items() if k not in NOT_REPEATED}, **parameters}),
        made_with(),
    ]
    return as_page(title, sections)


def release_record(
    *,
    labels: Sequence[object],
    values: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    level: float,
    kind: Kind = "confidence",
    curve: PrivacyCurve,
    guarantee: Mapping[str, Any],
    parameters: Mapping[str, Any],
    title: str = "A private release",
    notes: Sequence[str] = (),
    total: int | None = None,
    counts: Counts | None = None,
    by: Sequence[object] | None = None,
    groups: Mapping[Any, tuple[ArrayLike, ArrayLike, ArrayLike]] | None = None,
    margins: Mapping[Any, tuple[Sequence[object], ArrayLike, ArrayLike, ArrayLike]] | None = None,
    facts: Facts | None = None,
) -> dict[str, Any]:
    """Return what `release_report` shows as JSON-LD for programs: a schema.org Dataset. Arguments are the same.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> from simplexdp.report import release_record
    >>> mechanism = sdp.DiscreteLaplaceMechanism.for_counts(1.0)
    >>> record = release_record(labels=["a", "b"], values=[0.6, 0.4], lower=[0.5, 0.3], upper=[0.7, 0.5], level=0.95,
    ...                         curve=mechanism.privacy, guarantee={"epsilon": 1.0}, parameters={}, total=100)
    >>> record["@type"], record["privacy"]["adjacency"], record["data"][0]["count"]
    ('Dataset', 'replace', 60.0)
    """
    shares = Shares.checked(labels, values, lower, upper, total=total, counts=counts, by=by)
    level = check.open_unit("level", level)
    check.choice("kind", kind, get_args(Kind))
    found = meaning(curve, check.non_negative("delta", guarantee.get("delta", 0.0)))
    return {
        **record_head(title, found, curve, facts),
        "parameters": {str(name): shown(value) for name, value in parameters.items()},
        "level": level,
        "records": total,
        "intervals": kind,
        "data": shares.records(),
        "groups": {str(name): Shares.checked(labels, *given).records() for name, given in (groups or {}).items()},
        "margins": {
            str(name): Shares.checked(own, *given, total=total).records()
            for name, (own, *given) in (margins or {}).items()
        },
        "notes": [str(note) for note in notes],
    }


def record_head(title: str, found: Meaning, curve: PrivacyCurve, facts: Facts | None) -> dict[str, Any]:
    """Return how the record of every release begins: what it is, where it comes from, what it costs and for whom."""
    return {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": title,
        "creator": {"@type": "SoftwareApplication", "name": "simplexdp", "softwareVersion": __version__},
        **({} if facts is None else facts.as_record()),
        "privacy": {
            "epsilon": found.epsilon,
            "delta": found.delta,
            "adjacency": curve.adjacency,
            **({} if curve.unit is None else {"unit": curve.unit}),
            "exact": curve.exact,
            "attackerIsRight": found.guess,
        },
    }


def made_with() -> str:
    """Return the section on the versions that made a page."""
    return listed(
        "Made with",
        {"simplexdp": __version__, "Python": platform.python_version(), "NumPy": np.__version__},
        plain=True,
    )


def provenance(facts: Facts | None) -> str:
    """Return the section on where a release comes from."""
    if facts is None:
        return ""
    rows = "".join(
        f"<div><dt>{name}</dt><dd><bdi>{escaped(text)}</bdi></dd></div>" for name, text in facts.listed().items()
    )
    made = "" if not facts.made_by else f"<h3>Made by</h3><pre><code>{escaped_lines(facts.made_by)}</code></pre>"
    return (
        '<section aria-labelledby="facts"><h2 id="facts">Where it comes from</h2>\n'
        f'<dl class="list">{rows}</dl>{made}</section>\n'
    )


def as_page(title: str, sections: Sequence[str]) -> str:
    """Return sections as one self-contained page."""
    style = files("simplexdp.report").joinpath("page.css").read_text(encoding="utf-8")
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f'<link rel="icon" href="data:,">\n<title>{escaped(title)}</title>\n<style>\n{style}</style>\n</head>\n'
    )
    foot = (
        "<footer><p>Everything on this page was released or is public. Reading, copying or computing with it costs no "
        "further privacy.</p></footer>"
    )
    return Page(f"{head}<body>\n<main>\n{''.join(sections)}{foot}\n</main>\n</body>\n</html>\n")


class Page(str):
    """A page as text, which a notebook shows as what it is."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f'<iframe title="report" srcdoc="{escaped(self)}" width="100%" height="600" style="border:0"></iframe>'


def summary(title: str, found: Meaning, curve: PrivacyCurve, what: str) -> str:
    """Return the head of a page: what was released, for whom the guarantee is, and how much it says."""
    about = escaped(whose(curve).one)
    cards = [
        ("epsilon", rounded(found.epsilon), "the privacy loss; smaller is better"),
        ("delta", power(found.delta), "the part that epsilon does not cover"),
        (
            "odds",
            f"× {rounded(found.factor, 3)}",
            f"the most that an attacker's odds about one {about} can grow",
        ),
        ("a 50:50 guess", percent(found.guess, 1, up=True), "how often it becomes right, at most"),
    ]
    figures = "".join(f"<div><dt>{name}</dt><dd>{value}</dd><dd>{words}</dd></div>" for name, value, words in cards)
    return (
        f"<header><h1><bdi>{escaped(title)}</bdi></h1>\n"
        f"<p>{escaped(what)}, released with differential privacy for "
        f"<bdi>{escaped(whose(curve).change)}</bdi>.</p>\n<dl>{figures}</dl></header>\n"
    )


def in_plain_words(found: Meaning, curve: PrivacyCurve) -> str:
    """Return the section on what the guarantee means for one of those whom it is for."""
    person = whose(curve)
    ratio = rounded(math.exp(found.epsilon), 3) if found.epsilon < 700 else "∞"
    plus = "" if found.delta == 0 else f", plus {power(found.delta)} ({one_in(found.delta)})"
    unless = "" if found.delta == 0 else f", except with a probability of {one_in(found.exception)}"
    guess = percent(found.guess, 1, up=True)
    beliefs = "".join(
        f"<tr><td>{percent(before, 1)}</td><td>at most {percent(found.belief(before), 1, up=True)}</td></tr>"
        for before in BELIEFS
    )
    sharp = (
        "The curve that they come from is exact: there are data that attain it."
        if curve.exact
        else "The curve that they come from is an upper bound: the true loss may be smaller."
    )
    return (
        '<section aria-labelledby="words"><h2 id="words">What this means for one person</h2>\n'
        f"<p>Imagine two worlds: the data as they are, and the same data in which {escaped(person.to_you)}. "
        f"Whatever somebody concludes from this release, its probability in one world is at most "
        f"{ratio} times that in the other{plus}. "
        f"The factor is e<sup>epsilon</sup>{'' if found.delta == 0 else ', what is added is delta'}. "
        f"{escaped(person.scope)}</p>\n"
        f"<p>So suppose that an attacker knows {escaped(person.yours)}. Seeing the release can raise the odds in "
        f"favour of the truth about {person.of_one} by a factor of at most {rounded(found.factor, 3)}{unless}:</p>\n"
        '<table class="beliefs"><caption class="unseen">How far an attacker&#x27;s belief can grow</caption><thead><tr>'
        '<th scope="col">Belief before</th><th scope="col">Belief after</th></tr></thead>'
        f"<tbody>{beliefs}</tbody></table>\n"
        f"<p>Somebody who holds two states of {person.of_one} for equally likely picks the right one with a "
        f"probability of at most {guess}.</p>\n"
        f"<p>These numbers hold whatever else is known and however much is computed. {sharp} "
        f"{escaped(person.not_covered)}, and further releases from the same data add up."
        "</p></section>\n"
    )


def whole_curve(found: Meaning, curve: PrivacyCurve) -> str:
    """Return the section with the curve."""
    rows = []
    for exponent in (3, 5, 6, 8, 10):
        epsilon = float(curve.epsilon(10.0**-exponent))
        rows.append(f"<tr><td>{power(10.0**-exponent)}</td><td>{rounded(epsilon)}</td></tr>")
    return (
        '<section aria-labelledby="curve"><details><summary><h2 id="curve">The whole guarantee</h2></summary>\n'
        "<p>One release has many pairs of epsilon and delta: it keeps all of those on the curve at once. The stated "
        "pair is marked. Every figure is rounded up.</p>\n"
        f'<div class="pair"><figure>{curve_chart(curve, found.epsilon, found.delta)}</figure>\n'
        '<table class="beliefs"><caption class="unseen">Points of the curve</caption><thead><tr>'
        f'<th scope="col">delta</th><th scope="col">epsilon</th></tr></thead><tbody>{"".join(rows)}</tbody></table>'
        "</div></details></section>\n"
    )


def listed(heading: str, entries: Mapping[str, Any], *, plain: bool = False) -> str:
    """Return a section with a list of names and values."""
    if not entries:
        return ""
    rows = "".join(
        f"<div><dt><bdi>{escaped(name)}</bdi></dt><dd><bdi>{escaped(text)}</bdi></dd></div>"
        for name, text in ((name, value if plain else shown(value)) for name, value in entries.items())
    )
    name = "made" if plain else "parameters"
    return (
        f'<section aria-labelledby="{name}"><details><summary><h2 id="{name}">{heading}</h2></summary>\n'
        f'<dl class="list">{rows}</dl></details></section>\n'
    )


def shown(value: Any) -> str:
    """Return a parameter; of long lists the beginning."""
    if isinstance(value, float | np.floating):
        return f"{value:.10g}"
    if isinstance(value, list | tuple | np.ndarray):
        entries = list(value)
        more = f" and {len(entries) - 12} more" if len(entries) > 12 else ""
        return ", ".join(shown(entry) for entry in entries[:12]) + more
    return str(value)


def warns(note: str) -> bool:
    """Whether a note stands on top of the page."""
    return str(note).startswith("NOT PRIVATE")


def warnings(notes: Sequence[str]) -> str:
    """Return the notes that stand on top."""
    return "".join(f'<p class="warning" role="alert"><bdi>{escaped(note)}</bdi></p>\n' for note in notes)


def remarks(notes: Sequence[str]) -> str:
    """Return the section with the other notes."""
    if not notes:
        return ""
    paragraphs = "".join(f"<li><bdi>{escaped(note)}</bdi></li>" for note in notes)
    return f'<section aria-labelledby="notes"><h2 id="notes">Notes</h2>\n<ul>{paragraphs}</ul></section>\n'
