"""The accountant: refusals, copies of all kinds, processes and threads, crashes, and what the ledger tells."""

import copy
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import simplexdp as sdp

PURE = sdp.PrivacyCurve.pure(0.25)


def spend_all(accountant, curve):
    """Return how often the curve could be spent, up to 1000 times."""
    for made in range(1000):
        try:
            accountant.spend(curve)
        except sdp.BudgetExceededError:
            return made
    return 1000


def test_a_debit_that_does_not_fit_is_refused_before_it_is_written():
    accountant = sdp.Accountant(1.0, 0.0)
    for _ in range(4):
        accountant.spend(PURE)
    with pytest.raises(sdp.BudgetExceededError, match=r"100 % of epsilon 1 at delta 0 is used"):
        accountant.spend(PURE)
    assert len(accountant.spends()) == 4
    assert accountant.spent_epsilon() == 1.0
    assert accountant.left_epsilon() == 0.0


def test_a_refusal_by_the_last_digits_shows_them():
    # Ten times the double 0.1 is more than 1: "it costs 0.100000, and 0.100000 are left" told nobody why.
    accountant, curve = sdp.Accountant(1.0, 0.0), sdp.PrivacyCurve.pure(0.1)
    accountant.spend(curve, count=9)
    with pytest.raises(sdp.BudgetExceededError, match=r"costs epsilon 0\.1 and .* and 0\.0999[0-9]+ and .* are left"):
        accountant.spend(curve)


def test_a_refused_release_draws_nothing():
    class Mechanism:
        privacy = sdp.PrivacyCurve.pure(2.0)
        drawn = 0

        def release(self, counts):
            self.drawn += 1
            return counts

    mechanism = Mechanism()
    accountant = sdp.Accountant(3.0, 0.0)
    assert accountant.release(mechanism, [1, 2], label="a", on="t") == [1, 2]
    with pytest.raises(sdp.BudgetExceededError):
        accountant.release(mechanism, [1, 2])
    assert mechanism.drawn == 1
    assert [row["state"] for row in accountant.spends()] == ["released"]


def test_a_release_that_fails_stays_debited():
    accountant = sdp.Accountant(1.0, 0.0)
    with pytest.raises(RuntimeError), accountant.spend(PURE):
        raise RuntimeError("half way")
    assert [row["state"] for row in accountant.spends()] == ["reserved"]
    assert accountant.spent_epsilon() == 0.25


def test_composition_is_tight_and_never_beyond_the_budget():
    accountant = sdp.Accountant(1.0, 1e-6, adaptive=False)
    curve = sdp.PrivacyCurve.gaussian(sigma=50.0)
    made = spend_all(accountant, curve)
    total = made * curve
    assert total.epsilon(1e-6) <= 1.0 < ((made + 1) * curve).epsilon(1e-6)
    assert made > 100
    assert accountant.privacy.epsilon(1e-6) == pytest.approx(total.epsilon(1e-6), rel=1e-9)


def test_different_curves_share_the_budget():
    accountant = sdp.Accountant(4.0, 1e-6, adaptive=False)
    a, b = sdp.PrivacyCurve.gaussian(sigma=10.0), sdp.PrivacyCurve.laplace(scale=5.0)
    for _ in range(10):
        accountant.spend(a)
        accountant.spend(b)
    assert accountant.spent_epsilon() == pytest.approx((10 * a + 10 * b).epsilon(1e-6), rel=1e-9)
    assert 0 < spend_all(accountant, b) < 1000
    assert accountant.spent_epsilon() <= 4.0


def test_a_budget_that_is_met_exactly_is_accepted():
    curve = sdp.PrivacyCurve.from_epsilon_delta(1.0, 1e-6)
    accountant = sdp.Accountant(1.0, 1e-6)
    accountant.spend(curve)
    assert accountant.spent_epsilon() == 1.0


def test_costs_that_depend_on_answers_are_bounded_by_default_and_not_by_composing_what_was_spent():
    # Both branches fit the composition of what was spent; the whole has delta(1) = 0.01359, as theory D1 says.
    first, likelier = sdp.PrivacyCurve.pure(0.5), sdp.PrivacyCurve.pure(0.5255)
    other = sdp.PrivacyCurve.from_epsilon_delta(0.0, 9.9e-3)
    for curve in (likelier, other):
        planned = sdp.Accountant(1.0, 1e-2, adaptive=False)
        planned.spend(first)
        planned.spend(curve)
    refused = 0
    for curve in (likelier, other):
        accountant = sdp.Accountant(1.0, 1e-2)
        accountant.spend(first)
        refused += not accountant.affords(curve)
    assert refused > 0


