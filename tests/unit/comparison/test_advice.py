"""Recommendations: the code runs, keeps the budget, and the sentence says what was measured."""

import json

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.comparison import TASKS, recommend

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
COUNTS = np.array([120, 60, 20, 0])


def private_data():
    """Data under the names that the code uses."""
    generator = np.random.default_rng(2)
    X, y = generator.integers(0, 4, (200, 2)), generator.integers(0, 2, 200)
    return {
        "counts": COUNTS,
        "X": X,
        "y": y,
        "categories": [range(4), range(4)],
        "classes": [0, 1],
        "frame": {"a": X[:, 0], "b": X[:, 1]},
        "edges": [("a", "b")],
        "domains": {"a": list(range(4)), "b": list(range(4))},
    }


@pytest.mark.filterwarnings("ignore:the budget is too small:UserWarning")  # of 200 records
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("task", TASKS)
def test_the_code_runs_and_keeps_the_budget(task, adjacency):
    if (task, adjacency) == ("posterior", "add_remove"):
        with pytest.raises(sdp.InvalidParameterError, match='adjacency must be "replace"'):
            recommend(task, n=200, dimension=4, **BUDGET, adjacency=adjacency)
        return
    if task in ("mean", "quantile", "hierarchy", "categories"):
        more = {"levels": [2, 4]} if task == "hierarchy" else {}
        advice = recommend(task, n=200, **BUDGET, adjacency=adjacency, **more)
        names = {**private_data(), "values": range(200), "bounds": (0, 200), "column": "a"}
        names["hierarchy"] = sdp.hierarchy.Hierarchy(["half", "a"], [(level // 2, level) for level in range(4)])
        exec(advice.code, names)
        released = names.get("released", names.get("domain"))
        if task in ("mean", "quantile"):
            assert released.mechanism == advice.mechanism
        assert released.privacy.adjacency == adjacency
        assert released.privacy.epsilon(BUDGET["delta"]) <= BUDGET["epsilon"]
        with pytest.raises(sdp.InvalidParameterError, match="dimension must be left out"):
            recommend(task, n=200, dimension=4, **BUDGET, **more)
        return
    with pytest.raises(sdp.InvalidParameterError, match="dimension must be given"):
        recommend(task, n=200, **BUDGET)
    advice = recommend(task, n=200, dimension=4, **BUDGET, adjacency=adjacency)
    names = private_data()
    if task in ("groups", "margins"):
        names["counts"] = np.stack([COUNTS, COUNTS[::-1]]) // 2  # of 200 records, as is stated
    if task in ("numeric-histogram", "gaussian-nb"):
        names |= {"values": range(200), "bounds": (0, 200) if task == "numeric-histogram" else (0, 4)}
    exec(advice.code, names)
    model = names.get("model", names.get("synthesizer", names.get("released")))
    released = names["mechanism"].privacy if model is None else model.privacy_
    assert released.adjacency == adjacency
    assert released.epsilon(BUDGET["delta"]) <= BUDGET["epsilon"]
    if task == "histogram":
        assert names["shares"].sum() == pytest.approx(1, abs=1e-12)
    if task == "posterior-draw":
        assert names["draw"].shape == (4,)
    if task == "synthetic-data":
        assert len(names["records"]["a"]) == 200


@pytest.mark.parametrize("mechanism", ["dirichlet", "gaussian", "laplace", "discrete_gaussian", "discrete_laplace"])
@pytest.mark.parametrize("metric", ["kl", "l1"])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("counts", [COUNTS, np.array([140, 60])])
def test_the_code_of_every_mechanism_runs(mechanism, metric, adjacency, counts, monkeypatch):
    monkeypatch.setattr("simplexdp.comparison.advice.SHARES", (mechanism,))
    advice = recommend("histogram", n=200, dimension=len(counts), **BUDGET, metric=metric, adjacency=adjacency)
    names = {"counts": counts}
    exec(advice.code, names)
    assert advice.mechanism == mechanism
    assert names["shares"].sum() == pytest.approx(1, abs=1e-12)
    assert names["mechanism"].privacy.epsilon(BUDGET["delta"]) <= BUDGET["epsilon"]
    best = advice.comparison.rows[0].parameters
    for name, value in best.items():
        assert float(getattr(names["mechanism"], name)) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("mechanism", ["hellinger", "discrete_laplace", "discrete_gaussian"])
def test_the_code_of_every_posterior_runs(mechanism, monkeypatch):
    monkeypatch.setattr("simplexdp.comparison.advice._MEASURES", _only("posterior", mechanism))
    advice = recommend("posterior", n=200, dimension=4, **BUDGET)
    names = {"counts": COUNTS}
    exec(advice.code, names)
    assert names["posterior"].alpha.sum() == pytest.approx(204)


@pytest.mark.parametrize("mechanism", ["dirichlet", "discrete_gaussian"])
def test_the_code_of_every_draw_runs(mechanism, monkeypatch):
    monkeypatch.setattr("simplexdp.comparison.advice._MEASURES", _only("posterior-draw", mechanism))
    advice = recommend("posterior-draw", n=200, dimension=4, **BUDGET)
    names = {"counts": COUNTS}
    exec(advice.code, names)
    assert names["draw"].sum() == pytest.approx(1, abs=1e-9)


def _only(task, mechanism):
    from simplexdp.comparison import advice

    _, error, label = advice._MEASURES[task]
    return {**advice._MEASURES, task: ((mechanism,), error, label)}


def test_the_sentence_has_the_measured_figures():
    advice = recommend("counts", n=500, dimension=5, **BUDGET)
    best, second = advice.comparison.rows[:2]
    assert f"{best.error:.4g}" in advice.why
    assert second.mechanism in advice.why
    content = json.loads(json.dumps(advice.to_dict(), allow_nan=False))
    assert content["mechanism"] == advice.mechanism == advice.comparison.winner
    assert advice.code in str(advice)


def test_integer_noise_of_a_count_has_its_exact_mean():
    # E abs(Z) = 2 q / (1 - q^2), q = exp(-1/scale); 8000 draws, five standard errors: false alarms below 1e-6.
    table = recommend("counts", n=500, dimension=4, **BUDGET).comparison
    row = table.row("discrete_laplace")
    q = np.exp(-0.5)
    assert abs(row.error - 2 * q / (1 - q * q)) < 5 * row.standard_error


def test_many_tables_are_better_off_with_gaussian_noise():
    few = recommend("bayesian-network", n=5000, dimension=4, **BUDGET, tables=1, rows=1)
    many = recommend("bayesian-network", n=5000, dimension=4, **BUDGET, tables=30, rows=1)
    assert (few.mechanism, many.mechanism) == ("discrete_laplace", "discrete_gaussian")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "lottery"}, "task must be one of"),
        ({"metric": "l2"}, "metric must be one of"),
        ({"task": "counts", "metric": "l1"}, "metric must be left out"),
        ({"tables": 3}, "tables and rows must be left out"),
        ({"levels": [2, 4]}, "levels must be left out"),
        ({"task": "hierarchy", "dimension": None}, "levels must be given"),
        ({"task": "hierarchy", "dimension": None, "levels": [4, 2]}, "levels must be at least two numbers"),
        ({"task": "hierarchy", "dimension": None, "levels": [3, 10**9]}, "levels must be at most 100000"),
        ({"task": "hierarchy", "dimension": None, "levels": 4}, "levels must be numbers"),
        ({"task": "hierarchy", "dimension": None, "levels": [2, 2.5]}, "levels must be an integer"),
        ({"task": "categories", "dimension": None, "delta": 0.0}, "delta must lie strictly between"),
        ({"task": "classifier", "delta": 0.0}, "delta must lie strictly between"),
        ({"task": "synthesis", "delta": 0.0}, "delta must lie strictly between"),
        ({"task": "margins", "rows": 0}, "rows must be an integer"),
        ({"task": "gaussian-nb", "n": 10**9}, "n must be at most"),
        ({"task": "gaussian-nb", "rows": 1}, "rows must be an integer of at least 2"),
        ({"task": "naive-bayes", "rows": 0}, "rows must be an integer of at least 1"),
        ({"n": 0.5}, "n must be an integer"),
        ({"task": "counts", "adjacency": "both"}, "adjacency must be one of"),
    ],
)
def test_bad_arguments_are_named(change, message):
    arguments = {"task": "histogram", "n": 100, "dimension": 3, **BUDGET, **change}
    with pytest.raises(sdp.InvalidParameterError, match=message):
        recommend(**arguments)


