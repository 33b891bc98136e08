"""The Hellinger mechanism: releases a whole posterior, with its error measured in Hellinger distance."""

import os
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments, _core
from simplexdp._cautions import caution
from simplexdp.accounting import PrivacyCurve
from simplexdp.exceptions import InvalidParameterError, NotAffordableError
from simplexdp.mechanisms._certificate_file import Certificate, read_certificate, write_certificate
from simplexdp.mechanisms._posterior_arguments import checked_counts, checked_prior
from simplexdp.mechanisms.posterior_errors import ErrorDistribution, Metric, simulated_errors
from simplexdp.posterior import Posterior
from simplexdp.testing import SeededRng

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Sensitivity = Literal["adaptive", "global", "smooth", "local"]
Calibration = Literal["auto", "certified", "proved", "paper"]
Progress = Callable[[int, float], object]
"""Called with the number of the pass over all data sets and the share of it that is done."""

AUTO_CERTIFICATION = 30_000_000
"""Probabilities that a pass may compare for ``calibration="auto"`` to certify: a second or two in all."""


class _Exponent(NamedTuple):
    """beta(x) = factor * w(x), w the inverse sensitivity that `shape` and `parameter` name."""

    shape: str
    parameter: float
    factor: float


class HellingerMechanism:
    """Exponential mechanism over all posteriors that n observations can produce, scored by Hellinger distance.

    ``release`` draws the candidate r with probability proportional to ``exp(-beta(x) H(BI(x), r))``, where ``BI(x)`` is
    the posterior of the data and ``beta(x) = exponent_at(x)``. Neighbouring data sets differ in one of the n records;
    n and the prior are public. The draw is exact, and what rounding of the scores adds is inside the guarantee.

    The error, the running time and the number of rejections of a release depend on the data; publish none of them.

    Parameters
    ----------
    prior : array_like of float, shape (m,)
        The prior's parameters, m >= 2, each in [1e-12, 1e12].
    n : int
        The public number of observations, at most 2**43.
    epsilon : float
        The privacy that is wanted.
    delta : float, optional
        Strictly between 0 and 1. Left out, the goal is pure differential privacy, which ``sensitivity="smooth"``
        reaches by certification only.
    sensitivity : {"adaptive", "global", "smooth", "local"}, default "adaptive"
        What the exponent follows. ``"adaptive"`` follows the local sensitivity as fast as Theorem P allows, and is
        pure. ``"global"`` is the plain exponential mechanism. ``"smooth"`` and ``"local"`` are the papers' variants;
        ``"local"`` needs ``calibration="certified"``, or `allow_nonprivate`.
    calibration : {"auto", "certified", "proved", "paper"}, default "auto"
        ``"certified"`` computes the exact guarantee over every pair of neighbouring data sets and searches the best
        exponent that passes: the least error, but only for small n and m. ``"proved"`` takes what Theorem P or Theorem
        A (for ``"smooth"``) gives. ``"paper"`` takes the parameters of the papers, whose claim for ``"smooth"`` is not
        proved: `privacy` says what is, `claimed` what the papers say. ``"auto"`` certifies where that takes a second
        or two, and takes what is proved elsewhere.
    allow_nonprivate : bool, default False
        Whether to accept ``sensitivity="local"`` with ``calibration="paper"``, of which nothing is proved.
    progress : callable, optional
        Called as ``progress(round, share)`` while certifying.

    See Also
    --------
    LaplacePosteriorMechanism : the papers' baseline.

    Notes
    -----
    Theorems P and A, their proofs and measured errors are in ``docs/hellinger.md``.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> h = sdp.HellingerMechanism(prior=[1, 1], n=60, epsilon=2.0, delta=1e-8)
    >>> h.calibration, h.privacy.epsilon(1e-8) <= 2.0
    ('certified', True)
    >>> float(h.release([45, 15]).alpha.sum())
    62.0
    """

    def __init__(
        self,
        prior: ArrayLike,
        n: int,
        epsilon: float,
        delta: float | None = None,
        *,
        sensitivity: Sensitivity = "adaptive",
        calibration: Calibration = "auto",
        allow_nonprivate: bool = False,
        progress: Progress | None = None,
    ) -> None:
        parameters = checked_prior(prior)
        n = _arguments.integer("n", n, 0)
        epsilon = _arguments.positive("epsilon", epsilon)
        if delta is not None:
            delta = _arguments.open_unit("delta", delta)
        caution(epsilon=epsilon, delta=delta, n=n)
        _arguments.choice("sensitivity", sensitivity, get_args(Sensitivity))
        _arguments.choice("calibration", calibration, get_args(Calibration))
        family = _family(parameters, n)
        if calibration == "auto":
            calibration = _affordable_calibration(family, sensitivity, delta)
        if sensitivity == "local" and calibration == "paper" and not allow_nonprivate:
            raise InvalidParameterError(
                'sensitivity="local" as in the papers has no proved guarantee: take calibration="certified", or '
                "pass allow_nonprivate=True to study it on data that are not private"
            )
        self._set(family, parameters, n, epsilon, delta, sensitivity, calibration)
        if calibration == "certified":
            found = family.search(sensitivity, epsilon, delta or 0.0, progress)
            self._certified(found)
        else:
            self._calibrated(*family.calibrate(calibration, sensitivity, epsilon, delta or 0.0))

    def _set(
        self,
        family: _core.HellingerFamily,
        prior: Floats,
        n: int,
        epsilon: float,
        delta: float | None,
        sensitivity: Sensitivity,
        calibration: Calibration,
    ) -> None:
        self._family = family
        self._prior, self._n = prior, n
        self._epsilon, self._delta = epsilon, delta
        self._sensitivity: Sensitivity = sensitivity
        self._calibration: Calibration = calibration
        self._exponent = _Exponent("global", 0.0, 0.0)
        self._proved: tuple[float, float] | None = None
        self._profile: tuple[Floats, Floats] | None = None
        self._loss: float | None = None
        self._mean_error: float | None = None

    def _calibrated(self, exponent: tuple[str, float, float], proved: tuple[float, float] | None) -> None:
        self._exponent = _Exponent(*exponent)
        self._proved = proved

    def _certified(self, found: tuple[Any, float, float, Floats, Floats]) -> None:
        exponent, self._loss, self._mean_error, epsilons, deltas = found
        self._exponent = _Exponent(*exponent)
        self._profile = (epsilons, deltas)

    def __repr__(self) -> str:
        delta = "" if self._delta is None else f", delta={self._delta:g}"
        return (
            f"HellingerMechanism(prior={np.array2string(self._prior, separator=', ', threshold=8)}, n={self._n}, "
            f"epsilon={self._epsilon:g}{delta}, sensitivity={self._sensitivity!r}, calibration={self._calibration!r})"
        )

    @property
    def prior(self) -> Floats:
        """The prior's parameters."""
        return self._prior

    @property
    def n(self) -> int:
        """The public number of observations."""
        return self._n

    @property
    def epsilon(self) -> float:
        """The epsilon that was asked for."""
        return self._epsilon

    @property
    def delta(self) -> float | None:
        """The delta that was asked for."""
        return self._delta

    @property
    def sensitivity(self) -> Sensitivity:
        """What the exponent follows."""
        return self._sensitivity

    @property
    def calibration(self) -> Calibration:
        """How the exponent was found; what ``"auto"`` chose."""
        return self._calibration

    @property
    def smoothness(self) -> float | None:
        """The smoothness gamma of ``sensitivity="smooth"``; None for the others."""
        return self._exponent.parameter if self._exponent.shape == "smooth" else None

    @property
    def claimed(self) -> tuple[float, float] | None:
        """The (epsilon, delta) that the papers claim for their calibration; None for the others.

        It is a claim: for ``"smooth"`` the proof of [HP] Lemma 4.7 has a gap, for ``"local"`` they make none.
        """
        if self._calibration != "paper" or self._sensitivity == "local":
            return None
        return self._epsilon, (self._delta or 0.0) if self._sensitivity == "smooth" else 0.0

    @property
    def basis(self) -> str:
        """What the guarantee rests on, in a few words."""
        if self._profile is not None:
            return "certified over all pairs of neighbouring data sets"
        if self._exponent.shape == "global":
            return "exponential mechanism at the global sensitivity"
        if self._exponent.shape == "smooth":
            return "Theorem A"
        return "Theorem P" if self._proved else "nothing is proved"

    @property
    def privacy(self) -> PrivacyCurve:
        """The guarantee under replacement of one record: exact when certified, an upper bound otherwise."""
        if self._profile is not None:
            profile = _core.certified_profile(*self._profile)
            return PrivacyCurve((profile,), adjacency="replace", exact=True, label="certified HellingerMechanism")
        if self._proved is None:
            raise InvalidParameterError(
                'sensitivity="local" with calibration="paper" has no proved guarantee; certify() computes the exact one'
            )
        epsilon, delta = self._proved
        return PrivacyCurve.from_epsilon_delta(epsilon, delta) if delta else PrivacyCurve.pure(epsilon)

    @property
    def mean_error(self) -> float | None:
        """The mean over all data sets of the expected Hellinger distance, when certified."""
        return self._mean_error

    def certify(self, progress: Progress | None = None) -> "HellingerMechanism":
        """Return the same mechanism, same exponents, with its exact privacy curve.

        Parameters
        ----------
        progress : callable, optional
            Called as ``progress(round, share)``.

        Returns
        -------
        HellingerMechanism
            Its ``privacy`` is exact.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> h = sdp.HellingerMechanism([1, 1], 20, 0.8, 1e-8, sensitivity="smooth", calibration="paper")
        >>> h.privacy.epsilon(1e-8) > 0.8 > h.certify().privacy.epsilon(1e-8)
        True
        """
        other = object.__new__(HellingerMechanism)
        other._set(self._family, self._prior, self._n, self._epsilon, self._delta, self._sensitivity, self._calibration)
        other._certified(self._family.certify(*self._exponent, progress))
        return other

    def sensitivity_at(self, counts: ArrayLike) -> float:
        """Return the sensitivity at the data that the exponent divides by. It depends on the data.

        Parameters
        ----------
        counts : array_like of int, shape (m,)
            Of sum n.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> h = sdp.HellingerMechanism([1, 1], 60, 1.0, sensitivity="global", calibration="proved")
        >>> round(h.sensitivity_at([30, 30]), 4)
        0.34
        """
        inverse = self._family.inverse_sensitivity(self._counts(counts), *self._exponent[:2])
        return 0.5 / inverse if inverse else 0.0

    def exponent_at(self, counts: ArrayLike) -> float:
        """Return beta at the data, the factor of -H in the exponent. It depends on the data.

        Parameters
        ----------
        counts : array_like of int, shape (m,)
            Of sum n.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> h = sdp.HellingerMechanism([1, 1], 60, 1.0, sensitivity="global", calibration="proved")
        >>> round(h.exponent_at([30, 30]), 4)
        1.4705
        """
        return self._exponent_of(self._counts(counts))

    @property
    def family(self) -> _core.HellingerFamily:
        """The candidates and the laws that an exponent has on them, for experiments with exponents of their own."""
        return self._family

    def release(self, counts: ArrayLike, rng: SeededRng | None = None) -> Posterior:
        """Release a posterior; one call spends the whole guarantee.

        Parameters
        ----------
        counts : array_like of int, shape (m,)
            The private counts, of sum n.
        rng : simplexdp.testing.SeededRng, optional
            For tests; left out, the operating system's entropy.

        Returns
        -------
        Posterior
            With parameters ``prior + k`` for counts k of sum n.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> h = sdp.HellingerMechanism(prior=[1, 1, 1], n=30, epsilon=1.0)
        >>> h.release([10, 15, 5]).alpha.shape
        (3,)
        """
        return Posterior(self._prior + self.simulate(counts, 1, rng)[0])

    def simulate(self, counts: ArrayLike, size: int, rng: SeededRng | None = None) -> Integers:
        """Draw many times the counts that a release adds to the prior, to study the mechanism.

        To publish the result costs the guarantee `size` times over.

        Parameters
        ----------
        counts : array_like of int, shape (m,)
            The private counts, of sum n.
        size : int
            The number of draws.
        rng : simplexdp.testing.SeededRng, optional
            For tests.

        Returns
        -------
        ndarray of int, shape (size, m)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> h = sdp.HellingerMechanism(prior=[1, 1, 1], n=30, epsilon=1.0)
        >>> h.simulate([10, 15, 5], 7).sum(axis=1).tolist()
        [30, 30, 30, 30, 30, 30, 30]
        """
        size = _arguments.integer("size", size, 0)
        x = self._counts(counts)
        return self._family.release(x, self._exponent_of(x), size, rng).reshape(size, self._prior.size)

    def infer(self, release: Posterior, *, prior: ArrayLike | None = None) -> Any:
        """Return the exact posterior of counts and shares given a release, the noise of the mechanism included.

        By enumeration of all data sets: every one's probability of this release has a normaliser and an exponent of its
        own, so that there is no shorter way that is exact.

        Parameters
        ----------
        release : Posterior
            What was released.
        prior : float or array_like of shape (m,), optional
            Of the shares; by default the mechanism's own.

        Returns
        -------
        simplexdp.inference.HistogramPosterior

        Raises
        ------
        NotAffordableError
            Above 2^28 pairs of data sets and candidates: two categories go up to n = 16000, three to 180, four to 45.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> h = sdp.HellingerMechanism(prior=[1, 1], n=60, epsilon=1.0)
        >>> lower, upper = h.infer(sdp.Posterior([46, 16])).interval(0.95)[0]
        >>> bool(lower < 46 / 62 < upper)
        True
        """
        from simplexdp.inference.enumerated import infer_enumerated

        return infer_enumerated(self._family, self._exponent, self._prior, self._n, release, prior)

    def candidates(self) -> Integers:
        """Return the counts of all candidates, in lexicographic order; the posteriors are ``prior + candidates()``.

        Returns
        -------
        ndarray of int, shape (|R|, m)

        Raises
        ------
        NotAffordableError
            When there are more than 2**26.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.HellingerMechanism(prior=[1, 1], n=2, epsilon=1.0).candidates().tolist()
        [[0, 2], [1, 1], [2, 0]]
        """
        return self._family.candidates().reshape(-1, self._prior.size)

    def probabilities(self, counts: ArrayLike) -> Floats:
        """Return the probability of every candidate at the data, in the order of `candidates`.

        Parameters
        ----------
        counts : array_like of int, shape (m,)
            Of sum n.

        Returns
        -------
        ndarray of float, shape (|R|,)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> h = sdp.HellingerMechanism(prior=[1, 1], n=4, epsilon=1.0)
        >>> p = h.probabilities([2, 2])
        >>> int(p.argmax()), bool(abs(p.sum() - 1) < 1e-12)
        (2, True)
        """
        x = self._counts(counts)
        return self._family.law(x, self._exponent_of(x))[1]

    def error_distribution(
        self, counts: ArrayLike, metric: Metric = "hellinger", *, samples: int = 10_000, rng: SeededRng | None = None
    ) -> ErrorDistribution:
        """Return the law of the error at the data, exact where the candidates can be enumerated.

        Parameters
        ----------
        counts : array_like of int, shape (m,)
            Of sum n.
        metric : {"hellinger", "l1"}, default "hellinger"
            Hellinger distance of the released posterior from the data's own, or l1 distance of their parameters.
        samples : int, default 10000
            Draws where enumeration is not affordable; the ``band`` of the result is for this number.
        rng : simplexdp.testing.SeededRng, optional
            For those draws, in tests.

        Returns
        -------
        ErrorDistribution
            Values, probabilities, and 0 or the width of the simulation's confidence band.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> h = sdp.HellingerMechanism(prior=[1, 1], n=10, epsilon=1.0)
        >>> h.error_distribution([5, 5], "l1").values.tolist()
        [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
        """
        _arguments.choice("metric", metric, get_args(Metric))
        x = self._counts(counts)
        try:
            return ErrorDistribution(*self._family.error_law(x, self._exponent_of(x), metric), 0.0)
        except NotAffordableError:
            drawn = self.simulate(counts, _arguments.integer("samples", samples, 1), rng)
        return simulated_errors(self._prior, x, drawn, metric)

    def expected_error(self, counts: ArrayLike, metric: Metric = "hellinger") -> float:
        """Return the expected error at the data, the mean of `error_distribution`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> 0 < sdp.HellingerMechanism(prior=[1, 1], n=10, epsilon=1.0).expected_error([5, 5]) < 1
        True
        """
        return self.error_distribution(counts, metric).mean

    def utility_bound(self, counts: ArrayLike, beta: float) -> float:
        """Return a Hellinger distance that a release at the data exceeds with probability at most `beta`.

        The exponential mechanism's bound, ``ln((|R| - 1) / beta) / exponent_at(counts)``; it costs no enumeration.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> h = sdp.HellingerMechanism(prior=[1, 1], n=1000, epsilon=3.0, calibration="proved")
        >>> 0.1 < h.utility_bound([500, 500], 0.05) < 0.3
        True
        """
        beta = _arguments.open_unit("beta", beta)
        exponent = self.exponent_at(counts)
        return self._family.utility_bound(exponent, beta) if exponent else 0.0

    def acceptance_rate(self, counts: ArrayLike) -> float:
        """Return the chance that a proposal of the sampler is accepted at the data; 1 where it enumerates.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.HellingerMechanism(prior=[1, 1], n=10, epsilon=1.0).acceptance_rate([5, 5])
        1.0
        """
        x = self._counts(counts)
        return self._family.acceptance_rate(x, self._exponent_of(x))

    def save_certificate(self, path: str | os.PathLike[str]) -> None:
        """Store a certified mechanism in a small JSON file with a checksum; it holds public quantities only.

        Parameters
        ----------
        path : path-like
            Where to.

        Raises
        ------
        InvalidParameterError
            When the mechanism is not certified.
        """
        if self._profile is None or self._loss is None or self._mean_error is None:
            raise InvalidParameterError("only a certified mechanism can be stored; certify() makes one")
        shape, parameter, factor = self._exponent
        certificate = Certificate(
            prior=self._prior.tolist(),
            n=self._n,
            epsilon=self._epsilon,
            delta=self._delta,
            sensitivity=self._sensitivity,
            calibration=self._calibration,
            shape=shape,
            parameter=parameter,
            factor=factor,
            loss=self._loss,
            mean_error=self._mean_error,
            epsilons=self._profile[0].tolist(),
            deltas=self._profile[1].tolist(),
        )
        write_certificate(path, certificate)

    @classmethod
    def load_certificate(cls, path: str | os.PathLike[str]) -> "HellingerMechanism":
        """Return the mechanism that `save_certificate` stored, without certifying it again.

        The checksum finds accidents, not forgeries: whoever can write the file decides on the guarantee.

        Parameters
        ----------
        path : path-like
            Where from.

        Returns
        -------
        HellingerMechanism

        Raises
        ------
        InvalidParameterError
            When the file is not a certificate or its checksum does not fit.
        """
        found = read_certificate(path)
        mechanism = object.__new__(cls)
        prior = checked_prior(found.prior)
        family = _family(prior, found.n)
        mechanism._set(
            family,
            prior,
            found.n,
            found.epsilon,
            found.delta,
            cast(Sensitivity, found.sensitivity),
            cast(Calibration, found.calibration),
        )
        exponent = (found.shape, found.parameter, found.factor)
        _core.certified_profile(*found.points)  # refuses a table that is no profile now, not at its first use
        mechanism._certified((exponent, found.loss, found.mean_error, *found.points))
        return mechanism

    def _exponent_of(self, counts: Integers) -> float:
        shape, parameter, factor = self._exponent
        return factor * self._family.inverse_sensitivity(counts, shape, parameter)

    def _counts(self, counts: ArrayLike) -> Integers:
        return checked_counts(counts, self._prior.size)


def _family(prior: Floats, n: int) -> _core.HellingerFamily:
    if n > 2**43:
        raise InvalidParameterError(f"n must be at most 2^43, got {n}")
    return _core.HellingerFamily(prior, n)


def _affordable_calibration(
    family: _core.HellingerFamily, sensitivity: Sensitivity, delta: float | None
) -> Literal["certified", "proved"]:
    cost = family.certification_cost()
    if cost is not None and cost <= AUTO_CERTIFICATION:
        return "certified"
    if sensitivity == "local" or (sensitivity == "smooth" and delta is None):
        shown = "more than 10^38" if cost is None else str(cost)
        goal = "" if delta is not None else " without delta"
        raise NotAffordableError(
            f"a certification that compares {shown} probabilities is more than the limit of {AUTO_CERTIFICATION} for "
            f'calibration="auto", and nothing is proved for sensitivity="{sensitivity}"{goal}; use '
            'sensitivity="adaptive", or calibration="certified", which goes further'
        )
    return "proved"
