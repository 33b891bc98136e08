"""Rules for spellings go with a model into its file and out of it again."""

import json

import numpy as np
import pytest

from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Cleaning, Domain
from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB, PrivateSynthesizer

CLEAN = Cleaning(fold=True, replace={r"[^a-z ]": "", "colou?r": "hue"}, values={"influenza": "flu", "n a": None})
DRUG = Domain(["flu", "cold", None], other=True, clean=CLEAN)
RECORDS = {"drug": [" Influenza.", "FLU", "n  a", "gout", "Cold"] * 40, "sex": [0, 1] * 100}


def test_models_are_read_with_their_rules():
    bayes = PrivateCategoricalNB(categories={"drug": DRUG}, classes=[0, 1]).fit(RECORDS, "sex")
    network = PrivateBayesianNetwork([("sex", "drug")], {"sex": 2, "drug": DRUG}).fit(RECORDS)
    synthesizer = PrivateSynthesizer(1.0, 1e-6, domains={"sex": 2, "drug": DRUG}, components=4).fit(RECORDS)
    for model in (bayes, network, synthesizer):
        text = model.to_json()
        loaded = type(model).from_json(text)
        domains = loaded.domains_ if isinstance(loaded.domains_, list) else [loaded.domains_["drug"]]
        assert domains[0] == DRUG
        assert domains[0].clean == CLEAN
        assert json.loads(loaded.to_json()) == json.loads(text)
    messy = {"drug": ["  INFLUENZA!!", "flu", "NA"]}
    proba = PrivateCategoricalNB.from_json(bayes.to_json()).predict_proba(messy)
    assert np.array_equal(proba, bayes.predict_proba(messy))
    assert np.array_equal(proba[0], proba[1])


def test_classes_have_rules_too():
    records = {"x": [0, 1] * 50, "sex": [" F", "m "] * 50}
    classes = Domain(["f", "m"], clean=Cleaning(fold=True))
    model = PrivateCategoricalNB(categories={"x": 2}, classes=classes).fit(records, "sex")
    assert PrivateCategoricalNB.from_json(model.to_json()).classes_.tolist() == ["f", "m"]
    assert json.loads(model.to_json())["class"]["clean"]["fold"] is True


@pytest.mark.parametrize(
    "wrong",
    [
        "trim", [], {"fold": 1}, {"unicode": "NFX"}, {"replace": {"a": "b"}}, {"replace": [["(", ""]]},
        {"replace": [["a", 1]]}, {"replace": [["a"]]}, {"replace": [["a", "\\9"]]}, {"values": {"a": 1}},
        {"values": []}, {"more": 1},
    ],
    ids=str,
)  # fmt: skip
def test_rules_that_are_none_are_refused(wrong):
    content = json.loads(PrivateBayesianNetwork([], {"drug": DRUG}).fit(RECORDS).to_json())
    rules = content["nodes"][0]["clean"]
    content["nodes"][0]["clean"] = {**rules, **wrong} if isinstance(wrong, dict) else wrong
    with pytest.raises(InvalidParameterError):
        PrivateBayesianNetwork.from_json(json.dumps(content))
