"""Pages about releases and models: self-contained HTML, and the same for programs."""

from simplexdp.report.card import model_card, model_record
from simplexdp.report.facts import Facts
from simplexdp.report.levels import hierarchy_record, hierarchy_report
from simplexdp.report.page import release_record, release_report
from simplexdp.report.quality import synthesis_record, synthesis_report

__all__ = [
    "Facts",
    "hierarchy_record",
    "hierarchy_report",
    "model_card",
    "model_record",
    "release_record",
    "release_report",
    "synthesis_record",
    "synthesis_report",
]
