"""Tables that were released elsewhere, beside what a synthesizer measures."""

import numpy as np
import pytest

from simplexdp.exceptions import InvalidParameterError
from simplexdp.models import PrivateBinner, PrivateSynthesizer, ReleasedMarginal
from simplexdp.models.known_tables import with_released
from simplexdp.models.marginal_release import Measured
from simplexdp.testing import SeededRng

pytestmark = pytest.mark.filterwarnings("ignore::simplexdp.exceptions.InsecureRandomnessWarning")

SIZES, PAIR = (3, 2), (0, 1)


def centred(cells):
    return cells - cells.mean(0) - cells.mean(1, keepdims=True) + cells.mean()


def least_squares(own, sigmas, other, sigma, shape):
    """Return the best unbiased estimate of all cells of a pair, and its covariance, by dense normal equations.

    `own` are a pair whose row and column totals are drowned, and two one-way tables whose sums are.
    """
    a, b = shape
    rows, columns = np.kron(np.eye(a), np.ones((1, b))), np.kron(np.ones((1, a)), np.eye(b))
    drowned = 1e8
    blocks = [
        (np.eye(a * b), sigmas[2] ** 2 * (np.eye(a * b) + drowned * (rows.T @ rows + columns.T @ columns)), own[2]),
        (rows, sigmas[0] ** 2 * (np.eye(a) + drowned), own[0]),
        (columns, sigmas[1] ** 2 * (np.eye(b) + drowned), own[1]),
        (np.eye(a * b), sigma**2 * np.eye(a * b), other),
    ]
    inverse = sum(design.T @ np.linalg.solve(covariance, design) for design, covariance, _ in blocks)
    right = sum(design.T @ np.linalg.solve(covariance, np.ravel(seen)) for design, covariance, seen in blocks)
    return np.linalg.solve(inverse, right).reshape(shape), np.linalg.inv(inverse)


def test_tables_are_put_together_as_least_squares_do():
    generator = np.random.default_rng(3)
    own = [generator.normal(50, 20, 3), generator.normal(50, 20, 2), generator.normal(20, 9, (3, 2))]
    sigmas, other, sigma = (3.0, 4.0, 7.0), generator.normal(20, 9, (3, 2)), 5.0
    measured = Measured(100.0, 2.0, np.concatenate([np.ravel(cells) for cells in own]), np.array(sigmas))
    found, pairs = with_released(measured, SIZES, [PAIR], [ReleasedMarginal(["a", "b"], other, sigma)], ["a", "b"])
    best, covariance = least_squares(own, sigmas, other, sigma, SIZES)
    assert pairs == [PAIR]
    cells = np.split(found.cells, [3, 5])
    np.testing.assert_allclose(centred(cells[2].reshape(3, 2)), centred(best), atol=1e-4)
    for axis, one_way in ((1, cells[0]), (0, cells[1])):
        sums = best.sum(axis)
        np.testing.assert_allclose(one_way - one_way.mean(), sums - sums.mean(), atol=1e-4)
    # The variance of a direction of each kind.
    for direction, found_sigma in (
        (np.outer([1, -1, 0], [1, -1]) / 2, found.sigmas[2]),
        (np.outer([1, -1, 0], [1, 1]) / 2**0.5, found.sigmas[0]),
        (np.outer([1, 1, 1], [1, -1]) / 2**0.5, found.sigmas[1]),
    ):
        assert direction.ravel() @ covariance @ direction.ravel() == pytest.approx(found_sigma**2, rel=1e-4)
    weights = 1 / np.array([2.0, sigma * 6**0.5]) ** 2
    assert found.total == pytest.approx((weights @ [100.0, other.sum()]) / weights.sum())
    assert found.total_sigma == pytest.approx(weights.sum() ** -0.5)
    # The axes may come the other way round.
    turned = [ReleasedMarginal(["b", "a"], other.T, sigma)]
    np.testing.assert_allclose(with_released(measured, SIZES, [PAIR], turned, ["a", "b"])[0].cells, found.cells)


