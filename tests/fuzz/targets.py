"""Every reader of text or bytes, and the numeric entries: what each must do with anything at all.

A target takes bytes. It must end, and it must either succeed or refuse with one of the package's own errors, a warning
of its own or a usage error of the command line; anything else, a panic of the core first of all, is a finding. What is
read must be written back as it was understood.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import struct
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import simplexdp as sdp
from simplexdp import _core
from simplexdp.accounting.ledger import payload
from simplexdp.exceptions import SimplexDpError
from simplexdp.frames import Domain
from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB, PrivateSynthesizer
from simplexdp.testing import SeededRng

Target = Callable[[bytes], None]


def text_of(data: bytes) -> str:
    """Return any text that a file can hold."""
    return data.decode("utf-8", "replace")


@contextlib.contextmanager
def file_of(data: bytes, name: str) -> Iterator[str]:
    """Yield the path of a file with these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        yield str(path)


def guarantee(data: bytes) -> None:
    """Read the text of a guarantee, as ledgers keep it."""
    read = _core.Guarantee.from_text(text_of(data))
    again = _core.Guarantee.from_text(read.to_text())
    assert again == read
    assert again.to_text() == read.to_text()


def profile(data: bytes) -> None:
    """Read the text of one profile."""
    _core.profile_from_text(text_of(data))


def state_of_a_rule(data: bytes) -> None:
    """Read the state of a book, and debit from it."""
    rule = sdp.Accountant(1.0, 1e-6)._rule
    state = text_of(data)
    after = rule.debit(state, [(sdp.PrivacyCurve.pure(0.1).for_unit(rule.unit(state)), 1)])
    assert rule.unit(after) == rule.unit(state)


def ledger_file(data: bytes) -> None:
    """Take a copy of a ledger into use, and spend from it."""
    with file_of(data, "book") as path:
        accountant = sdp.Accountant.restore(path, f"{path} again", since=(0.0, 0.0))
        accountant.spends()
        accountant.running_total()
        curve = sdp.PrivacyCurve.pure(0.1).for_unit(accountant.unit)
        if accountant.affords(curve) >= 1:
            accountant.spend(curve).released()


def stored_release(data: bytes) -> None:
    """Read what `release_once` stored."""
    payload.from_bytes(data)


def certificate(data: bytes) -> None:
    """Load a certificate whose checksum fits whatever stands in it."""
    try:
        content = json.loads(data)
        if isinstance(content, dict) and "checksum" in content:
            body = {key: value for key, value in content.items() if key != "checksum"}
            text = json.dumps(body, sort_keys=True, separators=(",", ":"))
            content["checksum"] = hashlib.sha256(text.encode()).hexdigest()
            data = json.dumps(content).encode()
    except (ValueError, RecursionError):
        pass  # no JSON: it goes to the reader as it is
    with file_of(data, "certificate.json") as path:
        sdp.HellingerMechanism.load_certificate(path)


def naive_bayes(data: bytes) -> None:
    """Read a saved classifier, and write it again."""
    text = PrivateCategoricalNB.from_json(text_of(data)).to_json()
    assert PrivateCategoricalNB.from_json(text).to_json() == text


def network(data: bytes) -> None:
    """Read a saved network, and write it again."""
    text = PrivateBayesianNetwork.from_json(text_of(data)).to_json()
    assert PrivateBayesianNetwork.from_json(text).to_json() == text


def synthesizer(data: bytes) -> None:
    """Read a saved synthesizer, and write it again; weights are divided by their sum each time."""
    first = PrivateSynthesizer.from_json(text_of(data))
    again = PrivateSynthesizer.from_json(first.to_json())
    assert again.domains_.keys() == first.domains_.keys()
    for column in first.domains_:
        assert np.allclose(first.marginal([column]), again.marginal([column]), rtol=1e-12, atol=0)


