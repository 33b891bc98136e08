"""The bounds of a synthesizer hold as often as they say: for records, for persons, with merged values and missing ones.

Settings are those that change which numbers the bounds are made of: whether the number of records is released or
public, how many records of a person count, levels that no value is named for, pairs that were not measured.
"""

import numpy as np
import pandas as pd
import pytest

from simplexdp.frames import Domain
from simplexdp.models import PrivateSynthesizer
from simplexdp.testing import SeededRng

N = 1200
DOMAINS = {"a": 4, "b": 4, "c": Domain(["u", "v", None], other=True)}
"""Two values of `c` have no level of their own, and some are missing."""

GROUPS = (("a",), ("c",), ("a", "b"), ("c", "a"), ("b", "c"))
SETTINGS = {
    "records": {},
    "changed records": {"adjacency": "replace"},
    "few for the budget": {"epsilon": 0.05},
    "persons with two records": {"unit": "who", "max_rows": 2, "first_by": "when"},
    "changed persons": {"unit": "who", "max_rows": 2, "first_by": "when", "adjacency": "replace"},
    "one pair measured": {"workload": [("a", "b")]},
}


def people():
    rng = np.random.default_rng(20)
    first = rng.integers(0, 4, N)
    return pd.DataFrame(
        {
            "a": first,
            "b": np.where(rng.random(N) < 0.6, first, rng.integers(0, 4, N)),
            "c": rng.choice(np.array(["u", "v", "rare", "odd", None], dtype=object), N, p=[0.5, 0.25, 0.1, 0.05, 0.1]),
            "who": rng.integers(0, 500, N),
            "when": np.arange(N),
        }
    )


def true_shares(frame, group):
    """Return the table by pandas alone."""
    codes = frame.assign(c=frame["c"].map({"u": 0, "v": 1}).where(frame["c"].notna(), 2).fillna(3).astype(int))
    table = np.zeros([4] * len(group))
    for row in codes[list(group)].itertuples(index=False):
        table[tuple(row)] += 1
    return table / len(frame)


@pytest.mark.filterwarnings("ignore:the budget is too small")
@pytest.mark.parametrize("setting", SETTINGS)
def test_bounds_hold_as_often_as_they_say(setting, full):
    frame, options = people(), SETTINGS[setting]
    # Of persons the bounds speak of the records that count.
    counted = frame.sort_values("when").groupby("who").head(2) if "unit" in options else frame
    true = [true_shares(counted, group) for group in GROUPS]
    runs = 300 if full else 20
    missed = {level: np.zeros(len(GROUPS)) for level in (0.5, 0.95)}
    for seed in range(runs):
        model = PrivateSynthesizer(
            **{"epsilon": 1.0, **options}, domains=DOMAINS, components=1, random_state=SeededRng(5000 + seed)
        ).fit(frame)
        for level, misses in missed.items():
            for at, (group, shares) in enumerate(zip(GROUPS, true, strict=True)):
                bounds = model.error_bounds(list(group), level=level)
                inside = np.all(bounds.lower <= shares) and np.all(shares <= bounds.upper)
                misses[at] += not (inside and 0.5 * np.abs(bounds.model - shares).sum() <= bounds.total_variation)
    print(setting, {level: (1 - misses / runs).tolist() for level, misses in missed.items()})
    # Bounds that just hold miss as often as this with a chance below 4e-4 for each table. Seeds are fixed.
    assert missed[0.5].max() < (183 if full else 19)
    assert missed[0.95].max() < (30 if full else 6)
