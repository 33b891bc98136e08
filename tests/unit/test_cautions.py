"""Words to users whose budget is not what they think: one warning each, which says what to do."""

import warnings

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp._cautions import caution_delta, caution_epsilon


def test_a_delta_of_one_in_n_is_warned_of_and_less_is_not():
    with pytest.warns(sdp.WeakGuaranteeWarning, match="take a delta of 1e-04 or less"):
        caution_delta(1e-3, 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        caution_delta(9e-4, 1000)
        caution_delta(0.0, 1000)


def test_an_epsilon_above_ten_is_warned_of():
    with pytest.warns(sdp.WeakGuaranteeWarning, match=r"sdp\.plan"):
        caution_epsilon(10.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        caution_epsilon(10.0)


def test_a_search_without_an_accountant_is_warned_of():
    from sklearn.model_selection import GridSearchCV, cross_val_score

    from simplexdp.models import PrivateCategoricalNB

    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (300, 2)), rng.integers(0, 2, 300)
    model = PrivateCategoricalNB(1.0, categories=[3, 3], classes=[0, 1])
    with pytest.warns(sdp.WeakGuaranteeWarning, match="give it an accountant=sdp.Accountant"):
        cross_val_score(model, X, y, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)  # one fit is one release
        paid = model.set_params(accountant=sdp.Accountant(9.0, 1e-4))
        GridSearchCV(paid, {"count_floor": [0.5, 1.0]}, cv=2).fit(X, y)
    # Two values in two folds, and the best one again.
    assert len(paid.accountant.spends()) == 5


def test_the_command_line_warns_of_delta_and_names_its_own_option(tmp_path, capsys):
    import json

    from simplexdp.cli import main

    table, domains = tmp_path / "p.csv", tmp_path / "d.json"
    table.write_text("job,sex\n" + "a,f\n" * 60 + "b,m\n" * 39 + "c,m\n")
    domains.write_text(json.dumps({"job": ["a", "b"], "sex": ["f", "m"]}))
    code = main(["release", str(table), "--column", "sex", "--domain", "f,m", "--epsilon", "1", "--delta", "0.01"])
    assert code == 0
    assert "A delta of one in 100 records or more" in capsys.readouterr().err
    code = main(
        ["fit-nb", str(table), "--target", "sex", "--domains", str(domains), "--epsilon", "1", "--delta", "1e-6"]
    )
    assert code == 1
    message = capsys.readouterr().err
    assert "values that --domains does not list" in message
    assert "--domain " not in message
