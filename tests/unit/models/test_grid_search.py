"""A search is one release: one debit, one price, nothing drawn before it is paid, and a winner that is worth it."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import dlaplace
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, OrdinalEncoder, StandardScaler

import simplexdp as sdp
from simplexdp.accounting import compose_parts
from simplexdp.models import PrivateBinner, PrivateCategoricalNB, PrivateGaussianNB, PrivateGridSearch


def records(n=4000, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(50 + 10 * np.where(y, 1, -1) * rng.choice([-1, 1], n), 2)[:, None], y


def searched(**parameters):
    model = PrivateCategoricalNB(classes=[0, 1], binner=PrivateBinner(bounds=(0, 100)))
    return PrivateGridSearch(model, {"binner__n_bins": [2, 3, 20]}, **parameters)


def test_it_finds_the_better_setting():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 4000)
    # Class 1 is in the middle and class 0 at both ends: two bins cannot tell them apart, six can.
    X = np.where(y == 1, rng.uniform(35, 65, 4000), rng.choice([10, 90], 4000) + rng.uniform(-8, 8, 4000))[:, None]
    search = searched(epsilon=2.0, random_state=sdp.testing.SeededRng(1)).fit(X, y)
    assert search.best_params_ != {"binner__n_bins": 2}
    assert search.score(X, y) > 0.9
    assert search.predict(X[:3]).tolist() == search.best_estimator_.predict(X[:3]).tolist()
    assert search.predict_proba(X[:2]).shape == search.predict_log_proba(X[:2]).shape == (2, 2)
    assert np.all(search.score_intervals_[:, 0] <= search.score_intervals_[:, 1])
    assert search.scores_[0] < 0.7 < search.scores_[search.best_index_]
    assert search.seeded_


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_all_of_it_is_one_debit_within_the_budget(epsilon):
    X, y = records()
    accountant = sdp.Accountant(epsilon, 1e-6, adaptive=False)
    search = searched(epsilon=epsilon, accountant=accountant).fit(X, y)
    assert 0.98 * epsilon <= search.privacy_.epsilon(1e-6) <= epsilon
    assert [row["label"] for row in accountant.spends()] == ["grid search of 3 candidates"]
    assert search.fit_epsilon_ < epsilon
    # Fits by themselves, composed outside, are within the price.
    fits = sdp.compose([search.best_estimator_.privacy_], [3])
    assert fits.epsilon(1e-6) <= search.privacy_.epsilon(1e-6) * (1 + 1e-9)
    with pytest.raises(sdp.BudgetExceededError):
        clone(search).fit(X, y)


def test_nothing_is_drawn_before_it_is_paid(monkeypatch):
    drawn = []
    release = sdp.DiscreteGaussianMechanism.release
    monkeypatch.setattr(
        sdp.DiscreteGaussianMechanism, "release", lambda self, *a, **k: drawn.append(1) or release(self, *a, **k)
    )
    with pytest.raises(sdp.BudgetExceededError):
        searched(epsilon=2.0, accountant=sdp.Accountant(1.0, 1e-6)).fit(*records())
    assert not drawn


def test_parts_by_place_cost_the_largest_part_judged_by_enumeration():
    """Two records, a part each: noise on the first, then noise on the second, whose sign the first release chose."""
    small, large = 0.4, 0.9
    values = np.arange(-60, 61)

    def law(x, epsilon):
        return dlaplace.pmf(values - x, epsilon)

    def joint(first, second):
        a = law(first, small)
        by_sign = [law(second, large), law(1 - second, large)]
        return np.stack([a[i] * by_sign[int(values[i] > 0)] for i in range(len(values))])

    told = compose_parts([sdp.PrivacyCurve.pure(small), sdp.PrivacyCurve.pure(large)])
    for x, changed in itertools.product(itertools.product((0, 1), repeat=2), (0, 1)):
        other = list(x)
        other[changed] = 1 - other[changed]
        p, q = joint(*x), joint(*other)
        for epsilon in (0.0, 0.2, 0.5, 0.9):
            assert np.maximum(p - np.exp(epsilon) * q, 0).sum() <= told.delta(epsilon) + 1e-12
    assert told.epsilon(0.0) == large
    both = sdp.compose([sdp.PrivacyCurve.pure(small), sdp.PrivacyCurve.pure(large)])
    assert told.delta(0.8) < both.delta(0.8)
    with pytest.raises(sdp.InvalidParameterError, match="replace"):
        compose_parts([sdp.PrivacyCurve.pure(1.0, adjacency="add_remove")])


def test_parts_by_coins_cost_what_is_told_judged_by_enumeration():
    """Up to three people with a bit, in parts by coins: noise on one part, then on the other, by the first's sign."""
    small, large, share = 0.4, 0.7, 0.25
    values = np.arange(-40, 41)

    def law(x, epsilon):
        return dlaplace.pmf(values - x, epsilon)

    def joint(people):
        found = np.zeros((len(values), len(values)))
        for coins in itertools.product((0, 1), repeat=len(people)):
            weight = np.prod([share if coin else 1 - share for coin in coins])
            first = sum(bit for bit, coin in zip(people, coins, strict=True) if not coin)
            second = sum(bit for bit, coin in zip(people, coins, strict=True) if coin)
            above, below = law(second, large), law(-second, large)
            found += weight * law(first, small)[:, None] * np.where((values > 0)[:, None], above, below)
        return found

    curves = [sdp.PrivacyCurve.pure(cost, adjacency="add_remove") for cost in (small, large)]
    told = {how: sdp.compose_disjoint(curves, adjacency=how) for how in ("add_remove", "replace")}
    sets = [people for size in range(4) for people in itertools.combinations_with_replacement((0, 1), size)]
    laws = {people: joint(people) for people in sets}
    worst = {"add_remove": 0.0, "replace": 0.0}
    for one, two in itertools.permutations(sets, 2):
        if abs(len(one) - len(two)) == 1 and abs(sum(one) - sum(two)) <= 1:
            how = "add_remove"
        elif len(one) == len(two) and abs(sum(one) - sum(two)) == 1:
            how = "replace"
        else:
            continue
        for epsilon in (0.0, 0.2, 0.5, 0.9):
            true = np.maximum(laws[one] - np.exp(epsilon) * laws[two], 0).sum()
            assert true <= told[how].delta(epsilon) + 1e-12
            worst[how] = max(worst[how], true)
    assert min(worst.values()) > 0.05
    assert told["add_remove"].epsilon(0.0) == large


