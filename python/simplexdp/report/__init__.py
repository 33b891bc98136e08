"""One self-contained page about a release: what was released, and what it guarantees, in plain words."""

from simplexdp.report.page import release_report
from simplexdp.report.quality import synthesis_report

__all__ = ["release_report", "synthesis_report"]