def test_a_hierarchy_has_the_deviations_of_its_noise():
    # A record that comes or goes changes one count of the finest level: discrete Laplace noise of scale 1 / epsilon. A
    # half of twenty children has twenty times its variance.
    advice = recommend("hierarchy", n=10**6, levels=[2, 40], **BUDGET, adjacency="add_remove")
    q = np.exp(-1.0)
    leaf = np.sqrt(2 * q) / (1 - q)
    assert f"from the finest level alone {leaf:.3g}." in advice.why
    assert f"from the finest level alone {leaf * np.sqrt(20):.3g};" in advice.why


def test_a_category_is_found_as_surely_as_is_said():
    advice = recommend("categories", n=1000, **BUDGET)
    threshold, records = (int(advice.why.split(before)[1].split()[0].rstrip(":")) for before in ("reaches ", "has "))
    # By summing the law of the noise: P(records + Z >= threshold), Z discrete Laplace of scale 2.
    q = np.exp(-0.5)
    noise = np.arange(-400, 401)
    law = (1 - q) / (1 + q) * q ** np.abs(noise)
    assert law[noise >= threshold - records].sum() >= 0.95 > law[noise >= threshold - records + 1].sum()
    table = {"word": ["a"] * 1000}
    assert sdp.frames.Domain.discover(table, "word", **BUDGET).threshold == threshold


def test_margins_are_off_by_less_than_sums_of_noisy_cells():
    advice = recommend("margins", n=2000, dimension=6, rows=5, **BUDGET)
    by_group, by_category = (float(each) for each in advice.why.split("off by ")[1].split(" records")[0].split(" and "))
    q = np.exp(-0.5)
    deviation = np.sqrt(2 * q) / (1 - q)
    # A sum of six and of five noisy counts has a mean absolute error of about 0.8 standard deviations.
    assert 0.3 * deviation < by_group < 0.8 * np.sqrt(6) * deviation
    assert 0.3 * deviation < by_category < 0.8 * np.sqrt(5) * deviation


def test_every_command_that_releases_has_advice():
    """No public release is forgotten: what the package exports is what `recommend` knows."""
    from simplexdp import models, numeric

    told = {recommend_code(task) for task in TASKS}
    for name in ("PrivateCategoricalNB", "PrivateGaussianNB", "PrivateBayesianNetwork", "PrivateSynthesizer"):
        assert name in models.__all__
        assert any(name in code for code in told)
    for name in filter(str.islower, numeric.__all__):
        assert any(f"sdp.numeric.{name}(" in code for code in told)
    for call in ("sdp.hierarchy.release(", "Domain.discover(", ".margins(", "sdp.Posterior("):
        assert any(call in code for code in told)


def recommend_code(task):
    sizes = {"hierarchy": {"levels": [2, 6]}, "mean": {}, "quantile": {}, "categories": {}}
    given = sizes.get(task, {"dimension": 4})
    return recommend(task, n=500, **BUDGET, **given).code
