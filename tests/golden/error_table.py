"""The worst error of every special function over the golden grids; as a script, writes it into docs/numerics.md."""

import csv
import math
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from pathlib import Path
from typing import NamedTuple

import simplexdp as sdp

DATA = Path(__file__).parent / "data"
PAGE = Path(__file__).parents[2] / "docs" / "numerics.md"
BEGIN, END = "<!-- begin: python tests/golden/error_table.py -->", "<!-- end -->"
EPSILON = 2.0**-52
DIGAMMA_ZERO = 1.4616321449683622
special = sdp.special


class Group(NamedTuple):
    """A line of the table."""

    function: str
    arguments: str
    unit: str


# What is required of each group, in its unit. Groups without a public requirement get what we hold ourselves to.
REQUIRED = {
    Group("log_gamma", "x > 0", "ulp"): 4,
    Group("log_gamma", "x < 0", "of max(1, value), 2^-52"): 4,
    Group("digamma", "x > 0", "ulp"): 4,
    Group("digamma", "x > 0, within 0.1 of the zero", "absolute"): 1e-15,
    Group("digamma", "x < 0", "of max(1, value), 2^-52"): 4,
    Group("trigamma", "x > 0", "ulp"): 4,
    Group("trigamma", "x < 0", "ulp"): 4,
    Group("polygamma", "orders 0 to 20, x > 0", "ulp"): 16,
    Group("log_gamma_ratio", "a, r from 1e-12 to 1e15", "relative"): 1e-14,
    Group("log_gamma_ratio", "next to its zeros", "of min(r, 1), absolute"): 1e-14,
    Group("log_beta", "2 to 6 shapes from 1e-3 to 1e9", "relative"): 1e-14,
    **{
        Group(f"{name}, {name}c", f"shapes {shapes}", "relative"): bound
        for name in ("gammainc", "betainc")
        for shapes, bound in (("1e-3 to 1e6", 1e-12), ("1e6 to 1e9", 1e-9))
    },
    **{
        Group(f"log_{name}, log_{name}c", f"shapes {shapes}", "relative"): bound
        for name in ("gammainc", "betainc")
        for shapes, bound in (("1e-3 to 1e6", 1e-12), ("1e6 to 1e9", 1e-9))
    },
    **{
        Group(f"{name}_inverse, {name}c_inverse", "shapes 1e-3 to 1e9", "of 1 ulp of x and of p, together"): 16
        for name in ("gammainc", "betainc")
    },
}


class Error(NamedTuple):
    """One comparison."""

    group: Group
    size: float
    where: str


def rows(name: str) -> Iterator[dict[str, str]]:
    with (DATA / name).open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def difference(got: float, expected: str) -> float:
    """Return |got - expected| with the digits that the golden value has."""
    if not math.isfinite(got):
        return math.inf
    with localcontext() as digits:
        digits.prec = 60
        return float(abs(Decimal(got) - Decimal(expected)))


def in_ulps(got: float, expected: str) -> float:
    return difference(got, expected) / math.ulp(float(expected))


def relative(got: float, expected: str) -> float:
    value = float(expected)
    return difference(got, expected) / abs(value) if value else difference(got, expected)


def group_of(function: str, arguments: list[float]) -> str:
    """The second entry of the group that a row belongs to."""
    if function == "polygamma":
        return "orders 0 to 20, x > 0"
    if function == "log_beta":
        return "2 to 6 shapes from 1e-3 to 1e9"
    if function == "log_gamma_ratio":
        a, r = arguments
        near_zero = a < DIGAMMA_ZERO + 0.1 and a + r > DIGAMMA_ZERO - 0.1
        return "next to its zeros" if near_zero and r < 3 else "a, r from 1e-12 to 1e15"
    return "x > 0" if arguments[0] > 0 else "x < 0"


def size_in(unit: str, got: float, expected: str, arguments: list[float]) -> float:
    if unit == "ulp":
        return in_ulps(got, expected)
    if unit == "relative":
        return relative(got, expected)
    if unit == "absolute":
        return difference(got, expected)
    if unit == "of min(r, 1), absolute":
        return difference(got, expected) / min(arguments[1], 1.0)
    return difference(got, expected) / max(1.0, abs(float(expected))) / EPSILON


