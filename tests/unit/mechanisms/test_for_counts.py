"""Mechanisms for counts: the natural call costs what was asked, for histograms, tables, and people with many rows."""

import inspect
import itertools
import math

import numpy as np
import pytest

import simplexdp as sdp

PURE = [sdp.DiscreteLaplaceMechanism, sdp.LaplaceMechanism]
GAUSSIAN = [sdp.DiscreteGaussianMechanism, sdp.GaussianMechanism]
NOISE = [*PURE, *GAUSSIAN]


def discrete_law(mechanism, reach):
    """Return the law of the noise on -reach, ..., reach by its definition."""
    z = np.arange(-reach, reach + 1)
    exponent = (
        -((z / float(mechanism.sigma)) ** 2) / 2 if hasattr(mechanism, "sigma") else -abs(z) / float(mechanism.scale)
    )
    weights = np.exp(exponent)
    return weights / weights.sum()


def hockey_stick(pairs, epsilon):
    """Return the divergence of a product of laws from another, by enumeration."""
    p, q = np.ones(1), np.ones(1)
    for first, second in pairs:
        p, q = np.outer(p, first).ravel(), np.outer(q, second).ravel()
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("max_rows", [1, 2])
def test_integer_noise_hides_a_person_in_a_histogram(adjacency, max_rows):
    # What an attacker who knows all other rows sees: the counts that this person can move, each with its own noise.
    moves = [(max_rows, 0)] if adjacency == "add_remove" else [(max_rows, 0), (0, max_rows)]
    spread = [(1, 0)] * max_rows if adjacency == "add_remove" else [(1, 0)] * max_rows + [(0, 1)] * max_rows
    for kind, budget in ((sdp.DiscreteLaplaceMechanism, (1.0,)), (sdp.DiscreteGaussianMechanism, (1.5, 1e-3))):
        mechanism = kind.for_counts(*budget, adjacency=adjacency, max_rows=max_rows)
        delta = budget[1] if len(budget) == 2 else 0.0
        reach = 12 if len(moves + spread) > 5 else 40
        law = discrete_law(mechanism, 300)
        for change in (moves, spread):
            if len(change) > 2:
                continue  # too many outcomes to enumerate; l1 and l2 are no larger than for two
            window = slice(300 - reach, 300 + reach + 1)
            pairs = [(np.roll(law, a)[window], np.roll(law, b)[window]) for a, b in change]
            assert hockey_stick(pairs, budget[0]) <= delta + 1e-12
            assert mechanism.privacy.epsilon(delta) <= budget[0]


def test_less_noise_would_not_hide_a_replaced_record():
    # The likelihood ratio of two counts that move by one each is exp(2 / scale), at the outcome (large, small).
    mechanism = sdp.DiscreteLaplaceMechanism.for_counts(1.0)
    law = discrete_law(mechanism, 100)
    ratio = law[101] / law[102] * (law[99] / law[98])
    assert math.log(ratio) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("kind", NOISE)
def test_the_natural_call_is_safe(kind):
    # Before, calibrated(1) was for sensitivity 1, and a histogram cost 2, or 1.45 with Gaussian noise.
    for builder in (kind, kind.calibrated):
        assert inspect.signature(builder).parameters["sensitivity"].default is inspect.Parameter.empty
    budget = (1.0,) if kind in PURE else (1.0, 1e-6)
    mechanism = kind.for_counts(*budget)
    delta = 0.0 if kind in PURE else 1e-6
    assert 0.999 < mechanism.privacy.epsilon(delta) <= 1.0
    assert mechanism.adjacency == "replace"
    least = math.sqrt(2) if kind in GAUSSIAN else 2
    assert mechanism.sensitivity >= least
    assert mechanism.release([[3, 1], [4, 1]]).shape == (2, 2)
    # Nothing else: twice the rows, twice the distance.
    twice = kind.for_counts(*budget, max_rows=2)
    assert float(twice.sensitivity) == pytest.approx(2 * float(mechanism.sensitivity), rel=1e-12)
    assert kind.for_counts(*budget, adjacency="add_remove").sensitivity == 1


@pytest.mark.parametrize("kind", [sdp.LaplaceMechanism, sdp.GaussianMechanism])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_noise_on_a_grid_is_told_in_how_many_counts_a_person_shows(kind, rows):
    # Each changed count may be rounded up by a step of its own, so that one too few would be a false guarantee.
    cells = 2 * rows
    choices = [each for size in range(rows + 1) for each in itertools.combinations_with_replacement(range(cells), size)]
    own = np.array([np.bincount(np.array(each, dtype=int), minlength=cells) for each in choices])
    replaced = np.count_nonzero(own[:, None] - own, axis=-1).max()
    added = np.count_nonzero(own, axis=-1).max()
    budget = (1.0,) if kind is sdp.LaplaceMechanism else (1.0, 1e-6)
    for adjacency, changed in (("replace", replaced), ("add_remove", added)):
        assert kind.for_counts(*budget, adjacency=adjacency, max_rows=rows).changed == changed


