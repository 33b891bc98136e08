"""Parameters that no double holds are rounded to the side of more loss; odd ones are refused in a few words."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import simplexdp as sdp

RNG = np.random.default_rng(7)
EXACT = [Fraction(int(a), int(b)) for a, b in RNG.integers(1, 10**6, (300, 2))]
FORMS = [lambda x: x, lambda x: Decimal(x.numerator) / Decimal(x.denominator)]
FORMS.append(lambda x: np.longdouble(x.numerator) / np.longdouble(x.denominator))


@pytest.mark.parametrize("form", FORMS, ids=["fraction", "decimal", "longdouble"])
def test_what_is_reported_is_not_below_an_exact_parameter(form):
    for stated in map(form, EXACT):
        exact = Fraction(*stated.as_integer_ratio())
        assert Fraction(sdp.PrivacyCurve.pure(stated).epsilon(0.0)) >= exact
        assert Fraction(sdp.PrivacyCurve.from_epsilon_delta(stated, 1e-6).epsilon(1e-6)) >= exact
        assert Fraction(sdp.PrivacyCurve.laplace(scale=stated).epsilon(0.0)) >= 1 / exact
        assert Fraction(sdp.PrivacyCurve.laplace(scale=1.0, sensitivity=stated).epsilon(0.0)) >= exact
        small = stated / 10**7
        found = sdp.PrivacyCurve.from_epsilon_delta(0.5, small).delta(0.5)
        assert Fraction(found) >= Fraction(*small.as_integer_ratio())
        # A double is as it was.
        assert sdp.PrivacyCurve.pure(float(exact)).epsilon(0.0) == float(exact)


HUGE = 10**5000  # Python does not even write it


@pytest.mark.parametrize(
    "call",
    [
        lambda: sdp.PrivacyCurve.pure(HUGE),
        lambda: sdp.PrivacyCurve.pure(1.0) * HUGE,
        lambda: sdp.compose([sdp.PrivacyCurve.pure(1.0)], [2**64]),
        lambda: sdp.PrivacyCurve.from_guarantee(None),
        lambda: sdp.PrivacyCurve.pure(1.0).for_unit("who", True),
        lambda: sdp.DiscreteLaplaceMechanism(scale=HUGE, sensitivity=1),
        lambda: sdp.DiscreteLaplaceMechanism(scale=Fraction(1, HUGE), sensitivity=1),
        lambda: sdp.DiscreteLaplaceMechanism.calibrated(epsilon=10**400, sensitivity=1),
        lambda: sdp.LaplaceMechanism(scale=1, sensitivity=1, resolution=10**400),
        lambda: sdp.LaplaceMechanism.calibrated(epsilon=1.0, sensitivity=1, changed=2**64),
        lambda: sdp.DirichletMechanism(scale=1, prior=1, dimension=2**64),
        lambda: sdp.DirichletMechanism(scale=1, prior=1, dimension=2).release([1, 2], resolution=10**400),
        lambda: sdp.LaplacePosteriorMechanism([1, 1, 1], 60, 1.0, consistent=False).infer([]),
        lambda: sdp.Posterior([1.0, 2.0]).sample(
            3, rng=np.ones((1, 2), dtype=int).view(np.matrix)
        ),  # it overflowed the stack
        lambda: sdp.Accountant(1.0, 0.0).spend(sdp.PrivacyCurve.pure(0.5), count=HUGE),
        lambda: sdp.accounting.rules.make(epsilon=1.0, delta=0.0).fits("", ["xyz"]),
        lambda: sdp.accounting.rules.make(epsilon=1.0, delta=0.0).used(0),
        lambda: sdp.accounting.Structure.naive_bayes(2).from_rdp(order=5, epsilon=1.0, max_rows="1"),
        lambda: sdp.accounting.Structure.naive_bayes(2).calibrated(
            epsilon=1.0, delta=1e-6, prior=1.0, sampling_error=float("nan")
        ),
        lambda: sdp.frames.Domain.discover({"a": ["x"]}, "a", epsilon=1.0, delta=1e-3, accountant="ledger.db"),
    ],
)
def test_odd_parameters_are_refused_in_a_few_words(call):
    with pytest.raises(sdp.InvalidParameterError) as found:
        call()
    assert len(str(found.value)) < 800


def test_nothing_is_drawn_of_nothing():
    noise = sdp.DiscreteLaplaceMechanism(scale=2, sensitivity=2)
    assert sdp.NoisyPosteriorMechanism([1, 1], 60, noise).simulate([10, 50], 0).shape == (0, 2)
