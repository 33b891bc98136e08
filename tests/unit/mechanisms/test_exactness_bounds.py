"""The inequalities of docs/exactness.md that no derivation in code checks, in mpmath with 60 digits."""

import importlib.util
import math
import sys
from pathlib import Path

import pytest
from mpmath import mp, mpf

pytestmark = pytest.mark.source_tree

TABLE = Path(__file__).parents[3] / "rust" / "core" / "tables" / "proposals.py"
SHAPES = [1e-6, 0.1, 0.5, 1 - 2**-53, 1.0, 1 + 2**-52, 1.1, 2.0, 5.0, 1 / 3 + 700, 1e6 + 0.1, 1e12 / 3, 2.0**50]
DEVIATIONS = [s * 10**-e for e in range(0, 24, 2) for s in (1.0, -0.999, 0.45, -0.5, 0.2, -0.2)] + [3.0, 6.5, 1 / 2]


def table_module():
    spec = importlib.util.spec_from_file_location("proposals_check", TABLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["proposals_check"] = module
    spec.loader.exec_module(module)
    return module


def constants(shape):
    """The doubles delta and c, and the exact exponent 3a - 1 (of a + 1 where the draw is boosted)."""
    boost = shape < 1
    delta = (shape + 1.0 if boost else shape) - 1.0 / 3.0
    c = (1.0 + 2.0**-20) / 3.0 / math.sqrt(delta)
    return mpf(delta), mpf(c), 3 * (mpf(shape) + boost) - 1


def log_ratio(x, delta, c, exponent):
    """L(x) of section 4."""
    t = 1 + c * x
    return x * x / 2 + exponent * mp.log(t) - delta * (t**3 - 1)


def test_the_printed_tables_are_the_computed_ones_and_cover():
    module = table_module()
    for curve in (module.NORMAL, module.EXPONENTIAL):
        printed = (module.FOLDER / f"{curve.name}_table.rs").read_text()
        assert printed == module.render(curve)  # render() checks both inequalities of section 3


def test_nearly_every_first_position_keeps_the_exponential_tail():
    module = table_module()
    area, widths, _, _ = module.table(module.EXPONENTIAL)
    with mp.workdps(80):
        assert 1 - mpf(2) ** -40 < mp.exp(-mpf(widths[0])) / mpf(area) <= 1


@pytest.mark.parametrize("shape", SHAPES)
def test_the_proposal_dominates(shape):
    with mp.workdps(80):
        delta, c, exponent = constants(shape)
        assert abs(delta / ((exponent + 1) / 3 - mpf(1) / 3) - 1) <= mpf(4.5) / 2**53
        assert 9 * (exponent / 3) * c * c - 1 >= mpf(2) ** -19 * (1 - mpf(2) ** -20)
        for s in DEVIATIONS:
            assert log_ratio(mpf(s) / c, delta, c, exponent) <= mpf(2) ** -30, s
        # The stationary point: where the rounding of delta pulls against the widened c.
        for x in (mpf(k) / 2**20 * sign for k in (1, 8, 64, 512) for sign in (1, -1)):
            assert log_ratio(x, delta, c, exponent) <= mpf(2) ** -30


@pytest.mark.parametrize("shape", SHAPES)
def test_the_squeeze_lies_below_the_ratio(shape):
    with mp.workdps(80):
        delta, c, exponent = constants(shape)
        checked = 0
        for k in range(-160, 161):
            x = mpf(k) / 10
            s = c * x
            squeeze = 1 - mpf(2) ** -10 - (mpf("0.0837") + mpf("0.1164") * max(-s, 0)) * (s * x) ** 2
            if s >= mpf("-0.5001") and squeeze > 0:
                assert squeeze < mp.exp(log_ratio(x, delta, c, exponent) - mpf(2) ** -30) - mpf(2) ** -12
                checked += 1
        assert checked > 20


def test_the_rest_of_the_logarithm_is_between_its_bounds():
    # psi(s)/s^4 in [-0.42370, 0] for -1/2 <= s, |psi| >= 0.14 s^3 for s >= 1.
    with mp.workdps(60):
        for k in range(-500, 5000):
            if k == 0:
                continue
            s = mpf(k) / 1000
            psi = mp.log(1 + s) - s + s**2 / 2 - s**3 / 3
            assert -0.4237 * s**4 <= psi <= 0
            assert s < 1 or -psi >= 0.14 * s**3
