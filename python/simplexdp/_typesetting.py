"""Where lines of a page may end."""

import re

__all__ = ["kept_together"]

_BEFORE_SIGN = re.compile(r"(?<=\d) %")


def kept_together(text: str) -> str:
    r"""Return text for a page, where no line ends between a number and its sign of per cent.

    Examples
    --------
    >>> kept_together("73.2 % of cases")
    '73.2\xa0% of cases'
    """
    return _BEFORE_SIGN.sub("\xa0%", text)
