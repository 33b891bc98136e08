"""What can be done to a release without the data: every rule here sees the release and public quantities only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp._parallel import threads_for
from simplexdp._simplex import nearest_on_simplex
from simplexdp.exceptions import InvalidParameterError
from simplexdp.inference.prior import make_prior
from simplexdp.inference.total import Total

__all__ = [
    "POSTPROCESSING",
    "Rule",
    "additive_rules",
    "dirichlet_rules",
    "posterior_rule",
    "posterior_rules",
    "shares_of",
]

Floats = NDArray[np.float64]
Step = Callable[[Floats], Floats]

POSTPROCESSING = (
    "raw",
    "raw+smooth",
    "clip",
    "clip+smooth",
    "floor",
    "project",
    "project+smooth",
    "debias+project",
    "debias+project+smooth",
    "posterior",
)
"""Names of the rules. The Dirichlet mechanism has "raw" and "debias+project", the Hellinger mechanism "raw", noisy
counts the others. "posterior", for all but the Hellinger mechanism, is the mean of the counts given the release
(docs/inference.md)."""

SECONDS, SECONDS_PER_COUNT = 0.2, 2.5e-7
"""What posteriors of one mechanism may take, roughly, and what each count that is possible in a cell takes."""

FEWEST, MOST, LONGEST = 16, 400, 50
"""On how many data sets a posterior is measured at least and at most, and how much longer than `SECONDS` that may take
before it is left out, unless it was asked for by name."""

NOISY = ("clip", "clip+smooth", "floor", "project", "project+smooth")


@dataclass(frozen=True)
class Rule:
    """A way from a release to shares: `prepare`, then `blend` with a public strength, then normalise.

    Parameters
    ----------
    name : str
        "raw", "clip", "project" or "debias+project", with "+smooth" behind where a prior count is added to every
        category; or "floor", which raises noisy counts to a least one.
    prepare : callable
        From the rows of a release to rows of weights in the unit of counts.
    blend : callable, optional
        From weights and the strength to non-negative weights.
    strengths : (float, float), optional
        The range in which the best strength is looked for.
    positive : bool
        Whether no share comes out as zero.
    most_rows : int
        On how many data sets it may be tried.
    slow : bool
        Whether it takes so long that it has to be asked for by name.
    """

    name: str
    prepare: Step
    blend: Callable[[Floats, float], Floats] | None = None
    strengths: tuple[float, float] | None = None
    positive: bool = True
    most_rows: int = 2**31
    slow: bool = False

    def shares(self, weights: Floats, strength: float | None) -> Floats:
        """Return rows that sum to one from prepared weights; a row of zeros becomes uniform."""
        if self.blend is not None and strength is not None:
            weights = self.blend(weights, strength)
        sums = weights.sum(axis=1, keepdims=True)
        uniform = np.full(weights.shape, 1 / weights.shape[1])
        shares: Floats = np.divide(weights, sums, out=uniform, where=sums > 0)
        return shares


def shares_of(
    noisy: ArrayLike, postprocessing: str = "project", *, strength: float | None = None, total: float | None = None
) -> Floats:
    """Turn noisy counts into shares; post-processing, which costs no privacy.

    Parameters
    ----------
    noisy : array_like, shape (..., d)
        What a mechanism released.
    postprocessing : {"clip", "clip+smooth", "floor", "project", "project+smooth"}
        "clip" raises negative counts to zero, "floor" all counts to `strength`, "project" takes the nearest
        non-negative counts with the right sum; "+smooth" then adds `strength` to every count.
    strength : float, optional
        Non-negative; needed for the rules above that use it. Choose it from public quantities: `compare` says which
        one is best.
    total : float, optional
        The public number of records, to which "project" sums; by default the sum of the noisy counts, or one if that
        is less.

    Returns
    -------
    ndarray, shape (..., d)
        Rows sum to one; a row without any count is uniform.

    Examples
    --------
    >>> from simplexdp.comparison import shares_of
    >>> shares_of([6.0, 4.0, -2.0], "project", total=8)
    array([0.625, 0.375, 0.   ])
    >>> shares_of([6.0, 4.0, -2.0], "clip+smooth", strength=2)
    array([0.5  , 0.375, 0.125])
    """
    check.choice("postprocessing", postprocessing, NOISY)
    rows = check.numbers("noisy", noisy)
    if rows.ndim == 0 or rows.shape[-1] == 0:
        raise InvalidParameterError(f"noisy must have shape (..., d) with d >= 1, got shape {rows.shape}")
    needs_strength = postprocessing == "floor" or postprocessing.endswith("+smooth")
    if needs_strength != (strength is not None):
        rule = "must be given" if needs_strength else "must be left out"
        raise InvalidParameterError(f"strength {rule} for {postprocessing!r}")
    amount = 0.0 if strength is None else check.non_negative("strength", strength)
    if total is not None:
        total = check.positive("total", total)
    flat = rows.reshape(-1, rows.shape[-1])
    rules = additive_rules(total, rows.shape[-1], 0.0)
    rule_of = {rule.name: rule for rule in rules}[postprocessing]
    return rule_of.shares(rule_of.prepare(flat), amount).reshape(rows.shape)


def additive_rules(total: float | None, dimension: int, spread: float, guess: float = 0.0) -> list[Rule]:
    """Return the rules for noisy counts.

    Parameters
    ----------
    total : float or None
        The number of records where it is public.
    dimension : int
    spread : float
        The standard deviation of the noise.
    guess : float
        A public guess of the number of records, which only says how strong smoothing may be.
    """

    def project(noisy: Floats) -> Floats:
        totals = total if total is not None else np.maximum(noisy.sum(axis=1, keepdims=True), 1.0)
        return np.asarray(nearest_on_simplex(noisy / totals) * totals)

    floor = Rule("floor", lambda noisy: noisy, np.maximum, (1e-3 * max(spread, 1.0), 10 * spread + 1))
    return [
        *_with_smoothing("clip", lambda noisy: np.maximum(noisy, 0.0), guess, dimension, spread),
        floor,
        *_with_smoothing("project", project, guess, dimension, spread),
    ]


def posterior_rule(
    observe: Callable[[Floats], _core.Observation],
    total: int | None,
    n: int,
    dimension: int,
    spread: float,
    cost: float = 1.0,
) -> list[Rule]:
    """Return the rule that takes the expected counts given each release, under the empirical prior.

    Parameters
    ----------
    observe : callable
        From the rows of a release to what the core infers from.
    total : int or None
        The number of records where it is public.
    n : int
        The same, or a public guess.
    dimension : int
    spread : float
        The standard deviation of a count, given its release.
    cost : float
        Of a likelihood, next to that of noise.
    """
    prior = make_prior("empirical", dimension)
    counts = cost * dimension * min(n, 30 * spread + 30) * len(prior.log_weights)
    rows = SECONDS / (SECONDS_PER_COUNT * counts)
    spec = Total.flat().spec if total is None else ("known", float(total), 0.0, None)

    def expected(released: Floats) -> Floats:
        threads = threads_for(len(released), 8)
        parameters = np.ascontiguousarray(prior.parameters).ravel()
        found = _core.infer_rows(
            [observe(released)], len(released), parameters, prior.log_weights, (spec, None), 0, False, None, threads,
            counts_only=True,
        )  # fmt: skip
        return found[2].reshape(len(released), dimension, 2)[..., 0]

    # A multiple of four: the shapes of a population take turns.
    most_rows = int(max(min(rows, MOST), FEWEST)) // 4 * 4
    return [Rule("posterior", expected, most_rows=most_rows, slow=rows * LONGEST < FEWEST)]


def dirichlet_rules(n: int, dimension: int, scale: float, prior: float, *, total_is_public: bool) -> list[Rule]:
    """Return the rules for a row of the Dirichlet mechanism with one prior for all categories."""
    pull = dimension * prior / (scale * n)
    spread = math.sqrt(prior) / scale
    rules = _with_smoothing("raw", lambda y: y * n, n, dimension, spread, positive=True)
    if total_is_public:
        # What `DirichletMechanism.debias` does with project=True.
        rules += _with_smoothing(
            "debias+project", lambda y: nearest_on_simplex(y + (y - 1 / dimension) * pull) * n, n, dimension, spread
        )
    return rules


def posterior_rules(n: int, dimension: int) -> list[Rule]:
    """Return the rules for released counts that are non-negative and sum to n."""
    return _with_smoothing("raw", lambda counts: counts, n, dimension, 1.0)


def _with_smoothing(
    name: str, prepare: Step, n: float, dimension: int, spread: float, *, positive: bool = False
) -> list[Rule]:
    largest = 100 * (spread + n / dimension) + 1
    return [Rule(name, prepare, positive=positive), Rule(f"{name}+smooth", prepare, np.add, (1e-3, largest))]
