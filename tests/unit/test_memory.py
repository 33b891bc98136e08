"""What there is no memory for is a MemoryError, and no end of the process."""

import subprocess
import sys

import pytest

pytest.importorskip("resource", reason="needs limits of a process")

PROGRAM = """
import resource
import numpy as np
import simplexdp as sdp
from simplexdp import _core
from simplexdp.frames import count_table
from simplexdp.models import PrivateBayesianNetwork

urn = sdp.DirichletMechanism(prior=[1.0] * 3, scale=1.0)
network = PrivateBayesianNetwork(edges=[("a", "b")], domains={"a": 2, "b": 2}).fit({"a": [0, 1], "b": [0, 1]})
family = _core.HellingerFamily(np.ones(2), 10)
zeros = _core.SumPreservingNoise((3, 1), 2)
codes = np.zeros(10, dtype=np.int8)
calls = {
    "table": lambda: count_table({"a": codes, "b": codes}, ["a", "b"], {"a": 2**15, "b": 2**15}),
    "column": lambda: count_table({"a": codes}, ["a"], {"a": 2**30}),
    "urn": lambda: urn.release_counts([1, 2, 3], size=2**30),
    "records": lambda: network.sample(10**10),
    "endless records": lambda: network.sample(2**62),
    "gamma": lambda: sdp.simulation.gamma(1.0, size=2**30),
    "dirichlet": lambda: sdp.simulation.dirichlet([1.0, 1.0], size=2**29),
    "noise": lambda: sdp.simulation.discrete_laplace(3.0, size=2**30),
    "candidates": lambda: family.draws(np.array([5, 5]), 1.0, 2**40),
    "endless candidates": lambda: family.draws(np.array([5, 5]), 1.0, 2**63),
    "rows": lambda: zeros.draws(2**40),
    "endless rows": lambda: zeros.draws(2**63),
    "words": lambda: _core.random_words(2**40),
}
pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (pages + 2**30, -1))
for name, call in calls.items():
    try:
        call()
    except (MemoryError, sdp.SimplexDpError) as error:
        print(name, type(error).__name__, sep=": ")
assert urn.release([1, 2, 3]).sum() == 1.0
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_there_is_no_memory_for_is_an_error():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = dict(line.split(": ") for line in done.stdout.splitlines())
    assert list(found) == [line.split('"')[1] for line in PROGRAM.splitlines() if line.startswith('    "')]
    # What is more than any machine has is refused with the limit, before memory is asked for.
    refused = {name for name, error in found.items() if error != "MemoryError"}
    assert refused <= {"endless records", "records", "gamma", "dirichlet", "noise"}, found
    assert {found[name] for name in refused} <= {"InvalidParameterError"}, found
