"""Values that look like counts and numbers, and are none."""

import numpy as np
import pytest

import simplexdp as sdp


@pytest.mark.parametrize(
    "mechanism",
    [
        sdp.DiscreteLaplaceMechanism.for_counts(1.0),
        sdp.LaplaceMechanism.for_counts(1.0),
        sdp.DiscreteGaussianMechanism.for_counts(1.0, 1e-6),
        sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=3),
        sdp.DirichletMechanism(scale=1.0, prior=1.0, dimension=3),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_what_lies_beneath_a_mask_is_not_released(mechanism):
    counts = np.array([500, 1, 2])
    with pytest.raises(sdp.InvalidDataError, match="must not be masked"):
        mechanism.release(np.ma.array(counts, mask=[True, False, False]))
    assert mechanism.release(np.ma.array(counts)).shape == (3,)


@pytest.mark.parametrize(
    "call",
    [
        lambda: sdp.PrivacyCurve.pure("1"),
        lambda: sdp.PrivacyCurve.gaussian(sigma="1", sensitivity=1),
        lambda: sdp.Accountant("1", 1e-6),
        lambda: sdp.DiscreteGaussianMechanism.for_counts("1", 1e-6),
        lambda: sdp.DirichletMechanism(scale="1", prior=1.0, dimension=3),
    ],
)
def test_a_text_is_no_number(call):
    with pytest.raises(sdp.InvalidParameterError, match="must be a number, got '1'"):
        call()


def test_how_often_a_curve_counts_has_an_end_and_curves_come_in_a_list():
    curve = sdp.PrivacyCurve.pure(0.1)
    with pytest.raises(sdp.InvalidParameterError, match="counts must be at most"):
        sdp.compose([curve], [2**70])
    with pytest.raises(sdp.InvalidParameterError, match="curves must be a list"):
        sdp.compose(None)
