"""The levels of ``--other`` and ``--null``: one meaning of a name, whichever command is told it."""

import json

import numpy as np
import pytest
from cli_files import BUDGET

from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB

MUCH = ("--epsilon", "30", "--delta", "1e-6", "--mechanism", "gaussian")
"""So much budget that released shares are the true ones to two digits."""


@pytest.fixture
def records(folder):
    """Ages that are 0 in four records of ten, 1 in three, unseen in two and missing in one."""
    ages = ["0"] * 400 + ["1"] * 300 + ["77"] * 200 + [""] * 100
    (folder / "ages.csv").write_text("sick,age\n" + "".join(f"{'yes' if age == '0' else 'no'},{age}\n" for age in ages))
    (folder / "ages.json").write_text('{"sick": ["yes", "no"], "age": 3}')
    return "ages.csv"


LEVELS = {
    "both listed": (["--null", "0", "--other", "2"], [0, 1, 2], [0.5, 0.3, 0.2]),
    "the same": (["--null", "1", "--other", "1"], [0, 1, 2], [0.4, 0.6, 0.0]),
    "one listed": (["--null", "none", "--other", "1"], [0, 1, 2, "none"], [0.4, 0.5, 0.0, 0.1]),
    "none listed": (["--null", "none", "--other", "rest"], [0, 1, 2, "none", "rest"], [0.4, 0.3, 0.0, 0.1, 0.2]),
}


@pytest.mark.parametrize("options, values, shares", LEVELS.values(), ids=LEVELS)
def test_a_name_that_the_domain_lists_is_that_value_in_every_command(
    simplexdp, folder, records, options, values, shares
):
    domain = ("--column", "age", "--domain", "0..2", *options, "--json")
    shown = simplexdp("release", records, *domain, *BUDGET, "--show-truth").json["rows"]
    assert [row["age"] for row in shown] == [str(value) for value in values]
    assert [row["true_count"] for row in shown] == [1000 * share for share in shares]
    shown = simplexdp("posterior", records, *domain, "--epsilon", "1", "--mechanism", "laplace", "--show-truth").json[
        "rows"
    ]
    assert [row["true_count"] for row in shown] == [1000 * share for share in shares]

    fit = (records, "--domains", "ages.json", *options, *MUCH, "--out")
    assert simplexdp("fit-bn", *fit, "network.json").code == 0
    network = PrivateBayesianNetwork.load(folder / "network.json")
    assert network.domains_["age"].levels == values
    np.testing.assert_allclose(network.cpds_["age"], shares, atol=0.02)
    assert network.score({"sick": ["yes"], "age": [0]}) == pytest.approx(
        np.log(network.cpds_["sick"][0] * network.cpds_["age"][0])
    )

    assert simplexdp("fit-nb", *fit, "model.json", "--target", "sick").code == 0
    model = PrivateCategoricalNB.load(folder / "model.json")
    # Levels that are no listed values collect what has none, under the names that a domain has for them.
    assert model.domains_[0].levels == [{"none": None, "rest": "other"}.get(value, value) for value in values]
    done = simplexdp("predict", "model.json", "--probabilities", "--json", stdin="age,x\n0,a\n1,b\n77,c\n,d\n")
    position = {str(value): code for code, value in enumerate(values)}
    codes = [0, 1, position[options[3]], position[options[1]]]
    np.testing.assert_allclose(
        [json.loads(line)["yes"] for line in done.out.splitlines()],
        np.exp(model.log_proba_of_codes([np.array(codes)]))[:, 0],
        rtol=1e-9,
    )


def test_the_text_of_a_level_is_counted_in_it(simplexdp):
    stdin = "a,b\nx,1\nnone,2\nrest,3\n,4\nz,5\n"
    done = simplexdp(
        "release", "--column", "a", "--domain", "x,y", "--other", "rest", "--null", "none",
        *BUDGET, "--show-truth", "--json", stdin=stdin,
    )  # fmt: skip
    assert {row["a"]: row["true_count"] for row in done.json["rows"]} == {"x": 1, "y": 0, "none": 2, "rest": 2}


@pytest.mark.parametrize("listed", ['[1, "1"]', "[1, 1.0]", "[1, true]", "[false, 0]"])
def test_values_that_are_one_value_somewhere_are_refused(simplexdp, folder, listed):
    (folder / "twice.json").write_text(f'{{"age": {listed}}}')
    done = simplexdp("fit-bn", "people.csv", "--domains", "twice.json", *BUDGET)
    assert (done.code, done.out) == (2, "")
    assert "every value once" in done.err
