"""What a mechanism may do with a chance of delta, whatever epsilon is, stays possible in a composition."""

import pytest

import simplexdp as sdp


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize(
    "beside",
    [
        sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=4).privacy,
        sdp.DiscreteLaplaceMechanism.for_counts(0.3).privacy,
    ],
    ids=["Dirichlet", "Laplace"],
)
def test_losses_without_end_add_up(beside, times):
    leaks = [sdp.PrivacyCurve.from_epsilon_delta(0.5, 1e-3)] * times
    told = sdp.compose([*leaks, *[beside] * 3]).delta(500.0)
    # Finite losses of 500 are left out of the account by the other parts, but for 1e-9 of it.
    truth = 1 - (1 - 1e-3) ** times
    assert truth * (1 - 1e-12) <= told <= truth * (1 + 1e-6)


@pytest.mark.parametrize(("times", "epsilon"), [(1100, 1.0995), (5000, 4.99), (10**6, 999.0)])
def test_what_underflows_is_not_reported_as_nothing(times, epsilon):
    # All losses of 1/1000 point the same way with a chance of some 2^-times: no double, but above zero.
    curve = times * sdp.PrivacyCurve.pure(1e-3)
    assert curve.delta(epsilon) == 2.0**-1022
    assert curve.epsilon(0.0) >= times / 1000
    assert curve.delta(times / 1000 * (1 + 1e-9)) == 0.0
