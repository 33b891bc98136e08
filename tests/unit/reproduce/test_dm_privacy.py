"""[DM] Table 1, Figures 2 and 7: closed forms and SciPy at points of their tables."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import betainc, gammaln

from simplexdp.reproduce.catalogue import figure
from simplexdp.reproduce.dm import table_1
from simplexdp.reproduce.figure import Settings, Table

FAST = Settings(fast=True)
TRIGAMMA_4 = math.pi**2 / 6 - 1 - 1 / 4 - 1 / 9


def log_beta(a):
    return float(np.sum(gammaln(a)) - gammaln(np.sum(a)))


def renyi(u, v, order):
    """[DM] eq. 11."""
    u, v = np.asarray(u), np.asarray(v)
    log_moment = (order - 1) * (log_beta(v) - log_beta(u)) + log_beta(u + (order - 1) * (u - v)) - log_beta(u)
    return log_moment / (order - 1)


def test_divergences_of_figure_2_follow_equations_5_and_11():
    table = figure("dm-figure-2").compute(FAST)["divergence"]
    scale = min(table["scale"], key=lambda r: abs(r - 1.0))
    assert scale == pytest.approx(1.0)
    row = table.where(order=2, scale=scale)
    prior = 5.0
    assert row["prior"][0] == pytest.approx(prior)
    assert row["algorithm_1"][0] == pytest.approx(2 * TRIGAMMA_4, rel=1e-12)
    x, neighbour = [16, 13, 70, 30, 43, 5], [16, 12, 70, 30, 43, 6]
    assert row["from_x"][0] == pytest.approx(renyi(x, neighbour, 2), rel=1e-9)
    assert row["from_neighbour"][0] == pytest.approx(renyi(neighbour, x, 2), rel=1e-9)
    assert row["worst_neighbours"][0] == pytest.approx(renyi([6, 5], [5, 6], 2), rel=1e-9)


def test_epsilons_of_figure_7_follow_equation_10_and_the_hockey_stick():
    table = figure("dm-figure-7").compute(FAST)["guarantee"]
    scale = max(table["scale"])
    row = table.where(order=2, scale=scale)
    trigamma_31 = math.pi**2 / 6 - sum(1 / k**2 for k in range(1, 31))
    by_formula = 2 * scale**2 * trigamma_31 - (math.log(1e-5) + 2 * math.log(2))
    assert row["epsilon_eq_10"][0] == pytest.approx(by_formula, rel=1e-10)
    a = row["prior"][0]

    def delta(epsilon):
        s = 1 / (1 + math.exp(-epsilon / scale))
        return betainc(a, a + scale, 1 - s) - math.exp(epsilon) * betainc(a + scale, a, 1 - s) - 1e-5

    assert row["epsilon_exact"][0] == pytest.approx(brentq(delta, 0.1, 20), rel=1e-8)


def test_the_bundled_data_set_agrees_with_table_1():
    table = figure("dm-table-1").compute(FAST)["data-sets"]
    measured = table.where(data_set="germancredit")
    assert measured["measured"] == measured["paper"] == [1000, 20, 2, 30]


def test_cells_that_differ_are_named():
    rows = [("adult", "attributes", 13, 14), ("adult", "positive_percent", 24, 23.93), ("spam", "classes", 2, None)]
    table = Table.from_rows(("data_set", "measure", "paper", "measured"), rows)
    assert table_1.differences(table) == [("adult", "attributes", 13, 14)]
