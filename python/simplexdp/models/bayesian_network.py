"""Bayesian networks over categorical columns, their tables released privately."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from simplexdp.frames.sharing import SHARING
from simplexdp.models.binning import PrivateBinner
from simplexdp.models.bins import BinPlan, centres, check_binner, columns_to_bin
from simplexdp.models.cuts import Cut, with_codes
from simplexdp.models.decoding import decode, frame_kind
from simplexdp.models.domains import resolve_domains
from simplexdp.models.graph import topological_parents
from simplexdp.models.learned_structure import LEARN, learned_tree
from simplexdp.models.network_release import NetworkRelease
from simplexdp.models.number_columns import Sample
from simplexdp.models.persons import SINGLE_RECORDS, Persons
from simplexdp.models.saved import (
    Origin,
    SavedNode,
    SavedPrivacy,
    checked_table,
    member,
    plain_domain,
    plain_name,
    privacy_of,
    read,
    smoothing_of,
    text_of,
)
from simplexdp.models.smoothing import SMOOTHINGS, inferred, why_as_drawn
from simplexdp.models.stated_cost import check_tables
from simplexdp.models.tables import TableRelease

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve
    from simplexdp.testing import SeededRng

__all__ = ["PrivateBayesianNetwork"]

FORMAT = "simplexdp.bayesian-network/1"
WHAT = "a network"


class PrivateBayesianNetwork(BaseEstimator):  # type: ignore[misc]
    """A discrete Bayesian network whose conditional tables are private.

    The structure and the domains are public. Every node has one table, with a row for each configuration of its
    parents; one record enters one cell of each table. All tables together are (`epsilon`, `delta`)-differentially
    private, through the tight composition of all K tables.

    Parameters
    ----------
    edges : iterable of pairs or "learn"
        (parent, child), between columns; public. With ``"learn"`` all pairs are measured as `PrivateSynthesizer` does,
        with discrete Gaussian noise, and the tree that says most of them is taken; the budget pays for all of it.
    domains : mapping
        The domain of every column of the network: a list of values, a cardinality or a `simplexdp.frames.Domain`.
        Without any, the edges say which columns there are, and domains are read off the data, which leaks and warns.
    epsilon, delta : float
        The budget of the whole network; with `order`, `epsilon` is Renyi and `delta` only says at which delta
        `privacy_` is usually read.
    order : float, optional
        Splits a Renyi budget evenly over the tables, as in [DM 5.2]; see `from_rdp`.
    mechanism : str, default "auto"
        ``"auto"`` is ``"discrete_gaussian"`` or ``"discrete_laplace"``, whichever has less noise in this budget; else
        ``"dirichlet"`` as in [DM], ``"gaussian"``, ``"laplace"``, one of the discrete ones or ``"none"``.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours. Under ``"replace"`` the number of records is public.
    smoothing : {"posterior", "floor"}, default "posterior"
        ``"posterior"``: the tables are posterior means given all that was released, by the known law of the noise. Rows
        of a table shrink towards each other as far as the evidence says, and tables share what they say of the counts
        of parents. ``"floor"``: each table by itself, as it was drawn; so are
        Dirichlet draws under ``"add_remove"``, which do not tell the private number of records, and tables of models
        with more than 16384 cells.
    count_floor : float, default 1.0
        With ``smoothing="floor"`` and additive noise: noisy counts below it are raised to it, then rows normalised.
    binner : PrivateBinner, optional
        Turns numeric columns into categories: those that its `edges` or `bounds` name, which need not be in `domains`,
        or else all columns of `edges` without a domain. It is not fitted itself. Private quantiles take its `epsilon`
        out of the budget of the network and the tables get what remains.
    weights : mapping of str to float, optional
        Uneven split of the budget between the nodes; the default treats all alike.
    unit, max_rows, first_by : optional
        The column that names the person of a record, and how many records of a person count, drawn at random or the
        first by a column: the guarantee is for persons then (`simplexdp.frames.bound_rows`), and speaks of `unit`.
    weighted : bool, default False
        Count each person as one, with 1/n for each of n records: noise is that for one record, however many a person
        has, up to 16, and tables, shares and totals are of persons.
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
        Of a numeric column: the codes of its bins, and with `null` of the binner one more for missing values.
    bin_edges_ : dict of str to ndarray
        The inner edges of each numeric column.
    mechanism_ : str
        The mechanism that the tables were released by.
    smoothing_ : str
        How the tables were made of what was released.
    cpd_sds_ : dict of str to ndarray
        Posterior standard deviations of the probabilities, in the shapes of `cpds_`; only with
        ``smoothing="posterior"``.
    privacy_ : PrivacyCurve or None
        What the release cost, bins included; None for mechanism ``"none"``, which protects nothing. Domains
        and edges that were taken from the data, of which a `PrivacyLeakWarning` tells, are not covered by it.
    seeded_ : bool
        Whether the tables were drawn with a seed, also where they come from a file; they protect nobody then.

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
        edges: Iterable[Sequence[str]] | str = (),
        domains: Mapping[str, DomainLike] | None = None,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        order: float | None = None,
        mechanism: str = "auto",
        adjacency: str = "replace",
        smoothing: str = "posterior",
        count_floor: float = 1.0,
        weights: Mapping[str, float] | None = None,
        binner: PrivateBinner | None = None,
        unit: Any = None,
        max_rows: int | None = None,
        first_by: Any = None,
        weighted: bool = False,
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
        self.smoothing = smoothing
        self.count_floor = count_floor
        self.weights = weights
        self.binner = binner
        self.unit = unit
        self.max_rows = max_rows
        self.first_by = first_by
        self.weighted = weighted
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

    def fit(self, frame: Any, y: Any = None, *, persons: Any = None) -> PrivateBayesianNetwork:
        """Count, release and keep the released tables; the exact counts are not kept.

        Parameters
        ----------
        frame : data frame, two-dimensional array or mapping of one-dimensional arrays
            One record a row, eager or lazy; see `simplexdp.frames.count_table`.
        y : ignored
        persons : array_like, shape (n_records,), optional
            The person of each record, where no column of `frame` holds them.

        Returns
        -------
        self
        """
        if isinstance(self.edges, str) and self.edges == LEARN:
            return self._fit_tree(frame, persons)
        whose = Persons.of(self, persons)
        if isinstance(self.edges, (str, Iterator)) or not isinstance(self.edges, Iterable):
            # What can be run through once only would be gone in the next call.
            raise InvalidParameterError(f"edges must be a list of pairs (parent, child), got {self.edges!r}")
        edges = [tuple(edge) if isinstance(edge, (list, tuple)) else edge for edge in self.edges]
        _arguments.choice("smoothing", self.smoothing, SMOOTHINGS)
        floor = _arguments.non_negative("count_floor", self.count_floor)
        nodes = self._nodes(edges)
        parents = topological_parents(edges, nodes)
        whose.check_columns(nodes)
        bins = self._bin_plan(list(parents), whose.max_rows)
        numeric = () if bins is None else bins.columns
        domains = resolve_domains(frame, [node for node in parents if node not in numeric], self.domains, "domains")
        tables = [[*above, node] for node, above in parents.items()]
        kind = frame_kind(frame)
        frame, beside = whose.bounded(frame, list(parents))
        samples: dict[str, Sample] = {}
        cuts: dict[str, Cut] = {}
        counts: list[NDArray[np.int64]] = []
        nominal = dict(domains)
        if bins is not None:
            # What is planned is what is public; private quantiles may coincide and leave fewer bins.
            nominal |= bins.domains()
        if bins is not None and bins.looks_at_data:
            samples = bins.samples(frame)
            # What no domain has a place for is refused here: after the quantiles the budget would be gone.
            if domains:
                count_tables(frame, [[node] for node in domains], domains)
            n_records = next(iter(samples.values())).n_records
        else:
            if bins is not None:
                cuts = bins.cuts(samples.__getitem__, None)
            counts = self._count(frame, tables, nominal, cuts, whose, beside)
            n_records = int(counts[0].sum())
        release = TableRelease.plan(
            _shapes(parents, nominal),
            mechanism=self.mechanism,
            epsilon=self.epsilon,
            delta=self.delta,
            order=self.order,
            adjacency=self.adjacency,
            weights=self._weights(list(parents)),
            total=n_records if self.adjacency == "replace" and whose.keeps_total else None,
            quantiles=(0.0, 0) if bins is None else bins.spending,
            max_rows=whose.moves,
            units=whose.units,
            named=whose.named,
        )
        domains = nominal
        with release.charge(self.accountant, "Bayesian network", self.random_state):
            if bins is not None and bins.looks_at_data:
                # Paid for: now the first thing is drawn.
                cuts = bins.cuts(samples.__getitem__, self.random_state)
                domains = nominal | {column: cut.domain for column, cut in cuts.items()}
                counts = self._count(frame, tables, domains, cuts, whose, beside)
            rows = [table.reshape(shape) for table, shape in zip(counts, _shapes(parents, domains), strict=True)]
            released = release.release(rows, self.random_state)
        self.domains_ = {node: domains[node] for node in parents}
        self.parents_ = parents
        self._cuts = cuts
        self._take(NetworkRelease(dict(zip(parents, released, strict=True)), parents, release.total), floor)
        bounds = None if bins is None or bins.bounds is None else dict(zip(numeric, bins.bounds, strict=True))
        self._centres = {
            node: centres(cut.edges, None if bounds is None else bounds[node]) for node, cut in cuts.items()
        }
        self.privacy_: PrivacyCurve | None = release.privacy
        self._origin = Origin(release.mechanism, seeded=self.random_state is not None)
        self.mechanism_ = release.mechanism
        self.seeded_ = self._origin.seeded
        self._whose = whose.saved
        self._frame_kind = kind
        return self

    def _fit_tree(self, frame: Any, persons: Any) -> PrivateBayesianNetwork:
        tree = learned_tree(self, frame, persons)
        model = tree.model
        self.domains_ = {node: model.domains_[node] for node in tree.parents}
        self.parents_, self.cpds_ = tree.parents, tree.tables
        self._cuts = {node: column.cut for node, column in model._numeric.items()}
        self._centres = {node: centres(column.edges, column.bounds) for node, column in model._numeric.items()}
        self.privacy_ = model.privacy_
        self._origin, self.seeded_, self._whose = model._origin, model.seeded_, model._whose
        # The synthesizer has made the tables of all that it measured.
        self._released: NetworkRelease | None = None
        self.smoothing_, self.mechanism_ = "floor", model._origin.mechanism
        self._frame_kind = frame_kind(frame)
        return self

    def _take(self, release: NetworkRelease, floor: float) -> None:
        """Make the tables of what was released."""
        self._released = release
        found = inferred(self.smoothing, release.tables.values(), release.total, lambda: release.posterior)
        self.smoothing_ = "floor" if found is None else "posterior"
        shapes = {node: self._shape(node) for node in self.parents_}
        if found is None:
            self.cpds_ = {node: table.floored(floor).reshape(shapes[node]) for node, table in release.tables.items()}
            return
        self.cpds_ = {node: table.mean.reshape(shapes[node]) for node, table in found.items()}

    @property
    def cpd_sds_(self) -> dict[str, NDArray[np.float64]]:
        """Posterior standard deviations of the tables."""
        release = getattr(self, "_released", None)
        if release is None or not release.has_posterior or self.smoothing_ != "posterior":
            raise AttributeError("cpd_sds_ is there for fitted networks with smoothing='posterior'")
        return {node: table.sd.reshape(self._shape(node)) for node, table in release.posterior.items()}

    def _shape(self, node: str) -> list[int]:
        return [len(self.domains_[name]) for name in (*self.parents_[node], node)]

    def interval(self, level: float = 0.95) -> dict[str, NDArray[np.float64]]:
        """Return credible intervals of the probabilities behind the tables, given all that was released.

        Parameters
        ----------
        level : float, default 0.95
            Strictly between 0 and 1.

        Returns
        -------
        dict of str to ndarray
            In the shapes of `cpds_`, with a last axis of two ends.
        """
        check_is_fitted(self)
        level = _arguments.open_unit("level", level)
        if self._released is None:
            raise InvalidParameterError("interval must be asked of a network that has its release")
        reason = why_as_drawn(self._released.tables.values(), self._released.total)
        if reason is not None:
            raise InvalidParameterError(f"interval must be asked of a network that can be inferred: {reason}")
        found = self._released.posterior
        return {node: found[node].interval(level).reshape(*self._shape(node), 2) for node in self.parents_}

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
        wanted = [node for node in self.nodes_in_user_order() if node in columns]
        # A bin is a number again: one that falls into it; the level after the last bin is for missing values.
        numbers = {
            node: [*of.tolist(), *([None] if self._cuts[node].null else [])] for node, of in self._centres.items()
        }
        domains = self.domains_ | {node: Domain(each) for node, each in numbers.items()}
        return decode({node: columns[node] for node in wanted}, domains, kind or self._frame_kind)

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
        release = self._released if self._released is not None and self._released.protects else None
        nodes = [
            {
                "name": plain_name(node),
                "parents": [plain_name(parent) for parent in self.parents_[node]],
                **plain_domain(node, self.domains_[node]),
                "table": table.reshape(-1, len(self.domains_[node])).tolist(),
                **self._saved_bins(node),
                **({} if release is None else {"released": release.tables[node].to_json()}),
            }
            for node, table in self.cpds_.items()
        ]
        content: dict[str, Any] = {"format": FORMAT, "privacy": privacy_of(self)}
        if release is not None:
            content |= {"smoothing": self.smoothing_, "total": release.total}
        content["nodes"] = nodes
        return json.dumps(content, indent=1, allow_nan=False)

    def _saved_bins(self, node: str) -> dict[str, Any]:
        if node not in self._cuts:
            return {}
        return {**self._cuts[node].record(), "centres": self._centres[node].tolist()}

    @classmethod
    def load(cls, path: str | Path) -> PrivateBayesianNetwork:
        """Read a network that `save` wrote."""
        return cls.from_json(text_of(path))

    @classmethod
    def from_json(cls, text: str) -> PrivateBayesianNetwork:
        """Return the network that `to_json` wrote; its `privacy_` is the stated budget, no longer the whole curve."""
        content = read(text, FORMAT, WHAT)
        privacy = SavedPrivacy.of(content, WHAT)
        nodes = [SavedNode.of(node) for node in member(content, "nodes", WHAT, list)]
        if not nodes or len({node.name for node in nodes}) < len(nodes):
            raise InvalidParameterError("text must be a network written by to_json: it names a node twice or none")
        domains = {node.name: node.domain for node in nodes}
        edges = [(parent, node.name) for node in nodes for parent in node.parents]
        cuts = {node.name: node.cut for node in nodes if node.cut is not None}
        network = cls(
            edges,
            {name: domain for name, domain in domains.items() if name not in cuts},
            epsilon=1.0 if privacy.epsilon is None else privacy.epsilon,
            delta=privacy.delta,
            mechanism=privacy.mechanism,
            adjacency=privacy.adjacency,
            binner=PrivateBinner.of_cuts(cuts),
        )
        tables = {node.name: node.table for node in nodes}
        network.domains_ = domains
        network.parents_ = topological_parents(edges, list(domains))
        network.cpds_ = {
            node: checked_table(node, tables[node], [len(domains[name]) for name in (*above, node)])
            for node, above in network.parents_.items()
        }
        network.smoothing = network.smoothing_ = smoothing_of(content)
        network._released = NetworkRelease.from_json(content, nodes, network.parents_, network._shape)
        if network._released is not None:
            check_tables(privacy, [table.law for table in network._released.tables.values()], WHAT)
        network.mechanism_ = privacy.mechanism
        network._cuts = cuts
        network._centres = {node.name: node.centres for node in nodes if node.centres is not None}
        network.privacy_, network._origin = privacy.curve, privacy.origin
        privacy.tell(network)
        network.seeded_ = privacy.seeded
        network._frame_kind = "dict"
        return network

    def _nodes(self, edges: Sequence[Any]) -> list[str]:
        if self.domains is not None and not isinstance(self.domains, Mapping):
            kind = type(self.domains).__name__
            raise InvalidParameterError(f"domains must map each column to its values or its cardinality, got {kind}")
        nodes = dict.fromkeys(self.domains or ())
        named: Any = None
        if self.binner is not None:
            check_binner(self.binner)
            named = self.binner.edges if self.binner.strategy == "edges" else self.binner.bounds
            nodes |= dict.fromkeys(named if isinstance(named, Mapping) else ())
        if self.domains is None or (self.binner is not None and not isinstance(named, Mapping)):
            # Without domains the edges alone say which columns there are.
            nodes |= dict.fromkeys(node for edge in edges if isinstance(edge, tuple) for node in edge)
        if not nodes:
            raise InvalidParameterError("domains must name at least one column, got none")
        return list(nodes)

    def _bin_plan(self, nodes: list[str], max_rows: int) -> BinPlan | None:
        if self.binner is None:
            return None
        return BinPlan.of(self.binner, columns_to_bin(self.binner, nodes, list(self.domains or ())), max_rows)

    @staticmethod
    def _count(
        frame: Any,
        tables: list[list[str]],
        domains: Mapping[str, Domain],
        cuts: Mapping[str, Cut],
        whose: Persons = SINGLE_RECORDS,
        beside: Mapping[Any, NDArray[Any]] | None = None,
    ) -> list[NDArray[np.int64]]:
        sharing = None if beside is None else beside.get(SHARING)
        return whose.count_tables(with_codes(frame, cuts), tables, domains, sharing)

    @property
    def bin_edges_(self) -> dict[str, NDArray[np.float64]]:
        """The inner edges of each numeric column."""
        return {node: cut.edges for node, cut in self._cuts.items()}

    @property
    def centres_(self) -> dict[str, NDArray[np.float64]]:
        """The number that stands for each bin, of the nodes that were binned."""
        return self._centres

    def nodes_in_user_order(self) -> list[str]:
        """Return the nodes as they were stated, then those that were found."""
        stated = list(self.domains or ())
        return [*stated, *(node for node in self.parents_ if node not in stated)]

    def _weights(self, nodes: list[str]) -> list[float] | None:
        if self.weights is None:
            return None
        if not isinstance(self.weights, Mapping) or set(self.weights) != set(nodes):
            raise InvalidParameterError(f"weights must give a number for each of {nodes!r}, got {self.weights!r}")
        return [_arguments.positive("weights", self.weights[node]) for node in nodes]

    def _log_likelihood(self, frame: Any) -> tuple[float, int]:
        check_is_fitted(self)
        tables = [[*above, node] for node, above in self.parents_.items()]
        counts = self._count(frame, tables, self.domains_, self._cuts)
        total = 0.0
        for count, table in zip(counts, self.cpds_.values(), strict=True):
            occupied = count > 0
            with np.errstate(divide="ignore"):
                total += float(np.sum(count[occupied] * np.log(table[occupied])))
        return total, int(counts[0].sum())


def _shapes(parents: Mapping[str, list[str]], domains: Mapping[str, Domain]) -> list[tuple[int, int]]:
    return [
        (math.prod(len(domains[parent]) for parent in above), len(domains[node])) for node, above in parents.items()
    ]
