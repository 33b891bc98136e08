"""Private models as scikit-learn estimators (extra ``models``)."""

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError("simplexdp.models needs scikit-learn: pip install 'simplexdp[models]'") from error

from simplexdp.models.bayesian_network import PrivateBayesianNetwork
from simplexdp.models.binning import PrivateBinner
from simplexdp.models.histogram import PrivateHistogram
from simplexdp.models.known_tables import ReleasedMarginal
from simplexdp.models.naive_bayes import PrivateCategoricalNB
from simplexdp.models.paid_comparison import PaidComparison
from simplexdp.models.synthesizer import PrivateSynthesizer
from simplexdp.models.synthetic import MarginalComparison, compare_marginals, records_from_counts

__all__ = [
    "MarginalComparison",
    "PaidComparison",
    "PrivateBayesianNetwork",
    "PrivateBinner",
    "PrivateCategoricalNB",
    "PrivateHistogram",
    "PrivateSynthesizer",
    "ReleasedMarginal",
    "compare_marginals",
    "records_from_counts",
]
