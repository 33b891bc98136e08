"""The equation checks: their brute force against SciPy, and what they find against what is known of the paper."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import betaln, lambertw, rel_entr
from scipy.stats import beta as beta_law

from simplexdp.reproduce.catalogue import figure
from simplexdp.reproduce.dm.checking import bound, identity, log_integral
from simplexdp.reproduce.dm.utility_checks import _lambert_w, kl_tail_probability
from simplexdp.reproduce.figure import Settings

# The errors found in the paper, by where they stand; all else has to hold.
KNOWN_ERRORS = [
    ("app. D", "increasing"),
    ("remark 1", "g = r³"),
    ("sec. 4", "r ≤ 1"),
    ("sec. 5", "parallel composition"),
    ("prop. 3", "1/y₁"),
    ("theorem 2", "α = 0.1"),
    ("eq. 15", "α = 0.01"),
    ("sec. 5.1", "over the classes"),
]


@pytest.fixture(scope="module")
def checks():
    return figure("dm-equations").compute(Settings(fast=True))["checks"]


def test_exactly_the_known_errors_fail(checks):
    failed = [
        (w, s) for w, s, holds in zip(checks["where"], checks["statement"], checks["holds"], strict=True) if not holds
    ]
    assert len(failed) == len(KNOWN_ERRORS)
    for (where, statement), (known, part) in zip(failed, KNOWN_ERRORS, strict=True):
        assert where == known
        assert part in statement


def test_every_failure_has_a_remark(checks):
    assert all(remark or holds for remark, holds in zip(checks["remark"], checks["holds"], strict=True))


def test_every_numbered_equation_but_the_definitions_is_checked(checks):
    # eq. 1 defines differential privacy, eq. 6 the prior; eq. 9 is eq. 7 with parents for classes.
    expected = {f"eq. {k}" for k in (2, 3, 4, 5, 7, 8, 10, 11, 12, 13, 14, 15, 16)}
    assert expected <= set(checks["where"])


def test_bounds_and_identities_can_fail():
    assert bound("", "", [1.0, 2.0], [2.0, 2.0]).holds
    broken = bound("", "", [1.0, 2.1], [2.0, 2.0])
    assert not broken.holds
    assert broken.worst == pytest.approx(-0.05)
    assert identity("", "", [1.0], [1.0 + 1e-10]).holds
    assert not identity("", "", [1.0, 2.0], [1.0, 2.0001]).holds


def test_integration_gives_the_beta_function():
    a, b = np.array([0.5, 1.0, 7.5, 300.0]), np.array([0.5, 40.0, 2.5, 500.0])
    np.testing.assert_allclose(log_integral(a, b), betaln(a, b), rtol=1e-11)


def test_lambert_w_is_scipys():
    z = np.geomspace(1.0, 1e6, 50)
    np.testing.assert_allclose(_lambert_w(z), lambertw(z).real, rtol=1e-12)


@pytest.mark.parametrize(
    "p, weight, alpha, eta", [(0.3, 20.0, 0.5, 0.2), (0.02, 5.0, 2.0, 0.05), (0.5, 400.0, 1.0, 0.01)]
)
def test_tail_probability_is_the_mass_of_the_outer_intervals(p, weight, alpha, eta):
    def excess(q):
        return rel_entr(p, q) + rel_entr(1 - p, 1 - q) - eta

    low, high = brentq(excess, 1e-300, p, xtol=1e-300), brentq(excess, p, 1 - 1e-16, xtol=1e-16)
    law = beta_law(weight * p + alpha, weight * (1 - p) + alpha)
    ours = kl_tail_probability(*(np.array([x]) for x in (p, weight, alpha, eta)))[0]
    assert ours == pytest.approx(law.cdf(low) + law.sf(high), rel=1e-9)
