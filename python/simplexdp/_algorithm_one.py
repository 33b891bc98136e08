"""The scale of the Dirichlet mechanism for a wanted Renyi guarantee, vectorised."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _core
from simplexdp._arrays import map_broadcast


def algorithm_one_scale(
    order: ArrayLike,
    epsilon: ArrayLike,
    l2_squared: ArrayLike,
    linf: ArrayLike,
    floor: ArrayLike = 0.0,
    slack: ArrayLike = 3.0,
) -> float | NDArray[np.float64]:
    """Largest scale with ``(order/2) scale^2 l2_squared trigamma(1 + floor scale + g) <= epsilon``.

    Here ``g = slack (order - 1) scale linf``: 3 is Algorithm 1 of [DM], 0 gives the closed form. Within 1e-14
    relative of the root and never above it. All arguments broadcast.

    Examples
    --------
    >>> from simplexdp._algorithm_one import algorithm_one_scale
    >>> algorithm_one_scale(5, [0.1, 1, 10], 2, 1).round(5)
    array([ 0.27757,  2.44119, 24.04162])
    """
    return map_broadcast(
        _core.algorithm_one_scale,
        order=order,
        epsilon=epsilon,
        l2_squared=l2_squared,
        linf=linf,
        floor=floor,
        slack=slack,
    )
