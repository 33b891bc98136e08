"""Plots of privacy curves, budgets, releases and comparisons; needs matplotlib (extra ``plots``)."""
