"""Plans say what releases are off by, and nothing of private data."""

import json
import math
import warnings

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import InvalidParameterError, WeakGuaranteeWarning
from simplexdp.planning import models, planner, stand_in
from simplexdp.planning.stand_in import AddedUp, Alike, range_of_samples


@pytest.fixture(scope="module")
def histogram():
    return sdp.plan("histogram", n=1000, domains=10, epsilons=[0.2, 1.0, 5.0])


EVEN = {"a": np.repeat(np.arange(200), 50)}


def test_error_of_zero_sum_noise_is_that_of_its_law():
    # Far from zero nothing is cut off: the mean of abs(z) over the two-sided geometric law with q = exp(-1/scale) is
    # 2 q / (1 - q^2); conditioning on sum zero over many categories hardly changes it.
    plan = sdp.plan("histogram", n=10**7, domains={"a": 200}, delta=1e-9, epsilons=[1.0], like=EVEN)
    scale = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=200).scale
    q = math.exp(-1 / float(scale))
    assert plan.steps[0].mechanism == "sum_preserving_laplace"
    assert plan.steps[0].value == pytest.approx(2 * q / (1 - q**2), rel=0.03)


def test_errors_fall_and_attackers_gain_with_epsilon(histogram):
    values = [step.value for step in histogram.steps]
    guesses = [step.guess for step in histogram.steps]
    assert values == sorted(values, reverse=True)
    assert guesses == sorted(guesses)
    # The curve of the mechanism is that of pure differential privacy: e^eps / (1 + e^eps).
    assert guesses[1] == pytest.approx(math.e / (1 + math.e), rel=1e-3)


def test_intervals_hold_their_level(histogram):
    step = histogram.at(1.0)
    mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rng = sdp.testing.SeededRng(3)
        noisy = np.array([mechanism.release(np.full(10, 100), rng=rng) for _ in range(2000)])
    # 20000 noise values: with coverage 0.95 fewer than 0.94 occur with a probability below 1e-9.
    assert np.mean(np.abs(noisy - 100) <= step.within) > 0.94


def test_the_code_of_a_step_runs_and_is_as_good_as_the_plan_says(histogram):
    counts = np.array([112, 58, 25, 5, 200, 300, 50, 50, 100, 100])
    off, rng = [], sdp.testing.SeededRng(1)
    code = histogram.at(1.0).code
    seeded = code.replace("release(counts)", "release(counts, rng=rng)")
    assert seeded != code
    exec(code, {"counts": counts})
    for _ in range(400):
        scope = {"counts": counts, "rng": rng}
        exec(seeded, scope)
        off.append(np.abs(counts.sum() * scope["shares"] - counts).mean())
    assert np.mean(off) == pytest.approx(histogram.at(1.0).value, rel=0.1)


def test_records_needed_make_privacy_as_small_as_chance(histogram):
    needed = histogram.at(0.2).records_needed
    again = sdp.plan("histogram", n=needed, domains=10, epsilons=[0.2])
    assert again.steps[0].value == pytest.approx(again.yardstick, rel=0.2)


@pytest.mark.parametrize(
    ("task", "given", "metric"),
    [
        ("groups", {"domains": [6, 4], "metric": "shares"}, "shares"),
        ("groups", {"domains": {"region": ["n", "s"], "job": 4}}, "counts"),
        ("posterior", {"domains": 3}, "hellinger"),
        ("classifier", {"domains": [3, 4, 2]}, "accuracy"),
        ("network", {"domains": {"a": 3, "b": 2}, "edges": [("b", "a")]}, "pairs"),
        ("synthesis", {"domains": [3, 4]}, "pairs"),
        ("mean", {"bounds": (18, 90)}, "span"),
    ],
)
def test_every_task_has_a_plan(task, given, metric):
    plan = sdp.plan(task, n=400, epsilons=[0.3, 3.0], **given)
    assert plan.metric == metric
    first, last = plan.steps
    assert (first.value < last.value) == (metric == "accuracy")
    assert 0.5 < first.guess < last.guess <= 1
    assert "epsilon = " in plan.words
    assert "nan" not in str(plan)
    for step in plan.steps:
        assert (step.reach is None) == (task == "classifier")
        if step.reach is not None:
            assert step.reach[0] <= step.value <= step.reach[1]
            assert plan.reach_words in plan.words
    json.dumps(plan.to_dict(), allow_nan=False)
    assert "<script" not in plan._repr_html_()


