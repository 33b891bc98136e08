"""Special functions against mpmath: the required errors hold, and so does every number of the table in the docs."""

import error_table
import pytest


@pytest.fixture(scope="module")
def worst():
    return error_table.worst_errors()


@pytest.mark.parametrize("group", error_table.REQUIRED, ids=lambda group: f"{group.function}-{group.arguments}")
def test_the_worst_error_is_within_what_is_required(worst, group):
    error = worst[group]
    print(f"{error.size:.3g} at {error.where}")
    assert error.size <= error_table.REQUIRED[group]


@pytest.mark.source_tree
def test_the_documented_errors_hold(worst):
    documented = error_table.documented()
    assert documented.keys() == error_table.REQUIRED.keys()
    exceeded = {group: error for group, error in worst.items() if not error.size <= documented[group]}
    assert exceeded == {}


def test_an_error_is_measured_against_all_digits():
    assert error_table.in_ulps(1.0, "1.00000000000000011102230246251565") == pytest.approx(0.5, rel=1e-9)
    assert error_table.in_ulps(float("nan"), "1") == float("inf")
    assert error_table.rounded_up(1.21) == "1.3"
    assert error_table.rounded_up(1.21e-13) == "1.3e-13"
