"""Intervals of discovered counts: what they cover given that a category was published, by enumeration."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.frames import Domain
from simplexdp.frames.discovery import DiscoveredDomain

SETTINGS = [
    # scale, threshold, least
    (Fraction(1, 3), 8, 2),
    (Fraction(2), 8, 2),
    (Fraction(2), 40, 5),
    (Fraction(9, 2), 3, 1),
    (Fraction(9, 2), 60, 7),
]


def found(noisy, scale, threshold, least, rest=0, other_scale=Fraction(1)):
    return DiscoveredDomain(
        tuple(f"v{i}" for i in range(len(noisy))),
        other=True,
        noisy_counts=np.array([*noisy, rest]),
        threshold=threshold,
        least=least,
        scale=scale,
        other_scale=other_scale,
    )


def misses(scale, threshold, least, level):
    """The chance that the interval misses a count, given that it is published, for every count; by mpmath alone."""
    values = np.arange(threshold, threshold + 60 * int(scale + 1) + 60)
    ends = found(values.tolist(), scale, threshold, least).interval(level)[:-1]
    step = mpmath.exp(-1 / mpmath.mpf(float(scale)))
    for count in range(least, threshold + 20 * int(scale + 1)):
        law = [step ** abs(int(value) - count) for value in values]
        # Beyond the last value intervals lie above the count: what is there counts as missed.
        whole = mpmath.fsum(law) + law[-1] * step / (1 - step)
        hit = mpmath.fsum(p for p, (low, high) in zip(law, ends, strict=True) if low <= count <= high)
        yield float(1 - hit / whole)


@pytest.mark.parametrize(("setting", "level"), list(itertools.product(SETTINGS, (0.5, 0.95, 0.999))))
def test_a_published_count_is_covered_whatever_it_is(setting, level):
    worst = max(misses(*setting, level))
    assert worst <= (1 - level) * (1 + 1e-9)
    # And the law is discrete, not the interval wide: one step less on either side would miss too often.
    assert worst >= (1 - level) * float(mpmath.exp(-2 / mpmath.mpf(float(setting[0]))))


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_ordinary_interval_covers_too_little_near_the_threshold_and_is_the_same_far_above(setting):
    scale, threshold, least = setting
    noise = sdp.DiscreteLaplaceMechanism(scale=scale, sensitivity=1)
    far = threshold + 80 * int(scale + 1)
    assert found([far], *setting).interval()[0].tolist() == noise.interval([far])[0].tolist()
    if threshold > least + 5 * scale:
        # A count of `least` is published by a large noise alone, which the ordinary interval does not expect.
        radius = int(noise.interval([0])[0, 1])
        assert least < threshold - radius
        assert found([threshold], *setting).interval()[0, 0] == least


def test_the_rest_is_covered_with_noise_of_its_own_and_as_what_the_others_leave():
    # 600 discoveries of either kind at level 0.8: fewer than 440 hits have a chance below 1e-4, as the mean is 480 at
    # least and the deviation below 10.
    rng = sdp.testing.SeededRng(8)
    counts = {"a": 60, "b": 31, **{f"rare {i}": 2 for i in range(9)}}
    people = {"v": [value for value, count in counts.items() for _ in range(count)]}
    for adjacency in ("replace", "add_remove"):
        hits = 0
        for _ in range(600):
            discovered = Domain.discover(people, "v", epsilon=0.5, delta=1e-3, adjacency=adjacency, rng=rng)
            rest = sum(counts.values()) - sum(counts[value] for value in discovered.values)
            low, high = discovered.interval(0.8)[-1]
            hits += low <= rest <= high
        assert hits >= 440


def test_nothing_published_leaves_the_public_number_of_records():
    discovered = Domain.discover({"v": list(range(50))}, "v", epsilon=1.0, delta=1e-6)
    assert discovered.values == ()
    assert discovered.interval().tolist() == [[50, 50]]


@pytest.mark.parametrize("level", [0.0, 1.0, -1, float("nan"), "much", None])
def test_a_level_is_a_probability(level):
    with pytest.raises((sdp.InvalidParameterError, TypeError), match="level"):
        found([9], *SETTINGS[1]).interval(level)