def test_the_rule_is_fixed_when_the_ledger_is_made(tmp_path):
    path = tmp_path / "ledger.db"
    assert sdp.Accountant(1.0, 1e-6, path=path).rule.name == "gaussian"
    assert "rule='gaussian'" in repr(sdp.Accountant.open(path))
    for options in ({"adaptive": False}, {"rule": "renyi"}, {"rule": "pure"}):
        with pytest.raises(sdp.LedgerError, match="was made with"):
            sdp.Accountant(1.0, 1e-6, path=path, **options)
    for epsilon, delta, told in ((2.0, 1e-6, r"epsilon 1\.0, not 2\.0"), (1.0, 1e-5, "delta 1e-06, not 1e-05")):
        with pytest.raises(sdp.LedgerError, match=f"was made with {told}; Accountant.open takes"):
            sdp.Accountant(epsilon, delta, path=path)
    renyi = sdp.accounting.rules.make("renyi", epsilon=1.0, delta=1e-6, order=20)
    other = tmp_path / "other.db"
    assert sdp.Accountant(1.0, 1e-6, path=other, rule=renyi).rule == renyi
    assert sdp.Accountant(1.0, 1e-6, path=other).rule == sdp.Accountant.open(other).rule == renyi
    with pytest.raises(sdp.InvalidParameterError, match="same budget"):
        sdp.Accountant(2.0, 1e-6, rule=renyi)
    assert "adaptive=False" in repr(sdp.Accountant(1.0, 1e-6, adaptive=False))


def test_a_plan_is_one_debit_by_its_tight_composition():
    curve = sdp.PrivacyCurve.laplace(scale=40.0)
    one_by_one, planned = sdp.Accountant(1.0, 1e-6), sdp.Accountant(1.0, 1e-6)
    for _ in range(8):
        one_by_one.spend(curve)
    with planned.commit([curve, (curve, 7)], label="plan"):
        pass
    assert planned.debits == 1
    assert planned.used <= one_by_one.used
    assert planned.spends()[0]["epsilon"] == pytest.approx((8 * curve).epsilon(1e-6), rel=1e-9)
    with pytest.raises(sdp.InvalidParameterError, match="at least one"):
        planned.commit([])
    with pytest.raises(sdp.BudgetExceededError, match="plan of"):
        planned.commit([(curve, 10**6), curve])
    assert planned.debits == 1


def test_what_is_guaranteed_is_the_budget_where_costs_may_depend_on_answers():
    curve = sdp.PrivacyCurve.gaussian(sigma=40.0)
    adaptive, planned, pure = (
        sdp.Accountant(1.0, 1e-6),
        sdp.Accountant(1.0, 1e-6, adaptive=False),
        sdp.Accountant(1.0, 0.0),
    )
    assert adaptive.privacy is planned.privacy is pure.privacy is None
    adaptive.spend(curve)
    planned.spend(curve)
    pure.spend(PURE)
    assert adaptive.privacy.epsilon(1e-6) == 1.0
    assert planned.privacy.epsilon(1e-6) == pytest.approx(curve.epsilon(1e-6))
    assert pure.privacy.epsilon(0.0) == 0.25


@pytest.mark.parametrize(
    ("arguments", "match"), [((0.0, 1e-6), "epsilon"), ((1.0, 1.0), "delta"), ((1.0, -1e-9), "delta")]
)
def test_a_budget_is_checked(arguments, match):
    with pytest.raises(sdp.InvalidParameterError, match=match):
        sdp.Accountant(*arguments)


def test_other_adjacencies_and_other_things_are_refused():
    accountant = sdp.Accountant(1.0, 1e-6, adjacency="add_remove")
    with pytest.raises(sdp.InvalidParameterError, match="adjacency"):
        accountant.spend(PURE)
    with pytest.raises(sdp.InvalidParameterError, match="privacy curve"):
        accountant.spend(0.5)
    function = sdp.PrivacyCurve.from_renyi(lambda order: order * 0.01, adjacency="add_remove")
    with pytest.raises(sdp.InvalidParameterError, match="Python function"):
        accountant.spend(function)


def test_copies_share_the_ledger():
    accountant = sdp.Accountant(1.0, 0.0)
    handles = [copy.copy(accountant), copy.deepcopy(accountant), pickle.loads(pickle.dumps(accountant))]
    handles += [copy.deepcopy({"deep": [accountant]})["deep"][0], pickle.loads(pickle.dumps(handles[2]))]
    for handle in handles[:4]:
        handle.spend(PURE)
    for handle in [accountant, *handles]:
        assert handle.spent_epsilon() == 1.0
        with pytest.raises(sdp.BudgetExceededError):
            handle.spend(PURE)


class Spender:
    """A scikit-learn estimator that spends when it is fitted."""

    def __init__(self, accountant=None):
        self.accountant = accountant

    def get_params(self, deep=True):
        return {"accountant": self.accountant}

    def set_params(self, **params):
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def fit(self, X, y=None):
        self.accountant.spend(sdp.PrivacyCurve.pure(0.01), label=f"process {os.getpid()}")
        return self

    def score(self, X, y=None):
        return 0.0


