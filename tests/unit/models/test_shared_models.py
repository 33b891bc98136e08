"""Threads that share one model: what is counted in one fit is released in that fit, and nowhere else."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.models import PrivateCategoricalNB
from simplexdp.models import naive_bayes_records as module
from simplexdp.models.tables import TableRelease

N_RECORDS = 200
RECORDS = np.tile([[0, 1], [1, 0]], (N_RECORDS // 2, 1)), np.tile([0, 1], N_RECORDS // 2)


def model(**parameters):
    accountant = sdp.Accountant(epsilon=100.0, delta=1e-3)
    return PrivateCategoricalNB(0.5, categories=[2, 2], classes=[0, 1], accountant=accountant, **parameters)


@pytest.fixture
def released(monkeypatch):
    """Note how many records every release is made of, and let threads meet between counting and releasing."""
    sizes = []
    count, release = module.count_codes, TableRelease.release

    def slow_count(*arguments):
        time.sleep(0.002)
        return count(*arguments)

    def noted(self, tables, rng, drawn=0):
        if not drawn:
            sizes.append(int(tables[0].sum()))
        return release(self, tables, rng, drawn)

    monkeypatch.setattr(module, "count_codes", slow_count)
    monkeypatch.setattr(TableRelease, "release", noted)
    return sizes


def test_fits_of_one_model_do_not_add_their_counts(released):
    shared = model()
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(shared.fit, *RECORDS) for _ in range(24)]:
            assert done.result() is shared
    assert released == [N_RECORDS] * 24


def test_every_counted_record_is_released_once(released):
    shared = model()

    def count(_):
        shared.partial_fit(*RECORDS)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(16)))
        shared.release()
        list(pool.map(count, range(8)))
        shared.release()
    assert released == [16 * N_RECORDS, 8 * N_RECORDS]


def test_a_thread_that_predicts_sees_one_fit_or_the_other(released):
    shared = model().fit(*RECORDS)
    fits = threading.Thread(target=lambda: [shared.fit(*RECORDS) for _ in range(10)])
    fits.start()
    while fits.is_alive():
        assert shared.predict(RECORDS[0]).shape == (N_RECORDS,)
    fits.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_that_was_forked_in_the_middle_of_a_fit_can_fit(released):
    shared = model()
    thread = threading.Thread(target=lambda: [shared.fit(*RECORDS) for _ in range(20)])
    thread.start()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            shared.accountant = None
            shared.fit(*RECORDS)
            code = 0
        finally:
            os._exit(code)
    status = 0
    for _ in range(30_000):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        time.sleep(0.01)
    else:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        pytest.fail("the child waits for a thread that it does not have")
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
