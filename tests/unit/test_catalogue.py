"""The catalogue tells the truth about every mechanism."""

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp import mechanisms
from simplexdp._catalogue import CATALOGUE, names

NOISE = [entry for entry in CATALOGUE.values() if entry.noise]
WRAPPERS = {"LaplacePosteriorMechanism", "NoisyPosteriorMechanism"}
"""Post-processing of noise that has entries of its own."""


def built(entry, adjacency="replace"):
    arguments, keywords = entry.construction(1.0, 1e-6, adjacency, 3)
    return entry.mechanism.for_counts(*arguments, **keywords)


def test_every_mechanism_has_an_entry():
    assert {entry.kind for entry in CATALOGUE.values()} | WRAPPERS == set(mechanisms.__all__)
    assert all(entry.mechanism is getattr(sdp, entry.kind) for entry in CATALOGUE.values())


def test_names_colours_and_markers_are_told_apart():
    for attribute in ("name", "colour", "marker"):
        assert len({getattr(entry, attribute) for entry in CATALOGUE.values()}) == len(CATALOGUE)
    assert names() == tuple(CATALOGUE)


@pytest.mark.parametrize("entry", NOISE, ids=lambda entry: entry.name)
def test_noise_is_what_its_entry_says(entry):
    for adjacency in ("replace", "add_remove"):
        if adjacency not in entry.adjacencies:
            with pytest.raises(TypeError, match="adjacency"):
                built(entry, adjacency)
            continue
        mechanism = built(entry, adjacency)
        assert mechanism.adjacency == adjacency
        assert mechanism.privacy.epsilon(0.0 if entry.pure else 1e-6) <= 1.0
        if not entry.pure:
            with pytest.raises(sdp.InvalidParameterError):
                mechanism.privacy.epsilon(0.0)
        released = mechanism.release(np.array([5, 3, 2]))
        assert (released.dtype == np.int64) == entry.integer


def test_the_lists_of_the_package_come_from_it():
    from simplexdp.cli import mechanism as command_line
    from simplexdp.models import tables
    from simplexdp.plots import style

    assert set(sdp.comparison.MECHANISMS) == set(CATALOGUE)
    assert set(style.COLOURS) == set(style.MARKERS) == {*CATALOGUE, "none"}
    assert set(command_line.MECHANISMS) - {"dirichlet"} == {entry.name for entry in NOISE}
    assert set(tables.MECHANISMS) == {*names(lambda entry: entry.tables), "none"}
