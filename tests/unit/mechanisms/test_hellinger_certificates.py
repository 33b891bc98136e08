"""Files of certificates: every hostile one is refused with one kind of error, and none is half believed."""

import json

import pytest
from hostile_json import cut_off_and_replaced, spoiled

import simplexdp as sdp
from simplexdp.mechanisms import _certificate_file


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "certificate.json"
    sdp.HellingerMechanism([1, 2], 12, 0.8, 1e-6, calibration="certified").save_certificate(path)
    return path


def with_checksum(text):
    """Return a file whose checksum fits whatever else is in it."""
    content = json.loads(text)
    if isinstance(content, dict):
        content.pop("checksum", None)
        content["checksum"] = _certificate_file._checksum(content)
    return json.dumps(content)


def test_texts_that_are_no_certificate_are_refused(saved):
    good = saved.read_text().strip()
    for text in [*(each for each in cut_off_and_replaced(good) if each != good), '{"a": ' * 100_000]:
        saved.write_text(text)
        with pytest.raises(sdp.InvalidParameterError, match="path must name a"):
            sdp.HellingerMechanism.load_certificate(saved)


def test_members_of_the_wrong_kind_are_refused_though_the_checksum_fits(saved):
    good = saved.read_text()
    certificate = sdp.HellingerMechanism.load_certificate(saved)
    accepted = 0
    for text in spoiled(good):
        saved.write_text(with_checksum(text))
        try:
            loaded = sdp.HellingerMechanism.load_certificate(saved)
        except sdp.InvalidParameterError:
            continue
        # Another number in its range is another certificate: only forgery makes it, and it is whole.
        accepted += 1
        assert loaded.privacy.epsilon(0.0) >= 0
        assert loaded.release([6, 6] if loaded.n == 12 else [loaded.n, 0]).alpha.min() > 0
    assert accepted < 60
    assert certificate.privacy.epsilon(0.0) > 0


@pytest.mark.parametrize("bad", ["NaN", "Infinity", "-Infinity", "1e999", "-1.0", "0"])
@pytest.mark.parametrize("member", ["factor", "epsilon"])
def test_a_factor_that_is_no_number_is_refused_when_it_is_read(saved, member, bad):
    content = json.loads(saved.read_text())
    content[member] = json.loads(bad)
    saved.write_text(with_checksum(json.dumps(content)))
    with pytest.raises(sdp.InvalidParameterError, match=f"a valid {member}"):
        sdp.HellingerMechanism.load_certificate(saved)
