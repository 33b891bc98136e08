"""Tables with Gaussian noise: the stated curve is that of the mechanisms together, and spends the budget."""

import pytest

import simplexdp as sdp
from simplexdp.models.tables import TableRelease

pytest.importorskip("sklearn")


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-9), (5.0, 1e-3)])
def test_curve_is_that_of_the_tables_together(adjacency, epsilon, delta):
    shapes = [(1, 2), (2, 5), (2, 7), (2, 3)]
    plan = TableRelease.plan(
        shapes, mechanism="gaussian", epsilon=epsilon, delta=delta, order=None, adjacency=adjacency
    )
    mechanisms = [
        cell.cell_contents
        for releaser in plan.releasers
        for cell in releaser.__closure__
        if isinstance(cell.cell_contents, sdp.GaussianMechanism)
    ]
    assert len(mechanisms) == len(shapes)
    spent = plan.privacy.epsilon(delta)
    assert 0.9999 * epsilon <= spent <= epsilon
    # By privacy loss distributions, another way: an upper bound that is close.
    composed = sdp.compose([mechanism.privacy for mechanism in mechanisms]).epsilon(delta)
    assert composed * (1 - 1e-4) <= spent <= composed * (1 + 1e-9)


def test_gaussian_tables_need_the_noise_of_integer_ones():
    noise = {}
    for mechanism in ("gaussian", "discrete_gaussian"):
        plan = TableRelease.plan(
            [(1, 2), (2, 5)],
            mechanism=mechanism,
            epsilon=1.0,
            delta=1e-6,
            order=None,
            adjacency="replace",
        )
        noise[mechanism] = max(
            float(cell.cell_contents.sigma)
            for releaser in plan.releasers
            for cell in releaser.__closure__
            if hasattr(cell.cell_contents, "sigma")
        )
    assert noise["gaussian"] == pytest.approx(noise["discrete_gaussian"], rel=1e-3)


def test_the_error_of_the_grids_counts_at_large_losses_too():
    # Mechanisms of large losses have it inside their curves; tables compose normal laws and add it themselves.
    plan = {"mechanism": "gaussian", "delta": 1e-6, "order": None, "adjacency": "replace"}
    release = TableRelease.plan([(1, 4)] * 2, epsilon=30.0, **plan)
    # Two tables, two changed cells in each, 2^20 to 2^21 steps to sigma.
    assert 4 / (5 * 2**84) <= release.privacy.sampling_error <= 4 / (5 * 2**80) * (1 + 1e-12)
    assert 29.9 <= release.privacy.epsilon(1e-6) <= 30.0
    with pytest.raises(sdp.InvalidParameterError, match="the error of the grids"):
        TableRelease.plan([(1, 4)] * 2, epsilon=60.0, **plan)
