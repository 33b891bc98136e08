"""What the command line says of a guarantee is never less than it is."""

import re

import pytest

from simplexdp.cli.guarantee import sentence


@pytest.mark.parametrize("epsilon", [1.0, 0.1234564, 2.0000001])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 1.23456489e-7])
def test_no_figure_is_rounded_down(epsilon, delta):
    spent = epsilon * (1 - 1e-9)
    words = sentence(
        {"epsilon": epsilon, "delta": delta, "spent_epsilon": spent, "exact": True, "adjacency": "replace"}
    )
    stated, shown_delta = re.match(r"Guarantee: \(?([\d.e-]+?)(?:, ([\d.e-]+)\))?-diff", words).groups()
    assert epsilon <= float(stated) <= epsilon * (1 + 1e-5)
    assert delta <= float(shown_delta or 0) <= delta * (1 + 1e-5)
    assert spent <= float(re.search(r"exactly epsilon = ([\d.]+?)(?:\.$| )", words)[1]) <= spent * (1 + 1e-5)
