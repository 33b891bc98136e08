"""Two jobs on a bundled data set: a private histogram and a private classifier, each beside the truth.

Run it with ``python -m simplexdp.demo``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import simplexdp as sdp
from simplexdp.datasets import EMPLOYMENT_DURATION, german_credit

EPSILON, DELTA = 1.0, 1e-6
SPLITS = 20

# From the code book of the data.
CODES = {
    "status": range(1, 5),
    "credit_history": range(5),
    "purpose": range(11),
    "savings": range(1, 6),
    "employment_duration": range(1, 6),
    "installment_rate": range(1, 5),
    "personal_status_sex": range(1, 5),
    "other_debtors": range(1, 4),
    "present_residence": range(1, 5),
    "property": range(1, 5),
    "other_installment_plans": range(1, 4),
    "housing": range(1, 4),
    "number_credits": range(1, 5),
    "job": range(1, 5),
    "people_liable": range(1, 3),
    "telephone": range(1, 3),
    "foreign_worker": range(1, 3),
}
BOUNDS = {"duration": (0, 72), "amount": (0, 20000), "age": (18, 78)}


def main() -> None:
    """Print a histogram and the scores of classifiers beside what is private about them."""
    histogram()
    try:
        import sklearn  # noqa: F401
    except ImportError:
        print("\nWith scikit-learn (extra `models`) there is a private classifier to see, too.")
        return
    classifier()


def histogram() -> None:
    """Print the histogram of a public data set beside its private release."""
    codes = german_credit()["employment_duration"]
    levels = list(EMPLOYMENT_DURATION)
    counts = sdp.frames.count_table({"duration": codes}, ["duration"], {"duration": levels})

    mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(EPSILON, dimension=len(levels))
    released = mechanism.release(counts)
    posterior = mechanism.infer(released)  # from what was released alone
    lower, upper = posterior.counts.interval(0.95).T

    total = len(codes)
    print(f"How long {total} applicants for a loan have been employed (South German Credit, public data)\n")
    print(f"{'':<18}{'truth':>7}{'release':>9}{'95 % interval':>16}{'share':>8}")
    for i, code in enumerate(levels):
        share = posterior.mean[i]
        interval = f"{lower[i]} to {upper[i]}"
        bar = "#" * round(40 * share)
        print(f"{EMPLOYMENT_DURATION[code]:<18}{counts[i]:>7}{released[i]:>9}{interval:>16}{share:>8.3f}  {bar}")

    cost = mechanism.privacy.epsilon(0.0)
    print("\nInteger noise that keeps the public total. The intervals are of the counts behind it, and cost no more.")
    print(f"Guarantee: ({cost:g}, 0)-differential privacy when one record is replaced.")
    print(f"Largest error of a share: {np.abs(posterior.mean - counts / total).max():.3f}")

    draw = sdp.DirichletMechanism.calibrated(EPSILON, DELTA, len(levels), total=total, loss="kl")
    error = np.abs(draw.release(counts) - counts / total).max()
    law = f"Dirichlet({draw.scale:.4g} * counts + {float(draw.prior):.4g})"
    print(f"Of a draw from {law} [DM], ({EPSILON:g}, {DELTA:g})-private: {error:.3f}")


def classifier() -> None:
    """Print the scores of private classifiers beside those of the exact one and of the class shares alone."""
    from simplexdp.models import PrivateBinner, PrivateCategoricalNB

    data = german_credit()
    features = {name: data[name] for name in (*CODES, *BOUNDS)}
    classes, n = data["class"], len(data["class"])
    told: dict[str, Any] = {
        "categories": {name: list(codes) for name, codes in CODES.items()},
        "classes": [0, 1],
        "binner": PrivateBinner(bounds=BOUNDS, n_bins=6),
    }

    def scores(
        fit: Callable[[dict[str, Any], Any], Callable[[dict[str, Any]], NDArray[np.float64]]],
    ) -> tuple[float, float]:
        losses, accuracies = [], []
        for seed in range(SPLITS):
            train, test = np.split(np.random.default_rng(seed).permutation(n), [700])
            p = fit({k: v[train] for k, v in features.items()}, classes[train])(
                {k: v[test] for k, v in features.items()}
            )
            losses.append(-np.mean(np.log(np.maximum(p[np.arange(len(test)), classes[test]], 1e-9))))
            accuracies.append(np.mean(p.argmax(axis=1) == classes[test]))
        return float(np.mean(losses)), float(np.mean(accuracies))

    def shares(_: Any, y: Any) -> Any:
        share = np.bincount(y) / len(y)
        return lambda records: np.tile(share, (len(records["age"]), 1))

    def model(**options: Any) -> Any:
        return lambda x, y: PrivateCategoricalNB(EPSILON, DELTA, **told, **options).fit(x, y).predict_proba

    rows = {
        "class shares alone, not private": shares,
        "naive Bayes, noisy counts raised to 1": model(mechanism="discrete_gaussian", smoothing="floor"),
        "naive Bayes, Dirichlet draws [DM]": model(mechanism="dirichlet", smoothing="floor"),
        "naive Bayes, the default": model(),
        "naive Bayes, not private": model(mechanism="none"),
    }
    print(f"\nWho repays? Twenty columns, 700 records to learn from, 300 to test, means of {SPLITS} splits.")
    print(f"Each private model is ({EPSILON:g}, {DELTA:g})-differentially private as a whole, all its 21 tables.\n")
    print(f"{'':<40}{'log loss':>9}{'accuracy':>10}")
    for name, fit in rows.items():
        loss, accuracy = scores(fit)
        print(f"{name:<40}{loss:>9.3f}{accuracy:>10.3f}")
    print("\nThe default knows the law of the noise: its tables are posterior means given all that was released.")


if __name__ == "__main__":
    main()
