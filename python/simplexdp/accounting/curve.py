"""The privacy curve of a mechanism: delta as a function of epsilon, and what follows from it."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from simplexdp import _core
from simplexdp._arguments import choice, down, extended, integer, non_negative, number, positive, up
from simplexdp._arrays import Floats, as_floats, map_broadcast
from simplexdp._rounding import rounded
from simplexdp.accounting.unit import checked_unit
from simplexdp.exceptions import InvalidParameterError

Adjacency = Literal["replace", "add_remove"]
"""Which data sets are neighbours: one record changed, or one added or removed."""


Conversion = Literal["optimal", "tangent", "lemma"]
"""How Renyi divergences become delta: see `PrivacyCurve.from_tcdp`."""


class PrivacyCurve:
    """What a mechanism guarantees: an upper bound of delta for every epsilon.

    Every figure is an upper bound that holds in floating point: delta is rounded up by a relative 1e-11, epsilon is the
    result of a root search from the safe side. Curves are immutable. Make them with the class methods, or take the
    ``privacy`` of a mechanism.

    Parameters
    ----------
    profiles : sequence of Profile
        Of the ideal mechanism: one for ``"replace"``; for ``"add_remove"`` two, record removed and record added. See
        the documentation of `simplexdp.accounting`.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours.
    exact : bool, default False
        Whether the curve is attained, or approached, by neighbours.
    sampling_error : float, default 0
        Total variation distance between the ideal output laws and the sampler's.
    label : str, optional
        Shown by ``repr``.
    unit : str, optional
        Whose records change together: the column that tells persons. By default each record stands for itself.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> curve = sdp.PrivacyCurve.gaussian(sigma=2.0, sensitivity=1.0)
    >>> round(curve.epsilon(1e-5), 4)
    1.9931
    >>> curve.delta([0.5, 1.0]).shape
    (2,)
    """

    __slots__ = ("_guarantee", "_label")

    _guarantee: _core.Guarantee
    _label: str

    def __init__(
        self,
        profiles: Sequence[_core.Profile],
        *,
        adjacency: Adjacency,
        exact: bool = False,
        sampling_error: float = 0.0,
        label: str = "",
        unit: str | None = None,
    ) -> None:
        choice("adjacency", adjacency, get_args(Adjacency))
        eta = up(sampling_error, non_negative("sampling_error", sampling_error))
        self._set(_core.Guarantee(list(profiles), adjacency, bool(exact), eta, checked_unit(unit)), label)

    def _set(self, guarantee: _core.Guarantee, label: str) -> None:
        if not isinstance(guarantee, _core.Guarantee):
            raise InvalidParameterError(f"guarantee must be one of a curve, got {type(guarantee).__name__}")
        if not isinstance(label, str):
            raise InvalidParameterError(f"label must be a text, got {type(label).__name__}")
        object.__setattr__(self, "_guarantee", guarantee)
        object.__setattr__(self, "_label", label)

    @classmethod
    def from_guarantee(cls, guarantee: _core.Guarantee, label: str = "") -> "PrivacyCurve":
        """Return the curve of a guarantee of the core.

        Parameters
        ----------
        guarantee : Guarantee
            What `guarantee` of a curve gives.
        label : str, optional
            Shown by ``repr``; it does not enter comparisons.

        Returns
        -------
        PrivacyCurve

        Examples
        --------
        >>> import simplexdp as sdp
        >>> curve = sdp.PrivacyCurve.pure(1.0)
        >>> sdp.PrivacyCurve.from_guarantee(curve.guarantee) == curve
        True
        """
        curve = object.__new__(cls)
        curve._set(guarantee, label)
        return curve

    def __eq__(self, other: object) -> bool:
        """Return whether adjacency, all parameters of all parts and the sampling error agree, to the last bit."""
        return self._guarantee == other._guarantee if isinstance(other, PrivacyCurve) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._guarantee)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a privacy curve is immutable: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a privacy curve is immutable: cannot delete {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._guarantee, self._label)

    def __repr__(self) -> str:
        parts = [self._label] if self._label else []
        parts += [f"adjacency={self.adjacency!r}", f"exact={self.exact}"]
        if self.unit is not None:
            parts.append(f"unit={self.unit!r}")
        if self.sampling_error:
            parts.append(f"sampling_error={self.sampling_error:.3g}")
        return f"PrivacyCurve({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from simplexdp._notebook import table

        rows = [[f"{delta:g}", rounded(float(self.epsilon(delta)))] for delta in (1e-3, 1e-6, 1e-9)]
        guess = rounded(50 * (1 + self.advantage()), 3)
        change = "replaced" if self.adjacency == "replace" else "added or removed"
        who = "One record" if self.unit is None else f"All records of one {self.unit}"
        notes = [f"{who} {change}. The best attacker is right in at most {guess} % of cases instead of 50 %."]
        return table(["delta", "epsilon, at most"], rows, caption=self.label or "privacy curve", notes=notes)

    @property
    def guarantee(self) -> _core.Guarantee:
        """The object of the core that this curve shows."""
        return self._guarantee

    @property
    def adjacency(self) -> Adjacency:
        """Which data sets are neighbours: ``"replace"`` or ``"add_remove"``."""
        return "replace" if self._guarantee.adjacency == "replace" else "add_remove"

    @property
    def unit(self) -> str | None:
        """Whose records change together between neighbours: the column that tells persons; None for single records."""
        return self._guarantee.unit

    def for_unit(self, unit: str | None, label: str | None = None) -> "PrivacyCurve":
        """Return the same curve as one for persons, which you state: nothing here can check it.

        For curves that were made by hand. Mechanisms for several rows, models and commands name the unit themselves.
        Curves for different units are neither composed nor debited from one ledger.

        Parameters
        ----------
        unit : str or None
            The column that tells persons; None for single records.
        label : str, optional
            Shown by ``repr``; by default as before.

        Returns
        -------
        PrivacyCurve

        Examples
        --------
        >>> import simplexdp as sdp
        >>> curve = sdp.PrivacyCurve.laplace(scale=4.0, sensitivity=4.0).for_unit("patient")
        >>> curve.unit
        'patient'
        >>> curve + sdp.PrivacyCurve.pure(1.0)
        Traceback (most recent call last):
        ...
        simplexdp.exceptions.InvalidParameterError: curves must all be for the same unit, got 'patient' and single \
