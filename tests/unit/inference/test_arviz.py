"""Draws in ArviZ: what it makes of them agrees with the exact posterior. Skipped where ArviZ, an extra, is missing."""

import numpy as np
import pytest

import simplexdp as sdp

arviz = pytest.importorskip("arviz", reason="arviz is an extra: pip install simplexdp[arviz]")


def test_draws_are_independent_and_have_the_exact_means():
    posterior = sdp.SumPreservingLaplaceMechanism.calibrated(epsilon=1.0, dimension=3).infer([60, 30, 10])
    data = posterior.to_arviz(4000, rng=1)
    assert data.posterior["shares"].dims == ("chain", "draw", "cell")
    assert data.posterior["counts"].shape == (1, 4000, 3)
    np.testing.assert_array_equal(data.posterior["counts"].sum("cell"), 100)
    table = arviz.summary(data, var_names=["shares"], round_to="none")
    # 4000 independent draws; six standard errors, false alarms below 1e-7.
    np.testing.assert_allclose(table["mean"], posterior.mean, atol=6 * posterior.sd.max() / np.sqrt(4000))
    assert table["ess_bulk"].min() > 3000
