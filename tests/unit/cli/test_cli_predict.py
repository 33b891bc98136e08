"""``simplexdp predict``: what the file of a classifier says of records."""

import csv
import io
import json

import numpy as np
import pytest
from cli_files import BUDGET

from simplexdp.models import PrivateBinner, PrivateCategoricalNB

FIT = ("fit-nb", "people.csv", "--target", "job", "--domains", "domains.json", *BUDGET, "--out", "model.json")


@pytest.fixture
def model(simplexdp):
    assert simplexdp(*FIT).code == 0


@pytest.mark.usefixtures("model")
def test_predictions_are_those_of_the_class(simplexdp, folder):
    rows = list(csv.DictReader((folder / "people.csv").read_text().splitlines()))
    model = PrivateCategoricalNB.load(folder / "model.json")
    columns = {name: [row[name] for row in rows] for name in model.columns_}
    columns = {
        name: [int(value) if 1 in model.domains_[place].levels else value for value in column]
        for place, (name, column) in enumerate(columns.items())
    }
    done = simplexdp("predict", "model.json", "people.csv")
    assert done.out.splitlines() == ["job", *model.predict(columns).tolist()]
    done = simplexdp("predict", "model.json", "people.csv", "--probabilities")
    shown = list(csv.DictReader(io.StringIO(done.out)))
    assert list(shown[0]) == ["job", *model.classes_.tolist()]
    found = [[float(row[label]) for label in model.classes_.tolist()] for row in shown]
    np.testing.assert_allclose(found, model.predict_proba(columns), rtol=1e-12)


@pytest.mark.usefixtures("model")
def test_every_form_holds_the_same(simplexdp, folder):
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    arguments = ("predict", "model.json", "people.csv", "--probabilities")
    lines = [json.loads(line) for line in simplexdp(*arguments, "--json").out.splitlines()]
    assert simplexdp(*arguments, "--out", "all.parquet", "--json").json["size"] == len(lines)
    assert pq.read_table(folder / "all.parquet").to_pylist() == lines
    assert simplexdp(*arguments, "--out", "all.csv").code == 0
    piped = simplexdp(*arguments, "-", stdin=(folder / "people.csv").read_bytes())
    assert (folder / "all.csv").read_text() == simplexdp(*arguments).out
    assert piped.code == 2  # one file only


@pytest.mark.usefixtures("model")
def test_a_record_that_the_model_cannot_place_is_refused_and_nothing_is_left(simplexdp, folder):
    text = (folder / "people.csv").read_text() + "1,clerk,SECRET,3\n"
    (folder / "new.csv").write_text(text)
    done = simplexdp("predict", "model.json", "new.csv", "--out", "predicted.csv")
    assert done.code == 1
    assert "'region' has values that the model does not know" in done.err
    assert "SECRET" not in done.err
    assert not list(folder.glob("predicted.csv*"))


def test_levels_for_other_and_missing_values_are_used(simplexdp):
    assert simplexdp(*FIT, "--other", "rest", "--null", "none").code == 0
    done = simplexdp("predict", "model.json", "--probabilities", "--json", stdin=b"region,age\nnorth,1\nSECRET,\n,77\n")
    assert done.code == 0
    assert len(done.out.splitlines()) == 3
    assert "SECRET" not in done.out


def test_models_of_python_are_read_with_their_bins_and_domains(simplexdp, folder):
    rng = np.random.default_rng(2)
    data = {"age": rng.normal(40, 10, 300), "code": rng.integers(0, 3, 300), "y": rng.choice(["a", "b"], 300)}
    binner = PrivateBinner(bounds={"age": (0, 100)}, n_bins=5)
    model = PrivateCategoricalNB(categories={"code": 3}, classes=["a", "b"], binner=binner).fit(data, "y")
    model.save(folder / "python.json")
    stdin = "age,code\n" + "".join(
        f"{age!r},{code}\n" for age, code in zip(data["age"].tolist(), data["code"], strict=True)
    )
    done = simplexdp("predict", "python.json", stdin=stdin.encode())
    assert done.out.splitlines() == ["y", *model.predict({"age": data["age"], "code": data["code"]}).tolist()]
    for bad in ("SECRET", "", "nan"):
        refused = simplexdp("predict", "python.json", stdin=f"age,code\n{bad},1\n".encode())
        assert refused.code == 1
        assert "column 'age' has missing values" in refused.err
        assert "SECRET" not in refused.err
    gaps = {**data, "age": np.where(data["age"] < 30, np.nan, data["age"])}
    model = PrivateCategoricalNB(categories={"code": 3}, classes=["a", "b"], binner=binner.set_params(null=True))
    model.fit(gaps, "y").save(folder / "gaps.json")
    done = simplexdp("predict", "gaps.json", stdin=b"age,code\n,1\nnan,2\n55.5,0\n")
    asked = {"age": [np.nan, np.nan, 55.5], "code": [1, 2, 0]}
    assert done.out.splitlines() == ["y", *model.predict(asked).tolist()]


