"""Naive Bayes over numbers: what scikit-learn's does without noise, a true price with it, and hostile files refused."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hostile_json import cut_off_and_replaced, spoiled
from seeded_estimators import SeededByIntegers, unavoidable
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import simplexdp as sdp
from simplexdp import _core
from simplexdp.models import PrivateGaussianNB
from simplexdp.models.moment_posterior import class_moments
from simplexdp.models.moment_release import HALF, MomentPlan, ReleasedMoments
from simplexdp.models.released import Law


class Seeded(SeededByIntegers, PrivateGaussianNB):
    pass


@pytest.mark.filterwarnings("ignore::simplexdp.PrivacyLeakWarning")
@parametrize_with_checks(
    [PrivateGaussianNB(mechanism="none"), Seeded(epsilon=20.0)], expected_failed_checks=unavoidable
)
def test_scikit_learn_accepts_the_classifier(estimator, check):
    check(estimator)


BOUNDS = [(0, 100), (-5, 5), (0, 1)]


def records(n=3000, seed=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return np.stack([rng.normal(30 + 15 * y, 8), rng.normal(y - 1, 1), rng.uniform(0, 1, n)], axis=1), y


def model(**parameters):
    return PrivateGaussianNB(**{"bounds": BOUNDS, "classes": [0, 1, 2], **parameters})


def test_without_noise_it_is_scikit_learns_classifier():
    X, y = records()
    X = np.clip(X, *np.array(BOUNDS, dtype=float).T)
    ours, theirs = model(mechanism="none").fit(X, y), GaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(ours.theta_, theirs.theta_, atol=0.01)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=2e-3)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=5e-3)
    assert ours.privacy_ is None


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("mechanism", ["auto", "gaussian", "discrete_laplace"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_a_fit_keeps_its_budget_and_hardly_wastes_it(adjacency, mechanism, epsilon):
    X, y = records(300)
    fitted = model(epsilon=epsilon, mechanism=mechanism, adjacency=adjacency).fit(X, y)
    spent = fitted.privacy_.epsilon(1e-6)
    assert 0.95 * epsilon <= spent <= epsilon
    assert fitted.privacy_.adjacency == adjacency
    assert mechanism in ("auto", fitted.mechanism_)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("kind", ["gaussian", "discrete_laplace"])
def test_no_neighbours_are_further_apart_than_the_price_says(adjacency, kind):
    """Brute force over extreme and random records, by what public arrays of two data sets really sum to."""
    rng = np.random.default_rng(8)
    plan = MomentPlan.of(3, 2, mechanism=kind, epsilon=1.0, delta=1e-6, adjacency=adjacency)
    bounds = ((0.0, 1.0),) * 3
    edge = (2 + 2**0.5) / 4
    places = np.concatenate([[0.0, 0.5, 1.0, 0.25, 0.75, -7.0, 1e9, edge, 1 - edge], rng.uniform(0, 1, 20)])
    own = rng.choice(places, (4000, 3)), rng.integers(0, 2, 4000)
    other = rng.choice(places, (4000, 3)), rng.integers(0, 2, 4000)
    # One record at a time, of 4000: the rows of each are counted alone.
    alone = [
        np.stack(
            [
                plan.moments.sums(np.array([c]), [np.array([v]) for v in row], list(bounds))
                for row, c in zip(*data, strict=True)
            ]
        )
        for data in (own, other)
    ]
    moved = alone[0] - alone[1] if adjacency == "replace" else alone[0]
    if kind == "gaussian":
        size, seen = float(plan.mechanism.sensitivity), np.sqrt((moved.astype(float) ** 2).sum(axis=1)).max()
    else:
        size, seen = float(plan.mechanism.sensitivity), np.abs(moved).sum(axis=1).max()
    assert seen <= size
    assert seen >= 0.85 * size


def test_worst_records_of_one_class_attain_the_distance():
    """Places 1 and u with 1 + u = (2 + sqrt 2) / 4, in all columns: a square of 71/16 + sqrt(2)/2 for each."""
    moments = _core.Moments(True, HALF, 2, 2, 1)
    ends = [np.array([1.0]), np.array([(2 + 2**0.5) / 4 - 1.0])]
    sums = [moments.sums(np.array([0]), [end, end], [(-1.0, 1.0)] * 2).astype(float) for end in ends]
    seen = np.sqrt(((sums[0] - sums[1]) ** 2).sum())
    told = moments.moves("replace", 1)[1]
    assert 0.999 * told <= seen <= told
    assert told / HALF**2 == pytest.approx(np.sqrt(2 * (71 / 16 + 2**0.5 / 2)), rel=1e-6)


def test_noise_is_that_of_the_plan():
    """600 draws of empty classes, both kinds: variances within 6 standard errors (false alarm below 1e-8 each)."""
    for kind in ("gaussian", "discrete_laplace"):
        plan = MomentPlan.of(1, 2, mechanism=kind, epsilon=1.0, delta=1e-6, adjacency="add_remove")
        rng = sdp.testing.SeededRng(3)
        drawn = [plan.release(np.zeros((2, 3), dtype=np.int64), None, rng) for _ in range(600)]
        for values, law in (
            (np.concatenate([d.counts for d in drawn]), drawn[0].count_law),
            (np.concatenate([d.sums.ravel() for d in drawn]), drawn[0].sum_law),
            (np.concatenate([d.squares.ravel() for d in drawn]), drawn[0].sum_law),
        ):
            fourth = 3 if kind == "gaussian" else 6
            error = np.sqrt((fourth - 1) / len(values))
            assert abs(np.mean(values**2) / law.variance - 1) < 6 * error


@pytest.mark.parametrize("mechanism", ["gaussian", "discrete_laplace"])
def test_intervals_cover_the_means(mechanism):
    """900 means of 100 fits at level 95 %: at least 92 % (false alarm below 1e-3 for means that were independent)."""
    hits, told = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, 400)
        X = np.clip(np.stack([rng.normal(0.2 * j * (y - 1), 0.3) for j in range(3)], axis=1), -1, 1)
        fitted = PrivateGaussianNB(
            (0.3, 1.0, 4.0)[seed % 3],
            bounds=(-1, 1),
            classes=[0, 1, 2],
            mechanism=mechanism,
            random_state=sdp.testing.SeededRng(seed),
        ).fit(X, y)
        true = np.stack([X[y == c].mean(axis=0) for c in range(3)])
        ends = fitted.interval()
        hits.append((ends[..., 0] <= true) & (true <= ends[..., 1]))
        told.append((ends[..., 1] - ends[..., 0]).mean())
    assert np.mean(hits) >= 0.92
    # They say something where the budget does.
    assert np.median(told[2::3]) < 0.4


def test_tiny_budgets_fall_back_to_the_class_shares():
    """Noise a thousand times the sums: all classes look alike, so that the shares decide; 20 fits, none far off."""
    rng = np.random.default_rng(0)
    y = (rng.uniform(size=2000) < 0.2).astype(int)
    X = np.stack([rng.normal(0, 1, 2000), rng.normal(y, 1)], axis=1)
    losses = []
    for seed in range(20):
        fitted = PrivateGaussianNB(
            1e-4, bounds=(-4, 4), classes=[0, 1], priors=[0.8, 0.2], random_state=sdp.testing.SeededRng(seed)
        ).fit(X, y)
        chosen = fitted.predict_proba(X)[np.arange(2000), y]
        losses.append(-np.mean(np.log(chosen)))
    # The entropy of the shares is 0.500.
    assert np.median(losses) < 0.56


def test_the_posterior_with_little_noise_is_what_was_summed():
    counts = np.array([400.0, 600.0])
    mean, variance = np.array([[0.2], [-0.4]]), np.array([[0.05], [0.02]])
    law = Law("gaussian", 0.01, 2.0**-20)
    released = ReleasedMoments(
        counts, counts[:, None] * mean, counts[:, None] * (2 * (mean**2 + variance) - 1), law, law, 1000
    )
    found = class_moments(released)
    np.testing.assert_allclose(found.mean, mean, atol=1e-3)
    np.testing.assert_allclose(found.variance, variance, rtol=1e-2)
    np.testing.assert_allclose(found.counts, counts, atol=0.5)


def test_frames_and_arrays_give_the_same_answers():
    import pandas as pd
    import polars as pl

    X, y = records(600)
    columns = {"age": X[:, 0], "score": X[:, 1], "share": X[:, 2], "class": y}
    named = {"age": (0, 100), "score": (-5, 5), "share": (0, 1)}
    answers = []
    for frame in (columns, pd.DataFrame(columns), pl.DataFrame(columns), pl.DataFrame(columns).lazy()):
        fitted = model(bounds=named, random_state=sdp.testing.SeededRng(5)).fit(frame, "class")
        answers.append(fitted.theta_)
        assert fitted.score(frame, "class") > 0.6
        if not isinstance(frame, dict):
            assert fitted.predict_proba(frame).shape == (600, 3)
    direct = model(random_state=sdp.testing.SeededRng(5)).fit(X, y)
    for found in answers:
        np.testing.assert_array_equal(found, direct.theta_)
    np.testing.assert_array_equal(direct.predict(X), direct.predict(X.tolist()))


def test_files_bring_back_the_same_classifier(tmp_path):
    X, y = records()
    fitted = model(epsilon=2.0).fit(X, y)
    fitted.save(tmp_path / "model.json")
    loaded = PrivateGaussianNB.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_log_proba(X), fitted.predict_log_proba(X))
    assert loaded.privacy_.epsilon(1e-6) == pytest.approx(fitted.privacy_.epsilon(1e-6), rel=1e-12)
    assert not loaded.seeded_
    assert json.loads(loaded.to_json())["released"] == json.loads(fitted.to_json())["released"]
    assert PrivateGaussianNB.from_json(model(random_state=sdp.testing.SeededRng(1)).fit(X, y).to_json()).seeded_
    assert pickle.loads(pickle.dumps(fitted)).predict(X).tolist() == fitted.predict(X).tolist()
    named = model(bounds={"a": (0, 1)}, classes=["x", "y"], priors=[0.5, 0.5]).fit(
        {"a": [0.2, 0.9], "y": ["x", "y"]}, "y"
    )
    again = PrivateGaussianNB.from_json(named.to_json())
    assert again.feature_names_in_.tolist() == ["a"]
    assert again.class_prior_.tolist() == [0.5, 0.5]


def test_millions_of_records_are_inferred():
    generator = np.random.default_rng(0)
    classes = generator.integers(0, 2, 4_500_000)
    values = classes[:, None] + generator.uniform(-1, 1, (classes.size, 1))
    found = PrivateGaussianNB(1.0, 1e-9, bounds=[(-1, 2)], classes=[0, 1], random_state=sdp.testing.SeededRng(1)).fit(
        values, classes
    )
    np.testing.assert_allclose(found.theta_, [[0.0], [1.0]], atol=0.01)
    # Noise of some counts in a table of millions.
    np.testing.assert_allclose(found.class_count_, np.bincount(classes), atol=200)


def test_hostile_files_are_refused_by_rule():
    text = model(random_state=sdp.testing.SeededRng(1)).fit(*records(300)).to_json()
    for bad in cut_off_and_replaced(text):
        with pytest.raises((sdp.InvalidParameterError, sdp.InvalidDataError)):
            PrivateGaussianNB.from_json(bad)
    for bad in spoiled(text):
        try:
            found = PrivateGaussianNB.from_json(bad)
        except (sdp.InvalidParameterError, sdp.InvalidDataError, sdp.NotAffordableError):
            continue
        assert np.all(np.isfinite(found.theta_))
        assert np.all(found.var_ > 0)


def test_the_accountant_is_asked_before_anything_is_drawn():
    X, y = records(200)
    accountant = sdp.Accountant(1.0, 1e-6)
    kept = clone(model(epsilon=0.8, accountant=accountant)).fit(X, y)
    assert [entry["label"] for entry in accountant.spends()] == ["Gaussian naive Bayes"]
    before = kept.theta_.copy()
    with pytest.raises(sdp.BudgetExceededError):
        kept.fit(X, y)
    np.testing.assert_array_equal(kept.theta_, before)
    with pytest.raises(sdp.InvalidParameterError, match="accountant"):
        model(mechanism="none", accountant=accountant).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"bounds": [(0, 1)]}, "bounds"),
        ({"bounds": (1, 0)}, "bounds"),
        ({"bounds": (0, float("inf"))}, "bounds"),
        ({"bounds": (-1e308, 1e308)}, "bounds"),
        ({"classes": "012"}, "classes"),
        ({"mechanism": "dirichlet"}, "mechanism"),
        ({"adjacency": "swap"}, "adjacency"),
        ({"priors": [1, 0]}, "priors"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters, message):
    with pytest.raises((sdp.InvalidParameterError, sdp.InvalidDataError), match=message):
        model(**parameters).fit(*records(50))


def test_a_budget_that_one_kind_of_noise_cannot_keep_is_kept_by_the_other():
    # Integer noise of a scale beyond 2^50 is not drawn; Gaussian noise needs no more than delta asks for.
    assert model(epsilon=1e-300).fit(*records(50)).mechanism_ == "gaussian"
    with pytest.raises(sdp.InvalidParameterError, match=r"^epsilon must be at least 5.22e-08, .* got 1e-300"):
        model(epsilon=1e-300, mechanism="discrete_laplace").fit(*records(50))


def test_bad_records_are_refused_without_being_quoted():
    X, y = records(50)
    X[3, 1] = 1234.5678
    for broken in (np.where(X == 1234.5678, np.nan, X), np.where(X == 1234.5678, np.inf, X)):
        with pytest.raises(sdp.InvalidDataError, match=r"^X must hold .* not shown") as caught:
            model().fit(broken, y)
        assert "1234" not in str(caught.value)
        with pytest.raises(sdp.InvalidDataError, match=r"^X must hold .* not shown"):
            model().fit(X, y).predict(broken)
    with pytest.raises(sdp.InvalidDataError, match=r"^X and y must have the same number"):
        model().fit(X, y[:-1])
    with pytest.raises(sdp.InvalidDataError, match=r"^y must have no missing value"):
        model().fit(X, np.where(y == 0, np.nan, y))
    with pytest.raises(sdp.InvalidDataError, match="not shown") as caught:
        model(classes=[0, 1]).fit(X, y)
    with pytest.raises(sdp.InvalidDataError, match="missing"):
        model(bounds=(0, 1)).fit({"a": [1.0, None], "y": [0, 1]}, "y")
    with pytest.raises(sdp.InvalidDataError, match="number of records"):
        model(bounds=(0, 1)).fit({"a": [1.0, 2.0]}, [0])
    with pytest.warns(sdp.PrivacyLeakWarning, match="bounds"):
        PrivateGaussianNB(classes=[0, 1, 2]).fit(*records(50))


def visits():
    rng = np.random.default_rng(3)
    patient = rng.integers(0, 400, 3000)
    sick = patient % 2
    return {
        "patient": [f"p{each}" for each in patient],
        "day": rng.integers(0, 99, 3000),
        "x": rng.normal(40 + 20 * sick, 10),
        "c": np.where(sick, "b", "a"),
    }


def of_patients(**given):
    given = {"unit": "patient", "max_rows": 2, **given}
    return PrivateGaussianNB(8.0, 1e-6, bounds=(0, 100), classes=["a", "b"], **given)


def test_so_many_records_of_each_person_count_and_the_first_ones_by_a_column():
    table = visits()
    model = of_patients(mechanism="none", first_by="day").fit(table, "c")
    kept = pd.DataFrame(table).sort_values("day", kind="stable").groupby("patient").head(2)
    assert model.class_count_.tolist() == kept["c"].value_counts()[["a", "b"]].tolist()
    assert model.feature_names_in_.tolist() == ["x"]
    # Ties of a day may fall otherwise; means of the kept records are near.
    assert model.theta_.ravel() == pytest.approx(kept.groupby("c")["x"].mean().to_numpy(), abs=1.5)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_persons_are_named_in_guarantees_and_files(adjacency):
    table = {name: values for name, values in visits().items() if name != "day"}
    fitted = [
        of_patients(adjacency=adjacency).fit(table, "c"),
        of_patients(adjacency=adjacency).fit(pd.DataFrame(table)[["patient", "x"]], table["c"]),
        of_patients(adjacency=adjacency).fit(np.array(table["x"])[:, None], table["c"], persons=table["patient"]),
        of_patients(adjacency=adjacency, unit=None).fit({"x": table["x"]}, table["c"], persons=table["patient"]),
    ]
    for model, unit in zip(fitted, ["patient", "patient", "patient", "person"], strict=True):
        assert (model.privacy_.unit, model.privacy_.epsilon(1e-6) <= 8.0) == (unit, True)
        again = PrivateGaussianNB.from_json(model.to_json())
        assert (again.privacy_.unit, again.unit, again.max_rows) == (unit, model.unit, 2)
        assert again.theta_.tolist() == model.theta_.tolist()
        assert json.loads(model.to_json())["released"]["total"] is None
        assert "p17" not in model.to_json()
        asked = np.array([20.0, 80.0])
        named = hasattr(model, "feature_names_in_")
        assert model.predict({"x": asked} if named else asked[:, None]).tolist() == ["a", "b"]


def test_persons_have_to_be_told():
    table = visits()
    X = np.array(table["x"])[:, None]
    for call, message in [
        (lambda: of_patients().fit(X, table["c"]), "give persons to fit"),
        (lambda: of_patients(unit=None).fit(X, table["c"]), "max_rows must be None"),
        (lambda: of_patients(max_rows=None).fit(table, "c"), "max_rows must be given"),
        (lambda: of_patients(unit="c").fit(table, "c"), "beside those of the model"),
        (lambda: of_patients().fit(X, table["c"], persons=[1, 2]), "as many as the records"),
        (lambda: of_patients().partial_fit(table, "c"), "twice as much"),
    ]:
        with pytest.raises((sdp.InvalidParameterError, sdp.InvalidDataError), match=message):
            call()


def test_parts_come_to_the_same_sums_as_all_at_once():
    table = visits()
    X, y = np.array(table["x"])[:, None], table["c"]
    whole = PrivateGaussianNB(bounds=(0, 100), classes=["a", "b"], mechanism="none").fit(X, y)
    parts = PrivateGaussianNB(bounds=(0, 100), mechanism="none")
    for start in range(3):
        parts.partial_fit(X[start::3], y[start::3], classes=["a", "b"])
    assert not hasattr(parts, "theta_")
    with pytest.raises(sdp.InvalidDataError, match="before pickling"):
        pickle.dumps(parts)
    assert pickle.loads(pickle.dumps(parts.release())).theta_.tolist() == whole.theta_.tolist()
    assert parts.theta_.tolist() == whole.theta_.tolist()
    assert parts.var_.tolist() == whole.var_.tolist()


def test_every_release_of_parts_is_paid_and_adds_up():
    table = visits()
    X, y = np.array(table["x"])[:, None], table["c"]
    accountant = sdp.Accountant(1.5, 1e-6)
    model = PrivateGaussianNB(0.6, 1e-6, bounds=(0, 100), classes=["a", "b"], accountant=accountant)
    model.partial_fit(X[:1500], y[:1500]).release()
    first = model.privacy_
    with pytest.raises(sdp.InvalidDataError, match="since the last release"):
        model.release()
    model.partial_fit(X[1500:], y[1500:]).release()
    assert accountant.debits == 2
    assert model.privacy_ == first + first
    with pytest.raises(sdp.BudgetExceededError):
        model.partial_fit(X, y).release()
    assert model.privacy_ == first + first
    for other in (
        lambda: model.partial_fit(np.hstack([X, X]), y),
        lambda: model.set_params(bounds=(0, 9)).partial_fit(X, y),
    ):
        with pytest.raises((sdp.InvalidParameterError, ValueError)):
            other()


@pytest.mark.parametrize("count", [1e9, 4399945735931396.0])
def test_a_private_number_of_records_takes_no_memory_for_each(count):
    """The file was found by fuzzing: its reader asked for 181 terabytes, which ends the process."""
    X = np.linspace(0.0, 1.0, 40).reshape(20, 2)
    fitted = PrivateGaussianNB(1.0, bounds=(0, 1), classes=["a", "b"], adjacency="add_remove").fit(X, ["a", "b"] * 10)
    content = json.loads(fitted.to_json())
    content["released"]["counts"] = [count, -13.75]
    found = PrivateGaussianNB.from_json(json.dumps(content))
    assert found.class_prior_[0] == pytest.approx(1.0)
