"""Bayesian networks over categorical columns, their tables released privately."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from simplexdp import _arguments, _core
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Domain, count_tables
from simplexdp.frames.domain import DomainLike
from simplexdp.models.decoding import decode, frame_kind
from simplexdp.models.domains import resolve_domains
from simplexdp.models.graph import topological_parents
from simplexdp.models.tables import TableRelease

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve
    from simplexdp.testing import SeededRng

__all__ = ["PrivateBayesianNetwork"]

FORMAT = "simplexdp.bayesian-network/1"


class PrivateBayesianNetwork(BaseEstimator):  # type: ignore[misc]
    """A discrete Bayesian network whose conditional tables are private.

    The structure and the domains are public. Every node has one table, with a row for each configuration of its
    parents; one record enters one cell of each table. All tables together are (`epsilon`, `delta`)-differentially
    private, through the tight composition of all K tables.

    Parameters
    ----------
    edges : iterable of pairs
        (parent, child), between columns; public.
    domains : mapping
        The domain of every column of the network: a list of values, a cardinality or a `simplexdp.frames.Domain`. A
        column without one is read off the data, which leaks and warns.
    epsilon, delta : float
        The budget of the whole network; with `order`, `epsilon` is Renyi and `delta` only says at which delta
        `privacy_` is usually read.
    order : float, optional
        Splits a Renyi budget evenly over the tables, as in [DM 5.2]; see `from_rdp`.
    mechanism : str, default "dirichlet"
        ``"dirichlet"``, ``"gaussian"``, ``"laplace"``, ``"discrete_laplace"``, ``"discrete_gaussian"`` or ``"none"``.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours. Under ``"replace"`` the number of records is public.
    count_floor : float, default 1.0
        Additive noise only: noisy counts below it are raised to it before rows are normalised.
    weights : mapping of str to float, optional
        Uneven split of the budget between the nodes; the default treats all alike.
    accountant : Accountant, optional
        Is asked for the budget before anything is drawn.
    random_state : SeededRng, optional
        For tests only.

    Attributes
    ----------
    cpds_ : dict of str to ndarray
        The released table of each node, shape (levels of each parent ..., levels of the node).
    parents_ : dict of str to list of str
        Parents of each node, nodes in topological order.
    domains_ : dict of str to Domain
    privacy_ : PrivacyCurve or None
        What the release cost; None for mechanism ``"none"``.

    Examples
    --------
    >>> from simplexdp.models import PrivateBayesianNetwork
    >>> rain = {"season": ["wet", "dry"] * 50, "rain": ["yes", "no"] * 50}
    >>> network = PrivateBayesianNetwork(
    ...     edges=[("season", "rain")], domains={"season": ["dry", "wet"], "rain": ["no", "yes"]}, epsilon=1.0
    ... ).fit(rain)
    >>> network.cpds_["rain"].shape
    (2, 2)
    >>> bool(network.privacy_.epsilon(1e-6) <= 1.0)
    True
    """

    def __init__(
        self,
        edges: Iterable[Sequence[str]] = (),
        domains: Mapping[str, DomainLike] | None = None,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        order: float | None = None,
        mechanism: str = "dirichlet",
        adjacency: str = "replace",
        count_floor: float = 1.0,
        weights: Mapping[str, float] | None = None,
        accountant: Any = None,
        random_state: SeededRng | None = None,
    ) -> None:
        self.edges = edges
        self.domains = domains
        self.epsilon = epsilon
        self.delta = delta
        self.order = order
        self.mechanism = mechanism
        self.adjacency = adjacency
        self.count_floor = count_floor
        self.weights = weights
        self.accountant = accountant
        self.random_state = random_state

    @classmethod
    def from_rdp(
        cls,
        edges: Iterable[Sequence[str]] = (),
        domains: Mapping[str, DomainLike] | None = None,
        *,
        order: float,
        epsilon: float,
        **parameters: Any,
    ) -> PrivateBayesianNetwork:
        """Make a network whose K tables get (order, epsilon / K)-Renyi privacy each, as in [DM 5.2]."""
        return cls(edges, domains, order=order, epsilon=epsilon, **parameters)

    def fit(self, frame: Any, y: Any = None) -> PrivateBayesianNetwork:
        """Count, release and keep the released tables; the exact counts are not kept.

        Parameters
        ----------
        frame : data frame, two-dimensional array or mapping of one-dimensional arrays
            One record a row, eager or lazy; see `simplexdp.frames.count_table`.
        y : ignored

        Returns
        -------
        self
        """
        edges = [tuple(edge) if isinstance(edge, (list, tuple)) else edge for edge in self.edges]
        nodes = self._nodes(edges)
        parents = topological_parents(edges, nodes)
        domains = resolve_domains(frame, list(parents), self.domains, "domains")
        shapes = [
            (math.prod(len(domains[parent]) for parent in above), len(domains[node])) for node, above in parents.items()
        ]
        counts = count_tables(frame, [[*above, node] for node, above in parents.items()], domains)
        release = TableRelease.plan(
            shapes,
            mechanism=self.mechanism,
            epsilon=self.epsilon,
            delta=self.delta,
            order=self.order,
            adjacency=self.adjacency,
            count_floor=self.count_floor,
            weights=self._weights(list(parents)),
            total=int(counts[0].sum()) if self.adjacency == "replace" else None,
        )
        if self.accountant is not None:
            release.charge(self.accountant, "Bayesian network")
        rows = [table.reshape(shape) for table, shape in zip(counts, shapes, strict=True)]
        tables = release.release(rows, self.random_state)
        self.domains_ = domains
        self.parents_ = parents
        self.cpds_ = {
            node: table.reshape(count.shape) for node, table, count in zip(parents, tables, counts, strict=True)
        }
        self.privacy_: PrivacyCurve | None = release.privacy
        self._frame_kind = frame_kind(frame)
        return self

    def log_likelihood(self, frame: Any) -> float:
        """Return the total log-likelihood of the records of a frame under the released tables.

        Parameters
        ----------
        frame : data frame, two-dimensional array or mapping of one-dimensional arrays

        Returns
        -------
        float
            Minus infinity when a record is impossible.
        """
        return self._log_likelihood(frame)[0]

    def score(self, frame: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of a record."""
        total, n_records = self._log_likelihood(frame)
        return total / n_records if n_records else 0.0

    def sample(self, size: int, *, random_state: SeededRng | None = None, kind: str | None = None) -> Any:
        """Draw synthetic records: post-processing of what was released, so it costs nothing.

        Parameters
        ----------
        size : int
            Number of records.
        random_state : SeededRng, optional
            For tests only.
        kind : {"dict", "pandas", "polars", "pyarrow"}, optional
            What to return; by default the kind of frame that the network was fitted on, a dict of arrays for NumPy
            and for engines that hold no data of their own.

        Returns
        -------
        data frame or dict of ndarray
        """
        check_is_fitted(self)
        size = _arguments.integer("size", size, least=0)
        _arguments.fitting("size", (size,), 2 * len(self.cpds_))
        position = {node: index for index, node in enumerate(self.parents_)}
        nodes = [
            (
                len(self.domains_[node]),
                [position[parent] for parent in self.parents_[node]],
                table.ravel(),
            )
            for node, table in self.cpds_.items()
        ]
        columns = dict(zip(self.cpds_, _core.sample_network(nodes, size, random_state), strict=True))
        wanted = [node for node in self._nodes_in_user_order() if node in columns]
        return decode({node: columns[node] for node in wanted}, self.domains_, kind or self._frame_kind)

    def to_pgmpy(self) -> Any:
        """Return the network as a pgmpy `DiscreteBayesianNetwork`, tables attached and checked by pgmpy."""
        check_is_fitted(self)
        try:
            from pgmpy.factors.discrete import TabularCPD
            from pgmpy.models import DiscreteBayesianNetwork
        except ImportError as error:
            raise ImportError("to_pgmpy needs pgmpy: pip install pgmpy") from error
        model = DiscreteBayesianNetwork([(p, node) for node, above in self.parents_.items() for p in above])
        model.add_nodes_from(self.parents_)
        levels = {node: self.domains_[node].levels for node in self.parents_}
        for node in self.parents_:
            # pgmpy keeps an order of its own for the parents; the axes follow it.
            order = list(model.get_parents(node))
            axes = [self.parents_[node].index(parent) for parent in order]
            table = self.cpds_[node].transpose([*axes, len(axes)]).reshape(-1, len(levels[node])).T
            model.add_cpds(
                TabularCPD(
                    node,
                    len(levels[node]),
                    table,
                    evidence=order or None,
                    evidence_card=[len(levels[parent]) for parent in order] or None,
                    state_names={name: levels[name] for name in (node, *order)},
                )
            )
        model.check_model()
        return model

    def save(self, path: str | Path) -> None:
        """Write the released network as JSON: structure, domains, tables and guarantee."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def to_json(self) -> str:
        """Return the released network as JSON."""
        check_is_fitted(self)
        epsilon = None if self.privacy_ is None else float(self.privacy_.epsilon(self.delta))
        nodes = [
            {
                "name": node,
                "parents": self.parents_[node],
                "values": _plain_values(node, self.domains_[node]),
                "other": self.domains_[node].other,
                "table": table.reshape(-1, len(self.domains_[node])).tolist(),
            }
            for node, table in self.cpds_.items()
        ]
        privacy = {"epsilon": epsilon, "delta": self.delta, "adjacency": self.adjacency, "mechanism": self.mechanism}
        return json.dumps({"format": FORMAT, "privacy": privacy, "nodes": nodes}, indent=1)

    @classmethod
    def load(cls, path: str | Path) -> PrivateBayesianNetwork:
        """Read a network that `save` wrote."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    @classmethod
    def from_json(cls, text: str) -> PrivateBayesianNetwork:
        """Return the network that `to_json` wrote; its `privacy_` is the stated budget, no longer the whole curve."""
        from simplexdp.accounting import PrivacyCurve

        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise InvalidParameterError(f"text must have format {FORMAT!r}, got {content['format']!r}")
            privacy, nodes = content["privacy"], content["nodes"]
            domains = {node["name"]: Domain(node["values"], other=node["other"]) for node in nodes}
            edges = [(parent, node["name"]) for node in nodes for parent in node["parents"]]
            tables = {node["name"]: np.asarray(node["table"], dtype=np.float64) for node in nodes}
            network = cls(
                edges,
                domains,
                epsilon=privacy["epsilon"],
                delta=privacy["delta"],
                mechanism=privacy["mechanism"],
                adjacency=privacy["adjacency"],
            )
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, InvalidParameterError):
                raise
            raise InvalidParameterError(f"text must be a network written by to_json, got {error!r}") from error
        network.domains_ = domains
        network.parents_ = topological_parents(edges, list(domains))
        network.cpds_ = {
            node: _checked_table(node, tables[node], [len(domains[name]) for name in (*above, node)])
            for node, above in network.parents_.items()
        }
        stated = privacy["epsilon"]
        network.privacy_ = (
            None
            if stated is None
            else PrivacyCurve.from_epsilon_delta(stated, privacy["delta"], adjacency=privacy["adjacency"])
        )
        network._frame_kind = "dict"
        return network

    def _nodes(self, edges: Sequence[Any]) -> list[str]:
        if self.domains is not None and not isinstance(self.domains, Mapping):
            kind = type(self.domains).__name__
            raise InvalidParameterError(f"domains must map each column to its values or its cardinality, got {kind}")
        nodes = dict.fromkeys(self.domains or ())
        if self.domains is None:
            # Without domains the edges alone say which columns there are.
            nodes = dict.fromkeys(node for edge in edges if isinstance(edge, tuple) for node in edge)
        if not nodes:
            raise InvalidParameterError("domains must name at least one column, got none")
        return list(nodes)

    def _nodes_in_user_order(self) -> list[str]:
        return list(self.domains) if self.domains is not None else list(self.parents_)

    def _weights(self, nodes: list[str]) -> list[float] | None:
        if self.weights is None:
            return None
        if not isinstance(self.weights, Mapping) or set(self.weights) != set(nodes):
            raise InvalidParameterError(f"weights must give a number for each of {nodes!r}, got {self.weights!r}")
        return [_arguments.positive("weights", self.weights[node]) for node in nodes]

    def _log_likelihood(self, frame: Any) -> tuple[float, int]:
        check_is_fitted(self)
        tables = [[*above, node] for node, above in self.parents_.items()]
        counts = count_tables(frame, tables, self.domains_)
        total = 0.0
        for count, table in zip(counts, self.cpds_.values(), strict=True):
            occupied = count > 0
            with np.errstate(divide="ignore"):
                total += float(np.sum(count[occupied] * np.log(table[occupied])))
        return total, int(counts[0].sum())


def _plain_values(node: str, domain: Domain) -> Any:
    if domain.is_range:
        return domain.values
    values = [None if value != value else value for value in domain.levels[: len(domain) - domain.other]]
    if not all(value is None or isinstance(value, (str, int, float, bool)) for value in values):
        raise InvalidParameterError(f"domains must hold text, numbers or None to be saved as JSON, got {node!r}")
    return values


def _checked_table(node: str, table: NDArray[np.float64], shape: list[int]) -> NDArray[np.float64]:
    if table.shape != (math.prod(shape[:-1]), shape[-1]):
        raise InvalidParameterError(f"table of {node!r} must have shape {(math.prod(shape[:-1]), shape[-1])}")
    if not (np.all(table >= 0) and np.allclose(table.sum(axis=-1), 1, rtol=0, atol=1e-9)):
        raise InvalidParameterError(f"table of {node!r} must have rows of probabilities that sum to one")
    return table.reshape(shape)
