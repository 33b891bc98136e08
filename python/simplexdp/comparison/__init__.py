"""The honest comparison: at one budget, which mechanism has the least error, each with its best post-processing."""

from simplexdp._catalogue import in_words
from simplexdp.comparison.advice import TASKS, Recommendation, recommend
from simplexdp.comparison.candidates import MECHANISMS
from simplexdp.comparison.grid import WinnerMap, winners
from simplexdp.comparison.postprocessing import POSTPROCESSING, shares_of
from simplexdp.comparison.table import Comparison, Row, compare

__all__ = [
    "MECHANISMS",
    "POSTPROCESSING",
    "TASKS",
    "Comparison",
    "Recommendation",
    "Row",
    "WinnerMap",
    "compare",
    "in_words",
    "recommend",
    "shares_of",
    "winners",
]
