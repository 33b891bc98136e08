"""What is inferred from counts of weighted persons is in persons."""

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import InvalidParameterError
from simplexdp.models import PrivateHistogram


@pytest.mark.parametrize("kind", [sdp.DiscreteLaplaceMechanism, sdp.DiscreteGaussianMechanism])
def test_counts_in_units_are_read_as_persons(kind):
    units = sdp.sensitivity.weight_units(4)
    delta = () if kind is sdp.DiscreteLaplaceMechanism else (1e-6,)
    mechanism = kind.for_counts(0.5, *delta, max_rows=units)
    noisy = np.array([[40, 25, 9], [14, 0, 70]]) * units + [[3, -50, 7], [30, 11, -2]]
    found = mechanism.infer(noisy, units=units)
    # Noise of a continuous law of the same size in persons, on a grid that is as good as none.
    size = float(getattr(mechanism, "scale", None) or mechanism.sigma) / units
    if delta:
        same = sdp.GaussianMechanism(sigma=size, sensitivity=1, changed=1).infer(noisy / units)
    else:
        same = sdp.LaplaceMechanism(scale=size, sensitivity=1, changed=1).infer(noisy / units)
    np.testing.assert_array_equal(found.counts.mean, same.counts.mean)
    assert mechanism.infer(noisy[0], units=units, total=75).counts.mean.sum() == pytest.approx(75)
    # Persons are whole in the one and fractions in the other: what they say differs by a fraction of a person.
    fine = mechanism.infer(noisy).counts.mean / units
    np.testing.assert_allclose(found.counts.mean, fine, atol=0.6)


def test_a_histogram_of_persons_infers_the_same():
    visits = {"who": [1, 1, 2, 3, 3, 3, 4], "ward": ["a", "b", "a", "b", "b", "a", "b"]}
    histogram = PrivateHistogram(
        ["a", "b"], epsilon=1.0, delta=0.0, unit="who", max_rows=3, weighted=True, adjacency="add_remove",
        random_state=sdp.testing.SeededRng(1), mechanism="discrete_laplace",
    ).fit(visits, "ward")  # fmt: skip
    units = sdp.sensitivity.weight_units(3)
    noisy = np.round(histogram.released_ * units).astype(int)
    found = histogram.mechanism_.infer(noisy, prior="empirical", units=units)
    np.testing.assert_allclose(found.counts.mean, histogram.posterior_.counts.mean, rtol=1e-12)


def test_noise_without_units_is_refused():
    mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=2)
    with pytest.raises(InvalidParameterError, match="units must be 1 for SumPreserving"):
        mechanism.infer([3, 4], units=12)
    with pytest.raises(InvalidParameterError, match="units must be"):
        sdp.DiscreteLaplaceMechanism.for_counts(1.0).infer([3, 4], units=0)
