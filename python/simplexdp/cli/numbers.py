"""``simplexdp mean`` and ``simplexdp quantile``: one number for a numeric column, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from simplexdp.cli import options
from simplexdp.cli.conditions import condition, number_in
from simplexdp.cli.files import Command
from simplexdp.cli.grouping import Grouping, group_options, name_of, other_group_option, repeated
from simplexdp.cli.guarantee import Named, account, guarantee_of, sentence, warnings_of
from simplexdp.cli.neighbours import adjacency_of
from simplexdp.cli.selection import Selection
from simplexdp.cli.spelling import Spelling
from simplexdp.cli.writing import Output, Result, check_printable, emit
from simplexdp.exceptions import InvalidDataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplexdp.cli.counting import Levels
    from simplexdp.cli.reading import Source

__all__ = ["mean", "quantile", "stated_bounds"]


def stated_bounds(_: click.Context, __: click.Parameter, value: str | None) -> tuple[float, float] | None:
    """Return the ends of ``--bounds LOWER:UPPER``."""
    if value is None:
        return None
    parts = [number_in(part) for part in value.split(":")]
    if len(parts) != 2 or parts[0] is None or parts[1] is None or not parts[0] < parts[1]:
        raise click.BadParameter(f"must be LOWER:UPPER with LOWER < UPPER, such as 0:100, got {value!r}")
    return parts[0], parts[1]


def _common(command: Any) -> Any:
    for option in reversed(
        (
            options.file_argument,
            click.option("--column", required=True, help="The column of numbers."),
            click.option(
                "--bounds",
                required=True,
                callback=stated_bounds,
                metavar="LOWER:UPPER",
                help="Public; values beyond are clamped, and noise grows with the distance.",
            ),
            options.record_options,
            options.spelling_options,
            click.option(
                "--skip-missing", is_flag=True, help="Leave out records without a number; else they are refused."
            ),
            options.budget_options,
            adjacency_of("replace", paid=True),
            click.option(
                "--interval",
                type=options.Between(0, 1, min_open=True, max_open=True),
                default=0.95,
                show_default=True,
                metavar="LEVEL",
                help="Of the confidence intervals.",
            ),
            options.ledger_options,
            options.seed_option,
            options.input_options,
            options.output_options,
        )
    ):
        command = option(command)
    return command


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  simplexdp mean people.csv --column age --bounds 0:100 --epsilon 1
  simplexdp mean people.csv --column age --bounds 0:100 --epsilon 1 --by region --groups north,south
""",
)
@_common
@group_options
@other_group_option
def mean(column: str, **given: Any) -> None:
    """Release the mean of a numeric column of FILE, with a confidence interval that holds whatever the data."""
    from simplexdp import numeric

    def release(table: dict[str, Any], arguments: dict[str, Any]) -> tuple[dict[str, list[Any]], Any]:
        found = numeric.mean(table, "value", **arguments)
        return {"mean": np.ravel(found.estimate).tolist(), **_ends(found.interval(given["interval"]))}, found

    _run("mean", column, release, given)


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  simplexdp quantile people.csv --column age --bounds 0:100 --epsilon 1
  simplexdp quantile people.csv --column age --bounds 0:100 --levels 0.1,0.9 --epsilon 1 --delta 1e-6
  simplexdp quantile people.csv --column age --bounds 0:100 --levels 0.5 --epsilon 1 --by region --groups north,south