records
        """
        guarantee = self._guarantee.of_unit(checked_unit(unit))
        return self.from_guarantee(guarantee, self._label if label is None else label)

    @property
    def exact(self) -> bool:
        """Whether the curve is also attained (or approached) by neighbours."""
        return self._guarantee.exact

    @property
    def profiles(self) -> tuple[_core.Profile, ...]:
        """The compiled profiles of the ideal mechanism; see `simplexdp.accounting`."""
        return self._guarantee.profiles

    @property
    def sampling_error(self) -> float:
        """Total variation distance between the ideal output laws and the sampler's."""
        return self._guarantee.sampling_error

    @property
    def label(self) -> str:
        """What the curve was made from."""
        return self._label

    def delta(self, epsilon: ArrayLike) -> float | Floats:
        """Return delta at each epsilon, rounded up.

        Parameters
        ----------
        epsilon : array_like of float
            Any real numbers; negative ones are valid too.

        Returns
        -------
        float or ndarray
            Same shape as `epsilon`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> round(sdp.PrivacyCurve.laplace(scale=1.0).delta(0.0), 6)
        0.393469
        """
        values = as_floats("epsilon", epsilon)
        if np.isnan(values).any():
            raise InvalidParameterError("epsilon must be a number, got nan")
        return map_broadcast(self._guarantee.delta, x=values)

    def epsilon(self, delta: ArrayLike, *, tolerance: float | None = None) -> float | Floats:
        """Return the least epsilon >= 0 at each delta, rounded up; infinite where there is none.

        Parameters
        ----------
        delta : array_like of float
            Strictly between 0 and 1. Zero is accepted where the curve is pure, so that the answer is finite.
        tolerance : float, optional
            For compositions: refine the grid until upper and lower bound are at most so far apart.

        Returns
        -------
        float or ndarray
            Same shape as `delta`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.PrivacyCurve.pure(0.5).epsilon(0.0)
        0.5
        """
        if tolerance is not None:
            return self.epsilon_bounds(delta, tolerance=tolerance)[1]
        if type(delta) is float and 0.0 < delta < 1.0:
            # What is asked most: looking at it as an array would take longer than the answer.
            return float(self._guarantee.epsilon(np.array([delta]))[0])
        values = self._deltas(delta)
        result = map_broadcast(self._guarantee.epsilon, x=values)
        if np.any((values == 0) & np.isinf(result)):
            raise InvalidParameterError("delta must lie strictly between 0 and 1 (the curve is not pure), got 0")
        return result

    def epsilon_bounds(
        self, delta: ArrayLike, *, tolerance: float | None = None
    ) -> tuple[float | Floats, float | Floats]:
        """Return bounds from both sides of the least epsilon at each delta.

        The lower bounds are those of the dominating pairs themselves: how much of the reported epsilon is owed to the
        numerical method, not whether neighbours attain it.

        Parameters
        ----------
        delta : array_like of float
            Strictly between 0 and 1.
        tolerance : float, optional
            Refine the grid of a composition until the bounds are at most so far apart.

        Returns
        -------
        tuple of float or ndarray
            Lower and upper bounds, of the shape of `delta`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> total = 10 * sdp.PrivacyCurve.gaussian(sigma=5.0)
        >>> lower, upper = total.epsilon_bounds(1e-6, tolerance=1e-5)
        >>> 0 <= upper - lower <= 1e-5
        True
        """
        values = self._deltas(delta)
        if tolerance is None:
            return map_broadcast(self._guarantee.epsilon_lower, x=values), self.epsilon(values)
        tolerance = positive("tolerance", tolerance)
        both = [self._guarantee.epsilon_within(float(value), tolerance) for value in values.ravel()]
        bounds = np.array(both).reshape(-1, 2)
        lower, upper = bounds[:, 0].reshape(values.shape), bounds[:, 1].reshape(values.shape)
        return (lower, upper) if values.shape else (float(lower), float(upper))

    @staticmethod
    def _deltas(delta: ArrayLike) -> Floats:
        values = as_floats("delta", delta)
        if not np.all((values >= 0) & (values < 1)):
            raise InvalidParameterError(f"delta must lie strictly between 0 and 1, got {delta!r}")
        return values

    def __add__(self, other: object) -> "PrivacyCurve":
        """Compose with another curve of the same adjacency."""
        from simplexdp.accounting.composition import compose

        return compose([self, other]) if isinstance(other, PrivacyCurve) else NotImplemented

    def __mul__(self, count: object) -> "PrivacyCurve":
        """Compose with itself so many times."""
        from simplexdp.accounting.composition import compose

        if isinstance(count, bool) or not isinstance(count, int | np.integer):
            return NotImplemented
        return compose([self], [integer("count", count, 1)])

    __rmul__ = __mul__

    def to_dp_accounting(self, *, value_discretization_interval: float = 1e-4) -> Any:
        """Return this curve as a privacy loss distribution of dp_accounting, rounded towards more loss.

        Parameters
        ----------
        value_discretization_interval : float, default 1e-4
            Grid of the losses; it must be the same for all that is composed.

        Returns
        -------
        dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
            Its own composition is not protected against rounding. See `simplexdp.accounting.interop` for events.
        """
        from simplexdp.accounting.interop import to_pld

        return to_pld(self, value_discretization_interval)

    @classmethod
    def from_dp_accounting(cls, pld: Any, *, adjacency: Adjacency) -> "PrivacyCurve":
        """Return the curve of a privacy loss distribution of dp_accounting.

        Parameters
        ----------
        pld : dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
            A pessimistic one. It is taken at its word, to the last digit of its masses.
        adjacency : {"replace", "add_remove"}
            Which data sets it was made for.

        Returns
        -------
        PrivacyCurve
        """
        choice("adjacency", adjacency, get_args(Adjacency))
        from simplexdp.accounting.interop import from_pld

        return from_pld(pld, adjacency)

    def renyi(self, order: ArrayLike) -> float | Floats:
        """Return an upper bound of the Renyi divergence of the ideal mechanism.

        Parameters
        ----------
        order : array_like of float
            Above 1; may be infinite.

        Returns
        -------
        float or ndarray
            Same shape as `order`; infinite where no finite bound is known.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> round(sdp.PrivacyCurve.gaussian(sigma=1.0).renyi(4.0), 9)
        2.0
        """
        values = as_floats("order", order)
        if not np.all(values > 1):
            raise InvalidParameterError(f"order must be above 1, got {order!r}")
        return map_broadcast(self._guarantee.renyi, x=values)

    def tcdp(self, omega: ArrayLike) -> float | Floats:
        """Return rho such that (rho, omega)-truncated concentrated DP holds.

        Parameters
        ----------
        omega : array_like of float
            Above 1; infinite asks for zCDP.

        Returns
        -------
        float or ndarray
            Upper bounds of the largest ``renyi(order) / order`` over orders below `omega`, of the ideal mechanism.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> round(sdp.PrivacyCurve.gaussian(sigma=1.0).tcdp(5.0), 9)
        0.5
        """
        values = as_floats("omega", omega)
        if not np.all(values > 1):
            raise InvalidParameterError(f"omega must be above 1, got {omega!r}")
        return map_broadcast(self._guarantee.tcdp, x=values)

    def with_sampling_error(self, eta: float) -> "PrivacyCurve":
        """Return the curve of a sampler that is another `eta` off in total variation.

        delta grows by ``(1 + exp(epsilon)) * eta``; `epsilon` answers accordingly.

        Parameters
        ----------
        eta : float
            For each output law; in [0, 1).

        Returns
        -------
        PrivacyCurve

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.PrivacyCurve.pure(1.0).with_sampling_error(2.0**-64).sampling_error == 2.0**-64
        True
        """
        error = up(eta, non_negative("eta", eta))
        return self.from_guarantee(self._guarantee.with_sampling_error(error), self._label)

    def tradeoff(self, fpr: ArrayLike) -> float | Floats:
        """Return how often any attacker must miss a record that is there, given its rate of false alarms.

        Parameters
        ----------
        fpr : array_like of float
            False positive rates, in [0, 1]: how often the attacker says that a record is in the data (or that it is
            not) when it is not so.

        Returns
        -------
        float or ndarray
            Lower bounds of the false negative rate of every test with at most this false positive rate, of the two
            directions the smaller. ``1 - fpr`` means that nothing can be learnt.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> round(sdp.PrivacyCurve.pure(1.0).tradeoff(0.05), 4)
        0.8641
        """
        values = as_floats("fpr", fpr)
        if not np.all((values >= 0) & (values <= 1)):
            raise InvalidParameterError(f"fpr must lie in [0, 1], got {fpr!r}")
        return map_broadcast(self._guarantee.tradeoff, x=values)

    def advantage(self) -> float:
        """Return the largest advantage of any attacker: its true positive rate minus its false positive rate.

        Returns
        -------
        float
            Between 0 and 1, rounded up. It is ``delta(0)``, the total variation distance; an attacker without prior
            knowledge guesses right with a probability of at most ``(1 + advantage) / 2``.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> round(sdp.PrivacyCurve.pure(1.0).advantage(), 4)
        0.4621
        """
        return self._guarantee.advantage()

    @classmethod
    def pure(cls, epsilon: float, *, adjacency: Adjacency = "replace") -> "PrivacyCurve":
        """Return the worst curve of an epsilon-DP mechanism: binary randomised response.

        Parameters
        ----------
        epsilon : float
            Zero or above.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.

        Returns
        -------
        PrivacyCurve

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.PrivacyCurve.pure(1.0).delta(1.0)
        0.0
        """
        epsilon = up(epsilon, non_negative("epsilon", epsilon))
        choice("adjacency", adjacency, get_args(Adjacency))
        return cls.from_guarantee(_core.Guarantee.budget(adjacency, epsilon, 0.0), f"pure(epsilon={epsilon:.6g})")

    @classmethod
    def from_epsilon_delta(cls, epsilon: float, delta: float, *, adjacency: Adjacency = "replace") -> "PrivacyCurve":
        """Return the worst curve of an (epsilon, delta)-DP mechanism.

        Parameters
        ----------
        epsilon : float
            Zero or above.
        delta : float
            In [0, 1).
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.

        Returns
        -------
        PrivacyCurve
            Dominates every mechanism with that guarantee, also in composition.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> curve = sdp.PrivacyCurve.from_epsilon_delta(1.0, 1e-6)
        >>> curve.delta(5.0), curve.epsilon(1e-6)
        (1e-06, 1.0)
        """
        epsilon, delta = up(epsilon, non_negative("epsilon", epsilon)), up(delta, number("delta", delta))
        choice("adjacency", adjacency, get_args(Adjacency))
        label = f"from_epsilon_delta({epsilon:.6g}, {delta:.6g})"
        return cls.from_guarantee(_core.Guarantee.budget(adjacency, epsilon, delta), label)

    @classmethod
    def from_zcdp(
        cls, rho: float, *, adjacency: Adjacency = "replace", conversion: Conversion = "optimal"
    ) -> "PrivacyCurve":
        """Return the curve of rho-zero-concentrated DP: Renyi divergences of at most ``rho * order``.

        Parameters
        ----------
        rho : float
            Zero or above.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.
        conversion : {"optimal", "tangent", "lemma"}, default "optimal"
            As for `from_tcdp`.

        Returns
        -------
        PrivacyCurve

        Examples
        --------
        >>> import simplexdp as sdp
        >>> loose = sdp.PrivacyCurve.from_zcdp(0.1, conversion="lemma").epsilon(1e-6)
        >>> sdp.PrivacyCurve.from_zcdp(0.1).epsilon(1e-6) < loose
        True
        """
        rho = up(rho, non_negative("rho", rho))
        profile = _tcdp_profile(rho, math.inf, conversion)
        return _symmetric(cls, profile, adjacency, exact=False, label=f"from_zcdp(rho={rho:.6g})")

    @classmethod
    def from_tcdp(
        cls, rho: float, omega: float, *, adjacency: Adjacency = "replace", conversion: Conversion = "optimal"
    ) -> "PrivacyCurve":
        """Return the curve of (rho, omega)-truncated concentrated DP.

        Parameters
        ----------
        rho : float
            Zero or above: Renyi divergences are at most ``rho * order`` for orders below `omega`.
        omega : float
            Above 1.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.
        conversion : {"optimal", "tangent", "lemma"}, default "optimal"
            How delta is computed: the best conversion of each Renyi order, minimised over the orders; the one of
            Canonne, Kamath and Steinke, minimised over the orders; or the closed form of Bun, Dwork, Rothblum and
            Steinke.

        Returns
        -------
        PrivacyCurve

        Examples
        --------
        >>> import simplexdp as sdp
        >>> round(sdp.PrivacyCurve.from_tcdp(0.5, 4.0, conversion="lemma").epsilon(1e-6), 4)
        6.6052
        """
        rho, omega = up(rho, non_negative("rho", rho)), down(omega, extended("omega", omega))
        if not omega > 1:
            raise InvalidParameterError(f"omega must be above 1, got {omega}")
        profile = _tcdp_profile(rho, omega, conversion)
        return _symmetric(cls, profile, adjacency, exact=False, label=f"from_tcdp(rho={rho:.6g}, omega={omega:.6g})")

    @classmethod
    def from_rdp(
        cls, order: float, epsilon: float, *, adjacency: Adjacency = "replace", conversion: Conversion = "optimal"
    ) -> "PrivacyCurve":
        """Return the curve of (order, epsilon)-Renyi DP, which bounds all smaller orders as well.

        Parameters
        ----------
        order : float
            Above 1.
        epsilon : float
            Zero or above.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.
        conversion : {"optimal", "tangent"}, default "optimal"
            As for `from_tcdp`.

        Returns
        -------
        PrivacyCurve

        Examples
        --------
        >>> import simplexdp as sdp
        >>> round(sdp.PrivacyCurve.from_rdp(5.0, 0.1, conversion="tangent").epsilon(1e-5), 4)
        2.3527
        """
        order, epsilon = down(order, number("order", order)), up(epsilon, non_negative("epsilon", epsilon))
        profile = _core.rdp_profile(order, epsilon, _is_optimal(conversion))
        label = f"from_rdp(order={order:.6g}, epsilon={epsilon:.6g})"
        return _symmetric(cls, profile, adjacency, exact=False, label=label)

    @classmethod
    def from_renyi(
        cls,
        function: Callable[[float], float],
        *,
        adjacency: Adjacency = "replace",
        conversion: Conversion = "optimal",
    ) -> "PrivacyCurve":
        """Return the curve of a mechanism whose Renyi divergences a function bounds.

        Parameters
        ----------
        function : callable
            Takes one real order above 1 and returns an upper bound of the Renyi divergence between any two
            neighbours, in both directions; ``inf`` where it knows none. It is called at any real order, not only at
            whole ones, and its values are used as they are, so they should be rounded up. It must not change.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.
        conversion : {"optimal", "tangent"}, default "optimal"
            As for `from_tcdp`.

        Returns
        -------
        PrivacyCurve

        Examples
        --------
        >>> import simplexdp as sdp
        >>> curve = sdp.PrivacyCurve.from_renyi(lambda order: order / 8)
        >>> abs(curve.epsilon(1e-6) / sdp.PrivacyCurve.from_zcdp(1 / 8).epsilon(1e-6) - 1) < 1e-6
        True
        """
        if not callable(function):
            raise InvalidParameterError(f"function must be callable, got {function!r}")
        for order in (1.25, 2.0, 8.0):
            value = float(function(order))
            if not value >= 0:
                raise InvalidParameterError(f"function must return non-negative numbers, got {value} at order {order}")
        profile = _core.renyi_profile(function, _is_optimal(conversion))
        name = getattr(function, "__qualname__", type(function).__name__)
        return _symmetric(cls, profile, adjacency, exact=False, label=f"from_renyi({name})")

    @classmethod
    def gaussian(cls, *, sigma: float, sensitivity: float = 1.0, adjacency: Adjacency = "replace") -> "PrivacyCurve":
        """Return the exact curve of the Gaussian mechanism.

        Parameters
        ----------
        sigma : float
            Standard deviation of the noise.
        sensitivity : float, default 1
            Largest Euclidean distance between the values of neighbours.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.

        Returns
        -------
        PrivacyCurve

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.PrivacyCurve.gaussian(sigma=4.0).exact
        True
        """
        sigma = down(sigma, positive("sigma", sigma))
        sensitivity = up(sensitivity, positive("sensitivity", sensitivity))
        choice("adjacency", adjacency, get_args(Adjacency))
        label = f"gaussian(sigma={sigma:.6g}, sensitivity={sensitivity:.6g})"
        return cls.from_guarantee(_core.Guarantee.gaussian(adjacency, sigma, sensitivity), label)

    @classmethod
    def discrete_gaussian(cls, *, sigma: float, changed: int = 1, adjacency: Adjacency = "replace") -> "PrivacyCurve":
        """Return the exact curve of discrete Gaussian noise on integers.

        Parameters
        ----------
        sigma : float
            Of the noise, P(z) proportional to exp(-z^2 / (2 sigma^2)); between 0.001 and 5000.
        changed : int, default 1
            How many integers move by one between neighbours: 1, or 2.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.

        Returns
        -------
        PrivacyCurve

        Examples
        --------
        >>> import simplexdp as sdp
        >>> curve = sdp.PrivacyCurve.discrete_gaussian(sigma=2.0)
        >>> curve.epsilon(1e-6) < sdp.PrivacyCurve.from_zcdp(0.125).epsilon(1e-6)
        True
        """
        sigma, changed = down(sigma, positive("sigma", sigma)), integer("changed", changed, 1)
        if changed > 2:
            raise InvalidParameterError(f"changed must be 1 or 2, got {changed}")
        choice("adjacency", adjacency, get_args(Adjacency))
        label = f"discrete_gaussian(sigma={sigma:.6g}, changed={changed})"
        return cls.from_guarantee(_core.Guarantee.discrete_gaussian(adjacency, sigma, changed), label)

    @classmethod
    def laplace(cls, *, scale: float, sensitivity: float = 1.0, adjacency: Adjacency = "replace") -> "PrivacyCurve":
        """Return the exact curve of one Laplace-perturbed number.

        Parameters
        ----------
        scale : float
            Of the noise.
        sensitivity : float, default 1
            Largest distance between the values of neighbours.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.

        Returns
        -------
        PrivacyCurve
            For several numbers with independent noise and the same l1-sensitivity it is an upper bound only.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.PrivacyCurve.laplace(scale=2.0).epsilon(0.0)
        0.5
        """
        scale = down(scale, positive("scale", scale))
        sensitivity = up(sensitivity, positive("sensitivity", sensitivity))
        choice("adjacency", adjacency, get_args(Adjacency))
        label = f"laplace(scale={scale:.6g}, sensitivity={sensitivity:.6g})"
        return cls.from_guarantee(_core.Guarantee.laplace(adjacency, scale, sensitivity), label)


def _symmetric(
    cls: type[PrivacyCurve], profile: _core.Profile, adjacency: Adjacency, *, exact: bool, label: str
) -> PrivacyCurve:
    """Return the curve of a mechanism whose neighbours may be exchanged."""
    choice("adjacency", adjacency, get_args(Adjacency))
    profiles = (profile,) if adjacency == "replace" else (profile, profile)
    return cls(profiles, adjacency=adjacency, exact=exact, label=label)


def _rebuild(cls: type[PrivacyCurve], guarantee: _core.Guarantee, label: str) -> PrivacyCurve:
    """Make a curve from its state; what pickle calls."""
    return cls.from_guarantee(guarantee, label)


def _is_optimal(conversion: str) -> bool:
    return choice("conversion", conversion, ("optimal", "tangent")) == "optimal"


def _tcdp_profile(rho: float, omega: float, conversion: str) -> _core.Profile:
    if choice("conversion", conversion, get_args(Conversion)) == "lemma":
        return _core.tcdp_lemma_profile(rho, omega)
    return _core.tcdp_profile(rho, omega, conversion == "optimal")