def test_a_stand_in_table_is_what_is_measured_on():
    rng = np.random.default_rng(1)
    cause = rng.integers(0, 2, 4000)
    like = {"sign": np.where(rng.random(4000) < 0.9, cause, 1 - cause), "cause": cause}
    plan = sdp.plan("classifier", n=2000, like=like, classes="cause", epsilons=[3.0])
    assert plan.yardstick == pytest.approx(0.9, abs=0.02)
    assert plan.steps[0].value == pytest.approx(0.9, abs=0.02)
    assert "4,000 records" in str(plan)


def test_a_target_is_taken_instead_of_chance():
    plan = sdp.plan("histogram", n=1000, domains=10, metric="shares", target=0.001, epsilons=[0.1, 1.0, 5.0])
    assert plan.enough.epsilon == 5.0
    assert plan.steps[0].records_needed > plan.steps[1].records_needed > 0


def test_a_delta_of_one_in_n_is_warned_of():
    with pytest.warns(WeakGuaranteeWarning, match="take a delta of 1e-04 or less"):
        sdp.plan("histogram", n=1000, domains=3, delta=1e-3, epsilons=[1.0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"task": "spectrum"}, "task must be one of"),
        ({"domains": None}, "domains must be given"),
        ({"domains": 1}, "domains must have at least two levels"),
        ({"domains": [3, 3]}, "domains must have 1 column for"),
        ({"metric": "accuracy"}, "metric must be one of"),
        ({"epsilons": []}, "epsilons must hold"),
        ({"epsilons": [-1]}, "epsilons must be"),
        ({"edges": [("a", "b")]}, "edges must be left out"),
        ({"task": "network", "domains": [2, 2]}, "edges must be given"),
        ({"task": "network", "domains": {"a": 2, "b": 2}, "edges": [("a", "b"), ("b", "a")]}, "circle"),
        ({"task": "classifier", "domains": [2, 2], "delta": 0}, "delta must be"),
        ({"task": "posterior", "adjacency": "add_remove"}, "public total"),
        ({"like": {"a": np.arange(5000)}, "domains": None}, "like must hold categories"),
        ({"progress": 3}, "progress must be callable"),
        ({"shape": "round"}, "shape must be one of"),
        ({"shape": "zipf", "like": {"a": [0, 1, 2]}}, "shape must be left out"),
        ({"task": "mean", "domains": None, "shape": "zipf"}, "shape must be left out"),
        ({"bounds": (0, 1)}, "bounds must be left out"),
        ({"task": "mean"}, "domains must be left out"),
        ({"task": "mean", "domains": None, "like": [1.0, 2.0]}, "bounds must be given"),
        ({"task": "mean", "domains": None, "like": ["a"], "bounds": (0, 1)}, "like must be a sequence"),
        ({"task": "mean", "domains": None, "like": [math.nan], "bounds": (0, 1)}, "like must be a sequence"),
        ({"task": "quantile", "domains": None, "bounds": (1, 0)}, "bounds"),
    ],
)
def test_arguments_are_refused_by_name(given, message):
    with pytest.raises(InvalidParameterError, match=message):
        sdp.plan(**{"task": "histogram", "n": 100, "domains": 3, **given})


def test_the_plot_shows_error_and_attacker(histogram):
    pytest.importorskip("matplotlib")
    ax = sdp.plots.plan(histogram)
    right = ax.figure.axes[1]
    assert "attacker" in right.get_ylabel()
    assert right.get_lines()[0].get_ydata()[1] == pytest.approx(73.1, abs=0.1)


def test_the_error_of_a_mean_is_that_of_its_noise():
    # One record of n moves the sum by the distance between the bounds: Laplace noise of that scale over epsilon, whose
    # mean size is its scale. 1000 draws: 3.2 % is one standard error, the seed is fixed.
    step = sdp.plan("mean", n=500, bounds=(0, 40), epsilons=[2.0]).steps[0]
    assert step.mechanism == "discrete_laplace"
    assert step.value == pytest.approx(1 / (2.0 * 500), rel=0.1)
    # 95 % of the noise lies within log(20) of its scale.
    assert step.within == pytest.approx(math.log(20) / (2.0 * 500), rel=0.01)


