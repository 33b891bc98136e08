# Stub of the compiled module, in the order of rust/py/src; the prose stands in the public Python functions.

from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DirichletBudget",
    "DiscreteNoise",
    "Profile",
    "SeededRng",
    "SumPreservingNoise",
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
    "dirichlet_expected_loss",
    "dirichlet_floor_parameter",
    "dirichlet_release",
    "dirichlet_release_units",
    "dirichlet_renyi_profile",
    "dirichlet_tcdp",
    "dirichlet_theorem_profile",
    "gamma_profile",
    "gamma_release_units",
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
    "polya_counts",
    "polya_draws",
    "polygamma",
    "private_quantiles",
    "quantile_epsilon",
    "random_words",
    "rdp_epsilon",
    "rdp_profile",
    "renyi_dirichlet",
    "renyi_profile",
    "renyi_sum_profile",
    "sample_network",
    "sampling_error_profile",
    "simulate_dirichlet",
    "simulate_gammas",
    "tcdp_lemma_profile",
    "tcdp_profile",
    "trigamma",
    "two_categories_profile",
]

__version__: str

# accounting.rs
@final
class Profile:
    def delta(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def delta_lower(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def epsilon(self, delta: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def renyi(self, order: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def tcdp(self, omega: NDArray[np.float64]) -> NDArray[np.float64]: ...
    @property
    def is_pair(self) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def beta_profile(a: float, b: float, r: float) -> Profile: ...
def budget_profile(epsilon: float, delta: float) -> Profile: ...
def gamma_profile(a: float, r: float, add: bool) -> Profile: ...
def gaussian_profile(mu: float) -> Profile: ...
def laplace_profile(epsilon: float) -> Profile: ...
def maximum_profile(*profiles: Profile) -> Profile: ...
def two_categories_profile(a: float, b: float, r: float, total: int, floor: int) -> Profile: ...
def sampling_error_profile(ideal: Profile, eta: float) -> Profile: ...
def tcdp_lemma_profile(rho: float, omega: float) -> Profile: ...
def tcdp_profile(rho: float, omega: float, optimal: bool) -> Profile: ...
def rdp_profile(order: float, epsilon: float, optimal: bool) -> Profile: ...
def renyi_profile(function: Callable[[float], float], optimal: bool) -> Profile: ...
def renyi_sum_profile(profiles: tuple[Profile, ...], times: Sequence[float], optimal: bool) -> Profile: ...
def dirichlet_renyi_profile(scale: float, l2: float, linf: float, prior: float, optimal: bool) -> Profile: ...
def dirichlet_theorem_profile(scale: float, l2: float, linf: float, prior: float) -> Profile: ...
def rdp_epsilon(
    order: NDArray[np.float64], epsilon: NDArray[np.float64], delta: NDArray[np.float64]
) -> NDArray[np.float64]: ...

# algorithm_one.rs
def algorithm_one_scale(
    order: NDArray[np.float64],
    epsilon: NDArray[np.float64],
    l2_squared: NDArray[np.float64],
    linf: NDArray[np.float64],
    floor: NDArray[np.float64],
    slack: NDArray[np.float64],
) -> NDArray[np.float64]: ...

# dirichlet_mechanism.rs
@final
class DirichletBudget:
    def __new__(
        cls, epsilon: float, delta: float, sampling_error: float, adjacency: str, floor: float
    ) -> DirichletBudget: ...
    def largest_scale(self, a: float, b: float) -> float: ...
    def smallest_prior(self, scale: float) -> float: ...
    def best_prior(
        self, loss: str, dimension: int, total: float, reference: NDArray[np.float64] | None = None
    ) -> tuple[float, float]: ...
    def admits(self, a: float, b: float, scale: float) -> bool: ...

def dirichlet_floor_parameter(prior: float, scale: float, floor: float) -> float: ...
def dirichlet_tcdp(a: float, scale: float, gamma: float, l2_squared: float, linf: float) -> tuple[float, float]: ...
def dirichlet_expected_loss(
    loss: str, probabilities: NDArray[np.float64], prior: NDArray[np.float64], weights: NDArray[np.float64]
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

# noise.rs
@final
class DiscreteNoise:
    @staticmethod
    def laplace(scale: tuple[int, int]) -> DiscreteNoise: ...
    @staticmethod
    def gaussian(sigma: tuple[int, int]) -> DiscreteNoise: ...
    def draws(self, size: int, threads: int = 1, rng: SeededRng | None = None) -> NDArray[np.int64]: ...
    def release(
        self, values: NDArray[np.int64], threads: int = 1, rng: SeededRng | None = None
    ) -> NDArray[np.int64]: ...
    def release_on_grid(
        self, values: NDArray[np.float64], log_resolution: int, threads: int = 1, rng: SeededRng | None = None
    ) -> NDArray[np.float64]: ...

@final
class SumPreservingNoise:
    def __new__(cls, scale: tuple[int, int], dimension: int) -> SumPreservingNoise: ...
    def release(
        self, values: NDArray[np.int64], threads: int = 1, rng: SeededRng | None = None
    ) -> NDArray[np.int64]: ...

def polya_counts(
    scale: float,
    counts: NDArray[np.float64],
    prior: NDArray[np.float64],
    size: int,
    rng: SeededRng | None = None,
) -> NDArray[np.int64]: ...
def polya_draws(
    scale: float,
    counts: NDArray[np.float64],
    prior: NDArray[np.float64],
    size: int,
    rng: SeededRng | None = None,
) -> NDArray[np.uint32]: ...

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
def gamma_release_units(
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

# simulation.rs
def simulate_gammas(shapes: NDArray[np.float64], repeats: int, rng: SeededRng | None = None) -> NDArray[np.float64]: ...
def simulate_dirichlet(alpha: NDArray[np.float64], rows: int, rng: SeededRng | None = None) -> NDArray[np.float64]: ...

# special.rs
def log_gamma(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_gamma_ratio(a: NDArray[np.float64], r: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_beta(a: NDArray[np.float64], dimension: int) -> NDArray[np.float64]: ...
def digamma(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def trigamma(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def polygamma(order: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]: ...
