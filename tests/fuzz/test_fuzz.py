"""A short run of the fuzzer, the same inputs every time; `make fuzz` is the long one."""

import random

import pytest
from mutate import mutated
from targets import outcome, seeds

NAMES = (
    "guarantee text",
    "profile text",
    "state of a rule",
    "ledger file",
    "stored release",
    "certificate",
    "naive Bayes JSON",
    "network JSON",
    "synthesizer JSON",
    "CSV",
    "domain",
    "numbers",
)


@pytest.fixture(scope="module")
def targets():
    return seeds()


def test_every_target_is_run(targets):
    assert tuple(targets) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_reader_takes_or_refuses(name, targets, full):
    target, known = targets[name]
    for data in known:
        assert outcome(target, data), "a seed must be accepted"
    choices = random.Random(name)
    for _ in range(5000 if full else 60):
        outcome(target, mutated(choices, known))


def test_a_finding_is_one():
    with pytest.raises(ZeroDivisionError):
        outcome(lambda data: 1 // len(data[:0]), b"x")
