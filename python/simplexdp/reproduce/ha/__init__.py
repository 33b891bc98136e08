"""Figures of [HA], the experiments with the Hellinger mechanism."""
