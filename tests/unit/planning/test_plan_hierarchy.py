"""Plans of hierarchies say what releases are off by on every level."""

import json

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import InvalidParameterError
from simplexdp.hierarchy import Hierarchy

PLACES = Hierarchy.from_mapping(["region", "district"], {f"r{i}": [f"r{i}d{j}" for j in range(8)] for i in range(4)})


def public(n, seed):
    """Return districts of people whose shares everybody knows."""
    rng = np.random.default_rng(seed)
    districts = np.array([path[-1] for path in PLACES.paths])
    share = np.random.default_rng(7).dirichlet(np.full(32, 0.7))
    return {"district": rng.choice(districts, n, p=share)}


def test_a_plan_has_every_level_and_its_words_say_so():
    plan = sdp.plan("hierarchy", n=1500, domains=[4, 24], epsilons=[0.3, 3.0], delta=0)
    first, last = plan.steps
    assert plan.metric == "finest"
    assert first.value > last.value
    assert first.guess < last.guess
    for step in plan.steps:
        assert [level.name for level in step.by_level] == ["level 1", "level 2"]
        assert sum(level.share for level in step.by_level) == pytest.approx(1.0)
        assert step.value == step.by_level[-1].value
        for level in step.by_level:
            assert level.reach[0] <= level.value <= level.reach[1]
            assert level.within > 0
    assert "By level: level 1" in plan.words
    assert "level 2" in str(plan)
    # The curve is that of the levels together, at most pure epsilon: e^eps / (1 + e^eps).
    assert first.guess <= np.exp(0.3) / (1 + np.exp(0.3)) * (1 + 1e-9)
    assert json.loads(json.dumps(plan.to_dict(), allow_nan=False))["steps"][0]["by_level"][0]["name"] == "level 1"


def test_the_coarsest_level_is_planned_for_where_it_is_asked_for():
    plan = sdp.plan("hierarchy", n=1500, domains=[4, 24], epsilons=[1.0], delta=0, metric="coarsest")
    assert plan.steps[0].value == plan.steps[0].by_level[0].value


@pytest.mark.parametrize("epsilon", [0.2, 2.0])
def test_releases_of_another_sample_are_off_by_what_the_plan_says(epsilon):
    """The code of the plan on 60 tables of the population that the stand-in is a sample of; seeded."""
    plan = sdp.plan("hierarchy", n=3000, like=public(3000, 1), domains=PLACES, epsilons=[epsilon], delta=0)
    step, rng, off = plan.steps[0], sdp.testing.SeededRng(5), []
    for seed in range(60):
        frame = public(3000, 100 + seed)
        code = step.code.replace(f"epsilon={epsilon!r}", f"epsilon={epsilon!r}, rng=rng")
        scope = {"frame": frame, "hierarchy": PLACES, "rng": rng}
        exec(code, scope)
        truth = np.array([np.sum(frame["district"] == path[-1]) for path in PLACES.paths])
        levels = {"region": truth.reshape(4, 8).sum(axis=1), "district": truth}
        off.append([np.abs(scope["counts"][name].mean - true).mean() for name, true in levels.items()])
    measured = np.mean(off, axis=0)
    for level, error in zip(step.by_level, measured, strict=True):
        # As the docs promise of a stand-in; four regions alone tell a mean error to some 5 % on either side.
        unsure = 2 * np.hypot(level.standard_error, np.std([each[0] for each in off]) / 60**0.5)
        allowed = 0.1 * level.value + (unsure if level.name == "region" else 0.0)
        assert abs(error - level.value) <= allowed, (level, error)
        assert level.reach[0] <= error <= level.reach[1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"domains": [4]}, "domains must be at least two"),
        ({"domains": [9, 4]}, "do not fall"),
        ({"domains": "ab"}, "domains must be"),
        ({}, "domains must be given"),
        ({"domains": [2, 4], "metric": "counts"}, "metric must be one of"),
        ({"domains": [2, 4], "bounds": (0, 1)}, "bounds must be left out"),
    ],
)
def test_bad_plans_are_refused_by_name(given, message):
    with pytest.raises(InvalidParameterError, match=message):
        sdp.plan("hierarchy", n=100, epsilons=[1.0], **given)
