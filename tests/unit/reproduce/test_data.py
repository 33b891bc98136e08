"""Data sets and structures for the figures: files, the bundled set, quantile bins."""

import gzip
from importlib import resources

import numpy as np
import pytest

from simplexdp.datasets import german_credit
from simplexdp.exceptions import InvalidParameterError
from simplexdp.reproduce.data import NUMERIC, available, bundled, load, structures


def test_the_bundled_set_is_what_its_file_gives(tmp_path):
    source = resources.files("simplexdp.datasets").joinpath("german_credit.csv.gz")
    (tmp_path / "germancredit.csv.gz").write_bytes(source.read_bytes())
    from_file, ours = load(tmp_path, "germancredit"), bundled()
    assert from_file.cardinalities == ours.cardinalities
    assert list(from_file.columns)[-1] == "class"
    for name in NUMERIC["germancredit"]:
        np.testing.assert_array_equal(from_file.columns[name], ours.columns[name])


def test_numeric_columns_fall_into_ten_bins_of_quantiles():
    codes, amount = bundled().columns["amount"], german_credit()["amount"]
    assert bundled().cardinalities["amount"] == 10
    # Equal amounts stay together: a bin is off by less than the largest group of them.
    largest = np.unique(amount, return_counts=True)[1].max()
    np.testing.assert_allclose(np.bincount(codes), 100, atol=largest - 1)
    assert (np.diff(codes[np.argsort(amount)]) >= 0).all()


def test_missing_values_are_a_level_of_their_own(tmp_path):
    with gzip.open(tmp_path / "adult.csv.gz", "wt", encoding="utf-8") as text:
        text.write("workclass,class\nPrivate,a\n,b\nPrivate,a\n")
    assert load(tmp_path, "adult").cardinalities == {"workclass": 2, "class": 2}


def test_without_a_directory_the_bundled_set_stands_in(tmp_path):
    assert [data.name for data in available(None, list(NUMERIC))] == ["germancredit"]
    with pytest.raises(InvalidParameterError, match=r"spam\.csv\.gz"):
        available(tmp_path, ["spam"])


def test_structures_name_columns_of_the_data():
    assert {name: len(structure["edges"]) for name, structure in structures().items()} == {
        "adult": 13,
        "bank": 16,
        "germancredit": 14,
    }
    assert set(structures()["germancredit"]["nodes"]) <= set(bundled().columns)
