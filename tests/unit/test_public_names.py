"""The public surface: what `__all__` promises exists."""

import simplexdp as sdp


def test_every_exported_name_exists():
    missing = [name for name in sdp.__all__ if not hasattr(sdp, name)]
    assert missing == []


def test_exceptions_that_stand_for_bad_arguments_are_value_errors():
    assert issubclass(sdp.InvalidParameterError, ValueError)
    assert issubclass(sdp.InvalidDataError, ValueError)
