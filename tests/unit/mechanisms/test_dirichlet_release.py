"""Released rows are the ideal draw on the grid, number by number."""

import chacha20
import ideal_dirichlet
import numpy as np
import pytest

from simplexdp import _dirichlet
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.testing import SeededRng

# Counts of one row, scale, prior, bits of the grid.
HOSTILE = [
    ([3, 0, 5], 1.0, [1.0, 0.5, 2.0], 32),
    ([0, 7, 1e9, 3], 0.1, [0.3, 0.7, 1e-6, 1e-3], 32),
    ([0] * 12, 1.0, [1e-6] * 12, 32),
    ([0, 1, 2, 3, 1e12], 1e-3, [1e-2] * 5, 32),
    ([1e12, 1e12, 1e12], 1.0, [1 / 3] * 3, 52),
    ([0, 1, 2, 3], 0.3, [0.7, 0.7, 0.4, 0.1], 44),
    ([2] * 50, 1.0, [0.1] * 50, 32),
    ([0, 1e14], 7.0, [1e-6, 1.0], 32),
    ([0, 0], 1.0, [1.0, 1.0], 8),
    ([0, 0, 0], 1.0, [1e-3, 1e-3, 1e-3], 52),
    ([4, 5], 1.0, [1 / 3, 2 / 3], 50),
    ([0.5, 0.25, 1e-300], 1e-9, [1 - 2**-53, 1.0, 1 + 2**-52], 40),
    ([0, 1000, 31], 1e-4, [1e-5, 0.9, 0.03], 20),
    # Shapes of exactly one, alone and among neighbours; half words are left over.
    ([1] * 30, 0.5, [0.5] * 30, 32),
    ([0] * 5, 1.0, [1.0] * 5, 52),
    ([0] * 5, 1.0, [1.0, 1 + 2**-52, 1 - 2**-53, 1.0, 1.0], 40),
    ([3, 1, 0, 2, 4], 0.25, [0.25, 0.75, 1.0, 0.25, 1e-3], 32),
]


@pytest.fixture(scope="module")
def ideal():
    return ideal_dirichlet.Ideal()


@pytest.mark.source_tree
def test_the_oracle_blocks_are_chacha20():
    key = bytes(range(32))
    got = ideal_dirichlet.blocks(key, np.array([0, 7], np.uint64), np.array([2**40 + 3, 5], np.uint64))
    assert got[0].tolist() == chacha20.words(key, 2**40 + 3, 8)
    assert got[1].tolist() == list(np.frombuffer(chacha20.block(key, 7, 5), np.uint64))


