"""Makes rust/core/src/special/coefficients.rs: near-minimax fits in 60 digits, interpolated at Chebyshev nodes.

Run ``python rust/core/tables/special.py > rust/core/src/special/coefficients.rs`` and then ``cargo fmt``. Every table
states the function, the interval and the largest error of the fit relative to the largest value, before its
coefficients are rounded.
"""

from collections.abc import Callable

import mpmath as mp

mp.mp.dps = 60
Real = mp.mpf
DIGAMMA_ROOT = mp.findroot(mp.digamma, 1.46)


def fit(f: Callable[[Real], Real], low: float, high: float, p: int, q: int) -> tuple[list[Real], list[Real], Real]:
    """Return the rational interpolant of degree (p, q), denominator first 1, and its largest error."""
    low, high = mp.mpf(low), mp.mpf(high)
    n = p + q + 1
    nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    matrix, right = mp.matrix(n, n), mp.matrix(n, 1)
    for i, x in enumerate(nodes):
        value = f(x)
        for j in range(p + 1):
            matrix[i, j] = x**j
        for j in range(1, q + 1):
            matrix[i, p + j] = -value * x**j
        right[i] = value
    solution = list(mp.lu_solve(matrix, right))
    top, bottom = solution[: p + 1], [mp.mpf(1), *solution[p + 1 :]]
    points = [low + (high - low) * i / 400 for i in range(401)]
    error = max(abs(mp.polyval(top[::-1], x) / mp.polyval(bottom[::-1], x) - f(x)) for x in points)
    error /= max(abs(f(x)) for x in points)
    return top, bottom, error


def bernoulli_series(divisor: Callable[[int], int], z: Real) -> Real:
    """Return sum B_2k z^(k-1) / divisor(k)."""
    return mp.fsum(mp.bernoulli(2 * k) / divisor(k) * z ** (k - 1) for k in range(1, 14))


def stirling(z: Real) -> Real:
    """Return the Stirling remainder times x, z = 1/x^2."""
    if z < 1e-4:
        return bernoulli_series(lambda k: 2 * k * (2 * k - 1), z)
    x = 1 / mp.sqrt(z)
    return x * (mp.loggamma(x) - ((x - 0.5) * mp.log(x) - x + mp.log(2 * mp.pi) / 2))


def digamma_tail(z: Real) -> Real:
    """Return (ln x - 1/(2x) - psi(x))/z, z = 1/x^2."""
    if z < 1e-4:
        return bernoulli_series(lambda k: 2 * k, z)
    x = 1 / mp.sqrt(z)
    return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) / z


def trigamma_tail(z: Real) -> Real:
    """Return (psi'(x) - 1/x - z/2) x/z, z = 1/x^2."""
    if z < 1e-4:
        return bernoulli_series(lambda k: 1, z)
    x = 1 / mp.sqrt(z)
    return (mp.psi(1, x) - 1 / x - z / 2) * x / z


def log_gamma_quotient(x: Real) -> Real:
    """Return lgamma(x) without its zeros at 1 and 2."""
    if abs(x - 1) < 1e-30:
        return mp.euler
    if abs(x - 2) < 1e-30:
        return mp.digamma(2)
    return mp.loggamma(x) / ((x - 1) * (x - 2))


def digamma_quotient(x: Real) -> Real:
    """Return psi(x) without its positive zero."""
    return mp.digamma(x) / (x - DIGAMMA_ROOT)


def atanh_excess(w: Real) -> Real:
    """Return (atanh(t)/t - 1)/t^2, w = t^2."""
    if w < 1e-6:
        return mp.fsum(w**k / (2 * k + 3) for k in range(12))
    t = mp.sqrt(w)
    return (mp.atanh(t) / t - 1) / w


def gauss_legendre(n: int) -> tuple[list[Real], list[Real]]:
    """Return the nodes in (0, 1) and the weights of the rule that is exact to degree 2n - 1."""
    nodes, weights = [], []
    for i in range(n):
        x = mp.cos(mp.pi * (i + mp.mpf(3) / 4) / (n + mp.mpf(1) / 2))
        for _ in range(8):
            slope = n * (x * mp.legendre(n, x) - mp.legendre(n - 1, x)) / (x * x - 1)
            x -= mp.legendre(n, x) / slope
        nodes.append((1 - x) / 2)
        weights.append(1 / ((1 - x * x) * slope * slope))
    if abs(mp.fsum(weights) - 1) > mp.mpf("1e-40"):
        raise ArithmeticError("a node was found twice")
    return nodes, weights


def scaled_erfc(q: Real) -> Real:
    """Return (1 + 2z) exp(z^2) erfc(z), q = (z-4)/(z+4)."""
    if q == 1:
        return 2 / mp.sqrt(mp.pi)
    z = 4 * (1 + q) / (1 - q)
    return (1 + 2 * z) * mp.exp(z * z) * mp.erfc(z)


def temme_series(n_terms: int, order: int) -> list[list[Real]]:
    """Return the Taylor coefficients of c_k(eta), k < n_terms, of [DLMF 8.12.9-12], by powers of eta."""
    # mu = lambda - 1 as a series in eta, from mu mu' = eta (1 + mu), and eta/mu.
    mu = [mp.mpf(0), mp.mpf(1)]
    for n in range(2, order + 2):
        mu.append((mu[n - 1] - mp.fsum(mu[i] * (n + 1 - i) * mu[n + 1 - i] for i in range(2, n))) / (n + 1))
    quotient = [mp.mpf(1)]
    for n in range(1, order + 1):
        quotient.append(-mp.fsum(mu[i + 1] * quotient[n - i] for i in range(1, n + 1)))
    # Gamma(a)'s Stirling series, sum g_k a^-k, as the exponential of that of its logarithm.
    logs = [mp.mpf(0) if k % 2 == 0 else mp.bernoulli(k + 1) / (k * (k + 1)) for k in range(n_terms + 1)]
    g = [mp.mpf(1)]
    for n in range(1, n_terms + 1):
        g.append(mp.fsum(j * logs[j] * g[n - j] for j in range(1, n + 1)) / n)
    series = [quotient[1:]]
    for k in range(1, n_terms):
        # c_k = c_(k-1)'/eta + (-1)^k g_k/mu; the poles at 0 cancel.
        slope = [j * c for j, c in enumerate(series[-1])][1:]
        series.append([s + (-1) ** k * g[k] * q for s, q in zip(slope, quotient, strict=False)][1:])
    return series


