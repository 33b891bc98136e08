"""Synthetic codes by smartnoise-synth: run by the interpreter of its own environment.

python run_smartnoise.py GIVEN.npz FOUND.npy EPSILON MECHANISM
"""

import sys
import warnings

import numpy as np
import pandas as pd

warnings.simplefilter("ignore")
from snsynth import Synthesizer  # noqa: E402
from snsynth.transform import LabelTransformer, TableTransformer  # noqa: E402

given, found, epsilon, mechanism = sys.argv[1:]
with np.load(given) as data:
    records, sizes = data["records"].astype(int), data["sizes"].tolist()
names = [f"c{at}" for at in range(len(sizes))]
frame = pd.DataFrame(records, columns=names)
levels = [LabelTransformer(nullable=False) for _ in names]
for transformer, size in zip(levels, sizes, strict=True):
    # The levels are public.
    transformer.fit(range(size))
model = Synthesizer.create(mechanism.lower(), epsilon=float(epsilon), delta=1e-6)
model.fit(frame, transformer=TableTransformer(levels), preprocessor_eps=0.0)
np.save(found, model.sample(len(frame))[names].to_numpy().astype(int))
