"""Figures of [HP], the privacy analysis of the Hellinger mechanism."""