def csv(data: bytes) -> None:
    """Release a column of a CSV file by the command line."""
    from simplexdp.cli import main

    with (
        file_of(data, "table.csv") as path,
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        code: object = None
        try:
            main(["release", path, "--column", "c", "--domain", "a,b", "--epsilon", "1", "--delta", "1e-6"])
        except SystemExit as end:
            code = end.code
        assert code in (0, 1, 2, None), code


def domain(data: bytes) -> None:
    """Make a domain of anything that JSON can say, and encode a column by it."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        values = text_of(data).split(",")
    made = Domain(values)
    column = pd.DataFrame({"c": ["a", "b", None]}, dtype=object)
    sdp.frames.count_table(column, ["c"], {"c": made})


def doubles(data: bytes) -> list[float]:
    """Return the bytes as doubles."""
    return [each[0] for each in struct.iter_unpack("<d", data[: len(data) // 8 * 8])]


def numbers(data: bytes) -> None:
    """Give any doubles to constructors, curves and releases."""
    values = [*doubles(data), 1.0, 1.0, 1.0, 1.0]
    a, b, c, d = values[:4]
    rng = SeededRng(1)
    makers: list[Callable[[], object]] = [
        lambda: sdp.DirichletMechanism(scale=a, prior=b, dimension=3, floor=c).release([1, 2, 3], rng=rng),
        lambda: sdp.DirichletMechanism(scale=a, prior=[b, c, d]).privacy.delta(d),
        lambda: sdp.GaussianMechanism(sigma=a, sensitivity=b, changed=3).release([c, d, 0.0], rng=rng),
        lambda: sdp.LaplaceMechanism(scale=a, sensitivity=b, changed=3).release([c, d, 0.0], rng=rng),
        lambda: sdp.DiscreteLaplaceMechanism(scale=a, sensitivity=b).release([1, 2], rng=rng),
        lambda: sdp.PrivacyCurve.gaussian(sigma=a, sensitivity=b).epsilon(c),
        lambda: sdp.PrivacyCurve.laplace(scale=a).delta(b),
        lambda: sdp.PrivacyCurve.from_tcdp(a, b).epsilon(c),
        lambda: sdp.special.betainc(a, b, c),
        lambda: sdp.special.gammainc_inverse(a, b),
        lambda: sdp.special.polygamma(1, a),
    ]
    which = int(abs(values[-5])) % len(makers) if len(values) > 4 and math.isfinite(values[-5]) else len(data)
    made = makers[which % len(makers)]()
    if isinstance(made, float) and which >= 5:
        assert which >= 8 or not np.isnan(made)


def seeds() -> dict[str, tuple[Target, list[bytes]]]:
    """Return every target with inputs that it accepts."""
    curves = [
        sdp.PrivacyCurve.pure(0.5),
        sdp.compose([sdp.PrivacyCurve.gaussian(sigma=2.0), sdp.PrivacyCurve.from_zcdp(0.1)], [3, 2]),
        sdp.DirichletMechanism(scale=0.5, prior=[1.0, 2.0, 3.0], adjacency="add_remove").privacy,
        sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=2, total=9).privacy,
        sdp.DiscreteGaussianMechanism.for_counts(1.0, 1e-6).privacy,
        sdp.PrivacyCurve.from_epsilon_delta(1.0, 1e-6),
        sdp.PrivacyCurve.pure(0.5).for_unit('a "b" \\ (0.0, x)'),
    ]
    texts = [curve.guarantee.to_text().encode() for curve in curves]
    # Under replacement the one profile stands behind the sampling error.
    profiles = [text.split(b", ", 1)[1][:-1] for text in texts if text.startswith(b"replace")]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = f"{folder}/book"
        accountant = sdp.Accountant(20.0, 1e-6, path=book, durable=False)
        for curve in (curves[0], curves[4]):
            accountant.spend(curve, label="seed").released()
        accountant.release_once("key", sdp.DiscreteLaplaceMechanism.for_counts(0.5), np.array([1, 2]))
        for_persons = sdp.Accountant(20.0, 1e-6, path=f"{folder}/persons", durable=False, unit="patient")
        for_persons.spend(curves[0].for_unit("patient")).released()
        books = [Path(path).read_bytes() for path in (book, f"{folder}/persons")]
        hellinger = f"{folder}/h.json"
        sdp.HellingerMechanism([1, 1], 5, 1.0).certify().save_certificate(hellinger)
        certificates = [Path(hellinger).read_bytes()]
        frame = pd.DataFrame({"a": [0, 1, 1], "b": [1, 0, 1]})
        domains = {"a": [0, 1], "b": [0, 1]}
        bayes = PrivateCategoricalNB(1.0, 1e-6, categories=[[0, 1], [0, 1]], classes=[0, 1])
        models = [
            bayes.fit(frame.to_numpy(), [0, 1, 1]).to_json(),
            PrivateBayesianNetwork([("a", "b")], domains).fit(frame).to_json(),
            PrivateSynthesizer(1.0, 1e-6, domains=domains).fit(frame).to_json(),
        ]
    rule = sdp.Accountant(1.0, 1e-6)._rule
    spent = [rule.debit(rule.start(), [(curve, 1)]) for curve in (curves[0], curves[-1])]
    states = [state.encode() for state in (rule.start(), *spent)]
    stored = [payload.to_bytes(each) for each in (1.5, "text", np.arange(6.0).reshape(2, 3), {"a": [1, (2,)]})]
    posterior = payload.to_bytes(sdp.Posterior([1.0, 2.0]))
    return {
        "guarantee text": (guarantee, texts),
        "profile text": (profile, profiles),
        "state of a rule": (state_of_a_rule, states),
        "ledger file": (ledger_file, books),
        "stored release": (stored_release, [*stored, posterior]),
        "certificate": (certificate, certificates),
        "naive Bayes JSON": (naive_bayes, [models[0].encode()]),
        "network JSON": (network, [models[1].encode()]),
        "synthesizer JSON": (synthesizer, [models[2].encode()]),
        "CSV": (csv, [b'c,d\na,1\nb,2\n"a",3\n', b"c\r\na\r\n", "c\nä\n".encode("latin-1")]),
        "domain": (domain, [b'["a","b",null]', b'["a","b",null,1,2.5,"c"]']),
        "numbers": (numbers, [struct.pack("<5d", *row) for row in ((0.5, 2, 0, 1, 3), (1, 2, 0.5, 1e300, 7))]),
    }


ACCEPTED = (SimplexDpError, sdp.InsecureRandomnessWarning)
"""What a target may raise."""


def outcome(target: Target, data: bytes) -> bool:
    """Return whether the input was accepted; raise what is a finding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target(data)
        except ACCEPTED:
            return False
    return True
