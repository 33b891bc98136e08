"""The mechanisms: immutable, validated when built, each with its privacy curve."""

from simplexdp.mechanisms.dirichlet import DirichletMechanism

__all__ = ["DirichletMechanism"]
