"""Counts of a table and of its margins that fit together: cells add up to rows, rows to the number of records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidParameterError
from simplexdp.inference.laws import CountLaws
from simplexdp.inference.lopsided import beside_large, large_leaves
from simplexdp.inference.prior import Prior
from simplexdp.inference.tree import Level, Part, empirical_parts, parts_of_prior, tree_posterior
from simplexdp.models.released import Law

__all__ = ["TableMargins", "table_margins"]


@dataclass(frozen=True, eq=False)
class TableMargins:
    """The laws of the cells of a table, of the sizes of its rows and of all records, given one release.

    Means add up exactly. Laws of cells, rows and the total are exact; those of other margins take the cells that are
    added up as independent, and so do rows with a cell far above the others that cell and the rest.

    Attributes
    ----------
    cells : CountLaws
        Of the shape of the release.
    rows : CountLaws
        Without its last axis.
    total : CountLaws
        Of shape ().

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.DiscreteLaplaceMechanism(scale=2, sensitivity=2)
    >>> posterior = mechanism.infer([[12, 9], [3, 2]], prior="empirical", total=sdp.inference.Total.flat())
    >>> margins = posterior.margins(total=26)
    >>> float(margins.cells.mean.sum().round(9)), margins.over(0).interval(0.9).shape
    (26.0, (2, 2))
    """

    cells: CountLaws
    rows: CountLaws
    total: CountLaws

    def over(self, axes: int | tuple[int, ...]) -> CountLaws:
        """Return the laws of the margin in which these axes are summed out; the last axis is that of the values.

        Parameters
        ----------
        axes : int or tuple of int
        """
        dimensions = len(self.cells.shape)
        chosen = {axis % dimensions for axis in ((axes,) if isinstance(axes, int) else axes)}
        if len(chosen) == dimensions:
            return self.total
        if dimensions - 1 in chosen:
            rest = tuple(sorted(chosen - {dimensions - 1}))
            return self.rows.sum(rest) if rest else self.rows
        return self.cells.sum(tuple(sorted(chosen)))


def table_margins(noisy: NDArray[np.float64], law: Law, prior: Prior, total: int | None) -> TableMargins:
    """Infer the counts of a table of noisy counts.

    How the records split into rows has the empirical prior: the evidence says how uneven rows are. A private number of
    records is as likely as any other. Where single cells have nearly all records, the evidence is that of the others.

    Parameters
    ----------
    noisy : ndarray, shape (..., d)
    law : Law
        Of the noise of each count.
    prior : Prior
        Of the shares of a row; all rows have the same.
    total : int, optional
        The public number of records in all.
    """
    if law.kind not in ("laplace", "gaussian"):
        raise InvalidParameterError("margins need independent noise on every count, whose law is known")
    shape = noisy.shape
    rows, dimension = int(np.prod(shape[:-1], initial=1)), shape[-1]
    leaves = np.asarray(noisy, dtype=np.float64).ravel()
    whole, cell_parent = np.zeros(rows, dtype=np.int64), np.repeat(np.arange(rows), dimension)
    of_cells = parts_of_prior(prior, rows)
    large = large_leaves(leaves, law) if len(of_cells) > 1 else np.zeros(0, dtype=np.int64)
    if len(large):
        laws = beside_large(
            [whole, cell_parent],
            [
                lambda parent, nodes: empirical_parts(parent),
                lambda parent, nodes: [part._replace(parameters=part.parameters[nodes]) for part in of_cells],
            ],
            leaves,
            law,
            large,
            total,
        )
    else:
        # Given n all splits together have a mass of one: without that large totals, which have many more of them, would
        # be the likelier ones before the release. Were all splits as likely, rows without records would seem to have
        # some.
        even = Part(0.0, np.ones(rows))
        of_rows = [even] if rows == 1 else empirical_parts(whole)
        laws = tree_posterior([Level(whole, of_rows), Level(cell_parent, of_cells, leaves, law)], total)
    return TableMargins(laws[2].reshaped(shape), laws[1].reshaped(shape[:-1]), laws[0].reshaped(()))
