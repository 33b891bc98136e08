"""How accurate a release is: bounds that hold for every data set, and the sample sizes that follow from them.

Everything here is a function of public quantities. Bounds are the papers' ([DM], [DPS]), with the conditions under
which they are true; a condition that fails is an error when it is about the parameters, and the trivial bound when it
is about the sample size.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError

__all__ = [
    "bias",
    "histogram_error_bound",
    "histogram_sample_size",
    "kl_tail_bound",
    "multinomial_kl_bound",
    "multinomial_kl_sample_size",
    "sample_size_kl",
]

LARGEST_SAMPLE = 2**53
MOST_CATEGORIES = 2**31
"""Sample sizes are searched up to here, where doubles stop holding every integer."""


def kl_tail_bound(
    threshold: ArrayLike,
    total: ArrayLike,
    dimension: int,
    *,
    scale: float = 1.0,
    prior: float = 1.0,
    form: str = "sharp",
) -> NDArray[np.float64] | np.float64:
    """Bound on the probability that KL(p || y) exceeds a threshold, for y ~ Dirichlet(scale * total * p + prior).

    The bound holds for every probability vector p.

    Parameters
    ----------
    threshold : array_like
        The divergence in question, positive.
    total : array_like
        Sum of the counts, positive; broadcasts with `threshold`.
    dimension : int
        Number of categories.
    scale, prior : float
        Parameters of the mechanism; the prior must be at least 1/2, below which the bound is false.
    form : {"sharp", "paper"}
        "paper" is [DM] Theorem 2. "sharp" is what its proof gives before it is simplified: always smaller, and
        informative from smaller totals on.

    Returns
    -------
    ndarray or float
        In (0, 1]; 1 where `total` is too small for the bound to say anything.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> bound = sdp.utility.kl_tail_bound(0.1, [100, 10_000, 100_000], dimension=10)
    >>> [f"{x:.3g}" for x in bound]
    ['0.999', '4.13e-11', '1.94e-106']
    """
    threshold, total = check.broadcast(
        threshold=check.numbers("threshold", threshold), total=check.numbers("total", total)
    )
    if np.any(threshold <= 0) or np.any(total <= 0):
        raise InvalidParameterError("threshold and total must be positive")
    scale, prior = check.positive("scale", scale), _tail_prior(prior)
    mass = _dimension(dimension, 2) * prior
    with np.errstate(over="ignore"):
        weight = scale * total  # beta in the paper
    bound = _sharp_tail if check.choice("form", form, ("sharp", "paper")) == "sharp" else _paper_tail
    # Beyond the range of doubles the exponent is infinite, as in the limit, or unknown: then nothing is bounded.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        value = np.exp(bound(threshold, weight, mass))
    return np.where(np.isnan(value), 1.0, value)[()]


def sample_size_kl(
    threshold: float,
    failure: float,
    dimension: int,
    *,
    scale: float = 1.0,
    prior: float = 1.0,
    form: str = "sharp",
) -> int:
    """Smallest total for which `kl_tail_bound` is at most `failure`.

    Parameters
    ----------
    threshold : float
        The divergence in question, positive.
    failure : float
        Probability with which it may be exceeded.
    dimension : int
        Number of categories.
    scale, prior, form
        As in `kl_tail_bound`.

    Returns
    -------
    int

    Examples
    --------
    >>> import simplexdp as sdp
    >>> sdp.utility.sample_size_kl(0.1, 1e-3, dimension=10), sdp.utility.sample_size_kl(0.1, 1e-3, 10, form="paper")
    (3027, 12476)
    """
    threshold, failure = check.positive("threshold", threshold), check.open_unit("failure", failure)

    def enough(total: int) -> bool:
        return bool(kl_tail_bound(threshold, total, dimension, scale=scale, prior=prior, form=form) <= failure)

    return _least(enough)


def multinomial_kl_bound(
    probabilities: ArrayLike, total: float, prior: ArrayLike, private_prior: ArrayLike
) -> NDArray[np.float64] | np.float64:
    """Bound on the expected KL divergence between a posterior and its private stand-in with a larger prior.

    For X ~ Multinomial(total, probabilities): E KL(Dirichlet(X + prior) || Dirichlet(X + private_prior)) is at most
    sum((private_prior - prior)**2 / probabilities) / (total + 1) ([DPS] Theorem 3).

    Parameters
    ----------
    probabilities : array_like, shape (..., d)
        Positive, summing to one.
    total : float
        Number of records.
    prior, private_prior : array_like, scalar or shape (d,)
        ``private_prior >= prior >= 1``.

    Returns
    -------
    ndarray or float, shape (...)

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(float(sdp.utility.multinomial_kl_bound([0.5, 0.3, 0.2], 999, 1.0, 3.0)), 6)
    0.041333
    """
    total = check.non_negative("total", total)
    return (_prior_gap(probabilities, prior, private_prior) / (total + 1))[()]


def multinomial_kl_sample_size(
    threshold: float, probabilities: ArrayLike, prior: ArrayLike, private_prior: ArrayLike
) -> int:
    """Smallest total for which `multinomial_kl_bound` is at most `threshold`.

    Parameters
    ----------
    threshold : float
        The expected divergence that is allowed, positive.
    probabilities : array_like, shape (d,)
        Positive, summing to one.
    prior, private_prior : array_like, scalar or shape (d,)
        ``private_prior >= prior >= 1``.

    Returns
    -------
    int

    Examples
    --------
    >>> import simplexdp as sdp
    >>> sdp.utility.multinomial_kl_sample_size(0.05, [0.5, 0.3, 0.2], 1.0, 3.0)
    826
    """
    threshold = check.positive("threshold", threshold)
    gap = _prior_gap(probabilities, prior, private_prior)
    if gap.ndim:
        raise InvalidParameterError(f"probabilities must have shape (d,), got {gap.ndim + 1} axes")
    return _least(lambda total: bool(gap / (total + 1) <= threshold))


def histogram_error_bound(
    total: ArrayLike,
    dimension: int,
    failure: float,
    *,
    mechanism: str = "dirichlet",
    scale: float = 1.0,
    prior: ArrayLike = 1.0,
    rho: float | None = None,
    l2: float = math.sqrt(2),
) -> NDArray[np.float64] | np.float64:
    """Error of a private normalized histogram, largest over the categories, that is exceeded with small probability.

    Parameters
    ----------
    total : array_like
        Number of records, positive.
    dimension : int
        Number of categories.
    failure : float
        Probability with which the error may exceed the bound.
    mechanism : {"dirichlet", "gaussian"}
        Dirichlet(scale * counts + prior) ([DPS] Theorem 4, eq. 13), or the histogram plus Gaussian noise that is
        `rho`-zCDP (eq. 16).
    scale, prior : float, and float or array_like of shape (d,)
        Parameters of the Dirichlet mechanism.
    rho, l2 : float
        Privacy of the Gaussian mechanism, and the l2-sensitivity of the counts.

    Returns
    -------
    ndarray or float

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(float(sdp.utility.histogram_error_bound(1000, 10, 0.05, prior=2.0)), 4)
    0.0738
    >>> round(float(sdp.utility.histogram_error_bound(1000, 10, 0.05, mechanism="gaussian", rho=0.1)), 4)
    0.0109
    """
    total = check.numbers("total", total)
    if np.any(total <= 0):
        raise InvalidParameterError("total must be positive")
    dimension = _dimension(dimension, 1)
    log_term = math.log(2 * dimension / check.open_unit("failure", failure))
    if check.choice("mechanism", mechanism, ("dirichlet", "gaussian")) == "gaussian":
        if rho is None:
            raise InvalidParameterError("rho must be given for the Gaussian mechanism")
        return (math.sqrt(log_term / check.positive("rho", rho)) * check.positive("l2", l2) / total)[()]
    weight = check.positive("scale", scale) * total
    alpha = _prior("prior", prior, dimension)
    # One prior for all is not written out.
    mass = float(alpha[0]) * dimension if np.ndim(prior) == 0 else float(alpha.sum())
    bound: NDArray[np.float64] = np.sqrt(log_term / (2 * (weight + mass + 1))) + mass / (weight + mass)
    return bound[()]


def histogram_sample_size(
    error: float,
    dimension: int,
    failure: float,
    *,
    mechanism: str = "dirichlet",
    scale: float = 1.0,
    prior: ArrayLike = 1.0,
    rho: float | None = None,
    l2: float = math.sqrt(2),
) -> int:
    """Smallest total for which `histogram_error_bound` is at most `error`.

    Parameters
    ----------
    error : float
        The error that is allowed, positive.
    dimension, failure, mechanism, scale, prior, rho, l2
        As in `histogram_error_bound`.

    Returns
    -------
    int

    Examples
    --------
    >>> import simplexdp as sdp
    >>> sdp.utility.histogram_sample_size(0.05, 10, 0.05, prior=2.0)
    1895
    >>> sdp.utility.histogram_sample_size(0.05, 10, 0.05, mechanism="gaussian", rho=0.1)
    219
    """
    error = check.positive("error", error)

    def enough(total: int) -> bool:
        bound = histogram_error_bound(
            total, dimension, failure, mechanism=mechanism, scale=scale, prior=prior, rho=rho, l2=l2
        )
        return bool(bound <= error)

    return _least(enough)


def bias(
    probabilities: ArrayLike, total: ArrayLike, *, scale: float = 1.0, prior: ArrayLike = 1.0
) -> NDArray[np.float64]:
    """Bias E[y] - p of y ~ Dirichlet(scale * total * p + prior), by category ([DM] eq. 3, with its sign).

    Parameters
    ----------
    probabilities : array_like, shape (..., d)
        The histogram divided by its total.
    total : array_like, shape (...)
        Number of records.
    scale, prior : float, and float or array_like of shape (d,)
        Parameters of the mechanism.

    Returns
    -------
    ndarray, shape (..., d)

    Examples
    --------
    >>> import simplexdp as sdp
    >>> sdp.utility.bias([0.75, 0.25], 16, scale=0.5, prior=1.0)
    array([-0.05,  0.05])
    """
    p = check.probabilities("probabilities", probabilities)
    with np.errstate(over="ignore"):  # an infinite weight leaves no bias, as in the limit
        weight = check.positive("scale", scale) * check.numbers("total", total)[..., None]
    if np.any(weight <= 0):
        raise InvalidParameterError("total must be positive")
    alpha = _prior("prior", prior, p.shape[-1])
    check.broadcast(probabilities=p, total=weight)
    shift: NDArray[np.float64] = (alpha - alpha.sum() * p) / (weight + alpha.sum())
    return shift


def _paper_tail(threshold: NDArray[np.float64], weight: NDArray[np.float64], mass: float) -> NDArray[np.float64]:
    """Logarithm of the bound of [DM] Theorem 2."""
    exponent = -weight * threshold**2 / (2 * (2 + threshold) * (4 + 3 * threshold))
    return np.where(weight * np.expm1(threshold / 2) >= mass, exponent, 0.0)


def _sharp_tail(threshold: NDArray[np.float64], weight: NDArray[np.float64], mass: float) -> NDArray[np.float64]:
    """Logarithm of exp(-beta (w-1)^2 / w), [DM] eq. 16, with w = W(beta e^(1+eta) / (beta + mass)).

    x = w - 1 solves x + ln(1+x) = eta - ln(1 + mass/beta), and no bound follows where the right side is negative.
    Newton's method from c/2 stays below the root, where the bound is larger.
    """
    c = np.maximum(threshold - np.log1p(mass / weight), 0.0)
    x = c / 2
    for _ in range(8):
        x = x + (c - x - np.log1p(x)) * (1 + x) / (2 + x)
    return -weight * x**2 / (1 + x)


def _dimension(dimension: int, least: int) -> int:
    dimension = check.integer("dimension", dimension, least)
    if dimension > MOST_CATEGORIES:
        raise InvalidParameterError(f"dimension must be at most {MOST_CATEGORIES}, got {dimension}")
    return dimension


def _tail_prior(prior: float) -> float:
    prior = check.positive("prior", prior)
    if prior < 0.5:
        raise InvalidParameterError(f"prior must be at least 1/2 (the bound is false below), got {prior}")
    return prior


def _prior(name: str, prior: ArrayLike, dimension: int) -> NDArray[np.float64]:
    alpha = check.numbers(name, prior)
    if alpha.shape not in ((), (dimension,)):
        raise InvalidParameterError(f"{name} must be a number or have shape ({dimension},), got shape {alpha.shape}")
    if np.any(alpha <= 0):
        raise InvalidParameterError(f"{name} must be positive, got {prior!r}")
    return np.broadcast_to(alpha, (dimension,))


def _prior_gap(probabilities: ArrayLike, prior: ArrayLike, private_prior: ArrayLike) -> NDArray[np.float64]:
    p = check.probabilities("probabilities", probabilities)
    if np.any(p <= 0):
        raise InvalidParameterError("probabilities must be positive")
    alpha, larger = _prior("prior", prior, p.shape[-1]), _prior("private_prior", private_prior, p.shape[-1])
    if np.any(alpha < 1) or np.any(larger < alpha):
        raise InvalidParameterError("prior must be at least 1, and private_prior at least prior, in every category")
    gap: NDArray[np.float64] = np.sum((larger - alpha) ** 2 / p, axis=-1)
    return gap


def _least(enough: Callable[[int], bool]) -> int:
    """Find the smallest positive integer from which `enough` holds on."""
    high = 1
    while not enough(high):
        high *= 2
        if high > LARGEST_SAMPLE:
            raise InvalidParameterError(f"no total up to {LARGEST_SAMPLE} meets this demand; relax it")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
