"""Synthetic codes by OpenDP's extension for mbi: run by the interpreter of its own environment.

python run_opendp.py GIVEN.npz FOUND.npy EPSILON MECHANISM
"""

import sys
import warnings

import numpy as np
import opendp.prelude as dp
import polars as pl

warnings.simplefilter("ignore")
dp.enable_features("contrib")
given, found, epsilon, mechanism = sys.argv[1:]
with np.load(given) as data:
    records, sizes = data["records"].astype(np.int64), data["sizes"].tolist()
names = [f"c{at}" for at in range(len(sizes))]
frame = pl.DataFrame(records, schema=names)


def delta_of(rho, epsilon):
    """Return the delta of zero-concentrated privacy [CKS20, Corollary 13], over a grid of orders."""
    alpha = 1 + np.geomspace(1e-3, 1e4, 20_000)
    logs = (alpha - 1) * (alpha * rho - epsilon) - np.log(alpha - 1) + alpha * np.log1p(-1 / alpha)
    return np.exp(logs.min())


# With all keys known its algorithms take a budget without delta: of zero-concentrated privacy [BS16], the largest that
# keeps (epsilon, delta).
low, high = 0.0, float(epsilon)
for _ in range(60):
    middle = (low + high) / 2
    low, high = (middle, high) if delta_of(middle, float(epsilon)) <= 1e-6 else (low, middle)
# A number with few digits: what it splits for itself must not add up to more than there is.
low = np.floor(low * 2**16) / 2**16
context = dp.Context.compositor(
    data=frame.lazy(),
    privacy_unit=dp.unit_of(contributions=1),
    privacy_loss=dp.loss_of(rho=low),
)
table = (
    context.query(rho=low)
    .select(*names)
    .contingency_table(
        keys={name: list(range(size)) for name, size in zip(names, sizes, strict=True)},
        algorithm=dp.mbi.MST() if mechanism == "MST" else dp.mbi.AIM(),
    )
    .release()
)
np.save(found, table.synthesize(rows=len(frame)).select(names).fill_null(0).to_numpy())
