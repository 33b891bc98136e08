"""True values of privacy losses, in ball arithmetic and closed forms; nothing here imports the library.

Every law is an ordered pair (P, Q) of output laws for two neighbours, and ``delta(epsilon)`` encloses the hockey-stick
divergence ``sup over events E of P(E) - exp(epsilon) Q(E)`` in a ball. A law that was made coarser (outcomes merged or
left out) has a smaller divergence: its ball is a lower bound of the truth, and it says so by ``exact = False``.
"""

from truth.balls import ball, log_ratio
from truth.closed import BetaPair, GammaPair, GaussianPair, LaplacePair, RowPair
from truth.laws import BinomialPair, Law, binomial_law, budget_law, discrete_gaussian_law, loss_table_law
from truth.products import Pair, Product, cells_of, product_of, score_product

__all__ = [
    "BetaPair",
    "BinomialPair",
    "GammaPair",
    "GaussianPair",
    "LaplacePair",
    "Law",
    "Pair",
    "Product",
    "RowPair",
    "ball",
    "binomial_law",
    "budget_law",
    "cells_of",
    "discrete_gaussian_law",
    "log_ratio",
    "loss_table_law",
    "product_of",
    "score_product",
]
