"""Reproducible randomness, for tests and experiments.

Examples
--------
>>> from simplexdp.testing import SeededRng
>>> rng = SeededRng(7)
>>> rng.calls
0
>>> [child.calls for child in rng.spawn(2)]
[0, 0]
>>> rng
SeededRng(7, calls=2)
"""

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp._arguments import fitting, integer
from simplexdp._core import SeededRng
from simplexdp.exceptions import InvalidParameterError

__all__ = ["SeededRng", "random_words"]


def random_words(size: int, *, index: int = 0, rng: SeededRng | None = None) -> NDArray[np.uint64]:
    """Return raw words of one stream of a fresh key: what every draw is made of.

    Parameters
    ----------
    size : int
        Number of 64-bit words.
    index : int, default 0
        Which stream of the key.
    rng : SeededRng, optional
        By default the operating system's entropy.

    Returns
    -------
    ndarray of uint64, shape (size,)

    Examples
    --------
    >>> from simplexdp.testing import random_words
    >>> random_words(3).shape
    (3,)
    """
    (size,) = fitting("size", (integer("size", size, 0),))
    index = integer("index", index, 0)
    if index >= 1 << 64:
        raise InvalidParameterError(f"index must be below 2**64, got {index}")
    return _core.random_words(size, index, rng)
