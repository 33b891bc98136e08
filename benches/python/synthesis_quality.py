"""How close synthetic records are to real ones: tables of one to five columns, correlations, a classifier."""

import itertools

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

FIVES = 100
"""So many groups of five columns are looked at, always the same."""


def groups(n_columns, order):
    """Return the groups of so many columns that are compared."""
    if order < 5:
        return list(itertools.combinations(range(n_columns), order))
    rng = np.random.default_rng(5)
    return [tuple(sorted(rng.choice(n_columns, order, replace=False).tolist())) for _ in range(FIVES)]


def distance(real, synthetic, sizes, group):
    """Return the total variation distance of one table; the records of each side weigh one together."""
    shape = [sizes[column] for column in group]
    cells = [np.ravel_multi_index([records[:, column] for column in group], shape) for records in (real, synthetic)]
    n_cells = int(np.prod(shape))
    if n_cells > 1 << 20:
        # Only cells that hold a record matter.
        found, places = np.unique(np.concatenate(cells), return_inverse=True)
        n_cells, cells = len(found), np.split(places, [len(real)])
    shares = [np.bincount(each, minlength=n_cells) / len(each) for each in cells]
    return 0.5 * np.abs(shares[0] - shares[1]).sum()


def distances(real, synthetic, sizes, order):
    """Return the total variation distance of each group of so many columns."""
    return np.array([distance(real, synthetic, sizes, group) for group in groups(len(sizes), order)])


def correlations_off(real, synthetic, numeric):
    """Return the mean absolute difference of the correlations of numeric columns, by their bins."""
    with np.errstate(invalid="ignore", divide="ignore"):
        both = [np.nan_to_num(np.corrcoef(records[:, numeric].T)) for records in (real, synthetic)]
    upper = np.triu_indices(len(numeric), 1)
    return np.abs(both[0] - both[1])[upper].mean()


def learned(train, test):
    """Return accuracy and area under the curve of gradient boosting; the class is the last column.

    Of more than two classes the area is the mean of those of each class against the others.
    """
    if len(np.unique(train[:, -1])) < 2:
        # A single class teaches nothing.
        return np.array([np.mean(test[:, -1] == train[0, -1]), 0.5])
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(train[:, :-1], train[:, -1])
    chances = model.predict_proba(test[:, :-1])
    accuracy = np.mean(model.classes_[chances.argmax(axis=1)] == test[:, -1])
    classes = np.unique(test[:, -1])
    looked_at = classes[1:] if len(classes) == 2 else classes
    of_class = dict(zip(model.classes_, chances.T, strict=True))
    unseen = np.zeros(len(test))
    areas = [roc_auc_score(test[:, -1] == each, of_class.get(each, unseen)) for each in looked_at]
    return np.array([accuracy, np.mean(areas)])


def learned_from_real(records):
    """Return the same of real records, five-fold: no record is asked of a classifier that has seen it."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(records, records[:, -1])
    return np.mean([learned(records[train], records[test]) for train, test in folds], axis=0)


def quality(real, synthetic, sizes, numeric, *, classifier=True):
    """Return a row: pairs, largest pair, one-way, three-way, five-way, correlations, accuracy, AUC."""
    pairs = distances(real, synthetic, sizes, 2)
    of = [pairs.mean(), pairs.max(), *(distances(real, synthetic, sizes, order).mean() for order in (1, 3, 5))]
    taught = learned(synthetic, real) if classifier else learned_from_real(real)
    return np.array([*of, correlations_off(real, synthetic, numeric), *taught])
