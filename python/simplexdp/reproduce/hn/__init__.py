"""Figures of [HN], accuracy studies of the exponential mechanism and of Laplace noise."""
