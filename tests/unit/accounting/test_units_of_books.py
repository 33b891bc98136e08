"""A book is for one unit: what a debit for another one meets, and why the two do not add up."""

import copy
import itertools
import json
import pickle

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.accounting import rules
from simplexdp.frames import count_table
from simplexdp.models import PrivateHistogram

RECORD = sdp.PrivacyCurve.pure(0.125)
PATIENT = RECORD.for_unit("patient")
HOUSEHOLD = RECORD.for_unit("household")
RULES = ["pure", "gaussian", "renyi", "planned"]
REFUSED = "curve must be for the unit of the ledger"


def book(rule="gaussian", path=None, **keywords):
    return sdp.Accountant(1.0, 1e-6, rule=rule, adaptive=rule != "planned", path=path, **keywords)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("first", "others"),
    [(RECORD, [PATIENT, HOUSEHOLD]), (PATIENT, [RECORD, HOUSEHOLD]), (HOUSEHOLD, [RECORD, PATIENT])],
)
def test_the_first_debit_says_whose_the_book_is(rule, first, others):
    accountant = book(rule)
    assert accountant.unit is None
    accountant.spend(first)
    before = accountant.used
    for other in others:
        for asked in (accountant.spend, accountant.affords, lambda curve: accountant.commit([first, curve])):
            with pytest.raises(sdp.InvalidParameterError, match="unit"):
                asked(other)
    assert (accountant.debits, accountant.used, accountant.unit) == (1, before, first.unit)
    accountant.spend(first, count=2)
    assert accountant.privacy.unit == first.unit
    assert [entry["curve"].unit for entry in accountant.spends()] == [first.unit] * 2
    assert ("'patient'" in accountant.describe()) == (first is PATIENT)


def test_a_stated_unit_holds_from_the_start_and_wherever_the_book_is_opened(address):
    accountant = book(path=address, unit="patient")
    for handle in (
        accountant,
        sdp.Accountant.open(address),
        pickle.loads(pickle.dumps(accountant)),
        book(path=address),
    ):
        assert handle.unit == "patient"
        with pytest.raises(sdp.InvalidParameterError, match=REFUSED):
            handle.spend(RECORD)
        handle.spend(PATIENT)
    assert copy.deepcopy(accountant).debits == 4
    with pytest.raises(sdp.LedgerError, match="is for 'patient'"):
        book(path=address, unit="household")


def test_nothing_is_drawn_or_stored_for_another_unit(address):
    accountant = book(path=address, unit="patient")

    class Drawing:
        privacy = RECORD
        drawn = 0

        def release(self):
            self.drawn += 1
            return 1.0

    mechanism = Drawing()
    with pytest.raises(sdp.InvalidParameterError, match=REFUSED):
        accountant.release(mechanism)
    with pytest.raises(sdp.InvalidParameterError, match=REFUSED):
        accountant.release_once("key", mechanism)
    assert (mechanism.drawn, accountant.debits) == (0, 0)
    mechanism.privacy = PATIENT
    assert accountant.release_once("key", mechanism) == accountant.release_once("key", mechanism) == 1.0
    assert (mechanism.drawn, accountant.debits) == (1, 1)


def test_a_ledger_that_was_written_before_units_is_for_records(tmp_path):
    accountant = book(path=tmp_path / "old.db")
    accountant.spend(RECORD)
    text = (tmp_path / "old.db").read_text()
    # What such a ledger looked like: no unit in its settings, states and curves.
    assert not any(mark in text for mark in ("unit", "for(", "for "))
    again = sdp.Accountant.open(tmp_path / "old.db")
    again.spend(RECORD)
    with pytest.raises(sdp.InvalidParameterError, match="single records"):
        again.spend(PATIENT)


def test_a_restored_ledger_keeps_its_unit(tmp_path):
    accountant = book(path=tmp_path / "a.db")
    accountant.spend(PATIENT)
    accountant.backup(tmp_path / "a.bak")
    restored = sdp.Accountant.restore(tmp_path / "a.bak", tmp_path / "b.db", since=(0.25, 0.0))
    assert restored.unit == "patient"
    assert [row["curve"].unit for row in restored.spends()] == ["patient", "patient"]
    with pytest.raises(sdp.InvalidParameterError, match=REFUSED):
        restored.spend(RECORD)


@pytest.mark.parametrize("rule", RULES)
def test_changed_units_in_a_state_are_refused(rule):
    made = rules.make(rule, epsilon=1.0, delta=1e-6, adaptive=rule != "planned")
    state = made.debit(made.start(), [(PATIENT, 1)])
    assert made.unit(state) == "patient"
    name = json.dumps("patient")
    for other in ("for ", "for 1 ", "for null ", f"for {name}", "for [[[[", 'for "a', "for " + "[" * 9999):
        with pytest.raises(sdp.LedgerError):
            made.debit(state.replace(f"for {name} ", other), [(PATIENT, 1)])


@pytest.mark.parametrize("unit", ["", "x" * 257, "a\nb", "\0", "\ud800", 5, b"a", ["a"]])
def test_what_is_no_name_is_refused_everywhere(unit):
    for call in (
        lambda: RECORD.for_unit(unit),
        lambda: sdp.Accountant(1.0, 0.0, unit=unit),
        lambda: sdp.DirichletMechanism(scale=0.1, prior=1.0, dimension=2, unit=unit),
        lambda: sdp.DiscreteLaplaceMechanism.for_counts(1.0, unit=unit),
    ):
        with pytest.raises(sdp.InvalidParameterError, match="unit must be"):
            call()


