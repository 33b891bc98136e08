"""Synthetic records of a table whose structure nobody knows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from simplexdp import _arguments, _core
from simplexdp._cautions import caution, caution_leak, caution_user
from simplexdp.accounting.curve import Adjacency
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import Domain
from simplexdp.frames.domain import DomainLike
from simplexdp.frames.encoding import checked_codes, encode_columns
from simplexdp.frames.persons import with_kept
from simplexdp.frames.sharing import SHARING
from simplexdp.frames.source import as_frame, is_lazy
from simplexdp.models.binning import PrivateBinner
from simplexdp.models.bins import BinPlan, check_binner, columns_to_bin, spending_curve
from simplexdp.models.cuts import Cut, with_codes
from simplexdp.models.debit import debit
from simplexdp.models.decoding import decode
from simplexdp.models.domains import resolve_domains
from simplexdp.models.error_bounds import MarginalBounds, bounds_of_column, bounds_of_pair, bounds_without_pair
from simplexdp.models.filling import NumericColumn
from simplexdp.models.framing import KINDS, framed, kind_of
from simplexdp.models.known_tables import ReleasedMarginal, checked, with_released
from simplexdp.models.marginal_release import Measured, Release, count, groups_of, resolve_workload
from simplexdp.models.number_columns import Sample
from simplexdp.models.paid_comparison import PaidComparison, PlannedComparison
from simplexdp.models.persons import Persons
from simplexdp.models.saved import (
    Origin,
    SavedPrivacy,
    cut_of,
    domain_of,
    member,
    numbers,
    plain_domain,
    plain_name,
    privacy_of,
    read,
    text_of,
)
from simplexdp.models.stated_cost import check_marginals
from simplexdp.models.tables import ADJACENCIES
from simplexdp.models.turns import taken_over

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve
    from simplexdp.testing import SeededRng

__all__ = ["PrivateSynthesizer"]

FORMAT = "simplexdp.synthesizer/1"
WHAT = "a synthesizer"


class PrivateSynthesizer(BaseEstimator):  # type: ignore[misc]
    """Synthetic records whose one-way and two-way tables are close to those of the real ones.

    All one-way tables and all pairs are measured once, with exact discrete Gaussian noise. A mixture of products is
    fitted to them, and records are drawn from it: whatever comes after the measurement is post-processing. Together it
    is (`epsilon`, `delta`)-differentially private; the proof is in docs/synthesis.md.

    Parameters
    ----------
    epsilon, delta : float
        The budget of everything, private bins included.
    domains : mapping, optional
        The public domain of each column: a list of values, a cardinality or a `simplexdp.frames.Domain`. Columns
        that are in neither `domains` nor `binner` are left out. Without any, domains are read off the data, which leaks
        and warns.
    binner : PrivateBinner, optional
        Turns numeric columns into categories: those that its `edges` or `bounds` name, which need not be in `domains`,
        or else all columns without a domain. It is not fitted itself. Private quantiles are paid for out of the budget.
    workload : sequence of pairs or mapping, optional
        The pairs of columns to measure, or weights for them; by default all pairs, alike. Where records are few and one
        column matters most, twenty times the weight for its pairs keeps far more of what tells it (docs/synthesis.md).
    components : int or "auto", default "auto"
        The number of products that are mixed at most: 256, or 64 where all columns together have more than 1000 levels.
        The more noise there is, the fewer are taken, in up to four fits side by side.
    measured : sequence of ReleasedMarginal, optional
        Tables of one or two columns of the same records that were released before or elsewhere. They are put together
        with what is measured here; what they cost is not in `privacy_`.
    adjacency : {"add_remove", "replace"}, default "add_remove"
        Which data sets are neighbours. Under ``"replace"`` the number of records is public.
    unit, max_rows, first_by : optional
        The column that names the person of a record, and how many records of a person count, drawn at random or the
        first by a column: the guarantee is for persons then (`simplexdp.frames.bound_rows`), and speaks of `unit`.
    weighted : bool, default False
        Count each person as one, with 1/n for each of n records: noise is that for one record, however many a person
        has, up to 16, and tables, shares and totals are of persons.
    accountant : Accountant, optional
        Is asked for the budget before anything is drawn.
    progress : callable, optional
        Is told the share of the fit that is done, a number from 0 to 1.
    random_state : SeededRng, optional
        For tests only.

    Attributes
    ----------
    domains_ : dict of column to Domain
        Of a numeric column: the codes of its bins, and with `null` of the binner one more for missing values.
    bin_edges_ : dict of column to ndarray
        The inner edges of each numeric column.
    n_records_ : float
        The number of records, as it was released.
    privacy_ : PrivacyCurve
        What everything cost. Domains that were read off the data, of which a `PrivacyLeakWarning` tells, are not
        covered by it.
    seeded_ : bool
        Whether the tables were drawn with a seed; they protect nobody then.

    Examples
    --------
    >>> from simplexdp.models import PrivateSynthesizer
    >>> people = {"season": ["wet", "dry"] * 500, "rain": ["yes", "no"] * 500}
    >>> synthesizer = PrivateSynthesizer(
    ...     epsilon=1.0, delta=1e-6, domains={"season": ["dry", "wet"], "rain": ["no", "yes"]}
    ... ).fit(people)
    >>> synthetic = synthesizer.sample(1000)
    >>> sorted(synthetic), len(synthetic["rain"])
    (['rain', 'season'], 1000)
    >>> synthesizer.marginal(["season", "rain"]).shape
    (2, 2)
    >>> bool(synthesizer.privacy_.epsilon(1e-6) <= 1.0)
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        domains: Mapping[Any, DomainLike] | None = None,
        binner: PrivateBinner | None = None,
        workload: Any = None,
        components: int | str = "auto",
        measured: Sequence[ReleasedMarginal] = (),
        adjacency: str = "add_remove",
        unit: Any = None,
        max_rows: int | None = None,
        first_by: Any = None,
        weighted: bool = False,
        accountant: Any = None,
        progress: Any = None,
        random_state: SeededRng | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.domains = domains
        self.binner = binner
        self.workload = workload
        self.components = components
        self.measured = measured
        self.adjacency = adjacency
        self.unit = unit
        self.max_rows = max_rows
        self.first_by = first_by
        self.weighted = weighted
        self.accountant = accountant
        self.progress = progress
        self.random_state = random_state

    def fit(self, frame: Any, y: Any = None, *, persons: Any = None) -> PrivateSynthesizer:
        """Count, release and fit; the exact counts are not kept.

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
        with taken_over(self) as work:
            work._fit(frame, Persons.of(self, persons))
        return self

    def _fit(self, frame: Any, whose: Persons) -> None:
        epsilon = _arguments.positive("epsilon", self.epsilon)
        delta = _arguments.open_unit("delta", self.delta)
        adjacency = cast(Adjacency, _arguments.choice("adjacency", self.adjacency, ADJACENCIES))
        columns, whole, untyped = _columns(frame)
        if self.domains is None:
            # Whoever states nothing means what is known of people, and not who they are.
            columns = [column for column in columns if column not in whose.columns]
        bins, columns = self._bin_plan(columns, whose.max_rows)
        whose.check_columns(columns)
        numeric = () if bins is None else bins.columns
        for column in numeric:
            if column in untyped:
                caution_leak(
                    f"whether column {column!r} holds whole numbers was read off its list of values; give an array "
                    "or a frame, whose types are public"
                )
        stated = resolve_domains(frame, [each for each in columns if each not in numeric], self.domains, "domains")
        nominal = dict(stated)
        if bins is not None:
            # What is planned is what is public; private quantiles may coincide and leave fewer bins.
            nominal |= bins.domains()
        nominal = {column: nominal[column] for column in columns}
        sizes = [len(domain) for domain in nominal.values()]
        components = self._components(sum(sizes))
        known = checked(self.measured, columns, sizes)
        if bins is not None and bins.looks_at_data and any(set(numeric) & set(table.columns) for table in known):
            raise InvalidParameterError(
                "measured must hold no column whose bins are private quantiles, not known before"
            )
        release = Release.planned(
            sizes,
            resolve_workload(self.workload, columns, sizes),
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            beside=None if bins is None else spending_curve(bins.spending, adjacency),
            max_rows=whose.moves,
            units=whose.units,
        )
        release = replace(release, privacy=whose.named(release.privacy))
        kind = kind_of(frame)
        frame, beside = whose.bounded(frame, columns)
        samples: dict[Any, Sample] = {}
        cuts: dict[Any, Cut] = {}
        counts = None
        if bins is not None and bins.looks_at_data:
            samples = bins.samples(frame)
            if stated:
                # What no domain has a place for is refused here: after the quantiles the budget would be gone.
                count(frame, stated, [])
        else:
            if bins is not None:
                cuts = bins.cuts(samples.__getitem__, None)
            counts = _counted(frame, nominal, cuts, release.pairs, whose, beside)
        with debit(self.accountant, release.privacy, "synthesizer", self.random_state):
            if counts is None:
                # Paid for: now the first thing is drawn.
                assert bins is not None
                cuts = bins.cuts(samples.__getitem__, self.random_state)
                nominal |= {column: cut.domain for column, cut in cuts.items()}
                counts = _counted(frame, nominal, cuts, release.pairs, whose, beside)
            sizes = [len(domain) for domain in nominal.values()]
            measured = release.measure(sizes, counts, self.random_state)
        # Nothing below sees the records.
        del counts, samples
        caution(epsilon=epsilon, delta=delta, n=round(measured.total))
        # The core decides by the released number of records whether it measures pairs at all.
        pairs = list(release.pairs) if len(measured.sigmas) > len(sizes) else []
        few = len(pairs) < len(release.pairs)
        if known:
            measured, pairs = with_released(measured, sizes, pairs, known, list(nominal))
        self._mixture = _core.ProductMixture.fit(
            sizes, pairs, measured.as_tuple(), components, self.progress, self.random_state
        )
        lost = []
        if few and not pairs:
            lost.append(
                "measure pairs of so few records, so none were measured: the columns of synthetic records are "
                "independent of each other"
            )
        if measured.total < 3 * measured.total_sigma:
            lost.append("tell how many records there are, or whether there are any")
        if lost:
            caution_user(
                f"the budget is too small to {'; and to '.join(lost)}; take a larger epsilon or fewer columns, sdp.plan"
                "('synthesis') says what each epsilon buys"
            )
        bounds = {} if bins is None or bins.bounds is None else dict(zip(numeric, bins.bounds, strict=True))
        self._numeric = {
            column: NumericColumn(cut, bounds.get(column), column in whole) for column, cut in cuts.items()
        }
        self.domains_ = nominal
        self.n_records_ = measured.total
        self.privacy_: PrivacyCurve = release.privacy
        self._measured, self._pairs, self._elsewhere = measured, pairs, bool(known)
        self._origin = Origin("discrete_gaussian", seeded=self.random_state is not None)
        self.seeded_ = self._origin.seeded
        self._whose = whose.saved
        self._frame_kind = kind

    def sample(
        self,
        n: int | None = None,
        *,
        random_state: SeededRng | None = None,
        kind: str | None = None,
        polish: bool = True,
    ) -> Any:
        """Draw synthetic records: post-processing of what was released, so it costs nothing.

        Parameters
        ----------
        n : int, optional
            Number of records; by default as many as there were, as released.
        random_state : SeededRng, optional
            For tests only.
        kind : {"numpy", "dict", "pandas", "polars", "pyarrow", "polars lazy", "dask", "duckdb", "spark"}, optional
            What to return; by default the kind of frame that the synthesizer was fitted on. Of DuckDB it is a relation
            of the default connection, of Spark a frame of the active session.
        polish : bool, default True
            Whether to change single values afterwards where that brings pairs closer to the fitted ones.

        Returns
        -------
        data frame, array or dict of ndarray
            A bin of a numeric column comes back as a number that falls into it, a whole one where the column had an
            integer type; a missing value as what the frame has for one. Whole numbers of which some are missing are
            objects in a dict, and doubles in a NumPy array.
        """
        check_is_fitted(self)
        n = max(round(self.n_records_), 0) if n is None else _arguments.integer("n", n, least=0)
        _arguments.generator("random_state", random_state)
        kind = self._frame_kind if kind is None else _arguments.choice("kind", kind, KINDS)
        _arguments.fitting("n", (n,), 2 * len(self.domains_))
        codes = self._mixture.sample(n, _arguments.flag("polish", polish), random_state)
        columns = dict(zip(self.domains_, codes, strict=True))
        coded = {name: column for name, column in columns.items() if name not in self._numeric}
        values: dict[Any, Any] = decode(coded, self.domains_, "dict")
        if self._numeric:
            words = _core.random_words(4, 0, random_state)
            generator = np.random.default_rng(words)
            values |= {name: numeric.fill(columns[name], generator) for name, numeric in self._numeric.items()}
        return framed({name: values[name] for name in columns}, coded, self.domains_, kind)

    def marginal(self, columns: Sequence[Any]) -> NDArray[np.float64]:
        """Return the joint distribution of some columns under the fitted model, one axis for each."""
        check_is_fitted(self)
        places = self._places(columns)
        table = self._mixture.marginal(places)
        return table.reshape([len(list(self.domains_.values())[place]) for place in places])

    def predict_proba(self, column: Any, given: Any) -> NDArray[np.float64]:
        """Return the distribution of a column given the values of others, for each record.

        Parameters
        ----------
        column : str or int
            Any column of the model.
        given : data frame, two-dimensional array or mapping of one-dimensional arrays
            Records that hold some or all of the other columns; those that they lack are summed out.

        Returns
        -------
        ndarray, shape (n_records, levels of the column)
            In the order of ``domains_[column].levels``.
        """
        check_is_fitted(self)
        (place,) = self._places([column])
        present, _, _ = _columns(given)
        others = [name for name in self.domains_ if name in present and name != column]
        codes = self._codes(given, others)
        n_rows = len(codes[0]) if codes else _n_rows(given)
        flat = self._mixture.conditional(place, self._places(others), codes, n_rows)
        return flat.reshape(n_rows, len(self.domains_[column]))

    def log_likelihood(self, frame: Any) -> float:
        """Return the total log-likelihood of the records of an eager frame under the fitted model."""
        return float(self._log_likelihood(frame).sum())

    def score(self, frame: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of a record."""
        logs = self._log_likelihood(frame)
        return float(logs.mean()) if len(logs) else 0.0

    def error_bounds(self, columns: Sequence[Any], *, level: float = 0.95) -> MarginalBounds:
        """Return how far the model's table of one or two columns may be from that of the records.

        The bounds hold with probability `level` over the noise, whatever the records are; with `unit` they speak of the
        records that count. They follow from what was released, so they cost nothing.

        Parameters
        ----------
        columns : sequence of one or two columns
            A pair that was not measured has the wide bounds that its columns alone leave it [Fr51].
        level : float, default 0.95

        Returns
        -------
        MarginalBounds
            Intervals for all true shares at once, and the largest total variation distance.
        """
        check_is_fitted(self)
        level = _arguments.open_unit("level", level)
        places = self._places(columns)
        if len(places) not in (1, 2) or len(set(places)) < len(places):
            raise InvalidParameterError(f"columns must be one column or two different ones, got {list(columns)!r}")
        model = self.marginal(columns)
        one_way, two_way = self._layout()
        sigmas = self._measured.sigmas
        if len(places) == 1:
            (place,) = places
            return bounds_of_column(self._measured, one_way[place], float(sigmas[place]), model, level, columns[0])
        pair = (min(places), max(places))
        if pair not in two_way:
            alone = [self.error_bounds([column], level=(1 + level) / 2) for column in columns]
            return bounds_without_pair(alone[0], alone[1], model, level)
        number = list(two_way).index(pair)
        found = bounds_of_pair(
            self._measured,
            (one_way[pair[0]], one_way[pair[1]], two_way[pair]),
            (float(sigmas[pair[0]]), float(sigmas[pair[1]]), float(sigmas[len(one_way) + number])),
            model if places[0] < places[1] else model.T,
            level,
            (columns[0], columns[1]),
        )
        if places[0] < places[1]:
            return found
        return MarginalBounds(found.columns, level, model, found.lower.T, found.upper.T, found.total_variation)

    def compare(
        self,
        frame: Any,
        *,
        epsilon: float,
        persons: Any = None,
        accountant: Any = None,
        random_state: SeededRng | None = None,
    ) -> PaidComparison:
        """Return how far the model's tables are from those of records, with noise: this costs `epsilon` more.

        The bounds of `error_bounds` are free and wide. This looks at the records once more: the mean total variation
        distance of all one-way tables, that of all pairs, and the largest of a pair.

        Parameters
        ----------
        frame : data frame, two-dimensional array or mapping of one-dimensional arrays
            The records that the model was fitted to, or others.
        epsilon : float
            The price, in pure differential privacy, beside what the model cost; a third for each number, after an
            eighth for the number of these records where it is private.
        persons : array_like, shape (n_records,), optional
            As in `fit`: with `unit` and `max_rows` so many records of each person are looked at.
        accountant : Accountant, optional
            Is asked for it before anything is drawn.
        random_state : SeededRng, optional
            For tests only.

        Returns
        -------
        PaidComparison

        Examples
        --------
        >>> from simplexdp.models import PrivateSynthesizer
        >>> people = {"season": [0, 1] * 500, "rain": [1, 0] * 500}
        >>> model = PrivateSynthesizer(1.0, 1e-6, domains={"season": 2, "rain": 2}, components=16).fit(people)
        >>> found = model.compare(people, epsilon=0.1)
        >>> bool(found.privacy.epsilon(0.0) <= 0.1), max(found.margins) < 0.2
        (True, True)
        """
        check_is_fitted(self)
        epsilon = _arguments.positive("epsilon", epsilon)
        pairs = list(combinations(range(len(self.domains_)), 2))
        whose = Persons.of(self, persons)
        planned = PlannedComparison.of(len(self.domains_), epsilon, self.privacy_.adjacency, whose.moves)
        planned = replace(planned, privacy=whose.named(planned.privacy))
        frame, beside = whose.bounded(frame, list(self.domains_))
        sizes = [len(domain) for domain in self.domains_.values()]
        places = [*((column,) for column in range(len(sizes))), *pairs]
        cells = _counted(frame, self.domains_, self._cuts, pairs, whose, beside)
        ends = np.cumsum([math.prod(sizes[column] for column in group) for group in places])[:-1]
        shares = [self._mixture.marginal(list(group)) for group in places]
        with debit(accountant, planned.privacy, "comparison with synthetic records", random_state):
            return planned.release(np.split(cells, ends), shares, random_state, whose.units)

    def save(self, path: str | Path) -> None:
        """Write what was released and fitted as JSON: domains, noisy tables, model and guarantee."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def to_json(self) -> str:
        """Return what was released and fitted as JSON."""
        check_is_fitted(self)
        mixture, measured = self._mixture, self._measured
        content = {
            "format": FORMAT,
            "privacy": privacy_of(self),
            "columns": [self._saved_column(name) for name in self.domains_],
            "weights": mixture.weights.tolist(),
            "levels": mixture.levels.reshape(-1, len(mixture.weights)).tolist(),
            "measured": {
                "total": measured.total,
                "total_sigma": measured.total_sigma,
                "pairs": [list(pair) for pair in self._pairs],
                # What was released elsewhere makes noise smaller, and was paid for elsewhere.
                **({"elsewhere": True} if self._elsewhere else {}),
                "cells": measured.cells.tolist(),
                "sigmas": measured.sigmas.tolist(),
            },
        }
        return json.dumps(content, allow_nan=False)

    @classmethod
    def load(cls, path: str | Path) -> PrivateSynthesizer:
        """Read what `save` wrote."""
        return cls.from_json(text_of(path))

    @classmethod
    def from_json(cls, text: str) -> PrivateSynthesizer:
        """Return what `to_json` wrote; its `privacy_` is the stated budget, no longer the whole curve."""
        content = read(text, FORMAT, WHAT)
        privacy = SavedPrivacy.of(content, WHAT)
        if privacy.epsilon is None or privacy.curve is None:
            raise InvalidParameterError(f"text must be {WHAT} written by to_json: epsilon must be a number")
        columns = [_column_of(column) for column in member(content, "columns", WHAT, list)]
        domains = {name: domain for name, domain, _ in columns}
        if not domains or len(domains) < len(columns):
            raise InvalidParameterError(f"text must be {WHAT} written by to_json: it names a column twice or none")
        sizes = [len(domain) for domain in domains.values()]
        weights = numbers("the components", "weights", member(content, "weights", WHAT, list))
        levels = numbers("the components", "levels", member(content, "levels", WHAT, list))
        if weights.ndim != 1 or levels.shape != (sum(sizes), len(weights)):
            raise InvalidParameterError("levels must have one row for each level and one number for each component")
        found = cls(
            privacy.epsilon,
            privacy.delta,
            domains={name: domain for name, domain, numeric in columns if numeric is None},
            adjacency=privacy.adjacency,
        )
        found._mixture = _core.ProductMixture(sizes, weights, levels.ravel())
        found.domains_ = domains
        found._numeric = {name: numeric for name, _, numeric in columns if numeric is not None}
        tables = member(content, "measured", WHAT, dict)
        found._measured, found._pairs = _measured_of(tables, sizes)
        found._elsewhere = "elsewhere" in tables and member(tables, "elsewhere", WHAT, bool)
        if not found._elsewhere:
            check_marginals(privacy, found._measured, sizes, found._pairs, WHAT)
        found.n_records_ = found._measured.total
        found.privacy_, found._origin = privacy.curve, privacy.origin
        privacy.tell(found)
        found.seeded_ = privacy.seeded
        found._frame_kind = "dict"
        return found

    def _components(self, n_levels: int) -> int:
        if isinstance(self.components, str):
            _arguments.choice("components", self.components, ("auto",))
            # A step costs the square of the levels times the components.
            return 256 if n_levels <= 1000 else 64
        return _arguments.integer("components", self.components, least=1)

    def _bin_plan(self, present: list[Any], max_rows: int) -> tuple[BinPlan | None, list[Any]]:
        """Return the plan of bins, and the columns of the model in the order of the frame."""
        if self.domains is not None and not isinstance(self.domains, Mapping):
            kind = type(self.domains).__name__
            raise InvalidParameterError(f"domains must map each column to its values or its cardinality, got {kind}")
        stated = list(self.domains or ())
        numeric: list[Any] = []
        if self.binner is not None:
            check_binner(self.binner)
            named = self.binner.edges if self.binner.strategy == "edges" else self.binner.bounds
            candidates = [*present, *named] if isinstance(named, Mapping) else present
            numeric = columns_to_bin(self.binner, list(dict.fromkeys(candidates)), stated)
        columns = present if self.domains is None else [each for each in present if each in stated or each in numeric]
        missing = [column for column in [*stated, *numeric] if column not in present]
        if missing:
            raise InvalidParameterError(f"columns must exist in the frame, got {missing!r}")
        if not columns:
            raise InvalidParameterError("domains must name at least one column of the frame")
        return (None if self.binner is None else BinPlan.of(self.binner, numeric, max_rows)), columns

    def _places(self, columns: Sequence[Any]) -> list[int]:
        names = list(self.domains_)
        if isinstance(columns, (str, bytes)) or not isinstance(columns, Sequence):
            raise InvalidParameterError(f"columns must be a list of columns, got {columns!r}")
        unknown = [column for column in columns if column not in names]
        if unknown:
            raise InvalidParameterError(f"columns must be those of the model, got {unknown!r}")
        return [names.index(column) for column in columns]

    def _codes(self, frame: Any, columns: list[Any]) -> list[NDArray[np.uint32]]:
        frame = as_frame(frame)
        if is_lazy(frame):
            raise InvalidParameterError("frame must be eager, got a lazy one: collect it")
        if not columns:
            return []
        source = with_codes(frame, {name: cut for name, cut in self._cuts.items() if name in columns})
        codes = encode_columns(source, self.domains_, columns)
        checked = [checked_codes(codes[column], self.domains_[column], column) for column in columns]
        return [np.ascontiguousarray(column, dtype=np.uint32) for column in checked]

    def _log_likelihood(self, frame: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        columns = list(self.domains_)
        return self._mixture.log_likelihood(self._places(columns), self._codes(frame, columns))

    @property
    def _cuts(self) -> dict[Any, Cut]:
        return {name: numeric.cut for name, numeric in self._numeric.items()}

    @property
    def bin_edges_(self) -> dict[Any, NDArray[np.float64]]:
        """The inner edges of each numeric column."""
        return {name: cut.edges for name, cut in self._cuts.items()}

    @property
    def numeric_columns_(self) -> dict[Any, NumericColumn]:
        """How the columns of numbers were cut, by name."""
        return dict(self._numeric)

    @property
    def pairs_(self) -> list[tuple[int, int]]:
        """The pairs of columns that were measured, by position in `domains_`."""
        return list(self._pairs)

    def with_values(self, domains: Mapping[Any, Domain], numeric: Mapping[Any, NumericColumn]) -> PrivateSynthesizer:
        """Return the same model with values in place of the codes that it was fitted on: post-processing."""
        other = copy(self)
        other.domains_, other._numeric = dict(domains), dict(numeric)
        return other

    def _layout(self) -> tuple[list[slice], dict[tuple[int, int], slice]]:
        """Return where the cells of each column and of each pair stand."""
        sizes = [len(domain) for domain in self.domains_.values()]
        cells = [*sizes, *(sizes[i] * sizes[j] for i, j in self._pairs)]
        ends = np.cumsum(cells).tolist()
        places = [slice(end - size, end) for end, size in zip(ends, cells, strict=True)]
        return places[: len(sizes)], dict(zip(self._pairs, places[len(sizes) :], strict=True))

    def _saved_column(self, name: Any) -> dict[str, Any]:
        domain = self.domains_[name]
        saved = {"name": plain_name(name), **plain_domain(name, domain)}
        if name not in self._numeric:
            return saved
        numeric = self._numeric[name]
        bounds = None if numeric.bounds is None else list(numeric.bounds)
        return {**saved, **numeric.cut.record(), "bounds": bounds, "whole": numeric.whole}


def _columns(frame: Any) -> tuple[list[Any], set[Any], set[Any]]:
    """Return the columns of a frame, and which of them have an integer type: its schema, which is public.

    Lists have none. The last of the sets are these: that their values are integers is said by the values.
    """
    source = as_frame(frame)
    if isinstance(source, np.ndarray):
        if source.ndim != 2:
            raise InvalidDataError(f"frame must be two-dimensional, got {source.ndim} dimensions")
        columns: list[Any] = list(range(source.shape[1]))
        return columns, set(columns) if source.dtype.kind in "iu" else set(), set()
    if isinstance(source, Mapping):
        kinds = {name: getattr(getattr(values, "dtype", None), "kind", "O") for name, values in source.items()}
        untyped = {name for name, values in source.items() if isinstance(values, (list, tuple))}
        integers = {name for name in untyped if _all_integers(source[name])}
        return list(source), {name for name in source if kinds[name] in "iu"} | integers, untyped
    schema = source.collect_schema()
    return list(schema.names()), {name for name, dtype in schema.items() if dtype.is_integer()}, set()


def _all_integers(values: list[Any] | tuple[Any, ...]) -> bool:
    # None has no type that tells whether the others are integers.
    return {type(value) for value in values if value is not None} == {int}


def _n_rows(frame: Any) -> int:
    """Return the number of rows of an eager frame."""
    source = as_frame(frame)
    if isinstance(source, Mapping):
        return len(next(iter(source.values()))) if source else 0
    return len(source)


def _column_of(column: Any) -> tuple[Any, Domain, NumericColumn | None]:
    """Check what a file says of a column."""
    name = member(column, "name", WHAT, str, int)
    domain = domain_of(name, column, WHAT)
    if "edges" not in column:
        return name, domain, None
    cut = cut_of(name, column, len(domain), WHAT)
    bounds = member(column, "bounds", WHAT, list, type(None))
    if bounds is not None:
        pair = numbers(name, "bounds", bounds)
        if pair.shape != (2,) or not pair[0] < pair[1]:
            raise InvalidParameterError(f"bounds of {name!r} must be a lower and an upper one")
        bounds = (float(pair[0]), float(pair[1]))
    return name, domain, NumericColumn(cut, bounds, member(column, "whole", WHAT, bool))


def _measured_of(content: Any, sizes: list[int]) -> tuple[Measured, list[tuple[int, int]]]:
    """Check what a file says of the released tables."""
    pairs = [tuple(pair) if isinstance(pair, list) else () for pair in member(content, "pairs", WHAT, list)]
    valid = all(len(pair) == 2 and all(type(each) is int for each in pair) for pair in pairs)
    if not valid or not all(0 <= i < j < len(sizes) for i, j in pairs) or len(set(pairs)) < len(pairs):
        raise InvalidParameterError("pairs must be positions of two different columns each, none twice")
    cells = numbers("the tables", "cells", member(content, "cells", WHAT, list))
    sigmas = numbers("the tables", "sigmas", member(content, "sigmas", WHAT, list))
    if cells.shape != (sum(sizes) + sum(sizes[i] * sizes[j] for i, j in pairs),):
        raise InvalidParameterError("cells must be one for each cell of each table")
    if sigmas.shape != (len(sizes) + len(pairs),) or not np.all(sigmas > 0):
        raise InvalidParameterError("sigmas must be positive, one for each table")
    total = _arguments.number("total", member(content, "total", WHAT, int, float))
    total_sigma = _arguments.non_negative("total_sigma", member(content, "total_sigma", WHAT, int, float))
    if not (np.all(np.isfinite(cells)) and np.all(np.isfinite(sigmas)) and math.isfinite(total)):
        raise InvalidParameterError("cells and sigmas must be finite")
    return Measured(total, total_sigma, cells, sigmas), cast("list[tuple[int, int]]", pairs)


def _counted(
    frame: Any,
    domains: Mapping[Any, Domain],
    cuts: Mapping[Any, Cut],
    pairs: Sequence[tuple[int, int]],
    whose: Persons,
    beside: Mapping[Any, NDArray[Any]],
) -> NDArray[np.int64]:
    """Count all one-way tables and the pairs of what was kept of each person."""
    frame = as_frame(with_codes(frame, cuts))
    if not whose.weighted:
        return count(frame, domains, pairs)
    if is_lazy(frame):
        return np.concatenate(
            [table.ravel() for table in whose.count_tables(frame, groups_of(domains, pairs), domains)]
        )

    def of(kept: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
        return [count(with_kept(frame, kept, list(domains)), domains, pairs)]

    return whose.in_units(of, beside.get(SHARING))[0]
