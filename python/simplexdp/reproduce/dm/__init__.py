"""Figures and tables of [DM], the Dirichlet mechanism for KL divergence minimisation."""
