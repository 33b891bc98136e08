"""A file that claims less than what its own noise costs is refused: it would be reported as a guarantee."""

import json

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.models import (
    PrivateBayesianNetwork,
    PrivateCategoricalNB,
    PrivateGaussianNB,
    PrivateSynthesizer,
    ReleasedMarginal,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::simplexdp.InsecureRandomnessWarning"),
    pytest.mark.filterwarnings("ignore:the budget is too small to measure pairs"),
]
RNG = np.random.default_rng(11)
N = 400
DATA = {
    "a": RNG.integers(0, 3, N),
    "b": RNG.integers(0, 2, N),
    "y": RNG.integers(0, 2, N),
    "who": np.arange(N) // 2,
}
DOMAINS = {"a": [0, 1, 2], "b": [0, 1], "y": [0, 1]}
PERSONS = {"unit": "who", "max_rows": 2}
WEIGHTED = {**PERSONS, "weighted": True}
NOISE = ["discrete_laplace", "discrete_gaussian", "laplace", "gaussian"]


def records(options):
    """Return the columns of the model, and that of the persons where there are some."""
    return {name: column for name, column in DATA.items() if name != "who" or "unit" in options}


def naive_bayes(**options):
    stated = {"a": DOMAINS["a"], "b": DOMAINS["b"]}
    model = PrivateCategoricalNB(categories=stated, classes=[0, 1], random_state=sdp.testing.SeededRng(1), **options)
    return model.fit(records(options), "y")


def network(**options):
    options = {"epsilon": 1.0, **options}
    return PrivateBayesianNetwork(
        [("a", "y"), ("b", "y")], DOMAINS, random_state=sdp.testing.SeededRng(1), **options
    ).fit(records(options))


def synthesizer(**options):
    return PrivateSynthesizer(domains=DOMAINS, random_state=sdp.testing.SeededRng(1), components=8, **options).fit(
        records(options)
    )


def moments(**options):
    columns = {name: DATA[name].astype(float) for name in ("a", "b")}
    persons = {"who": DATA["who"]} if "unit" in options else {}
    options = {
        "bounds": {"a": (0, 2), "b": (0, 1)},
        "classes": [0, 1],
        "random_state": sdp.testing.SeededRng(1),
        **options,
    }
    return PrivateGaussianNB(**options).fit({**columns, **persons}, DATA["y"])


CASES = [
    *((naive_bayes, {"mechanism": kind}) for kind in (*NOISE, "dirichlet")),
    *((naive_bayes, {"mechanism": kind, "adjacency": "add_remove"}) for kind in (*NOISE, "dirichlet")),
    *((naive_bayes, {"mechanism": kind, **PERSONS}) for kind in (*NOISE, "dirichlet")),
    *((naive_bayes, {"mechanism": kind, **WEIGHTED}) for kind in ("discrete_laplace", "gaussian", "dirichlet")),
    (naive_bayes, {"epsilon": 0.01}),
    (naive_bayes, {"epsilon": 9.0, "delta": 1e-9}),
    (naive_bayes, {"calibration": None}),
    *((network, {"mechanism": kind}) for kind in (*NOISE, "dirichlet")),
    (network, WEIGHTED),
    (synthesizer, {}),
    (synthesizer, {"epsilon": 0.05}),
    (synthesizer, {"adjacency": "replace"}),
    (synthesizer, {"adjacency": "replace", **PERSONS}),
    (synthesizer, WEIGHTED),
    *((moments, {"mechanism": kind}) for kind in ("gaussian", "discrete_laplace")),
    *((moments, {"mechanism": kind, "adjacency": "add_remove"}) for kind in ("gaussian", "discrete_laplace")),
    *((moments, {"mechanism": kind, **PERSONS}) for kind in ("gaussian", "discrete_laplace")),
]


@pytest.mark.parametrize(
    ("fitted", "options"), CASES, ids=[f"{make.__name__}-{'-'.join(map(str, given.values()))}" for make, given in CASES]
)
def test_a_file_that_claims_less_than_its_noise_costs_is_refused(fitted, options):
    model = fitted(**options)
    text = model.to_json()
    kind, content = type(model), json.loads(text)
    assert kind.from_json(text).privacy_.epsilon(model.delta) == content["privacy"]["epsilon"]
    forged = [{"epsilon": 0.0}, {"epsilon": 0.5 * content["privacy"]["epsilon"]}]
    if content["privacy"]["mechanism"] != "discrete_laplace":
        forged += [{"delta": 0.0}, {"delta": 1e-3 * content["privacy"]["delta"]}]
    if "unit" in options and "weighted" not in options:
        forged.append({"max_rows": 4})
    for change in forged:
        with pytest.raises(sdp.InvalidParameterError, match="costs more"):
            kind.from_json(json.dumps({**content, "privacy": {**content["privacy"], **change}}))


def test_tables_by_a_renyi_budget_are_read_again():
    model = PrivateCategoricalNB.from_rdp(
        order=5.0, epsilon=0.5, categories={"a": DOMAINS["a"], "b": DOMAINS["b"]}, classes=[0, 1]
    ).fit(records({}), "y")
    assert PrivateCategoricalNB.from_json(model.to_json()).privacy_ is not None


def test_tables_that_were_paid_for_elsewhere_are_no_part_of_the_price():
    counts = np.histogram2d(DATA["a"], DATA["b"], bins=(3, 2))[0]
    known = ReleasedMarginal(["a", "b"], counts, sigma=0.5)
    model = PrivateSynthesizer(0.1, domains=DOMAINS, components=8, measured=[known]).fit(records({}))
    again = PrivateSynthesizer.from_json(model.to_json())
    assert again.privacy_.epsilon(model.delta) == model.privacy_.epsilon(model.delta)
    assert again.to_json() == PrivateSynthesizer.from_json(again.to_json()).to_json()
