"""Curves as text and back: the calls that make their profiles, by name, and nothing that could run code."""

import json
from functools import lru_cache
from typing import Any

from simplexdp import _core
from simplexdp.accounting.curve import PrivacyCurve
from simplexdp.exceptions import InvalidParameterError, LedgerError


def to_text(curve: PrivacyCurve) -> str:
    """Return a text that tells curves apart to the last bit of every parameter; the label does not enter.

    Raises
    ------
    InvalidParameterError
        For a curve that was made from a Python function.
    """
    recipe = {
        "adjacency": curve.adjacency,
        "sampling_error": float(curve.sampling_error).hex(),
        "profiles": [_encode(profile) for profile in curve.profiles],
    }
    return json.dumps(recipe, separators=(",", ":"), sort_keys=True)


@lru_cache(maxsize=4096)
def from_text(text: str) -> PrivacyCurve:
    """Return the curve that `to_text` wrote."""
    try:
        recipe = json.loads(text)
        profiles = [_decode(profile) for profile in recipe["profiles"]]
        error = float.fromhex(recipe["sampling_error"])
        return PrivacyCurve(profiles, adjacency=recipe["adjacency"], sampling_error=error, label="from a ledger")
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise LedgerError(f"a curve in the ledger cannot be read: {error}") from error


def _encode(value: Any) -> Any:
    if isinstance(value, _core.Profile):
        function, arguments = value.__reduce__()[:2]
        return {"call": function.__name__, "with": [_encode(argument) for argument in arguments]}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, list | tuple):
        return {"tuple" if isinstance(value, tuple) else "list": [_encode(item) for item in value]}
    raise InvalidParameterError(
        "curve must be made of numbers to be kept in a ledger, got one made from a Python function; "
        "state it by from_rdp, from_zcdp, from_tcdp or from_epsilon_delta"
    )


def _decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float.fromhex(value["float"])
    if "tuple" in value:
        return tuple(_decode(item) for item in value["tuple"])
    if "list" in value:
        return [_decode(item) for item in value["list"]]
    name = value["call"]
    if name != "compose_profiles" and not name.endswith("_profile"):
        raise LedgerError(f"a curve in the ledger asks for {name}, which makes no profile")
    return getattr(_core, name)(*(_decode(argument) for argument in value["with"]))