def test_a_pair_that_was_not_measured_is_added():
    measured = Measured(100.0, 0.0, np.full(5, 20.0), np.ones(2))
    other = ReleasedMarginal(["a", "b"], np.arange(6.0).reshape(3, 2), 2.0)
    found, pairs = with_released(measured, SIZES, [], [other], ["a", "b"])
    assert pairs == [PAIR]
    np.testing.assert_allclose(found.cells[5:], np.arange(6.0))
    assert found.sigmas[2] == 2.0
    assert (found.total, found.total_sigma) == (100.0, 0.0)


N = 3000
CODES = np.arange(N) % 3
PEOPLE = {"a": CODES, "b": (CODES == 1).astype(np.int64)}
JOINT = np.array([[1, 0], [0, 1], [1, 0]]) / 3


def fitted(**parameters):
    given = {"epsilon": 0.2, "domains": {"a": 3, "b": 2}, "components": 32, "random_state": SeededRng(1)}
    return PrivateSynthesizer(**{**given, **parameters}).fit(PEOPLE)


def off(model):
    return 0.5 * np.abs(model.marginal(["a", "b"]) - JOINT).sum()


def test_a_released_table_makes_a_model_better_and_bounds_narrower():
    noise = np.random.default_rng(4).normal(0, 4, (3, 2))
    known = ReleasedMarginal(["a", "b"], JOINT * N + noise, 4.0)
    alone, helped = fitted(), fitted(measured=[known])
    assert off(helped) < 0.01 < off(alone)
    assert helped.error_bounds(["a", "b"]).total_variation < 0.5 * alone.error_bounds(["a", "b"]).total_variation
    assert (
        0.5 * np.abs(helped.error_bounds(["a", "b"]).model - JOINT).sum()
        < helped.error_bounds(["a", "b"]).total_variation
    )
    # What is paid is for what is measured here.
    assert helped.privacy_.epsilon(1e-6) == alone.privacy_.epsilon(1e-6)
    again = PrivateSynthesizer.from_json(helped.to_json())
    np.testing.assert_allclose(again.marginal(["a", "b"]), helped.marginal(["a", "b"]), rtol=1e-12)


@pytest.mark.parametrize(("known", "message"), [
    ([("a", [1, 2, 3])], "list of ReleasedMarginal"), ("a", "list of ReleasedMarginal"),
    ([ReleasedMarginal(["c"], [1.0], 1.0)], "columns of the model"),
    ([ReleasedMarginal(["a"], [1.0, 2.0], 1.0)], "shape"),
])  # fmt: skip
def test_tables_that_do_not_fit_are_refused_before_anything_is_drawn(known, message):
    rng = SeededRng(1)
    with pytest.raises(InvalidParameterError, match=message):
        fitted(measured=known, random_state=rng)
    assert rng.calls == 0


@pytest.mark.parametrize(("columns", "counts", "sigma"), [
    (["a"], [1e300], 1.0), (["a"], [1.0], 1e300),
    ("a", [1.0], 1.0), (["a", "b", "c"], [[[1.0]]], 1.0), (["a", "a"], [[1.0]], 1.0), (["a"], [[1.0]], 1.0),
    (["a"], ["many"], 1.0), (["a"], [np.nan], 1.0), (["a"], [1.0], 0.0), (["a"], [1.0], -1.0),
])  # fmt: skip
def test_tables_that_are_none_are_refused(columns, counts, sigma):
    with pytest.raises(InvalidParameterError):
        ReleasedMarginal(columns, counts, sigma)


def test_bins_that_are_not_known_before_have_no_released_table():
    binner = PrivateBinner("private_quantile", n_bins=3, bounds={"b": (0, 1)}, epsilon=0.05)
    known = ReleasedMarginal(["b"], [1.0, 2.0, 3.0], 1.0)
    with pytest.raises(InvalidParameterError, match="private quantiles"):
        fitted(domains={"a": 3}, binner=binner, measured=[known])
