"""Comparisons that are quick enough to be tested."""

import pytest


@pytest.fixture(autouse=True)
def few_posteriors(monkeypatch):
    """Measure posteriors on few data sets, and not where they take long; tests of their error say otherwise."""
    monkeypatch.setattr("simplexdp.comparison.postprocessing.SECONDS", 0.02)
