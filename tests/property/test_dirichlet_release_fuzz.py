"""Whatever the arguments, a release is a row of the grid or a clear error, and it ends."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simplexdp import _dirichlet
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.testing import SeededRng

ANYTHING = st.floats(allow_nan=True, allow_infinity=True)
COUNTS = st.one_of(st.floats(0, 1e16), st.integers(0, 10**6).map(float), ANYTHING)
WEIGHTS = st.one_of(st.floats(1e-6, 1e15), st.sampled_from([1e-6, 0.5, 1.0, 1 - 2**-53, 1 + 2**-52]), ANYTHING)
SCALES = st.one_of(st.floats(1e-300, 1e15), st.sampled_from([0.5, 1.0, 5e-324]), ANYTHING)
BITS = st.one_of(st.integers(8, 52), st.integers(-5, 70))


@given(st.lists(st.tuples(COUNTS, WEIGHTS), max_size=12), SCALES, BITS, st.integers(0, 2**64))
def test_a_release_is_a_row_of_the_grid_or_an_error(entries, scale, bits, seed):
    counts, prior = np.array(entries, float).reshape(-1, 2).T.copy()
    try:
        y = _dirichlet.release(counts, scale, prior, resolution=2.0**-bits, rng=SeededRng(seed))
    except (InvalidDataError, InvalidParameterError) as error:
        message = str(error)
        y = None
    if y is None:
        assert " must " in message
        return
    units = y * 2.0**bits
    assert y.shape == counts.shape
    assert y.sum() == 1
    assert ((units >= 1) & (units == np.floor(units))).all()


@given(st.lists(st.tuples(st.floats(0, 1e12), st.floats(1e-6, 1e3)), min_size=2, max_size=8), st.floats(1e-6, 1.0))
def test_valid_arguments_are_never_refused(entries, scale):
    counts, prior = np.array(entries, float).T.copy()
    y = _dirichlet.release(counts, scale, prior, resolution=2.0**-40, rng=SeededRng(1))
    assert y.sum() == 1