@pytest.mark.source_tree
def test_released_integers_are_those_of_200_digits(ideal, full):
    # 10^5 gamma draws in full; both the doubles and the intervals (52 bits: every row) decide some.
    per_case = 10_000 if full else 150
    compared = 0
    for seed, (counts, scale, prior, bits) in enumerate(HOSTILE):
        table = np.tile(np.array(counts, float), (max(per_case // len(counts), 1), 1))
        weights = np.array(prior)
        got = _dirichlet.release_units(table, scale, weights, resolution=2.0**-bits, rng=SeededRng(seed))
        expected = ideal.rows(seed, 0, table, scale, weights, bits)
        assert np.array_equal(got, expected), f"case {seed}"
        compared += got.size
    assert compared >= (100_000 if full else 1_800)


@pytest.mark.source_tree
def test_released_gammas_are_those_of_200_digits(ideal, full):
    per_case = 1_000 if full else 60
    for seed, (counts, scale, prior, bits) in enumerate(HOSTILE):
        table = np.tile(np.array(counts, float), (max(per_case // len(counts), 1), 1))
        weights = np.array(prior)
        got = _dirichlet.release_gamma_units(table, scale, weights, resolution=2.0**-bits, rng=SeededRng(seed))
        expected = ideal.rows(seed, 0, table, scale, weights, bits, kind="gammas")
        assert np.array_equal(got, expected), f"case {seed}"


@pytest.mark.source_tree
def test_random_shapes_give_the_integers_of_200_digits(ideal, full):
    # Shapes log-uniform from 1e-6 to 1e12, rows over several chunks' worth of streams.
    rng = np.random.default_rng(5)
    for seed in range(100, 100 + (60 if full else 6)):
        d = int(rng.integers(2, 40))
        prior = 10.0 ** rng.uniform(-6, 3, d)
        counts = np.floor(10.0 ** rng.uniform(-1, 12, (1, d)))
        scale = float(10.0 ** rng.uniform(-4, 0))
        bits = int(rng.integers(10, 53))
        table = np.tile(counts, (4, 1))
        got = _dirichlet.release_units(table, scale, prior, resolution=2.0**-bits, rng=SeededRng(seed))
        assert np.array_equal(got, ideal.rows(seed, 0, table, scale, prior, bits)), f"seed {seed}"


@pytest.mark.source_tree
def test_every_chunk_has_its_own_stream(ideal):
    # 4096 rows of two entries make one chunk: compare across the border.
    table, prior = np.tile([[3.0, 4.0]], (4100, 1)), np.array([1.0, 1.0])
    got = _dirichlet.release_units(table, 1.0, prior, rng=SeededRng(9))
    bits = ideal_dirichlet.Uniforms(chacha20.child_key(9, 0), 1)
    with ideal_dirichlet.mp.workdps(200):
        tail = [ideal.row(bits, [3.0, 4.0], 1.0, [1.0, 1.0], 32) for _ in range(4)]
    assert got[4096:].tolist() == tail


def test_values_are_units_times_the_step():
    table, prior = np.tile([[3.0, 0.0, 4.0]], (50, 1)), np.array([0.5, 1e-3, 2.0])
    for bits in (8, 32, 52):
        y = _dirichlet.release(table, 0.7, prior, resolution=2.0**-bits, rng=SeededRng(3))
        units = _dirichlet.release_units(table, 0.7, prior, resolution=2.0**-bits, rng=SeededRng(3))
        assert np.array_equal(y * 2.0**bits, units)
        assert (units.sum(axis=1) == 2**bits).all()
        assert (y.sum(axis=1) == 1).all()
        assert (units >= 1).all()


def test_seeded_rows_are_stable_and_do_not_depend_on_threads():
    rng = np.random.default_rng(1)
    table, prior = rng.integers(0, 9, (3000, 30)).astype(float), np.full(30, 0.5)
    one = _dirichlet.release(table, 1.0, prior, rng=SeededRng(4), threads=1)
    for threads in (2, 5, None):
        assert np.array_equal(one, _dirichlet.release(table, 1.0, prior, rng=SeededRng(4), threads=threads))


def test_fresh_rows_differ():
    table, prior = np.array([3.0, 4.0, 5.0]), np.ones(3)
    rows = [tuple(_dirichlet.release_units(table, 1.0, prior)) for _ in range(100)]
    assert len(set(rows)) == 100


@pytest.mark.parametrize("resolution", [0.0, 1.0, 0.3, 2.0**-7, 2.0**-53, -0.25, float("nan"), float("inf"), "x", None])
def test_other_resolutions_are_refused(resolution):
    with pytest.raises(InvalidParameterError, match="resolution must be a power of two"):
        _dirichlet.release(np.ones(3), 1.0, np.ones(3), resolution=resolution)


def test_private_counts_stay_out_of_messages():
    for count in (-7.25, float("nan"), float("inf"), 1e200):
        with pytest.raises(InvalidDataError) as caught:
            _dirichlet.release(np.array([1.0, count]), 1.0, np.ones(2))
        assert "not shown" in str(caught.value)
        assert "7.25" not in str(caught.value)


@pytest.mark.parametrize(("scale", "prior"), [(0.0, [1.0, 1.0]), (np.nan, [1.0, 1.0]), (1.0, [1e-7, 1.0]), (1.0, [])])
def test_public_parameters_are_checked(scale, prior):
    with pytest.raises(InvalidParameterError):
        _dirichlet.release(np.ones(len(prior)), scale, np.array(prior))