def patients(n=4000, seed=2):
    rng = np.random.default_rng(seed)
    patient = rng.integers(0, 1500, n)
    sick = patient % 2
    return {
        "patient": [f"p{each}" for each in patient],
        "day": rng.integers(0, 9, n),
        "x": rng.normal(40 + 20 * sick, 8),
        "c": np.where(sick, "b", "a"),
    }


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("whose", [{}, {"unit": "patient", "max_rows": 2, "first_by": "day"}])
def test_a_search_for_persons_and_for_who_comes_or_goes_is_one_debit_within_the_budget(adjacency, whose):
    table = patients()
    table = table if whose else {name: table[name] for name in ("x", "c")}
    accountant = sdp.Accountant(4.0, 1e-6, adjacency=adjacency)
    model = PrivateGaussianNB(bounds={"x": (0, 100)}, classes=["a", "b"], adjacency=adjacency, **whose)
    search = PrivateGridSearch(model, {"priors": [None, [0.99, 0.01]]}, epsilon=4.0, accountant=accountant)
    search = search.set_params(accountant=accountant).fit(table, "c")
    assert 0.98 * 4.0 <= search.privacy_.epsilon(1e-6) <= 4.0
    assert (search.privacy_.unit, search.privacy_.adjacency) == (whose.get("unit"), adjacency)
    assert (accountant.debits, accountant.unit) == (1, whose.get("unit"))
    assert search.feature_names_in_.tolist() == ["x"]
    # Both parts together hold every person once, in one of them.
    assert search.best_params_ == {"priors": None}
    assert np.all((search.score_intervals_[:, 0] <= search.score_intervals_[:, 1]) & (search.scores_ < 1.3))
    fits = search.best_estimator_.privacy_
    assert fits.unit == whose.get("unit")
    if not (whose and adjacency == "replace"):
        assert sdp.compose([fits], [2]).epsilon(1e-6) <= 4.0
    else:
        # Who is replaced leaves one part and enters the other.
        assert sdp.compose([fits], [4]).epsilon(1e-6) <= 4.0 * 1.01


