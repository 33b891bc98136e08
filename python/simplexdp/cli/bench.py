"""``simplexdp bench``: how long things take on this machine, beside NumPy where NumPy does the like."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from simplexdp.cli import options
from simplexdp.cli.files import Command
from simplexdp.cli.progress import Progress
from simplexdp.cli.writing import Output, Result, emit

__all__ = ["bench"]


@dataclass(frozen=True)
class Case:
    """One thing that is timed.

    Parameters
    ----------
    name : str
    run : callable
    peer : callable, optional
        What NumPy needs for the like, without the guarantee.
    """

    name: str
    run: Callable[[], Any]
    peer: Callable[[], Any] | None = None


def _cases() -> list[Case]:
    import simplexdp as sdp

    generator = np.random.default_rng()
    counts = np.arange(1, 11) * 100
    many = np.tile(counts, (10_000, 1))
    dirichlet = sdp.DirichletMechanism(scale=0.1, prior=1.0, dimension=10)
    concentrations = 0.1 * counts + 1.0
    values = np.zeros(100_000, dtype=np.int64)
    discrete = sdp.DiscreteLaplaceMechanism(scale=10, sensitivity=2)
    hellinger = sdp.HellingerMechanism([1.0] * 10, 10**6, 1.0)
    large = counts * 1_000_000 // int(counts.sum())
    large[0] += 10**6 - int(large.sum())

    def curve(count: int) -> Any:
        # Made anew: a curve may keep what it has found out.
        return (count * sdp.PrivacyCurve.gaussian(sigma=20.0)).epsilon(1e-6)

    return [
        Case(
            "release of a histogram, 10 categories",
            lambda: dirichlet.release(counts),
            lambda: generator.dirichlet(concentrations),
        ),
        Case(
            "release of 10000 histograms, 10 categories",
            lambda: dirichlet.release(many),
            lambda: generator.dirichlet(concentrations, 10_000),
        ),
        Case("synthetic counts of 1000 records", lambda: dirichlet.release_counts(counts, 1000)),
        Case(
            "discrete Laplace noise on 100000 integers",
            lambda: discrete.release(values),
            lambda: values + np.rint(generator.laplace(0.0, 10.0, len(values))).astype(np.int64),
        ),
        Case("Hellinger release, 10 categories, 10^6 records", lambda: hellinger.release(large)),
        Case(
            "calibration to (1, 1e-6)",
            lambda: sdp.DirichletMechanism.calibrated(epsilon=1.0, delta=1e-6, dimension=10, total=1000),
        ),
        Case(
            "epsilon of one Dirichlet release",
            lambda: sdp.DirichletMechanism(scale=0.1, prior=1.0, dimension=10).privacy.epsilon(1e-6),
        ),
        Case("epsilon of 12 releases, composed", lambda: curve(12)),
        Case("epsilon of 1000 releases, composed", lambda: curve(1000)),
    ]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  simplexdp bench --seconds 0.05
  simplexdp bench --seconds 0.05 --json
""",
)
@click.option(
    "--seconds",
    type=options.Between(0.001, 60.0),
    default=0.5,
    show_default=True,
    help="To spend on each thing and on its peer.",
)
@options.output_options
def bench(seconds: float, out: str | None, form: str | None, as_json: bool, quiet: bool) -> None:
    """Time the library on this machine: releases, curves, composition.

    Each thing and its peer are run in turn, and the best of all rounds counts. The peer is NumPy where it draws the
    like: not exactly, not from the operating system's entropy, and with no guarantee.
    """
    output = Output.chosen(out, form, as_json)
    rows: list[tuple[str, float, float | None, float | None]] = []
    with Progress("timing") as bar:
        cases = _cases()
        for index, case in enumerate(cases):
            bar(index / len(cases))
            ours, peer = _timed(case, seconds)
            rows.append((case.name, ours, peer, None if peer is None else peer / ours))
    columns = dict(
        zip(("task", "seconds", "numpy_seconds", "times_faster"), map(list, zip(*rows, strict=True)), strict=True)
    )
    details = {
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    if output.form == "table":
        columns = {
            "task": columns["task"],
            "time": [_unit(value) for value in columns["seconds"]],
            "NumPy": ["" if value is None else _unit(value) for value in columns["numpy_seconds"]],
            "times faster": ["" if value is None else f"{value:.2g}" for value in columns["times_faster"]],
        }
    note = f"Best time of one call, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}."
    emit(Result(columns, details, [note]), output, quiet=quiet)


def _timed(case: Case, budget: float) -> tuple[float, float | None]:
    best = [float("inf"), float("inf")]
    calls = [case.run] if case.peer is None else [case.run, case.peer]
    begin = time.perf_counter()
    for turn in range(10_000):
        for index, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[index] = min(best[index], time.perf_counter() - start)
        if turn >= 2 and time.perf_counter() - begin > budget * len(calls):
            break
    return best[0], None if case.peer is None else best[1]


def _unit(seconds: float) -> str:
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
