"""Post-processing of noisy counts, and the populations that its strength is chosen on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplexdp as sdp
from simplexdp.comparison import POSTPROCESSING, compare, shares_of
from simplexdp.comparison.candidates import Setting, candidates, with_rules
from simplexdp.comparison.population import SHAPES, as_population

noisy_rows = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=9)


@given(noisy_rows, st.floats(1e-3, 1e3), st.floats(1.0, 1e6))
def test_every_rule_gives_shares(row, strength, total):
    for rule in ("clip", "clip+smooth", "floor", "project", "project+smooth"):
        amount = strength if rule == "floor" or rule.endswith("smooth") else None
        shares = shares_of(row, rule, strength=amount, total=total)
        assert np.all(shares >= 0)
        assert shares.sum() == pytest.approx(1, abs=1e-9)
        if amount is not None:
            assert np.all(shares > 0)


@given(noisy_rows, st.floats(1.0, 1e6))
def test_projection_is_the_nearest_point(row, total):
    """No point of the simplex on the way to a corner or to the centre is nearer."""
    noisy = np.array(row)
    nearest = total * shares_of(noisy, "project", total=total)
    others = [*(total * np.eye(noisy.size)), np.full(noisy.size, total / noisy.size)]
    for other in others:
        # The angle at the nearest point is not acute.
        assert (noisy - nearest) @ (other - nearest) <= 1e-7 * max(1.0, np.abs(noisy).max(), total) ** 2


def test_a_row_without_counts_is_uniform():
    np.testing.assert_array_equal(shares_of([[-1, -2], [0, 3]], "clip"), [[0.5, 0.5], [0.0, 1.0]])


@pytest.mark.parametrize("shape", [*SHAPES, "mixed"])
def test_populations_have_the_right_sums(shape):
    counts = as_population(shape, 7).draw(50, 7, 40, np.random.default_rng(1))
    assert counts.shape == (40, 7)
    assert np.all(counts.sum(axis=1) == 50)


def test_a_sparse_population_uses_the_square_root_of_the_categories():
    counts = as_population("sparse", 16).draw(10_000, 16, 5, np.random.default_rng(1))
    assert np.all(counts[:, :4] > 0)
    assert np.all(counts[:, 4:] == 0)


@pytest.mark.parametrize("mechanism", ["dirichlet", "gaussian", "discrete_laplace"])
@pytest.mark.parametrize("metric", ["kl", "l1"])
def test_the_chosen_rule_is_as_good_as_every_other(mechanism, metric):
    """On fresh data sets, within what choosing on another sample costs: 2 %, and five standard errors."""
    arguments = {"n": 200, "dimension": 5, "epsilon": 1.0, "delta": 1e-6, "metric": metric, "mechanisms": [mechanism]}
    best = compare(**arguments).rows[0]
    for rule in ("raw", "raw+smooth", "clip+smooth", "floor", "project+smooth", "debias+project+smooth"):
        if rule.startswith(("raw", "debias")) == (mechanism == "dirichlet"):
            row = compare(**arguments, postprocessing=[rule]).rows[0]
            noise = np.hypot(row.standard_error, best.standard_error)
            assert best.error <= 1.02 * row.error + 5 * noise


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], "best"), "postprocessing must be one of"),
        (([1, 2], "floor"), "strength must be given"),
        (([1, np.nan],), "noisy must be finite"),
        ((3.0,), "noisy must have shape"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(sdp.InvalidParameterError, match=message):
        shares_of(*arguments)
    with pytest.raises(sdp.InvalidParameterError, match="strength must be left out"):
        shares_of([1, 2], "clip", strength=1)


@pytest.mark.parametrize("mechanism", ["sum_preserving_laplace", "discrete_gaussian"])
@pytest.mark.parametrize("epsilon", [1.0, pytest.param(0.1, marks=pytest.mark.slow)])
def test_the_posterior_has_a_quarter_less_divergence_than_every_tuned_rule(mechanism, epsilon, monkeypatch):
    """On 200 fresh data sets; the best other rule knows the population that it is tuned on, the posterior does not."""
    # Room for all data sets.
    monkeypatch.setattr("simplexdp.comparison.postprocessing.SECONDS", 60.0)
    arguments = (1000, 10, epsilon, 1e-6, "kl", [mechanism])
    tuned = compare(*arguments, samples=200, seed=1, postprocessing=POSTPROCESSING[:-1]).rows[0]
    inferred = compare(*arguments, samples=200, seed=1, postprocessing=["posterior"]).rows[0]
    assert inferred.error < 0.75 * tuned.error


def test_every_mechanism_but_the_hellinger_mechanism_is_best_with_its_posterior(monkeypatch):
    monkeypatch.setattr("simplexdp.comparison.postprocessing.SECONDS", 0.3)
    table = compare(500, 5, 1.0, 1e-6, samples=200)
    assert {row.mechanism for row in table.rows if row.postprocessing == "posterior"} >= {
        "sum_preserving_laplace", "discrete_laplace", "discrete_gaussian", "dirichlet",
    }  # fmt: skip
    assert table.row("hellinger").postprocessing != "posterior"


def test_a_posterior_that_takes_too_long_is_left_out():
    (candidate,) = candidates("discrete_laplace", Setting(10**9, 1000, 1e-3, 0, "kl", "replace"))
    names = [rule.name for rule in with_rules(candidate, POSTPROCESSING).rules]
    assert "posterior" not in names
    assert "floor" in names
    (asked_for,) = with_rules(candidate, ("posterior",), slow=True).rules
    assert asked_for.name == "posterior"
