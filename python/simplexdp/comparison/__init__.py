"""The honest comparison: at one budget, which mechanism has the least error, each with its best post-processing."""

from simplexdp.comparison.candidates import MECHANISMS
from simplexdp.comparison.grid import WinnerMap, winners
from simplexdp.comparison.table import Comparison, Row, compare

__all__ = ["MECHANISMS", "Comparison", "Row", "WinnerMap", "compare", "winners"]
