"""Arrays that need no coercion take a short way through the core: the same draws, and the same refusals."""

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.testing import SeededRng

SHAPES = [(3,), (2, 3), (1, 3), (0, 3), (2, 4, 3)]
NOISE = [
    sdp.DiscreteLaplaceMechanism(scale=3, sensitivity=2),
    sdp.DiscreteGaussianMechanism(sigma=3, sensitivity=2),
    sdp.LaplaceMechanism(scale=3, sensitivity=2, changed=2),
    sdp.GaussianMechanism(sigma=3, sensitivity=2, changed=2),
    sdp.SumPreservingLaplaceMechanism(scale=3, dimension=3, rows="independent"),
]
DIRICHLET = [
    sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=3),
    sdp.DirichletMechanism(scale=0.5, prior=[0.3, 2.0, 3.0], floor=1.0),
    sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=3, total=60),
]
EVERY = [*NOISE, *DIRICHLET]


def of_shape(shape):
    return np.arange(10, 10 + int(np.prod(shape)), dtype=np.int64).reshape(shape)


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_lists_strides_and_other_types_draw_what_ready_arrays_draw(mechanism, shape):
    if mechanism in DIRICHLET:
        shape = (3,)
    values = np.array([10, 20, 30]) if mechanism in DIRICHLET else of_shape(shape)
    padded = np.zeros((*shape[:-1], 2 * shape[-1]), dtype=np.int64)
    padded[..., ::2] = values
    strided = padded[..., ::2]
    expected = mechanism.release(values, rng=SeededRng(11))
    for other in (values.tolist(), strided, values.astype(np.int16), values.astype(np.uint64), values.astype(">i8")):
        if np.asarray(other).dtype.kind == "f":
            continue  # an empty list
        released = mechanism.release(other, rng=SeededRng(11))
        assert np.shape(released) == np.shape(expected)
        assert type(released) is type(expected)
        assert np.array_equal(released, expected)
        if isinstance(expected, np.ndarray):
            assert released.dtype == expected.dtype
    if mechanism in [*NOISE[2:4], *DIRICHLET]:
        assert np.array_equal(mechanism.release(values.astype(float), rng=SeededRng(11)), expected)


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_ready_arrays_are_refused_as_lists_are(mechanism):
    bad = [[1, 2], [[1, 2]], [True, False, True], ["1", "2", "3"]]
    if mechanism in DIRICHLET:
        bad += [[-1, 2, 3], [0, 2, 3], [10**16, 2, 3], [10, 20, 31]]
    if isinstance(mechanism, sdp.SumPreservingLaplaceMechanism):
        bad += [[2**61, 0, 0], [-(2**62), 1, 0]]
    for values in bad:
        outcomes = []
        for given in (values, np.array(values)):
            try:
                outcomes.append(np.shape(mechanism.release(given)))
            except sdp.SimplexDpError as error:
                outcomes.append((type(error), str(error).replace("list", "array")))
        assert outcomes[0] == outcomes[1], values


def test_the_data_stay_as_they_are():
    for mechanism in EVERY:
        values = np.array([10, 20, 30])
        mechanism.release(values)
        assert values.tolist() == [10, 20, 30]
        values.flags.writeable = False
        assert mechanism.release(values).shape == (3,)


def test_refused_counts_use_no_call_of_a_generator():
    rng = SeededRng(4)
    with pytest.raises(sdp.InvalidDataError):
        DIRICHLET[1].release(np.array([0, 2, 3]), rng=rng)
    assert rng.calls == 0
