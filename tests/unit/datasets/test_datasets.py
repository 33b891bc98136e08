"""The bundled data are what UCI publishes."""

from simplexdp.datasets import EMPLOYMENT_DURATION, german_credit


def test_german_credit_has_the_published_size_and_class_balance():
    columns = german_credit()
    assert {len(column) for column in columns.values()} == {1000}
    assert len(columns) == 21
    assert int((columns["class"] == 0).sum()) == 300
    assert set(columns["employment_duration"]) == set(EMPLOYMENT_DURATION)
