"""Curves inside dp_accounting, and its loss distributions as curves."""

import warnings

import pytest

import simplexdp as sdp
from simplexdp.accounting import dirichlet_curve

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    dp = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import privacy_loss_distribution as peer

    from simplexdp.accounting.interop import CurveAccountant, CurveEvent

INTERVAL = 1e-3


@pytest.mark.parametrize(
    "curve",
    [
        sdp.PrivacyCurve.gaussian(sigma=2.0, adjacency="add_remove"),
        sdp.PrivacyCurve.laplace(scale=3.0),
        sdp.PrivacyCurve.from_epsilon_delta(0.5, 1e-7),
        dirichlet_curve(scale=0.5, prior=3.0, dimension=4, adjacency="add_remove"),
        10 * dirichlet_curve(scale=0.2, prior=3.0, dimension=4),
    ],
    ids=repr,
)
def test_an_exported_curve_is_pessimistic_and_close(curve):
    exported = curve.to_dp_accounting(value_discretization_interval=INTERVAL)
    for delta in (1e-3, 1e-6, 1e-9):
        ours, theirs = curve.epsilon(delta), exported.get_epsilon_for_delta(delta)
        assert ours - 1e-5 <= theirs <= ours + INTERVAL


def test_our_gaussian_is_theirs():
    ours = sdp.PrivacyCurve.gaussian(sigma=2.0, adjacency="add_remove").to_dp_accounting()
    theirs = peer.from_gaussian_mechanism(2.0)
    assert ours.get_epsilon_for_delta(1e-6) == pytest.approx(theirs.get_epsilon_for_delta(1e-6), abs=1e-6)


def test_events_compose_with_their_gaussian_and_laplace():
    curve = dirichlet_curve(scale=0.2, prior=3.0, dimension=4, adjacency="add_remove")
    events = [CurveEvent.of(curve), dp.GaussianDpEvent(5.0), dp.SelfComposedDpEvent(CurveEvent.of(curve), 3)]
    accountant = CurveAccountant(value_discretization_interval=INTERVAL)
    accountant.compose(dp.ComposedDpEvent([*events, dp.LaplaceDpEvent(4.0)]))
    others = [
        sdp.PrivacyCurve.gaussian(sigma=5.0, adjacency="add_remove"),
        sdp.PrivacyCurve.laplace(scale=4.0, adjacency="add_remove"),
    ]
    ours = sdp.compose([curve, *others], [4, 1, 1])
    assert accountant.get_epsilon(1e-6) == pytest.approx(ours.epsilon(1e-6), abs=1e-4)


def test_an_event_of_the_other_adjacency_is_refused():
    event = CurveEvent.of(sdp.PrivacyCurve.pure(1.0))
    accountant = CurveAccountant()
    assert not accountant.supports(event)
    accountant = CurveAccountant(neighboring_relation=dp.NeighboringRelation.REPLACE_ONE)
    assert accountant.supports(event)


def test_a_loss_distribution_comes_back_as_a_curve():
    theirs = peer.from_laplace_mechanism(3.0, value_discretization_interval=INTERVAL).self_compose(4)
    curve = sdp.PrivacyCurve.from_dp_accounting(theirs, adjacency="add_remove")
    for delta in (1e-2, 1e-5):
        assert curve.epsilon(delta) == pytest.approx(theirs.get_epsilon_for_delta(delta), abs=1e-9)
    total = curve + sdp.PrivacyCurve.gaussian(sigma=3.0, adjacency="add_remove")
    assert total.epsilon(1e-5) > curve.epsilon(1e-5)
    symmetric = sdp.PrivacyCurve.from_dp_accounting(
        peer.from_gaussian_mechanism(3.0, value_discretization_interval=INTERVAL), adjacency="replace"
    )
    exact = sdp.PrivacyCurve.gaussian(sigma=3.0).epsilon(1e-5)
    assert exact <= symmetric.epsilon(1e-5) <= exact + 1e-5


def test_optimistic_estimates_and_sampling_errors_are_refused():
    optimistic = peer.from_laplace_mechanism(3.0, pessimistic_estimate=False)
    with pytest.raises(sdp.InvalidParameterError, match="pessimistic"):
        sdp.PrivacyCurve.from_dp_accounting(optimistic, adjacency="add_remove")
    with pytest.raises(sdp.InvalidParameterError, match="sampling error"):
        sdp.PrivacyCurve.pure(1.0).with_sampling_error(1e-9).to_dp_accounting()