def test_no_person_is_in_both_parts_and_so_many_records_of_each_count():
    from simplexdp.models.persons import Persons
    from simplexdp.models.search_parts import SearchParts

    table = patients()
    model = PrivateGaussianNB(unit="patient", max_rows=2)
    parts = SearchParts.of(table, "c", 0.25, "replace", Persons.of(model), None)
    of_fits = set(parts.persons)
    others = SearchParts.of(table, "c", 0.25, "add_remove", Persons.of(model), None)
    assert set(others.persons) != of_fits
    counts = np.unique(parts.persons, return_counts=True)[1]
    assert counts.max() == 2
    everybody = np.unique(table["patient"], return_counts=True)[1]
    assert len(parts.persons) + parts.n_held == np.minimum(everybody, 2).sum()
    # A share of 3/4 of 1,500 people: eight deviations either way.
    assert abs(len(of_fits) / len(everybody) - 0.75) < 8 * np.sqrt(0.75 * 0.25 / 1400)
    assert set(parts.training[0]) == {"day", "x", "c"}


def test_persons_of_an_array_are_given_to_fit_also_through_a_pipeline():
    table = patients()
    X = np.array(table["x"])[:, None]
    pipeline = Pipeline(
        [
            ("same", FunctionTransformer()),
            ("model", PrivateGaussianNB(bounds=(0, 100), classes=["a", "b"], max_rows=2, adjacency="add_remove")),
        ]
    )
    search = PrivateGridSearch(pipeline, {"model__priors": [None, [0.99, 0.01]]}, epsilon=4.0)
    search.fit(X, table["c"], persons=table["patient"])
    assert (search.privacy_.unit, search.best_params_) == ("person", {"model__priors": None})
    assert search.predict(X[:2]).shape == (2,)


@pytest.mark.parametrize("kind", [list, np.array])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_persons_may_be_integers(kind, adjacency):
    table = patients()
    persons = kind([int(number) for number in np.unique(table["patient"], return_inverse=True)[1]])
    model = PrivateGaussianNB(bounds=(0, 100), classes=["a", "b"], max_rows=2, adjacency=adjacency)
    search = PrivateGridSearch(model, {"priors": [None, [0.99, 0.01]]}, epsilon=4.0)
    search.fit(np.array(table["x"])[:, None], table["c"], persons=persons)
    assert search.privacy_.unit == "person"


def test_frames_and_pipelines_are_searched():
    rng = np.random.default_rng(3)
    y = rng.choice(["no", "yes"], 2000)
    columns = {"a": rng.uniform(0, 1, 2000) + (y == "yes"), "b": rng.uniform(0, 1, 2000), "class": y}
    model = PrivateGaussianNB(bounds={"a": (0, 2), "b": (0, 1)}, classes=["no", "yes"])
    for frame in (columns, pd.DataFrame(columns), pl.DataFrame(columns), pl.DataFrame(columns).lazy()):
        search = PrivateGridSearch(
            model, {"priors": [None, [0.99, 0.01]]}, epsilon=3.0, random_state=sdp.testing.SeededRng(1)
        )
        search.fit(frame, "class")
        assert search.best_params_ == {"priors": None}
        assert search.score(frame, "class") > 0.7
    text = rng.choice(["x", "y"], (2000, 2)).astype(object)
    pipeline = Pipeline(
        [
            ("encode", OrdinalEncoder(categories=[["x", "y"]] * 2, dtype=int)),
            ("model", PrivateCategoricalNB(categories=[2, 2], classes=["no", "yes"])),
        ]
    )
    found = PrivateGridSearch(pipeline, {"model__fit_prior": [True, False]}, epsilon=1.0).fit(text, y)
    assert found.predict(text[:2]).shape == (2,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"param_grid": {"fit_prior": [True]}}, "2 to 1000 candidates"),
        ({"param_grid": {"epsilon": [1, 2]}}, "'epsilon', which the search sets"),
        ({"param_grid": "x"}, "param_grid"),
        ({"estimator": PrivateBinner()}, "private classifier"),
        (
            {"estimator": PrivateCategoricalNB(categories=[2], classes=[0, 1], unit=0, max_rows=2)},
            "give persons to fit",
        ),
        ({"param_grid": {"max_rows": [1, 2]}}, "'max_rows', which is the same for all candidates"),
        ({"param_grid": {"adjacency": ["replace", "add_remove"]}}, "'adjacency', which is the same"),
        ({"epsilon": -1}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"holdout": 1.0}, "holdout"),
    ],
)
def test_bad_arguments_are_refused_by_name(change, message):
    X, y = np.zeros((40, 1), dtype=int), np.arange(40) % 2
    given = {
        "estimator": PrivateCategoricalNB(categories=[2], classes=[0, 1]),
        "param_grid": {"fit_prior": [True, False]},
    }
    with pytest.raises(sdp.InvalidParameterError, match=message):
        PrivateGridSearch(**{**given, **change}).fit(X, y)


