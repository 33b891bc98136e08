"""What mechanisms that add noise share."""

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp.accounting import Adjacency, PrivacyCurve
from simplexdp.accounting.unit import unit_of_rows
from simplexdp.exceptions import InvalidParameterError

__all__ = ["NoiseMechanism"]

Made = TypeVar("Made", bound="NoiseMechanism")


class NoiseMechanism:
    """Base of the mechanisms that add noise; the fields of the subclasses are their whole state."""

    adjacency: Adjacency
    unit: str | None

    def _for_persons(self: Made, unit: Any, max_rows: int) -> Made:
        """Return the mechanism as one for persons, where they have several rows or a name."""
        name = unit_of_rows(unit, max_rows)
        return self if name is None else replace(self, unit=name)  # type: ignore[type-var,unused-ignore]

    @property
    def exact_parameters(self) -> _core.NoiseMechanism:
        """The parameters that the guarantee is formed from."""
        raise NotImplementedError

    @cached_property
    def privacy(self) -> PrivacyCurve:
        """What one release costs, rounding to the grid included where there is one."""
        names = [each.name for each in fields(self) if each.name not in ("adjacency", "unit")]  # type: ignore[arg-type]
        given = ((name, getattr(self, name)) for name in names)
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in given if value is not None)
        guarantee = self.exact_parameters.guarantee(self.adjacency)
        return PrivacyCurve.from_guarantee(guarantee, f"{type(self).__name__}({shown})").for_unit(self.unit)

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        # The table of the noise is made again where it is needed.
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def cost_of(self, *args: Any, **kwargs: Any) -> PrivacyCurve:
        """Return what ``release`` with these arguments costs: `privacy`, whatever they are."""
        return self.privacy

    def interval(self, y: ArrayLike, level: float = 0.95, *, simultaneous: bool = False) -> NDArray[Any]:
        """Return confidence intervals of the true values, from a release and public parameters alone.

        Each covers its true value with a probability of at least `level`, whatever the data: noise is symmetric, so
        the interval is the released value plus and minus a quantile of the noise, and half a step of the grid where the
        mechanism rounds. Post-processing: costs no privacy.

        Parameters
        ----------
        y : array_like
            What was released: integers, or multiples of the resolution.
        level : float, default 0.95
            Probability of covering, strictly between 0 and 1.
        simultaneous : bool, default False
            Whether all intervals along the last axis hold together with probability `level`.

        Returns
        -------
        ndarray of int64 or float64, shape (*y.shape, 2)
            Lower and upper ends.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.DiscreteLaplaceMechanism(scale=2, sensitivity=2).interval([10, 20]).tolist()
        [[4, 16], [14, 26]]
        """
        values = np.asarray(check.numbers("y", y))
        entries = values.shape[-1] if values.ndim else 1
        together = check.flag("simultaneous", simultaneous)
        alpha = _core.test_size(check.open_unit("level", level), max(entries, 1) if together else 1)
        radius = self.exact_parameters.radius(alpha)
        if isinstance(radius, int):
            if np.any(values != np.floor(values)) or np.any(np.abs(values) > 2.0**62):
                raise InvalidParameterError("y must be integers, as released")
            values = np.asarray(y, dtype=np.int64)
        return np.stack([values - radius, values + radius], axis=-1)

    def infer(
        self,
        release: ArrayLike,
        *,
        prior: Any = 1.0,
        total: Any = None,
        centre: ArrayLike | None = None,
        apart: Sequence[int] = (),
        units: int = 1,
    ) -> Any:
        """Return the exact posterior of counts and shares given a release, as `simplexdp.inference.infer`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.DiscreteLaplaceMechanism(scale=2, sensitivity=2).infer([12, 3, 5], total=20).mean.shape
        (3,)
        """
        from simplexdp.inference import infer

        return infer(self, release, prior=prior, total=total, centre=centre, apart=apart, units=units)


def _shown(value: Any) -> str:
    """Return a public parameter for a label, in six digits."""
    return repr(value) if isinstance(value, str | int) else f"{float(value):.6g}"
