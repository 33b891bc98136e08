"""Synthetic codes by dpmm: run by the interpreter of its own environment.

python run_dpmm.py GIVEN.npz FOUND.npy EPSILON MECHANISM
"""

import importlib
import sys
import warnings

import numpy as np
import pandas as pd

warnings.simplefilter("ignore")
given, found, epsilon, mechanism = sys.argv[1:]
models = {
    "MST": ("mst", "MSTGM"),
    "PrivBayes": ("priv_bayes", "PrivBayesGM"),
    "AIM": ("aim", "AIMGM"),
}
module, name = models[mechanism]

with np.load(given) as data:
    records, sizes = data["records"].astype(int), data["sizes"].tolist()
frame = pd.DataFrame(records, columns=[f"c{at}" for at in range(len(sizes))])
model = getattr(importlib.import_module(f"dpmm.models.{module}"), name)(epsilon=float(epsilon), delta=1e-6)
model.set_domain(dict(zip(frame.columns, sizes, strict=True)))
model.fit(frame)
np.save(found, model.generate(n_records=len(frame))[list(frame.columns)].to_numpy())