def test_scikit_learn_clones_share_the_ledger():
    base = pytest.importorskip("sklearn.base")
    accountant = sdp.Accountant(1.0, 0.0)
    estimator = Spender(accountant)
    base.clone(base.clone(estimator)).fit(np.zeros((4, 1)))
    assert accountant.spent_epsilon() == 0.01


@pytest.mark.parametrize("jobs", [1, 2])
def test_cross_validation_loses_no_spend(jobs):
    selection = pytest.importorskip("sklearn.model_selection")
    base = pytest.importorskip("sklearn.base")

    class Estimator(Spender, base.BaseEstimator):
        pass

    accountant = sdp.Accountant(1.0, 0.0)
    Estimator.__qualname__ = Estimator.__name__
    selection.cross_val_score(Estimator(accountant), np.zeros((12, 1)), np.zeros(12), cv=6, n_jobs=jobs)
    assert len(accountant.spends()) == 6


def test_threads_spend_each_unit_once():
    accountant = sdp.Accountant(1.0, 0.0)
    refused, unit = [], sdp.PrivacyCurve.pure(2.0**-6)

    def work():
        for _ in range(20):
            try:
                accountant.spend(unit)
            except sdp.BudgetExceededError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accountant.spends()) == 64
    assert len(refused) == 16