def behind(step):
    """Return a search over a classifier of numbers behind a step."""
    model = PrivateGaussianNB(bounds=(0, 100), classes=[0, 1])
    pipeline = Pipeline([("first", step), ("nb", model)])
    return PrivateGridSearch(pipeline, {"nb__priors": [None, [0.5, 0.5]]}, accountant=sdp.Accountant(1.0, 1e-6))


BOUNDS = {"n_bins": 4, "bounds": (0, 100)}


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (StandardScaler(), "StandardScaler learns from them; a function of one row"),
        (Pipeline([("a", "passthrough"), ("b", StandardScaler())]), "StandardScaler learns"),
        (FeatureUnion([("a", Normalizer()), ("b", StandardScaler())]), "StandardScaler learns"),
        (ColumnTransformer([("a", Normalizer(), [0])], remainder=StandardScaler()), "StandardScaler learns"),
        (ColumnTransformer([("a", Normalizer(), lambda X: [0])]), "chooses columns of ColumnTransformer; list them"),
        (ColumnTransformer([("a", Normalizer(), make_column_selector(dtype_include=int))]), "chooses columns"),
        (PrivateBinner("private_quantile", epsilon=0.1, **BOUNDS), "a release of their own; as binner="),
        (PrivateBinner("quantile", n_bins=4), "a release of their own; as binner="),
        (OrdinalEncoder(), "OrdinalEncoder reads its categories off the data"),
        (OneHotEncoder(categories=[[1, 2]], min_frequency=2), "choose by how often"),
        (SimpleImputer(), "fill in what is public"),
        (SimpleImputer(strategy="constant", fill_value=50.0), "keep_empty_features=True"),
    ],
)
def test_a_step_that_learns_from_the_records_is_refused_before_anything_is_paid(step, message):
    search = behind(step)
    with pytest.raises(sdp.InvalidParameterError, match=f"step 'first' of the pipeline must be .*{message}"):
        search.fit(*records(200))
    assert search.accountant.debits == 0


@pytest.mark.parametrize(
    "step",
    [
        Normalizer(),
        FunctionTransformer(np.abs),
        PrivateBinner(**BOUNDS),
        SimpleImputer(strategy="constant", fill_value=50.0, keep_empty_features=True),
        ColumnTransformer([("a", PrivateBinner("edges", edges=[[20, 60]]), [0]), ("b", "drop", [])]),
    ],
)
def test_steps_of_public_parameters_are_searched(step):
    assert behind(step).fit(*records(200)).privacy_.epsilon(1e-6) <= 1.0


def test_a_step_that_a_candidate_changes_is_looked_at_too():
    pipeline = Pipeline([("first", PrivateBinner(**BOUNDS)), ("nb", PrivateGaussianNB(bounds=(0, 9), classes=[0, 1]))])
    grid = {"first": [PrivateBinner(**BOUNDS), StandardScaler()]}
    with pytest.raises(sdp.InvalidParameterError, match="StandardScaler learns"):
        PrivateGridSearch(pipeline, grid).fit(*records(200))


def test_bad_records_are_refused_before_anything_is_paid():
    accountant = sdp.Accountant(2.0, 1e-6)
    X, y = records(100)
    for bad_X, bad_y in [(X, y[:-1]), (X, np.where(y == 0, 7, 8)), (X[:1], y[:1])]:
        with pytest.raises((sdp.InvalidDataError, ValueError)):
            searched(accountant=accountant).fit(bad_X, bad_y)
    assert accountant.debits == 0
