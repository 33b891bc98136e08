"""Random compositions of everything: no answer is below the truth. docs/judge.md has the long run."""

import multiprocessing
from collections.abc import Iterable

import pytest
from generator import ask


def faults(seeds: Iterable[int]) -> list[str]:
    """Return what is wrong with the answers, asked in two processes."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return [outcome.text for outcome in pool.imap_unordered(ask, seeds, chunksize=25) if outcome.verdict.fault]


def test_no_answer_is_below_the_truth():
    found = faults(range(2000))
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_no_answer_is_below_the_truth_in_ten_thousand_more():
    found = faults(range(10**6, 10**6 + 10_000))
    assert not found, "\n".join(found)
