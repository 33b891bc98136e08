"""Every reader of text or bytes, and the numeric entries: what each must do with anything at all.

A target takes bytes. It must end, and it must either succeed or refuse with one of the package's own errors, a warning
of its own or a usage error of the command line; anything else, a panic of the core first of all, is a finding. What is
read must be written back as it was understood.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from command_targets import command_seeds, run
from number_targets import NUMBERS, numbers

import simplexdp as sdp
from simplexdp import _core
from simplexdp.accounting import rules
from simplexdp.accounting.ledger import payload
from simplexdp.accounting.rules._unit import marked, parted
from simplexdp.exceptions import SimplexDpError
from simplexdp.frames import Cleaning, Domain
from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB, PrivateGaussianNB, PrivateSynthesizer

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


def rule_text(data: bytes) -> None:
    """Read the rule of a book as ledgers keep it, and debit by it."""
    rule = rules.from_text(text_of(data))
    assert rules.from_text(rule.to_text()) == rule
    with contextlib.suppress(SimplexDpError):
        rule.used(rule.debit(rule.start(), [(sdp.PrivacyCurve.pure(0.1), 1)]))


def state_of_a_rule(data: bytes) -> None:
    """Read the state of a book, and debit from it: the rule stands in the first line, the state behind it."""
    settings, _, state = text_of(data).partition("\n")
    rule = rules.from_text(settings)
    unit, bare = parted(state)
    numbers, sign, checksum = bare.rpartition(";")
    if sign and len(checksum) == 8:  # so that what stands before it is read too
        state = marked(unit, f"{numbers};{zlib.crc32(numbers.encode('utf-8', 'replace')):08x}")
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


def gaussian_naive_bayes(data: bytes) -> None:
    """Read a saved classifier of numbers, write it again, and predict."""
    model = PrivateGaussianNB.from_json(text_of(data))
    assert PrivateGaussianNB.from_json(model.to_json()).to_json() == model.to_json()
    model.predict_proba(np.zeros((1, len(model.theta_[0]))))


def cleaning(data: bytes) -> None:
    """Read rules that make spellings the same, write them again, and clean by them."""
    with contextlib.suppress(ValueError, RecursionError):
        content = json.loads(data)
        clean = Cleaning.from_json(content)
        assert Cleaning.from_json(json.loads(json.dumps(clean.to_json()))) == clean
        for text in ("  Ab\u00e9. ", "aa", ""):
            clean(text)
        return
    raise sdp.InvalidParameterError("no JSON")


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
    with file_of(data, "table.csv") as path:
        run("release", path, "--column", "c", "--domain", "a,b", "--epsilon", "1", "--delta", "1e-6")


def domain(data: bytes) -> None:
    """Make a domain of anything that JSON can say, and encode a column by it."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        values = text_of(data).split(",")
    made = Domain(values)
    column = pd.DataFrame({"c": ["a", "b", None]}, dtype=object)
    sdp.frames.count_table(column, ["c"], {"c": made})


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
        named = PrivateCategoricalNB(1.0, 1e-6, categories=[[0, 1]], classes=[0, 1])
        models = [
            bayes.fit(frame.to_numpy(), [0, 1, 1]).to_json(),
            PrivateBayesianNetwork([("a", "b")], domains).fit(frame).to_json(),
            PrivateSynthesizer(1.0, 1e-6, domains=domains).fit(frame).to_json(),
            PrivateGaussianNB(1.0, bounds=[(0, 1)], classes=[0, 1]).fit([[0.5], [1.0]], [0, 1]).to_json(),
            named.fit(frame[["a"]], frame["b"]).to_json(),
        ]
    kinds = [
        rules.make(epsilon=1.0, delta=0.0),
        rules.make(epsilon=1.0, delta=1e-6),
        rules.make("renyi", epsilon=1.0, delta=1e-6),
        rules.make("units", epsilon=1.0, delta=0.0, curve=sdp.PrivacyCurve.pure(0.1)),
        rules.make(epsilon=1.0, delta=1e-6, adaptive=False),
    ]
    small = sdp.PrivacyCurve.pure(0.1)
    spends = [
        (rule, curve)
        for rule in kinds
        for curve in (small, small.for_unit("p"))
        if rule.name != "units" or not curve.unit
    ]
    states = [
        f"{rule.to_text()}\n{state}".encode()
        for rule, curve in spends
        for state in (rule.start(), rule.debit(rule.start(), [(curve, 1)]))
    ]
    stored = [payload.to_bytes(each) for each in (1.5, "text", np.arange(6.0).reshape(2, 3), {"a": [1, (2,)]})]
    clean = Cleaning(fold=True, unicode="NFKC", replace={r"[.]$": "", "(a+)b": r"\1"}, values={"x": "y", "n/a": None})
    posterior = payload.to_bytes(sdp.Posterior([1.0, 2.0]))
    return {
        "guarantee text": (guarantee, texts),
        "profile text": (profile, profiles),
        "state of a rule": (state_of_a_rule, states),
        "ledger file": (ledger_file, books),
        "rule text": (rule_text, [rule.to_text().encode() for rule in kinds]),
        "stored release": (stored_release, [*stored, posterior]),
        "certificate": (certificate, certificates),
        "naive Bayes JSON": (naive_bayes, [models[0].encode()]),
        "network JSON": (network, [models[1].encode()]),
        "synthesizer JSON": (synthesizer, [models[2].encode()]),
        "Gaussian naive Bayes JSON": (gaussian_naive_bayes, [models[3].encode()]),
        "rules of cleaning": (cleaning, [json.dumps(clean.to_json()).encode()]),
        "CSV": (csv, [b'c,d\na,1\nb,2\n"a",3\n', b"c\r\na\r\n", "c,ä\na,\n".encode()]),
        "domain": (domain, [b'["a","b",null]', b'["a","b",null,1,2.5,"c"]']),
        "numbers": (numbers, [data for data in NUMBERS if outcome(numbers, data)]),
        **command_seeds([text.encode() for text in models[1:] if "gaussian-naive" not in text]),
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
