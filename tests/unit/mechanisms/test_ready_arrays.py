"""Arrays that need no coercion take a short way through the core: the same draws, and the same refusals."""

import tracemalloc

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


def askew(values):
    """The same values where no processor wants them: three bytes beyond a multiple of eight."""
    memory = np.zeros(values.nbytes + 8, dtype=np.uint8)
    array = memory[3 : 3 + values.nbytes].view(values.dtype).reshape(values.shape)
    array[...] = values
    assert not array.flags.aligned
    return array


@pytest.mark.parametrize("mechanism", [*NOISE, *DIRICHLET[:2]], ids=repr)
@pytest.mark.parametrize("rows", [1, 50_000])
def test_many_rows_are_the_same_however_they_lie(mechanism, rows):
    # 50,000 rows are more than one thread gets; each is another one.
    values = 1 + np.arange(3 * rows, dtype=np.int64).reshape(rows, 3)
    options = {"rows": "table"} if mechanism in DIRICHLET else {}
    expected = mechanism.release(values, rng=SeededRng(5), **options)
    others = [
        askew(values),
        np.asfortranarray(values),
        values[::-1][::-1],
        values.astype(np.int32),
        values.astype(">i8"),
    ]
    if mechanism in [*NOISE[2:4], *DIRICHLET]:
        others += [values.astype(float), askew(values.astype(float)), np.asfortranarray(values.astype(float))]
    for other in others:
        assert np.array_equal(mechanism.release(other, rng=SeededRng(5), **options), expected)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("mechanism", [NOISE[2], DIRICHLET[0]], ids=repr)
def test_no_copy_of_many_values_is_made(mechanism, dtype):
    values = np.ones((100_000, 3), dtype=dtype)
    mechanism.release(values)
    tracemalloc.start()
    try:
        # NumPy tells of its memory; that of the result is the core's.
        mechanism.release(values)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < values.nbytes / 4


def test_bad_counts_among_many_rows_are_refused_as_one_row_is():
    for mechanism in DIRICHLET[:2]:
        for bad, rule in [(-1, "non-negative"), (10**15 + 1, "at most 1e15"), (2**62, "at most 1e15")]:
            for dtype in (np.int64, np.float64):
                counts = np.full((1000, 3), 5, dtype=dtype)
                counts[777, 1] = bad
                with pytest.raises(sdp.InvalidDataError, match=rule):
                    mechanism.release(counts, rows="table")
    below = np.full((1000, 3), 5)
    below[777, 1] = 0
    with pytest.raises(sdp.InvalidDataError, match="at least the floor"):
        DIRICHLET[1].release(below, rows="table")


def test_large_integers_are_rounded_from_what_they_are():
    """Doubles hold every second one beyond 2^53, and every 512th beyond 2^61: neighbours must stay neighbours."""
    mechanism = sdp.LaplaceMechanism(scale=2**10, sensitivity=2, changed=2, resolution=2**10)
    exact = [2**60 + k for k in (-513, -512, -511, -1, 0, 1, 511, 512, 513)] + [-(2**60) - 512, -(2**60) - 513]
    values = np.array(exact, dtype=np.int64)
    noise = mechanism.release(np.zeros(len(exact), dtype=np.int64), rng=SeededRng(3)) / 2**10
    noisy = mechanism.release(values, rng=SeededRng(3)) / 2**10
    steps = [(2 * x + 2**10) // 2**11 for x in exact]
    assert [int(y) - int(z) for y, z in zip(noisy, noise, strict=True)] == steps


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