def run(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout


def test_processes_spend_each_unit_once(tmp_path):
    path = str(tmp_path / "ledger.db")
    code = """
import sys, simplexdp as sdp
accountant = sdp.Accountant(1.0, 0.0, path=sys.argv[1])
unit, done = sdp.PrivacyCurve.pure(2.0**-6), 0
for _ in range(30):
    try:
        accountant.spend(unit, label=sys.argv[2]); done += 1
    except sdp.BudgetExceededError:
        pass
print(done)
"""
    workers = [
        subprocess.Popen([sys.executable, "-c", code, path, f"w{i}"], stdout=subprocess.PIPE, text=True)
        for i in range(4)
    ]
    done = [int(worker.communicate(timeout=300)[0]) for worker in workers]
    assert sum(done) == 64
    accountant = sdp.Accountant.open(path)
    assert [len(accountant.spends(label=f"w{i}")) for i in range(4)] == done
    assert accountant.spent_epsilon() == 1.0


def test_a_temporary_ledger_refuses_when_its_process_is_gone():
    code = "import pickle, simplexdp as sdp; print(pickle.dumps(sdp.Accountant(1.0, 0.0)).hex())"
    orphan = pickle.loads(bytes.fromhex(run(code).strip()))
    with pytest.raises(sdp.LedgerError, match="does not exist any more"):
        orphan.spend(PURE)


def test_a_ledger_that_was_replaced_is_refused(tmp_path):
    path = tmp_path / "ledger.db"
    first = pickle.dumps(sdp.Accountant(1.0, 0.0, path=path))
    for file in tmp_path.iterdir():
        file.unlink()
    sdp.Accountant(1.0, 0.0, path=path)
    with pytest.raises(sdp.LedgerError, match="another ledger"):
        pickle.loads(first).spend(PURE)


def test_a_ledger_keeps_its_budget(tmp_path):
    path = tmp_path / "ledger.db"
    sdp.Accountant(1.0, 1e-6, path=path).spend(PURE)
    assert sdp.Accountant(1.0, 1e-6, path=path).spent_epsilon() <= 0.25
    with pytest.raises(sdp.LedgerError, match="epsilon"):
        sdp.Accountant(2.0, 1e-6, path=path)
    with pytest.raises(sdp.LedgerError, match="adjacency"):
        sdp.Accountant(1.0, 1e-6, adjacency="add_remove", path=path)
    other = tmp_path / "not_a_ledger.db"
    other.write_text("plain text, long enough to be no database header at all")
    with pytest.raises(sdp.LedgerError):
        sdp.Accountant.open(other)
    if os.name == "posix":
        assert os.stat(path).st_mode & 0o077 == 0


def test_curves_come_back_from_the_file_as_they_were(tmp_path):
    path = tmp_path / "ledger.db"
    curves = [
        3 * sdp.PrivacyCurve.gaussian(sigma=7.3) + sdp.PrivacyCurve.from_zcdp(0.001),
        sdp.accounting.dirichlet_curve(scale=0.1, prior=[1.5, 2.5, 3.5]).with_sampling_error(2.0**-64),
        sdp.PrivacyCurve.from_rdp(order=5, epsilon=0.1),
    ]
    accountant = sdp.Accountant(20.0, 1e-5, path=path, adaptive=False)
    for curve in curves:
        accountant.spend(curve)
    back = [row["curve"] for row in sdp.Accountant.open(path).spends()]
    assert back == curves
    assert back[1].sampling_error == 2.0**-64


def test_the_table_and_the_queries_tell_who_spent_what():
    accountant = sdp.Accountant(1.0, 0.0)
    accountant.spend(PURE, label="alice", on="ages")
    accountant.spend(PURE, count=2, label="bob", on="ages")
    assert [row["count"] for row in accountant.spends(on="ages")] == [1, 2]
    assert [row["on"] for row in accountant.spends(label="bob")] == ["ages"]
    table = accountant.table()
    assert "alice" in table
    assert "75 % of epsilon 1 at delta 0 is used by the rule 'pure'" in table
    assert accountant.affords(PURE)
    assert not accountant.affords(PURE, 2)


def test_the_plot_ends_at_what_is_spent():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    accountant = sdp.Accountant(1.0, 0.0)
    accountant.spend(PURE)
    accountant.spend(PURE)
    axes = accountant.plot()
    assert list(axes.lines[0].get_ydata()) == [0.0, 0.25, 0.5]
    matplotlib.pyplot.close(axes.figure)


# A parent without threads forks children that debit, then note the release in a file of their own, and kills them at a
# random moment. All of it runs in one helper process, so that starting Python is paid for once.
CRASHES = """
import os, random, signal, sys, time
import simplexdp as sdp

path, notes, rounds, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
unit = sdp.PrivacyCurve.pure(2.0**-20)
random.seed(seed)
sdp.Accountant(1.0, 0.0, path=path, durable=False).spend(unit)
for _ in range(rounds):
    child = os.fork()
    if child == 0:
        handle = sdp.Accountant(1.0, 0.0, path=path, durable=False)
        file = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        while True:
            with handle.spend(unit) as spend:
                os.write(file, b"%d\\n" % spend.id)
    time.sleep(random.expovariate(1 / 0.004))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_kill_9_leaves_every_release_recorded(tmp_path, full):
    path, notes = str(tmp_path / "ledger.db"), tmp_path / "released"
    rounds = 1000 if full else 60
    notes.touch()
    run(CRASHES, path, str(notes), str(rounds), "1")
    released = [int(line) for line in notes.read_text().split()]
    accountant = sdp.Accountant.open(path)
    recorded = {row["id"]: row["state"] for row in accountant.spends()}
    assert len(released) == len(set(released))
    assert set(released) <= set(recorded)
    noted = {number for number, state in recorded.items() if state == "released"}
    assert noted <= set(released)
    # Each killed child can leave at most one debit without a release.
    assert len(recorded) - len(released) <= rounds + 1
    assert accountant.spent_epsilon() == len(recorded) * 2.0**-20
    print(f"{rounds} kills, {len(recorded)} debits, {len(released)} releases")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_does_not_lose_spends():
    code = """
import os, sys, simplexdp as sdp
accountant = sdp.Accountant(1.0, 0.0)
accountant.spend(sdp.PrivacyCurve.pure(0.25))
child = os.fork()
if child == 0:
    accountant.spend(sdp.PrivacyCurve.pure(0.25))
    os._exit(0)
os.waitpid(child, 0)
print(accountant.spent_epsilon())
"""
    assert run(code).strip() == "0.5"


def test_a_release_of_rows_of_a_table_is_debited_as_such():
    # Before, `privacy` was debited (1.1275) where `table_privacy` was spent (1.4222).
    mechanism = sdp.DirichletMechanism.posterior([20.0, 1e6, 1e6])
    table = [[5, 3, 2], [1, 0, 7]]
    accountant = sdp.Accountant(3.0, 1e-6, adaptive=False)
    released = accountant.release(mechanism, table, rows="table")
    assert released.shape == (2, 3)
    assert accountant.spent_epsilon() == mechanism.table_privacy.epsilon(1e-6) > 1.42
    one = sdp.Accountant(3.0, 1e-6, adaptive=False)
    one.release(mechanism, table[0])
    assert one.spent_epsilon() == mechanism.privacy.epsilon(1e-6) < 1.13
    with pytest.raises(sdp.BudgetExceededError):
        sdp.Accountant(1.3, 1e-6, adaptive=False).release(mechanism, table, rows="table")


def test_the_cost_of_a_call_is_asked_of_the_mechanism():
    class Loud:
        def cost_of(self, times):
            return times * sdp.PrivacyCurve.pure(0.25)

        def release(self, times):
            return times

    accountant = sdp.Accountant(1.0, 0.0)
    assert accountant.release(Loud(), 3) == 3
    assert accountant.spent_epsilon() == pytest.approx(0.75)
    noise = sdp.DiscreteLaplaceMechanism.for_counts(0.25)
    accountant.release(noise, [1, 2, 3])
    assert accountant.debits == 2
