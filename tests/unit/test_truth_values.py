"""True is no number: `epsilon=True` is a flag in the wrong place, not a budget of one."""

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.models import PrivateCategoricalNB

X, Y = np.array([[0], [1]] * 50), np.array([0, 1] * 50)
CALLS = {
    "dirichlet": lambda v: sdp.DirichletMechanism.calibrated(epsilon=v, delta=1e-6, dimension=4, total=200, loss="kl"),
    "discrete laplace": lambda v: sdp.DiscreteLaplaceMechanism.for_counts(v),
    "discrete gaussian": lambda v: sdp.DiscreteGaussianMechanism.for_counts(v, 1e-6),
    "gaussian": lambda v: sdp.GaussianMechanism.for_counts(v, 1e-6),
    "laplace": lambda v: sdp.LaplaceMechanism.for_counts(v),
    "laplace scale": lambda v: sdp.LaplaceMechanism(scale=v, sensitivity=1),
    "laplace sensitivity": lambda v: sdp.LaplaceMechanism(scale=1, sensitivity=v),
    "zero-sum laplace": lambda v: sdp.SumPreservingLaplaceMechanism.for_counts(v, dimension=3),
    "hellinger": lambda v: sdp.HellingerMechanism(prior=[1, 1], n=20, epsilon=v),
    "pure curve": lambda v: sdp.PrivacyCurve.pure(v),
    "gaussian curve": lambda v: sdp.PrivacyCurve.gaussian(sigma=v),
    "delta of a curve": lambda v: sdp.PrivacyCurve.pure(1.0).delta(v),
    "deltas of a curve": lambda v: sdp.PrivacyCurve.pure(1.0).delta([0.5, v]),
    "epsilon of a curve": lambda v: sdp.PrivacyCurve.gaussian(sigma=2.0).epsilon(v),
    "accountant": lambda v: sdp.Accountant(v, 1e-6),
    "plan": lambda v: sdp.plan("histogram", n=1000, domains=10, epsilons=[v]),
    "recommend": lambda v: sdp.recommend("counts", n=200, dimension=4, epsilon=v, delta=1e-6),
    "compare": lambda v: sdp.compare(200, 4, v, 1e-6, samples=20),
    "mean": lambda v: sdp.numeric.mean([1.0, 2.0] * 50, bounds=(0, 10), epsilon=v),
    "bounds": lambda v: sdp.numeric.mean([1.0, 2.0] * 50, bounds=(0, v), epsilon=1.0),
    "classifier": lambda v: PrivateCategoricalNB(categories=[2], classes=[0, 1], epsilon=v, delta=1e-6).fit(X, Y),
    "posterior": lambda v: sdp.Posterior([v, v]),
    "level": lambda v: sdp.Posterior([1.0, 2.0]).interval(v),
}


@pytest.mark.parametrize("value", [True, False, np.True_, np.array(True)], ids=repr)
@pytest.mark.parametrize("call", CALLS)
def test_truth_values_are_refused_where_numbers_belong(call, value):
    with pytest.raises(sdp.exceptions.InvalidParameterError, match="must"):
        CALLS[call](value)


def test_arrays_of_truth_values_are_refused_too():
    with pytest.raises(sdp.exceptions.InvalidParameterError, match=r"epsilon must be a real number.*truth values"):
        sdp.PrivacyCurve.pure(1.0).delta(np.array([True, False]))


@pytest.mark.parametrize("call", ["dirichlet", "laplace", "accountant", "mean", "plan"])
def test_the_message_names_the_argument_and_the_value(call):
    with pytest.raises(sdp.exceptions.InvalidParameterError, match=r"^epsilons?.* must be .*number"):
        CALLS[call](True)


def test_numbers_of_every_kind_are_still_numbers():
    kinds = [1, 1.0, np.int64(1), np.float32(1.0), np.array(1.0)]
    assert {repr(sdp.Accountant(each, 1e-6)) for each in kinds} == {repr(sdp.Accountant(1.0, 1e-6))}
