"""Plans for models: each is fitted to the stand-in again and again, by the public classes, and judged."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
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

LEAST_REPEATS, REPEATS, QUICK = 4, 12, 3
"""Fits, and where only the size of the error matters."""

BESIDES = 2
"""That are added at a time, however many threads there are: the same plan on every machine."""

OF_LAW = 2
"""Fits to each law of the range: how much they vary is told from all laws together."""

SURE = 0.02
"""The standard error, as a share of the mean, that ends them: five times less than a plan promises."""

MOST_CELLS = 4_000_000
"""Values of a table that is tried: it is fitted many times."""


class _Model:
    """What the tasks share: fits, and how they vary."""

    metric = METRICS["pairs"]
    yardstick_words = "chance alone, another sample of as many records, makes {}"
    fixed_yardstick = False
    least_records = 100

    reach_words = (
        "That is for made-up columns that depend on each other somewhat; weaker and stronger dependence of even and "
        "uneven columns makes it"
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

    def most_records(self) -> int:
        return MOST_CELLS // len(self._domains)

    def measure(self, budget: Budget, n: int, *, quick: bool = False) -> Found:
        """Fit as a user would, until the mean is known well enough."""
        fits = self._fits(self._source, budget, n, range(QUICK if quick else LEAST_REPEATS))
        while not quick and len(fits) < REPEATS and not self._known([fit[0] for fit in fits]):
            fits += self._fits(self._source, budget, n, range(len(fits), len(fits) + BESIDES))
        values, (_, kind, curve) = [fit[0] for fit in fits], fits[-1]
        mean, spread = float(np.mean(values)), float(np.std(values, ddof=1))
        reach = _t_quantile(budget.level, len(values) - 1) * spread * math.sqrt(1 + 1 / len(values))
        within = max(mean - reach, 0.0) if self.metric.more_is_better else min(mean + reach, 1.0)
        ends = None if quick else self._reach(budget, n, mean, spread / math.sqrt(len(values)))
        return Found(kind, mean, spread / math.sqrt(len(values)), within, curve, self.code(budget), ends)

    def _known(self, values: Sequence[float]) -> bool:
        """Return whether the mean is known well enough: of accuracies, the share that is wrong."""
        mean = float(np.mean(values))
        error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
        return error <= SURE * (1 - mean if self.metric.more_is_better else mean)

    def _reach(self, budget: Budget, n: int, mean: float, error: float) -> tuple[float, float] | None:
        """Return what the mean lies between for laws of other shapes, this one among them."""
        if not self._others:
            return None
        by_law = np.array([[fit[0] for fit in self._fits(law, budget, n, range(OF_LAW))] for law in self._others])
        means = by_law.mean(axis=1)
        # Errors vary in proportion to their means.
        varying = by_law / np.where(means > 0, means, 1.0)[:, None]
        share = math.sqrt(float(varying.var(axis=1, ddof=1).mean()) / OF_LAW)
        ends = [value * (1 + sign * 2 * share) for value in means for sign in (-1, 1)]
        ends += [mean + sign * 2 * error for sign in (-1, 1)]
        return max(min(ends), 0.0), min(max(ends), 1.0)

    def _fits(
        self, source: StandIn | MadeUp, budget: Budget, n: int, turns: Sequence[int]
    ) -> list[tuple[float, str, Any]]:
        """Return metric, mechanism and cost of some fits, which each have a seed and a thread of their own."""
        with warnings.catch_warnings(), ThreadPoolExecutor(threads_for(len(turns), 1)) as threads:
            # Seeded on purpose, and about data that are public.
            warnings.simplefilter("ignore")
            waiting = [threads.submit(self._one, source, budget, n, turn) for turn in turns]
            try:
                return [each.result() for each in waiting]
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                raise

    def code(self, budget: Budget) -> str:
        raise NotImplementedError

    def _one(self, source: StandIn | MadeUp, budget: Budget, n: int, turn: int) -> tuple[float, str, Any]:
        """Return the metric of one fit, the mechanism that it took, and what it costs."""
        raise NotImplementedError

    def _generator(self, turn: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, turn])

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

    def _one(
        self, source: StandIn | MadeUp, budget: Budget, n: int, turn: int, mechanism: str = "auto"
    ) -> tuple[float, str, Any]:
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
        one, other = (self._source.draw(n, self._generator(10**6 + turn)) for turn in range(2))
        return math.sqrt(2) * self._apart(one, other, self._edges)

    def _one(self, source: StandIn | MadeUp, budget: Budget, n: int, turn: int) -> tuple[float, str, Any]:
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
        one, other = (self._source.draw(n, self._generator(10**6 + turn)) for turn in range(2))
        return self._apart(one, other, self._pairs)

    def _one(self, source: StandIn | MadeUp, budget: Budget, n: int, turn: int) -> tuple[float, str, Any]:
        from simplexdp.models import PrivateSynthesizer

        table = source.draw(n, self._generator(turn))
        model = PrivateSynthesizer(
            budget.epsilon,
            budget.delta,
            domains=self._domains,
            adjacency=budget.adjacency,
            random_state=SeededRng(self._seed + turn),
        ).fit(table)
        records = model.sample(n, random_state=SeededRng(self._seed + turn + 1), kind="dict")
        return self._apart(table, records, self._pairs), "discrete_gaussian", model.privacy_


def _t_quantile(level: float, degrees: int) -> float:
    """Return the point that Student's t exceeds with a probability of 1 - level: the end of a one-sided interval."""
    x = float(betainc_inverse(degrees / 2, 0.5, 2 * (1 - level)))
    return math.sqrt(degrees * (1 - x) / x)
