"""Random compositions of everything, and random questions about them, from a seed."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from compositions import Parts
from judging import Case, Verdict, judge_delta, judge_epsilon
from parts import Adjacency, Budget, Dirichlet, DiscreteGaussian, Gaussian, Laplace, Part, Pure

LARGEST_COUNT = 10**6

Maker = Callable[[random.Random], tuple[Part, int]]


def _between(rng: random.Random, low: float, high: float) -> float:
    """Return a number whose logarithm is uniform."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _few(rng: random.Random) -> int:
    return 1 if rng.random() < 0.7 else rng.randint(2, 6)


def _pure(rng: random.Random) -> tuple[Part, int]:
    if rng.random() < 0.3:
        return Budget(_between(rng, 1e-6, 40.0), _between(rng, 1e-300, 0.5)), _few(rng)
    return Pure(_between(rng, 1e-6, 40.0)), _few(rng)


def _many_pure(rng: random.Random) -> tuple[Part, int]:
    return Pure(_between(rng, 1e-6, 1.0)), int(_between(rng, 1, LARGEST_COUNT))


def _more_pairs(rng: random.Random) -> list[Maker]:
    """Return makers of budgets with more outcomes than are added up one by one: these are composed on grids."""
    counts: list[int] = []
    while math.prod(count + 1 for count in counts) <= 1024:
        counts.append(rng.randint(3, 40))
    if math.prod(count + 1 for count in counts) > 4000:
        counts = [rng.randint(8, 14) for _ in range(3)] + [1]
    return [lambda rng, count=count: (_pure(rng)[0], count) for count in counts]


def _gaussian(rng: random.Random) -> tuple[Part, int]:
    count = int(_between(rng, 1, LARGEST_COUNT)) if rng.random() < 0.7 else 1
    return Gaussian(_between(rng, 0.05, 1e4)), count


def _laplace(rng: random.Random) -> tuple[Part, int]:
    return Laplace(_between(rng, 0.03, 1e3)), 1


def _discrete(rng: random.Random) -> tuple[Part, int]:
    return DiscreteGaussian(_between(rng, 0.05, 4.0), rng.choice([1, 2])), rng.choice([1, 1, 2])


def _wide_discrete(rng: random.Random) -> tuple[Part, int]:
    return DiscreteGaussian(_between(rng, 4.0, 60.0), rng.choice([1, 2])), _few(rng)


def _dirichlet(rng: random.Random) -> tuple[Part, int]:
    return Dirichlet(_between(rng, 0.01, 3.0), _between(rng, 0.05, 100.0)), 1


def _repeated(rng: random.Random) -> tuple[Part, int]:
    kind = rng.choice([_laplace, _dirichlet, _discrete])
    return kind(rng)[0], rng.randint(2, 20)


FAMILIES: dict[str, tuple[float, Callable[[random.Random], list[Maker]]]] = {
    "pairs": (0.3, lambda rng: [_pure] * rng.randint(2, 4)),
    "more pairs": (0.08, _more_pairs),
    "many pure": (0.08, lambda rng: [_many_pure] + [_pure] * rng.randint(0, 2)),
    "gaussian": (0.08, lambda rng: [_gaussian] * rng.randint(1, 3) + [_pure] * rng.randint(0, 2)),
    "laplace": (0.1, lambda rng: [_laplace] + [_pure] * rng.randint(1, 2)),
    "discrete gaussian": (0.2, lambda rng: [_discrete] * rng.choice([1, 1, 2]) + [_pure] * rng.randint(1, 2)),
    "integers beside": (0.1, lambda rng: [_discrete, rng.choice([_gaussian, _laplace])] + [_pure] * rng.randint(0, 1)),
    "dirichlet": (0.03, lambda rng: [_dirichlet] + [rng.choice([_pure, _pure, _gaussian])] * rng.randint(1, 2)),
    "everything": (
        0.03,
        lambda rng: [
            rng.choice([_pure, _gaussian, _laplace, _discrete, _wide_discrete, _dirichlet, _repeated])
            for _ in range(rng.randint(2, 4))
        ],
    ),
}