def test_a_scale_that_is_not_drawn_is_refused_by_the_name_of_its_budget():
    # Before, `scale` was named, which nobody had given.
    for build in (
        lambda epsilon: sdp.DiscreteLaplaceMechanism.for_counts(epsilon),
        lambda epsilon: sdp.DiscreteLaplaceMechanism.calibrated(epsilon=epsilon, sensitivity=2),
        lambda epsilon: sdp.SumPreservingLaplaceMechanism.for_counts(epsilon, dimension=3),
    ):
        assert build(2.0**-49).scale == 2**50
        for epsilon in (2.0**-49 * (1 - 2.0**-53), 1e-300, 5e-324):
            with pytest.raises(
                sdp.InvalidParameterError, match=f"^epsilon must be at least 1.78e-15, .* got {epsilon}"
            ):
                build(epsilon)


@pytest.mark.parametrize("kind", [sdp.LaplaceMechanism, sdp.GaussianMechanism])
def test_several_values_need_the_number_that_changes(kind):
    size = {"scale": 1.0} if kind is sdp.LaplaceMechanism else {"sigma": 1.0}
    alone = kind(**size, sensitivity=1)
    assert isinstance(alone.release(0.5), float)
    assert alone.release([0.5]).shape == (1,)
    with pytest.raises(sdp.InvalidParameterError, match="changed must be given"):
        alone.release([0.5, 1.5])
    stated = kind(**size, sensitivity=1, changed=1)
    assert stated.privacy.epsilon(1e-6) == alone.privacy.epsilon(1e-6)
    assert stated.release([0.5, 1.5]).shape == (2,)


def test_rows_that_keep_their_sums_must_be_independent():
    mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=3)
    table = np.array([[10, 20, 30], [5, 0, 1]])
    with pytest.raises(sdp.InvalidParameterError, match="rows must be 'independent'"):
        mechanism.release(table)
    assert mechanism.release(table[:1]).sum() == 60
    cells = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=6)
    assert cells.release(table.ravel()).sum() == table.sum()
    stated = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=3, rows="independent")
    assert np.array_equal(stated.release(table).sum(axis=1), table.sum(axis=1))
    assert stated.privacy.epsilon(0.0) == mechanism.privacy.epsilon(0.0) == 1.0
    assert sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=3, max_rows=4).scale == 8
    with pytest.raises(sdp.InvalidParameterError, match="rows must be one of"):
        sdp.SumPreservingLaplaceMechanism(scale=1, dimension=3, rows="table")


@pytest.mark.parametrize("advantage", [1e-9, 0.01, 0.3, 0.9, 1 - 1e-6])
@pytest.mark.parametrize("kind", [*NOISE, sdp.SumPreservingLaplaceMechanism])
def test_an_advantage_is_met_and_used_up(kind, advantage):
    size = {"dimension": 4} if kind is sdp.SumPreservingLaplaceMechanism else {}
    mechanism = kind.for_counts(advantage=advantage, **size)
    assert (1 - 1e-6) * advantage <= mechanism.privacy.delta(0.0) <= advantage
    if hasattr(mechanism, "scale"):
        # (p - q) of the pure loss: tanh(epsilon / 2), from the outside.
        loss = float(mechanism.sensitivity) / float(mechanism.scale)
        assert math.tanh(loss / 2) <= advantage * (1 + 1e-12)
    elif kind is sdp.DiscreteGaussianMechanism and mechanism.sigma < 10:
        law = discrete_law(mechanism, 200)
        assert hockey_stick([(np.roll(law, 1), law)] * 2, 0.0) <= advantage + 1e-13
    else:
        # Real Gaussian noise: erf(mu / sqrt(8)).
        mu = math.sqrt(2) / float(mechanism.sigma)
        assert math.erf(mu / math.sqrt(8)) <= advantage * (1 + 1e-4 * (kind is sdp.DiscreteGaussianMechanism) + 1e-9)
    for bad in (0.0, 1.0, -0.5, math.nan):
        with pytest.raises(sdp.InvalidParameterError, match="advantage"):
            kind.for_counts(advantage=bad, **size)


@pytest.mark.parametrize("advantage", [1e-6, 0.05, 0.5, 0.9])
def test_a_dirichlet_mechanism_has_the_advantage_that_was_asked_for(advantage):
    mechanism = sdp.DirichletMechanism.for_counts(advantage=advantage, dimension=4, total=1000)
    assert 0.99 * advantage <= mechanism.privacy.delta(0.0) <= advantage
    with pytest.raises(sdp.InvalidParameterError, match="not both"):
        sdp.DirichletMechanism.for_counts(1.0, 1e-6, advantage=0.1, dimension=4, total=1000)


def test_dirichlet_rows_of_a_table_cost_as_much_as_one():
    mechanism = sdp.DirichletMechanism.for_counts(1.0, 1e-6, dimension=3, total=100)
    assert mechanism.table_privacy.epsilon(1e-6) == mechanism.privacy.epsilon(1e-6) <= 1
    assert mechanism.release([[10, 20, 30], [5, 0, 1]]).shape == (2, 3)


@pytest.mark.parametrize("kind", GAUSSIAN)
def test_gaussian_noise_names_what_of_a_budget_is_missing(kind):
    with pytest.raises(sdp.InvalidParameterError, match="delta must be given with epsilon"):
        kind.for_counts(1.0)
    with pytest.raises(sdp.InvalidParameterError, match="epsilon must be given with delta"):
        kind.for_counts(delta=1e-6)
    with pytest.raises(sdp.InvalidParameterError, match="a budget must be one of"):
        kind.for_counts(1.0, 1e-6, rho=0.1)
    with pytest.raises(sdp.InvalidParameterError, match="a budget must be one of"):
        kind.for_counts()
