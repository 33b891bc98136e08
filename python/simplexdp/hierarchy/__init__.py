"""Counts on the levels of a public hierarchy, such as regions and their districts, that add up."""

from simplexdp.hierarchy.public import Hierarchy
from simplexdp.hierarchy.release import HierarchicalCounts, release

__all__ = ["HierarchicalCounts", "Hierarchy", "release"]
