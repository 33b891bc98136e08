"""A short run of the fuzzer, the same inputs in the same order; `make fuzz` is the long one."""

import random
import time

import pytest
from command_targets import command_seeds
from mutate import mutated
from targets import outcome, seeds

NAMES = (
    "guarantee text",
    "profile text",
    "state of a rule",
    "ledger file",
    "rule text",
    "stored release",
    "certificate",
    "naive Bayes JSON",
    "network JSON",
    "synthesizer JSON",
    "Gaussian naive Bayes JSON",
    "rules of cleaning",
    "CSV",
    "domain",
    "numbers",
    "JSON lines",
    "TSV",
    "Parquet",
    "numbers of a column",
    "quantiles of a column",
    "list of values",
    "map of values",
    "domains of a synthesizer",
    "domains of a plan",
    "hierarchy JSON",
    "hierarchy CSV",
    "models in commands",
    "record beside a page",
    "options",
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
    begun = time.process_time()
    for _ in range(5000 if full else 60):
        outcome(target, mutated(choices, known))
        if not full and time.process_time() - begun > 0.4:
            break


def test_a_finding_is_one():
    with pytest.raises(ZeroDivisionError):
        outcome(lambda data: 1 // len(data[:0]), b"x")


def test_a_fault_inside_a_command_is_a_finding(monkeypatch):
    """A command turns every error into an exit code and a message: the target must tell a fault from a refusal."""
    from simplexdp.cli import reading

    monkeypatch.setattr(reading.Source, "batches", lambda *_: 1 // 0, raising=True)
    target, known = command_seeds([])["TSV"]
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        outcome(target, known[0])
