"""Dirichlet posteriors: what a release of the Hellinger mechanism or of a baseline is."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments, divergence
from simplexdp.exceptions import InvalidParameterError

Floats = NDArray[np.float64]

MOST_VALUES = 2**31
"""Of one sample: 16 GiB."""


class Posterior:
    """A Dirichlet distribution (a beta distribution for two categories) over the categories' probabilities.

    A posterior that a mechanism released is public: whatever is computed from it is post-processing and costs nothing.
    One that was made from private counts is as private as they are, and so are all of its methods.

    Parameters
    ----------
    alpha : array_like of float, shape (m,)
        The parameters, all positive, m >= 2.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> posterior = sdp.Posterior([8.0, 2.0])
    >>> posterior.mean.tolist()
    [0.8, 0.2]
    """

    __slots__ = ("_alpha",)

    _alpha: Floats

    def __init__(self, alpha: ArrayLike) -> None:
        parameters = _arguments.numbers("alpha", alpha).copy()
        if parameters.ndim != 1 or parameters.size < 2:
            raise InvalidParameterError(f"alpha must have shape (m,) with m >= 2, got shape {parameters.shape}")
        if not np.all(parameters > 0):
            raise InvalidParameterError("alpha must be positive")
        parameters.setflags(write=False)
        object.__setattr__(self, "_alpha", parameters)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a posterior is immutable: cannot set {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Posterior, (self._alpha,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Posterior) and np.array_equal(self._alpha, other._alpha)

    def __hash__(self) -> int:
        return hash(self._alpha.tobytes())

    def __repr__(self) -> str:
        return f"Posterior({np.array2string(self._alpha, separator=', ', threshold=8)})"

    def _repr_html_(self) -> str:
        from simplexdp._notebook import largest, table

        ends = self.interval(0.95)
        shown, others = largest(self.mean.tolist())
        rows = [
            [k, f"{100 * self.mean[k]:.2f} %", f"{100 * ends[k, 0]:.2f} % to {100 * ends[k, 1]:.2f} %"] for k in shown
        ]
        return table(["", "share", "95 %"], rows, caption="Dirichlet posterior", notes=[others] if others else [])

    @property
    def alpha(self) -> Floats:
        """The parameters, read-only."""
        return self._alpha

    @property
    def mean(self) -> Floats:
        """The expected probabilities."""
        return np.asarray(self._alpha / self._alpha.sum())

    @property
    def var(self) -> Floats:
        """The variance of each probability."""
        total = self._alpha.sum()
        mean = self._alpha / total
        return np.asarray(mean * ((total - self._alpha) / total) / (total + 1))

    def hellinger(self, other: "Posterior") -> float:
        """Return the Hellinger distance to another posterior, between 0 and 1.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> round(sdp.Posterior([1, 2]).hellinger(sdp.Posterior([2, 1])), 6)
        0.463251
        """
        return float(divergence.hellinger_dirichlet(self._alpha, self._partner(other)))

    def kl(self, other: "Posterior") -> float:
        """Return the Kullback-Leibler divergence KL(self || other).

        Examples
        --------
        >>> import simplexdp as sdp
        >>> round(sdp.Posterior([2, 1]).kl(sdp.Posterior([1, 2])), 6)
        1.0
        """
        return float(divergence.kl_dirichlet(self._alpha, self._partner(other)))

    def renyi(self, other: "Posterior", order: float) -> float:
        """Return the Renyi divergence of the given order, infinite where it does not exist.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> round(sdp.Posterior([3, 2]).renyi(sdp.Posterior([2, 3]), 2.0), 6)
        1.098612
        """
        return float(divergence.renyi_dirichlet(self._alpha, self._partner(other), order))

    def sample(self, size: int | None = None, rng: np.random.Generator | int | None = None) -> Floats:
        """Draw probability vectors, with NumPy's generator.

        For a released posterior this is post-processing, for which any generator will do. It is not a private release
        of counts: `DirichletMechanism` draws from a posterior of private counts, exactly.

        Parameters
        ----------
        size : int, optional
            The number of vectors; one vector without an axis for it when left out.
        rng : numpy.random.Generator or int, optional
            A generator or its seed.

        Returns
        -------
        ndarray of float, shape (m,) or (size, m)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.Posterior([1.0, 2.0, 3.0]).sample(4, rng=0).shape
        (4, 3)
        """
        if size is not None:
            size = _arguments.integer("size", size, 0)
            if size * self._alpha.size > MOST_VALUES:
                raise InvalidParameterError(f"size must come to at most {MOST_VALUES} values, got {size}")
        try:
            if isinstance(rng, np.ndarray) and rng.ndim > 1:
                raise TypeError  # NumPy's own reading of a matrix overflows the stack.
            generator = np.random.default_rng(rng)
        except (TypeError, ValueError):
            raise InvalidParameterError(f"rng must be a NumPy generator or its seed, got {rng!r}") from None
        return np.asarray(generator.dirichlet(self._alpha, size), dtype=np.float64)

    def interval(self, level: float = 0.95) -> Floats:
        """Return the central interval of each probability under this law: quantiles of its beta marginals.

        Of a posterior that was released with noise this is *not* a credible interval of the data's shares: it ignores
        the noise, and is far too short at small budgets. `HellingerMechanism.infer` has intervals that hold theirs.

        Parameters
        ----------
        level : float, default 0.95
            The probability of the interval, strictly between 0 and 1. Each category has its own interval.

        Returns
        -------
        ndarray of float, shape (m, 2)
            Lower and upper ends: quantiles of the beta distributions of the single probabilities.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.Posterior([8.0, 2.0]).interval(0.9).shape
        (2, 2)
        """
        from simplexdp import special

        tail = (1 - _arguments.open_unit("level", level)) / 2
        rest = self._alpha.sum() - self._alpha
        lower = special.betainc_inverse(self._alpha, rest, tail)
        # The upper end of a category is one minus the lower end of all the others together.
        upper = 1 - np.asarray(special.betainc_inverse(rest, self._alpha, tail))
        return np.stack([np.asarray(lower), upper], axis=-1)

    def _partner(self, other: "Posterior") -> Floats:
        if not isinstance(other, Posterior):
            raise InvalidParameterError(f"other must be a Posterior, got {type(other).__name__}")
        if other._alpha.shape != self._alpha.shape:
            raise InvalidParameterError(
                f"other must have {self._alpha.size} categories as this posterior, got {other._alpha.size}"
            )
        return other._alpha