def plain_errors() -> Iterator[Error]:
    for row in rows("special.csv"):
        function, arguments = row["function"], [float(x) for x in row["arguments"].split()]
        call = getattr(special, function)
        got = call(arguments) if function == "log_beta" else call(*arguments)
        kind = group_of(function, arguments)
        for group in REQUIRED:
            near = group.arguments.startswith(kind) and (
                group.arguments == kind or abs(arguments[0] - DIGAMMA_ZERO) < 0.1
            )
            if group.function == function and near:
                yield Error(group, size_in(group.unit, got, row["value"], arguments), row["arguments"])


def incomplete_errors() -> Iterator[Error]:
    for row in rows("incomplete.csv"):
        name = f"{row['law']}inc"
        shapes = [float(row[key]) for key in "ab" if row[key]]
        where = " ".join([*map(repr, shapes), row["x"]])
        arguments = [*shapes, float(row["x"])]
        kind = f"shapes {'1e-3 to 1e6' if max(shapes) <= 1e6 else '1e6 to 1e9'}"
        for side, suffix in (("lower", ""), ("upper", "c")):
            if float(row[side]) >= 1e-300:
                got = getattr(special, name + suffix)(*arguments)
                yield Error(Group(f"{name}, {name}c", kind, "relative"), relative(got, row[side]), where)
            got = getattr(special, f"log_{name}{suffix}")(*arguments)
            # Below the normal doubles a logarithm keeps fewer digits.
            if abs(float(row[f"log_{side}"])) > 1e-300:
                group = Group(f"log_{name}, log_{name}c", kind, "relative")
                yield Error(group, relative(got, row[f"log_{side}"]), where)
            yield from inverse_errors(name, suffix, shapes, row, side, where)


def inverse_errors(
    name: str, suffix: str, shapes: list[float], row: dict[str, str], side: str, where: str
) -> Iterator[Error]:
    """Compare the quantile of the tail, rounded to a double, with x moved by what the rounding did."""
    p = float(row[side])
    with localcontext() as digits:
        digits.prec = 60
        exact, weight, x = Decimal(row[side]), Decimal(row["weight"]), Decimal(float(row["x"]))
        if not 1e-290 <= p < 1 or weight == 0:
            return
        # d ln x = dp/weight: how far one ulp of p reaches, and the root for the rounded p, to first order.
        condition = float(exact / weight)
        sign = 1 if side == "lower" else -1
        root = x * (1 + sign * (Decimal(p) - exact) / weight)
        if condition > 1e8:
            return
        got = getattr(special, f"{name}{suffix}_inverse")(*shapes, p)
        error = float(abs(Decimal(got) / root - 1))
    group = Group(f"{name}_inverse, {name}c_inverse", "shapes 1e-3 to 1e9", "of 1 ulp of x and of p, together")
    yield Error(group, error / (EPSILON * (1 + condition)), where)


def worst_errors() -> dict[Group, Error]:
    worst: dict[Group, Error] = {}
    for source in (plain_errors, incomplete_errors):
        for error in source():
            if error.group not in worst or not error.size <= worst[error.group].size:
                worst[error.group] = error
    return worst


def rounded_up(size: float) -> str:
    """Two digits, never below the value."""
    if size == 0:
        return "0"
    scale = 10.0 ** (math.floor(math.log10(size)) - 1)
    return f"{math.ceil(size / scale) * scale:.2g}"


def table(worst: dict[Group, Error]) -> str:
    lines = [
        "| function | arguments | error counted | required | worst | at |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for group, required in REQUIRED.items():
        error = worst[group]
        lines.append(f"| {' | '.join(group)} | {required:g} | {rounded_up(error.size)} | {error.where} |")
    return "\n".join(lines)


def documented() -> dict[Group, float]:
    """Return the worst errors that the page states."""
    lines = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0].strip().splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {Group(*cell[:3]): float(cell[4]) for cell in cells}


def write_page(render: Callable[[dict[Group, Error]], str] = table) -> None:
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{render(worst_errors())}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    write_page()