@pytest.mark.parametrize(
    "content, said",
    [("{}", "must be a classifier"), ("SECRET", "got no JSON"), ("[]", "must be a classifier")],
)
def test_files_that_are_no_classifiers_are_refused(simplexdp, folder, content, said):
    (folder / "broken.json").write_text(content)
    done = simplexdp("predict", "broken.json", "people.csv")
    assert done.code == 2
    assert said in done.err


def test_a_classifier_of_an_array_has_no_names(simplexdp, folder):
    model = PrivateCategoricalNB(categories=[2], classes=[0, 1]).fit([[0], [1]], [0, 1])
    model.save(folder / "array.json")
    assert "must name its features" in simplexdp("predict", "array.json", "people.csv").err
    assert "must have a name" in simplexdp("synthesize", "array.json", "--size", "3").err


MIXED = {"job": ["clerk", "smith"], "age": {"edges": [0, 30, 50, 100], "null": True}, "ward": ["eye", "ear"]}
UNSEEN = "job,age,ward\nclerk,22.5,SECRET\nsmith,61,\nsmith,,eye\nclerk,30,rest\nclerk,49.9,unknown\n"


@pytest.fixture
def mixed(simplexdp, folder):
    """A classifier with bins, a level for other values and one for missing ones."""
    (folder / "mixed.json").write_text(json.dumps(MIXED))
    kinds = ["clerk,25,eye", "clerk,28,ear", "smith,55,eye", "smith,60,x", "clerk,,", "smith,70,unknown"]
    (folder / "mixed.csv").write_text("job,age,ward\n" + "\n".join(kinds * 60) + "\n")
    done = simplexdp(
        "fit-nb", "mixed.csv", "--target", "job", "--domains", "mixed.json", "--other", "rest", "--null", "unknown",
        "--epsilon", "50", "--delta", "1e-6", "--out", "mixed-model.json",
    )  # fmt: skip
    assert done.code == 0, done.err
    (folder / "unseen.csv").write_text(UNSEEN)
    return PrivateCategoricalNB.load(folder / "mixed-model.json")


def test_a_loaded_classifier_takes_what_the_command_takes(simplexdp, mixed):
    done = simplexdp("predict", "mixed-model.json", "unseen.csv", "--probabilities")
    assert done.code == 0, done.err
    shown = [[float(row[label]) for label in mixed.classes_] for row in csv.DictReader(io.StringIO(done.out))]
    frame = {"age": [22.5, 61.0, np.nan, 30.0, 49.9], "ward": ["SECRET", None, "eye", "rest", "unknown"]}
    found = mixed.predict_proba(frame)
    np.testing.assert_allclose(found, shown, rtol=1e-12)
    again = PrivateCategoricalNB.from_json(mixed.to_json())
    np.testing.assert_array_equal(again.predict_proba(frame), found)
    # Of each level the table is that of its name: smiths alone have a ward that is not listed.
    wards = mixed.predict_proba({"age": [np.nan] * 2, "ward": ["SECRET", "ear"]})
    smith = list(mixed.classes_).index("smith")
    assert wards[0, smith] > wards[1, smith]


def test_bins_are_those_that_were_stated(mixed):
    assert mixed.bin_edges_["age"].tolist() == [30.0, 50.0]
    found = mixed.predict({"age": [-5.0, 29.9, 50.0, 1e9], "ward": ["eye"] * 4})
    assert found.tolist() == ["clerk", "clerk", "smith", "smith"]


def test_values_that_no_level_collects_are_refused_by_the_loaded_classifier(simplexdp, folder):
    assert simplexdp(*FIT).code == 0
    model = PrivateCategoricalNB.load(folder / "model.json")
    from simplexdp.exceptions import InvalidDataError

    with pytest.raises(InvalidDataError):
        model.predict({"region": ["SECRET"], "age": [1]})
