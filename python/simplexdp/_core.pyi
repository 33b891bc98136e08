# Stub of the compiled module, in the order of rust/py/src; the prose stands in the public Python functions.

from collections.abc import Sequence
from typing import Any, SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "SeededRng",
    "__version__",
    "count_table",
    "hellinger_dirichlet",
    "kl_dirichlet",
    "random_words",
    "renyi_dirichlet",
]

__version__: str

# divergence.rs
def renyi_dirichlet(
    u: NDArray[np.float64], v: NDArray[np.float64], dimension: int, order: NDArray[np.float64]
) -> NDArray[np.float64]: ...
def kl_dirichlet(u: NDArray[np.float64], v: NDArray[np.float64], dimension: int) -> NDArray[np.float64]: ...
def hellinger_dirichlet(u: NDArray[np.float64], v: NDArray[np.float64], dimension: int) -> NDArray[np.float64]: ...

# counting.rs
def count_table(columns: Sequence[NDArray[np.integer[Any]]], cardinalities: Sequence[int]) -> NDArray[np.int64]: ...

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
