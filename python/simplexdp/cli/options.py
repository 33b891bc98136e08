"""Options that several commands share."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

from simplexdp.cli import reading, writing

__all__ = [
    "Between",
    "budget_options",
    "column_options",
    "domain_options",
    "input_options",
    "ledger_options",
    "output_options",
    "record_options",
    "seed_option",
    "source",
    "spelling_options",
    "weighted_option",
]

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]


class Between(click.FloatRange):
    """A number between two, which NaN is not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail("nan is not a number.", param, ctx)
        return number


def _stacked(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


file_argument = click.argument(
    "file", type=click.Path(exists=True, dir_okay=False, allow_dash=True), default="-", metavar="[FILE]"
)


def _delimiter(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    sign = "\t" if value in ("tab", "\\t") else value
    if len(sign) != 1 or not sign.isascii() or sign in '"\r\n':
        raise click.BadParameter(f"must be one ASCII sign, no quote and no line end, or 'tab', got {value!r}")
    return sign


def _encoding(_: click.Context, __: click.Parameter, value: str) -> str:
    try:
        # Refuses codecs that are no encodings of text.
        io.TextIOWrapper(io.BytesIO(), encoding=value)
    except (LookupError, ValueError):
        raise click.BadParameter(f"must be an encoding of text such as latin-1 or utf-16, got {value!r}") from None
    return value


input_options = _stacked(
    click.option(
        "--input-format",
        type=click.Choice(reading.FORMATS),
        help="Of FILE; by default what its suffix says, CSV from a pipe.",
    ),
    click.option(
        "--delimiter",
        callback=_delimiter,
        metavar="SIGN",
        help="CSV: what separates the fields, for example ';', or 'tab'; by default a comma.",
    ),
    click.option(
        "--encoding", default="utf-8", show_default=True, callback=_encoding, help="Of CSV, TSV and JSON lines."
    ),
    click.option("--no-header", is_flag=True, help="CSV and TSV: the first line is a record; columns are 1, 2, ..."),
)

domain_options = _stacked(
    click.option("--domain", metavar="A,B,C", help="Public values of the column; 1..5 stands for 1,2,3,4,5."),
    click.option(
        "--domain-file",
        type=click.Path(exists=True, dir_okay=False),
        help="The same from a file, one value a line, or a JSON list.",
    ),
)

level_options = _stacked(
    click.option(
        "--other",
        metavar="NAME",
        help="A level for values that the domain does not list; NAME may be one that it lists.",
    ),
    click.option("--null", metavar="NAME", help="A level for missing values; NAME may be one that the domain lists."),
)

person_options = _stacked(
    click.option("--unit", metavar="COLUMN", help="The person of each record: the guarantee is for persons then."),
    click.option(
        "--max-rows", type=click.IntRange(1, 2**20), metavar="K", help="With --unit: so many records of a person count."
    ),
    click.option(
        "--first-by",
        metavar="COLUMN",
        help="Those with the smallest values there count: numbers, dates as 2024-05-17, texts in the order of their "
        "letters; by default a random draw.",
    ),
    click.option(
        "--date-format", metavar="FORMAT", help="How dates are written, such as %d.%m.%Y; by default 2024-05-17."
    ),
)

weighted_option = click.option(
    "--weighted",
    is_flag=True,
    help="With --unit: count each person as one, with 1/n for each of n records; K is at most 16 then.",
)

record_options = _stacked(
    click.option(
        "--where",
        multiple=True,
        metavar="RULE",
        help="Only records that meet it, such as 'age>=18', 'ward=eye,ear', 'day!='; several times: all rules.",
    ),
    person_options,
)

spelling_options = _stacked(
    click.option(
        "--clean",
        multiple=True,
        metavar="[COLUMN=]RULES",
        help="Make spellings the same, in every column that is compared: trim,fold,nfkc (spaces, case, wide letters "
        "and ligatures); letters with accents are the same in all forms then.",
    ),
    click.option(
        "--map",
        "map_file",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE.json",
        help='Public replacements of values: {"influenza": "flu", "n/a": null}.',
    ),
)

column_options = _stacked(
    click.option(
        "--bins", multiple=True, metavar="COLUMN=FROM:TO:WIDTH", help="Public bins of a numeric column; or age=18,65."
    ),
    click.option(
        "--quantiles",
        multiple=True,
        metavar="COLUMN=N:LOWER:UPPER",
        help="N bins of a numeric column with about as many records each; the bounds are public, the edges are noisy.",
    ),
    click.option(
        "--quantile-share",
        type=Between(0, 1, min_open=True, max_open=True),
        metavar="SHARE",
        help="Of epsilon, for the edges of --quantiles; 0.25 by default.",
    ),
    click.option(
        "--dates", multiple=True, metavar="COLUMN=UNIT:FROM:TO", help="Dates by day, week, month or year between two."
    ),
    spelling_options,
    click.option(
        "--discover",
        is_flag=True,
        help="The values are unknown: release those that many records have, with noisy counts, the rest as --other.",
    ),
)

budget_options = _stacked(
    click.option("--epsilon", type=float, help="Privacy budget."),
    click.option("--delta", type=float, help="Privacy budget; pure mechanisms need none."),
)

output_options = _stacked(
    click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="Write there; the suffix says how."),
    click.option(
        "--format",
        "form",
        type=click.Choice(writing.FORMATS),
        help="By default what the suffix says; else a table on a terminal and CSV in a pipe.",
    ),
    click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
    click.option("-q", "--quiet", is_flag=True, help="No notes on standard error."),
)

ledger_options = _stacked(
    click.option(
        "--ledger",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Debit this budget first, and refuse what does not fit ('simplexdp ledger --help').",
    ),
    click.option("--name", default="", help="Who or what for, in the ledger; public."),
)

seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**64 - 1), help="Repeat a run. NOT PRIVATE: for tests and demonstrations."
)


def source(
    file: str, input_format: str | None, encoding: str, no_header: bool, delimiter: str | None
) -> reading.Source:
    """Return what the input options describe."""
    return reading.Source(file, input_format, encoding, not no_header, delimiter)


def seeded(seed: int | None) -> Any:
    """Return the generator for a seed, with a loud warning, or None for the operating system's entropy."""
    if seed is None:
        return None
    import warnings

    from simplexdp.exceptions import InsecureRandomnessWarning
    from simplexdp.testing import SeededRng

    warnings.simplefilter("ignore", InsecureRandomnessWarning)
    writing.warn("WARNING: --seed: the result is NOT PRIVATE. Whoever knows the seed can undo it.")
    return SeededRng(seed)