def temme(widest: float, smallest: int) -> tuple[list[list[Real]], Real]:
    """Return polynomials for c_0 to c_9, one row for each power of eta, and the error of their sum at a shape."""
    columns, error = [], mp.mpf(0)
    for k, degree in enumerate((13, 12, 10, 9, 8, 7, 6, 5, 4, 3)):
        series = temme_series(10, 70)[k][:58][::-1]
        top, _, wrong = fit(lambda eta, series=series: mp.polyval(series, eta), -widest, widest, degree, 0)
        largest = max(abs(mp.polyval(series, widest * i / 8)) for i in range(-8, 9))
        error += wrong * largest / mp.mpf(smallest) ** k
        columns.append(top + [mp.mpf(0)] * (13 - degree))
    return [list(row) for row in zip(*columns, strict=True)], error


def table(name: str, what: str, values: list[Real]) -> str:
    """Print one array."""
    rows = "".join(f"    {mp.nstr(value, 20)},\n" for value in values)
    return f"/// {what}\npub(super) const {name}: [f64; {len(values)}] = [\n{rows}];\n"


def rational(name: str, what: str, f: Callable[[Real], Real], low: float, high: float, p: int, q: int) -> str:
    """Print a fit as one or two arrays."""
    top, bottom, error = fit(f, low, high, p, q)
    note = f"{what}; error {mp.nstr(error, 2)}."
    if q == 0:
        return table(name, note, top)
    return table(f"{name}_TOP", note, top) + table(f"{name}_BOTTOM", f"Denominator of [`{name}_TOP`].", bottom)


def main() -> None:
    """Print the file."""
    print("//! Coefficients of the special functions, lowest power first.")
    print("//! Made by rust/core/tables/special.py; not edited by hand.\n")
    sixteenth = 1 / 16
    print(rational("STIRLING", "x s(x) in z = 1/x^2 for x >= 4", stirling, 0, sixteenth, 9, 0))
    print(
        rational("DIGAMMA_TAIL", "(ln x - 1/(2x) - psi(x))/z in z = 1/x^2 for x >= 4", digamma_tail, 0, sixteenth, 9, 0)
    )
    print(
        rational(
            "TRIGAMMA_TAIL", "(psi'(x) - 1/x - z/2) x/z in z = 1/x^2 for x >= 4", trigamma_tail, 0, sixteenth, 9, 0
        )
    )
    # A constant in the middle of the range is taken out: rounding errors of the fit then hardly count.
    what = "lgamma(x)/((x-1)(x-2)) - 1/2 in x - 1 for 1 <= x <= 2"
    print(rational("LOG_GAMMA_12", what, lambda t: log_gamma_quotient(t + 1) - 0.5, 0, 1, 6, 6))
    what = "lgamma(x)/((x-1)(x-2)) - 3/8 in x - 2 for 2 <= x <= 3"
    print(rational("LOG_GAMMA_23", what, lambda t: log_gamma_quotient(t + 2) - 0.375, 0, 1, 6, 5))
    what = "psi(x)/(x - x0) - 15/16 in x - 1 for 1 <= x <= 2.5"
    print(rational("DIGAMMA_MIDDLE", what, lambda t: digamma_quotient(t + 1) - 0.9375, 0, 1.5, 6, 6))
    print(rational("ATANH_EXCESS", "(atanh(t)/t - 1)/t^2 in w = t^2 <= 1/4", atanh_excess, 0, 0.25, 6, 5))
    nodes, weights = gauss_legendre(32)
    print(table("GAUSS_NODES", "Nodes in (0, 1) of Gauss and Legendre's rule.", nodes))
    print(table("GAUSS_WEIGHTS", "Weights of [`GAUSS_NODES`].", weights))
    print(rational("SCALED_ERFC", "(1 + 2z) exp(z^2) erfc(z) in (z-4)/(z+4) for z >= 0", scaled_erfc, -1, 1, 23, 0))
    rows, error = temme(0.48, 25)
    print("/// c_k(eta) of Temme's expansion for |eta| <= 0.48: a row for each power of eta, a column for each k;")
    print(f"/// error of the sum at shape 25: {mp.nstr(error, 2)}.")
    print(f"pub(super) const TEMME: [[f64; {len(rows[0])}]; {len(rows)}] = [")
    for row in rows:
        print("    [" + ", ".join(mp.nstr(value, 20) for value in row) + "],")
    print("];")
    series = [1 / mp.factorial(k + 2) for k in range(13)]
    print(table("EXP_GAP", "(exp(v) - 1 - v)/v^2, Taylor's series; enough for |v| <= 1/2.", series))
    high = mp.mpf(float(DIGAMMA_ROOT))
    print(f"/// The positive zero x0 of digamma, leading part.\npub(super) const DIGAMMA_ROOT: f64 = {float(high)!r};")
    print("/// What [`DIGAMMA_ROOT`] leaves of x0.")
    print(f"pub(super) const DIGAMMA_ROOT_REST: f64 = {float(DIGAMMA_ROOT - high)!r};")


if __name__ == "__main__":
    main()
