"""Curves as text and back."""

from functools import lru_cache

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
    text = curve.guarantee.to_text()
    if text is None:
        raise InvalidParameterError(
            "curve must be made of numbers to be kept in a ledger, got one made from a Python function; "
            "state it by from_rdp, from_zcdp, from_tcdp or from_epsilon_delta"
        )
    return text


@lru_cache(maxsize=4096)
def from_text(text: str) -> PrivacyCurve:
    """Return the curve that `to_text` wrote.

    Raises
    ------
    LedgerError
        For any other text. Nothing in it is executed: it holds names of known profiles, and numbers.
    """
    try:
        return PrivacyCurve.from_guarantee(_core.Guarantee.from_text(text), "from a ledger")
    except (InvalidParameterError, UnicodeEncodeError) as error:  # Half a pair of surrogates is no text of the core.
        raise LedgerError(f"a curve in the ledger cannot be read: {error}") from error
