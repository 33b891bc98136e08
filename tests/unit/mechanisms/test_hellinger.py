"""The Hellinger mechanism: its law, its guarantees, what it refuses."""

import itertools
import json
import pickle
import re

import mpmath
import numpy as np
import pytest

import simplexdp as sdp

# [HN] figures 3 to 8: prior, counts, the sensitivity that the exponent follows; the law depends on the exponent only.
FIGURES = [
    *[([1, 1], [49, 49], sensitivity) for sensitivity in ("global", "local", "smooth", "adaptive")],
    ([1, 1, 1], [20, 20, 20], "smooth"),
    ([1, 1, 1], [20, 20, 20], "adaptive"),
    ([7, 4, 5], [20, 30, 50], "smooth"),
    ([7, 4, 5], [24, 36, 60], "global"),
    ([7, 4, 5], [30, 45, 75], "local"),
    pytest.param([1, 1, 1, 1], [20, 20, 20, 20], "smooth", marks=pytest.mark.slow),
    pytest.param([1, 1, 1, 1], [1, 1, 1, 77], "smooth", marks=pytest.mark.slow),
]


def direct_law(prior, counts, exponent):
    """Distances and probabilities by mpmath at 40 digits, straight from the beta functions, in lexicographic order."""
    n, m = sum(counts), len(counts)
    with mpmath.workdps(40):
        a = [mpmath.mpf(p) + x for p, x in zip(prior, counts, strict=True)]

        def log_gammas(p, u):
            rows = range(n + 1)
            return [
                mpmath.loggamma((u + p + k) / 2) - (mpmath.loggamma(u) + mpmath.loggamma(mpmath.mpf(p) + k)) / 2
                for k in rows
            ]

        tables = [log_gammas(mpmath.mpf(p), u) for p, u in zip(prior, a, strict=True)]
        distances = []
        for head in itertools.product(range(n + 1), repeat=m - 1):
            if sum(head) <= n:
                k = (*head, n - sum(head))
                score = sum(table[j] for table, j in zip(tables, k, strict=True))
                distances.append(mpmath.sqrt(max(0, -mpmath.expm1(score))))
        weights = [mpmath.exp(-mpmath.mpf(exponent) * h) for h in distances]
        total = mpmath.fsum(weights)
        return np.array([float(h) for h in distances]), np.array([float(w / total) for w in weights])


def data_sets(n, m):
    heads = itertools.product(range(n + 1), repeat=m - 1)
    return [(*head, n - sum(head)) for head in heads if sum(head) <= n]


def neighbours(n, m):
    points = data_sets(n, m)
    index = {point: i for i, point in enumerate(points)}
    for point in points:
        for i, j in itertools.permutations(range(m), 2):
            if point[i] > 0:
                other = list(point)
                other[i] -= 1
                other[j] += 1
                yield index[point], index[tuple(other)]


@pytest.mark.parametrize(("prior", "counts", "sensitivity"), FIGURES)
def test_laws_of_the_papers_figures_match_direct_enumeration(prior, counts, sensitivity):
    calibration = "proved" if sensitivity == "adaptive" else "paper"
    h = sdp.HellingerMechanism(
        prior, sum(counts), 0.8, 1e-8, sensitivity=sensitivity, calibration=calibration, allow_nonprivate=True
    )
    p = h.probabilities(counts)
    assert abs(p.sum() - 1) < 1e-12
    distances, expected = direct_law(prior, counts, h.exponent_at(counts))
    np.testing.assert_allclose(p, expected, rtol=1e-12, atol=0)
    by_distance = h.error_distribution(counts)
    assert by_distance.band == 0
    assert abs(by_distance.mean - distances @ expected) < 1e-12
    # The distribution functions agree wherever distances are far enough apart to tell which is the smaller.
    order = np.argsort(distances)
    gaps = np.flatnonzero(np.diff(distances[order]) > 1e-9)
    thresholds = (distances[order][gaps] + distances[order][gaps + 1]) / 2
    at = np.searchsorted(by_distance.values, thresholds)
    np.testing.assert_allclose(
        np.cumsum(by_distance.probabilities)[at - 1], np.cumsum(expected[order])[gaps], rtol=1e-12
    )
    assert len(gaps) >= 40
    assert np.all(np.diff(by_distance.values) > 0)


