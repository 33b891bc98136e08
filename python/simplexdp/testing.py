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

from simplexdp._core import SeededRng, random_words

__all__ = ["SeededRng", "random_words"]
