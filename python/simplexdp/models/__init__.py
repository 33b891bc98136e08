"""Private models as scikit-learn estimators (extra ``models``).

Names are loaded when they are first used: scikit-learn takes most of a second to import, and is not needed to look at
what there is.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simplexdp.models.bayesian_network import PrivateBayesianNetwork
    from simplexdp.models.binning import PrivateBinner
    from simplexdp.models.gaussian_naive_bayes import PrivateGaussianNB
    from simplexdp.models.grid_search import PrivateGridSearch
    from simplexdp.models.histogram import PrivateHistogram
    from simplexdp.models.known_tables import ReleasedMarginal
    from simplexdp.models.naive_bayes import PrivateCategoricalNB
    from simplexdp.models.paid_comparison import PaidComparison
    from simplexdp.models.synthesizer import PrivateSynthesizer
    from simplexdp.models.synthetic import MarginalComparison, compare_marginals, records_from_counts
    from simplexdp.models.transformed import domains_of

__all__ = [
    "MarginalComparison",
    "PaidComparison",
    "PrivateBayesianNetwork",
    "PrivateBinner",
    "PrivateCategoricalNB",
    "PrivateGaussianNB",
    "PrivateGridSearch",
    "PrivateHistogram",
    "PrivateSynthesizer",
    "ReleasedMarginal",
    "compare_marginals",
    "domains_of",
    "records_from_counts",
]

_HOMES = {
    "MarginalComparison": "synthetic",
    "PaidComparison": "paid_comparison",
    "PrivateBayesianNetwork": "bayesian_network",
    "PrivateBinner": "binning",
    "PrivateCategoricalNB": "naive_bayes",
    "PrivateGaussianNB": "gaussian_naive_bayes",
    "PrivateGridSearch": "grid_search",
    "PrivateHistogram": "histogram",
    "PrivateSynthesizer": "synthesizer",
    "ReleasedMarginal": "known_tables",
    "compare_marginals": "synthetic",
    "domains_of": "transformed",
    "records_from_counts": "synthetic",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import sklearn  # noqa: F401
    except ImportError as error:
        raise ImportError("simplexdp.models needs scikit-learn: pip install 'simplexdp[models]'") from error
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
