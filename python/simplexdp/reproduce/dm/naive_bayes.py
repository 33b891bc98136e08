"""The runs that [DM] Figures 3 and 4 share."""

from __future__ import annotations

from functools import lru_cache

from simplexdp.reproduce.classification import Result, naive_bayes
from simplexdp.reproduce.data import NUMERIC, available
from simplexdp.reproduce.figure import Settings
from simplexdp.reproduce.model_scores import MECHANISMS, epsilons, seeds

__all__ = ["naive_bayes_results"]


@lru_cache(maxsize=1)
def naive_bayes_results(settings: Settings) -> tuple[Result, ...]:
    """Fit and score every model once for both figures."""
    budgets, splits = epsilons(settings), seeds(settings, 20)
    n_sets = 1 if settings.data is None else len(NUMERIC)
    expected = n_sets * len(budgets) * len(splits) * len(MECHANISMS)
    results = []
    for data in available(settings.data, list(NUMERIC)):
        for result in naive_bayes(data, budgets, splits, MECHANISMS):
            results.append(result)
            settings.progress(len(results) / expected)
    return tuple(results)