def test_the_code_of_a_numeric_plan_does_what_the_plan_says():
    generator = np.random.default_rng(4)
    like, private = generator.gamma(3.0, 10.0, (2, 2000))
    step = sdp.plan("quantile", n=2000, like=like, bounds=(0, 200), epsilons=[1.0]).steps[0]
    seeded = step.code.replace("quantiles(values", "quantiles(values, rng=rng")
    assert seeded != step.code
    exec(step.code, {"values": private})
    off = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rng = sdp.testing.SeededRng(1)
        for _ in range(60):
            scope = {"values": private, "rng": rng}
            exec(seeded, scope)
            off.append(np.abs(scope["released"].estimate - np.quantile(private, [0.25, 0.5, 0.75])).mean() / 200)
    # Of 60 releases one standard error is about 6 %.
    assert np.mean(off) == pytest.approx(step.value, rel=0.2)
    assert step.reach[0] <= step.value <= step.reach[1]


def test_the_range_of_a_stand_in_holds_what_other_samples_of_its_population_are_off_by():
    # Ages in whole years: which year a quartile falls on differs between samples, and so does the error. The range is
    # for 95 % of samples: of 20, fewer than 15 lie in it with a probability of 3e-4; seeds are fixed.
    generator = np.random.default_rng(6)
    warnings.simplefilter("ignore")
    rng = sdp.testing.SeededRng(2)
    inside = 0
    for _ in range(20):
        like, private = np.clip(np.rint(generator.gamma(9.0, 4.3, (2, 3000))), 0, 100)
        step = sdp.plan("quantile", n=3000, like=like, bounds=(0, 100), epsilons=[3.0]).steps[0]
        true = np.quantile(private, [0.25, 0.5, 0.75])
        off = [
            np.abs(sdp.numeric.quantiles(private, bounds=(0, 100), epsilon=3.0, delta=1e-6, rng=rng).estimate - true)
            for _ in range(20)
        ]
        inside += step.reach[0] <= np.mean(off) / 100 <= step.reach[1]
    assert inside >= 15


def test_ranges_of_samples_are_those_of_means_without_the_noise_of_releases():
    # Two releases of each of 4000 samples: means of variance 1, releases of variance 25 around them.
    generator = np.random.default_rng(5)
    errors = generator.normal(10.0, 1.0, (4000, 1)) + generator.normal(0.0, 5.0, (4000, 2))
    low, high = range_of_samples(errors, 1000, 1000)
    # Two standard deviations of the difference of two samples, and not much more: that of releases is six times that.
    assert 4 * math.sqrt(2) <= high - low <= 1.4 * 4 * math.sqrt(2)
    low, high = range_of_samples(errors, 1000, 10**9)
    assert 4 <= high - low <= 1.4 * 4
    assert (low + high) / 2 == pytest.approx(10.0, abs=0.3)


def test_groups_and_posteriors_with_a_stand_in_have_a_range():
    like = {"a": np.arange(600) % 4, "b": np.arange(600) % 3}
    for task, domains, metric in (("groups", {"a": 4, "b": 3}, "shares"), ("posterior", {"b": 3}, None)):
        step = sdp.plan(task, n=600, domains=domains, like=like, metric=metric, epsilons=[1.0]).steps[0]
        assert step.reach[0] <= step.value <= step.reach[1]
        assert sdp.plan(task, n=600, domains=domains, like=like, epsilons=[1.0]).words.count("Another sample") == 1


def test_a_stated_shape_is_what_the_figure_is_for():
    plain = sdp.plan("groups", n=4000, domains=[12, 6], metric="shares", epsilons=[1.0]).steps[0]
    for shape in ("uniform", "zipf"):
        step = sdp.plan("groups", n=4000, domains=[12, 6], metric="shares", epsilons=[1.0], shape=shape).steps[0]
        assert step.reach is None
        assert plain.reach[0] <= step.value <= plain.reach[1]
        assert abs(step.value / plain.value - 1) > 0.05


