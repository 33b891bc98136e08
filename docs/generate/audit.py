"""Write ``docs/audit.md``: every mechanism, model and synthesiser audited from its outputs alone, and faults caught.

``python docs/generate/audit.py [--fast | --resume]``. Randomness comes from the operating system, as in use. A run that
was stopped goes on with --resume: finished lines are kept in `target/audit.json`.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import simplexdp as sdp
from simplexdp import models
from simplexdp.auditing import Audit

PAGE = Path(__file__).resolve().parents[1] / "audit.md"
KEPT = Path(__file__).resolve().parents[2] / "target" / "audit.json"
DELTA = 0.01
SIZE, MODEL_SIZE, SLOW_SIZE, SYNTHESIZER_SIZE = 50_000, 8_000, 1_000, 500
LEVELS = [0, 1]
FIFTHS = (0.1, 0.3, 0.5, 0.7, 0.9)


class Case(NamedTuple):
    """What is audited: on the pair that is proposed where none is given."""

    name: str
    release: Any
    pair: tuple[Any, Any] | None
    claim: sdp.PrivacyCurve
    size: int
    batch: bool = False


def mechanisms() -> list[Case]:
    """Return the mechanisms, each on the pair that `worst_pair` proposes."""
    sums = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=3)
    tails = sdp.DiscreteGaussianMechanism.for_counts(1.0, DELTA)
    made: dict[str, Any] = {
        "Dirichlet, prior 3, scale 1": sdp.DirichletMechanism(scale=1.0, prior=3.0, dimension=3),
        "Dirichlet, calibrated to (1, 0.01)": sdp.DirichletMechanism.for_counts(1.0, DELTA, dimension=3, total=100),
        "Dirichlet, floor 5": sdp.DirichletMechanism(scale=0.5, prior=1.0, dimension=3, floor=5),
        "Dirichlet, add or remove": sdp.DirichletMechanism(scale=1.0, prior=1.5, dimension=3, adjacency="add_remove"),
        "Gaussian": sdp.GaussianMechanism.for_counts(1.0, DELTA),
        "Gaussian, add or remove": sdp.GaussianMechanism.for_counts(1.0, DELTA, adjacency="add_remove"),
        "discrete Gaussian": tails,
        "Laplace": sdp.LaplaceMechanism.for_counts(1.0),
        "discrete Laplace": sdp.DiscreteLaplaceMechanism.for_counts(1.0),
        "discrete Laplace, epsilon 4": sdp.DiscreteLaplaceMechanism.for_counts(4.0),
        "sum-preserving Laplace": sums,
        "Hellinger, certified": sdp.HellingerMechanism([1, 1, 1], 12, 2.0),
        "Hellinger, proved": sdp.HellingerMechanism([1, 1], 20, 1.0, calibration="proved"),
        "Laplace posterior": sdp.LaplacePosteriorMechanism([1, 1, 1], 30, 1.0),
        "noisy posterior, sum-preserving": sdp.NoisyPosteriorMechanism([1, 1, 1], 30, sums),
        "noisy posterior, discrete Gaussian": sdp.NoisyPosteriorMechanism([1, 1, 1], 30, tails),
    }
    return [Case(name, mechanism, None, mechanism.privacy, SIZE) for name, mechanism in made.items()]


def model_cases() -> list[Case]:
    """Return fits of models on data sets that differ in one record; what is looked at is all that a fit publishes."""
    domains = {"a": LEVELS, "b": LEVELS}

    def bayes(mechanism: str, delta: float, adjacency: str) -> tuple[Callable[[Any], Any], Any]:
        def fit(data: Any) -> Any:
            rows, classes = data
            model = models.PrivateCategoricalNB(
                2.0, delta, mechanism=mechanism, categories=[LEVELS] * 2, classes=LEVELS, adjacency=adjacency
            ).fit(rows, classes)
            return np.concatenate([model.class_log_prior_, *(np.ravel(t) for t in model.feature_log_prob_)])

        return fit, ((np.array([[0, 0]]), np.array([0])), (np.array([[1, 1]]), np.array([1])))

    def network(data: Any) -> Any:
        model = models.PrivateBayesianNetwork([("a", "b")], domains, epsilon=2.0, delta=DELTA).fit(data)
        return np.concatenate([np.ravel(table) for table in model.cpds_.values()])

    def histogram(data: Any) -> Any:
        return models.PrivateHistogram(LEVELS, epsilon=2.0, delta=DELTA, total=1).fit(data, "a").probabilities_

    def binner(data: Any) -> Any:
        return models.PrivateBinner("private_quantile", n_bins=2, bounds=[(0, 1)], epsilon=2.0).fit(data).edges_[0]

    def synthesizer(data: Any) -> Any:
        model = models.PrivateSynthesizer(2.0, DELTA, domains=domains).fit(data)
        return np.append(np.ravel(model.marginal(["a", "b"])), model.n_records_)

    def moments(mechanism: str, delta: float) -> Callable[[Any], Any]:
        def fit(data: Any) -> Any:
            rows, classes = data
            model = models.PrivateGaussianNB(2.0, delta, bounds=[(0, 1)], classes=LEVELS, mechanism=mechanism)
            model.fit(rows, classes)
            return np.concatenate([model.class_prior_, np.ravel(model.theta_), np.ravel(model.var_)])

        return fit

    def learned(data: Any) -> Any:
        model = models.PrivateBayesianNetwork("learn", domains, epsilon=2.0, delta=DELTA).fit(data)
        return np.concatenate(
            [model.cpds_["a"].mean(0) if model.parents_["a"] else model.cpds_["a"], [len(model.parents_["b"])]]
        )

    def persons(data: Any) -> Any:
        model = models.PrivateHistogram(LEVELS, epsilon=2.0, delta=DELTA, unit="who", max_rows=2)
        return model.fit(data, "a").probabilities_

    def weighted(data: Any) -> Any:
        model = models.PrivateHistogram(LEVELS, epsilon=2.0, delta=DELTA, unit="who", max_rows=2, weighted=True)
        return model.fit(data, "a").probabilities_

    def mean(data: Any) -> Any:
        return [sdp.numeric.mean(data, bounds=(0, 1), epsilon=2.0).estimate]

    def mean_and_count(data: Any) -> Any:
        found = sdp.numeric.mean(data, bounds=(0, 1), epsilon=2.0, adjacency="add_remove")
        return [found.estimate, found.counts]

    def five(data: Any) -> Any:
        return sdp.numeric.quantiles(data, levels=FIFTHS, bounds=(0, 1), epsilon=2.0).estimate

    def five_and_count(data: Any) -> Any:
        found = sdp.numeric.quantiles(data, levels=FIFTHS, bounds=(0, 1), epsilon=2.0, adjacency="add_remove")
        return [*found.estimate, found.count]

    def mean_of_persons(data: Any) -> Any:
        return [sdp.numeric.mean(data, "a", bounds=(0, 1), epsilon=2.0, unit="who", max_rows=2).estimate]

    def regions(data: Any) -> Any:
        found = sdp.hierarchy.release(data, towns, epsilon=2.0, level_shares=[0.5, 0.5])
        return np.concatenate(found.noisy)

    def discovered(data: Any) -> Any:
        found = sdp.frames.Domain.discover(data, "a", epsilon=2.0, delta=DELTA)
        return [float(0 in found.levels), float(1 in found.levels), found.noisy_counts.sum()]

    def numbers(data: Any) -> Any:
        return sdp.numeric.histogram(data, epsilon=2.0, delta=DELTA, edges=[0, 0.5, 1]).probabilities_

    towns = sdp.hierarchy.Hierarchy.from_mapping(("region", "town"), {"north": ["a"], "south": ["b"]})
    one, other = pd.DataFrame({"a": [0], "b": [0]}), pd.DataFrame({"a": [1], "b": [1]})
    budget = sdp.PrivacyCurve.from_epsilon_delta(2.0, DELTA)
    pure = sdp.PrivacyCurve.pure(2.0)
    # A record that moves from one end to the other turns the median round.
    quantiles = (np.array([[0.0], [0.5], [0.5], [1.0]]), np.array([[1.0], [0.5], [0.5], [1.0]]))
    halves = (np.repeat([0.0, 1.0], (10, 10)), np.repeat([0.0, 1.0], (11, 9)))
    few, many = np.array([0.0, 0.0]), np.array([0.0, 1.0])
    person = [pd.DataFrame({"who": ["p", "p", "q"], "a": [level, level, 0]}) for level in LEVELS]
    moved = [pd.DataFrame({"town": [town]}) for town in "ab"]
    # Three records and four: one more makes a value known.
    rare = [pd.DataFrame({"a": [0] * n + [1] * (9 - n)}) for n in (4, 5)]
    labelled = [(np.array([[float(level)]]), np.array([level])) for level in LEVELS]
    return [
        Case("naive Bayes, Dirichlet", *bayes("dirichlet", DELTA, "replace"), budget, MODEL_SIZE),
        Case("naive Bayes, discrete Gaussian", *bayes("discrete_gaussian", DELTA, "replace"), budget, MODEL_SIZE),
        Case("naive Bayes, discrete Laplace", *bayes("discrete_laplace", DELTA, "replace"), pure, MODEL_SIZE),
        Case("Gaussian naive Bayes, discrete Laplace", moments("discrete_laplace", 1e-6), labelled, pure, SLOW_SIZE),
        Case("Gaussian naive Bayes, Gaussian", moments("gaussian", DELTA), labelled, budget, SLOW_SIZE),
        Case("Bayesian network, Dirichlet", network, (one, other), budget, MODEL_SIZE),
        Case("Bayesian network, learned edges", learned, (one, other), budget, SLOW_SIZE),
        Case("histogram, Dirichlet", histogram, (one, other), budget, MODEL_SIZE),
        Case("histogram of persons with two rows", persons, person, budget, SLOW_SIZE),
        Case("histogram, a person's rows share a weight", weighted, person, budget, SLOW_SIZE),
        Case("mean", mean, (few, many), pure, MODEL_SIZE),
        Case("mean and count", mean_and_count, (many[:1], many), pure, MODEL_SIZE),
        Case("mean of persons with two rows", mean_of_persons, person, pure, SLOW_SIZE),
        Case("quantiles", five, halves, pure, MODEL_SIZE),
        Case("quantiles and count", five_and_count, (many[:1], many), pure, MODEL_SIZE),
        Case("counts on two levels of a hierarchy", regions, moved, pure, MODEL_SIZE),
        Case("unknown values and their counts", discovered, rare, budget, MODEL_SIZE),
        Case("histogram of numbers", numbers, (few, many), budget, MODEL_SIZE),
        Case("bins at private quantiles", binner, quantiles, pure, MODEL_SIZE),
        Case("synthetic table", synthesizer, (one, one.iloc[:0]), budget, SYNTHESIZER_SIZE),
    ]


def broken() -> list[Case]:
    """Return releases with one deliberate fault each, and the claim that the sound ones would keep."""
    rng = np.random.default_rng()
    counts = (np.array([1, 0, 0]), np.array([0, 1, 0]))
    pure, dirichlet = sdp.PrivacyCurve.pure(1.0), sdp.DirichletMechanism(scale=1.0, prior=3.0, dimension=3).privacy

    def laplace(scale: float) -> Callable[[Any, int], Any]:
        return lambda x, size: x + rng.laplace(scale=scale, size=(size, 3))

    def one_cell_bare(x: Any, size: int) -> Any:
        return x + rng.laplace(scale=2.0, size=(size, 3)) * [1, 0, 1]

    def same_key(x: Any) -> Any:
        return sdp.LaplaceMechanism.for_counts(1.0).release(x, rng=sdp.testing.SeededRng(3))

    faults: list[tuple[str, Any, sdp.PrivacyCurve, bool]] = [
        ("half of the noise", laplace(1.0), pure, True),
        ("a quarter too little noise", laplace(1.5), pure, True),
        ("no noise on one cell", one_cell_bare, pure, True),
        (
            "noise of bounded support",
            lambda x, size: x + np.clip(rng.laplace(scale=2.0, size=(size, 3)), -3, 3),
            pure,
            True,
        ),
        (
            "noise that grows with the data",
            lambda x, size: x + rng.laplace(scale=2.0 + 6 * x[0], size=(size, 3)),
            pure,
            True,
        ),
        ("the same key for every release", same_key, pure, False),
        ("Gaussian noise said to be pure", lambda x, size: x + rng.normal(scale=0.7, size=(size, 3)), pure, True),
        ("Dirichlet, half of the prior", lambda x, size: rng.dirichlet(x + 1.5, size), dirichlet, True),
        ("Dirichlet, twice the scale", lambda x, size: rng.dirichlet(2 * x + 3.0, size), dirichlet, True),
        (
            "Dirichlet, no prior on empty cells",
            lambda x, size: rng.dirichlet(x + np.where(x > 0, 3.0, 0.2), size),
            dirichlet,
            True,
        ),
    ]
    return [
        Case(name, release, counts, claim, SIZE if batch else 1000, batch) for name, release, claim, batch in faults
    ]


def row(case: Case, found: Audit) -> str:
    """Return one line of a table."""
    power = "" if found.power is None else f"{found.power:.2f}"
    said = "refuted" if found.refuted else "kept"
    sight = found.events[0].score
    return (
        f"| {case.name} | {found.claimed:.3f} | {found.delta:g} | {found.epsilon:.3f} | {power} | {found.mu:.3f} "
        f"| {found.events[0].size:,} | {sight} | {said} |"
    )


def table(cases: list[Case], fast: bool, known: dict[str, str]) -> list[str]:
    """Return the lines of one table, and remember each in `known`."""
    lines = [
        "",
        "| release | claimed epsilon | at delta | found, at least | power | mu, at least | draws | seen by | claim |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for case in cases:
        if case.name in known:
            lines.append(known[case.name])
            continue
        started = time.process_time()
        size = max(case.size // 20, 500) if fast else case.size
        found = sdp.audit(case.release, case.pair, claim=case.claim, size=size, batch=case.batch)
        lines.append(row(case, found))
        print(lines[-1], f"{time.process_time() - started:.1f} s", flush=True)
        known[case.name] = lines[-1]
        if not fast:
            KEPT.write_text(json.dumps(known), encoding="utf-8")
    return lines


BROKEN = (
    "One fault each, against the claim that the sound release would keep. What is kept is beyond the audit's power."
)
INTRODUCTION = """# Audits

