"""``simplexdp card``: a page about a released model, and the same as JSON; other commands write it beside the model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from simplexdp.cli.files import Command
from simplexdp.cli.pages import facts_of, record_text, write_pages
from simplexdp.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplexdp.accounting import Accountant

__all__ = ["card", "card_option", "write_card"]

card_option: Callable[[Any], Any] = click.option(
    "--card",
    type=click.Path(dir_okay=False),
    metavar="FILE.html",
    help="A page about the model: what it is for, its columns, its guarantee, its origin; and JSON beside it. Free.",
)


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  simplexdp card model.json --out card.html
  simplexdp card model.json --json
  simplexdp card model.json --out card.html --title 'Jobs by region' --measure 'accuracy on public records=0.81'
""",
)
@click.argument("model", type=click.Path(exists=True, dir_okay=False), metavar="MODEL.json")
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE.html", help="The page.")
@click.option("--json", "as_json", is_flag=True, help="Print the card for programs; no page is needed then.")
@click.option("--title", help="Of the page; by default the kind of the model.")
@click.option("--uses", help="What the model is for; by default what holds for its kind.")
@click.option("--limits", help="What it is not for; by default what holds for its kind.")
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME=VALUE",
    help="A figure that you measured on public records; repeat it. One of private records would be a release itself.",
)
def card(
    model: str,
    out: str | None,
    as_json: bool,
    title: str | None,
    uses: str | None,
    limits: str | None,
    measures: tuple[str, ...],
) -> None:
    """Write a model card of MODEL.json, which fit-nb, fit-bn, fit-synth or save wrote.

    Beside the page is FILE.html.json, for programs.

    It holds what was released and what is public, so it costs nothing.
    """
    told = {"title": title, "uses": uses, "limits": limits, "measures": _measures(measures)}
    from simplexdp.models.saved import text_of

    if out is None and not as_json:
        raise click.UsageError("give --out FILE.html, or --json")
    released, facts = _read(text_of(model), model), facts_of(model, None, None)
    if out is not None:
        write_pages(out, "model", released, facts=facts, **told)
    if as_json:
        click.echo(record_text("model", released, facts=facts, **told), nl=False)


def write_card(path: str | None, text: str, file: str, ledger: str | None, accountant: Accountant | None) -> None:
    """Write the card of a model that was just made of the records of a file, if one is asked for."""
    if path is not None:
        write_pages(path, "model", _read(text, "the model"), facts=facts_of(file, ledger, accountant))


def _read(text: str, path: str) -> Any:
    """Return the model that a text holds, of whatever kind."""
    from simplexdp import models

    kinds: dict[str, Any] = {
        "simplexdp.naive-bayes": models.PrivateCategoricalNB,
        "simplexdp.gaussian-naive-bayes": models.PrivateGaussianNB,
        "simplexdp.bayesian-network": models.PrivateBayesianNetwork,
        "simplexdp.synthesizer": models.PrivateSynthesizer,
    }
    try:
        content = json.loads(text)
        form = content["format"].partition("/")[0]
        kind = kinds[form]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise InvalidParameterError(f"{path} must be a model that fit-nb, fit-bn, fit-synth or save wrote") from None
    return kind.from_json(text)


def _measures(given: tuple[str, ...]) -> dict[str, float]:
    """Return the figures by name."""
    found = {}
    for each in given:
        name, _, value = each.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            name = ""
        if not name:
            raise click.UsageError(f"--measure must be NAME=VALUE such as accuracy=0.81, got {each!r}")
    return found
