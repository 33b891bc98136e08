"""Records of a classifier over categories: from what a caller hands over to codes and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets

from simplexdp._cautions import OneLeak
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import count_tables, encode
from simplexdp.frames.coded import count_codes
from simplexdp.frames.domain import Domain, DomainLike, as_domain, is_null
from simplexdp.frames.encoding import encode_column, encode_columns
from simplexdp.frames.persons import with_kept
from simplexdp.frames.sharing import SHARING
from simplexdp.frames.source import as_frame, columns_alone, is_lazy
from simplexdp.models.bins import BinPlan, check_binner, columns_to_bin
from simplexdp.models.classifying import CLASS_COLUMN, PrivateClassifier, class_domain, is_frame, is_mapping
from simplexdp.models.cuts import Cut, with_codes
from simplexdp.models.domains import resolve_domains
from simplexdp.models.few_rows import few_rows
from simplexdp.models.persons import SINGLE_RECORDS, Persons
from simplexdp.models.validation import checked, labels_of

if TYPE_CHECKING:
    from simplexdp.models.binning import PrivateBinner
    from simplexdp.testing import SeededRng

__all__ = ["CategoricalRecords", "Records", "is_a_lazy_frame"]

_CLASSES = "\0classes"
"""Of the records beside a frame: no column is called that."""


@dataclass(frozen=True)
class Records:
    """Features and classes of some records.

    Parameters
    ----------
    frame : narwhals frame, ndarray or mapping
    classes : str or ndarray
        The classes, or the column of the frame that holds them.
    columns : list
        The features.
    sharing : ndarray of int, optional
        How many records of the person of each count, where persons count as one and the frame is not lazy.
    """

    frame: Any
    classes: Any
    columns: list[Any]
    sharing: NDArray[np.int64] | None = None

    def kept(self, rows: NDArray[np.bool_]) -> Records:
        """Return some of the records, of a frame that is not lazy."""
        if isinstance(self.classes, str):
            return Records(with_kept(self.frame, rows, [self.classes, *self.columns]), self.classes, self.columns)
        return Records(with_kept(self.frame, rows, self.columns), self.classes[rows], self.columns)


class CategoricalRecords(PrivateClassifier):
    """A classifier that knows its columns, their domains and classes, and makes codes and counts of records.

    What is public about the records is settled by the first call; it is stated by the parameters of the classifier.
    """

    classes: Sequence[Any] | None
    categories: Any
    min_categories: ArrayLike | None
    adjacency: str
    binner: PrivateBinner | None
    unit: Any
    random_state: SeededRng | None
    _class_domain: Domain
    _class_name: str | None
    _columns: list[Any]
    _domains: list[Domain]
    _bins: BinPlan | None
    _cuts: dict[Any, Cut]

    @property
    def _persons(self) -> Persons:
        """Whose records were counted: each its own in `partial_fit`."""
        return getattr(self, "_counted_persons", SINGLE_RECORDS)

    def _bounded(self, data: Records) -> Records:
        """Return so many records of each person."""
        if isinstance(data.classes, str):
            frame, beside = self._persons.bounded(data.frame, [data.classes, *data.columns])
            return Records(frame, data.classes, data.columns, beside.get(SHARING))
        frame, beside = self._persons.bounded(data.frame, data.columns, {_CLASSES: data.classes})
        return Records(frame, beside[_CLASSES], data.columns, beside.get(SHARING))

    def _records(self, X: Any, y: Any, *, first: bool) -> Records:
        """Check the data and settle, in the first call, what is public about them."""
        with OneLeak():
            return self._settled(X, y, first=first)

    def _settled(self, X: Any, y: Any, *, first: bool) -> Records:
        data = self._with_class_column(X, y, first=first) if isinstance(y, str) else self._with_classes(X, y, first)
        if first:
            self._class_name = y if isinstance(y, str) else None
            stated = self._stated_domains(data.columns)
            self._bins = self._bin_plan(data.columns, stated)
            numeric = [] if self._bins is None else self._bins.columns
            categorical = [column for column in data.columns if column not in numeric]
            domains = resolve_domains(data.frame, categorical, stated, "categories")
            if self._bins is not None:
                domains.update(self._bins.domains())
            self._domains = [domains[column] for column in data.columns]
            self._columns = data.columns
            self._cuts = {}
            if self._bins is not None and not self._bins.looks_at_data:
                self._bin(None)
        elif isinstance(y, str):
            data = Records(data.frame, data.classes, self._columns)
        return data

    def _with_class_column(self, X: Any, y: str, *, first: bool) -> Records:
        frame = as_frame(X)
        if isinstance(frame, np.ndarray):
            raise InvalidParameterError("y must hold the classes when X is an array, got the name of a column")
        names = list(frame) if isinstance(frame, Mapping) else frame.collect_schema().names()
        if y not in names:
            raise InvalidParameterError(f"y must name a column of X, got {y!r}")
        columns = self._features([name for name in names if name != y])
        if first:
            self._keep_names(columns)
        elif set(columns) != set(self._columns):
            raise InvalidDataError(f"X must have the columns {self._columns!r}, as in the first call")
        if not hasattr(self, "_class_domain"):
            stated = None if self.classes is None else {y: class_domain(self.classes)}
            self._class_domain = resolve_domains(frame, [y], stated, "classes")[y]
        return Records(frame, y, columns)

    def _with_classes(self, X: Any, y: Any, first: bool) -> Records:
        if is_mapping(X):
            y = labels_of(y)
            frame, columns = X, self._features(list(X))
            if first:
                self._keep_names(columns)
        elif is_frame(X):
            if is_lazy(as_frame(X)):
                raise InvalidParameterError("y must name the column of classes when X is a lazy frame")
            checked(self, X, y, skip_check_array=True, reset=first)
            y = labels_of(y)
            frame = as_frame(X)
            columns = self._features(list(frame.columns))
            if first and self._persons.columns:
                self._keep_names(columns)
        else:
            if self._persons.columns:
                raise InvalidParameterError(
                    "unit and first_by must be None for an array X, whose columns are features: give persons to fit"
                )
            # Under "add_remove" nobody may be told that there is no record.
            options = {"ensure_all_finite": "allow-nan", "ensure_min_samples": int(self.adjacency != "add_remove")}
            X, y = checked(self, X, y, dtype=None, **options, reset=first)
            frame, columns = X, list(range(X.shape[1]))
        if y.dtype.kind == "O" and any(map(is_null, y)):
            raise InvalidDataError("y must have no missing value (the row is not shown)")
        if y.dtype.kind == "f":  # all others are classes; to ask takes as long as to count them
            check_classification_targets(y)
        if not hasattr(self, "_class_domain"):
            stated = None if self.classes is None else {CLASS_COLUMN: class_domain(self.classes)}
            self._class_domain = resolve_domains({CLASS_COLUMN: y}, [CLASS_COLUMN], stated, "classes")[CLASS_COLUMN]
        return Records(frame, y, columns)

    def _features(self, columns: list[Any]) -> list[Any]:
        """Return the columns without those that say whose record it is, and which comes first."""
        stated = self.categories if isinstance(self.categories, Mapping) else ()
        beside = [name for name in self._persons.columns if name == self.unit or name not in stated]
        features = [name for name in columns if name not in beside]
        if not features:
            raise InvalidDataError("X must have at least one feature beside its classes")
        return features

    def _keep_names(self, columns: list[Any]) -> None:
        self.n_features_in_ = len(columns)
        if all(isinstance(column, str) for column in columns):
            self.feature_names_in_ = np.array(columns, dtype=object)

    def _bin_plan(self, columns: list[Any], stated: dict[Any, DomainLike] | None) -> BinPlan | None:
        if self.binner is None:
            return None
        check_binner(self.binner)
        wanted = columns_to_bin(self.binner, columns, list(stated or ()))
        return BinPlan.of(self.binner, wanted, self._persons.max_rows)

    def _bin(self, sample: Any) -> None:
        """Find the edges of the numeric columns, and with them their domains."""
        assert self._bins is not None  # asked by the caller
        self._cuts = self._bins.cuts(sample, self.random_state)
        self._domains = [
            self._cuts[column].domain if column in self._cuts else domain
            for column, domain in zip(self._columns, self._domains, strict=True)
        ]

    def _stated_domains(self, columns: list[Any]) -> dict[Any, DomainLike] | None:
        if self.categories is not None:
            if isinstance(self.categories, Mapping):
                return {column: self.categories[column] for column in columns if column in self.categories}
            if isinstance(self.categories, (str, bytes)) or not isinstance(self.categories, Sequence | np.ndarray):
                raise InvalidParameterError(
                    f"categories must list one domain for each feature, got {self.categories!r}"
                )
            if len(self.categories) != len(columns):
                raise InvalidParameterError(
                    f"categories must list one domain for each of {len(columns)} features, got {len(self.categories)}"
                )
            stated = zip(columns, self.categories, strict=True)
            return {column: as_domain(domain) for column, domain in stated if domain is not None}
        if self.min_categories is None:
            return None
        sizes = np.asarray(self.min_categories)
        if sizes.dtype.kind not in "iu" or sizes.ndim > 1 or (sizes.ndim == 1 and len(sizes) != len(columns)):
            raise InvalidParameterError(f"min_categories must be one integer or one for each feature, got {sizes!r}")
        return dict(zip(columns, np.broadcast_to(sizes, len(columns)).tolist(), strict=True))

    def _tables(self, data: Records, columns: list[Any]) -> list[NDArray[np.int64]]:
        """Count the classes, and each of these columns with them."""
        if data.sharing is None:
            return self._tables_of(data, columns)
        return self._persons.in_units(lambda rows: self._tables_of(data.kept(rows), columns), data.sharing)

    def _tables_of(self, data: Records, columns: list[Any]) -> list[NDArray[np.int64]]:
        n_classes = len(self._class_domain)
        frame = with_codes(data.frame, self._cuts)
        domains = dict(zip(self._columns, self._domains, strict=True))
        if isinstance(data.classes, str):
            pairs = [[data.classes], *([data.classes, column] for column in columns)]
            whole = {data.classes: self._class_domain, **domains}
            # The records that an eager frame has are weighted by who counts them.
            counted = self._persons.count_tables if is_a_lazy_frame(frame) else count_tables
            tables = counted(frame, pairs, whole)
            tables[0] = tables[0].reshape(1, n_classes)
            return tables
        features = encode_columns(frame, domains, columns)
        classes = encode_column({CLASS_COLUMN: data.classes}, CLASS_COLUMN, self._class_domain)
        if any(len(codes) != len(classes) for codes in features.values()):
            raise InvalidDataError("X and y must have the same number of records")
        tables = [count_codes([CLASS_COLUMN], [classes], [self._class_domain]).reshape(1, n_classes)]
        for column, codes in features.items():
            pair = [self._class_domain, domains[column]]
            tables.append(count_codes([CLASS_COLUMN, column], [classes, codes], pair))
        return tables

    def _encode(self, X: Any) -> list[NDArray[np.integer[Any]]]:
        """Return the features of records whose classes are asked for as codes."""
        rows = few_rows(X, self._columns) if hasattr(self, "feature_names_in_") else None
        codes = None if rows is None else self._codes_of_rows(rows)
        return self._encode_all(X) if codes is None else codes

    def _codes_of_rows(self, rows: list[Any]) -> list[NDArray[np.integer[Any]]] | None:
        """Return a few records as codes; None where a number that is to be binned is none."""
        features = []
        for values, column, domain in zip(zip(*rows, strict=True), self._columns, self._domains, strict=True):
            cut = self._cuts.get(column)
            if cut is None:
                features.append(np.array([domain.code(value, column) for value in values]))
            elif all(type(value) in (int, float) and value == value for value in values):
                features.append(np.searchsorted(cut.edges, np.array(values, dtype=np.float64), side="right"))
            else:
                return None
        return features

    def _encode_all(self, X: Any) -> list[NDArray[np.integer[Any]]]:
        if is_frame(X) or is_mapping(X):
            frame = as_frame(X)
            positions = list(range(len(self._columns)))
            if self._columns == positions and not hasattr(self, "feature_names_in_") and not is_mapping(X):
                # A frame after an array: its columns are the features in their order.
                frame = frame.collect() if is_lazy(frame) else frame
                checked(self, frame.to_native(), skip_check_array=True, reset=False)
                frame = {position: frame.get_column(name) for position, name in enumerate(frame.columns)}
            if not isinstance(frame, Mapping):
                # The column of classes, if there is one, is not looked at.
                if set(self._columns) < set(frame.collect_schema().names()):
                    frame = columns_alone(frame, self._columns)
                frame = frame.collect() if is_lazy(frame) else frame
                checked(self, frame.to_native(), skip_check_array=True, reset=False)
        else:
            frame = checked(self, X, dtype=None, ensure_all_finite="allow-nan", reset=False)
        columns = self._columns
        if isinstance(frame, np.ndarray) and columns != list(range(len(columns))):
            # An array after a frame: its columns are the features in their order.
            frame = dict(zip(columns, frame.T, strict=True))
        frame = with_codes(frame, self._cuts)
        return encode(frame, columns, dict(zip(columns, self._domains, strict=True)))


def is_a_lazy_frame(frame: Any) -> bool:
    """Whether records are counted where they are."""
    return not isinstance(frame, (np.ndarray, Mapping)) and is_lazy(as_frame(frame))