`sdp.audit` runs a release on two neighbouring data sets and proves from the outputs alone how much it tells at least.
It learns on one half of the draws which events tell the data sets apart (single coordinates, normal likelihood ratios
of the values and of their logarithms, the frequencies of values that repeat), and counts the chosen events in the other
half. Clopper and Pearson's bounds of their probabilities give a lower bound of epsilon at one delta, a lower bound of
the mu of Gaussian differential privacy, and a test of the whole claimed curve: the claim is refuted where an event is
likelier than its trade-off allows. With probability 1 - 1e-6 all bounds of a line hold, whatever the release does.
Runs must be independent; their law may drift, for a coin says on which data set each pair of runs begins.

An audit refutes; it never proves. **Power** is the share of the claimed epsilon that was found. It stays below 1 for
three reasons: rates are bounded and not known, a curve is attained on the worst pair only, and a budget that
composition does not use up cannot be found. A fault that moves epsilon by less than what is missing to 1 goes unseen.

    import numpy as np, simplexdp as sdp

    sdp.audit(sdp.LaplaceMechanism.for_counts(1.0))                    # ours: the pair and the claim are known
    sdp.audit(my_release, (data, neighbour), claim=1.0, delta=1e-5)    # any function of a data set
"""


def main(arguments: list[str]) -> int:
    """Write the page, or with --fast only print what a twentieth of the draws finds."""
    fast, resume = arguments == ["--fast"], arguments == ["--resume"]
    if arguments and not (fast or resume):
        print("usage: audit.py [--fast | --resume]", file=sys.stderr)
        return 2
    KEPT.parent.mkdir(exist_ok=True)
    known = json.loads(KEPT.read_text(encoding="utf-8")) if resume and KEPT.exists() else {}
    warnings.simplefilter("ignore")
    lines = [INTRODUCTION, "## Mechanisms", "", "Each on the pair that `simplexdp.auditing.worst_pair` proposes."]
    lines += table(mechanisms(), fast, known)
    lines += [
        "",
        "## Models",
        "",
        "What a fit publishes, on data of one record or a few: the worst neighbours have little else.",
    ]
    lines += table(model_cases(), fast, known)
    lines += ["", "## Broken on purpose", "", BROKEN]
    lines += table(broken(), fast, known)
    lines += ["", "Written by `make audit`.", ""]
    if not fast:
        PAGE.write_text("\n".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
