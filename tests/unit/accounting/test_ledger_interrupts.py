"""Ctrl-C at every call of a debit: what was written stands, and the ledger goes on in the same process."""

import sys
import threading

import pytest

import simplexdp as sdp
from simplexdp.accounting.ledger import locking

COST = sdp.PrivacyCurve.pure(0.125)
NOISE = sdp.DiscreteLaplaceMechanism.for_counts(0.125)


def interrupted(work, number):
    """Do some work with a KeyboardInterrupt where a function of the ledger begins or ends for the so-manieth time.

    There an interpreter looks for signals: where a function begins, and after a call.
    """
    left = [number]

    def trace(frame, event, argument):
        if "simplexdp/accounting" not in frame.f_code.co_filename.replace("\\", "/"):
            return None
        frame.f_trace_lines = False
        if event in ("call", "return"):
            left[0] -= 1
            if left[0] == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("kind", ["spend", "release", "release_once"])
def test_a_ledger_goes_on_after_an_interruption_anywhere_in_a_debit(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(locking, "PATIENCE", 0.5)
    accountant = sdp.Accountant(1000.0, 0.0, path=tmp_path / "budget.db", durable=False)
    once = iter(range(10**6))
    works = {
        "spend": lambda: accountant.spend(COST),
        "release": lambda: accountant.release(NOISE, [1, 2, 3]),
        "release_once": lambda: accountant.release_once(f"job {next(once)}", NOISE, [1, 2, 3]),
    }
    count, number = 0, 1
    while interrupted(works[kind], number):
        # The same thread, and then another one.
        assert accountant.debits - count in (0, 1)
        count = accountant.debits
        other = threading.Thread(target=accountant.spend, args=(COST,))
        other.start()
        other.join()
        count += 1
        assert accountant.debits == count
        number += 1
    assert number > 20
    assert accountant.spent_epsilon() == pytest.approx(0.125 * (count + 1), rel=1e-12)
    assert sdp.Accountant.open(accountant.path).debits == count + 1
