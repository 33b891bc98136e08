"""The experiments of the papers, run again: every figure and table, as numbers and as plots."""