@pytest.mark.parametrize(("n", "epsilon"), [(1, 0.001), (20, 0.02)])
def test_what_a_mean_keeps_with_95_percent_is_no_half_of_an_interval_that_ends_at_the_bounds(n, epsilon):
    """400 releases, seeded; of errors 95 % are below the promise, 89 % or less with a chance below 1e-6."""
    promised = sdp.plan("mean", n=n, epsilons=[epsilon]).steps[0].within
    generator, rng = np.random.default_rng(8), sdp.testing.SeededRng(8)
    errors = []
    for _ in range(400):
        values = np.clip(generator.normal(0.5, 0.15, n), 0.0, 1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = sdp.numeric.mean(values, bounds=(0.0, 1.0), epsilon=epsilon, delta=1e-6, rng=rng)
        errors.append(abs(found.estimate - values.mean()))
    assert np.mean(np.array(errors) <= promised) > 0.89


@pytest.mark.parametrize("task", ["mean", "quantile"])
def test_without_a_delta_a_plan_of_numbers_takes_pure_noise(task):
    plan = sdp.plan(task, n=300, delta=0, epsilons=[1.0], bounds=(0, 10))
    scope = {"values": [1.0, 2.0, 9.0] * 100}
    exec(plan.steps[0].code, scope)
    assert scope["released"].privacy.epsilon(0.0) <= 1.0
    assert plan.steps[0].guess == pytest.approx(math.e / (1 + math.e), abs=0.01)


def test_records_needed_fall_with_epsilon_and_reach_the_target():
    plan = sdp.plan(
        "network", n=400, domains={"a": 3, "b": 4}, edges=[("a", "b")], epsilons=[0.3, 1.0, 5.0], target=0.03
    )
    needed = [step.records_needed for step in plan.steps]
    assert needed == sorted(needed, reverse=True)
    # Three fits each: errors vary by a quarter or so.
    again = sdp.plan("network", n=needed[0], domains={"a": 3, "b": 4}, edges=[("a", "b")], epsilons=[0.3])
    assert again.steps[0].value == pytest.approx(0.03, rel=0.5)


def test_a_plan_of_models_is_the_same_with_any_number_of_threads(monkeypatch):
    given = {"n": 300, "domains": [3, 4], "epsilons": [1.0]}
    plans = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SIMPLEXDP_NUM_THREADS", threads)
        plans.append(sdp.plan("synthesis", **given))
    assert plans[0].steps[0].value == plans[1].steps[0].value
    assert plans[0].steps[0].records_needed == plans[1].steps[0].records_needed


@pytest.mark.parametrize(
    ("task", "given"),
    [
        ("classifier", {"domains": [4, 3, 5, 2, 3, 2]}),
        ("network", {"domains": {"a": 4, "b": 3, "c": 5, "d": 2}, "edges": [("a", "b"), ("b", "c"), ("a", "d")]}),
        ("synthesis", {"domains": [4, 3, 5, 2]}),
    ],
)
def test_a_plan_of_a_model_fits_no_more_often_than_its_figure_needs(task, given, monkeypatch):
    # Seven epsilons: at most a dozen fits each for the figure, six for its range, and few for the records needed.
    fitted = []
    kind = {"classifier": models.Classifier, "network": models.Network, "synthesis": models.Synthesis}[task]
    fit = kind._one

    def counted(self, source, budget, n, *rest):
        fitted.append((budget.epsilon, n))
        return fit(self, source, budget, n, *rest)

    monkeypatch.setattr(kind, "_one", counted)
    plan = sdp.plan(task, n=1000, **given)
    assert len(fitted) <= 120
    for step in plan.steps:
        off = (1 - step.value if task == "classifier" else step.value) if step.value < 1 else 1
        assert step.standard_error <= 0.1 * off or fitted.count((step.epsilon, 1000)) >= 12
        assert step.standard_error > 0


def test_a_plan_with_a_stand_in_knows_its_figure_to_a_fiftieth():
    generator = np.random.default_rng(3)
    like = {name: generator.integers(0, 4, 3000) for name in "abcd"}
    step = sdp.plan("synthesis", n=3000, like=like, domains=dict.fromkeys("abcd", 4), epsilons=[1.0]).steps[0]
    values = [step.value]
    for seed in (1, 2):
        other = sdp.plan(
            "synthesis", n=3000, like=like, domains=dict.fromkeys("abcd", 4), epsilons=[1.0], seed=seed
        ).steps[0]
        values.append(other.value)
    # A dozen fits at most each; seeds are fixed.
    assert max(values) <= 1.3 * min(values)
    assert step.standard_error <= 0.1 * step.value


def test_chance_is_that_of_samples_that_have_nothing_in_common():
    # Two tables of n records drawn without repetition from a stand-in of n records would be the same. Of two samples
    # of even shares over K cells the mean distance is K/2 sqrt(2 p (1 - p) / n) sqrt(2 / pi) with p = 1/K.
    n, levels = 2000, 3
    rng = np.random.default_rng(3)
    like = {name: rng.integers(levels, size=n) for name in "abcdef"}
    cells = levels**2
    chance = cells / 2 * math.sqrt(2 * (cells - 1) / cells**2 / n) * math.sqrt(2 / math.pi)
    plan = sdp.plan("synthesis", n=n, like=like, domains=dict.fromkeys("abcdef", levels), epsilons=[5.0])
    # Fifteen pairs of columns, whose distances vary by a sixth each: seeded.
    assert plan.yardstick == pytest.approx(chance, rel=0.2)
    edges = [("a", "b"), ("c", "d"), ("e", "f")]
    plan = sdp.plan("network", n=n, like=like, domains=dict.fromkeys("abcdef", levels), edges=edges, epsilons=[5.0])
    assert plan.yardstick == pytest.approx(math.sqrt(2) * chance, rel=0.4)


def test_a_number_stays_beside_its_unit_where_words_are_wrapped():
    told = str(sdp.plan("mean", n=500, delta=0, epsilons=[0.5, 1.0]))
    assert "%" in told
    assert not [line for line in told.splitlines() if line.startswith(("%", "=")) or line.endswith("=")]


@pytest.mark.parametrize("stand_in", [True, False])
def test_a_plan_of_a_posterior_is_not_the_luck_of_one_seed(stand_in):
    # Few categories and much budget: errors of releases vary by as much as they are. A plan knows their mean to three
    # hundredths or so, where one release of each of 160 data sets left seven to nineteen.
    like = {"a": np.repeat(np.arange(4), [400, 300, 200, 100])} if stand_in else None
    given = {"n": 1000, "domains": {"a": 4}, "like": like, "epsilons": [2.0]}
    steps = [sdp.plan("posterior", seed=seed, **given).steps[0] for seed in range(3)]
    assert max(step.standard_error / step.value for step in steps) < 0.06
    values = [step.value for step in steps]
    assert max(values) < 1.35 * min(values)


def test_effects_of_parents_add_up_on_logits_and_rows_that_are_alike_do_not():
    def interaction(rows):
        table = rows.draw(np.random.default_rng(5), [3, 4], 6).reshape(3, 4, 6)
        logs = np.log(table / table.sum(axis=-1, keepdims=True))
        logits = logs - logs[..., :1]
        return np.abs(logits - logits[:1] - logits[:, :1] + logits[:1, :1]).max(), logits.std(axis=(0, 1)).mean()

    added, spread = interaction(AddedUp(0.7, 10.0))
    # Two effects on each of two logits, of one standard deviation each: 1.4 on average, within what 12 rows leave.
    assert added < 1e-8
    assert 0.7 < spread < 2.8
    assert interaction(Alike())[0] > 0.5


def test_the_range_of_networks_is_of_effects_that_add_up_too(monkeypatch):
    given = {"n": 5000, "domains": {"a": 8, "b": 6, "c": 9}, "edges": [("a", "c"), ("b", "c")], "epsilons": [3.0]}
    # The records needed take most of the time, and are no matter here.
    monkeypatch.setattr(planner, "_needed", lambda *_: None)
    wide = sdp.plan("network", **given).steps[0].reach
    monkeypatch.setattr(planner, "ADDED", ())
    narrow = sdp.plan("network", **given).steps[0].reach
    # The other laws make what they made before; smoothing gains least where effects are weak and rows even.
    assert wide[0] <= narrow[0]
    assert wide[1] > 1.02 * narrow[1]


@pytest.mark.parametrize(
    ("task", "domains"),
    [
        ("classifier", [10**15, 2]),
        ("classifier", [10**7, 10**7]),
        ("synthesis", [10**8, 10**8]),
        ("histogram", 10**14),
        ("posterior", 10**14),
        ("groups", [10**7, 10**7]),
    ],
)
def test_domains_that_no_memory_holds_are_refused_by_name(task, domains):
    with pytest.raises(InvalidParameterError, match="domains must fit into memory, got "):
        sdp.plan(task, n=1000, delta=1e-6, domains=domains)


@pytest.mark.parametrize("n", [1, 500])
def test_records_are_drawn_alike_in_one_piece_and_row_by_row(monkeypatch, n):
    """A column of 10^6 levels took 74 GiB."""
    law = stand_in.MadeUp({"a": 5, "b": 3, "c": 40}, {"a": [], "b": ["a"], "c": ["a", "b"]}, 1)
    pieces = law.draw(n, np.random.default_rng(2))
    monkeypatch.setattr(stand_in, "AT_ONCE", -1)
    rows = law.draw(n, np.random.default_rng(2))
    for name, column in pieces.items():
        np.testing.assert_array_equal(column, rows[name])
        assert column.dtype == rows[name].dtype == np.int64