""",
)
@_common
@group_options
@other_group_option
@click.option("--levels", default="0.25,0.5,0.75", show_default=True, help="Which quantiles; one price for any number.")
def quantile(column: str, levels: str, **given: Any) -> None:
    """Release quantiles of a numeric column of FILE, with confidence intervals that hold whatever the data."""
    parts = [number_in(part) for part in levels.split(",")]
    wanted = [level for level in parts if level is not None and 0 < level < 1]
    if len(wanted) < len(parts):
        raise click.UsageError(f"--levels must lie strictly between 0 and 1, such as 0.25,0.5, got {levels!r}")
    from simplexdp import numeric

    def release(table: dict[str, Any], arguments: dict[str, Any]) -> tuple[dict[str, list[Any]], Any]:
        found = numeric.quantiles(table, "value", wanted, **arguments)
        estimates = np.ravel(found.estimate).tolist()
        shown = {"level": found.levels.tolist() * (len(estimates) // len(wanted)), "quantile": estimates}
        return {**shown, **_ends(found.interval(given["interval"]))}, found

    _run("quantile", column, release, given)


def _ends(intervals: NDArray[np.float64]) -> dict[str, list[Any]]:
    lower, upper = intervals.reshape(-1, 2).T.tolist()
    return {"lower": lower, "upper": upper}


def _run(what: str, column: str, release: Any, given: dict[str, Any]) -> None:
    """Read, pay, draw and write."""
    epsilon, delta, seed = given["epsilon"], given["delta"], given["seed"]
    if epsilon is None:
        raise click.UsageError("--epsilon must be given, for example 1")
    spelling = Spelling.stated(given["clean"], given["map_file"])
    grouping = Grouping(given["by"], given["groups"], given["groups_file"], given["other_group"])
    grouping.check(column)
    if any(name in (what, "level", "lower", "upper") for name in grouping.by):
        raise click.UsageError("--by must be another column than --column and those of the result")
    levels = grouping.levels({}, spelling.of)
    source = options.source(
        given["file"], given["input_format"], given["encoding"], given["no_header"], given["delimiter"]
    )
    output = Output.chosen(given["out"], given["form"], given["as_json"])
    check_printable([column, *levels, *(value for each in levels.values() for value in each.all)], output)
    accountant = account(given["ledger"], seed)
    rules = tuple(condition(text, spelling.of) for text in given["where"])
    unit, max_rows, first_by = given["unit"], given["max_rows"], given["first_by"]
    selection = Selection.stated(spelling, unit, max_rows, first_by, given["date_format"], seed, conditions=rules)
    places = {f"--by {name}": name for name in levels}
    table = _read(source, column, levels, selection, skip=given["skip_missing"])
    arguments = {
        "by": list(places) or None,
        # They are codes by then.
        "groups": {place: len(levels[name].all) for place, name in places.items()} or None,
        "bounds": given["bounds"],
        "epsilon": epsilon,
        "delta": delta,
        "adjacency": given["adjacency"],
        "unit": None if unit is None else "person",
        "max_rows": max_rows,
        "first_by": None if first_by is None else "first",
        # How many records meet a rule is private, as is how many have a number.
        "skip_missing": given["skip_missing"] or bool(rules),
        "accountant": None
        if accountant is None
        else Named(accountant, given["name"], f"{given['file']}:{column}", unit),
        "rng": options.seeded(seed),
    }
    rows, found = release(table, arguments)
    if levels:
        # Of quantiles there are several rows to a group.
        groups = repeated(levels)
        several = len(rows["lower"]) // len(next(iter(groups.values())))
        rows = {**{name: [each for each in own for _ in range(several)] for name, own in groups.items()}, **rows}
    guarantee = guarantee_of(found.privacy, epsilon, delta, unit=unit, max_rows=max_rows or 1)
    notes = [
        sentence(guarantee),
        _public(given, grouping.by),
        "Values beyond the bounds count as the bounds.",
        f"lower to upper hold the {what} of these data with a probability of at least {given['interval']:g}: "
        "confidence intervals, by the law of the noise alone.",
        *warnings_of(guarantee, show_truth=False, seed=seed),
    ]
    details = {
        "private": seed is None,
        "seeded": seed is not None,
        "column": column,
        "by": name_of(grouping.by),
        "mechanism": found.mechanism,
        "guarantee": guarantee,
        "interval": given["interval"],
        "kind": what,
    }
    emit(Result(rows, details, notes), output, quiet=given["quiet"])


def _public(given: dict[str, Any], by: tuple[str, ...]) -> str:
    names = "the bounds, the groups" if by else "the bounds"
    all_count = not given["skip_missing"] and not given["where"] and given["unit"] is None
    if given["adjacency"] == "replace" and not by and all_count:
        return f"Public: {names}, the parameters and the number of records."
    return f"Public: {names} and the parameters. The number of records is private."


def _read(
    source: Source, column: str, groups: Mapping[str, Levels], selection: Selection, *, skip: bool
) -> dict[str, Any]:
    """Return the numbers, the codes of the groups, persons and what comes first; what is no number is missing."""
    from simplexdp.cli.reading import text_of

    numbers: list[NDArray[np.float64]] = [np.empty(0)]
    codes: dict[str, list[NDArray[np.int32]]] = {name: [np.empty(0, dtype=np.int32)] for name in groups}
    bound = selection.bound
    used = {} if bound is None else {"person": bound.unit, "first": bound.first_by}
    texts: dict[str, list[Any]] = {use: [] for use, name in used.items() if name is not None}
    for batch in selection.batches(source, [column, *groups]):
        found = [None if value is None else number_in(text_of(value)) for value in batch[column].to_pylist()]
        if not skip and None in found:
            raise InvalidDataError(
                f"column {column!r} has values that are no numbers, or missing ones (none is shown); --skip-missing "
                "leaves them out"
            )
        numbers.append(np.array(found, dtype=np.float64))
        for name, levels in groups.items():
            codes[name].append(levels.encode(name, batch[name]))
        for use in texts:
            values = selection.as_person(used[use], batch[used[use]]).to_pylist()
            texts[use] += [None if value is None else text_of(value) for value in values]
    if "first" in texts:
        texts["first"] = _places(texts["first"])
    columns = {use: np.array([*values, None], dtype=object)[:-1] for use, values in texts.items()}
    grouped = {f"--by {name}": np.concatenate(parts) for name, parts in codes.items()}
    return {"value": np.concatenate(numbers), **grouped, **columns}


def _places(texts: list[str | None]) -> list[int]:
    """Return the place of each text among the different ones: numbers first, as numbers; missing ones last."""

    def order(text: str) -> tuple[bool, float, str]:
        number = number_in(text)
        return (True, 0.0, text) if number is None else (False, number, "")

    place = {text: rank for rank, text in enumerate(sorted({text for text in texts if text is not None}, key=order))}
    return [len(place) if text is None else place[text] for text in texts]
