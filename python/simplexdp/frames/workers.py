"""Whether the workers of a cluster can draw: asked before anything is paid for."""

from __future__ import annotations

from collections.abc import Callable, Iterable

__all__ = ["NEEDED", "answering", "check_answers"]

NEEDED = ("simplexdp", "pyarrow")
"""What a worker imports to draw; the version of the first must be the driver's."""


def answering(needed: tuple[str, ...]) -> Callable[[int], str]:
    """Return what a worker calls: it gives a version, or what it cannot import.

    It is a function within a function, so that it is sent as its code: a worker without the package could not load it
    by its name.
    """

    def answer(_: int) -> str:
        import importlib

        try:
            found = [importlib.import_module(name) for name in needed]
            return str(found[0].__version__)
        except ImportError as error:
            return f"no {error.name}"

    return answer


def check_answers(own: str, answers: Iterable[str], who: str = "a worker") -> None:
    """Refuse workers that lack a package, or have another version of this one."""
    for answer in sorted(set(answers)):
        if answer.startswith("no "):
            name = answer.removeprefix("no ")
            raise ImportError(
                f"nothing was released: {who} cannot import {name}; install simplexdp {own}, pyarrow and narwhals "
                "where the workers run (the Python of PYSPARK_PYTHON, the environment of Dask's workers and scheduler)",
                name=name,
            )
        if answer != own:
            raise ImportError(
                f"nothing was released: {who} has simplexdp {answer}, and here it is {own}; install one version"
            )
