"""The exact privacy of one Dirichlet draw from counts."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from simplexdp import _core
from simplexdp._arguments import choice, integer, non_negative, numbers, positive
from simplexdp._arrays import Floats
from simplexdp.accounting.curve import Adjacency, PrivacyCurve
from simplexdp.exceptions import InvalidParameterError


def dirichlet_curve(
    *,
    scale: float,
    prior: ArrayLike,
    dimension: int | None = None,
    adjacency: Adjacency = "replace",
    floor: float = 0.0,
    total: int | None = None,
    max_rows: int = 1,
) -> PrivacyCurve:
    """Return the privacy curve of y ~ Dirichlet(scale * counts + prior).

    Under ``"replace"`` one record changes its category and the total stays: the pair Beta(a + r, a) against
    Beta(a, a + r) dominates all neighbours, r the scale and a the smallest prior plus the scaled floor; for two
    different smallest priors it is the larger of both orientations. Under ``"add_remove"`` it is Gamma(a + r)
    against Gamma(a), both ways.
    Proofs are in docs/privacy-curves.md.

    Parameters
    ----------
    scale : float
        Factor of the counts.
    prior : float or array_like of shape (d,)
        Added to every scaled count.
    dimension : int, optional
        Number of categories, at least 2; needed where `prior` is a single number.
    adjacency : {"replace", "add_remove"}, default "replace"
        Which data sets are neighbours.
    floor : float, default 0
        A public lower bound of every count.
    total : int, optional
        The public total, under ``"replace"``. It tells whether the curve is attained at this total. With two
        categories it forces both counts, and the curve is that of the worst pair at this total, which is smaller.
    max_rows : int, default 1
        How many records a person has at most, who is hidden with all of them. Then there is no public total; and above
        3 the smallest prior, with the scaled floor, must be at least 1/2.

    Returns
    -------
    PrivacyCurve
        Of exact sampling; add what the sampler is off by with `PrivacyCurve.with_sampling_error`.

    Examples
    --------
    >>> from simplexdp.accounting import dirichlet_curve
    >>> curve = dirichlet_curve(scale=1.0, prior=1.5, dimension=3)
    >>> round(curve.epsilon(1e-5), 4), curve.exact
    (7.8789, True)
    """
    scale, floor = positive("scale", scale), non_negative("floor", floor)
    choice("adjacency", adjacency, get_args(Adjacency))
    priors = numbers("prior", prior)
    if priors.ndim > 1 or (priors.ndim == 0) == (dimension is None):
        raise InvalidParameterError(
            f"prior must be one number with a dimension, or have shape (d,), got shape {priors.shape}"
        )
    if np.any(priors <= 0):
        raise InvalidParameterError(f"prior must be positive, got {prior!r}")
    d = priors.size if dimension is None else integer("dimension", dimension, 2)
    if d < 2:
        raise InvalidParameterError(f"prior must have at least 2 entries, got {d}")
    n = None if total is None else integer("total", total, 1)
    rows = min(integer("max_rows", max_rows, 1), 2**62)
    guarantee = _core.Guarantee.dirichlet(adjacency, scale, np.atleast_1d(priors).tolist(), d, floor, n, rows)
    label = f"dirichlet(scale={scale:.6g}, prior={_shown(priors)}, dimension={d}"
    label += f", floor={floor:.6g}" if floor else ""
    label += f", total={n}" if d == 2 and n is not None else ""
    label += f", max_rows={rows}" if rows > 1 else ""
    return PrivacyCurve.from_guarantee(guarantee, f"{label})")


def dirichlet_bound_curve(
    *,
    scale: float,
    l2: float,
    linf: float,
    prior: float,
    floor: float = 0.0,
    bound: Literal["renyi", "theorem"] = "renyi",
    conversion: Literal["optimal", "tangent"] = "optimal",
    adjacency: Adjacency = "replace",
) -> PrivacyCurve:
    """Return the papers' bound for y ~ Dirichlet(scale * f(x) + prior), f any function of known sensitivities.

    Parameters
    ----------
    scale : float
        Factor of f.
    l2, linf : float
        Largest Euclidean and largest coordinate-wise distance between the values of f at neighbours. Replacing one of
        the counted records gives sqrt(2) and 1.
    prior : float
        The smallest entry of the prior.
    floor : float, default 0
        A public lower bound of every coordinate of f.
    bound : {"renyi", "theorem"}, default "renyi"
        Through the bound of all Renyi orders at once, or the closed form with the best truncation, [DPS] Theorem 2.
        The latter is what papers compare with; it is never smaller.
    conversion : {"optimal", "tangent"}, default "optimal"
        For ``bound="renyi"``: see `PrivacyCurve.from_tcdp`.
    adjacency : {"replace", "add_remove"}, default "replace"
        Which data sets are neighbours; the bound holds for both, at the sensitivities of each.

    Returns
    -------
    PrivacyCurve
        For counts `dirichlet_curve` is exact and far smaller.

    Examples
    --------
    >>> from simplexdp.accounting import dirichlet_bound_curve
    >>> curve = dirichlet_bound_curve(scale=1.0, l2=2**0.5, linf=1.0, prior=1.5, bound="theorem")
    >>> round(curve.epsilon(1e-5), 4)
    19.4326
    """
    scale, floor = positive("scale", scale), non_negative("floor", floor)
    l2, linf, prior = positive("l2", l2), positive("linf", linf), positive("prior", prior)
    choice("adjacency", adjacency, get_args(Adjacency))
    by_theorem = choice("bound", bound, ("renyi", "theorem")) == "theorem"
    optimal = choice("conversion", conversion, ("optimal", "tangent")) == "optimal"
    guarantee = _core.Guarantee.dirichlet_bound(adjacency, scale, l2, linf, prior, floor, by_theorem, optimal)
    label = f"dirichlet_bound(scale={scale:.6g}, l2={l2:.6g}, linf={linf:.6g}, prior={prior:.6g}, bound={bound!r})"
    return PrivacyCurve.from_guarantee(guarantee, label)


def _shown(priors: Floats) -> str:
    """Return the priors, shortened."""
    if priors.ndim == 0:
        return f"{float(priors):.6g}"
    shown = [f"{p:.6g}" for p in priors[:4]] + (["..."] if priors.size > 4 else [])
    return f"[{', '.join(shown)}]"