@pytest.mark.parametrize(
    ("sensitivity", "calibration", "n", "epsilon", "most"),
    [
        ("smooth", "certified", 60, 0.8, 0.28),
        ("smooth", "certified", 60, 2.0, 0.06),
        ("adaptive", "certified", 60, 0.8, 0.28),
        ("adaptive", "certified", 60, 2.0, 0.06),
        ("adaptive", "certified", 600, 0.8, 0.141),
        ("adaptive", "proved", 60, 0.8, 0.526),
        ("adaptive", "proved", 600, 0.8, 0.22),
        ("adaptive", "proved", 600, 2.0, 0.0705),
        ("adaptive", "proved", 1500, 0.8, 0.1325),
        ("smooth", "proved", 60, 0.8, 0.7185),
        ("smooth", "proved", 600, 0.8, 0.545),
    ],
)
def test_mean_errors_over_all_data_sets(sensitivity, calibration, n, epsilon, most):
    h = sdp.HellingerMechanism([1, 1], n, epsilon, 1e-8, sensitivity=sensitivity, calibration=calibration)
    assert h.privacy.epsilon(1e-8) <= epsilon
    assert h.certify().privacy.epsilon(1e-8) <= epsilon
    assert h.certify().mean_error <= most


def test_the_papers_calibration_has_the_errors_of_the_papers():
    # Theory B5, with the smoothness of [HA] Theorem 4.1; [HP]'s moves the third digit.
    for n, epsilon, expected in [(60, 0.8, 0.678), (60, 2.0, 0.287), (600, 0.8, 0.321)]:
        h = sdp.HellingerMechanism([1, 1], n, epsilon, 1e-8, sensitivity="smooth", calibration="paper")
        assert abs(h.certify().mean_error - expected) < 0.005


@pytest.mark.parametrize("epsilon", [0.1, 0.8, 3.0])
@pytest.mark.parametrize("n", [5, 20, 100, 500])
@pytest.mark.parametrize("prior", [(1, 1), (7, 4), (0.5, 0.5)])
def test_the_papers_calibration_is_certified_below_its_claim(prior, n, epsilon):
    h = sdp.HellingerMechanism(prior, n, epsilon, 1e-8, sensitivity="smooth", calibration="paper")
    assert h.claimed == (epsilon, 1e-8)
    assert h.certify().privacy.epsilon(1e-8) <= epsilon <= h.privacy.epsilon(1e-8)


@pytest.mark.parametrize(
    ("prior", "n"), [([1, 1], 12), ([0.3, 4.0], 9), ([1, 1, 1], 5), ([2.0, 0.1, 1.0], 4), ([1, 1, 1, 1], 3)]
)
@pytest.mark.parametrize("sensitivity", ["adaptive", "global", "smooth", "local"])
@pytest.mark.parametrize("calibration", ["certified", "proved", "paper"])
def test_the_guarantee_holds_for_the_probabilities_themselves(prior, n, sensitivity, calibration):
    epsilon, delta = 0.7, 1e-4
    if (sensitivity, calibration) in [("adaptive", "paper"), ("local", "proved")]:
        with pytest.raises(sdp.InvalidParameterError, match="sensitivity"):
            sdp.HellingerMechanism(prior, n, epsilon, delta, sensitivity=sensitivity, calibration=calibration)
        return
    h = sdp.HellingerMechanism(
        prior, n, epsilon, delta, sensitivity=sensitivity, calibration=calibration, allow_nonprivate=True
    )
    laws = np.array([h.probabilities(x) for x in data_sets(n, len(prior))])
    pairs = np.array(list(neighbours(n, len(prior))))
    p, q = laws[pairs[:, 0]], laws[pairs[:, 1]]
    curves = [h.certify().privacy]
    if calibration != "paper" or sensitivity != "local":
        curves.append(h.privacy)
    assert curves[0].exact
    for level in [0.0, 0.2, epsilon, 1.3]:
        attained = np.maximum(p - np.exp(level) * q, 0).sum(axis=1).max()
        for curve in curves:
            assert curve.delta(level) >= attained * (1 - 1e-9)
        # 64 chords above a convex curve.
        assert curves[0].delta(level) <= attained + 2e-3
    if calibration != "paper":
        assert h.privacy.delta(epsilon) <= delta


