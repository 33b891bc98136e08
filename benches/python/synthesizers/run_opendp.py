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
# Its algorithms take a budget of zero-concentrated privacy [BS16]: the largest that keeps (epsilon, delta).
context = dp.Context.compositor(
    data=frame.lazy(),
    privacy_unit=dp.unit_of(contributions=1),
    privacy_loss=dp.loss_of(epsilon=float(epsilon), delta=1e-6),
)
table = (
    context.query(epsilon=float(epsilon), delta=1e-6)
    .select(*names)
    .contingency_table(
        keys={name: list(range(size)) for name, size in zip(names, sizes, strict=True)},
        algorithm=dp.mbi.MST() if mechanism == "MST" else dp.mbi.AIM(),
    )
    .release()
)
np.save(found, table.synthesize(rows=len(frame)).select(names).fill_null(0).to_numpy())
