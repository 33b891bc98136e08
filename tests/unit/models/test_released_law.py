"""The variance of a law of noise, against sums over its points by mpmath."""

import mpmath
import pytest

import simplexdp as sdp
from simplexdp.models.released import Law


@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 7.5, 400.0])
def test_the_variance_of_laplace_noise_on_a_grid_is_that_of_its_points(scale):
    law = Law.of_noise(sdp.DiscreteLaplaceMechanism(scale=scale, sensitivity=1))
    decay = mpmath.exp(-1 / mpmath.mpf(scale))
    whole = 1 + 2 * mpmath.nsum(lambda k: decay**k, [1, mpmath.inf])
    variance = 2 * mpmath.nsum(lambda k: k * k * decay**k, [1, mpmath.inf]) / whole
    assert law.variance == pytest.approx(float(variance), rel=1e-9)
    # In other units, and where the grid is so fine that the law is that of real numbers.
    assert law.in_persons(12).variance == pytest.approx(float(variance) / 144, rel=1e-9)
    assert Law("laplace", scale, 0.0).variance == 2 * scale**2
    assert Law("laplace", 1e-5 * scale).variance > 0
    assert Law("gaussian", scale).variance == scale**2
