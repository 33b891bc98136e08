"""The polynomials of docs/hellinger.md, section 2, in exact rationals: all coefficients are positive."""

from fractions import Fraction
from functools import reduce


class Rational:
    """A quotient of polynomials in c; coefficients from the constant term on."""

    def __init__(self, top, bottom=(1,)):
        self.top, self.bottom = [Fraction(a) for a in top], [Fraction(a) for a in bottom]

    def __add__(self, other):
        top = _add(_times(self.top, other.bottom), _times(other.top, self.bottom))
        return Rational(top, _times(self.bottom, other.bottom))

    def __mul__(self, other):
        return Rational(_times(self.top, other.top), _times(self.bottom, other.bottom))


def _times(a, b):
    product = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            product[i + j] += x * y
    return product


def _add(a, b, sign=1):
    size = max(len(a), len(b))
    a, b = list(a) + [0] * (size - len(a)), list(b) + [0] * (size - len(b))
    return [x + sign * y for x, y in zip(a, b, strict=True)]


def _product(*factors):
    return reduce(_times, factors, [Fraction(1)])


C, C1, HALF, QUARTER = [0, 1], [1, 1], [1, 2], [1, 4]  # c, c + 1, 2c + 1, 4c + 1
# (2): the upper bound of A.
SLOPE = Rational([1], _product([2], C, C1, HALF)) + Rational([1], _product([8], C1, C1))


def is_positive(difference):
    """Whether left - right > 0 for c > 0, by the signs of the coefficients; denominators are positive there."""
    return all(a >= 0 for a in difference) and any(a > 0 for a in difference)


def exceeds(left, right):
    return _add(_times(left.top, right.bottom), _times(right.top, left.bottom), -1)


def test_lemma_1():
    curvature = Rational([1, 8], _product([2], C, C, QUARTER, QUARTER))
    # 1 - s >= 2z/(4 - z) with z = 1/(4c + 1).
    deficit = Rational([2], [3, 16])
    assert is_positive(exceeds(curvature * deficit, SLOPE * SLOPE))
    stated = _add(
        _product([64], [1, 8], C1, C1, C1, C1, HALF, HALF),
        _product([4, 5, 2], [4, 5, 2], QUARTER, QUARTER, [3, 16]),
        -1,
    )
    assert stated == [16, 264, 1221, 3292, 6884, 8096, 4672, 1024]


def test_lemma_2():
    curvature = (
        Rational([Fraction(1, 2)], _product(C, C))
        + Rational([Fraction(1, 2)], _product(C1, C1))
        + Rational([-4], _product(HALF, HALF))
        + Rational([9, 8], _product([2], C1, C1, [5, 4], [5, 4]))
    )
    square = _times(QUARTER, QUARTER)
    top = _add(_times([16], QUARTER), [8], -1)
    bottom = _add(_add(_times([48], square), _times([44], QUARTER), -1), [7])
    assert is_positive(exceeds(curvature * Rational(top, bottom), SLOPE * SLOPE))


def test_the_bounds_of_the_square_root():
    # N^2 - (1 - z) D^2 = z^3 and z^5.
    for n, d, power in [([4, -3], [4, -1], 3), ([16, -20, 5], [16, -12, 1], 5)]:
        difference = _add(_times(n, n), _product([1, -1], d, d), -1)
        assert difference == [0] * power + [1]
