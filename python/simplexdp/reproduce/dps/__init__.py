"""Figures of [DPS], the differential privacy of Dirichlet posterior sampling."""
