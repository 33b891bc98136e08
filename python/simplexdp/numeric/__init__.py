"""One number for a numeric column: private means, quantiles and histograms, with their intervals."""

from simplexdp.numeric.histograms import histogram
from simplexdp.numeric.means import PrivateMean, mean
from simplexdp.numeric.quantiles import GroupedQuantiles, PrivateQuantiles, quantiles

__all__ = ["GroupedQuantiles", "PrivateMean", "PrivateQuantiles", "histogram", "mean", "quantiles"]
