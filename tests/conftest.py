"""Options, markers and hypothesis profiles shared by all tests."""

import warnings

import pytest
from hypothesis import HealthCheck, settings

from simplexdp.testing import SeededRng, random_words

# The short profile repeats its examples, so that a run says something of the change at hand; the full one searches.
settings.register_profile(
    "short", max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("full", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run long statistical and soak tests in full")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("full" if config.getoption("--full") else "short")
    # The warning about seeded randomness comes once in a process; here it is expected.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        random_words(1, rng=SeededRng(0))


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether to run in full: tests choose their sample size by it."""
    return bool(request.config.getoption("--full"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    skip = pytest.mark.skip(reason="slow: runs with --full")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)
