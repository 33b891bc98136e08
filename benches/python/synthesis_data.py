"""The data sets of the comparisons of synthesizers, as codes.

Numeric columns get ten quantiles of the data as public bins, which a user could not do: it is what peers were measured
with, and both sides get the same.
"""

import csv
import gzip

import numpy as np

NUMERIC = {
    "adult": "age fnlwgt education-num capital-gain capital-loss hours-per-week",
    "bank": "age duration campaign pdays previous emp.var.rate cons.price.idx cons.conf.idx euribor3m nr.employed",
    "shopper": "Administrative Administrative_Duration Informational Informational_Duration ProductRelated "
    "ProductRelated_Duration BounceRates ExitRates PageValues SpecialDay",
    "germancredit": "duration amount age",
    "creditcard": "LIMIT_BAL AGE BILL_AMT1 BILL_AMT2 BILL_AMT3 BILL_AMT4 BILL_AMT5 BILL_AMT6 "
    "PAY_AMT1 PAY_AMT2 PAY_AMT3 PAY_AMT4 PAY_AMT5 PAY_AMT6",
    "thyroid": "age TSH T3 TT4 T4U FTI",
    "spam": None,
    "digit": None,
}
"""The columns of numbers; None where all but the class are."""

UNSEEN = ("thyroid", "spam", "digit")
"""No constant of the library was chosen with these."""

NAMES = tuple(name for name in NUMERIC if name not in UNSEEN)

COMPARED = (*NAMES, "thyroid")
"""Those that peers are run on by default."""

WIDEST = ("spam", "digit")
"""Of some sixty columns: peers take many times as long."""


def coded(folder, name):
    """Return the records as codes, the number of levels of each column, and the positions of numeric columns.

    The last column is the class.
    """
    with gzip.open(folder / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    named = header[:-1] if NUMERIC[name] is None else NUMERIC[name].split()
    columns, numeric = [], []
    for at, (column, values) in enumerate(zip(header, zip(*rows, strict=True), strict=True)):
        if column in named:
            numbers = np.array(values, dtype=float)
            edges = np.unique(np.quantile(numbers, np.arange(1, 10) / 10))
            columns.append(np.searchsorted(edges, numbers, side="right"))
            numeric.append(at)
        else:
            columns.append(np.unique(values, return_inverse=True)[1])
    return np.stack(columns, axis=1).astype(np.int16), [int(column.max()) + 1 for column in columns], numeric
