"""The public surface: what `__all__` promises exists."""

import subprocess
import sys

import pytest

import simplexdp as sdp


def test_every_exported_name_exists():
    missing = [name for name in sdp.__all__ if not hasattr(sdp, name)]
    assert missing == []


def test_exceptions_that_stand_for_bad_arguments_are_value_errors():
    assert issubclass(sdp.InvalidParameterError, ValueError)
    assert issubclass(sdp.InvalidDataError, ValueError)


def test_names_are_loaded_when_they_are_used_and_not_before():
    code = "import sys, simplexdp; print('numpy' in sys.modules, len([simplexdp.Posterior, simplexdp.utility]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "2"]


def test_names_that_do_not_exist_are_attribute_errors():
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = sdp.nothing_like_it


def test_the_listing_holds_every_public_name():
    assert set(sdp.__all__) <= set(dir(sdp))
