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
        shapes, mechanism="gaussian", epsilon=epsilon, delta=delta, order=None, adjacency=adjacency, count_floor=1.0
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
            count_floor=1.0,
        )
        noise[mechanism] = max(
            float(cell.cell_contents.sigma)
            for releaser in plan.releasers
            for cell in releaser.__closure__
            if hasattr(cell.cell_contents, "sigma")
        )
    assert noise["gaussian"] == pytest.approx(noise["discrete_gaussian"], rel=1e-3)