def test_delta_is_used_where_it_is_large():
    errors = [sdp.HellingerMechanism([1, 1], 30, 0.5, delta).mean_error for delta in (None, 1e-8, 0.05)]
    assert errors[0] >= errors[1] >= errors[2]
    for delta in (1e-4, 0.05):
        h = sdp.HellingerMechanism([1, 1], 30, 0.5, delta)
        assert h.privacy.epsilon(delta) <= 0.5 < h.privacy.epsilon(0.0)
    assert errors[2] < 0.95 * errors[0]


def test_certificates_are_stored_and_loaded(tmp_path):
    h = sdp.HellingerMechanism([1, 2], 25, 0.8, 1e-6, calibration="certified")
    path = tmp_path / "certificate.json"
    h.save_certificate(path)
    loaded = sdp.HellingerMechanism.load_certificate(path)
    assert repr(loaded) == repr(h)
    assert loaded.exponent_at([20, 5]) == h.exponent_at([20, 5])
    assert loaded.privacy.delta(0.3) == h.privacy.delta(0.3)
    assert loaded.mean_error == h.mean_error
    assert loaded.basis == h.basis
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "factor": content["factor"] * 2}))
    with pytest.raises(sdp.InvalidParameterError, match="checksum"):
        sdp.HellingerMechanism.load_certificate(path)
    for text in ["{}", "not json", "[1]"]:
        path.write_text(text)
        with pytest.raises(sdp.InvalidParameterError, match="save_certificate"):
            sdp.HellingerMechanism.load_certificate(path)
    with pytest.raises(sdp.InvalidParameterError, match="certified"):
        sdp.HellingerMechanism([1, 1], 9, 1.0, calibration="proved").save_certificate(path)


def test_mechanisms_pickle_with_their_guarantee():
    for h in [sdp.HellingerMechanism([1, 2], 25, 0.8), sdp.HellingerMechanism([1] * 9, 10**6, 0.8)]:
        copy = pickle.loads(pickle.dumps(h))
        assert repr(copy) == repr(h)
    assert copy.privacy.epsilon(1e-6) == h.privacy.epsilon(1e-6)