def test_mechanisms_for_several_rows_are_for_persons():
    makers = [
        lambda **k: sdp.DirichletMechanism.for_counts(1.0, 1e-6, dimension=3, total=100, **k),
        lambda **k: sdp.LaplaceMechanism.for_counts(1.0, **k),
        lambda **k: sdp.DiscreteLaplaceMechanism.for_counts(1.0, **k),
        lambda **k: sdp.GaussianMechanism.for_counts(1.0, 1e-6, **k),
        lambda **k: sdp.DiscreteGaussianMechanism.for_counts(1.0, 1e-6, **k),
    ]
    for make in makers:
        assert make().privacy.unit is None
        assert make(max_rows=2).privacy.unit == "person"
        named = make(max_rows=2, unit="patient")
        assert named.privacy.unit == "patient"
        assert pickle.loads(pickle.dumps(named)) == named
        assert pickle.loads(pickle.dumps(named)).privacy == named.privacy != make(max_rows=2).privacy
        assert named.privacy.for_unit("person") == make(max_rows=2).privacy
        assert make(unit="patient").privacy.unit == "patient"


def test_models_numbers_and_discoveries_debit_for_their_unit():
    table = {"p": [1, 1, 2, 3] * 50, "c": ["a", "b", "a", "a"] * 50, "x": [1.0, 2.0, 3.0, 4.0] * 50}
    accountant = sdp.Accountant(50.0, 1e-3, unit="p")
    whose = {"unit": "p", "max_rows": 2}
    histogram = PrivateHistogram(["a", "b"], epsilon=1.0, accountant=accountant, **whose).fit(table, "c")
    mean = sdp.numeric.mean(table, "x", bounds=(0, 5), epsilon=1.0, accountant=accountant, **whose)
    ends = sdp.numeric.quantiles(table, "x", [0.5], bounds=(0, 5), epsilon=1.0, accountant=accountant, **whose)
    found = sdp.frames.Domain.discover(table, "c", epsilon=1.0, delta=1e-6, accountant=accountant, **whose)
    assert accountant.debits == 4
    assert {each.unit for each in (histogram.privacy_, mean.privacy, ends.privacy, found.privacy)} == {"p"}
    with pytest.raises(sdp.InvalidParameterError, match=REFUSED):
        PrivateHistogram(["a", "b"], epsilon=1.0, accountant=accountant).fit(table, "c")


def tables_of_one_row_each():
    """Yield all data sets of up to three rows of two persons, with their counts: the first row of each counts."""
    rows = list(itertools.product((7, 8), (1, 2), ("eye", "ear")))
    for size in range(4):
        for chosen in itertools.combinations_with_replacement(range(len(rows)), size):
            yield chosen, counts_of([rows[place] for place in chosen]), rows


def counts_of(rows):
    if not rows:
        return np.zeros(2, dtype=np.int64)
    person, day, ward = (np.array(column) for column in zip(*rows, strict=True))
    frame = {"person": person, "day": day, "ward": ward}
    domain = {"ward": ["eye", "ear"]}
    # Days are all that orders rows here, and the seed makes ties fall alike.
    return count_table(frame, ["ward"], domain, unit="person", max_rows=1, first_by="day", seed=0)


def test_a_guarantee_for_persons_is_none_for_records():
    """Enumerated: a record that comes moves counts further than a person does, and so does one that changes hands."""
    found = {chosen: counts for chosen, counts, _ in tables_of_one_row_each()}
    rows = next(tables_of_one_row_each())[2]
    person_of = [row[0] for row in rows]
    far = {"record added": 0, "person added": 0, "record replaced": 0, "record replaced, same person": 0}
    for (one, a), (two, b) in itertools.combinations(found.items(), 2):
        gone, come = list(one), list(two)
        for place in one:
            if place in come:
                come.remove(place)
                gone.remove(place)
        distance = int(np.abs(a - b).sum())
        kinds = []
        if len(gone) + len(come) == 1:
            kinds.append("record added")
        if len(gone) == len(come) == 1:
            kinds.append("record replaced")
            if person_of[gone[0]] == person_of[come[0]]:
                kinds.append("record replaced, same person")
        changed = gone + come
        # All rows of one person come or go, and no other row does.
        if not (gone and come) and len({person_of[place] for place in changed}) == 1:
            kept = [place for place in (one if come else two) if person_of[place] == person_of[changed[0]]]
            kinds += ["person added"] * (not kept)
        for kind in kinds:
            far[kind] = max(far[kind], distance)
    assert far == {"record added": 2, "person added": 1, "record replaced": 4, "record replaced, same person": 2}
    assert sdp.sensitivity.of_counts(adjacency="add_remove", max_rows=1).l1 == far["person added"]


def test_releases_from_disjoint_groups_are_for_records_alone():
    group = sdp.PrivacyCurve.pure(0.5, adjacency="add_remove")
    assert sdp.compose_disjoint([group, group]).epsilon(0.0) == 0.5
    with pytest.raises(sdp.InvalidParameterError, match="several parts"):
        sdp.compose_disjoint([group.for_unit("patient"), group.for_unit("patient")])
