"""Special functions in double precision, vectorised: arrays of any shape broadcast, scalars give Python floats.

Poles, zeros and arguments outside a domain give what ``scipy.special`` gives; docs/numerics.md lists them with the
measured errors.
"""

from simplexdp.special._gamma import digamma, log_beta, log_gamma, log_gamma_ratio, polygamma, trigamma
from simplexdp.special._incomplete import (
    betainc,
    betainc_inverse,
    betaincc,
    betaincc_inverse,
    gammainc,
    gammainc_inverse,
    gammaincc,
    gammaincc_inverse,
    log_betainc,
    log_betaincc,
    log_gammainc,
    log_gammaincc,
)

__all__ = [
    "betainc",
    "betainc_inverse",
    "betaincc",
    "betaincc_inverse",
    "digamma",
    "gammainc",
    "gammainc_inverse",
    "gammaincc",
    "gammaincc_inverse",
    "log_beta",
    "log_betainc",
    "log_betaincc",
    "log_gamma",
    "log_gamma_ratio",
    "log_gammainc",
    "log_gammaincc",
    "polygamma",
    "trigamma",
]
