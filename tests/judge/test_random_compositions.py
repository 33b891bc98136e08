"""Random compositions of everything: no answer is below the truth. docs/judge.md has the long run."""

import pytest
from generator import ask

BATCHES, SIZE = 8, 250


@pytest.mark.parametrize("batch", range(BATCHES))
def test_no_answer_is_below_the_truth(batch):
    faults = [outcome.text for outcome in map(ask, range(batch * SIZE, (batch + 1) * SIZE)) if outcome.verdict.fault]
    assert not faults, "\n".join(faults)


@pytest.mark.slow
def test_no_answer_is_below_the_truth_in_ten_thousand_more():
    faults = [outcome.text for outcome in map(ask, range(10**6, 10**6 + 10_000)) if outcome.verdict.fault]
    assert not faults, "\n".join(faults)
