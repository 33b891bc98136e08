"""Black-box audit of a whole naive Bayes release: all tables, worst-case neighbours, scored by the likelihood ratio."""

import numpy as np
import pytest
from audit import audit

import simplexdp as sdp
from simplexdp.accounting import Structure

DELTA = 1e-2


def likelihood_score(tables, scale):
    """Return ln of the likelihood ratio, up to a constant: one record moved from the first category to the second."""
    return scale * np.sum([np.log(y[:, 0]) - np.log(y[:, 1]) for y in tables], axis=0)


@pytest.mark.parametrize(("scale", "prior"), [(0.3, 2.0), (1.0, 20.0)])
def test_a_naive_bayes_release_stays_below_its_claim_and_the_audit_has_power(scale, prior, full):
    # False alarms: 1e-6 for each audit. The worst neighbours have empty rows but for the record that changes.
    size = 2_000_000 if full else 60_000
    release = Structure.naive_bayes(4).release(scale, prior)
    mechanism = sdp.DirichletMechanism(scale=scale, prior=prior, dimension=3)

    def draw(first):
        counts = np.array([1.0, 0.0, 0.0] if first else [0.0, 1.0, 0.0])
        rng = sdp.testing.SeededRng(11 if first else 12)

        def scores(n):
            # Five tables: the classes, and the row of the record's class for each attribute.
            tables = [mechanism.release(np.broadcast_to(counts, (n, 3)), rng=rng) for _ in release.scales]
            return likelihood_score(tables, scale)

        return scores

    claim = release.privacy.epsilon(DELTA)
    found = audit(draw(True), draw(False), size=size, delta=DELTA)
    print(f"scale {scale}, prior {prior}: found {found.epsilon:.3f}, claimed {claim:.3f}")
    assert found.epsilon <= claim
    # Power: the sum of the tables is seen, not one of them.
    one = Structure.posterior_draws(1).release(scale, prior).privacy.epsilon(1e-2)
    assert found.epsilon > max(0.35 * claim, one)
