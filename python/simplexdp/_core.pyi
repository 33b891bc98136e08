# Stub of the compiled module, in the order of rust/py/src; the prose stands in the public Python functions.

from collections.abc import Sequence
from typing import Any, SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Profile",
    "SeededRng",
    "__version__",
    "algorithm_one_scale",
    "beta_profile",
    "betainc",
    "betainc_inverse",
    "betaincc",
    "betaincc_inverse",
    "budget_profile",
    "count_table",
    "digamma",
    "dirichlet_release",
    "dirichlet_release_units",
    "gamma_profile",
    "gammainc",
    "gammainc_inverse",
    "gammaincc",
    "gammaincc_inverse",
    "gaussian_profile",
    "hellinger_dirichlet",
    "kl_dirichlet",
    "laplace_profile",
    "log_beta",
    "log_betainc",
    "log_betaincc",
    "log_gamma",
    "log_gamma_ratio",
    "log_gammainc",
    "log_gammaincc",
    "maximum_profile",
    "polygamma",
    "private_quantiles",
    "quantile_epsilon",
    "random_words",
    "renyi_dirichlet",
    "sample_network",
    "sampling_error_profile",
    "trigamma",
]

__version__: str

# accounting.rs
@final
class Profile:
    def delta(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def delta_lower(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def epsilon(self, delta: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def renyi(self, order: NDArray[np.float64]) -> NDArray[np.float64]: ...
    @property
    def is_pair(self) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def beta_profile(a: float, b: float, r: float) -> Profile: ...
def budget_profile(epsilon: float, delta: float) -> Profile: ...
def gamma_profile(a: float, r: float, add: bool) -> Profile: ...
def gaussian_profile(mu: float) -> Profile: ...
def laplace_profile(epsilon: float) -> Profile: ...
def maximum_profile(*profiles: Profile) -> Profile: ...
def sampling_error_profile(ideal: Profile, eta: float) -> Profile: ...

# algorithm_one.rs
def algorithm_one_scale(
    order: NDArray[np.float64],
    epsilon: NDArray[np.float64],
    l2_squared: NDArray[np.float64],
    linf: NDArray[np.float64],
    floor: NDArray[np.float64],
    slack: NDArray[np.float64],
) -> NDArray[np.float64]: ...

# divergence.rs
def renyi_dirichlet(
    u: NDArray[np.float64], v: NDArray[np.float64], dimension: int, order: NDArray[np.float64]
) -> NDArray[np.float64]: ...
def kl_dirichlet(u: NDArray[np.float64], v: NDArray[np.float64], dimension: int) -> NDArray[np.float64]: ...
def hellinger_dirichlet(u: NDArray[np.float64], v: NDArray[np.float64], dimension: int) -> NDArray[np.float64]: ...

# counting.rs
def count_table(columns: Sequence[NDArray[np.integer[Any]]], cardinalities: Sequence[int]) -> NDArray[np.int64]: ...

# network.rs
def sample_network(
    nodes: Sequence[tuple[int, Sequence[int], NDArray[np.float64]]], size: int, rng: SeededRng | None = None
) -> list[NDArray[np.uint32]]: ...

# quantile.rs
def private_quantiles(
    ranks: NDArray[np.uint64],
    total: int,
    levels: NDArray[np.float64],
    epsilon: float,
    rng: SeededRng | None = None,
) -> NDArray[np.uintp]: ...
def quantile_epsilon(epsilon: float, max_total: int) -> float: ...

# dirichlet.rs
def dirichlet_release(
    counts: NDArray[np.float64],
    scale: float,
    prior: NDArray[np.float64],
    resolution_bits: int = 32,
    threads: int = 1,
    rng: SeededRng | None = None,
) -> NDArray[np.float64]: ...
def dirichlet_release_units(
    counts: NDArray[np.float64],
    scale: float,
    prior: NDArray[np.float64],
    resolution_bits: int = 32,
    threads: int = 1,
    rng: SeededRng | None = None,
) -> NDArray[np.uint64]: ...

# incomplete.rs
def gammainc(a: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_gammainc(a: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def gammainc_inverse(a: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]: ...
def gammaincc(a: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_gammaincc(a: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def gammaincc_inverse(a: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]: ...
def betainc(a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_betainc(a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def betainc_inverse(a: NDArray[np.float64], b: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]: ...
def betaincc(a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_betaincc(a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def betaincc_inverse(a: NDArray[np.float64], b: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]: ...

# random.rs
@final
class SeededRng:
    def __new__(cls, seed: SupportsIndex, calls: int = 0) -> SeededRng: ...
    @property
    def seed(self) -> int: ...
    @property
    def calls(self) -> int: ...
    def spawn(self, n_children: int) -> list[SeededRng]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def random_words(size: int, index: int = 0, rng: SeededRng | None = None) -> NDArray[np.uint64]: ...

# special.rs
def log_gamma(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_gamma_ratio(a: NDArray[np.float64], r: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_beta(a: NDArray[np.float64], dimension: int) -> NDArray[np.float64]: ...
def digamma(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def trigamma(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def polygamma(order: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]: ...
