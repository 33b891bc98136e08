"""Numbers and foreign text as they stand on a page: losses rounded up, everything escaped."""

import html
import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from simplexdp._rounding import power, rounded
from simplexdp._typesetting import per_cent, unbroken

__all__ = ["escaped", "escaped_lines", "one_in", "percent", "power", "rounded"]

_OPTION, _COMMA = re.compile(r"(?<![^\s])--?[a-z][a-z-]*"), re.compile(r",(?=\S)")

_BREAKING = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0xFFFE, 0xFFFF], "�") | {9: " ", 10: " ", 13: " "}


def escaped(value: object) -> str:
    """Return foreign text for HTML, in elements and in quoted attributes.

    What no page may hold (control characters, halves of surrogate pairs) becomes a replacement character; text that
    runs from right to left stays within its place.

    Examples
    --------
    >>> escaped('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    text = str(value).encode("utf-8", "replace").decode("utf-8").translate(_BREAKING)
    return html.escape(text, quote=True)


def escaped_lines(value: str) -> str:
    """Return code or a command of several lines for HTML: it may break after a comma, and not within an option.

    Examples
    --------
    >>> escaped_lines("release --by a,b")
    'release <span class="whole">--by</span> a,<wbr>b'
    """
    lines = (_OPTION.sub(r'<span class="whole">\g<0></span>', escaped(line)) for line in value.splitlines())
    return "\n".join(_COMMA.sub(",<wbr>", line) for line in lines)


def one_in(value: float) -> str:
    r"""Return a probability as one in a whole number, rounded up.

    Examples
    --------
    >>> one_in(1e-6)
    '1\xa0in\xa01,000,000'
    """
    return unbroken(f"1 in {math.floor(1 / Decimal(repr(value))):,}") if value < 0.5 else percent(value, 1, up=True)


def percent(value: float, decimals: int, *, up: bool | None = None) -> str:
    r"""Return a share in per cent, rounded up or down when asked to, else to the nearest.

    Examples
    --------
    >>> percent(0.12345, 1), percent(0.12345, 1, up=True), percent(1.0, 2)
    ('12.3\xa0%', '12.4\xa0%', '100.00\xa0%')
    """
    if up is None:
        return per_cent(f"{100 * value:.{decimals}f}")
    # A share such as 0.07 is the double next to it: what is off by less than the twelfth digit is no reason to round.
    exact = round(Decimal(value) * 100, 12)
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    return per_cent(f"{exact.quantize(Decimal(1).scaleb(-decimals), rounding=rounding):f}")
