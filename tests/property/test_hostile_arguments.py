"""No public function panics, hangs or warns, whatever it is given: it answers or raises one of our errors."""

import inspect
import math
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplexdp as sdp

# What a call may raise: our own errors, and Python's for a wrong number or kind of arguments and for missing files.
EXPECTED = (sdp.SimplexDpError, TypeError, FileNotFoundError)

NUMBERS = [0, 1, 2, -1, 0.5, 1.5, 1e-300, 1e300, -0.0, math.nan, math.inf, -math.inf, 2**53 + 1, 2**63, 2**70, -(2**70)]
ARRAYS = [
    np.array([]),
    np.array([[]]),
    np.array([1.0, 2.0, 3.0]),
    np.array([[1.0, 2.0], [3.0, 4.0]]),
    np.array([0.0, -1.0, math.nan]),
    np.array([math.inf, 1.0]),
    np.arange(12.0).reshape(3, 4)[:, ::2],
    np.arange(10)[::-1],
    np.array([2**63 - 1, 2**53 + 1]),
    np.array([2**70, 1], dtype=object),
    np.array([1j]),
    np.array(["a", "b"]),
    np.array([None, 1.0]),
    np.array([True, False]),
    np.float32(1.5),
    np.int8(3),
    np.array(2.5),
    np.asfortranarray(np.ones((2, 3))),
    np.ones((2, 2)).astype(">f8"),
]
OTHERS = [True, None, "text", b"bytes", [], [[]], [1.0, 2.0], [[1.0], [2.0, 3.0]], {}, {"a": 1}, object(), (1, 2), 1j]
HOSTILE = st.sampled_from(NUMBERS + ARRAYS + OTHERS)


def members(name):
    thing = getattr(sdp, name)
    if callable(thing):
        return {name: thing}
    return {f"{name}.{key}": getattr(thing, key) for key in getattr(thing, "__all__", [])}


def public_functions():
    found = {}
    for name in sdp.__all__:
        for path, member in members(name).items():
            if not callable(member) or (isinstance(member, type) and issubclass(member, BaseException)):
                continue
            found[path] = member
            if isinstance(member, type):
                constructors = [k for k, v in vars(member).items() if isinstance(v, classmethod) and k[0] != "_"]
                found |= {f"{path}.{key}": getattr(member, key) for key in constructors}
    return found


FUNCTIONS = public_functions()


@pytest.fixture(scope="module", autouse=True)
def _elsewhere(tmp_path_factory):
    """Some functions write to the path that they are given."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("hostile"))
    yield
    os.chdir(before)


def call_with_hostile_arguments(function, data):
    positional, keyword = [], {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.default is not parameter.empty and data.draw(st.booleans()):
            continue
        value = data.draw(HOSTILE, label=parameter.name)
        if parameter.kind is parameter.KEYWORD_ONLY or parameter.default is not parameter.empty:
            keyword[parameter.name] = value
        else:
            positional.append(value)
    try:
        function(*positional, **keyword)
    except EXPECTED:
        return


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@given(data=st.data())
def test_hostile_arguments_are_answered_or_refused(name, data):
    call_with_hostile_arguments(FUNCTIONS[name], data)


INSTANCES = {
    "curve": sdp.PrivacyCurve.gaussian(sigma=2.0),
    "composition": 3 * sdp.DirichletMechanism.posterior([1.0, 2.0, 3.0]).privacy,
    "dirichlet": sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=3),
    "dirichlet_statistic": sdp.DirichletMechanism(scale=0.5, prior=[2.0, 3.0], l2=1.0, linf=1.0),
    "discrete_laplace": sdp.DiscreteLaplaceMechanism(scale=2, sensitivity=2),
    "discrete_gaussian": sdp.DiscreteGaussianMechanism(sigma=2, sensitivity=2),
    "sum_preserving": sdp.SumPreservingLaplaceMechanism(scale=2, dimension=3),
    "laplace": sdp.LaplaceMechanism(scale=2.0, sensitivity=2, changed=2),
    "gaussian": sdp.GaussianMechanism(sigma=2.0, sensitivity=2, changed=2),
    "hellinger": sdp.HellingerMechanism(prior=[1.0, 2.0], n=12, epsilon=1.0),
    "posterior": sdp.HellingerMechanism(prior=[1.0, 2.0], n=12, epsilon=1.0).release([5, 7]),
    "accountant": sdp.Accountant(epsilon=1.0, delta=1e-6),
    "seeded": sdp.testing.SeededRng(1),
    "structure": sdp.accounting.Structure.naive_bayes(3),
    "domain": sdp.frames.Domain(["a", "b", None], other=True),
}
"""One good object of each kind, whose methods are called."""


def methods():
    found = {}
    for label, instance in INSTANCES.items():
        for name in dir(type(instance)):
            if name[0] != "_" and callable(getattr(type(instance), name)):
                kind = inspect.getattr_static(type(instance), name)
                if not isinstance(kind, (classmethod, staticmethod)):
                    found[f"{label}.{name}"] = (instance, name)
    return found


METHODS = methods()


@pytest.mark.parametrize("name", sorted(METHODS))
@given(data=st.data())
def test_methods_answer_or_refuse_hostile_arguments(name, data):
    instance, method = METHODS[name]
    call_with_hostile_arguments(getattr(instance, method), data)
