"""Words to users whose budget is not what they think: one warning each, which says what to do."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp import models
from simplexdp.exceptions import PrivacyLeakWarning

PEOPLE = {"a": [0, 1] * 50, "b": [1, 0] * 50}
CALLS = {
    "histogram": lambda epsilon, delta: models.PrivateHistogram(domain=2, epsilon=epsilon, delta=delta).fit(
        PEOPLE, "a"
    ),
    "histogram of groups": lambda epsilon, delta: models.PrivateHistogram(
        domain=2, groups=2, epsilon=epsilon, delta=delta, mechanism="dirichlet", total=100
    ).fit(PEOPLE, "a", by="b"),
    "classifier": lambda epsilon, delta: models.PrivateCategoricalNB(
        epsilon, delta, categories=[2], classes=[0, 1]
    ).fit(np.array(PEOPLE["a"])[:, None], PEOPLE["b"]),
    "network": lambda epsilon, delta: models.PrivateBayesianNetwork(
        [("a", "b")], {"a": 2, "b": 2}, epsilon=epsilon, delta=delta
    ).fit(PEOPLE),
    "synthesizer": lambda epsilon, delta: models.PrivateSynthesizer(epsilon, delta, domains={"a": 2, "b": 2}).fit(
        PEOPLE
    ),
    "dirichlet": lambda epsilon, delta: sdp.DirichletMechanism.calibrated(epsilon, delta, 2, total=100),
    "hellinger": lambda epsilon, delta: sdp.HellingerMechanism([1, 1], 100, epsilon, delta=delta),
    "compare": lambda epsilon, delta: sdp.compare(100, 3, epsilon, delta, samples=8, mechanisms=["discrete_laplace"]),
    "recommend a histogram": lambda epsilon, delta: sdp.recommend(
        "histogram", n=100, dimension=3, epsilon=epsilon, delta=delta, postprocessing=["raw"]
    ),
    "recommend a synthesizer": lambda epsilon, delta: sdp.recommend(
        "synthesis", n=100, dimension=2, tables=2, epsilon=epsilon, delta=delta
    ),
    "plan": lambda epsilon, delta: sdp.plan("groups", n=100, domains=[2, 2], epsilons=[epsilon], delta=delta),
}
ONLY_EPSILON = {
    "real noise": lambda epsilon: sdp.LaplaceMechanism.calibrated(epsilon=epsilon, sensitivity=1),
    "noise": lambda epsilon: sdp.DiscreteLaplaceMechanism.for_counts(epsilon),
    "gaussian": lambda epsilon: sdp.DiscreteGaussianMechanism.for_counts(epsilon, 0.1),
    "sum": lambda epsilon: sdp.SumPreservingLaplaceMechanism.for_counts(epsilon, dimension=3),
    "laplace posterior": lambda epsilon: sdp.LaplacePosteriorMechanism([1, 1], 100, epsilon),
    "accountant": lambda epsilon: sdp.Accountant(epsilon, 0.1),
}


def _heard(call, *arguments):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        call(*arguments)
    return [each for each in heard if each.category is sdp.WeakGuaranteeWarning]


@pytest.mark.parametrize("name", CALLS)
def test_who_calls_with_a_weak_budget_hears_of_each_weakness_once_and_where(name):
    heard = _heard(CALLS[name], 10.5, 0.02)
    assert sorted(str(each.message).partition(" ")[0] for each in heard) == ["delta", "epsilon"], heard
    assert all(each.filename == __file__ for each in heard)
    words = " ".join(str(each.message) for each in heard)
    assert "take a delta of" in words
    assert "sdp.plan" in words
    # The synthesizer knows the number of records with noise only.
    assert _heard(CALLS[name], 1.0, 1e-6) == []
    if name != "synthesizer":
        assert [str(each.message).partition(" ")[0] for each in _heard(CALLS[name], 10.0, 0.01)] == ["delta"]
        assert _heard(CALLS[name], 10.0, 0.0099) == []


@pytest.mark.parametrize("name", ONLY_EPSILON)
def test_a_mechanism_of_no_stated_total_speaks_of_epsilon_alone(name):
    heard = _heard(ONLY_EPSILON[name], 10.5)
    assert len(heard) == 1
    assert heard[0].filename == __file__
    assert "epsilon = 10.5 is above 10" in str(heard[0].message)
    assert _heard(ONLY_EPSILON[name], 10.0) == []


def test_a_private_number_of_records_is_not_told_by_a_warning():
    few = models.PrivateHistogram(domain=2, epsilon=1.0, delta=0.02, adjacency="add_remove")
    assert _heard(few.fit, PEOPLE, "a") == []


def test_a_search_without_an_accountant_is_warned_of():
    from sklearn.model_selection import GridSearchCV, cross_val_score

    from simplexdp.models import PrivateCategoricalNB

    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (300, 2)), rng.integers(0, 2, 300)
    model = PrivateCategoricalNB(1.0, categories=[3, 3], classes=[0, 1])
    for search in (
        lambda: cross_val_score(model, X, y, cv=2),
        lambda: GridSearchCV(model, {"count_floor": [0.5, 1.0]}, cv=2).fit(X, y),
        lambda: GridSearchCV(model, {"count_floor": [0.5, 1.0]}, cv=2).fit(X, y),
    ):
        heard = _heard(search)
        assert len(heard) == 1
        assert "give it an accountant=sdp.Accountant" in str(heard[0].message)
        assert heard[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)  # one fit is one release
        paid = model.set_params(accountant=sdp.Accountant(9.0, 1e-4))
        GridSearchCV(paid, {"count_floor": [0.5, 1.0]}, cv=2).fit(X, y)
    # Two values in two folds, and the best one again.
    assert len(paid.accountant.spends()) == 5


def test_the_command_line_warns_of_delta_and_names_its_own_option(tmp_path, capsys):
    import json

    from simplexdp.cli import main

    table, domains = tmp_path / "p.csv", tmp_path / "d.json"
    table.write_text("job,sex\n" + "a,f\n" * 60 + "b,m\n" * 39 + "c,m\n")
    domains.write_text(json.dumps({"job": ["a", "b"], "sex": ["f", "m"]}))
    code = main(["release", str(table), "--column", "sex", "--domain", "f,m", "--epsilon", "1", "--delta", "0.01"])
    assert code == 0
    assert "A delta of one in 100 records or more" in capsys.readouterr().err
    code = main(
        ["fit-nb", str(table), "--target", "sex", "--domains", str(domains), "--epsilon", "1", "--delta", "1e-6"]
    )
    assert code == 1
    message = capsys.readouterr().err
    assert "values that --domains does not list" in message
    assert "--domain " not in message


def test_what_was_taken_from_private_data_is_told_at_the_callers_line():
    with pytest.warns(PrivacyLeakWarning) as found:
        models.PrivateHistogram(epsilon=1.0).fit({"x": ["a", "b"] * 2000}, "x")
    assert [warning.filename for warning in found] == [__file__]
    assert "domain=" in str(found[0].message)


@pytest.mark.parametrize("kind", ["PrivateCategoricalNB", "PrivateGaussianNB"])
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_classifier_that_nothing_was_stated_to_is_warned_of_once(kind, call):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (300, 2)), rng.integers(0, 2, 300)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        getattr(getattr(models, kind)(1.0), call)(X, y)
    leaks = [each for each in heard if each.category is PrivacyLeakWarning]
    assert [each.filename for each in leaks] == [__file__]
    said = str(leaks[0].message)
    assert "classes=" in said
    assert ("categories=" if kind == "PrivateCategoricalNB" else "bounds=") in said


def test_what_a_call_that_failed_would_have_taken_is_not_told_by_the_next():
    model = models.PrivateCategoricalNB(1.0)
    with pytest.raises(ValueError, match="same number of records"):
        model.fit([[0.0, 1.0], [1.0, 0.0]], [0])
    with pytest.warns(PrivacyLeakWarning) as found:
        models.PrivateHistogram(epsilon=1.0).fit({"x": ["a", "b"] * 2000}, "x")
    assert "classes" not in str(found[0].message)


USERS = {
    "leak": (PrivacyLeakWarning, lambda: models.PrivateHistogram(epsilon=1.0).fit({"x": ["a", "b"] * 2000}, "x")),
    "epsilon": (sdp.WeakGuaranteeWarning, lambda: sdp.DiscreteLaplaceMechanism.for_counts(11)),
    "delta": (sdp.WeakGuaranteeWarning, lambda: sdp.DirichletMechanism.calibrated(1.0, 0.02, 2, total=100)),
    "synthesis": (
        UserWarning,
        lambda: models.PrivateSynthesizer(0.01, 1e-6, domains={"a": 2, "b": 2, "c": 9}).fit(
            {"a": [0, 1] * 10, "b": [1, 0] * 10, "c": [3] * 20}
        ),
    ),
    "not inferred": (
        UserWarning,
        lambda: models.PrivateBayesianNetwork([("a", "b")], {"a": 130, "b": 130}, epsilon=1.0).fit(
            {"a": [1] * 50, "b": [2] * 50}
        ),
    ),
}
WHAT_TO_DO = re.compile(r"\b(take|give|state|use|leave|merge|pass|says|search on)\b")


@pytest.mark.parametrize("name", USERS)
def test_a_warning_is_heard_once_at_the_callers_line_and_says_what_to_do(name):
    category, call = USERS[name]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        call()
    assert [(each.category, each.filename) for each in heard] == [(category, __file__)]
    assert WHAT_TO_DO.search(str(heard[0].message)), heard[0].message


def test_a_seed_is_warned_of_once_at_the_callers_line_whatever_a_plan_drew_before(tmp_path):
    script = tmp_path / "release.py"
    script.write_text(
        "import warnings\n"
        "import simplexdp as sdp\n"
        "sdp.plan('groups', n=100, domains=[2, 2], epsilons=[1.0])\n"
        "rng, noise = sdp.testing.SeededRng(1), sdp.DiscreteLaplaceMechanism.for_counts(1)\n"
        "with warnings.catch_warnings(record=True) as heard:\n"
        "    warnings.simplefilter('always')\n"
        "    noise.release([1, 2], rng=rng)\n"
        "    noise.release([1, 2], rng=rng)\n"
        "print([(w.category.__name__, w.filename == __file__, w.lineno, str(w.message)) for w in heard])\n"
    )
    told = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300, check=True).stdout
    assert told.startswith("[('InsecureRandomnessWarning', True, 7, ")
    assert told.count("Warning") == 1
    assert "leave rng out" in told


def test_every_warning_is_given_in_one_place():
    """Where the stack level is found, so that users see their own line."""
    package = Path(sdp.__file__).parent
    calls = [path.name for path in package.rglob("*.py") if "warnings.warn(" in path.read_text(encoding="utf-8")]
    assert calls == ["_cautions.py"]
