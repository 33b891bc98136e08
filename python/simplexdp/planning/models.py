"""Plans for models: each is fitted to the stand-in again and again, by the public classes, and judged."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp._parallel import threads_for
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Domain
from simplexdp.planning.stand_in import MadeUp, StandIn, Table
from simplexdp.planning.tasks import METRICS, Budget, Found
from simplexdp.special import betainc_inverse
from simplexdp.testing import SeededRng

__all__ = ["Classifier", "Network", "Synthesis"]

Floats = NDArray[np.float64]
Fit = tuple[float, str, Any]
"""The metric of a fit, the mechanism that it took, and what it costs."""

FIRST, REPEATS, QUICK = 2, 12, 2
"""Fits at first and at most, and where only the size of the error matters."""

BESIDES = 2
"""That are added at a time, however many threads there are: the same plan on every machine."""

FREEDOM = 3
"""Degrees of freedom that it takes to believe a spread: fits at one epsilon and at the one before."""

SURE, SURE_MADE_UP = 0.02, 0.1
"""The standard error, as a share of the mean, that ends them: five times less than a plan promises of a stand-in, and
where data are made up a fraction of what their law makes of it."""

MOST_CELLS = 4_000_000
"""Values of a table that is tried: it is fitted many times."""


class _Model:
    """What the tasks share: fits, and how they vary."""

    metric = METRICS["pairs"]
    yardstick_words = "chance alone, another sample of as many records, makes {}"
    fixed_yardstick = False
    least_records = 100
    varies = True

    reach_words = (
        "That is for made-up columns that depend on each other somewhat; weaker and stronger dependence of even and "
        "uneven columns, and effects of several that add up, make it"
    )

    def __init__(
        self,
        domains: Mapping[Any, Domain],
        source: StandIn | MadeUp,
        seed: int,
        others: Sequence[MadeUp] = (),
    ) -> None:
        self._domains = {name: len(domain) for name, domain in domains.items()}
        self._source, self._seed, self._others = source, seed, others
        self._before: Floats = np.empty(0)
        self._stop = threading.Event()

    def most_records(self) -> int:
        return MOST_CELLS // len(self._domains)

    def measure(self, budget: Budget, n: int, *, quick: bool = False) -> Found:
        """Fit as a user would, until the mean is known well enough."""
        # The first one alone: what it calibrates the others find.
        fits = self._fits(budget, n, range(1))
        fits += self._fits(budget, n, range(1, QUICK if quick else FIRST))
        if quick:
            return Found(fits[-1][1], float(np.mean([fit[0] for fit in fits])), math.nan, math.nan, None, "")
        sure = SURE_MADE_UP if self._source.made_up else SURE
        while True:
            values = np.array([fit[0] for fit in fits])
            mean = float(values.mean())
            # Errors vary in proportion to their means: what is seen here and at the epsilon before. Of accuracies it
            # is the share that is wrong.
            unit = max(1 - mean if self.metric.more_is_better else mean, 1e-300)
            off = (values - mean) / unit
            freedom = len(off) - 1 + max(len(self._before) - 1, 0)
            share = math.sqrt(float((off**2).sum() + (self._before**2).sum()) / freedom)
            known = freedom >= FREEDOM and share <= sure * math.sqrt(len(off))
            if known or len(fits) >= REPEATS:
                break
            fits += self._fits(budget, n, range(len(fits), len(fits) + BESIDES))
        self._before = off
        error = share * unit / math.sqrt(len(off))
        reach = _t_quantile(budget.level, freedom) * share * unit * math.sqrt(1 + 1 / len(off))
        within = max(mean - reach, 0.0) if self.metric.more_is_better else min(mean + reach, 1.0)
        _, kind, curve = fits[-1]
        return Found(kind, mean, error, within, curve, self.code(budget), self._reach(budget, n, mean, error, share))

    def _reach(self, budget: Budget, n: int, mean: float, error: float, share: float) -> tuple[float, float] | None:
        """Return what the mean lies between for laws of other shapes, one fit each, this one among them."""
        if not self._others:
            return None
        means = [fit[0] for fit in self._all(budget, n, [(law, turn) for turn, law in enumerate(self._others)])]
        ends = [value * (1 + sign * 2 * share) for value in means for sign in (-1, 1)]
        ends += [mean + sign * 2 * error for sign in (-1, 1)]
        return max(min(ends), 0.0), min(max(ends), 1.0)

    def _fits(self, budget: Budget, n: int, turns: Iterable[int]) -> list[Fit]:
        return self._all(budget, n, [(self._source, turn) for turn in turns])

    def _all(self, budget: Budget, n: int, drawn: Sequence[tuple[StandIn | MadeUp, int]]) -> list[Fit]:
        """Return what fits to records of some sources say, which each have a seed and a thread of their own."""
        with warnings.catch_warnings(), ThreadPoolExecutor(threads_for(len(drawn), 1)) as threads:
            # Seeded on purpose, and about data that are public.
            warnings.simplefilter("ignore")
            self._stop.clear()
            waiting = [threads.submit(self._one, source, budget, n, turn) for source, turn in drawn]
            try:
                return [each.result() for each in waiting]
            except BaseException:
                # Signals reach the main thread alone, which waits here until the fits that have begun are over.
                self._stop.set()
                threads.shutdown(wait=False, cancel_futures=True)
                raise

    def _go_on(self, share: float) -> None:
        """End a fit that tells how far it is, if nobody waits for it any more."""
        if self._stop.is_set():
            raise CancelledError

    def code(self, budget: Budget) -> str:
        raise NotImplementedError

    def _one(self, source: StandIn | MadeUp, budget: Budget, n: int, turn: int) -> Fit:
        raise NotImplementedError

    def _generator(self, turn: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, turn])

    def _samples(self, n: int) -> list[Table]:
        """Return two tables of n records that chance alone makes different."""
        return self._source.samples(n, [self._generator(10**6 + turn) for turn in range(2)])

    def _apart(self, one: Table, other: Table, pairs: Sequence[tuple[Any, Any]]) -> float:
        """Return the mean total variation distance of tables of two columns."""
        return float(
            np.mean([0.5 * np.abs(self._shares(one, pair) - self._shares(other, pair)).sum() for pair in pairs])
        )

    def _shares(self, table: Table, pair: tuple[Any, Any]) -> NDArray[np.float64]:
        first, second = pair
        size = self._domains[second]
        codes = np.asarray(table[first], dtype=np.int64) * size + table[second]
        return np.bincount(codes, minlength=self._domains[first] * size) / max(len(codes), 1)


class Classifier(_Model):
    """Naive Bayes over categories."""

    metric = METRICS["accuracy"]
    yardstick_words = "without privacy it would be {}"
    fixed_yardstick = True

    def __init__(self, domains: Mapping[Any, Domain], source: StandIn | MadeUp, seed: int, target: Any) -> None:
        super().__init__(domains, source, seed)
        self._target = target
        self._features = [name for name in domains if name != target]
        if not self._features:
            raise InvalidParameterError("domains must have a feature beside the class")
        self._source, judge = source.parts(self._generator(10**6))
        self._judge, self._truth = self._split(judge)
        self._plain: dict[int, float] = {}
        self.about = f"a naive Bayes classifier of {len(self._features)} columns into {self._domains[target]} classes"

    def code(self, budget: Budget) -> str:
        """Return the lines that fit it."""
        change = "" if budget.adjacency == "replace" else f", adjacency={budget.adjacency!r}"
        return (
            "from simplexdp.models import PrivateCategoricalNB\n"
            f"model = PrivateCategoricalNB({budget.epsilon!r}, {budget.delta!r}{change}, "
            "categories=categories, classes=classes).fit(X, y)"
        )

    def yardstick(self, n: int) -> float:
        """Return the accuracy of the same classifier without privacy."""
        if n not in self._plain:
            budget = Budget(1.0, 1e-6, "replace", 0.95)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fits = [self._one(self._source, budget, n, turn, "none") for turn in range(QUICK)]
            self._plain[n] = float(np.mean([fit[0] for fit in fits]))
        return self._plain[n]

    def _one(self, source: StandIn | MadeUp, budget: Budget, n: int, turn: int, mechanism: str = "auto") -> Fit:
        from simplexdp.models import PrivateCategoricalNB

        features, classes = self._split(source.draw(n, self._generator(turn)))
        model = PrivateCategoricalNB(
            budget.epsilon,
            budget.delta,
            mechanism=mechanism,
            categories=[self._domains[name] for name in self._features],
            classes=list(range(self._domains[self._target])),
            adjacency=budget.adjacency,
            random_state=SeededRng(self._seed + turn),
        ).fit(features, classes)
        return float(model.score(self._judge, self._truth)), model.mechanism_, model.privacy_

    def _split(self, table: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.column_stack([table[name] for name in self._features]), table[self._target]


class Network(_Model):
    """A Bayesian network over given edges."""

    yardstick_words = "where privacy costs as much as chance it is {}"

    def __init__(
        self,
        domains: Mapping[Any, Domain],
        source: StandIn | MadeUp,
        seed: int,
        edges: Sequence[tuple[Any, Any]],
        others: Sequence[MadeUp] = (),
    ) -> None:
        super().__init__(domains, source, seed, others)
        self._edges = list(edges)
        self.about = f"a Bayesian network of {len(self._domains)} columns and {len(self._edges)} edges"

    def code(self, budget: Budget) -> str:
        """Return the lines that fit it."""
        change = "" if budget.adjacency == "replace" else f", adjacency={budget.adjacency!r}"
        return (
            "from simplexdp.models import PrivateBayesianNetwork\n"
            f"model = PrivateBayesianNetwork(edges=edges, domains=domains, epsilon={budget.epsilon!r}, "
            f"delta={budget.delta!r}{change}).fit(frame)"
        )

    def yardstick(self, n: int) -> float:
        """Return how far records are whose errors of chance and of privacy are alike.

        Records of a network are a sample themselves: without privacy they are as far from the real ones as another
        sample, so that twice that variance is the yardstick.
        """
        one, other = self._samples(n)
        return math.sqrt(2) * self._apart(one, other, self._edges)

    def _one(self, source: StandIn | MadeUp, budget: Budget, n: int, turn: int) -> Fit:
        from simplexdp.models import PrivateBayesianNetwork

        table = source.draw(n, self._generator(turn))
        model = PrivateBayesianNetwork(
            self._edges,
            self._domains,
            epsilon=budget.epsilon,
            delta=budget.delta,
            adjacency=budget.adjacency,
            random_state=SeededRng(self._seed + turn),
        ).fit(table)
        records = model.sample(n, random_state=SeededRng(self._seed + turn + 1), kind="dict")
        return self._apart(table, records, self._edges), model.mechanism_, model.privacy_


class Synthesis(_Model):
    """Synthetic records of a table of unknown structure."""

    def __init__(
        self,
        domains: Mapping[Any, Domain],
        source: StandIn | MadeUp,
        seed: int,
        others: Sequence[MadeUp] = (),
    ) -> None:
        super().__init__(domains, source, seed, others)
        self._pairs = list(combinations(self._domains, 2))
        if not self._pairs:
            raise InvalidParameterError("domains must have at least two columns for synthetic records")
        self.about = f"synthetic records of {len(self._domains)} columns"

    def code(self, budget: Budget) -> str:
        """Return the lines that fit it."""
        change = "" if budget.adjacency == "add_remove" else f", adjacency={budget.adjacency!r}"
        return (
            "from simplexdp.models import PrivateSynthesizer\n"
            f"synthesizer = PrivateSynthesizer({budget.epsilon!r}, {budget.delta!r}, domains=domains{change})\n"
            "records = synthesizer.fit(frame).sample()"
        )

    def yardstick(self, n: int) -> float:
        """Return how far another sample of as many records is."""
        one, other = self._samples(n)
        return self._apart(one, other, self._pairs)

    def _one(self, source: StandIn | MadeUp, budget: Budget, n: int, turn: int) -> Fit:
        from simplexdp.models import PrivateSynthesizer

        table = source.draw(n, self._generator(turn))
        model = PrivateSynthesizer(
            budget.epsilon,
            budget.delta,
            domains=self._domains,
            adjacency=budget.adjacency,
            progress=self._go_on,
            random_state=SeededRng(self._seed + turn),
        ).fit(table)
        records = model.sample(n, random_state=SeededRng(self._seed + turn + 1), kind="dict")
        return self._apart(table, records, self._pairs), "discrete_gaussian", model.privacy_


def _t_quantile(level: float, degrees: int) -> float:
    """Return the point that Student's t exceeds with a probability of 1 - level: the end of a one-sided interval."""
    x = float(betainc_inverse(degrees / 2, 0.5, 2 * (1 - level)))
    return math.sqrt(degrees * (1 - x) / x)
