"""The Hellinger mechanism on small data sets: its whole law, and every pair of neighbours, by enumeration in balls."""

import itertools

import pytest
from flint import arb
from judging import Truth, assert_true
from truth import Law, ball

import simplexdp as sdp


def candidates(n: int, cells: int) -> list[tuple[int, ...]]:
    return [k for k in itertools.product(range(n + 1), repeat=cells) if sum(k) == n]


def log_beta(parameters: list[arb]) -> arb:
    return sum((a.lgamma() for a in parameters), arb(0)) - sum(parameters, arb(0)).lgamma()


def distance(first: list[arb], second: list[arb]) -> arb:
    """Return the Hellinger distance of two Dirichlet laws [HP]: 1 - H^2 = B((a + b) / 2) / sqrt(B(a) B(b))."""
    middle = [(a + b) / 2 for a, b in zip(first, second, strict=True)]
    square = -(log_beta(middle) - (log_beta(first) + log_beta(second)) / 2).expm1()
    return square.max(arb(0)).sqrt()


def law(prior: list[float], counts: tuple[int, ...], outputs: list[tuple[int, ...]], exponent: float) -> list[arb]:
    """Return the probabilities of all outputs: proportional to exp(-exponent H)."""
    posterior = [ball(a) + x for a, x in zip(prior, counts, strict=True)]
    weights = []
    for output in outputs:
        if output == counts:
            weights.append(arb(1))
            continue
        released = [ball(a) + k for a, k in zip(prior, output, strict=True)]
        weights.append((-ball(exponent) * distance(posterior, released)).exp())
    total = sum(weights, arb(0))
    return [weight / total for weight in weights]


MECHANISMS = [
    {"prior": [1.0, 1.0], "n": 14, "epsilon": 1.0},
    {"prior": [0.3, 2.5], "n": 9, "epsilon": 0.5, "calibration": "proved"},
    {"prior": [1.0, 1.0], "n": 12, "epsilon": 2.0, "delta": 1e-6, "sensitivity": "smooth", "calibration": "proved"},
    {"prior": [1.0, 1.0], "n": 12, "epsilon": 2.0, "delta": 1e-3, "sensitivity": "smooth"},
    {"prior": [50.0, 1.0], "n": 10, "epsilon": 1.0, "sensitivity": "global"},
    {"prior": [1.0, 1.0], "n": 10, "epsilon": 1.0, "delta": 1e-4, "sensitivity": "local", "calibration": "certified"},
    {"prior": [1.0, 2.0, 0.5], "n": 4, "epsilon": 1.0, "calibration": "proved"},
    {"prior": [1.0, 1.0, 1.0], "n": 4, "epsilon": 1.5, "delta": 1e-3},
]


@pytest.mark.parametrize("parameters", MECHANISMS, ids=str)
def test_no_two_neighbours_are_further_apart_than_reported(parameters):
    mechanism = sdp.HellingerMechanism(**parameters)
    prior, n = parameters["prior"], parameters["n"]
    outputs = candidates(n, len(prior))
    assert mechanism.candidates().tolist() == [list(output) for output in outputs]
    laws = {x: law(prior, x, outputs, mechanism.exponent_at(x)) for x in outputs}
    for x in outputs[:: max(len(outputs) // 4, 1)]:
        reported = mechanism.probabilities(x)
        assert all(abs(ball(float(p)) - q) < 1e-12 for p, q in zip(reported, laws[x], strict=True))
    pairs = [
        Law(zip(laws[x], laws[other], strict=True))
        for x, other in itertools.permutations(outputs, 2)
        if sum(abs(a - b) for a, b in zip(x, other, strict=True)) == 2
    ]
    truth = Truth(pairs)
    curve = mechanism.privacy
    assert_true(truth, curve, [parameters.get("delta") or 1e-9], [0.0, 0.2, 0.5, 1.0])
    if mechanism.calibration == "certified":
        assert truth.exceeds(curve.epsilon(1e-2) * (1 - 1e-6), 1e-2)