def random_case(rng: random.Random) -> tuple[str, Case]:
    """Return the name of a family and one of its compositions."""
    names = list(FAMILIES)
    family = rng.choices(names, [FAMILIES[name][0] for name in names])[0]
    parts = [make(rng) for make in FAMILIES[family][1](rng)]
    adjacency: Adjacency = "replace" if rng.random() < 0.7 else "add_remove"
    return family, Case(adjacency, parts)


def random_delta(rng: random.Random, case: Case) -> float:
    """Return a delta down to 1e-300; to 1e-30 beside a Dirichlet draw, whose tails take long to compose below."""
    least = 1e-30 if any(isinstance(part, Dirichlet) for part, _ in case.parts) else 1e-300
    return _between(rng, 1e-15, 0.5) if rng.random() < 0.6 else _between(rng, least, 1e-15)


def random_epsilon(rng: random.Random, case: Case) -> float:
    """Return zero, or a place within the losses, at, next to or beyond the largest."""
    largest = math.fsum(_largest_loss(part) * count for part, count in case.parts)
    where = rng.random()
    if where < 0.15:
        return 0.0
    if where < 0.3:
        return largest
    if where < 0.4:
        return math.nextafter(largest, rng.choice([0.0, math.inf]))
    if where < 0.5:
        return largest * rng.choice([1 - 1e-9, 1 + 1e-9, 2.0])
    if where < 0.6 and isinstance(case.parts[0][0], Pure | Budget):
        return case.parts[0][0].epsilon
    return largest * (rng.random() if rng.random() < 0.5 else _between(rng, 1e-6, 1.0))


def _largest_loss(part: Part) -> float:
    """Return the largest loss, or one that is large."""
    if isinstance(part, Pure | Budget):
        return part.epsilon
    if isinstance(part, Laplace):
        return part.sensitivity / part.scale
    if isinstance(part, Gaussian):
        mu = part.sensitivity / part.sigma
        return mu * mu / 2 + 5 * mu
    if isinstance(part, DiscreteGaussian):
        return 0.5 / part.sigma**2 + 5 / part.sigma
    return 8 * part.scale / math.sqrt(part.prior) + 5 * part.scale


@dataclass(frozen=True)
class Outcome:
    """One question to one composition, and the verdict."""

    family: str
    question: str
    verdict: Verdict
    text: str


def ask(seed: int) -> Outcome:
    """Make the composition of this number, ask it something, and judge the answer."""
    rng = random.Random(f"judge {seed}")
    family, case = random_case(rng)
    curve = case.curve()
    if rng.random() < 0.5:
        question, at = "epsilon", random_delta(rng, case)
        verdict = judge_epsilon(case.truth, curve, at)
        if verdict.fault is None and above_the_sum(case.parts, curve.epsilon(at), at):
            verdict = Verdict(f"epsilon({at!r}) = {curve.epsilon(at)!r} is more than the parts' epsilons together")
    else:
        question, at = "delta", random_epsilon(rng, case)
        verdict = judge_delta(case.truth, curve, at)
    return Outcome(family, question, verdict, f"seed {seed}, {case}, {question} at {at!r}: {verdict.fault}")


def above_the_sum(parts: Parts, epsilon: float, delta: float) -> bool:
    """Whether an answer is above basic composition: epsilons add up, where the deltas together are allowed."""
    if not all(isinstance(part, Pure | Budget | Laplace) for part, _ in parts):
        return False
    told = math.fsum(part.delta * count for part, count in parts if isinstance(part, Budget))
    largest = math.fsum(_largest_loss(part) * count for part, count in parts)
    return told <= delta and epsilon > largest * (1 + 1e-12)
