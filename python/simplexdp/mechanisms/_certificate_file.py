"""The file of a certified Hellinger mechanism: what is written, and every check of what is read back."""

import hashlib
import json
import math
import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidParameterError

__all__ = ["SHAPES", "Certificate", "read_certificate", "write_certificate"]

FORMAT = "simplexdp Hellinger certificate 1"

SHAPES = ("global", "local", "lifted", "smooth", "lipschitz")
"""The inverse sensitivities that an exponent can follow."""

SENSITIVITIES = ("adaptive", "global", "smooth", "local")
CALIBRATIONS = ("auto", "certified", "proved", "paper")
LARGEST_N = 2**43


class Certificate(NamedTuple):
    """What a certification found, and what it was asked for; all of it public."""

    prior: list[float]
    n: int
    epsilon: float
    delta: float | None
    sensitivity: str
    calibration: str
    shape: str
    parameter: float
    factor: float
    loss: float
    mean_error: float
    epsilons: list[float]
    deltas: list[float]

    @property
    def points(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The profile as arrays."""
        return np.array(self.epsilons), np.array(self.deltas)


def write_certificate(path: str | os.PathLike[str], certificate: Certificate) -> None:
    """Store a certificate with its checksum."""
    path = os.fspath(path)  # a number would be a file descriptor
    content: dict[str, Any] = {"format": FORMAT, **certificate._asdict()}
    content["checksum"] = _checksum(content)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def read_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Return what a file holds, every member of the type and in the range that `write_certificate` gives it.

    The checksum finds accidents, not forgeries: what it fits may still be of any kind.
    """
    path = os.fspath(path)
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        sound = isinstance(content, dict) and content.get("format") == FORMAT
        fits = sound and content.pop("checksum", None) == _checksum(content)
    except (ValueError, RecursionError):
        sound = fits = False
    if not sound:
        raise InvalidParameterError(f"path must name a file of save_certificate, got {path!r}")
    if not fits:
        raise InvalidParameterError(f"path must name a file with a valid checksum, got {path!r}")
    del content["format"]
    if set(content) != set(Certificate._fields):
        raise InvalidParameterError(f"path must name a file with all members of a certificate, got {path!r}")
    checked = {name: _CHECKS[name](content[name]) for name in Certificate._fields}
    for name, value in checked.items():
        if value is None and (name != "delta" or content[name] is not None):
            raise InvalidParameterError(f"path must name a certificate with a valid {name}, got {path!r}")
    found = Certificate(**checked)
    if found.n > 0 and found.loss != found.epsilons[-1]:
        raise InvalidParameterError(f"path must name a certificate whose profile ends at its loss, got {path!r}")
    return found


def _checksum(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _number(value: Any, least: float = 0.0, above: float = -math.inf, below: float = math.inf) -> float | None:
    """Return a finite number in a range, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= least and above < number < below else None


def _numbers(value: Any) -> list[float] | None:
    if not isinstance(value, list):
        return None
    found = [_number(each) for each in value]
    return [number for number in found if number is not None] if value and None not in found else None


def _integer(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= LARGEST_N else None


def _word(*words: str) -> Any:
    return lambda value: value if isinstance(value, str) and value in words else None


_CHECKS: dict[str, Any] = {
    "prior": _numbers,
    "n": _integer,
    "epsilon": lambda value: _number(value, above=0.0),
    "delta": lambda value: _number(value, above=0.0, below=1.0),
    "sensitivity": _word(*SENSITIVITIES),
    "calibration": _word(*CALIBRATIONS),
    "shape": _word(*SHAPES),
    "parameter": _number,
    "factor": lambda value: _number(value, above=0.0),
    "loss": _number,
    "mean_error": _number,
    "epsilons": _numbers,
    "deltas": _numbers,
}
"""Each returns the value, or None where it is none of its kind; only delta may be null in the file."""
