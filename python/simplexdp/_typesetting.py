"""Where lines of a page may end."""

import re

__all__ = ["kept_together", "per_cent", "unbroken"]

_NO_BREAK = "\xa0"
_BEFORE_SIGN = re.compile(r"(?<=\d) %")


def kept_together(text: str) -> str:
    r"""Return text for a page, where no line ends between a number and its sign of per cent.

    Examples
    --------
    >>> kept_together("73.2 % of cases")
    '73.2\xa0% of cases'
    """
    return _BEFORE_SIGN.sub(f"{_NO_BREAK}%", text)


def per_cent(digits: str) -> str:
    r"""Return digits with the sign of per cent, at which no line ends.

    Examples
    --------
    >>> per_cent("73.2")
    '73.2\xa0%'
    """
    return f"{digits}{_NO_BREAK}%"


def unbroken(text: str) -> str:
    r"""Return text in which no line ends.

    Examples
    --------
    >>> unbroken("1 in 20")
    '1\xa0in\xa020'
    """
    return text.replace(" ", _NO_BREAK)