def test_progress_is_reported_and_may_raise():
    seen = []
    sdp.HellingerMechanism([1, 1], 40, 1.0, calibration="certified", progress=lambda *at: seen.append(at))
    assert seen[0] == (1, 0.0)
    assert all(0 <= share <= 1 for _, share in seen)

    def stop(index, share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sdp.HellingerMechanism([1, 1], 40, 1.0, calibration="certified", progress=stop)


def test_no_observation_has_one_candidate():
    h = sdp.HellingerMechanism([1.0, 2.5], 0, 1.0, 1e-6)
    assert h.candidates().tolist() == [[0, 0]]
    assert h.probabilities([0, 0]).tolist() == [1.0]
    assert h.release([0, 0]).alpha.tolist() == [1.0, 2.5]
    assert h.exponent_at([0, 0]) == 0
    assert h.sensitivity_at([0, 0]) == 0
    assert h.error_distribution([0, 0]).mean == 0
    assert h.utility_bound([0, 0], 0.1) == 0
    for sensitivity in ["global", "smooth", "local"]:
        assert sdp.HellingerMechanism([1, 2], 0, 1.0, 0.1, sensitivity=sensitivity).privacy.epsilon(0.1) <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prior": [1.0]}, "prior must have at least 2 entries, got 1"),
        ({"prior": 1.0}, "prior must have shape (m,), got shape ()"),
        ({"prior": [1.0, 0.0]}, "prior must have entries in [1e-12, 1e12], got 0"),
        ({"prior": [1.0, -2.0]}, "prior must have entries in [1e-12, 1e12], got -2"),
        ({"prior": [1.0, float("nan")]}, "prior must be finite"),
        ({"n": -1}, "n must be an integer of at least 0, got -1"),
        ({"n": 2.5}, "n must be an integer, got 2.5"),
        ({"n": 2**60}, "n must be at most 2^43"),
        ({"epsilon": 0.0}, "epsilon must be positive, got 0.0"),
        ({"epsilon": -1.0}, "epsilon must be positive, got -1.0"),
        ({"epsilon": float("inf")}, "epsilon must be finite, got inf"),
        ({"epsilon": 1e-10}, "epsilon must lie in [1e-9, 1e5]"),
        ({"delta": 0.0}, "delta must lie strictly between 0 and 1, got 0.0"),
        ({"delta": 1.0}, "delta must lie strictly between 0 and 1, got 1.0"),
        ({"delta": -1e-9}, "delta must lie strictly between 0 and 1"),
        ({"sensitivity": "l1"}, "sensitivity must be one of"),
        ({"calibration": "hope"}, "calibration must be one of"),
        ({"sensitivity": "local", "calibration": "paper"}, 'sensitivity="local" as in the papers'),
        ({"sensitivity": "local", "calibration": "proved"}, 'sensitivity must be other than "local"'),
        ({"sensitivity": "smooth", "calibration": "proved", "delta": None}, "delta must be positive"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    given = {"prior": [1.0, 1.0], "n": 10, "epsilon": 1.0, "delta": 1e-6, **arguments}
    with pytest.raises(sdp.InvalidParameterError, match=re.escape(message)):
        sdp.HellingerMechanism(**given)


@pytest.mark.parametrize(
    ("counts", "rule"),
    [
        ([7, 4], "sum to n"),
        ([11, -1], "non-negative"),
        ([9.5, 0.5], "integers"),
        ([10], "shape"),
        ([[10, 0]], "shape"),
        ([float("nan"), 10], "NaN"),
        (["a", "b"], "numbers"),
    ],
)
def test_bad_counts_are_never_quoted(counts, rule):
    h = sdp.HellingerMechanism([1, 1], 10, 1.0, 1e-6)
    for method in [h.release, h.probabilities, h.exponent_at, h.sensitivity_at, h.error_distribution]:
        with pytest.raises(sdp.InvalidDataError, match=rule) as raised:
            method(counts)
        shapes = str(np.shape(counts)) + "(2,)"
        assert all(digit in shapes for digit in re.findall(r"\d+", str(raised.value)))


def test_what_cannot_be_enumerated_says_so():
    h = sdp.HellingerMechanism([1] * 8, 1000, 1.0, 1e-6)
    assert h.calibration == "proved"
    for call in [h.candidates, lambda: h.probabilities([125] * 8)]:
        with pytest.raises(sdp.NotAffordableError, match="more than the limit of 67108864"):
            call()
    with pytest.raises(sdp.NotAffordableError, match="certification"):
        h.certify()
    with pytest.raises(sdp.NotAffordableError, match="nothing is proved"):
        sdp.HellingerMechanism([1] * 8, 1000, 1.0, 1e-6, sensitivity="local")


def test_exponents_follow_their_sensitivities():
    for sensitivity, calibration in [("global", "paper"), ("smooth", "paper"), ("adaptive", "proved")]:
        h = sdp.HellingerMechanism([7, 4, 5], 100, 0.8, 0.8, sensitivity=sensitivity, calibration=calibration)
        inverse = 1 / (2 * h.sensitivity_at([20, 30, 50]))
        assert 0 < h.exponent_at([20, 30, 50]) / inverse <= 0.8
    assert h.smoothness is None
    assert h.basis == "Theorem P"


def test_large_families_are_built_quickly_and_are_pure():
    h = sdp.HellingerMechanism([1] * 30, 10**8, 0.8, 1e-8)
    assert h.calibration == "proved"
    assert h.privacy.epsilon(0.0) <= 0.8
    assert 0 < h.utility_bound([10**8 - 29, *[1] * 29], 0.01) <= 1


def test_large_families_are_released_from():
    for m, n in [(4, 10**4), (30, 10**8), (2, 10**12)]:
        counts = np.full(m, n // m)
        counts[0] += n - counts.sum()
        h = sdp.HellingerMechanism([1] * m, n, 3.0, 1e-8)
        assert h.calibration == "proved"
        released = h.release(counts)
        assert released.alpha.sum() == pytest.approx(n + m, rel=1e-12)
        assert 0 < h.acceptance_rate(counts) <= 1
        # False-alarm rate 1e-9.
        assert released.hellinger(sdp.Posterior(counts + 1.0)) <= h.utility_bound(counts, 1e-9)
